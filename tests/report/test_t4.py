"""The T4 export: valid by the published rules, and nothing of ours lost beside them."""

from __future__ import annotations

import importlib.util
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from sample_run import BLOCK, RUN, SD_T_D2
from support.cli import annotune
from support.laws import tried
from test_results_json import runs

from annotune.files import write_files
from annotune.measure.trial import Status, Trial
from annotune.report.results_json import T4_WORDS, results_file, t4_json, t4_text, t4_word
from annotune.tuning.results import Results

NUMBER = {"type": "number"}
# What the results schema 1.0.0 of github.com/odgaard/TuningSchema (branch T4) asks for, written
# down anew: that repository names no licence. Two rules here are stricter than there: the dots of
# a version are dots, and a measurement is a number, as it was in the first of the two texts that
# were published as 1.0.0. The words are those of the second, for the first had none for success.
RULES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "schema_version": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
        "results": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["configuration", "times", "invalidity", "correctness"],
                "properties": {
                    "timestamp": {"type": "string"},
                    "configuration": {"type": "object"},
                    "objectives": {"type": "array"},
                    "invalidity": {"enum": sorted(T4_WORDS)},
                    "correctness": NUMBER,
                    "times": {
                        "type": "object",
                        "properties": {
                            "runtimes": {"type": "array"},
                            "compilation_time": NUMBER,
                            "framework": NUMBER,
                            "search_algorithm": NUMBER,
                            "validation": NUMBER,
                        },
                    },
                    "measurements": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "name": {"type": "string"},
                                "value": NUMBER,
                                "unit": {"type": "string"},
                            },
                        },
                    },
                },
            },
        },
    },
    "required": ["schema_version", "results"],
}


def problems(document: Any, schema: dict[str, Any] = RULES) -> list[str]:
    return [error.message for error in Draft202012Validator(schema).iter_errors(document)]


@tried(90)
@given(run=runs)
def test_any_run_is_valid(run: Results) -> None:
    text = t4_text(run)
    assert text.isascii()
    document = json.loads(text, parse_constant=pytest.fail)
    assert problems(document) == []
    each = [one for region in run.regions for one in region.at_each_size]
    assert len(document["results"]) == sum(len(one.trials) for one in each)


def test_by_the_published_file() -> None:
    spec = importlib.util.find_spec("kernel_tuner")
    if spec is None or spec.origin is None:
        pytest.skip("kernel_tuner, whose package carries the published schema, is not installed")
    path = Path(spec.origin).parent / "schema" / "T4" / "1.0.0" / "results-schema.json"
    assert problems(t4_json(RUN), json.loads(path.read_text())) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("invalidity", "wrong"), ("correctness", "yes"), ("times", []), ("configuration", None)],
)
def test_the_rules_refuse(field: str, value: Any) -> None:
    document = t4_json(RUN)
    document["results"][0][field] = value
    assert problems(document)
    del document["results"][0][field]
    assert problems(document)


def test_every_status_has_a_word_of_t4() -> None:
    assert {t4_word(status) for status in Status} <= T4_WORDS
    assert all(t4_word(status) == status for status in Status if status in T4_WORDS)
    assert t4_word("swallowed by a whale") == "runtime"


def test_what_a_trial_says() -> None:
    first, *others = t4_json(RUN)["results"]
    assert first["configuration"] == BLOCK
    assert first["times"] == {
        "runtimes": [pytest.approx(14.4), pytest.approx(14.02), pytest.approx(13.9)],
        "compilation_time": 410.0,
        "validation": pytest.approx(1200 - 14.4 - 14.02 - 13.9),
    }
    assert (first["invalidity"], first["correctness"]) == ("correct", 1)
    assert first["objectives"] == ["time"]
    assert first["measurements"][0] == {"name": "time", "value": 14.02, "unit": "ms"}
    assert first["annotune"]["target"] == "openmp"
    assert first["annotune"]["at_s"] == 2.5
    failed = others[2]
    assert (failed["invalidity"], failed["correctness"]) == ("compile", 0)
    assert failed["measurements"] == []
    assert failed["annotune"]["reason"] == SD_T_D2.trials[3].reason


def test_the_finals_stand_beside_the_search() -> None:
    """Who has no place for them still has the search's times, of one kind for all trials."""
    won, tied, *others = t4_json(RUN)["results"]
    final = SD_T_D2.trials[0].final
    assert final is not None
    assert {m["name"]: m["value"] for m in won["measurements"]} == {
        "time": 14.02,
        "final_time": final.time_s * 1e3,
        "final_low": final.low_s * 1e3,
        "final_high": final.high_s * 1e3,
        "final_ratio": final.ratio,
    }
    assert won["annotune"]["final"]["verdict"] == "winner"
    assert won["annotune"]["final"]["times_s"] == list(final.times_s)
    assert tied["annotune"]["final"]["verdict"] == "statistical tie"
    assert {one["annotune"]["final"] for one in others} == {None}
    broken = replace(SD_T_D2.trials[0], final=replace(final, ratio=math.inf))
    (found,) = t4_json(with_trial(broken))["results"]
    assert found["annotune"]["final"] is None
    assert [m["name"] for m in found["measurements"]] == ["time"]


def test_a_predicted_time_is_not_called_a_measured_one() -> None:
    predicted = t4_json(RUN)["results"][5]
    assert predicted["objectives"] == ["predicted_time"]
    names = [m["name"] for m in predicted["measurements"]]
    assert names == ["predicted_time", "registers"]
    both = Trial("cuda", {}, Status.CORRECT, 1e-3, predicted_s=2e-3)
    (found,) = t4_json(with_trial(both))["results"]
    assert {m["name"]: m["value"] for m in found["measurements"]} == {
        "time": 1.0,
        "predicted_time": 2.0,
    }


def test_what_was_not_compared_is_not_called_right() -> None:
    (found,) = t4_json(with_trial(Trial("cuda", {}, Status.CORRECT, verified=False)))["results"]
    assert (found["invalidity"], found["correctness"]) == ("correct", 0)


@pytest.mark.parametrize("figure", [math.nan, math.inf])
def test_what_is_not_finite_is_left_out(figure: float) -> None:
    facts = {"occupancy": figure}
    trial = Trial("cuda", {"x": figure}, Status.CORRECT, figure, facts=facts, predicted_s=figure)
    trial = replace(trial, times_s=(figure,), compile_s=figure, run_s=figure, at_s=figure)
    (found,) = json.loads(t4_text(with_trial(trial)), parse_constant=pytest.fail)["results"]
    assert found["times"] == {"runtimes": []}
    assert found["measurements"] == []
    assert found["configuration"] == {"x": str(figure)}
    assert found["annotune"]["at_s"] is None


def with_trial(trial: Trial) -> Results:
    return replace(RUN, regions=(replace(SD_T_D2, trials=(trial,)),))


def test_the_command_prints_or_writes_it(tmp_path: Path) -> None:
    write_files(tmp_path / "out", {"results.json": results_file(RUN)})
    printed = annotune("report", tmp_path / "out", "--t4")
    assert printed.code == 0, printed.err
    assert printed.out == t4_text(RUN)
    path = tmp_path / "t4.json"
    for _ in range(2):  # the second time over a file of annotune's own
        assert annotune("report", tmp_path / "out", "--t4", path).out == f"{path}\n"
        assert path.read_text() == t4_text(RUN)
    (tmp_path / "mine.json").write_text("{}")
    refused = annotune("report", tmp_path / "out", "--t4", tmp_path / "mine.json")
    assert refused.code == 1
    assert "AT603" in refused.err


def test_trials_at_every_problem_size_are_there() -> None:
    other = replace(SD_T_D2, sizes={"h1": 24}, trials=SD_T_D2.trials[:2])
    run = replace(RUN, regions=(replace(SD_T_D2, by_size=(other,)),))
    found = [one["annotune"]["sizes"] for one in t4_json(run)["results"]]
    assert found == [dict(SD_T_D2.sizes)] * len(SD_T_D2.trials) + [{"h1": 24}] * 2
