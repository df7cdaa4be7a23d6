"""A region tuned for several sizes: time and budget shared, one text checked at all of them."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.regions import text_source

from annotune import pipeline
from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.openmp import OpenMpTarget
from annotune.codegen.several_sizes import at_other_sizes
from annotune.codegen.target import RegionCode, load_target
from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.sizes import awkward_sizes, tuned_sizes
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Trial
from annotune.pipeline import Settings
from annotune.report.results_json import results_json
from annotune.space.decision import Base
from annotune.space.space import region_space
from annotune.space.variants import Variant
from annotune.tune import run as tune_run
from annotune.tune.bench import Bench, Session
from annotune.tune.config import RunConfig, Stop
from annotune.tune.region_run import Tuned
from annotune.tune.results import RegionResult
from annotune.tune.run import AtSize, SizeListener, TimeShares, shares, together, tune_each

TOOLS = find_toolchains(os.environ)
needs_openmp = pytest.mark.skipif(not TOOLS.openmp or TOOLS.cxx is None, reason="no OpenMP")

TEXT = """\
void f(int n, int m, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n[] = [16,24]; param m = 40; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < m; k++)
                y[i*n + j] += x[i*m + k] * x[k*n + j];
    /*@ end @*/
}
"""


@given(st.integers(0, 500), st.integers(1, 9))
def test_a_budget_is_shared_evenly_and_leaves_none_without(budget: int, parts: int) -> None:
    found = shares(budget, parts)
    assert len(found) == parts
    assert min(found) >= 1
    assert max(found) - min(found) <= 1
    assert sum(found) == max(budget, parts)


def test_time_left_over_goes_to_what_comes_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    clock = TimeShares([10.0] * 3)
    assert [clock.next_s() for _ in range(3)] == [10.0, 15.0, 30.0]


def test_what_takes_too_long_leaves_something_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    clock = TimeShares([10.0, 20.0], begun=90.0)
    assert clock.next_s() == pytest.approx(20 / 3)
    monkeypatch.setattr(time, "monotonic", lambda: 129.0)
    assert clock.next_s() == 5.0


def test_a_listener_hears_the_sizes() -> None:
    heard: list[str] = []

    class Inner:
        def stage(self, text: str, total: int, least_s: float = 0.0) -> None:
            heard.append(f"{text}, {total}, {least_s}")

        def trial(self, trial: Trial) -> None:
            raise AssertionError

    SizeListener(Inner(), "n=16").stage("tuning cuda", 3, 0.5)
    assert heard == ["tuning cuda for n=16, 3, 0.5"]


# The text for all sizes ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[AtSize]:
    """Return `TEXT` as if its first choice had won at both sizes."""
    folder = tmp_path_factory.mktemp("sizes")
    source = text_source(TEXT)
    analysis = analyse(source.regions[0])
    made: list[AtSize] = []
    for region in (analysis.region, *at_other_sizes(analysis.region, analysis)):
        one = analyse(region)
        base = Base.of(one)
        target = load_target("openmp")
        variant = target.points(base, region_space(base), load_device("h200")).listing(1).variant(0)
        checker = Checker(Oracle(source, one, TOOLS, folder / str(len(made))))
        bench = Bench(
            Session(RunConfig(), cores=2),
            checker,
            (tuned_sizes(region),),
            awkward_sizes(one),
            time.monotonic() + 600,
            "cpu",
        )
        result = RegionResult("f", 1, 3, dict(region.sizes), 1, 1, (), ())
        codes = {"openmp": target.region(variant, False)}
        made.append(AtSize(bench, Tuned(result, codes, {}, {"openmp": variant})))
    return made


class _Wrong(OpenMpTarget):
    """A target whose text for several sizes is wrong where it tests `sizes`."""

    def __init__(self, sizes: str) -> None:
        self.sizes = sizes

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        """Return the text, wrong at these sizes."""
        code = super().region(variant, resident)
        head = rf"if \({self.sizes}\) \{{"
        body = re.sub(head, r"\g<0>\n            y[0] += 1;", code.body)
        return replace(code, body=body) if variant.others else code


@needs_openmp
def test_the_text_for_all_sizes_is_checked_at_each(parts: list[AtSize]) -> None:
    found = together(parts, [OpenMpTarget()])
    assert found.result.sizes_checked == ({"n": 24, "m": 40},)
    assert [dict(one.sizes) for one in found.result.at_each_size] == [
        {"n": 16, "m": 40},
        {"n": 24, "m": 40},
    ]
    assert "n == 24 && m == 40" in found.codes["openmp"].body
    assert len(found.variants["openmp"].by_size) == 2
    assert found.warnings == ()


@needs_openmp
def test_kernels_for_a_listed_size_run_at_awkward_ones_of_the_rest(parts: list[AtSize]) -> None:
    found = together(parts, [_Wrong("n == 24")])
    (warning,) = found.warnings
    assert re.search(r"correctness: at n=24, m=(?!40\b)\d+: ", warning)
    assert found.variants["openmp"].others == ()


@needs_openmp
def test_what_cannot_be_run_for_any_size_of_the_rest_is_left_out(
    parts: list[AtSize], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "if (n == 24)" in together(parts, [OpenMpTarget()]).codes["openmp"].body
    monkeypatch.setattr(tune_run, "awkward_sizes", lambda analysis, fixed: ())
    found = together(parts, [OpenMpTarget()])
    assert "if (n == 24)" not in found.codes["openmp"].body
    assert "n == 24 && m == 40" in found.codes["openmp"].body
    assert found.warnings == ()


@needs_openmp
def test_a_text_that_is_wrong_at_one_size_is_not_written(parts: list[AtSize]) -> None:
    found = together(parts, [_Wrong("n == 24 && m == 40")])
    assert found.codes["openmp"] is parts[0].tuned.codes["openmp"]
    assert found.variants["openmp"].others == ()
    assert found.result.sizes_checked == ()
    (warning,) = found.warnings
    assert warning.startswith("openmp is tuned for n=16, m=40 alone: the text for several sizes ")
    assert "correctness: at n=24, m=40: " in warning


@needs_openmp
def test_a_size_without_a_winner_has_the_general_kernels(parts: list[AtSize]) -> None:
    first, second = parts
    none = replace(second, tuned=replace(second.tuned, codes={}, variants={}))
    found = together([first, none], [OpenMpTarget()])
    assert "n == 24" not in found.codes["openmp"].body
    assert found.result.sizes_checked == ({"n": 24, "m": 40},)


@pytest.mark.slow
@needs_openmp
def test_run_tunes_each_size_and_writes_one_text(tmp_path: Path) -> None:
    path = tmp_path / "user.c"
    path.write_text(TEXT)
    targets = [load_target("openmp")]
    config = RunConfig(budget=4, time_s=20, compilers=2, jobs=2)
    report = pipeline.run(Settings(path, ("openmp",)), targets, config, os.environ)
    (region,) = results_json(report.results)["regions"]
    assert region["sizes"] == {"n": 16, "m": 40}
    assert region["sizes_checked"] == [{"n": 24, "m": 40}]
    (other,) = region["by_size"]
    assert other["sizes"] == {"n": 24, "m": 40}
    for one in (region, other):
        row = next(row for row in one["rows"] if row["name"] == "openmp")
        assert (row["status"], row["verified"]) == ("measured", True)
        assert len([t for t in one["trials"] if t["target"] == "openmp"]) == 2
    assert other["flop"] == region["flop"] * 24 * 24 // (16 * 16)
    text = report.results.texts["user_omp.c"]
    for n in (16, 24):
        assert f"* f, region 1: tuned for n={n}, m=40\n" in text
    assert text.count(" us measured on ") == 2
    assert "* f, region 1: for all other sizes the first one's general kernels\n" in text
    json.dumps(region, allow_nan=False)


def test_a_size_that_is_refused_leaves_the_others(parts: list[AtSize]) -> None:
    asked: list[tuple[int, int]] = []

    def at_size(number: int, budget: int, share_s: float) -> AtSize:
        asked.append((number, budget))
        if number == 1:
            raise AnnotuneError.of(Template("AT999", "no such size").at(Span("user.c", 1, 1)))
        return parts[0]

    names = ["n=16", "n=24"]
    found = tune_each(names, at_size, 5, TimeShares([0.5, 0.5]), [OpenMpTarget()])
    assert asked == [(0, 3), (1, 2)]
    assert found.codes == parts[0].tuned.codes
    assert found.warnings == ("not tuned for n=24: no such size",)
    with pytest.raises(AnnotuneError):
        tune_each(names[:1], lambda *_: at_size(1, 1, 1.0), 5, TimeShares([1.0]), [])


def test_a_run_that_is_ended_begins_no_other_size(parts: list[AtSize]) -> None:
    stop = Stop()
    asked: list[int] = []

    def at_size(number: int, budget: int, share_s: float) -> AtSize:
        asked.append(number)
        stop.set()
        return parts[number]

    found = tune_each(["n=16", "n=24"], at_size, 5, TimeShares([0.5, 0.5]), [OpenMpTarget()], stop)
    assert asked == [0]
    assert found.codes == parts[0].tuned.codes
    assert found.warnings == ("not tuned for n=24: the run was ended early",)
