"""Loop nests: counted loops around assignments, as frozen values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from enum import StrEnum
from typing import TypeAlias, assert_never

from annotune.diagnostics import NOWHERE, Span
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Expr, Var, accesses, rewrite, variables
from annotune.ir.identity import once_for_each


@dataclass(frozen=True, slots=True)
class CachedSection:
    """A box of an array that the lanes of a gang read again and again.

    `rows` are the first subscript and the length along each dimension.
    """

    array: str
    rows: tuple[tuple[Expr, int], ...]


class Level(StrEnum):
    """Where a loop runs. Each target understands its own levels and `SERIAL`.

    The iterations of a nest of `COOPERATIVE` loops are dealt out to all threads of a block, which
    wait for each other before and after it; each has come to it by its own placed loops. Those of
    `ASYNC` loops are copies, dealt out in the same way, that are only begun: neighbouring nests of
    them are one group, and an `Await` says when they have arrived. A `BULK` loop is one copy of
    neighbours between an array of the block and memory, which the device makes by itself; its
    threads wait before they touch what it fills, or leaves.
    """

    SERIAL = "serial"
    BLOCK_X = "block.x"
    BLOCK_Y = "block.y"
    BLOCK_Z = "block.z"
    THREAD_X = "thread.x"
    THREAD_Y = "thread.y"
    THREAD_Z = "thread.z"
    COOPERATIVE = "cooperative"
    ASYNC = "async"
    BULK = "bulk"
    GANG = "gang"
    WORKER = "worker"
    VECTOR = "vector"
    CPU_THREAD = "cpu_thread"
    SIMD = "simd"


COPY_LEVELS = (Level.COOPERATIVE, Level.ASYNC, Level.BULK)
"""The levels of copies that a block makes as one, whatever the iterations of its threads."""

NO_STATEMENT = -1
"""The number of an assignment that is none of the region's own."""


@dataclass(frozen=True, slots=True)
class Assign:
    """``target op value``, where `op` is ``=``, ``+=``, ``-=``, ``*=`` or ``/=``.

    `number` counts the assignments of a region from 0 in text order and stays with the
    statement through every transform, so that a recipe can name it. Where `guard` is an
    expression, the statement runs only in the iterations in which that is not 0: the user's
    ``if``, given to each statement in it, so that loops hold nothing but loops and statements.
    What is `streamed` is the only one to read, or to write, its elements of arrays that others
    see, so that no cache need keep them.
    """

    number: int
    target: Access | Var
    op: str
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    guard: Expr | None = None
    streamed: bool = False

    def sources(self) -> tuple[Expr, ...]:
        """Return the expressions that are computed: the guard, if there is one, and the value."""
        return (self.value,) if self.guard is None else (self.guard, self.value)

    def rewritten(self, change: Callable[[Expr], Expr | None]) -> Assign:
        """Return the statement with `change` made in all its expressions, as `rewrite` does."""
        target = rewrite(self.target, change)
        assert isinstance(target, Access | Var), "a place stays a place"
        guard = None if self.guard is None else rewrite(self.guard, change)
        value = rewrite(self.value, change)
        return Assign(self.number, target, self.op, value, self.span, guard, self.streamed)

    @once_for_each(1 << 14)
    def reads(self) -> tuple[Access | Var, ...]:
        """Return the elements and scalars that are read, the target of ``+=`` last."""
        seen: list[Access | Var] = []
        for source in self.sources():
            seen += accesses(source)
            seen += [Var(name) for name in sorted(variables(source))]
        if isinstance(self.target, Access):
            for index in self.target.indices:
                seen += [*accesses(index), *(Var(n) for n in sorted(variables(index)))]
        if self.op != "=":
            seen.append(self.target)
        return tuple(seen)


@dataclass(frozen=True, slots=True)
class Local:
    """The declaration of a scalar of this iteration alone: ``type name = value;``."""

    name: str
    type: str
    value: Expr | None = None


class MemorySpace(StrEnum):
    """Who has a local array: one worker, or all threads of a block together.

    `DEALT` belongs to all threads as well, but each element is in the registers of the thread
    that is dealt the cooperative iteration with it, so that no other can touch it.
    """

    PRIVATE = "private"
    SHARED = "shared"
    DEALT = "dealt"


@dataclass(frozen=True, slots=True)
class LocalArray:
    """The declaration of a small array of this iteration alone: ``type name[4][16];``.

    Its elements are an `Access` of its name with one index per extent; they start without
    a value. In `SHARED` memory it belongs to the threads that run the same iteration of all
    loops around it but their own. `stands_for` names the private scalar whose values, of several
    iterations at once, the elements are, or the array, of which each has its last `own` indices.
    """

    name: str
    type: str
    extents: tuple[int, ...]
    space: MemorySpace = MemorySpace.PRIVATE
    stands_for: str = ""
    own: int = 0

    @property
    def lives(self) -> int:
        """Return how many indices, the first ones, choose among the iterations."""
        return len(self.extents) - self.own


@dataclass(frozen=True, slots=True)
class Await:
    """All threads of a block wait until all but the `newest` groups of copies have arrived.

    A group is what one run of neighbouring nests of `ASYNC` loops has begun. An element of a
    copy has no value from its beginning until a wait that covers it.
    """

    newest: int = 0


@dataclass(frozen=True, slots=True)
class Fetch:
    """The line of memory around an element is asked for, to be near when it is needed.

    It reads no value and changes none: only time.
    """

    place: Access

    def rewritten(self, change: Callable[[Expr], Expr | None]) -> Fetch:
        """Return the statement with `change` made in its place, as `rewrite` does."""
        place = rewrite(self.place, change)
        assert isinstance(place, Access), "a place stays a place"
        return Fetch(place)


class Operator(StrEnum):
    """How partial results of a reduction are combined."""

    SUM = "+"
    PRODUCT = "*"
    MIN = "min"
    MAX = "max"
    AND = "&"
    OR = "|"
    XOR = "^"


@dataclass(frozen=True, slots=True)
class Combine:
    """A scalar of which every iteration of a loop, run in parallel, has a partial of its own.

    After the loop `name` holds all partials and its value from before the loop, combined by
    `op`. Run in order, the loop means the same without it.
    """

    op: Operator
    name: str


@dataclass(frozen=True, slots=True)
class MergedLoop:
    """A loop that another one runs: `var` starts at `lower`, and one step of it is `stride` there.

    The merged loop counts from 0: its value is the sum of ``stride * (var - lower)``. A loop over
    `workers` has the loop whose iterations it deals out, which starts at `first` and steps by 1.
    """

    var: str
    lower: int
    stride: int
    deal_of: str = ""
    workers: int = 0
    first: int = 0

    @property
    def root(self) -> str:
        """Return the loop of the text that it is, or whose iterations it deals out."""
        return self.deal_of or self.var


@dataclass(frozen=True, slots=True)
class Loop:
    """A counted loop: ``for (var = lower; var < upper; var += step)``.

    The front end normalises every other form or refuses it; no later stage meets one.
    `place` says where the loop runs; `tile_of` names the loop whose tiles this loop steps
    over; `deal_of` the loop of which each iteration of this one runs every n-th; `unrolled`
    is the unroll factor that `step` and the body already contain; `combines` are the reductions
    that make a loop with a `place` legal; `merges` are the loops that run as this one, outermost
    first. Where all of `peeled` hold in an iteration, the tiles in it are whole, and its body may
    be written for them without the conditions that this makes true. What a serial loop adds up is
    multiplied `by_warps`: each instruction of a warp does so many of its iterations, and some of
    loops inside it, for all lanes at once; 0 where it is not.
    """

    var: str
    lower: Expr
    upper: Expr
    body: tuple[Stmt, ...]
    step: int = 1
    place: Level = Level.SERIAL
    tile_of: str = ""
    unrolled: int = 1
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    combines: tuple[Combine, ...] = ()
    deal_of: str = ""
    merges: tuple[MergedLoop, ...] = ()
    peeled: tuple[Expr, ...] = ()
    by_warps: int = 0

    def __post_init__(self) -> None:
        if self.step < 1:
            raise ValueError(f"loop '{self.var}': step is {self.step}, expected >= 1")

    @property
    def root(self) -> str:
        """Return the loop of the text that this one runs, in tiles or dealt out or as it is."""
        return self.tile_of or self.deal_of or self.var


Stmt: TypeAlias = Loop | Assign | Local | LocalArray | Await | Fetch


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops and assignments of one region, in text order."""

    body: tuple[Stmt, ...]

    @once_for_each(1 << 6)
    def loops(self) -> tuple[Loop, ...]:
        """Return every loop in text order, an outer loop before its inner ones."""
        return tuple(s for s in walk_stmts(self.body) if isinstance(s, Loop))

    @once_for_each(1 << 6)
    def assigns(self) -> tuple[Assign, ...]:
        """Return every assignment in text order."""
        return tuple(s for s in walk_stmts(self.body) if isinstance(s, Assign))

    @once_for_each(1 << 6)
    def iterators(self) -> frozenset[str]:
        """Return the names of all loops."""
        return frozenset(loop.var for loop in self.loops())

    @once_for_each(1 << 6)
    def written_scalars(self) -> frozenset[str]:
        """Return the scalars that an assignment writes."""
        targets = (assign.target for assign in self.assigns())
        return frozenset(target.name for target in targets if isinstance(target, Var))

    @once_for_each(1 << 6)
    def arrays(self) -> frozenset[str]:
        """Return the arrays of which statements, or bounds of loops, have elements."""
        every = (expr for stmt in walk_stmts(self.body) for expr in expressions(stmt))
        return frozenset(access.array for expr in every for access in accesses(expr))

    def paths(self) -> dict[int, tuple[Loop, ...]]:
        """Return for each statement number the loops around it, outermost first."""
        return {assign.number: loops for assign, loops in walk_paths(self.body)}


# In the names of the conditions that a nest stores where a branch changes what it asks.
STORED = "annotune_if_"


def is_stored(stmt: Assign) -> bool:
    """Return whether a statement stores a condition of ours, which is read in its iteration."""
    return isinstance(stmt.target, Var) and STORED in stmt.target.name


def walk_stmts(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Yield the statements of `body` and of the loops in it, in text order."""
    # Not by recursion: every level would hand on each of the statements below it.
    rest = [*reversed(body)]
    while rest:
        stmt = rest.pop()
        yield stmt
        if isinstance(stmt, Loop):
            rest.extend(reversed(stmt.body))


def expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """Return the expressions of a statement itself: of a loop those of its bounds."""
    match stmt:
        case Assign(target=target):
            return (*stmt.sources(), target)
        case Loop(lower=lower, upper=upper):
            return (lower, upper)
        case Local(value=value):
            return () if value is None else (value,)
        case Fetch(place):
            return (place,)
        case LocalArray() | Await():
            return ()
        case _:
            assert_never(stmt)


def map_assigns(body: tuple[Stmt, ...], change: Callable[[Assign], Assign]) -> tuple[Stmt, ...]:
    """Return `body` with every assignment replaced by what `change` makes of it."""
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Assign():
                out.append(change(stmt))
            case Loop():
                out.append(replace(stmt, body=map_assigns(stmt.body, change)))
            case Local() | LocalArray() | Await() | Fetch():
                out.append(stmt)
            case _:
                assert_never(stmt)
    return tuple(out)


def rewritten(body: tuple[Stmt, ...], change: Callable[[Expr], Expr | None]) -> tuple[Stmt, ...]:
    """Return `body` with `change` made in all expressions, as `rewrite` does, but in `peeled`."""

    def renewed(stmt: Stmt) -> Stmt:
        match stmt:
            case Assign() | Fetch():
                return stmt.rewritten(change)
            case Local(value=value) if value is not None:
                return replace(stmt, value=rewrite(value, change))
            case Loop(lower=lower, upper=upper):
                lower, upper = rewrite(lower, change), rewrite(upper, change)
                return replace(stmt, lower=lower, upper=upper, body=rewritten(stmt.body, change))
            case _:
                return stmt

    return tuple(map(renewed, body))


def walk_paths(
    body: tuple[Stmt, ...], outer: tuple[Loop, ...] = ()
) -> Iterator[tuple[Assign, tuple[Loop, ...]]]:
    """Yield each assignment of `body` with the loops around it, outermost first."""
    rest = [(stmt, outer) for stmt in reversed(body)]
    while rest:
        stmt, around = rest.pop()
        if isinstance(stmt, Assign):
            yield stmt, around
        elif isinstance(stmt, Loop):
            inner = (*around, stmt)
            rest += [(one, inner) for one in reversed(stmt.body)]


def walk_places(
    body: tuple[Stmt, ...], outer: tuple[Loop, ...] = (), place: tuple[int, ...] = ()
) -> Iterator[tuple[Stmt, tuple[Loop, ...], tuple[int, ...]]]:
    """Yield each statement of `body` with the loops around it and its place in the text.

    The place has one number per level, outermost first.
    """
    # One generator: of one in another each statement would pass through as many as it has loops.
    rest = [(stmt, outer, (*place, k)) for k, stmt in reversed([*enumerate(body)])]
    while rest:
        stmt, around, at = found = rest.pop()
        yield found
        if isinstance(stmt, Loop):
            inner = (*around, stmt)
            rest += [(one, inner, (*at, k)) for k, one in reversed([*enumerate(stmt.body)])]
