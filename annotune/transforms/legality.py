"""The questions that transforms ask: does the new order break a dependence?

Which reductions a loop carries, and nothing else, so that its workers may combine them; and whether
terms may be grouped before they are added, by the C types of values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import prod
from operator import itemgetter

from annotune.analysis.facts import (
    Analysis,
    Dependence,
    DependenceKind,
    LoopFacts,
    LoopKind,
    Violation,
)
from annotune.analysis.reductions import reduction_operator
from annotune.analysis.schedule import broken, elements, has_array_around
from annotune.annotation.messages import nearest
from annotune.diagnostics import Diagnostic, Span, Template
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.ctype import DOUBLE, FLOAT, TYPES, CType, TypeKind, named
from annotune.ir.expr import (
    Cast,
    Expr,
    Int,
    Negate,
    Real,
)
from annotune.ir.identity import once_for_each
from annotune.ir.nest import (
    COPY_LEVELS,
    Assign,
    Combine,
    Level,
    LocalArray,
    Loop,
    MemorySpace,
    Operator,
    Stmt,
    walk_paths,
    walk_stmts,
)
from annotune.ir.typing import ctype
from annotune.transforms.messages import (
    DEPENDENCE_NOTE,
    NO_SUCH_LOOP,
    NO_SUCH_STATEMENT,
    PARALLEL_DEPENDENCE,
    PLACED,
    REVERSES_DEPENDENCE,
    TOO_MUCH_OWN_SHARED,
)
from annotune.transforms.transform import Context, asked_once
from annotune.transforms.tree import (
    Body,
    changed_statements,
    find_assign,
    numbers,
    path,
    target_name,
    top_of,
)


@dataclass(frozen=True, slots=True)
class Changed:
    """What of a region has to be asked after a step: nests, and the statements that it changes.

    No `statements` are all of them.
    """

    nests: Body
    statements: frozenset[int] | None = None


def changed_nest(body: Body, made: Body, statement: int, context: Context) -> Changed:
    """Return what of `made` has to be asked, which a step inside one nest of `body` has made.

    That is the nest of a statement, which keeps its place; all of the region where variables of
    iterations may pass from one nest to another.
    """
    if context.analysis.homes:
        return Changed(made)
    old, new = body[top_of(body, statement)], made[top_of(made, statement)]
    return Changed((new,), changed_statements(old, new))


def split_nests(body: Body, apart: Body, context: Context) -> Changed:
    """Return what of `apart` has to be asked once some nests of `body` have come apart.

    That is those nests; all of it where variables of iterations may pass from one to another.
    """
    if context.analysis.homes:
        return Changed(apart)
    whole = {id(stmt) for stmt in body}
    return Changed(tuple(stmt for stmt in apart if id(stmt) not in whole))


def order_refusal(
    command: str, changed: Changed, context: Context, span: Span, help: str
) -> Diagnostic | None:
    """Return why what is `changed` may not run in its order, at the command's place, or None."""
    found = broken(context.analysis, changed.nests, changed=changed.statements)
    return _refusal(REVERSES_DEPENDENCE, command, found, span, help)


def placement_refusal(
    command: str, changed: Changed, context: Context, span: Span, help: str
) -> Diagnostic | None:
    """Return why the placed loops of what is `changed` may not run in parallel, or None."""
    found = _races(context.analysis, changed)
    return _refusal(PARALLEL_DEPENDENCE, command, found, span, help)


def _races(analysis: Analysis, changed: Changed) -> Iterable[Violation]:
    """Yield the dependences that placed loops break, workers that meet in mind.

    The workers of a loop that joins (see `joins`) wait for each other before and after it, so
    that between a statement inside it and one outside the order of the text holds, as if it
    were serial. So it is, too, for a reduction that the loop combines.
    """
    loops = {assign.number: around for assign, around in walk_paths(changed.nests)}

    # All statements of a loop have the same tuple of the loops around them.
    joining: dict[int, frozenset[int]] = {}

    def serial(dependence: Dependence) -> frozenset[int]:
        source, sink = loops[dependence.source], loops[dependence.sink]
        for around in (source, sink):
            if id(around) not in joining:
                joining[id(around)] = frozenset(id(x) for x in around if joins(x, around))
        # In a loop around both, they meet only where it ends.
        ordered = joining[id(source)] ^ joining[id(sink)]
        if dependence.is_reduction:
            ordered |= {id(x) for x in (*source, *sink) if combines(x, dependence.array)}
        return ordered

    yield from broken(analysis, changed.nests, serial, changed.statements)
    if analysis.homes:
        yield from _lost_values(analysis, changed.nests, loops)


# Shared memory that a block has without asking for more (CUDA C++ Programming Guide, Shared
# Memory), and what of it the threads of the largest block need to combine sums in.
OWN_SHARED_BYTES, SUMS_BYTES = 48 * 1024, 8 * 1024
# What it may ask for on every device since compute capability 8.0 (the same, Technical
# Specifications per Compute Capability).
SHARED_BYTES = 99 * 1024
# What it may ask for where tensor cores multiply doubles, from compute capability 8.0 on.
TENSOR_SHARED_BYTES = 163 * 1024


def shared_refusal(nest: Stmt, span: Span) -> Diagnostic | None:
    """Return why the arrays that the blocks of a kernel share are too large, or None.

    A launch asks for the memory of copies, where a block has not enough by itself.
    """
    held: list[LocalArray] = []
    has_sums = False
    for stmt in walk_stmts((nest,)):
        if isinstance(stmt, LocalArray) and stmt.space is MemorySpace.SHARED:
            held.append(stmt)
        elif isinstance(stmt, Loop) and stmt.place in TEAM_LEVELS:
            has_sums |= bool(stmt.combines)
    sizes = {s.name: prod(s.extents) * element_bytes(s.type) for s in held}
    copied = only_copied((nest,))
    own = {name: size for name, size in sizes.items() if name not in copied}
    spare = has_sums * SUMS_BYTES
    for some, most in ((own, OWN_SHARED_BYTES), (sizes, SHARED_BYTES)):
        used, limit = sum(some.values()), most - spare
        if used > limit:
            return TOO_MUCH_OWN_SHARED.at(span, array=[*some][-1], bytes=used, limit=limit)
    return None


def only_copied(body: Body) -> frozenset[str]:
    """Return the arrays that copies fill, and nothing else writes."""
    copied, others = set[str](), set[str]()
    for assign, loops in walk_paths(body):
        is_copy = any(x.place in COPY_LEVELS for x in loops)
        (copied if is_copy else others).add(target_name(assign))
    return frozenset(copied - others)


def _lost_values(
    analysis: Analysis, body: Body, loops: Mapping[int, tuple[Loop, ...]]
) -> Iterator[Violation]:
    """Yield a violation for each private value that enters or leaves the workers of a loop.

    Each worker has a variable of its own for what it writes, lanes but where an array around
    them stands for it, and threads but where their block has an array. A loop of one iteration
    carries no dependence, yet what it leaves behind is another variable.
    """
    found = elements(body)
    arrays = (s for s in walk_stmts(body) if isinstance(s, LocalArray))
    shared = {array.name for array in arrays if array.space is MemorySpace.SHARED}
    assigns = analysis.region.nest.assigns()
    writers = {name: [a for a in assigns if target_name(a) == name] for name in analysis.homes}
    for dependence in analysis.dependences:
        name = dependence.array
        if dependence.kind is not DependenceKind.FLOW or name not in analysis.homes:
            continue
        source, sink = loops[dependence.source], loops[dependence.sink]
        written = [id(x) for writer in writers[name] for x in loops[writer.number]]
        for loop in (*source, *sink):
            inside = [any(x is loop for x in around) for around in (source, sink)]
            if loop.place is Level.SERIAL or all(inside) or combines(loop, name):
                continue
            if loop.place is Level.SIMD and has_array_around(found, name, loop):
                continue
            if loop.place in TEAM_LEVELS and name in shared:
                continue
            if id(loop) in written and not dependence.pairs.is_empty():
                text = f"{name} passes between the workers of {loop.var} and what is around them"
                yield Violation(dependence, loop.var, text)


def joins(loop: Loop, around: tuple[Loop, ...]) -> bool:
    """Return whether the workers of `loop`, one of `around`, wait for each other at its ends.

    So do those of a loop that combines, the threads of a block in a loop that does not
    enclose the whole of the block's work, and the lanes of one thread.
    """
    if loop.place is Level.SIMD:
        return True
    if loop.combines:
        return loop.place is not Level.SERIAL
    return loop.place in TEAM_LEVELS and not _is_outer(loop, around)


# The workers of one team, which can wait for each other.
TEAM_LEVELS = frozenset(
    {Level.THREAD_X, Level.THREAD_Y, Level.THREAD_Z, Level.WORKER, Level.VECTOR}
)


def _is_outer(loop: Loop, around: tuple[Loop, ...]) -> bool:
    """Return whether `loop` belongs to the outermost band of placed loops."""
    started = False
    for other in around:
        started = started or other.place is not Level.SERIAL
        if other is loop:
            return True
        perfect = len(other.body) == 1 and other.place is not Level.SERIAL
        if started and not perfect:
            return False
    raise AssertionError(loop)


def combines(loop: Loop, array: str) -> bool:
    """Return whether `loop` combines what its iterations add to `array`."""
    return array in _combined_names(loop)


@once_for_each(1 << 10)
def _combined_names(loop: Loop) -> frozenset[str]:
    return frozenset(combined.name for combined in loop.combines)


def _refusal(
    template: Template, command: str, broken: Iterable[Violation], span: Span, help: str
) -> Diagnostic | None:
    first = next(iter(broken), None)
    if first is None:
        return None
    refusal = template.at(
        span,
        command=command,
        loop=first.loop,
        array=first.dependence.array,
        text=first.text,
        help=help,
    )
    return refusal.with_note(_note(first))


def _note(violation: Violation) -> Diagnostic:
    return DEPENDENCE_NOTE.at(violation.dependence.span, text=violation.text)


def kind_of(analysis: Analysis, statement: int, depth: int) -> LoopKind:
    """Return what the dependences of a statement's own loop at `depth` allow.

    Two nests may have loops of the same names, so the loop itself is looked for.
    """
    loop = analysis.paths[statement][depth]
    return next(facts.kind for facts in analysis.loops if facts.loop is loop)


def missing(body: Body, statement: int, names: tuple[str, ...], span: Span) -> Diagnostic | None:
    """Return the refusal of a command that names no such statement or loop, or None."""
    try:
        loops = [loop.var for loop in path(body, statement)]
    except KeyError:
        last = max(n for stmt in body for n in numbers(stmt))
        return NO_SUCH_STATEMENT.at(span, statement=statement, last=last)
    for name in names:
        if name not in loops:
            listed, hint = ", ".join(loops) or "none", nearest(name, loops)
            return NO_SUCH_LOOP.at(span, statement=statement, loop=name, loops=listed, hint=hint)
    return None


def serial_refusal(
    command: str, body: Body, statement: int, loop: Loop, span: Span
) -> Diagnostic | None:
    """Return the refusal of a loop that workers share, None for one that a worker runs in order."""
    if loop.place is Level.SERIAL:
        return None
    serial = [x.var for x in path(body, statement) if x.place is Level.SERIAL]
    loops = ", ".join(serial) or "none"
    return PLACED.at(span, command=command, loop=loop.var, place=loop.place, loops=loops)


@dataclass(frozen=True, slots=True)
class _Carried:
    """What a loop carries from one statement, of one array: to which, and the number of each."""

    source: int
    array: str
    is_reduction: bool
    sinks: tuple[tuple[int, int], ...]


@once_for_each(1 << 10)
def _carried_from(facts: LoopFacts) -> tuple[_Carried, ...]:
    found: defaultdict[tuple[int, str, bool], list[tuple[int, int]]] = defaultdict(list)
    for number, one in enumerate(facts.carried):
        found[one.source, one.array, one.is_reduction].append((number, one.sink))
    return tuple(_Carried(*key, tuple(sinks)) for key, sinks in found.items())


def carried_sums(
    analysis: Analysis, inside: Collection[int], loop: str
) -> tuple[Combine, ...] | None:
    """Return what a loop around the statements `inside` must combine to run in parallel.

    None when it carries more than reductions. `loop` is the name in the text; other statements
    in the text's loop are in nests of their own and do not count.
    """
    return _carried_sums(analysis, frozenset(inside), loop)


@asked_once
def _carried_sums(
    analysis: Analysis, inside: frozenset[int], loop: str
) -> tuple[Combine, ...] | None:
    own = {id(x): x for n in sorted(inside) for x in analysis.paths[n] if x.var == loop}
    found: dict[Combine, None] = {}
    for facts in map(analysis.facts_of.get, own):
        hits: list[tuple[int, Combine]] = []
        for carried in () if facts is None else _carried_from(facts):
            if carried.source not in inside:
                continue
            number = next((n for n, sink in carried.sinks if sink in inside), None)
            if number is None:
                continue
            assign = find_assign(analysis.region.nest.body, carried.source)
            operator = reduction_operator(assign) if carried.is_reduction else None
            if operator is None:
                return None
            hits.append((number, Combine(Operator(operator), carried.array)))
        found |= dict.fromkeys(combine for _, combine in sorted(hits, key=itemgetter(0)))
    # One array reduced in two ways has no partial result.
    return tuple(found) if len({c.name for c in found}) == len(found) else None


def is_no_narrower(assign: Assign, types: Mapping[str, str]) -> bool:
    """Return whether the value is of a type at least as wide as the accumulator's.

    Then terms may be added to each other first. Terms of integers could overflow where each
    one does not, and terms of float would lose the digits of an accumulator of double.
    `types` are the C types of names; one that is not in it is a double.
    """
    target, value = _type_of(assign.target, types), _type_of(assign.value, types)
    if target is None or value is None:
        return False
    return value.is_floating and value.rank >= target.rank


def _type_of(expr: Expr, types: Mapping[str, str]) -> CType | None:
    return ctype(expr, lambda name: TYPES.get(types.get(name, DOUBLE.name)))


def neutral(element: str) -> Expr:
    """Return what a sum of some C type may begin with: x + -0.0 is x, also where x is -0.0."""
    type_ = named(element)
    if type_.kind is TypeKind.COMPLEX:
        # C's -0.0 alone has an imaginary part of 0.0.
        return Negate(Cast(named(f"{type_.part} _Complex"), Real("0.0")))
    if type_.is_integer:
        return Int(0)
    return Negate(Real("0.0f" if type_ == FLOAT else "0.0"))
