"""How far two right results may lie apart, element by element.

Source:
    Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, section 3.1:
    a computed inner product, whatever the order of summation and with or without fused
    multiply-add, differs from the exact one by at most gamma_n sum |x_i y_i|, where
    gamma_n = n u / (1 - n u) and u is the unit roundoff.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Reals: TypeAlias = npt.NDArray[Any]

UNIT_ROUNDOFF = {"double": 2.0**-53, "float": 2.0**-24}
"""u of IEEE 754 binary64 and binary32 in round-to-nearest."""

CONDITION_ALLOWANCE = 2.0**10
"""By how much a division by a computed value, or a function such as ``sqrt``, may magnify an
error before the result is called wrong. A convention of annotune's, not a bound."""

LARGEST_RELATIVE = 1e-3
"""No tolerance is wider than this share of the largest result: past it nothing is checked."""


def gamma(count: Reals, unit: float) -> Reals:
    """Return Higham's gamma_n = n u / (1 - n u) for every n, infinite from n u = 1 on."""
    product = np.asarray(count, dtype=np.float64) * unit
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(product < 1.0, product / (1.0 - product), np.inf)


def bound(magnitude: Reals, count: Reals, element: str) -> Reals:
    """Return how far two computed results may differ, for each element.

    Both the original and the variant may lie gamma_n M from the exact value, which makes
    2 gamma_n M. M has itself been computed with up to n roundings, so that the true sum of
    magnitudes is up to M / (1 - gamma_n).

    Args:
        magnitude: M, the sum of the absolute values of the terms behind each element.
        count: n, the roundings on the longest chain behind each element.
        element: The coarsest type that the region computes with, ``double`` or ``float``.
    """
    if count.size and count.min() == count.max():
        count = count[:1]  # the usual case, and a third of the time for a large array
    error = gamma(count, UNIT_ROUNDOFF[element])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        share = np.where(error < 0.5, error / (1.0 - error), np.inf)
        return np.asarray(2.0 * share * np.asarray(magnitude, dtype=np.float64))


def relative_bound(expected: Reals, count: Reals, element: str) -> Reals:
    """Return the tolerance where no rigorous one is to be had cheaply, for each element.

    A region that divides by what it has computed, or calls a function, has errors in
    proportion to a condition number that M does not hold. The tolerance is then
    `CONDITION_ALLOWANCE` times 2 gamma_n of the largest result in the array, and at most
    `LARGEST_RELATIVE` of it.
    """
    finite = np.abs(expected[np.isfinite(expected)], dtype=np.float64)
    largest = float(finite.max()) if finite.size else 0.0
    share = 2.0 * CONDITION_ALLOWANCE * gamma(count, UNIT_ROUNDOFF[element])
    limited = np.minimum(np.where(np.isnan(share), LARGEST_RELATIVE, share), LARGEST_RELATIVE)
    return np.asarray(limited * largest)


def capped(tolerance: Reals, expected: Reals) -> Reals:
    """Return `tolerance` with what is not finite replaced by `LARGEST_RELATIVE` of the largest.

    A chain of products that doubles its roundings at each step has no finite bound.
    """
    finite = np.abs(expected[np.isfinite(expected)], dtype=np.float64)
    widest = LARGEST_RELATIVE * (float(finite.max()) if finite.size else 0.0)
    return np.where(np.isfinite(tolerance), tolerance, widest)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The worst element that lies outside its tolerance, and how many do.

    `index` counts elements from the array's own first one; `part` names the component of a
    complex one.
    """

    array: str
    index: int
    got: float
    expected: float
    tolerance: float
    wrong: int
    total: int
    part: str = ""

    def __str__(self) -> str:
        place = f"{self.array}[{self.index}]{self.part}"
        return (
            f"{place} is {self.got:.17g}, expected {self.expected:.17g} "
            f"within {self.tolerance:.3g}; {self.wrong} of {self.total} elements are wrong"
        )


def compare(
    array: str,
    expected: Reals,
    got: Reals,
    tolerance: Reals,
    untouched: Reals | None = None,
    has_nan: bool = False,
    has_signs: bool = False,
) -> Mismatch | None:
    """Return the worst element of `got` outside its tolerance, or None when all are inside.

    NaN equals nothing, unless the right result `has_nan`: then it must be where it is there. Zeros
    of both signs are equal, unless it `has_signs`. Integers must be equal. `untouched` marks
    elements that the original left as they were: there the very bits must have stayed, a NaN's
    payload included.
    """
    wrong, worst, worst_excess = 0, -1, -1.0
    for start in range(0, expected.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        excess = _excess(
            expected[part],
            got[part],
            tolerance[part],
            None if untouched is None else untouched[part],
            has_nan,
            has_signs,
        )
        if excess is None:
            continue
        wrong += int(np.count_nonzero(excess >= 0.0))
        largest = int(np.argmax(excess))
        if excess[largest] > worst_excess:
            worst, worst_excess = start + largest, float(excess[largest])
    if not wrong:
        return None
    return Mismatch(
        array,
        worst,
        float(got[worst]),
        float(expected[worst]),
        float(tolerance[worst]),
        wrong,
        int(expected.size),
    )


# Elements compared at a time: what numpy makes on the way stays in the L2 cache.
_CHUNK = 1 << 15


def _excess(
    expected: Reals,
    got: Reals,
    tolerance: Reals,
    untouched: Reals | None,
    has_nan: bool,
    has_signs: bool,
) -> Reals | None:
    """Return by how much each wrong element exceeds its tolerance, and -1 for right ones.

    None when all are right.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(np.subtract(got, expected, dtype=np.float64))
        right = got == expected
        if expected.dtype.kind == "f":
            right |= difference <= tolerance
            if has_nan:
                right |= np.isnan(expected) & np.isnan(got)
            if has_signs:
                are_zeros = (expected == 0.0) & (got == 0.0)
                right &= ~(are_zeros & (np.signbit(expected) != np.signbit(got)))
        if untouched is not None and untouched.any():
            bits = np.dtype(f"u{expected.dtype.itemsize}")
            right = np.where(untouched, got.view(bits) == expected.view(bits), right)
        if right.all():
            return None
        excess = np.nan_to_num(difference - tolerance, nan=np.inf, posinf=np.inf)
    # A bit that changed in an untouched NaN has no size; it is wrong all the same.
    return np.where(right, -1.0, np.maximum(excess, 0.0))
