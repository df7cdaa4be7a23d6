"""The forms in which the winner on a GPU may be called, the GPU being played by this processor."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from support.little import tune_little
from test_played_gpu import CONFIG, GPU, environ  # noqa: F401  (a fixture)

from annotune import api, pipeline
from annotune.measure.machine import NoGpu
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import END_TO_END, Trial
from annotune.tuning import region_run
from annotune.tuning import run as tuning
from annotune.tuning.bench import Request
from annotune.tuning.config import AUTO
from annotune.tuning.region_run import NOT_TRIED
from annotune.tuning.results import RegionResult, Row
from annotune.tuning.whole_calls import NOT_SHARED, shares_of

pytestmark = pytest.mark.skipif(find_toolchains(os.environ).cxx is None, reason="no C++ compiler")

SUMS = """void add(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 16384; } ) @*/
    for (int i = 0; i < n; i++)
        y[i] += 2.0 * x[i];
    /*@ end @*/
}
"""
# So many that the host's adding is the first form.
MORE = SUMS.replace("16384", "65536")
ALONE = """void norm(int n, double *restrict s, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 16384; } ) @*/
    for (int i = 0; i < n; i++)
        s[0] += x[i] * x[i];
    /*@ end @*/
}
"""


@pytest.mark.parametrize(
    ("both", "call_s", "host_s", "shares"),
    [
        ("", 1.0, 1.0, ()),
        ("counter", None, None, ("counter",)),
        ("0.1", 1.0, 1.0, ("0.1",)),
        (AUTO, 1.0, 3.0, ("0.25", "0.125", "counter")),
        (AUTO, 3.0, 1.0, ("0.75", "0.375", "counter")),
        # One part of 32, half of which is none.
        (AUTO, 1.0, 31.0, ("0.03125", "counter")),
        (AUTO, 1.0, 100.0, ()),
        (AUTO, 1.0, None, ("0.125", "0.25", "0.5", "counter")),
        (AUTO, None, 1.0, ("0.125", "0.25", "0.5", "counter")),
    ],
)
def test_shares_keep_both_at_work_to_the_end(
    both: str, call_s: float | None, host_s: float | None, shares: tuple[str, ...]
) -> None:
    assert shares_of(both, call_s, host_s) == shares


@pytest.fixture
def played(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:  # noqa: F811
    monkeypatch.setitem(region_run.GPU_CALLS, "cuda", "cuda-cpu")
    tune_little(monkeypatch)
    return environ


def ran(text: str, both: str, environ: dict[str, str]) -> tuple[RegionResult, tuple[str, ...]]:  # noqa: F811
    """Return what a run says of a text, whose results are in ``out``, and its warnings."""
    Path("a.c").write_text(text)
    settings = pipeline.Settings(Path("a.c"), ("cuda",))
    report = pipeline.run(settings, Request(replace(CONFIG, both=both, time_s=600.0), environ))
    (found,) = report.results.regions
    return found, tuple(w for one in report.tuned for w in one.warnings)


def row_of(region: RegionResult) -> Row:
    return next(row for row in region.rows if row.name == "cuda")


def forms(region: RegionResult) -> list[Trial]:
    """Return the trials of the winner's forms, which are known by their calls."""
    return [trial for trial in region.trials if END_TO_END in trial.facts]


def test_sums_are_tried_with_and_without_the_host(played: dict[str, str]) -> None:
    region, _ = ran(MORE, "", played)
    tried = forms(region)
    assert [trial.config.get("S0.added") for trial in tried] == ["y", None]
    calls = [trial.facts[END_TO_END] for trial in tried]
    row = row_of(region)
    assert row.verified
    assert row.end_to_end_s in calls
    assert row.end_to_end_s == pytest.approx(min(map(float, calls)), rel=0.5)
    # The recipe is that of the form which won, as the text is.
    is_added = row.config.get("S0.added") == "y"
    assert ('add_on_host(0, "y")' in region.recipes["cuda"]) == is_added


@pytest.mark.slow  # without a GPU it is in the winner, too
def test_a_share_that_is_asked_for_is_in_the_winner(played: dict[str, str]) -> None:
    region, warnings = ran(SUMS, "0.25", played)
    assert {trial.config.get("both") for trial in forms(region)} == {"0.25"}
    row = row_of(region)
    assert (row.config["both"], row.verified, row.device) == ("0.25", True, GPU.name)
    assert 'both(0, "0.25")' in region.recipes["cuda"]
    assert not any("computes no share" in words for words in warnings)


@pytest.mark.slow
def test_several_shares_are_tried_beside_the_device_alone(played: dict[str, str]) -> None:
    region, _ = ran(MORE, AUTO, played)
    tried = [trial.config.get("both") for trial in forms(region)]
    assert tried == [None, "0.125", "0.25", "0.5", "counter", None]


@pytest.mark.slow
def test_what_cannot_be_shared_is_called_as_it_is(played: dict[str, str]) -> None:
    region, warnings = ran(ALONE, "0.25", played)
    row = row_of(region)
    assert row.verified
    assert "both" not in row.config
    (said,) = (words for words in warnings if words.startswith(NOT_SHARED.split("{}")[0]))
    assert "the host and the GPU cannot share this region" in said


def test_without_a_gpu_a_share_is_played_and_several_are_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tuning, "find_gpu", lambda: NoGpu("there is none"))
    tune_little(monkeypatch)
    region, _ = ran(SUMS, "0.25", {**os.environ})
    row = row_of(region)
    assert (row.status, row.config["both"], row.verified) == ("predicted", "0.25", True)
    # Of such calls the model says nothing.
    assert row.end_to_end_s is None
    region, warnings = ran(SUMS, AUTO, {**os.environ})
    assert "both" not in row_of(region).config
    assert NOT_TRIED in warnings


def test_a_share_of_no_cuda_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text(SUMS)
    for call in (
        partial(api.emit, both=0.25),
        partial(api.emit, gpus=2),
        partial(api.tune, both="auto"),
    ):
        with pytest.raises(ValueError, match="--both and --gpus are of CUDA"):
            call(source, target="openmp")
