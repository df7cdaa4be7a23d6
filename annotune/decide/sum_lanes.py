"""Sums in the lanes of a vector unit: which innermost reductions are worth it on a CPU."""

from __future__ import annotations

from annotune.analysis.facts import AccessFacts
from annotune.decide.units import Unit
from annotune.ir.expr import Access
from annotune.transforms.tree import find_assign, numbers, path

# Below this many terms, combining the lanes costs as much as the sum itself.
FEW_TERMS = 16


def leaders(unit: Unit) -> tuple[int, ...]:
    """Return the first statement of each innermost nest that can have lanes of its own."""
    nests = dict.fromkeys(_beside(unit, statement) for statement in unit.statements)
    return tuple(n[0] for n in nests if len(n) == 1 or sum_lanes(unit, n[0]))


def is_alone(unit: Unit, statement: int) -> bool:
    """Return whether no other statement stands in the same loops."""
    return len(_beside(unit, statement)) == 1


def _beside(unit: Unit, statement: int) -> tuple[int, ...]:
    """Return the unit's statements in exactly the loops of `statement`, in text order."""
    loops = [id(loop) for loop in path(unit.body, statement)]
    return tuple(n for n in unit.statements if [id(x) for x in path(unit.body, n)] == loops)


def sum_lanes(unit: Unit, statement: int) -> str:
    """Return the innermost loop of a statement where lanes may share its sum, else nothing.

    All that the loop reads is contiguous in it or stays in place: gathered lanes gain nothing.
    Statements beside it must be such sums too.
    """
    loops = path(unit.body, statement)
    if not loops or loops[-1].var in unit.host or loops[-1].step != 1:
        return ""
    inner = loops[-1].var
    trips = unit.trip(statement, inner)
    if trips is not None and trips < FEW_TERMS:
        return ""
    together = _beside(unit, statement)
    if numbers(loops[-1]) != frozenset(together):
        return ""
    return inner if all(_is_even_sum(unit, n, inner) for n in together) else ""


def _is_even_sum(unit: Unit, statement: int, loop: str) -> bool:
    strides = [access.strides.get(loop) for access in _terms(unit, statement)]
    is_even = all(stride in (0, 1) for stride in strides) and 1 in strides
    return is_even and _is_sum(unit, statement)


def _is_sum(unit: Unit, statement: int) -> bool:
    """Return whether the innermost loop does nothing for a statement but accumulate."""
    loop = path(unit.body, statement)[-1].var
    target = find_assign(unit.body, statement).target
    name = target.array if isinstance(target, Access) else target.name
    combined = unit.combined(statement, loop)
    return any(c.name == name for c in combined or ())


def runs_along(unit: Unit, statement: int, loop: str) -> bool:
    """Return whether nothing that is summed is contiguous in another loop of the statement.

    Lanes along that one would each have a sum of its own, and nothing to combine.
    """
    others = [x for x in unit.loops_around(statement) if x != loop]
    return not any(
        access.strides.get(other) == 1 for access in _terms(unit, statement) for other in others
    )


def stays_inside(unit: Unit, statement: int, loop: str, cores: tuple[str, ...]) -> bool:
    """Return whether `loop` keeps its place under the loops that the threads share.

    A loop that lanes share goes to the outside of serial loops that hold nothing else.
    """
    if loop in cores:
        return False
    outer = path(unit.body, statement)[:-1]
    return not outer or len(outer[-1].body) > 1 or outer[-1].var in (*cores, *unit.host)


def _terms(unit: Unit, statement: int) -> list[AccessFacts]:
    """Return what a statement reads beside its own target."""
    facts = unit.analysis.accesses[statement]
    targets = [f.access for f in facts if f.is_write]
    return [f for f in facts if not f.is_write and f.access not in targets]
