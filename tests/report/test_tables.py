"""The layouts of tables, of results that are made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Golden

from annotune.report.suite import Suite, TableWish, Workload, WorkloadFamily
from annotune.report.table_text import tables_text
from annotune.report.tables import PaperTable, SuiteTables, WorkloadResult, tables_of
from annotune.tune.results import RegionResult, Row, RowStatus

CPU, GPU, OTHER_GPU = "A CPU", "NVIDIA H200", "Tesla K20c"
FLOP = 10**9
NO_GPU = "the compiler chooses its grid, which only a GPU can time"


def measured(name: str, time_s: float, device: str = CPU) -> Row:
    return Row(name, RowStatus.MEASURED, device, time_s, verified=True)


def predicted(name: str, time_s: float, device: str = GPU) -> Row:
    return Row(name, RowStatus.PREDICTED, device, time_s)


def region(*rows: Row, flop: int = FLOP) -> RegionResult:
    return RegionResult("f", 1, 1, {}, flop, 1, rows, ())


def work(function: str, label: str) -> Workload:
    return Workload(Path("a.c"), function, label, {"n": int(label)})


def ran(one: Workload, scale: float = 1.0) -> WorkloadResult:
    """Return a workload with a measured CPU and predicted GPUs, `scale` times as slow."""
    run = region(
        measured("sequential", 8 * scale),
        measured("openmp_naive", 4 * scale),
        Row("openacc_naive", RowStatus.UNAVAILABLE, reason=NO_GPU),
        measured("openmp", 2 * scale),
        Row("openacc", RowStatus.UNAVAILABLE, reason="not among the targets asked for"),
        Row("cuda", RowStatus.UNAVAILABLE, reason="not among the targets asked for"),
    )
    forecasts = (
        (region(predicted("openacc", 0.5 * scale), predicted("cuda", 0.25 * scale)),),
        (region(predicted("cuda", 1.0 * scale, OTHER_GPU)),),
    )
    return WorkloadResult(one, (run,), forecasts)


F8, F16, G8, G16 = work("f", "8"), work("f", "16"), work("g", "8"), work("g", "16")
ALONE = WorkloadFamily("alone", (F8, F16))
BOTH = WorkloadFamily("both", (F8, F16, G8, G16))
TARGETS = ("openmp", "openacc", "cuda")
ORIGINALS = ("sequential", "openmp_naive", "openacc_naive")


def tables(
    *wishes: tuple[str, WorkloadFamily, tuple[str, ...]], results: tuple[WorkloadResult, ...] = ()
) -> SuiteTables:
    found = results or (
        ran(F8),
        ran(F16, 4.0),
        ran(G8, 4.0),
        WorkloadResult(G16, why="a.c:3:1: no"),
    )
    asked = tuple(TableWish(x, f"Table of {x}", (f,), of, ORIGINALS) for x, f, of in wishes)
    suite = Suite(Path("s.yaml"), "A suite", ("h200",), TARGETS, "auto", asked)
    return tables_of(suite, found, "0", ("this machine had other work",))


def one(
    layout: str, family: WorkloadFamily, *of: str, results: tuple[WorkloadResult, ...] = ()
) -> PaperTable:
    return tables((layout, family, of or TARGETS), results=results).tables[0]


def test_as_text(golden: Golden) -> None:
    found = tables(
        ("versions", BOTH, TARGETS), ("speedups", ALONE, ("cuda",)), ("rates", BOTH, ("openmp",))
    )
    golden.check("tables.txt", tables_text(found))


def cell(table: PaperTable, *about: str, column: str) -> tuple[str, float | None]:
    line = next(x for x in table.lines if set(about) <= set(x.about))
    found = line.cells[table.columns.index(column)]
    return found.text, found.value


def test_a_family_has_the_geometric_mean() -> None:
    found = one("versions", BOTH)
    # 1/8 and 1/32 GFLOP/s
    assert cell(found, "sequential", column="8") == ("0.0625", pytest.approx(1 / 16))


def test_a_mean_without_one_of_its_functions_says_so() -> None:
    found = one("versions", BOTH)
    line = next(x for x in found.lines if "sequential" in x.about)
    last = line.cells[found.columns.index("16")]
    assert last.value == pytest.approx(1 / 32)
    assert last.note == "of 1 of 2 functions; g: not available because a.c:3:1: no"


def test_a_predicted_time_makes_a_figure_predicted() -> None:
    found = one("speedups", ALONE)
    assert cell(found, "8", "tuned OpenMP", column="over sequential") == ("4.00x", 4.0)
    assert cell(found, "8", "tuned CUDA", GPU, column="over sequential") == ("(~32.0x)", 32.0)
    assert cell(found, "8", "tuned CUDA", OTHER_GPU, column="over sequential") == ("(~8.00x)", 8.0)
    shown = [(c.status, c.text) for line in found.lines for c in line.cells if c.value]
    assert all((status is RowStatus.PREDICTED) == text.startswith("(~") for status, text in shown)


def test_a_measured_time_stands_for_a_prediction_of_the_same_device() -> None:
    known = ran(F8)
    run = replace(known.run[0], rows=(measured("sequential", 8), measured("cuda", 0.5, GPU)))
    found = one(
        "versions", WorkloadFamily("f", (F8,)), "cuda", results=(replace(known, run=(run,)),)
    )
    assert cell(found, "tuned CUDA", GPU, column="8") == ("2.00", 2.0)
    assert cell(found, "tuned CUDA", OTHER_GPU, column="8") == ("(~1.00)", 1.0)


def test_versions_of_a_gpu_are_compared_on_the_same_one() -> None:
    rows = (
        *(measured("sequential", 8), measured("openacc_naive", 1, GPU)),
        *(measured("openacc", 0.5, GPU), measured("cuda", 0.25, GPU)),
    )
    known = WorkloadResult(F8, (region(*rows),), ran(F8).forecasts)
    found = one("speedups", WorkloadFamily("f", (F8,)), "cuda", results=(known,))
    assert cell(found, GPU, column="over OpenACC as written") == ("4.00x", 4.0)
    line = next(x for x in found.lines if OTHER_GPU in x.about)
    assert line.cells[2].value is None
    assert line.cells[2].note.endswith(f"it has no time on {OTHER_GPU}")


def test_the_regions_of_a_function_are_added_up() -> None:
    two = (region(measured("openmp", 1)), region(measured("openmp", 3), flop=3 * FLOP))
    known = WorkloadResult(F8, two)
    found = one("rates", WorkloadFamily("f", (F8,)), "openmp", results=(known,))
    assert cell(found, "f", column="8") == ("1.00", 1.0)


def test_regions_on_different_devices_have_no_sum() -> None:
    two = (region(measured("openmp", 1)), region(measured("openmp", 1, GPU)))
    found = one("rates", WorkloadFamily("f", (F8,)), "openmp", results=(WorkloadResult(F8, two),))
    assert "not all timed on one device" in found.lines[0].cells[0].note


def test_nothing_computed_has_no_rate() -> None:
    known = WorkloadResult(F8, (region(measured("openmp", 1), flop=0),))
    found = one("rates", WorkloadFamily("f", (F8,)), "openmp", results=(known,))
    assert found.lines[0].cells[0].note == "not available because nothing is computed"
