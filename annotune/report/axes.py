"""Axes of the report's plots: where a value stands in SVG units, and what is written beside."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

# Labels of this many ticks fit on an axis.
MOST_TICKS = 6
# Steps that people count in.
_STEPS = (1, 2, 5)
# A range narrower than this is drawn wider, lest noise look like a trend.
_LEAST_RATIO = 1.2
_MARGIN = 0.04


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class LinearAxis:
    """Values from `low` to `high` onto `start` to `end`; ticks of counts are whole numbers."""

    low: float
    high: float
    start: float
    end: float
    is_count: bool = False

    def at(self, value: float) -> float:
        """Return where `value` stands."""
        part = (value - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 1)

    def ticks(self, label: Callable[[float], str]) -> tuple[Tick, ...]:
        """Return at most `MOST_TICKS` round values of the axis."""
        least = 1.0 if self.is_count else 0.0
        values = _round_values(self.low, self.high, least)
        return tuple(Tick(self.at(v), label(v)) for v in values)


@dataclass(frozen=True, slots=True)
class LogAxis:
    """Positive values from `low` to `high` onto `start` to `end`, equal ratios equally long."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return where `value` stands."""
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + part * (self.end - self.start), 1)

    def ticks(self, label: Callable[[float], str]) -> tuple[Tick, ...]:
        """Return at most `MOST_TICKS` round values of the axis."""
        return tuple(Tick(self.at(v), label(v)) for v in self._values())

    def _values(self) -> list[float]:
        exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for steps in (_STEPS, (1, 3), (1,)):
            values = [step * 10.0**e for e in exponents for step in steps]
            inside = [v for v in values if self.low <= v <= self.high]
            if len(inside) < 3:
                # Within a decade, equal steps tell more.
                return _round_values(self.low, self.high)
            if len(inside) <= MOST_TICKS:
                return inside
        return inside[:: math.ceil(len(inside) / MOST_TICKS)]


def linear_axis(
    values: Iterable[float], start: float, end: float, is_count: bool = False
) -> LinearAxis:
    """Return an axis on which every one of `values` stands, with a margin."""
    known = list(values)
    low, high = min(known), max(known)
    room = _MARGIN * (high - low) or 1.0
    return LinearAxis(low - room, high + room, start, end, is_count)


def log_axis(values: Iterable[float], start: float, end: float) -> LogAxis:
    """Return an axis on which every one of `values`, all positive, stands, with a margin."""
    known = list(values)
    low, high = min(known), max(known)
    if high < low * _LEAST_RATIO:
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = middle / math.sqrt(_LEAST_RATIO), middle * math.sqrt(_LEAST_RATIO)
    room = (high / low) ** _MARGIN
    return LogAxis(low / room, high * room, start, end)


def _round_values(low: float, high: float, least_step: float = 0.0) -> list[float]:
    """Return the multiples of 1, 2 or 5 times a power of ten, at most `MOST_TICKS` of them."""
    rough = max(least_step, (high - low) / MOST_TICKS)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (*_STEPS, 10) if s * power >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [step * n for n in range(first, last + 1)]
