"""A warning about an assumption names the line that silences it, and that line does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cli import CLOSE, annotune, function


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LOOP = "for (int i = 0; i < n; i++)"
# Loops, parameters and sizes that make one warning, and its code.
ASSUMED = {
    "AT220": (f"{LOOP} a[i] = b[i];", "int n, double *a, const double *b", "param n = 64;"),
    "AT222": (
        "for (int i = 0; i < m; i++) for (int j = 0; j < p; j++) c[i*n + j*l] = 1;",
        "int m, int p, int n, int l, double *restrict c",
        "param m = 8; param p = 8; param n = 8; param l = 1;",
    ),
    "AT223": (
        f"{LOOP} y[i] = x[p[i]];",
        "int n, double *restrict y, const double x[64], const int *restrict p",
        "param n = 64;",
    ),
}


def text(code: str, assumption: str = "") -> str:
    loops, parameters, sizes = ASSUMED[code]
    tuning = f"def input_params {{ {sizes} }} {assumption}"
    return function(f"  /*@ begin PerfTuning ( {tuning} ) @*/\n  {loops}\n  {CLOSE}", parameters)


@pytest.mark.parametrize("code", ASSUMED)
def test_the_help_names_the_line_that_silences_the_warning(code: str) -> None:
    Path("user.c").write_text(text(code))
    before = annotune("check", "user.c")
    assert before.code == 0
    assert f"[{code}]" in before.err, before.err
    line = re.search(r"def assume \{ arg [^}]* \}", before.err)
    assert line is not None, before.err
    Path("user.c").write_text(text(code, line[0]))
    after = annotune("check", "user.c")
    assert (after.code, after.err) == (0, "")


def test_one_assumption_silences_no_other_warning() -> None:
    Path("user.c").write_text(text("AT220", "def assume { arg strides = True; }"))
    assert "[AT220]" in annotune("check", "user.c").err


def test_a_promise_of_disjoint_pointers_hides_no_proven_overlap() -> None:
    body = (
        "  double *c = a + 1;\n"
        "  /*@ begin PerfTuning ( def assume { arg disjoint = True; } ) @*/\n"
        f"  {LOOP} c[i] = a[i];\n  {CLOSE}"
    )
    Path("user.c").write_text(function(body, "int n, double *a"))
    done = annotune("check", "user.c")
    assert done.code == 1
    assert "[AT212]" in done.err


@pytest.mark.parametrize(
    ("assumption", "said"),
    [
        ("arg disjiont = True;", "did you mean 'disjoint'?"),
        ("arg disjoint = 4;", "'disjoint' of 'def assume' must be True or False"),
        ("arg pure = ['f(x)'];", "'pure' of 'def assume' must be"),
        ("arg extent = ['x'];", "'extent' of 'def assume' must be"),
        ("arg extent = ['x[n; system(1)]'];", "'extent' of 'def assume' must be"),
        ("arg extent = ['x[f(n)]'];", "'extent' of 'def assume' must be"),
        ("arg extent = ['x[n\\n#include <a.h>\\n]'];", "'extent' of 'def assume' must be"),
    ],
)
def test_a_wrong_assumption(assumption: str, said: str) -> None:
    Path("user.c").write_text(text("AT220", f"def assume {{ {assumption} }}"))
    done = annotune("check", "user.c")
    assert done.code == 1
    assert said in done.err
    assert "[AT038]" in done.err
