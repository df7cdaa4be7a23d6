"""What a nest is, recognised once for all strategies: a contraction, a sum, or iterations alone.

Of a nest that is none of a kind, the answer is in words why not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from annotune.analysis.facts import AccessFacts
from annotune.analysis.reductions import drops_fractions, reduction_operator
from annotune.frozen import dataclass
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Int,
    Negate,
    Real,
    Var,
    accesses,
    conjuncts,
    is_coefficient,
    variables,
)
from annotune.ir.nest import Assign, Loop
from annotune.schedule.imperfect import ImperfectNest, imperfect_nests
from annotune.schedule.units import Unit
from annotune.transforms.footprint import offset_key, offset_of
from annotune.transforms.tile import name_is_taken, tile_name
from annotune.transforms.transform import Context, asked_once
from annotune.transforms.tree import (
    bands,
    bound_names,
    find_assign,
    may_not_run,
    numbers,
    other_user,
    path,
    target_name,
)


def stride(access: AccessFacts, loop: str) -> int:
    """Return the distance of neighbours along a loop, one not known as the longest there is."""
    found = access.strides.get(loop)
    return 1 << 62 if found is None else abs(found)


def why_uneven(unit: Unit, loops: Sequence[Loop]) -> str:
    """Return why loops do not run by sizes alone, one by one; empty where they do."""
    names = {facts.name for facts in unit.analysis.loops}
    if any(bound_names(loop) & names for loop in loops):
        return "the bounds of a loop use another loop"
    unknown = next((loop.var for loop in loops if unit.count(loop) is None), "")
    if unknown:
        return f"how often {unknown} runs is not known"
    return "a loop has a step" if any(loop.step != 1 for loop in loops) else ""


def why_not_cut(unit: Unit, loops: Sequence[Loop]) -> str:
    """Return why loops cannot all be cut into tiles of one length, empty where they can."""
    uneven = why_uneven(unit, loops)
    taken = next((x.var for x in loops if name_is_taken(x.var, unit.analysis)), "")
    return uneven or (f"the region uses the name {tile_name(taken)}" if taken else "")


@dataclass(frozen=True)
class SumLoops:
    """The loops that pick an element of a sum, by the inputs that they move.

    `along` is the fastest of them in the output. `own` are the others that move the same inputs,
    `other` those that move other inputs alone, both by their strides in these, and `rest` all
    further ones.
    """

    along: str
    own: tuple[str, ...]
    other: tuple[str, ...]
    rest: tuple[str, ...]


def roles(inputs: Sequence[AccessFacts], along: str, others: Sequence[str]) -> SumLoops:
    """Return the roles of the loops `along` and `others` of a sum over some inputs."""
    moved = {
        n: frozenset(f.access for f in inputs if f.strides.get(n) != 0) for n in (along, *others)
    }
    own = [n for n in others if moved[along] and moved[n] == moved[along]]
    other = [n for n in others if moved[n] and not moved[n] & moved[along]]

    def reach(loop: str) -> int:
        return min(stride(f, loop) for f in inputs if f.access in moved[loop])

    return SumLoops(
        along,
        tuple(sorted(own, key=reach)),
        tuple(sorted(other, key=reach)),
        tuple(n for n in others if moved[n] != moved[along] and n not in other),
    )


@dataclass(frozen=True)
class Contraction:
    """A statement ``C += A * B`` and its loops: x are those of A alone, y those of B alone.

    It may add to a private scalar that another statement stores in C, in a nest that is
    `imperfect`; it is then taken out of the loops that they share.

    A has the output's contiguous loop, which `x` begins with. The loops of `x` and `y` are in the
    order of their strides in their input, those of `contracted` as they should be staged.
    """

    statement: int
    target: AccessFacts
    a: AccessFacts
    b: AccessFacts
    x: tuple[str, ...]
    y: tuple[str, ...]
    contracted: tuple[str, ...]
    imperfect: ImperfectNest | None = None


def contraction(unit: Unit) -> Contraction | str:
    """Return the contraction that a unit is, or in words why it is none with a two-level tile."""
    if unit.host or not unit.parallel:
        return "a serial loop is around the parallel ones, or there are none"
    squared = _squared(unit)
    if squared:
        return f"both factors are elements of {squared}, of which a kernel has one staged copy"
    imperfect = _imperfect_product(unit) if len(unit.statements) > 1 else None
    if len(unit.statements) > 1 and imperfect is None:
        return f"the kernel has {len(unit.statements)} statements"
    statement = unit.leader if imperfect is None else imperfect.statement
    inputs = _factors(find_assign(unit.body, statement))
    if inputs is None:
        return "the statement does not accumulate a product of two array elements"
    loops = (*unit.band, *(() if imperfect is None else imperfect.own))
    names = unit.loops_around(statement)
    if names != tuple(loop.var for loop in loops):
        return "the loops are no perfect nest"
    uncut = why_not_cut(unit, loops)
    if uncut:
        return uncut
    facts = unit.analysis.accesses[statement]
    target = next((f for f in facts if f.is_write), None) if imperfect is None else imperfect.output
    if target is None:
        return "the statement sums up into a scalar"
    found = [next(f for f in facts if f.access == a) for a in inputs]
    written = {f.access.array for f in unit.writes}
    if any(f.access.array in written for f in found):
        return "an input is written as well"
    looked_up = next((f for f in found if any(map(accesses, f.access.indices))), None)
    if looked_up is not None:
        return f"memory decides which elements of {looked_up.access.array} are multiplied"
    made = _by_role(unit, statement, target, found, names)
    return made if isinstance(made, str) else replace(made, imperfect=imperfect)


def _squared(unit: Unit) -> str:
    """Return an array of which the sum of a nest multiplies two elements, empty for none."""
    statements = unit.statements
    if len(statements) > 1:
        every = imperfect_nests(unit.analysis, unit.body, statements, unit.host).values()
        statements = tuple(one.statement for one in every)
    for statement in statements:
        assign = find_assign(unit.body, statement)
        found = {one.array for one in _multiplied(assign) or ()}
        if len(found) == 1 and target_name(assign) not in found:
            return found.pop()
    return ""


def _imperfect_product(unit: Unit) -> ImperfectNest | None:
    """Return how the one statement with a loop of its own leaves a nest, None if it cannot."""
    analysis, body = unit.analysis, unit.body
    every = imperfect_nests(analysis, body, unit.statements, unit.host).values()
    found = [one for one in every if _factors(find_assign(body, one.statement)) is not None]
    if len(found) != 1 or isinstance(found[0].target, Access):
        return None
    (imperfect,) = found
    return imperfect if imperfect.beside | {imperfect.statement} == set(unit.statements) else None


def _by_role(
    unit: Unit,
    statement: int,
    target: AccessFacts,
    inputs: Sequence[AccessFacts],
    names: tuple[str, ...],
) -> Contraction | str:
    external = [n for n in names if target.strides.get(n, 0) != 0]
    contracted = [n for n in names if n not in external]
    if not external:
        return "no loop picks the output"
    if not set(external) <= set(unit.parallel) or not contracted:
        return "the loops of the output are not all parallel, or no other loop is left"
    along = min(external, key=lambda n: stride(target, n))
    owners = [f for f in inputs if f.strides.get(along) != 0]
    if len(owners) != 1:
        return f"the output's contiguous loop {along} is not in exactly one input"
    a = owners[0]
    b = next(f for f in inputs if f is not a)
    if any(f.strides.get(n) == 0 for f in inputs for n in contracted):
        return "a summed loop is in one input alone"
    # A loop in both inputs, or in none, picks the block.
    by_input = roles(inputs, along, [n for n in external if n != along])
    if not by_input.other:
        return f"{b.access.array} has no loop of its own"
    # What is contiguous in an input is staged by neighbouring threads.
    inner = sorted(contracted, key=lambda n: min(stride(a, n), stride(b, n)))
    x = (along, *by_input.own)
    return Contraction(statement, target, a, b, x, by_input.other, tuple(inner))


def _factors(assign: Assign) -> tuple[Access, Access] | None:
    """Return the elements of two arrays that a statement multiplies, None for anything else."""
    found = _multiplied(assign)
    if found is None or len({target_name(assign), *(e.array for e in found)}) != 3:
        return None
    return found


def _multiplied(assign: Assign) -> tuple[Access, Access] | None:
    """Return the two elements that a statement multiplies, None when it does something else.

    Beside them there may be numbers, scalars and coefficients; and conditions that ask one of the
    two, such as ``b[l] != 0``, which leaves alone what the product need not be added to.
    """
    if assign.op not in ("+=", "-="):
        return None
    factors = list(_product(assign.value))
    if any(f is None for f in factors):
        return None
    elements = [f for f in factors if isinstance(f, Access)]
    fixed = [e for e in elements if is_coefficient(e)]
    elements = [e for e in elements if e not in fixed]
    if len(elements) != 2:
        return None
    if target_name(assign) in {e.array for e in fixed}:
        return None
    tests = () if assign.guard is None else tuple(conjuncts(assign.guard))
    if not all(_is_of(test, elements) for test in tests):
        return None
    return elements[0], elements[1]


def _is_of(condition: Expr, elements: Sequence[Access]) -> bool:
    """Return whether a condition asks nothing of memory but one of two factors, or both."""
    return {*accesses(condition)} <= {*elements} and bool(accesses(condition))


def _product(expr: Expr) -> Iterator[Expr | None]:
    """Yield the factors of a product, None for what is no factor of one."""
    match expr:
        case Binary("*", left, right):
            yield from _product(left)
            yield from _product(right)
        case Negate(operand):
            yield from _product(operand)
        case Access() | Real() | Int() | Var():
            yield expr
        case _:
            yield None


@dataclass(frozen=True)
class Pointwise:
    """A nest of parallel loops around statements alone.

    `loops` are its loops from the one contiguous in most accesses outward, by their strides in
    what is written. `families` are the accesses of each array that is read and not written, those
    that differ by constants together.
    """

    unit: Unit
    loops: tuple[str, ...]
    families: tuple[tuple[AccessFacts, ...], ...]

    def trip(self, loop: str) -> int:
        return self.unit.trips[loop] or 1


@asked_once
def pointwise(unit: Unit) -> Pointwise | str:
    """Return the nest of a unit, or in words why its iterations do not stand alone."""
    own = [loop for loop in unit.band if loop.var not in unit.host]
    names = tuple(loop.var for loop in own)
    if not names or set(names) != set(unit.parallel):
        return "not every loop of the nest is parallel"
    for statement in unit.statements:
        if unit.loops_around(statement)[-len(names) :] != names:
            return "a statement has a loop of its own, or the loops are no perfect nest"
    uncut = why_not_cut(unit, own)
    if uncut:
        return uncut
    every = (*unit.writes, *unit.reads)
    contiguous = [n for n in names if any(abs(a.strides.get(n) or 0) == 1 for a in every)]
    if not contiguous:
        return "no loop is contiguous in an array"
    inner = max(reversed(contiguous), key=lambda n: _contiguous(unit, n))
    others = sorted((n for n in names if n != inner), key=lambda n: _least_stride(unit, n))
    return Pointwise(unit, (inner, *others), tuple(_families(unit, names)))


def _contiguous(unit: Unit, loop: str) -> int:
    """Return in how many accesses a loop is contiguous; what is written counts twice."""
    return sum(
        abs(a.strides.get(loop) or 0) == 1 for a in (*unit.writes, *unit.writes, *unit.reads)
    )


def _least_stride(unit: Unit, loop: str) -> int:
    strides = (a.strides.get(loop) for a in (*unit.writes, *unit.reads))
    return min((abs(s) for s in strides if s), default=1 << 62)


def _families(unit: Unit, names: Sequence[str]) -> Iterator[tuple[AccessFacts, ...]]:
    written = {access.access.array for access in unit.writes}
    first = {facts.access: facts for facts in reversed(unit.reads)}
    found: list[list[AccessFacts]] = []
    alike: dict[object, list[list[AccessFacts]]] = {}
    for access in dict.fromkeys(facts.access for facts in unit.reads):
        if access.array in written:
            continue
        facts = first[access]
        others = alike.setdefault(offset_key(access, names), [])
        near = (f for f in others if offset_of(access, f[0].access, names) is not None)
        family = next(near, None)
        if family is None:
            found.append([facts])
            others.append(found[-1])
        else:
            family.append(facts)
    yield from map(tuple, found)


def offsets(nest: Pointwise, family: Sequence[AccessFacts]) -> tuple[Mapping[str, int], ...]:
    """Return by how many iterations each access of a family is ahead of the first."""
    found = (offset_of(a.access, family[0].access, nest.loops) for a in family)
    return tuple(offset for offset in found if offset is not None)


@asked_once
def own_band(unit: Unit, statement: int) -> tuple[Loop, ...]:
    """Return the perfect nest directly around a statement, less the loops run by the host.

    That of a statement that may be taken apart begins with the loops around its neighbours. A
    loop around statements of other units is not the unit's own.
    """
    imperfect = unit.imperfect.get(statement)
    if imperfect is not None:
        return (*imperfect.band, *imperfect.own)
    found = bands(unit.body, statement)
    if not found or not numbers(found[-1][0]) <= set(unit.statements):
        return ()
    return tuple(loop for loop in found[-1] if loop.var not in unit.host)


@asked_once
def free_loops(unit: Unit, statement: int) -> tuple[str, ...]:
    """Return the parallel loops of a statement's own band whose bounds no loop of it sets."""
    band = own_band(unit, statement)
    set_by = {name for loop in band for name in bound_names(loop)}
    out = []
    for loop in band:
        bounded = bound_names(loop) & {other.var for other in band}
        is_parallel = unit.combined(statement, loop.var) == ()
        if is_parallel and not bounded and loop.var not in set_by and loop.step == 1:
            out.append(loop.var)
    return tuple(out)


def output(unit: Unit, statement: int) -> AccessFacts | None:
    """Return the array element that a statement's result becomes.

    None for what its loops declare and keep.
    """
    imperfect = unit.imperfect.get(statement)
    if imperfect is not None:
        return imperfect.output
    return next((f for f in unit.analysis.accesses[statement] if f.is_write), None)


@asked_once
def held_loop(unit: Unit, statement: int) -> str:
    """Return the outermost loop of the own band that leaves the target in place."""
    assign = find_assign(unit.body, statement)
    imperfect = unit.imperfect.get(statement)
    if imperfect is not None and isinstance(assign.target, Var):
        return imperfect.own[0].var
    if not unit.is_in_memory(assign.target) or assign.op == "=":
        return ""
    used = frozenset[str]().union(*(variables(i) for i in assign.target.indices))
    free = free_loops(unit, statement)
    loops = path(unit.body, statement)
    for loop in own_band(unit, statement):
        if loop.var not in used and loop.var not in free:
            # A copy must not touch what an empty loop would leave alone, nor hide a value.
            is_idle = may_not_run(loops, loops.index(loop)) is not None
            return "" if is_idle or unit.goes_stale(assign.target, loop.var) else loop.var
    return ""


@asked_once
def is_held_sum(unit: Unit, statement: int) -> bool:
    """Return whether all that the loop of `held_loop` does with a statement's target is adding."""
    held = held_loop(unit, statement)
    assign = find_assign(unit.body, statement)
    types = Context(unit.analysis).types
    if reduction_operator(assign) != "+" or drops_fractions(assign, types):
        return False
    loop = next(loop for loop in path(unit.body, statement) if loop.var == held)
    return other_user(loop, assign) is None
