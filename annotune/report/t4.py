"""A run in the T4 results format, which other tuners and their tools read.

Source: the results schema 1.0.0 of github.com/odgaard/TuningSchema (branch T4), as Kernel Tuner
carries it; J. Hozzová, J. O. Tørring, B. van Werkhoven et al., "FAIR Sharing of Data in
Autotuning Research", 2024, doi:10.1145/3629527.3651429.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from annotune.measure.trial import Status, Trial
from annotune.report.results_json import final_json
from annotune.tune.results import RegionResult, Results

T4_VERSION = "1.0.0"
# What T4 knows, and all that it knows, of how a trial ended.
T4_WORDS = frozenset({"correct", "timeout", "compile", "runtime", "correctness", "constraints"})
# A status of ours that T4 has no word for is nearest to a run that failed.
_NEAREST = "runtime"
# The schema names no unit; the programs that write and read T4 take milliseconds.
_MS = 1e3


def t4_json(results: Results) -> dict[str, Any]:
    """Return every trial of a run as a T4 document, in the order they were tried.

    What T4 has no field for stands under `annotune` of each result.
    """
    return {
        "schema_version": T4_VERSION,
        "annotune": results.version,
        "metadata": {
            "autotuner": "annotune",
            "autotuner_version": results.version,
            "timeunit": "milliseconds",
        },
        "results": [
            _result(one, trial)
            for region in results.regions
            for one in region.at_each_size
            for trial in one.trials
        ],
    }


def t4_text(results: Results) -> str:
    """Return the same as a strict JSON text, ASCII alone."""
    return json.dumps(t4_json(results), indent=2, allow_nan=False) + "\n"


def t4_word(status: str) -> str:
    """Return T4's word for a status, or its nearest."""
    return status if status in T4_WORDS else _NEAREST


def _result(region: RegionResult, trial: Trial) -> dict[str, Any]:
    return {
        "configuration": {name: _value(value) for name, value in trial.config.items()},
        # A model's time is never called by the name of a measured one.
        "objectives": ["predicted_time" if trial.is_predicted else "time"],
        "times": _times(trial),
        "invalidity": t4_word(trial.status),
        "correctness": int(trial.status is Status.CORRECT and trial.verified),
        "measurements": list(_measurements(trial)),
        "annotune": {
            "function": region.function,
            "index": region.index,
            "sizes": dict(region.sizes),
            "target": trial.target,
            "status": str(trial.status),
            "device": trial.device,
            "is_predicted": trial.is_predicted,
            "verified": trial.verified,
            "reused": trial.reused,
            "reason": trial.reason,
            "at_s": None if _ms(trial.at_s) is None else trial.at_s,
            "final": final_json(trial.final),
        },
    }


def _times(trial: Trial) -> dict[str, Any]:
    """Return what the trial cost, in milliseconds; what is not known is left out."""
    runs = [time for time in map(_ms, trial.times_s) if time is not None]
    times: dict[str, Any] = {"runtimes": runs}
    compilation, checks_and_runs = _ms(trial.compile_s), _ms(trial.run_s)
    if compilation is not None:
        times["compilation_time"] = compilation
    if checks_and_runs is not None:
        # All that is not the timed runs serves the check, or the way to it.
        times["validation"] = max(0.0, checks_and_runs - sum(runs))
    return times


def _measurements(trial: Trial) -> Iterator[Mapping[str, Any]]:
    predicted = _ms(trial.time_s if trial.is_predicted else trial.predicted_s)
    measured = None if trial.is_predicted else _ms(trial.time_s)
    for name, time in (("time", measured), ("predicted_time", predicted)):
        if time is not None:
            yield {"name": name, "value": time, "unit": "ms"}
    yield from _of_finals(trial)
    for name, value in trial.facts.items():
        # The schema of 1.0.0 as first published allows numbers alone.
        if not isinstance(value, str) and math.isfinite(value):
            yield {"name": name, "value": value, "unit": ""}


def _of_finals(trial: Trial) -> Iterator[Mapping[str, Any]]:
    """Yield the median of the rounds of the finals, with its interval, and the ratio to the winner.

    `time`, and the objective with it, stay those of the search, which every trial has.
    """
    final = trial.final
    if final is None or final_json(final) is None:
        return
    times = {"final_time": final.time_s, "final_low": final.low_s, "final_high": final.high_s}
    for name, time_s in times.items():
        yield {"name": name, "value": time_s * _MS, "unit": "ms"}
    yield {"name": "final_ratio", "value": final.ratio, "unit": ""}


def _ms(time_s: float | None) -> float | None:
    """Return seconds as milliseconds, None where they are no finite number."""
    time = None if time_s is None else time_s * _MS
    return time if time is not None and math.isfinite(time) else None


def _value(value: str | int | float) -> str | int | float:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
