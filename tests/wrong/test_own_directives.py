"""Directives of the user's own before and in regions: each text compiles, and computes once."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.codegen.target import DEFAULT_TARGETS, load_target
from annotune.pipeline import Settings, emit
from wrong.called import Array, Call, Program

FUNCTION = """
void f{number}(int n, const double *restrict a, double *restrict o)
{{
    {before}
    /*@ begin PerfTuning ( def input_params {{ param n = 40; }} ) @*/
    {inside}
    for (int i = 0; i < n; i++)
        o[i] += a[i];
    /*@ end @*/
    {after}
}}
"""
# What stands before the region, in it, behind it, and the code of its refusal.
PLACES = {
    "a parallel loop": ("#pragma omp parallel for schedule(static)", "", "", "AT176"),
    "vectors": ("#pragma omp simd", "", "", "AT176"),
    "two lines": ("#pragma omp parallel \\\n  for", "", "", "AT176"),
    "stacked": ("#pragma omp parallel\n#pragma omp for", "", "", "AT176"),
    "under a branch": ("if (n > 3)\n#pragma GCC ivdep", "", "", "AT176"),
    "an unrolled loop": ("#pragma GCC unroll 4\n/* fast */", "", "", "AT176"),
    "of OpenACC": ("#pragma acc parallel loop copyin(a[0:n]) copy(o[0:n])", "", "", "AT176"),
    "a team": ("#pragma omp parallel num_threads(3)\n{", "#pragma omp for", "}", "AT177"),
    "a team whose threads are counted": (
        "#pragma omp parallel num_threads(3)\n{",
        "#pragma omp for schedule(dynamic) nowait",
        "}",
        "AT177",
    ),
    "in the region": ("", "#pragma omp parallel for", "", ""),
    "a hint in the region": ("", "#pragma GCC ivdep", "", ""),
    "one thread of a team before it": ("#pragma omp parallel\n#pragma omp single", "", "", ""),
    "a statement of its own": ("#pragma omp barrier", "", "", ""),
    "other lines": ("#pragma GCC diagnostic push", "", "#pragma GCC diagnostic pop", ""),
}


def text_of(number: int, place: tuple[str, str, str, str]) -> str:
    before, inside, after, _ = place
    return FUNCTION.format(number=number, before=before, inside=inside, after=after)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "s.c"
    path.write_text("".join(text_of(k, one) for k, one in enumerate(PLACES.values())))
    return path


def test_every_text_computes_once(source: Path, tmp_path: Path) -> None:
    program = Program(tmp_path, source)
    arrays = Array("f8", 40), Array("f8", 40, seed=1)
    program.check(*(Call(f"f{number}", ("i4", 37), *arrays) for number in range(len(PLACES))))


def test_what_has_no_place_is_refused(source: Path) -> None:
    text = source.read_text()
    found = emit(Settings(source, DEFAULT_TARGETS), [load_target(t) for t in DEFAULT_TARGETS])
    codes = [""] * len(PLACES)
    for one in found.diagnostics:
        if one.code in ("AT176", "AT177"):
            line = text.split("\n")[: one.span.line]
            codes[sum(row.startswith("void f") for row in line) - 1] = one.code
    assert codes == [place[3] for place in PLACES.values()]
