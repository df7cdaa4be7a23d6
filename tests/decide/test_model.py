"""The model beside what was measured on an H200, and the parts that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, product
from math import exp, log
from statistics import mean

import pytest
from decide.recipes import decided_example, decided_text
from decide.recorded import Measured, recorded
from hypothesis import given
from hypothesis import strategies as st

from annotune.annotation.devices import load_device
from annotune.ir.nest import MemorySpace
from annotune.model.predict import predict
from annotune.model.shape import SECTOR_BYTES, shape, thread_work
from annotune.model.traffic import (
    AccessStream,
    Compiled,
    fetched,
    most_registers,
    read_by_waves,
    residency,
)
from annotune.schedule.candidate import Candidate, ContractionTile
from annotune.strategies.direct import choose
from annotune.strategies.movements import moves
from annotune.strategies.registry import AUTO
from annotune.tuning.results import spearman

H200 = load_device("h200")
EVERY = tuple(recorded())
# One kernel of each kind at each size; the others are alike, and take longer to analyse.
USUAL = tuple(
    m
    for m in EVERY
    if m.function in ("gemm", "local_grad3")
    or (m.function, m.size)
    in {
        ("sd_t_d1_1", 16),
        ("sd_t_d2_1", 16),
        ("sd_t_d2_2", 24),
        ("sd_t_d1_1", 28),
    }
)


def of_kind(kind: str, rows: Sequence[Measured]) -> list[Measured]:
    return [m for m in rows if m.kind == kind]


def mean_error(rows: Sequence[Measured], with_registers: bool = True) -> float:
    """Return the geometric mean of the larger over the smaller time."""
    ratios = (m.predicted_us(H200, with_registers) / m.time_us for m in rows)
    return exp(mean(abs(log(ratio)) for ratio in ratios))


def mean_correlation(rows: Sequence[Measured], with_registers: bool = True) -> float:
    """Return the mean of the rank correlations of each kernel and size with enough points."""
    found = []
    for _, group in groupby(sorted(rows, key=lambda m: m.group), key=lambda m: m.group):
        points = list(group)
        predicted = [m.predicted_us(H200, with_registers) for m in points]
        one = spearman(predicted, [m.time_us for m in points])
        if len(points) > 3 and one is not None:
            found.append(one)
    return mean(found)


def test_predictions_are_near_what_was_measured() -> None:
    # Before: 2.2 and 1.32 over the whole table.
    assert mean_error(of_kind("direct", USUAL)) < 1.35
    assert mean_error(of_kind("tile", USUAL)) < 1.2
    assert mean_correlation(of_kind("tile", USUAL)) > 0.5


@pytest.mark.slow
def test_the_whole_table_is_near_what_was_measured() -> None:
    # docs/model.md has the figures.
    assert mean_error(of_kind("direct", EVERY)) < 1.25
    assert mean_error(of_kind("tile", EVERY)) < 1.15
    assert mean_error(of_kind("tile", EVERY), with_registers=False) < 1.2
    assert mean_correlation(of_kind("tile", EVERY)) > 0.72
    assert mean_correlation(of_kind("tile", EVERY), with_registers=False) > 0.45
    everything = spearman([m.predicted_us(H200) for m in EVERY], [m.time_us for m in EVERY])
    assert everything is not None
    assert everything > 0.94


def test_a_direct_kernel_of_d2_is_not_charged_for_what_it_holds() -> None:
    # 294 us measured; with a load of v2 for each product the model said 958.
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "p7u")
    one = decided_example("nwchem/sd_t_d2.c", "sd_t_d2_1", sizes=dict.fromkeys(names, 16))
    (unit,) = one.base.apart
    choice = choose(unit)
    (work,) = thread_work(unit, choice, shape(unit, choice))
    runs = {load.access.access.array: (load.runs, load.held) for load in work.loads}
    # v2 moves with h3, p5, p6 and p7 alone: its sixteen values stay, while t2 is read 256 times.
    assert runs == {"v2": (16, 16), "t2": (16 * 256, 0), "t3": (256, 0)}
    assert (work.rounds, work.chain, work.iterations) == (256, 16, 4096)
    assert predict(unit, choice, H200).time_s == pytest.approx(294e-6, rel=0.3)


def test_registers_of_a_compiler_replace_the_estimate() -> None:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u")
    one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", AUTO, sizes=dict.fromkeys(names, 24))
    (unit,), (choice,) = one.base.apart, one.decision.choices
    estimated = predict(unit, choice, H200)
    assert not estimated.is_compiled
    few = predict(unit, choice, H200, Compiled(120))
    assert (few.registers, few.is_compiled) == (120, True)
    assert few.occupancy > estimated.occupancy
    assert few.time_s < estimated.time_s
    spilled = predict(unit, choice, H200, Compiled(120, 400, 400))
    assert spilled.time_s > few.time_s


def test_copies_ahead_are_waited_for_once_and_take_their_room() -> None:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u")
    one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", AUTO, sizes=dict.fromkeys(names, 24))
    (unit,), (choice,) = one.base.apart, one.decision.choices
    choice = replace(choice, contract=replace(tile_of(choice), contracted=("h7", 12)))
    plain = predict(unit, replace(choice, moves=()), H200)
    ahead = predict(unit, replace(choice, moves=moves(0, stages=2)), H200)
    assert ahead.terms["latency"] < plain.terms["latency"]
    assert ahead.registers == plain.registers
    held = moves(0, stages=2, through=MemorySpace.DEALT)
    small = replace(
        choice, contract=replace(tile_of(choice), register_x=(tile_of(choice).register_x[0], 4))
    )
    more = predict(unit, replace(small, moves=held), H200)
    assert more.registers > predict(unit, replace(small, moves=()), H200).registers
    capped = predict(unit, replace(small, moves=moves(0, resident=6)), H200)
    assert capped.registers == most_registers(H200, 6 * tile_of(small).threads)


def tile_of(choice: Candidate) -> ContractionTile:
    assert choice.contract is not None
    return choice.contract


def test_spills_of_a_direct_kernel_cost_time() -> None:
    text = "/*@ begin PerfTuning ( def input_params { param n = 2000; } ) @*/\n"
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) y[i] += A[i][j]*x[j];"
    head = "void f(int n, double y[restrict n], double A[restrict n][n], double x[restrict n]) {"
    one = decided_text(f"{head}\n{text}{nest}\n/*@ end @*/\n}}\n")
    (unit,), (choice,) = one.base.apart, one.decision.choices
    times = [predict(unit, choice, H200, Compiled(64, b, b)).terms["L1"] for b in (0, 100, 200)]
    assert times == sorted(set(times))


def test_a_slower_memory_or_clock_is_never_faster() -> None:
    for measured in [m for m in USUAL if m.size == 16][:4]:
        usual = measured.predicted_us(H200)
        for name in ("sustained_bandwidth_gb_s", "l2_bandwidth_gb_s", "clock_ghz", "fp64_tflops"):
            slower = replace(H200, **{name: getattr(H200, name) / 2})
            assert measured.predicted_us(slower) >= usual * 0.999


@given(threads=st.integers(1, 1024))
def test_the_most_registers_fit_and_one_step_more_does_not(threads: int) -> None:
    most = most_registers(H200, threads)
    assert residency(H200, threads, most, 0).blocks >= 1
    assert residency(H200, threads, most + 8, 0).blocks == 0


def test_bytes_that_loops_touch() -> None:
    rows = AccessStream("a", {"i": 800, "j": 8, "k": 0, "m": None}, 8, False)
    assert rows.touched({"k": 100}) == 32
    assert rows.touched({"j": 4}) == 32
    assert rows.touched({"j": 16, "k": 5}) == 128
    assert rows.touched({"i": 10, "j": 16}) == 1280
    # The whole rows, one after another.
    assert rows.touched({"i": 10, "j": 100}) == 8000
    # Nothing is known of m: a sector each time.
    assert rows.touched({"m": 7}) == 7 * (8 + SECTOR_BYTES - 8)


strides = st.dictionaries(st.sampled_from("ijk"), st.integers(0, 12).map(lambda n: 32 * n))
counts = st.fixed_dictionaries({name: st.integers(1, 6) for name in "ijk"})


@given(strides=strides, counts=counts)
def test_no_fewer_bytes_than_are_touched(strides: dict[str, int], counts: dict[str, int]) -> None:
    stream = AccessStream("a", strides, 8, False)
    moving = [(strides.get(name, 0), n) for name, n in counts.items()]
    places = product(*(range(n) for _, n in moving))
    sectors = {sum(s * p for (s, _), p in zip(moving, place, strict=True)) for place in places}
    assert stream.touched(counts) >= len(sectors) * SECTOR_BYTES


def test_a_loop_finds_again_what_the_cache_held() -> None:
    # In each iteration of i, all of x is read again; A is read once.
    x = AccessStream("x", {"j": 8}, 8, False)
    matrix = AccessStream("A", {"i": 8000, "j": 8}, 8, False)
    nest = (("i", 100), ("j", 1000))
    assert fetched([x, matrix], nest, {}, 64_000) == (8000, 800_000)
    # Both rows do not fit: x comes again each time.
    assert fetched([x, matrix], nest, {}, 8000) == (800_000, 800_000)


def test_blocks_share_what_the_l2_holds() -> None:
    stream = AccessStream("B", {"j": 8, "l": 8000}, 8, False)
    inside, blocks = {"l": 1000, "j": 100}, (("i", 50), ("j", 10))
    assert read_by_waves([stream], blocks, inside, 10, 1e9) == 8_000_000
    # With room for nothing, each ten blocks along i bring their columns again.
    assert read_by_waves([stream], blocks, inside, 10, 0) == 50 * 800_000
