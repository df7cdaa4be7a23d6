"""What someone new to annotune is told of the slips that are made first."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import OPEN, annotune, function

from annotune import cli
from annotune.diagnostics import Span, Template


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LOOP = "for (int i = 0; i < n; i++) a[i] = b[i] + 1;"
PLAIN = "int n, double *restrict a, const double *restrict b"


def told(body: str, tuning: str = "", parameters: str = PLAIN) -> str:
    """Return what `check` says on the standard error of a function with one region."""
    opener = OPEN.replace("()", f"( {tuning} )")
    Path("user.c").write_text(function(f"  {opener}\n{body}\n  /*@ end @*/", parameters))
    return annotune("check", "user.c").err


MEMBERS = "struct v { double *x, *y; int n; } *s, int *n, double *in"
SPELLED = {
    "s->x[i] += s->y[i] + in[i];": ("the pointers 's->x', 's->y' and 'in' are assumed",),
    "in[i * s->n] = 3;": ("the value of 'n' is needed", "param n = "),
    "in[i * *n] = 3;": ("the value of 'n' is needed", "param n = "),
    "in[i * *n + s->n] = 3;": ("the value of '*n' is needed",),
    "s->y[(int)in[i]] = 1;": ("'s->y' is written at '(int)(in[i])'",),
    "if (s->x[i] > *n) s->y[i] = 1;": ("the elements of 's->y' that 's->x[i] > *n' may",),
}


@pytest.mark.parametrize("statement", SPELLED)
def test_messages_have_the_spelling_of_the_text(statement: str) -> None:
    words = told(f"for (int i = 0; i < 9; i++) {{ {statement} }}", parameters=MEMBERS)
    assert all(one in words for one in SPELLED[statement]), words
    assert "'s_" not in words.replace("['s_", "[")  # but for what is to be typed


def test_a_size_in_other_letters_is_told_as_that_size() -> None:
    said = told(LOOP, "def input_params { param N = 64; }")
    assert "no value is known for 'n'" in said
    assert "'param N' is unused" in said
    assert "did you mean 'param n'? Else add 'param n = …;'" in said


def test_a_size_that_c_knows_in_either_case_is_left_alone() -> None:
    loop = "for (int i = 0; i < n; i++) a[i] = b[i] + N;"
    said = told(loop, "def input_params { param N = 64; }", f"{PLAIN}, int N")
    assert "no value is known for 'n'" in said
    assert "is unused" not in said


@pytest.mark.parametrize("directive", ["#pragma omp parallel for", "  # pragma  acc  kernels"])
def test_a_directive_in_the_region_is_told_to_be_replaced(directive: str) -> None:
    said = told(f"{directive}\n{LOOP}", "def input_params { param n = 64; }")
    shown = " ".join(directive.split())
    assert f"warning: '{shown}' stands in the region, and is replaced" in said
    assert "[AT650]" in said
    assert "user.c:4:" in said


def test_directives_in_comments_and_outside_are_not() -> None:
    assert "[AT650]" not in told(f"/*\n#pragma omp parallel for\n*/\n{LOOP}")
    text = f"#pragma omp threadprivate(x)\n{Path('user.c').read_text()}"
    Path("user.c").write_text(text)
    assert "[AT650]" not in annotune("check", "user.c").err


def test_what_is_in_no_file_has_no_line() -> None:
    assert annotune("explain", "AT999").err.startswith("error: there is no diagnostic 'AT999'")


FOUND = Template("AT000", "it is wrong: see", "mend it").at(Span("error: a.c", 1, 5, 3))


def test_severities_and_carets_have_colours_on_a_terminal_alone() -> None:
    plain = FOUND.render("int bad;")
    coloured = cli._coloured(plain)
    assert coloured.splitlines()[0].startswith("error: a.c:1:5: \x1b[31m\x1b[1merror:\x1b[0m it is")
    assert coloured.splitlines()[2] == "      |\x1b[32m\x1b[1m     ^^^\x1b[0m"
    assert cli.click.unstyle(coloured) == plain
    assert "\x1b" not in annotune("explain", "AT999").err


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(cli.click, "echo", lambda text, err: said.append(text))
    cli._show([FOUND], {"error: a.c": "int bad;"})
    monkeypatch.setenv("NO_COLOR", "1")
    cli._show([FOUND], {"error: a.c": "int bad;"})
    assert "\x1b" in said[0]
    assert "\x1b" not in said[1]
