"""A body in two versions: for whole tiles, without what that makes true, and for the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from annotune.analysis.conditions import Premises
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.writer import Writer
from annotune.ir.expr import PRECEDENCE, Expr
from annotune.ir.nest import Loop, walk_stmts
from annotune.transforms.tree import Body, rebuilt
from annotune.transforms.whole_tiles import whole_tiles

Write: TypeAlias = Callable[[Body, Premises], None]


def is_peeled(body: Body) -> bool:
    """Return whether some loop in `body` has whole tiles apart."""
    return any(isinstance(stmt, Loop) and stmt.peeled for stmt in walk_stmts(body))


def write_versions(
    out: Writer, dialect: Dialect, tests: Sequence[Expr], body: Body, known: Premises, write: Write
) -> None:
    """Write `body`, where `known` holds, by `write`: twice, if there are tests for whole tiles.

    The version for the other tiles asks nothing twice: loops inside it have one version.
    """
    if not tests:
        write(body, known)
        return
    texts = (dialect.expr(test, PRECEDENCE["&&"] + 1) for test in tests)
    here = known.where(tests)
    with out.block(f"if ({' && '.join(texts)})"):
        write(whole_tiles(body, here), here)
    with out.block("else"):
        write(unpeeled(body), known)


def unpeeled(body: Body) -> Body:
    """Return `body` with one version of each loop."""
    return tuple(
        rebuilt(stmt, body=unpeeled(stmt.body), peeled=()) if isinstance(stmt, Loop) else stmt
        for stmt in body
    )
