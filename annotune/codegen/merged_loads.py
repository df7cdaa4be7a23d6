"""Which arrays of a kernel nvcc must not take for memory that no other pointer reaches.

Of ``g ? c[j] : n[j]`` nvcc 13.0 makes one load, from the address that it chooses. Where `n` is
``__restrict__`` and only read, that load goes through the read-only path (``ld.global.nc``), also
if it is of `c`: what the kernel has just written to `c` is not seen. Where `c` is ``__restrict__``,
what was written there just before is not even stored; so of ``g ? c[i] : c[j]``, with nvcc
13.0 to 13.5. The same becomes of two statements for one place, one of them under a condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from annotune.ir.expr import Expr, Select, accesses, walk
from annotune.ir.nest import Assign, Local, walk_stmts
from annotune.transforms.tree import Body, target_name


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
