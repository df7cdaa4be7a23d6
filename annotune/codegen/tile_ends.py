"""Bounds that are a least or a greatest value, as constants before the loops: C has no `min`.

Such are the ends of tiles that may be cut short, and what the user's own bounds choose from.

A body in two versions: for whole tiles, without what that makes true, and for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from annotune.analysis.conditions import Premises
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.renaming import fresh
from annotune.codegen.writer import Writer
from annotune.ir.expr import PRECEDENCE, Binary, Call, Expr, Var, children, rewrite, variables, walk
from annotune.ir.fold import fold
from annotune.ir.nest import LocalArray, Loop, Stmt, walk_stmts
from annotune.transforms.tile_ends import whole_tiles
from annotune.transforms.tree import Body


@dataclass(frozen=True, slots=True)
class Cut:
    """A loop with a bound that is a least or greatest value, such as a loop over one tile.

    A tile ends at the `least` of its own end, `full`, and the end of the whole loop, `end`.
    """

    loop: Loop
    least: Call

    @property
    def is_tile(self) -> bool:
        """Return whether the bound is the lesser of two ends, of which the first is usual."""
        return self.least.function == "min" and len(self.least.arguments) == 2

    @property
    def full(self) -> Expr:
        return self.least.arguments[0]

    @property
    def end(self) -> Expr:
        return self.least.arguments[1]


def cut_loops(body: Body) -> tuple[Cut, ...]:
    """Return the loops in `body` whose bounds are such values and are chosen outside it."""
    return _cuts(body, frozenset())


def write_ends(out: Writer, dialect: Dialect, body: Body, cuts: Sequence[Cut]) -> Body:
    """Write each such bound as a constant, and return `body` with these as bounds.

    Nests that follow each other in one block may have bounds of the same name.
    """
    ends: dict[Expr, Expr] = {}
    for cut in cuts:
        if cut.least in ends:
            continue
        kind = dialect.iterator_type(cut.loop).replace("const ", "")
        word = "end" if cut.least in walk(cut.loop.upper) else "begin"
        own = fresh(f"{cut.loop.var}_{word}", dialect.region.taken | out.declared)
        out.declare(own)
        out.line(f"const {kind} {own} = {dialect.expr(dialect.wide(cut.least))};")
        ends[cut.least] = Var(own)
    return with_bounds(body, ends)


def full_blocks(body: Body) -> tuple[tuple[Expr, ...], Body]:
    """Return tests that the tiles of a block of registers are full, and `body` where they are.

    There are none where `body` declares no such block, or no tile in it may be cut.
    """
    if not any(isinstance(stmt, LocalArray) for stmt in body):
        return (), body
    tiles = [cut for cut in cut_loops(body) if cut.is_tile]
    tests = dict.fromkeys(Binary("<=", cut.full, cut.end) for cut in tiles)
    full: dict[Expr, Expr] = {cut.least: cut.full for cut in tiles}
    return tuple(tests), with_bounds(body, full)


def with_bounds(body: Body, values: Mapping[Expr, Expr]) -> Body:
    """Return `body` with the ends of tiles in loop bounds replaced by `values`."""
    if not values:
        return body

    def change(bound: Expr) -> Expr:
        new = rewrite(bound, values.get)
        return bound if new == bound else fold(new)

    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            inner = with_bounds(stmt.body, values)
            lower, upper = change(stmt.lower), change(stmt.upper)
            out.append(replace(stmt, lower=lower, upper=upper, body=inner))
        else:
            out.append(stmt)
    return tuple(out)


def _cuts(body: Body, inside: frozenset[str]) -> tuple[Cut, ...]:
    """Return the cuts in `body`, which stands in the loops `inside`."""
    out: list[Cut] = []
    for stmt in body:
        if not isinstance(stmt, Loop):
            continue
        for bound in (stmt.lower, stmt.upper):
            out += [Cut(stmt, least) for least in _choices(bound, inside)]
        out += _cuts(stmt.body, inside | {stmt.var})
    return tuple(dict.fromkeys(out))


def _choices(bound: Expr, inside: frozenset[str]) -> Iterator[Call]:
    """Yield the least and greatest values in `bound` that no loop `inside` changes."""
    is_choice = isinstance(bound, Call) and bound.function in ("min", "max")
    if is_choice and not variables(bound) & inside:
        assert isinstance(bound, Call)
        yield bound
        return
    for part in children(bound):
        yield from _choices(part, inside)


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
        replace(stmt, body=unpeeled(stmt.body), peeled=()) if isinstance(stmt, Loop) else stmt
        for stmt in body
    )
