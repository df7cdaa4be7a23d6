"""What is written, or of unknown length, where an array of integers says: exact in every target."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.borders import check_borders

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.pipeline import Settings, emit
from wrong.called import PROGRAMS, Array, Call, Program, some

TIMES = 40
# Of the index: rows within a column, one row at all times, and rows beyond a column, which is
# another place for the same element; below 0 only where the array begins earlier.
KINDS = ("within", "one", "beyond", "below")


def _indices(drawn: random.Random, kind: str, count: int, end: int, start: int = 0) -> list[int]:
    match kind:
        case "one":
            return [drawn.randrange(start, end)] * count
        case "beyond":
            return [drawn.randrange(start, 2 * end) for _ in range(count)]
        case "below":
            return [drawn.randrange(start - 2, end) for _ in range(count)]
    return [drawn.randrange(start, end) for _ in range(count)]


def _calls(seed: int) -> list[Call]:
    drawn = random.Random(seed)
    found: list[Call] = []
    for kind in KINDS * (TIMES // len(KINDS)):
        n, m, ld = drawn.randrange(0, 9), drawn.randrange(0, 8), drawn.randrange(1, 12)
        k = min(ld, drawn.randrange(0, 7))
        many = Array("f8", 500, offset=40, seed=drawn.randrange(99))
        few = Array("f8", 60, seed=drawn.randrange(99))
        ints = tuple(_indices(drawn, kind, 30, ld))
        cols = tuple(_indices(drawn, kind, 30, max(1, n) + 1, 1))
        bins = tuple(_indices(drawn, "within", 30, max(m, 1)))
        found += [
            Call("swaps", n, k, ld, many, Array("i4", 30, ints)),
            Call("scatter", n, m, ld, many, few, Array("i8", 30, ints)),
            Call("columns", n, min(m, ld), ld, many, few, Array("i2", 30, cols)),
            Call("histogram", ("i4", n), ("i4", m), ("i4", k), many, few, Array("i4", 30, bins)),
            Call("gather", n, few, many, Array("i4", 30, ints)),
            Call("lookups", n, m, few, many, few, Array("i4", 30, ints)),
            Call("pivots", ("i4", k), ("i4", ld), many, Array("i4", 30, ints)),
        ]
    return found


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("indices"), PROGRAMS / "indices.c")


def test_every_target_writes_where_the_indices_say(program: Program) -> None:
    program.check(*_calls(1))


def test_an_array_that_overlaps_its_indices_is_found(program: Program) -> None:
    # As doubles these numbers are tiny, and their first halves are indices.
    drawn = random.Random(2)
    both = [tuple(drawn.randrange(8) for _ in range(99)) for _ in range(4)]
    program.check(
        *(Call("shared_swaps", n, 5, 9, Array("i8", 99, own)) for own in both for n in (0, 1, 5, 9))
    )


def test_no_element_is_copied_that_no_index_means(program: Program) -> None:
    ints = tuple(5 + 3 * place % 7 for place in range(30))
    calls = [
        Call("gather", n, Array("f8", n), Array("f8", 33), Array("i4", 30, ints)) for n in (0, 1, 8)
    ]
    check_borders(program.libraries, *some(calls))


@pytest.mark.parametrize("target", ["cuda", "openacc"])
def test_the_host_cannot_read_indices_that_are_on_the_device(target: str) -> None:
    settings = Settings(PROGRAMS / "indices.c", (target,), resident=True, function="swaps")
    with pytest.raises(AnnotuneError) as refused:
        emit(settings, [load_target(target)])
    assert {d.code for d in refused.value.diagnostics} == {"AT226"}


REFUSED = {
    "the nest writes the indices": ("AT213", "row[i] = 0; a[row[i] + j * ld] = x[i];"),
    "what one iteration finds, another is given": ("AT213", "a[row[i]] += x[i];"),
    "an index that a condition guards": ("AT214", "if (x[i] > 0) s += y[row[i]];"),
    "an index of an index": ("AT214", "s += y[row[row[i]]];"),
    "more numbers than a long holds": ("AT214", "s += y[far[i]];"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_host_cannot_find_is_refused(what: str, tmp_path: Path) -> None:
    code, body = REFUSED[what]
    source = tmp_path / "refused.c"
    source.write_text(
        "double f(int n, int ld, double *restrict a, const double *restrict x,"
        " const double *restrict y, int *restrict row, const unsigned long *restrict far)\n{\n"
        "    double s = 0;\n"
        "    /*@ begin PerfTuning ( def input_params { param n = 9; param ld = 9; } ) @*/\n"
        "    for (int j = 0; j < n; j++)\n        for (int i = 0; i < n; i++) {\n"
        f"            {body}\n        }}\n    /*@ end @*/\n    return s;\n}}\n"
    )
    with pytest.raises(AnnotuneError) as refused:
        emit(Settings(source, ("openmp",)), [load_target("openmp")])
    assert code in {d.code for d in refused.value.diagnostics}
