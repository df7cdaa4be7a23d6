"""Whether elements are there that conditions leave out, so that a copy may hold them too.

Behind ``if (b[l] != 0)`` an array need not have what is read where the condition does not hold. It
has it where C, or the annotation, says how long the array is; and where a call touches its first
and its last element, for memory has all that lies between two elements of one array. Whether it
does is asked before a nest runs, of few elements of what the condition reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from annotune.analysis.facts import Analysis
from annotune.frozen import dataclass
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Int,
    Var,
    accesses,
    conjuncts,
    names_read,
    place_name,
    substitute,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.nest import NO_STATEMENT, Assign, Local, Loop, Stmt
from annotune.ir.poly import Poly, from_expr
from annotune.ir.region import flattened
from annotune.transforms.tree import Body, bound_names, surely_read


def certain_reads(assign: Assign, is_whole: bool) -> Iterator[Access | Var]:
    """Yield what a statement reads in any case; where arrays are whole, what it may read as well.

    An element that ``i < n`` leaves out is none of even a whole array, so that all conditions
    must be of what memory holds.
    """
    if assign.guard is not None:
        first, *_ = conjuncts(assign.guard)
        yield from surely_read(first)
        is_whole = is_whole and all(accesses(one) for one in conjuncts(assign.guard))
    if assign.guard is None or is_whole:
        yield from surely_read(assign.value)


# The loop, if any, in an iteration of which an element is touched, and the condition, if any.
_Touch: TypeAlias = tuple[Loop | None, Expr | None]


@dataclass(frozen=True, slots=True)
class EndsSeen:
    """What the host runs to learn that both ends of an array are touched: then `flags` are 1."""

    body: Body
    flags: tuple[str, ...]


def ends_seen(analysis: Analysis, array: str) -> EndsSeen | None:
    """Return how the host learns that an array is there from its first to its last element.

    Of ``for j: for l: if (b[j][l] != 0) for i: c[j][i] += a[l][i]`` the ends of a are in its first
    and in its last row. Is there a j with ``b[j][0] != 0``, and one with ``b[j][k - 1] != 0``? The
    loops that pick an element of a stand at their ends, and of the others that the condition
    needs the innermost one runs. The host may ask once it is tested that all loops run, and before
    any has. None where loops set the bounds of others, or a condition asks what the region itself
    changes.
    """
    shape = analysis.shapes[array]
    last = Binary("-", Binary("+", shape.lowest, shape.length), Int(1))
    found: dict[_Touch, str] = {}
    for word, end, is_last in (("first", shape.lowest, False), ("last", last, True)):
        goal = from_expr(fold(end))
        every = (_touch(analysis, a, array, goal, is_last) for a in analysis.region.nest.assigns())
        touch = next((one for one in every if one is not None), None)
        if touch is None:
            return None
        # One element is first and last at once.
        found.setdefault(touch, _fresh(f"annotune_{array}_{word}", analysis))
    body = (stmt for touch, flag in found.items() for stmt in _noting(touch, flag))
    return EndsSeen(tuple(body), tuple(found.values()))


def _noting(touch: _Touch, flag: str) -> Iterator[Stmt]:
    """Yield what declares a flag that is 0, and makes it 1 where an element is touched."""
    loop, guard = touch
    yield Local(flag, "int", Int(0))
    noted = Assign(NO_STATEMENT, Var(flag), "=", Int(1), guard=guard)
    yield noted if loop is None else Loop(loop.var, loop.lower, loop.upper, (noted,))


def _fresh(name: str, analysis: Analysis) -> str:
    """Return a name that stands for nothing of the user's."""
    while name in analysis.region.taken:
        name += "_"
    return name


def _touch(
    analysis: Analysis, assign: Assign, array: str, goal: Poly | None, is_last: bool
) -> _Touch | None:
    """Return when a statement touches the end `goal` of an array, None where that is not known.

    It does so in some iteration of a loop, if there is one, where a condition holds, if any.
    """
    region, loops = analysis.region, analysis.paths[assign.number]
    iterators = {loop.var for loop in loops}
    is_box = all(
        loop.step == 1
        and not bound_names(loop) & iterators
        and not accesses(loop.lower)
        and not accesses(loop.upper)
        for loop in loops
    )
    asked = frozenset[str]() if assign.guard is None else names_read(assign.guard)
    if not is_box or goal is None or asked & {place_name(a.target) for a in region.nest.assigns()}:
        return None
    for access in (assign.target, *surely_read(assign.value)):
        if not isinstance(access, Access) or access.array != array:
            continue
        flat = flattened(access, region.arrays) or access
        assert isinstance(flat, Access)
        at = _at_end(flat.indices[0], loops, is_last)
        if at is None or from_expr(fold(substitute(flat.indices[0], at))) != goal:
            continue
        if assign.guard is None:
            return None, None
        free = [loop for loop in loops if loop.var in variables(assign.guard) - at.keys()]
        fixed = {**at, **{loop.var: loop.lower for loop in free[:-1]}}
        return free[-1] if free else None, fold(substitute(assign.guard, fixed))
    return None


def _at_end(place: Expr, loops: Sequence[Loop], is_last: bool) -> Mapping[str, Expr] | None:
    """Return the loops that move a place, each at the end that should move it farthest."""
    poly = from_expr(fold(place))
    split = None if poly is None else poly.linear_in([loop.var for loop in loops])
    if split is None:
        return None
    found: dict[str, Expr] = {}
    for loop in loops:
        stride = split[0].get(loop.var)
        if stride is not None:
            is_up = all(factor > 0 for _, factor in stride.terms)
            upper = fold(Binary("-", loop.upper, Int(1)))
            found[loop.var] = upper if is_up == is_last else loop.lower
    return found
