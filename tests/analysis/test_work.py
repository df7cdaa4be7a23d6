"""Operations, least bytes, strides and uses."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import assume, given
from support.laws import tried
from support.sizes import fulfils

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Work
from annotune.analysis.work import progression
from annotune.diagnostics import AnnotuneError
from annotune.ir.region import Region

from .brute import Machine
from .regions import D1_1, D1_1_SIZES, GRAD3, GRAD3_SIZES, region
from .test_laws import OTHER_SIZES, SIZES, _region, nests


def test_sd_t_d1_1_as_in_the_roofline_table() -> None:
    """0.537 Gflop and 2.69484e8 bytes at N = 16: t3 is read and written, t2 and v2 read."""
    analysis = analyse(region(D1_1, sizes=D1_1_SIZES))
    assert analysis.total == Work(2 * 16**7, 8 * (16**6 + 2 * 16**4), 8 * 16**6)
    assert analysis.total.bytes_read + analysis.total.bytes_written == 269_484_032
    (_, v2, t3, _) = analysis.accesses[0]
    assert v2.strides["h7"] == 16**3
    assert (v2.strides["h3"], v2.strides["h1"], t3.strides["h1"]) == (1, 0, 256)


def test_local_grad3_as_in_the_roofline_table() -> None:
    """6e7 flop and 5.6e7 bytes at lx = 10 with 1000 elements, and D and Dt."""
    analysis = analyse(region(GRAD3, fixed=GRAD3_SIZES))
    assert analysis.total.flop == 60_000_000
    assert analysis.total.bytes_read + analysis.total.bytes_written == 56_000_000 + 2 * 800


def test_integer_arithmetic_is_no_flop() -> None:
    analysis = analyse(
        region("for i in 0:n: a[2*i + 1] = (i + 1) * 0.5 - b[i] / 3.0", sizes={"n": 7})
    )
    assert analysis.total.flop == 3 * 7


def test_a_triangle_is_counted() -> None:
    text = "for i in 0:n: for j in 0:i: for k in 0:n: C[i*n + j] += A[i*n + k] * A[j*n + k]"
    analysis = analyse(region(text, sizes={"n": 9}))
    assert analysis.total == Work(2 * 36 * 9, 8 * (36 + 81), 8 * 36)


def test_overlapping_neighbours_are_counted_once() -> None:
    text = "for i in 1:n-1: for j in 1:n-1: b[i*n+j] = a[(i-1)*n+j] + a[(i+1)*n+j] + a[i*n+j-1]"
    analysis = analyse(region(text, sizes={"n": 10}))
    touched = {
        (i + di, j + dj)
        for i in range(1, 9)
        for j in range(1, 9)
        for di, dj in ((-1, 0), (1, 0), (0, -1))
    }
    assert analysis.total.bytes_read == 8 * len(touched)


def test_progressions_join_without_gaps() -> None:
    assert progression(5, [(10, 3), (1, 10)]).sides == ((1, 30),)
    assert progression(5, [(-1, 4)]).offset == 2
    assert progression(0, [(1, 4), (1, 3)]).sides == ((1, 6),)
    assert progression(0, [(3, 2), (2, 3)]).is_distinct is False


USES = {
    "copied": ("for i in 0:n: a[i] = b[i]", {"a": (False, True, True), "b": (True, False, False)}),
    "accumulated": ("for i in 0:n: a[i] += b[i]", {"a": (True, True, False)}),
    "set, then accumulated": (
        "for i in 0:n\n  for j in 0:m\n    a[i*m + j] = 0.0\n    for k in 0:n\n"
        "      a[i*m + j] += b[k]\n",
        {"a": (True, True, True)},
    ),
    "written with gaps": ("for i in 0:n: a[2*i] = 1.0", {"a": (False, True, False)}),
    "a declaration but its first": ("for i in 1:n: A[i] = 1.0", {"A": (False, True, True)}),
    "read first": ("for i in 0:n\n  b[i] = a[i]\n  a[i] = 1.0\n", {"a": (True, True, False)}),
    "the diagonal": ("for i in 0:n: a[i*n + i] = 1.0", {"a": (False, True, False)}),
}


@pytest.mark.parametrize("name", USES)
def test_use(name: str) -> None:
    text, expected = USES[name]
    uses = analyse(region(text, sizes={"n": 9, "m": 4}, extents={"A": ("n",)})).uses
    for array, (read, written, overwritten) in expected.items():
        use = uses[array]
        assert (use.is_read, use.is_written, use.overwritten) == (read, written, overwritten)


@tried(200)
@given(text=nests())
def test_sections_uses_and_work_hold(text: str) -> None:
    one = _region(text, fixed=False)
    try:
        analysis = analyse(one)
    except AnnotuneError:
        assume(False)
    for sizes in (SIZES, *OTHER_SIZES) if analysis.all_sizes else (SIZES,):
        if fulfils(analysis, sizes):
            _check_sections(one, sizes)
    touched = _touched(one, SIZES)
    assert analysis.total.bytes_read == 8 * sum(len(read) for read, _, _ in touched.values())
    assert analysis.total.bytes_written == 8 * sum(len(done) for _, done, _ in touched.values())


def _touched(one: Region, sizes: dict[str, int]) -> dict[str, tuple[set[int], set[int], bool]]:
    """Return for each array what is read, what is written, and whether a read comes first."""
    machine = Machine(one, sizes)
    found: dict[str, tuple[set[int], set[int], bool]] = {
        n: (set(), set(), False) for n in one.arrays
    }
    for touched in machine.trace().values():
        for name, address in touched.reads:
            if name in found:
                read, written, early = found[name]
                read.add(address)
                found[name] = read, written, early or address not in written
        for name, address in touched.writes:
            if name in found:
                found[name][1].add(address)
    return found


def _check_sections(one: Region, sizes: dict[str, int]) -> None:
    analysis = analyse(one)
    machine = Machine(one, sizes)
    for name, (read, written, early) in _touched(one, sizes).items():
        shape = analysis.shapes[name]
        lowest = machine.value(shape.lowest, {}, set())
        first = machine.value(shape.part.first, {}, set())
        section = range(first, first + machine.value(shape.part.count, {}, set()))
        assert lowest <= first
        assert section[-1] < lowest + machine.value(shape.length, {}, set())
        assert min(read | written) == section[0]
        assert max(read | written) == section[-1]
        if analysis.uses[name].overwritten:
            assert not early
            assert written == set(section)
        inner = [machine.value(e, {}, set()) for e in shape.extents[1:] if e is not None]
        assert prod(inner) >= 1
