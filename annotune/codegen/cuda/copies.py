"""Copies that the threads of a block make together: their shares, lanes, and asynchronous ones.

Which arrays of a kernel nvcc must not take for memory that no other pointer reaches.

Of ``g ? c[j] : n[j]`` nvcc 13.0 makes one load, from the address that it chooses. Where `n` is
``__restrict__`` and only read, that load goes through the read-only path (``ld.global.nc``), also
if it is of `c`: what the kernel has just written to `c` is not seen. Where `c` is ``__restrict__``,
what was written there just before is not even stored; so of ``g ? c[i] : c[j]``, with nvcc
13.0 to 13.5. The same becomes of two statements for one place, one of them under a condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import prod

from annotune.codegen.grid import Crew, crew
from annotune.ir.expr import Access, Expr, Int, Real, Select, Var, accesses, variables, walk
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Assign, Level, Local, LocalArray, Loop, MemorySpace, Stmt, walk_stmts
from annotune.transforms.tree import Body, target_name

THREAD_INDEX = "annotune_thread"
SHARE = "annotune_k"
DYNAMIC = "annotune_shared"
# Shared memory that a block has without asking for more, and where a vector may start (CUDA C++
# Programming Guide, Shared Memory and Device Memory Accesses).
STATIC_BYTES = 48 * 1024
VECTOR_BYTES = 16
_BYTES = {"char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2}
_BYTES |= {"int": 4, "unsigned": 4, "unsigned int": 4, "float": 4}
COPYING = (Level.COOPERATIVE, Level.ASYNC)


@dataclass(frozen=True, slots=True)
class Copies:
    """A nest of loops that all threads of a block run together, and what it holds.

    `counts` are the loops and how often they run, the outermost first.
    """

    counts: Mapping[str, int]
    body: Body

    @classmethod
    def of(cls, outermost: Loop) -> Copies:
        """Return a perfect nest of loops that run a number of times that is known."""
        loops = [outermost]
        while len(loops[-1].body) == 1:
            inner = loops[-1].body[0]
            if not isinstance(inner, Loop) or inner.place not in COPYING:
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

    def crew(self, threads: int) -> Crew:
        """Return which of a block's threads copy what."""
        return crew(self.counts, threads)

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
        copies = Copies.of(nest)
        for stmt in copies.body:
            lanes = Lanes.of(stmt)
            target = lanes.assign.target
            if isinstance(target, Access) and target.array in types:
                kind = types[target.array]
                found[target.array] = Share(kind, lanes.width, copies.crew(threads).rounds)
    return found


def nests(body: Body) -> Iterator[Loop]:
    """Yield the outermost loops of all copies in `body`."""
    for stmt in body:
        if isinstance(stmt, Loop) and stmt.place in COPYING:
            yield stmt
        elif isinstance(stmt, Loop):
            yield from nests(stmt.body)


def aligned_arrays(body: Body) -> frozenset[str]:
    """Return the arrays, of the region and local, of which neighbours are copied at once."""
    found: set[str] = set()
    for nest in nests(body):
        for stmt in Copies.of(nest).body:
            lanes = Lanes.of(stmt)
            if lanes.width > 1:
                found |= {
                    a.array
                    for a in (lanes.assign.target, *accesses(lanes.assign.value))
                    if isinstance(a, Access)
                }
    return frozenset(found)


def shared_arrays(body: Body) -> tuple[LocalArray, ...]:
    """Return the arrays in `body` that belong to all threads of a block, in text order.

    The iterations that unrolling leaves over have the arrays of those that it writes out.
    """
    local = (s for s in walk_stmts(body) if isinstance(s, LocalArray))
    return tuple(dict.fromkeys(s for s in local if s.space is MemorySpace.SHARED))


def dynamic_bytes(body: Body) -> int:
    """Return the shared memory for which a launch must ask, 0 where a block has it anyway."""
    sizes = [shared_bytes(array) for array in shared_arrays(body)]
    return sum(sizes) if sum(sizes) > STATIC_BYTES else 0


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
    under a condition, all but one may be left out.
    """
    sources: dict[tuple[str, str], list[frozenset[str]]] = {}
    guarded: set[tuple[str, str]] = set()
    for stmt in walk_stmts(body):
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
