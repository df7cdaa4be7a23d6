"""Which inputs of a kernel nvcc must not take for memory that nobody writes.

Of ``g ? c[j] : n[j]`` nvcc 13.0 makes one load, from the address that it chooses. Where `n` is
``__restrict__`` and only read, that load goes through the read-only path (``ld.global.nc``), also
if it is of `c`: what the kernel has just written to `c` is not seen. The same becomes of two
statements for one place, one of them under a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annotune.ir.expr import Expr, Select, accesses, walk
from annotune.ir.nest import Assign, Local, walk_stmts
from annotune.transforms.tree import Body, target_name


def merged_inputs(body: Body, written: Iterable[str]) -> frozenset[str]:
    """Return the arrays whose loads may become one with a load of what is in `written`."""
    outputs = frozenset(written)
    found: set[str] = set()
    for one, other in _alternatives(body):
        found |= other if one & outputs else set()
        found |= one if other & outputs else set()
    return frozenset(found) - outputs


def _alternatives(body: Body) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the arrays that two expressions load of which only one need be computed."""
    sources: dict[str, frozenset[str]] = {}
    guarded: set[str] = set()
    for stmt in walk_stmts(body):
        if isinstance(stmt, Local) and stmt.value is not None:
            sources[stmt.name] = sources.get(stmt.name, frozenset()) | _loaded(stmt.value)
        if not isinstance(stmt, Assign):
            continue
        for part in (part for source in stmt.sources() for part in walk(source)):
            if isinstance(part, Select):
                yield _loaded(part.if_true), _loaded(part.if_false)
        name = target_name(stmt)
        sources[name] = sources.get(name, frozenset()) | _loaded(stmt.value)
        guarded |= {name} if stmt.guard is not None else set()
    for name in guarded:
        yield sources[name], sources[name]


def _loaded(expr: Expr) -> frozenset[str]:
    return frozenset(access.array for access in accesses(expr))
