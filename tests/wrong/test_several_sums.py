"""Statements that accumulate into one place are one reduction, on every target."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import LoopKind
from annotune.analysis.normal_form.normalised import normalised
from annotune.codegen.target import load_target
from annotune.pipeline import Settings, emit
from wrong.called import Array, Call, Program

HEAD = "#include <math.h>\nstruct pair { double first, second; };\n"
FUNCTION = """
{type} f{number}(int n, int m, const {type} *restrict a, const {type} *restrict b,
    {type} *restrict d, {type} s)
{{
    {type} t, u;
    struct pair p = {{s, s}};
    /*@ begin PerfTuning ( def input_params {{ param n = {tuned}; param m = 7; }} ) @*/
    for (int i = 0; i < n; i++) {{ {body} }}
    /*@ end @*/
    return s + p.first;
}}
"""
# What a loop over i does, a[i] and b[i] being there, d for it alone, and a row of a of m elements.
SUMS = {
    "three terms": "s += a[i]; s += b[i]; s -= a[i] * b[i];",
    "one of them twice": "s += a[i]; s = a[i] + s; s = s - b[i] - a[i];",
    "other conditions": "if (a[i] > 2) s += a[i]; if (b[i] < 5) s -= b[i];",
    "both branches": "if (a[i] > 2) s += a[i]; else s -= 1; s += b[i];",
    "branches of several": "if (a[i] > 2) { s += a[i]; s += 1; } else if (b[i] > 3) s += b[i];",
    "a choice": "s = a[i] > 3 ? s + a[i] : s; s += b[i];",
    "inner loops": "for (int j = 0; j < m; j++) s += a[i*m+j]; s += b[i]; "
    "for (int k = 0; k < m; k++) s -= b[k] * a[i*m+k];",
    "one loop inside": "s += b[i]; for (int j = 0; j < m; j++) { s += a[i*m+j]; s -= b[j]; }",
    "a triangle": "s += b[i]; for (int j = 0; j < i; j++) s += a[j] * b[i];",
    "others in between": "t = a[i] * b[i]; s += t; d[i] = t + 1; s -= d[i];",
    "through a temporary": "t = s + a[i]; s = t; d[i] = 2 * b[i]; t = b[i]; s = t + s;",
    "members": "p.first += a[i]; p.first -= b[i]; s += a[i]; s += 1;",
    "two variables": "s += a[i]; p.first += b[i]; s -= b[i]; p.first += a[i] * a[i];",
    "elements": "for (int j = 0; j < m; j++) { d[j] += a[i*m+j]; d[j] -= b[i]; }",
    "one element": "d[0] += a[i]; d[0] += b[i]; d[1] -= a[i];",
}
EXTREMA = {
    "maxima": "s = a[i] > s ? a[i] : s; if (b[i] > s) s = b[i];",
    "under conditions": "if (a[i] < 6) { if (b[i] >= s) s = b[i]; } s = s < a[i] ? a[i] : s;",
    "minima": "s = a[i] < s ? a[i] : s; if (b[i] < s) s = b[i];",
}
OF_REALS = {
    "products": "s *= a[i] > 3 ? 0.5 : 2; if (b[i] > 2) s *= b[i] > 4 ? 4 : 0.25;",
    "functions": "s = fmax(s, a[i]); s = fmax(b[i], s);",
    "all forms": "s = fmax(s, a[i]); s = s >= b[i] ? s : b[i]; t = a[i] + b[i]; if (t > s) s = t;",
}
OF_INTEGERS = {
    "bits": "s |= a[i]; if (b[i] > 2) s |= b[i] * 4;",
    "masks": "s &= a[i] | 24; s = (b[i] | 17) & s;",
    "parities": "s ^= a[i]; if (a[i] < 5) { s ^= 3 * b[i]; }",
}
# These read what the others have made of it so far.
SERIAL = {
    "a prefix sum": "s += a[i]; d[i] = s; s += b[i];",
    "two operators": "s += a[i]; s *= b[i];",
    "its own condition": "s += a[i]; if (s < 100) s += b[i];",
    "a maximum of a sum": "s += a[i]; if (b[i] > s) s = b[i];",
    "another's term": "s += a[i]; p.first += s; s += b[i];",
    "set again": "s += a[i]; if (b[i] > 5) s = 0; s += b[i];",
    "an element that may be it": "d[0] += a[i]; d[i] += d[0];",
}
SLOW = pytest.mark.slow
KINDS = {"double": "f8", "float": "f4", "int": "i4"}


def bodies(type_: str) -> dict[str, str]:
    return SUMS | EXTREMA | (OF_INTEGERS if type_ == "int" else OF_REALS)


def text_of(type_: str, every: dict[str, str], tuned: int = 600) -> str:
    made = (
        FUNCTION.format(type=type_, number=number, body=body, tuned=tuned)
        for number, body in enumerate(every.values())
    )
    return HEAD + "".join(made)


@pytest.mark.parametrize(
    ("type_", "is_serial"), [("double", False), ("int", False), ("double", True)]
)
def test_what_only_accumulates_is_a_reduction(type_: str, is_serial: bool) -> None:
    every = SERIAL if is_serial else bodies(type_)
    regions = text_source(text_of(type_, every)).regions
    for name, region in zip(every, regions, strict=True):
        analysis = analyse(normalised(region))
        loop = analysis.loops[0]
        assert (loop.kind is LoopKind.SERIAL) is is_serial, (name, loop.proof)


@pytest.fixture(scope="module", params=["double", "int", pytest.param("float", marks=SLOW)])
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Program]:
    """All bodies over elements of one type, built for every target."""
    folder = tmp_path_factory.mktemp("several")
    source, made = folder / "s.c", folder / "made"
    made.mkdir()
    source.write_text(text_of(request.param, bodies(request.param)))
    return request.param, Program(made, source)


def test_every_target_computes_it(built: tuple[str, Program]) -> None:
    type_, program = built
    kind, calls = KINDS[type_], list[Call]()
    for number, (n, m) in itertools.product(range(len(bodies(type_))), ((0, 3), (1, 1), (600, 7))):
        arrays = (Array(kind, n * m + m + n, seed=k) for k in (1, 2))
        given = (n, m, *arrays, Array(kind, n + m + 2), (kind, (-3, 2)[n % 2]))
        calls.append(Call(f"f{number}", *given, returns=kind))
    program.check(*calls)


def test_zeros_and_nan_are_c_s(built: tuple[str, Program]) -> None:
    type_, program = built
    if type_ == "int":
        return
    kind, calls = KINDS[type_], list[Call]()
    for (number, body), start in itertools.product(
        enumerate(bodies(type_).values()), (float("nan"), 0.0, -0.0, 2.0)
    ):
        n, m = (5, 66)[number % 2], 3
        count = n * m + m + n
        # Which of two zeros fmax gives, C leaves open.
        zeros = (1.0, -1.0) if "fmax" in body else (0.0, "-0.0")
        start = 1.0 if start == 0 and "fmax" in body else start
        plain, none = (zeros[1], "nan", zeros[1], zeros[0]) * count, (zeros[1],) * count
        a, b = Array(kind, count, plain[:count]), Array(kind, count, none)
        d = Array(kind, n + m + 2, none[: n + m + 2])
        calls.append(Call(f"f{number}", n, m, a, b, d, (kind, start), returns=kind))
        calls.append(Call(f"f{number}", n, m, b, b, d, (kind, start), returns=kind))
    program.check(*calls)


@pytest.mark.parametrize("target", ["openmp", "openacc", "cuda"])
def test_they_have_one_partial_result(target: str, tmp_path: Path) -> None:
    source = tmp_path / "s.c"
    every = {name: SUMS[name] for name in ("three terms", "other conditions", "both branches")}
    source.write_text(text_of("double", every))
    (text, *_) = emit(Settings(source, (target,)), [load_target(target)]).files.values()
    assert "s_sum +=" in text
    assert "s_sum2" not in text
