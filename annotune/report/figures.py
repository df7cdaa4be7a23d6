"""Figures as a reader sees them: units and three digits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from annotune.printable import one_line

MISSING = "-"

_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SCALES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))

# Above this a plain figure is harder to read than one with a power of ten.
_LARGE = 1e6
# Below this a rounded figure would be mistaken for zero.
_SMALL = 0.01


def number_text(value: float | None) -> str:
    """Return a figure without unit to three digits."""
    if value is None or not math.isfinite(value):
        return MISSING
    size = abs(float(f"{value:.3g}"))
    if size >= _LARGE or 0 < size < _SMALL:
        return f"{value:.3g}"
    return f"{value:.{_decimals(size)}f}"


def time_text(time_s: float | None, spread_s: float | None = None) -> str:
    """Return a time, and its spread in the same unit: ``12.3 ± 0.4 ms``."""
    if time_s is None or not math.isfinite(time_s):
        return MISSING
    # The unit of the rounded figure: 999.9 µs reads as 1.00 ms.
    rounded = float(f"{time_s:.3g}")
    scale, unit = next((s for s in _TIME_UNITS if rounded >= s[0]), _TIME_UNITS[-1])
    if rounded == 0:
        scale, unit = _TIME_UNITS[0]
    value = time_s / scale
    if spread_s is None or not math.isfinite(spread_s):
        return f"{number_text(value)} {unit}"
    places = 0 if value >= _LARGE else _decimals(abs(float(f"{value:.3g}")))
    spread = spread_s / scale
    least: float = 10.0**-places
    if spread and spread < least:
        return f"{number_text(value)} ± <{least:.{places}f} {unit}"
    shown = f"{spread:.{places}f}" if spread < _LARGE else f"{spread:.3g}"
    return f"{number_text(value)} ± {shown} {unit}"


def short_time_text(time_s: float) -> str:
    """Return a round time, such as an axis has: ``20 ms``."""
    scale, unit = next((s for s in _TIME_UNITS if time_s >= s[0] * 0.9999), _TIME_UNITS[-1])
    return f"{time_s / scale:.4g} {unit}"


def share_text(share: float | None) -> str:
    """Return a share of one as per cent: ``0.123`` is ``12%``."""
    if share is None or not math.isfinite(share):
        return MISSING
    per_cent = 100 * share
    if 0 < per_cent < _SMALL:
        return f"<{_SMALL}%"
    return f"{per_cent:.0f}%" if 10 <= per_cent < _LARGE else f"{per_cent:.2g}%"


def factor_text(factor: float | None) -> str:
    """Return a speed-up: ``8.87x``."""
    return MISSING if factor is None or not math.isfinite(factor) else f"{number_text(factor)}x"


def count_text(count: int, unit: str) -> str:
    """Return a large count with a decimal prefix: ``2.15 Gflop``."""
    if count >= 1e18:
        # Decimal, because an integer may lie beyond the range of floats; it is slow to import.
        from decimal import Decimal

        return f"{Decimal(count):.2e} {unit}"
    for scale, prefix in _SCALES:
        if count >= scale:
            return f"{number_text(count / scale)} {prefix}{unit}"
    return f"{count} {unit}"


def estimated(text: str) -> str:
    """Return a predicted figure so that nobody takes it for a measured one: ``(~12 ms)``."""
    return text if text == MISSING else f"(~{text})"


def _decimals(size: float) -> int:
    """Return the decimal places that give a figure three digits."""
    return max(0, 2 - math.floor(math.log10(size))) if size else 0


def advice_text(arrays: Sequence[str], break_even: Mapping[str, int] | None) -> str:
    """Return what is to be done where copies cost what kernels gain, and where they do not."""
    named = " and ".join(filter(None, [", ".join(arrays[:-1]), *arrays[-1:]])) or "the arrays"
    text = (
        f"keep {named} on the device (a block of Data, or --data resident), or leave this region "
        "on the CPU"
    )
    if break_even is None:
        return text
    sizes = ", ".join(f"{name}={size}" for name, size in break_even.items())
    pays = f"from about {sizes} on a call pays" if sizes else "at no larger sizes a call pays"
    return f"{text}; by an estimate, {pays}"


def losing_text(original_s: float, device: str, kernels_s: float, copies_s: float | None) -> str:
    """Return in words that a predicted time is above that of the measured original, or nothing."""
    whole_s = kernels_s + (copies_s or 0.0)
    if whole_s < original_s:
        return ""
    copies = "" if kernels_s >= original_s else " with its copies"
    time = time_text(original_s)
    return f"predicted to lose{copies} to the original, measured on {one_line(device)}: {time}"
