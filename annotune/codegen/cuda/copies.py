"""Copies that the threads of a block make together: their shares, lanes, and asynchronous ones.

The threads copy whole rows each round, so that indices are worked out once: a thread that takes
every so-manieth element of a copy has another place in each round, and where the extents are no
powers of two ptxas keeps the addresses of all rounds in registers (seen for sm_90: 254 registers at
extents of 24, where 168 do). Threads that stay at their place in a row and go from row to row add
one constant per round.

Also: which arrays nvcc must not take for memory that no other pointer reaches. Of
``g ? c[j] : n[j]`` nvcc 13.0 makes one load, from the address that it chooses. Where `n` is
``__restrict__`` and only read, that load goes through the read-only path (``ld.global.nc``), also
if it is of `c`: what the kernel has just written to `c` is not seen. Where `c` is ``__restrict__``,
what was written there just before is not even stored; so of ``g ? c[i] : c[j]``, with nvcc
13.0 to 13.5. The same becomes of two statements for one place, one of them under a condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import prod

from annotune.frozen import dataclass
from annotune.ir.expr import Access, Binary, Expr, Int, Real, Select, Var, accesses, variables, walk
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import (
    COPY_LEVELS,
    Assign,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Stmt,
    walk_paths,
    walk_stmts,
)
from annotune.ir.poly import ONE, from_expr
from annotune.transforms.legality import only_copied
from annotune.transforms.tree import Body, target_name

THREAD_INDEX = "annotune_thread"
# The same of a block along an axis, where it is worked out anew.
BLOCK_INDEX = "annotune_block_"
SHARE = "annotune_k"
DYNAMIC = "annotune_shared"
# Shared memory that a block has without asking for more, and where a vector may start (CUDA C++
# Programming Guide, Shared Memory and Device Memory Accesses).
STATIC_BYTES = 48 * 1024
VECTOR_BYTES = 16
ANEW = "annotune_anew"
# Copies of several statements have parts of their places in common. nvcc works those out once, and
# spills for them what the sums leave no registers for: 84 bytes for the eighteen doubles, where 4
# are spilled if each copy has them anew (seen for sm_90, nvcc 13.0).
ANEW_LONG = f"{ANEW}_long"
_BYTES = {"char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2}
_BYTES |= {"int": 4, "unsigned": 4, "unsigned int": 4, "float": 4}


@dataclass(frozen=True, slots=True)
class CopyNest:
    """A nest of loops that all threads of a block run together, and what it holds.

    `counts` are the loops and how often they run, the outermost first.
    """

    counts: Mapping[str, int]
    body: Body

    @classmethod
    def of(cls, outermost: Loop) -> CopyNest:
        """Return a perfect nest of loops that run a number of times that is known."""
        loops = [outermost]
        while len(loops[-1].body) == 1:
            inner = loops[-1].body[0]
            if not isinstance(inner, Loop) or inner.place not in COPY_LEVELS:
                break
            loops.append(inner)
        counts = {}
        for loop in loops:
            count = fold(trip_count(loop))
            assert isinstance(count, Int)
            assert loop.lower == Int(0)
            assert loop.step == 1
            counts[loop.var] = count.value
        return cls(counts, loops[-1].body)

    def layout(self, threads: int) -> CopyLayout:
        """Return which of a block's threads copy what."""
        return copy_layout(self.counts, threads)

    def condition(self) -> Expr | None:
        """Return the condition under which any of it runs, None where some iterations differ."""
        own = set(self.counts)
        guards = {s.guard for s in walk_stmts(self.body) if isinstance(s, Assign)}
        guard = guards.pop() if len(guards) == 1 else None
        return guard if guard is not None and not variables(guard) & own else None


@dataclass(frozen=True, slots=True)
class Lanes:
    """One copy of `width` neighbours, the first of which `assign` copies."""

    assign: Assign
    width: int

    @classmethod
    def of(cls, stmt: Stmt) -> Lanes:
        """Return the copy of one element, or of those that a loop over lanes copies at once."""
        if isinstance(stmt, Assign):
            return cls(stmt, 1)
        assert isinstance(stmt, Loop)
        assert stmt.place is Level.SIMD
        (inner,), width = stmt.body, fold(trip_count(stmt))
        assert isinstance(inner, Assign)
        assert isinstance(width, Int)

        def first(expr: Expr) -> Expr | None:
            return Int(0) if expr == Var(stmt.var) else None

        assign = inner.rewritten(first)
        target = fold(assign.target)
        assert isinstance(target, Access)
        return cls(
            Assign(assign.number, target, "=", fold(assign.value), assign.span, assign.guard),
            width.value,
        )

    @property
    def source(self) -> tuple[Expr | None, Access]:
        """Return the condition for the element to be there, None for always, and the element."""
        match self.assign.value:
            case Access() as element:
                return None, element
            case Select(condition, Access() as element, Real("0.0") | Int(0)):
                return condition, element
            case value:
                raise AssertionError(f"no copy: {value}")


@dataclass(frozen=True, slots=True)
class Share:
    """What one thread has in registers of a dealt array: `rounds` vectors of `width` elements."""

    type: str
    width: int
    rounds: int

    @property
    def spelling(self) -> str:
        return vector(self.type, self.width)


def vector(element: str, width: int) -> str:
    """Return CUDA's type of `width` neighbours."""
    return element if width == 1 else f"{element}{width}"


def shares(body: Body, threads: int) -> dict[str, Share]:
    """Return what a thread has of each dealt array in `body`."""
    types = {
        s.name: s.type
        for s in walk_stmts(body)
        if isinstance(s, LocalArray) and s.space is MemorySpace.DEALT
    }
    found = {}
    for nest in nests(body):
        copies = CopyNest.of(nest)
        for stmt in copies.body:
            lanes = Lanes.of(stmt)
            target = lanes.assign.target
            if isinstance(target, Access) and target.array in types:
                kind = types[target.array]
                found[target.array] = Share(kind, lanes.width, copies.layout(threads).rounds)
    return found


def nests(body: Body) -> Iterator[Loop]:
    """Yield the outermost loops of all copies in `body`."""
    for stmt in body:
        if isinstance(stmt, Loop) and stmt.place in COPY_LEVELS:
            yield stmt
        elif isinstance(stmt, Loop):
            yield from nests(stmt.body)


def aligned_arrays(body: Body) -> frozenset[str]:
    """Return the arrays, of the region and local, of which neighbours are copied at once."""
    found: set[str] = set()
    for nest in nests(body):
        for stmt in CopyNest.of(nest).body:
            lanes = Lanes.of(stmt)
            if lanes.width > 1 or nest.place is Level.BULK:
                found |= {
                    a.array
                    for a in (lanes.assign.target, *accesses(lanes.assign.value))
                    if isinstance(a, Access)
                }
    return frozenset(found)


def paired_arrays(body: Body) -> frozenset[str]:
    """Return the shared arrays of which a thread reads neighbours in a loop of an even length.

    Two of them are one load (``LDS.128``) where the compiler knows that they start at a pair.
    """
    shared = {array.name for array in shared_arrays(body)}
    found: set[str] = set()
    for assign, loops in walk_paths(body):
        even = {x.var for x in loops if x.place is Level.SERIAL and _is_even(x)}
        own = [e for source in assign.sources() for e in accesses(source) if e.array in shared]
        for element in own if even else ():
            index = from_expr(element.indices[-1])
            linear = None if index is None else index.linear_in(tuple(even))
            if linear is not None and any(factor == ONE for factor in linear[0].values()):
                found.add(element.array)
    return frozenset(found)


def _is_even(loop: Loop) -> bool:
    count = fold(trip_count(loop))
    return loop.step == 1 and isinstance(count, Int) and count.value % 2 == 0


def shared_arrays(body: Body) -> tuple[LocalArray, ...]:
    """Return the arrays in `body` that belong to all threads of a block, in text order.

    The iterations that unrolling leaves over have the arrays of those that it writes out.
    """
    local = (s for s in walk_stmts(body) if isinstance(s, LocalArray))
    return tuple(dict.fromkeys(s for s in local if s.space is MemorySpace.SHARED))


def dynamic_arrays(body: Body) -> tuple[LocalArray, ...]:
    """Return the shared arrays for which a launch must ask, none where a block has them anyway.

    They are those of copies. The others stay apart, so that nvcc knows that what threads write
    there leaves a copy as it is, of which they may then keep elements in registers.
    """
    shared = shared_arrays(body)
    if sum(map(shared_bytes, shared)) <= STATIC_BYTES:
        return ()
    filled = only_copied(body)
    return tuple(array for array in shared if array.name in filled)


def dynamic_bytes(body: Body) -> int:
    """Return the shared memory for which a launch must ask, 0 where a block has it anyway."""
    return sum(map(shared_bytes, dynamic_arrays(body)))


def shared_bytes(array: LocalArray) -> int:
    """Return the bytes of an array, up to where the next one may start with a vector."""
    # A type not listed is a pair at most: complex, or a long of one.
    size = prod(array.extents) * _BYTES.get(array.type, 8 if "complex" not in array.type else 16)
    return -(-size // VECTOR_BYTES) * VECTOR_BYTES


def merged_loads(
    body: Body, in_memory: Collection[str], written: Collection[str]
) -> frozenset[str]:
    """Return the arrays of which a load may become one with another load, one of them `written`.

    Both are among those `in_memory` that all threads reach: from another memory there is another
    load.
    """
    found: set[str] = set()
    for one, other in _alternatives(body):
        both = (one | other).intersection(in_memory)
        if both.intersection(written) and (len(both) > 1 or both & one & other):
            found |= both
    return frozenset(found)


def _alternatives(body: Body) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the arrays that two expressions load of which only one need be computed.

    What is set under a condition takes the place of what was set before; of what is added, each
    under a condition, all but one may be left out. What all threads of a block copy together, they
    wait for before they set any of it.
    """
    sources: dict[tuple[str, str], list[frozenset[str]]] = {}
    guarded: set[tuple[str, str]] = set()
    together = {
        id(inner)
        for loop in walk_stmts(body)
        if isinstance(loop, Loop) and loop.place is Level.COOPERATIVE
        for inner in walk_stmts(loop.body)
    }
    for stmt in walk_stmts(body):
        if id(stmt) in together:
            continue
        if isinstance(stmt, Local) and stmt.value is not None:
            place, value, guard = (stmt.name, "="), stmt.value, None
        elif isinstance(stmt, Assign):
            place, value, guard = (target_name(stmt), stmt.op), stmt.value, stmt.guard
        else:
            continue
        for part in (*walk(value), *(walk(guard) if guard is not None else ())):
            if isinstance(part, Select):
                yield _loaded(part.if_true), _loaded(part.if_false)
        if guard is not None or place[1] == "=":
            sources.setdefault(place, []).append(_loaded(value))
        guarded |= {place} if guard is not None else set()
    for place in guarded:
        first, *others = sources[place]
        yield first, frozenset().union(*others)


def _loaded(expr: Expr) -> frozenset[str]:
    return frozenset(access.array for access in accesses(expr))


@dataclass(frozen=True, slots=True)
class CopyLayout:
    """The `size` threads of a block that copy a nest, and what places each of them in it.

    The loops in `fixed`, fastest first with their counts, have one value in a thread. In each of
    its rounds a thread has another iteration of the `turns`, fastest first with the rounds over
    them: of the first of these loops `rows` iterations, of `count` in all, are copied at a time.
    """

    size: int
    fixed: tuple[tuple[str, int], ...]
    turns: tuple[tuple[str, int], ...] = ()
    rows: int = 1
    count: int = 1

    @property
    def rounds(self) -> int:
        """Return how many iterations a thread runs at most."""
        return prod(turns for _, turns in self.turns)

    def places(self, thread: Expr, turn: Expr) -> Iterator[tuple[str, Expr]]:
        """Yield the value of each loop in a thread's round, by the numbers of both."""
        faster = 1
        for var, count in self.fixed:
            yield var, _digit(thread, faster, count, faster * count == self.size)
            faster *= count
        first, slower = _digit(thread, faster, 1, True), 1
        for place, (var, turns) in enumerate(self.turns):
            own = _digit(turn, slower, turns, slower * turns == self.rounds)
            if place == 0 and self.rows > 1:
                own = Binary("+", first, fold(Binary("*", Int(self.rows), own)))
            yield var, own
            slower *= turns

    def idle(self, thread: Expr, threads: int) -> Expr | None:
        """Return the condition for a thread to have a place in a round, None for always."""
        tests: list[Expr] = []
        if self.size < threads:
            tests.append(Binary("<", thread, Int(self.size)))
        if self.turns and self.rows * self.turns[0][1] > self.count:
            tests.append(Binary("<", Var(self.turns[0][0]), Int(self.count)))
        if not tests:
            return None
        return tests[0] if len(tests) == 1 else Binary("&&", *tests)


def copy_layout(counts: Mapping[str, int], threads: int) -> CopyLayout:
    """Return how `threads` share a nest of loops with `counts`, outermost first.

    They take as many whole inner loops as there are threads for, and rows of the next loop with
    the threads that are left over.
    """
    loops = list(counts.items())
    fixed: list[tuple[str, int]] = []
    size = 1
    while loops and size * loops[-1][1] <= threads:
        fixed.append(loops.pop())
        size *= fixed[-1][1]
    if not loops:
        return CopyLayout(size, tuple(fixed))
    moving, count = loops.pop()
    turns = -(-count // (threads // size))
    # The fewest rows that need no more rounds leave the fewest threads without a row at the end.
    rows = -(-count // turns)
    outer = reversed(loops)
    return CopyLayout(size * rows, tuple(fixed), ((moving, turns), *outer), rows, count)


def _digit(number: Expr, faster: int, count: int, is_last: bool) -> Expr:
    """Return a digit of a number, below which others count to `faster`."""
    if count == 1 and not is_last:
        return Int(0)
    own = number if faster == 1 else Binary("/", number, Int(faster))
    return own if is_last else Binary("%", own, Int(count))
