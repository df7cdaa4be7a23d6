"""A mistake of annotune's own in one region: it is reported, and the other regions go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fuzz.choices import Seeded
from fuzz.examine import examine
from fuzz.nests import Options, nest
from support.cli import annotune, region
from support.little import tune_little
from support.mistakes import REPORTED, let_through

from annotune import diagnostics, pipeline
from annotune.codegen.target import load_target
from annotune.frontend import load, outliving
from annotune.pipeline import Settings
from annotune.report import findings
from annotune.tuning import run as tuning
from annotune.tuning.bench import Request
from annotune.tuning.config import RunConfig
from annotune.tuning.region_run import untuned

LOOP = "for (int i = 0; i < n; i++) a[i] += 2.0 * b[i];"
SOURCE = "\n".join(
    f"void {name}(int n, double *restrict a, const double *restrict b)\n{{\n{region(LOOP)}\n}}"
    for name in ("first", "faulty", "last")
)
LINE = 9
WORDS = "error: annotune itself fails here, in test_own_mistakes.py:"
# What may fail in one region, by the module and the name of the function.
STAGES: dict[str, tuple[Any, str]] = {
    "declarations moved": (outliving, "_declaring_region"),
    "lowering": (load, "_region"),
    "index ranges": (pipeline, "with_index_ranges"),
    "analysis": (pipeline, "analyse"),
    "other sizes": (pipeline, "_at_every_size"),
    "search options": (pipeline, "wanted"),
}


@pytest.fixture(autouse=True)
def _as_users_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tune_little(monkeypatch)
    monkeypatch.setattr(diagnostics, "internal_error", REPORTED)
    Path("user.c").write_text(SOURCE)


def spoil(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Have a function fail where one of its arguments is the region of `faulty`, or all fail."""
    whole: Callable[..., Any] = getattr(owner, name)

    def failing(*given: Any, **others: Any) -> Any:
        own = [getattr(one, "region", one) for one in given]
        own += [getattr(getattr(one, "analysis", None), "region", None) for one in given]
        if any(getattr(getattr(one, "span", None), "line", 0) == LINE for one in own):
            raise KeyError("a table lacks it")
        return whole(*given, **others)

    monkeypatch.setattr(owner, name, failing)


@pytest.mark.parametrize("stage", STAGES)
def test_check_reports_it_and_goes_on(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(monkeypatch, *STAGES[stage])
    done = annotune("check", "user.c")
    assert done.code == 1
    assert done.err.count("[AT169]") == 1, done.err
    assert WORDS in done.err
    assert "KeyError: 'a table lacks it'" in done.err
    assert f"user.c:{LINE}:" in done.err
    assert "--debug" in done.err
    assert "Traceback" not in done.err
    for name in ("first", "last"):
        assert f"{name}, region 1" in done.out
    assert "i (line 4): parallel" in done.out
    told = annotune("check", "user.c", "--json").json
    assert {"first", "last"} <= {one["function"] for one in told["regions"]}
    assert [one["code"] for one in told["diagnostics"]] == ["AT169"]
    debugged = annotune("check", "user.c", "--debug").err
    assert "Traceback (most recent call last):" in debugged
    assert "in failing" in debugged


@pytest.mark.parametrize("stage", [s for s in STAGES if s != "search options"])
def test_emit_writes_the_others(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(monkeypatch, *STAGES[stage])
    done = annotune("emit", "user.c", "-o", "out")
    assert done.code == 0, done.err
    assert "[AT169]" in done.err
    assert "[AT623]" in done.err
    made = Path("out/user_omp.c").read_text()
    assert made.count("#pragma omp parallel") == 2
    assert region(LOOP).strip() in made
    assert "annotune: as written: annotune itself fails here" in made


def test_emit_leaves_a_region_alone_for_which_one_target_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spoil(monkeypatch, type(load_target("cuda")), "region")
    done = annotune("emit", "user.c", "-o", "out")
    assert done.code == 0
    assert done.err.count("[AT169]") == 1
    assert Path("out/user_omp.c").read_text().count("#pragma omp parallel") == 3
    assert Path("out/user_cuda.c").read_text().count("void annotune_") == 2


def test_nothing_is_written_where_no_region_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(pipeline, "analyse", fails)
    done = annotune("emit", "user.c", "-o", "out")
    assert done.code == 1
    assert done.err.count("error: annotune itself fails here") == 3
    assert "AssertionError\n" in done.err or "AssertionError [AT169]" in done.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("options", "owner", "name"),
    [
        ((), findings, "region_text"),
        (("--certificate",), findings, "certificate_text"),
        (("--space",), pipeline, "listing_of"),
    ],
)
def test_what_is_printed_of_a_region_may_fail_alone(
    options: tuple[str, ...], owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if owner is pipeline:
        of_base = pipeline.listing_of

        def failing(target: Any, base: Any, *others: Any) -> Any:
            if base.analysis.region.function == "faulty":
                raise KeyError("a table lacks it")
            return of_base(target, base, *others)

        monkeypatch.setattr(pipeline, "listing_of", failing)
    else:
        spoil(monkeypatch, owner, name)
    done = annotune("check", "user.c", *options)
    assert done.code == 1
    assert done.err.count("[AT169]") == 1, done.err
    assert "first, region 1" in done.out
    assert "last, region 1" in done.out


def test_run_tunes_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def tuned(self: Any, number: int, ready: Any, search: Any) -> Any:
        analysis = ready.base.analysis
        if analysis.region.function == "faulty":
            raise ZeroDivisionError("a share of nothing")
        return untuned(analysis.region, analysis.total, "it was not tried")

    monkeypatch.setattr(tuning.Tuning, "region", tuned)
    found = pipeline.run(Settings(Path("user.c"), ("openmp",)), Request(RunConfig(time_s=1.0), {}))
    assert [one.function for one in found.results.regions] == ["first", "faulty", "last"]
    (mistake,) = (one for one in found.diagnostics if one.code == "AT169")
    assert mistake.severity == diagnostics.Severity.WARNING
    assert "ZeroDivisionError: a share of nothing" in mistake.message
    assert "tuned" in mistake.trace


def test_capture_records_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(monkeypatch, pipeline, "analyse")
    done = annotune("capture", "user.c", "-o", "inputs")
    assert done.code == 0, done.err
    assert "[AT169]" in done.err
    assert Path("inputs/user.c").read_text().count("annotune_begin(&") == 3


def test_init_annotates_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = "\n".join(f"void {n}(int n, double *restrict a)\n{{\n{LOOP}\n}}" for n in "fgh")
    Path("bare.c").write_text(bare.replace("+= 2.0 * b[i]", "*= 2.0"))
    whole = pipeline.analyse

    def failing(one: Any) -> Any:
        if one.function == "g":
            raise IndexError("beyond the end")
        return whole(one)

    monkeypatch.setattr(pipeline, "analyse", failing)
    done = annotune("init", "bare.c", "--yes")
    assert "annotune itself fails here" in done.out + done.err
    assert Path("bare.c").read_text().count("begin PerfTuning") == 2


def test_a_fuzzer_counts_it_as_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where annotune reports it: in the front end, that of the first of all stages."""
    let_through()
    text = nest(Seeded("own mistakes"), Options(), "f").text()
    sound = examine(text, 1, is_random=False, targets=("openmp",), with_claims=False)
    assert not sound.is_wrong
    assert not sound.refused

    def fails(*given: Any) -> Any:
        raise AssertionError("a loop variable outside its loop")

    monkeypatch.setattr(load, "_region", fails)
    found = examine(text, 1, is_random=False, targets=("openmp",), with_claims=False)
    assert found.is_wrong
    assert not found.refused
    assert "a loop variable outside its loop" in found.crashes[0]


def test_what_the_machine_lacks_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(pipeline, "analyse", fails)
    with pytest.raises(MemoryError):
        pipeline.check(Settings(Path("user.c")))
