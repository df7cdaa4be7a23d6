"""The layouts of tables, of results that are made up."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Golden

from annotune.measure.trial import Status, Trial
from annotune.report.layouts import BOUND, tables_of
from annotune.report.plots import curve_plot
from annotune.report.suite import Suite, TableWish, Workload, WorkloadFamily
from annotune.report.table_page import tables_html
from annotune.report.table_text import tables_csv, tables_json, tables_latex, tables_text
from annotune.report.tables import FirstChoices, PaperTable, SuiteTables, WorkloadResult
from annotune.tuning.results import (
    FIRST_ALONE,
    KernelModel,
    Profile,
    RegionResult,
    Roof,
    Row,
    RowStatus,
    Searched,
    TargetModel,
)

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


COMPARED = TableWish("speedups", "", (ALONE,), ("cuda",), ("openacc",))


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


def test_a_ratio_of_two_kinds_names_the_device_of_each() -> None:
    found = one("speedups", ALONE, "cuda", "openmp").lines
    notes = {line.about[2:]: {cell.note for cell in line.cells if cell.value} for line in found}
    assert notes["tuned CUDA", GPU] == {f"a time predicted for {GPU} beside one measured on {CPU}"}
    other = f"a time predicted for {OTHER_GPU} beside one measured on {CPU}"
    assert notes["tuned CUDA", OTHER_GPU] == {other}
    assert notes["tuned OpenMP", CPU] == {""}
    both = Suite(Path("s.yaml"), "", ("h200",), TARGETS, "auto", (COMPARED,))
    (line, *_) = tables_of(both, (ran(F8), ran(F16)), "0").tables[0].lines
    assert [(cell.text, cell.note) for cell in line.cells] == [("(~2.00x)", "")]


def test_a_measured_first_choice_says_that_nothing_was_searched() -> None:
    searched = Searched("openmp", "auto", 0, 10, FIRST_ALONE, FIRST_ALONE)
    late = replace(measured("openmp", 1e-3), reason="no time was left to prove it at other sizes")
    first = replace(region(measured("sequential", 1.0), late), searches=(searched,))
    other = region(measured("sequential", 1.0), measured("openmp", 1e-3))
    family = WorkloadFamily("both", (F8, G8))
    results = (WorkloadResult(F8, (first,)), WorkloadResult(G8, (other,)))
    found = one("versions", family, results=results)
    own = {line.about[1]: line.cells[0] for line in found.lines}
    assert own["tuned OpenMP"].status is RowStatus.MEASURED
    assert own["tuned OpenMP"].note == (
        "f: the first choice of the rules alone was measured, without a search; "
        "no time was left to prove it at other sizes"
    )
    assert own["sequential"].note == ""
    ratios = one("speedups", family, "openmp", results=results).lines[0]
    assert "without a search" in ratios.cells[0].note


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


def step(target: str, steps: str, time_s: float | None, device: str = "") -> Trial:
    """Return a trial of the first choice with some kinds of steps, predicted where a device is."""
    if time_s is None:
        return Trial(target, {"steps": steps}, Status.CONSTRAINTS, reason="it is illegal")
    status, is_predicted = Status.CORRECT, bool(device)
    config = {"steps": steps}
    return Trial(target, config, status, time_s, is_predicted=is_predicted, device=device or CPU)


def by_steps() -> WorkloadResult:
    run = replace(
        region(measured("sequential", 4)),
        trials=(step("openmp", "grid", 4), step("openmp", "grid, vectors", 2)),
    )
    times = (("grid", 1.0), ("grid, staging", None), ("grid, staging, unroll", 0.5))
    steps = tuple(step("cuda", names, time_s, GPU) for names, time_s in times)
    forecasts = ((replace(region(), trials=steps),),)
    grids = {"openacc": ("8 x 1 x 64", ""), "cuda": ("16 x 16", "8 x 8")}
    first = FirstChoices((run,), forecasts, grids=grids)
    return replace(ran(F8), first={"auto": first})


def test_each_kind_of_steps_is_switched_on_in_turn() -> None:
    found = one("ablation", WorkloadFamily("f", (F8,)), "openmp", "cuda", results=(by_steps(),))
    assert found.columns == ("as written", "grid", "+ vectors", "+ staging", "+ unroll", "tuned")
    cpu, gpu = found.lines
    assert (cpu.about, gpu.about) == (("f", "8", "openmp", CPU), ("f", "8", "cuda", GPU))
    # Steps are compared with the original beside them: 4 s, where that of the run takes 8.
    assert [c.text for c in cpu.cells] == ["2.00x", "1.00x", "2.00x", "", "", "4.00x"]
    assert [c.text for c in gpu.cells] == ["", "(~4.00x)", "", "-", "(~8.00x)", "(~32.0x)"]
    assert gpu.cells[3].note == "not available because it is illegal"


def test_a_function_without_steps_to_add_has_empty_cells() -> None:
    found = one("ablation", WorkloadFamily("f", (F8,)), "openmp", results=(ran(F8),))
    assert found.columns == ("as written", "tuned")


def test_the_grids_of_the_first_choice() -> None:
    known = by_steps()
    asked = Trial("openacc", {}, Status.CORRECT, facts={"grid_chosen": "8 x 1 x 32 (gcc)"})
    killed = replace(asked, status=Status.TIMEOUT, facts={"grid_chosen": "1 x 1 x 32 (gcc)"})
    right = replace(asked, time_s=1.0, facts={"grid_chosen": "9 x 1 x 32 (gcc)"})
    as_written = [replace(one, target="openacc_naive") for one in (killed, right)]
    run = replace(known.run[0], trials=(asked, *as_written))
    found = one("grids", WorkloadFamily("f", (F8,)), results=(replace(known, run=(run,)),))
    assert [cell.text for cell in found.lines[0].cells] == [
        *("9 x 1 x 32 (gcc)", "8 x 1 x 64", "8 x 1 x 32 (gcc)", "16 x 16", "8 x 8")
    ]


def test_counters_stand_beside_the_model() -> None:
    kernels = tuple(
        KernelModel((n,), 1.0, "L2", 8, True, 1.0, None, "", 0.5, {"device memory": rate})
        for n, rate in enumerate((1e9, 3e9))
    )
    model = TargetModel("cuda", GPU, kernels, None)
    counted = Profile(1.0, {"device memory": 1.5e9}, 1.0, 0.4, target="cuda", device=GPU)
    known = ran(F8)
    run = replace(known.run[0], models=(model,), profiles=(counted,))
    family = WorkloadFamily("f", (F8,))
    found = one("profile", family, "cuda", results=(replace(known, run=(run,)),))
    first, second = found.lines
    assert first.about == ("f", "8", "tuned CUDA", f"counted on {GPU}")
    assert [c.text for c in first.cells] == ["1.50 GB/s", "-", "-", "100%", "40%"]
    assert second.about == ("f", "8", "tuned CUDA", f"model of {GPU}")
    assert [c.text for c in second.cells] == ["(~2.00 GB/s)", "-", "-", "-", "(~50%)"]


def test_without_a_profiler_nothing_is_counted() -> None:
    kernel = KernelModel((0,), 1.0, "L2", 8, True, 1.0, None, "", 0.5)
    forecast = replace(region(), models=(TargetModel("cuda", GPU, (kernel,), None),))
    known = WorkloadResult(F8, (region(),), ((forecast,),))
    found = one("profile", WorkloadFamily("f", (F8,)), results=(known,))
    first, second = found.lines
    assert {cell.text for cell in first.cells} == {"-"}
    assert first.cells[0].note == "not available because no GPU was measured under a profiler"
    assert second.cells[-1].status is RowStatus.PREDICTED


def test_a_curve_has_the_bound_of_each_device() -> None:
    def roofed(one: WorkloadResult) -> WorkloadResult:
        run = replace(one.run[0], roofs={CPU: Roof(1e10, 1e6)}, bytes=1)
        return replace(one, run=(run,))

    found = one("curve", ALONE, "openmp", results=(roofed(ran(F8)), roofed(ran(F16))))
    bounds = [line for line in found.lines if BOUND in line.about]
    assert [[cell.value for cell in line.cells] for line in bounds] == [[10.0, 10.0]]
    curves = {curve.name: curve for curve in found.plots["alone"]}
    assert curves[f"{BOUND}, {CPU}"].status is None
    assert curves[f"tuned OpenMP, {CPU}"].points == ((8.0, 0.5), (16.0, 0.5))
    plot = curve_plot("alone", found.plots["alone"])
    assert plot is not None
    assert [line.kind for line in plot.lines].count("bound") == 1


def test_as_csv_every_figure_says_where_it_is_from() -> None:
    rows = [*csv.DictReader(tables_csv(tables(("speedups", ALONE, TARGETS))).splitlines())]
    assert {row["status"] for row in rows} == {"measured", "predicted", "unavailable"}
    assert all((row["status"] == "predicted") == row["text"].startswith("(~") for row in rows)
    first = rows[0]
    assert (first["about"], first["column"]) == ("alone; 8; tuned OpenMP; A CPU", "over sequential")
    assert (float(first["value"]), first["unit"]) == (4.0, "speed-up")


def test_json_has_the_cells_of_the_csv() -> None:
    found = tables(("speedups", ALONE, TARGETS), ("versions", BOTH, TARGETS))
    rows = [*csv.DictReader(tables_csv(found).splitlines())]
    made = json.loads(json.dumps(tables_json(found)))
    assert (made["title"], made["source"], made["annotune"]) == ("A suite", "s.yaml", "0")
    assert made["warnings"] == ["this machine had other work"]
    assert len(made["cells"]) == len(rows)
    for cell, row in zip(made["cells"], rows, strict=True):
        assert "; ".join(cell["about"]) == row["about"]
        assert ("" if cell["value"] is None else repr(cell["value"])) == row["value"]
        for name in ("table", "column", "unit", "status", "text", "note"):
            assert (cell[name] or "") == row[name]


def test_as_latex_nothing_is_obeyed() -> None:
    wish = TableWish("versions", r"\input{x} 50% & #1_^~${", (ALONE,), TARGETS, ORIGINALS)
    suite = Suite(Path("s.yaml"), "A", ("h200",), TARGETS, "auto", (wish,))
    text = tables_latex(tables_of(suite, (ran(F8), ran(F16)), "0"))
    title = r"\textbackslash{}input\{x\} 50\% \& \#1\_\textasciicircum{}$\sim$\$\{ (GFLOP/s)"
    assert f"\\caption{{{title}}}" in text
    assert r"tuned CUDA & NVIDIA H200 & \textit{($\sim$4.00)}" in text
    rows = [row for row in text.split("\n") if row.endswith(r"\\")]
    assert {row.replace(r"\&", "").count("&") for row in rows} == {4}


def test_as_a_page_that_stands_alone() -> None:
    wish = TableWish("curve", "<script>alert(1)</script>", (ALONE,), TARGETS, ORIGINALS)
    suite = Suite(Path("s.yaml"), "<b>", ("h200",), TARGETS, "auto", (wish,))
    page = tables_html(tables_of(suite, (ran(F8), ran(F16)), "0", ("a <warning>",)))
    assert "<script" not in page
    assert "<b>" not in page
    assert not re.search(r"(?:src|href)=", page)
    cells = re.findall(r'<td class="num predicted" data-label="[^"]*">\(~', page)
    assert len(cells) == page.count("(~") - 1
    assert page.count("<polyline") == 6


def test_nothing_of_a_text_is_obeyed() -> None:
    found = tables(("versions", ALONE, ("openmp",)))
    assert tables_text(replace(found, title="a\x1b[31mb\nc")).startswith("a\ufffd[31mb c\n")
