"""Which inputs the statements of a plan read from copies, as its certificate lists them."""

from __future__ import annotations

from collections.abc import Iterator

from annotune.codegen.grid import THREADS
from annotune.decide.certificate import Copied
from annotune.decide.plan import Plan
from annotune.ir.expr import Access, accesses
from annotune.ir.nest import NO_STATEMENT, Assign, Level, LocalArray, Loop, MemorySpace, Stmt
from annotune.transforms.tree import Body, numbers

_PLACES = {
    MemorySpace.SHARED: "shared memory",
    MemorySpace.DEALT: "registers",
    MemorySpace.PRIVATE: "an array of each thread",
}
# Loops that are no turns of a block: its threads fill a shared copy together.
_TOGETHER = (*THREADS, Level.COOPERATIVE, Level.ASYNC)


def copies(plan: Plan) -> tuple[Copied, ...]:
    """Return each copy of an input that the kernels of a plan make, with who reads it."""
    return tuple(one for kernel in plan.kernels() for one in _of_kernel(kernel.body))


def _of_kernel(body: Body) -> Iterator[Copied]:
    found = list(_walk(body, ()))
    arrays = {s.name: s for s, _ in found if isinstance(s, LocalArray)}
    filled: dict[str, tuple[str, tuple[Loop, ...]]] = {}
    for stmt, around in found:
        if isinstance(stmt, Assign) and stmt.number == NO_STATEMENT:
            source = next((a.array for e in stmt.sources() for a in accesses(e)), "")
            target = stmt.target
            if not source or not isinstance(target, Access) or target.array not in arrays:
                continue
            # Of a copy that runs ahead, the first is made before the loop of the others.
            if len(around) >= len(filled.get(target.array, ("", ()))[1]):
                filled[target.array] = (source, around)
    for name, (source, around) in filled.items():
        readers = {n for s, _ in found for n in _readers(s, name)}
        if not readers:
            continue
        # What threads load ahead goes through their registers first.
        while source in filled:
            source, around = filled[source]
        space = arrays[name].space
        beside = _TOGETHER if space is MemorySpace.SHARED else ()
        around_readers = _loops_around(found, name)
        own = [x.var for x in around if x.place not in beside and x.var in around_readers]
        yield Copied(tuple(sorted(readers)), source, name, _PLACES[space], tuple(own))


def _walk(body: Body, outer: tuple[Loop, ...]) -> Iterator[tuple[Stmt, tuple[Loop, ...]]]:
    for stmt in body:
        yield stmt, outer
        if isinstance(stmt, Loop):
            yield from _walk(stmt.body, (*outer, stmt))


def _readers(stmt: Stmt, name: str) -> frozenset[int]:
    """Return the statements of the region that read a copy by themselves."""
    if not isinstance(stmt, Assign) or stmt.number == NO_STATEMENT:
        return frozenset()
    read = any(a.array == name for e in stmt.sources() for a in accesses(e))
    return numbers(stmt) if read else frozenset()


def _loops_around(found: list[tuple[Stmt, tuple[Loop, ...]]], name: str) -> frozenset[str]:
    """Return the names of the loops around the statements that read a copy."""
    return frozenset(x.var for s, around in found if _readers(s, name) for x in around)
