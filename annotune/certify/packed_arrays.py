"""Arrays whose rows grow or shrink, read from the text of a nest at known sizes.

Apart from the analysis: numbers take the place of its polynomials over sizes, and what rows may be
is tried until all accesses lie in theirs. The checker asks that again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import islpy as isl

from annotune.certify.certificate import GrowingRows
from annotune.frozen import dataclass
from annotune.ir.ctype import CType
from annotune.ir.expr import Binary, Cast, Expr, Int, Negate, Var

# The factors of products of at most two loops, by the loops' isl names in order.
Terms = Mapping[tuple[str, ...], int]
_NEAR = (0, -1, 1)


@dataclass(frozen=True, slots=True)
class PackedAccess:
    """One access: the isl text of where it is made, ``S0[i0, i1]``, and two times its address."""

    instance: str
    domain: str
    twice: Terms


def twice(expr: Expr, names: Mapping[str, str], sizes: Mapping[str, int]) -> Terms | None:
    """Return two times an integer expression; None where it is no polynomial, or not whole."""
    match expr:
        case Int(value):
            return {(): 2 * value}
        case Var(name):
            return {(names[name],): 2} if name in names else _number(sizes.get(name))
        case Cast(CType("long" | "int"), operand):
            return twice(operand, names, sizes)
        case Negate(operand):
            return _times(twice(operand, names, sizes), {(): -2})
        case Binary("+" | "-" as op, left, right):
            one, two = twice(left, names, sizes), twice(right, names, sizes)
            if one is None or two is None:
                return None
            sign = 1 if op == "+" else -1
            return {k: one.get(k, 0) + sign * two.get(k, 0) for k in {**one, **two}}
        case Binary("*", left, right):
            return _times(twice(left, names, sizes), twice(right, names, sizes))
        case Binary("/", left, Int(2)):
            whole = twice(left, names, sizes)
            return None if whole is None else _halved(whole)
    return None


def _number(value: int | None) -> Terms | None:
    return None if value is None else {(): 2 * value}


def _times(one: Terms | None, two: Terms | None) -> Terms | None:
    """Return two times the product of two numbers given as two times themselves."""
    if one is None or two is None:
        return None
    found: dict[tuple[str, ...], int] = {}
    for (a, x), (b, y) in itertools.product(one.items(), two.items()):
        key = tuple(sorted(a + b))
        found[key] = found.get(key, 0) + x * y
    if any(len(key) > 2 and factor for key, factor in found.items()):
        return None
    return _halved(found, is_any=False)


def _halved(terms: Terms, is_any: bool = True) -> Terms | None:
    """Return half of twice a number, where that is even; with `is_any` half of the number."""
    if not is_any:
        return {key: factor // 2 for key, factor in terms.items() if factor}
    # The number, half of `terms`, must be even at all integers: as x and x * x are alike.
    odd: dict[frozenset[str], int] = {}
    for key, factor in terms.items():
        odd[frozenset(key)] = odd.get(frozenset(key), 0) + factor
    if any(factor % 4 for factor in odd.values()) or any(f % 2 for f in terms.values()):
        return None
    return {key: factor // 2 for key, factor in terms.items()}


def growing_rows(
    accesses: Sequence[PackedAccess],
) -> tuple[GrowingRows, tuple[tuple[str, str], ...]] | None:
    """Return the rows of an array, and the row and column of each access; None if it has none."""
    for rows in _candidates(accesses[0]):
        found = [_placed(one, rows) for one in accesses]
        known = tuple(place for place in found if place is not None)
        if len(known) == len(found):
            return rows, known
    return None


def _squared(terms: Terms) -> tuple[str, int, int] | None:
    """Return the loop that is squared, with its factors; None where there are none, or several."""
    pairs = [(key, factor) for key, factor in terms.items() if len(key) == 2 and factor]
    if len(pairs) != 1 or pairs[0][0][0] != pairs[0][0][1]:
        return None
    ((name, _), square) = pairs[0]
    return name, square, terms.get((name,), 0)


def _candidates(first: PackedAccess) -> Iterator[GrowingRows]:
    split = _squared(first.twice)
    if split is None:
        return
    _, square, slope = split
    for sign, move in itertools.product((1, -1), _NEAR):
        rows = GrowingRows(square, sign * slope, 0)
        column = _column(first, rows, sign, move)
        if column is None:
            continue
        values = isl.Map(f"{{ {first.instance} -> [{column}] }}")
        least = values.intersect_domain(isl.Set(first.domain)).range().dim_min_val(0)
        for offset in _NEAR if least.is_int() else ():
            yield GrowingRows(square, sign * slope, 2 * (int(least.to_python()) + offset))


def _column(one: PackedAccess, rows: GrowingRows, sign: int, shift: int) -> str | None:
    """Return as isl text how far an access is from the start of row ``sign * loop + shift``."""
    split = _squared(one.twice)
    if split is None or split[1] != rows.square:
        return None
    name = split[0]
    left = dict(one.twice)
    left[(name, name)] = 0
    left[(name,)] = left.get((name,), 0) - sign * (2 * rows.square * shift + rows.slope)
    fixed = rows.square * shift * shift + rows.slope * shift + rows.first
    left[()] = left.get((), 0) - fixed
    if any(factor % 2 for factor in left.values()):
        return None
    terms = [f"{f // 2}*{k[0]}" if k else str(f // 2) for k, f in left.items() if f]
    return " + ".join(terms) or "0"


def _placed(one: PackedAccess, rows: GrowingRows) -> tuple[str, str] | None:
    """Return the row and the column of an access as isl text, None where it leaves its row."""
    split = _squared(one.twice)
    if split is None:
        return None
    name, _, slope = split
    for sign, move in itertools.product((1, -1), _NEAR):
        shift, rest = divmod(sign * slope - rows.slope, 2 * rows.square)
        column = None if rest else _column(one, rows, sign, shift + move)
        if column is None:
            continue
        row = f"{sign}*{name} + {shift + move}"
        touched = isl.Map(f"{{ {one.instance} -> A[{row}, {column}] }}")
        touched = touched.intersect_domain(isl.Set(one.domain))
        if touched.range().is_subset(isl.Set(rows.columns)):
            return row, column
    return None
