"""A run's results as programs and notebooks look at them: rows, tables, grids, and a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from math import inf, nan, prod
from typing import TYPE_CHECKING, Any, Literal

from annotune.measure.trial import Trial
from annotune.report.answer import answer_texts, headline
from annotune.report.summary import asked_rows
from annotune.tuning.results import RegionResult, Results, Row

if TYPE_CHECKING:
    import pandas
    import xarray

# A grid of more points holds more memory than a notebook has: 8 bytes each, three times.
MOST_POINTS = 10_000_000

_OF_ROWS = (
    *("status", "device", "time_s", "spread_s", "end_to_end_s", "gflops", "roofline_share"),
    *("speedup", "verified", "reason"),
)
_OF_TRIALS = (
    *("target", "status", "time_s", "spread_s", "predicted_s", "is_predicted", "device"),
    *("verified", "reused", "compile_s", "run_s", "at_s", "reason"),
)


class RunResults(Results):
    """`Results` with views. Times are in seconds; what is not known is None, in grids NaN."""

    __slots__ = ()

    @classmethod
    def of(cls, results: Results) -> RunResults:
        """Return the same results with views."""
        return cls(**{one.name: getattr(results, one.name) for one in fields(results)})

    def __repr__(self) -> str:
        """Return what was achieved, and a line for each region."""
        lines = (headline(self), *answer_texts(self))
        return "\n".join([f"<annotune results of {self.source}>", *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        """Return the answer and the tables of the page, for a notebook."""
        from annotune.report.html import answer_html

        return answer_html(self)

    def table(self) -> list[dict[str, Any]]:
        """Return the rows of the final tables, of all regions at each of their sizes."""
        return [
            {**_place(region), **_row(row)} for region in self._each() for row in asked_rows(region)
        ]

    def trials(self) -> list[dict[str, Any]]:
        """Return every trial, of all regions at each of their sizes, in its order."""
        return [
            {**_place(region), **_trial(trial)}
            for region in self._each()
            for trial in region.trials
        ]

    def to_pandas(self, of: Literal["table", "trials"] = "table") -> pandas.DataFrame:
        """Return `table` or `trials` as a data frame, with a row for each.

        Raises:
            ImportError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(_MISSING.format("to_pandas", "pandas")) from error
        return pandas.DataFrame(self.table() if of == "table" else self.trials())

    def to_xarray(self, target: str, region: int = 0) -> xarray.Dataset:
        """Return the trials of a target in a region as a grid over the axes of its space.

        Its variables are `time_s`, `predicted_s` and `status`; a point that was not tried is NaN or
        empty, and one tried several times has the trial with the least time. Axes of which all
        trials have the same value are attributes.

        Raises:
            ImportError: xarray is not installed.
            ValueError: There is no such trial, or the grid has more points than memory has room.
        """
        try:
            import xarray
        except ImportError as error:
            raise ImportError(_MISSING.format("to_xarray", "xarray")) from error
        found = self.regions[region]
        own = [trial for trial in found.trials if trial.target == target]
        if not own:
            known = ", ".join(dict.fromkeys(trial.target for trial in found.trials))
            raise ValueError(f"no trial is of '{target}'; there are some of {known or 'nothing'}")
        axes = _axes(own)
        wide = {name: values for name, values in axes.items() if len(values) > 1}
        grid = _grid(own, wide)
        made = xarray.Dataset(
            {name: (tuple(wide), values) for name, values in grid.items()},
            {name: _coordinate(values) for name, values in wide.items()},
            {**_place(found), "target": target}
            | {name: str(values[0]) for name, values in axes.items() if name not in wide},
        )
        for name in ("time_s", "predicted_s"):
            made[name].attrs["units"] = "s"
        return made

    def _each(self) -> Iterator[RegionResult]:
        for region in self.regions:
            yield from region.at_each_size


_MISSING = "{} needs {}: pip install 'annotune[notebook]'"


def _place(region: RegionResult) -> dict[str, Any]:
    sizes = {f"size.{name}": value for name, value in region.sizes.items()}
    return {"function": region.function, "region": region.index, **sizes}


def _row(row: Row) -> dict[str, Any]:
    own = {name: getattr(row, name) for name in _OF_ROWS}
    return {"variant": row.name, **own, "status": str(row.status), **_config(row.config)}


def _trial(trial: Trial) -> dict[str, Any]:
    own = {name: getattr(trial, name) for name in _OF_TRIALS}
    final_s = None if trial.final is None else trial.final.time_s
    return {**own, "status": str(trial.status), "final_s": final_s, **_config(trial.config)}


def _config(config: Mapping[str, Any]) -> dict[str, Any]:
    return {f"config.{name}": value for name, value in config.items()}


def _axes(trials: Sequence[Trial]) -> dict[str, Sequence[Any]]:
    """Return the values of each axis, numbers in their order and others as they come."""
    names = dict.fromkeys(name for trial in trials for name in trial.config)
    found: dict[str, Sequence[Any]] = {}
    for name in names:
        # What a trial says nothing of is an empty text: a coordinate takes no None.
        values = list(dict.fromkeys(trial.config.get(name, "") for trial in trials))
        is_sorted = not any(isinstance(value, str) for value in values)
        found[name] = sorted(values) if is_sorted else values
    return found


def _coordinate(values: Sequence[Any]) -> Any:
    """Return an axis's values as NumPy has them: of texts and numbers together, as they are."""
    import numpy as np

    has_texts = {isinstance(value, str) for value in values}
    return np.array(values, object) if len(has_texts) > 1 else np.array(values)


def _by_time(trial: Trial) -> tuple[bool, float]:
    is_measured = trial.time_s is not None and not trial.is_predicted
    return is_measured, -(trial.time_s or inf)


def _grid(trials: Sequence[Trial], axes: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Return the variables of a grid over axes, as arrays of NumPy's."""
    import numpy as np

    shape = tuple(map(len, axes.values()))
    if prod(shape) > MOST_POINTS:
        raise ValueError(f"the grid has {prod(shape)} points: trials() lists those that were tried")
    numbers = {name: {one: n for n, one in enumerate(values)} for name, values in axes.items()}
    time_s, predicted_s = np.full(shape, nan), np.full(shape, nan)
    status = np.full(shape, "", object)
    # The fastest trial of a point comes last, and stays: measured ones after predictions.
    for trial in sorted(trials, key=_by_time):
        at = tuple(numbers[name][trial.config.get(name, "")] for name in axes)
        time_s[at] = nan if trial.time_s is None or trial.is_predicted else trial.time_s
        predicted_s[at] = nan if trial.predicted_s is None else trial.predicted_s
        status[at] = str(trial.status)
    return {"time_s": time_s, "predicted_s": predicted_s, "status": status}
