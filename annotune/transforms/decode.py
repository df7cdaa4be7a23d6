"""Decode: work out once which iterations of its parts a merged loop stands at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Expr, Var
from annotune.ir.nest import Level, Local, Loop, Stmt, walk_stmts
from annotune.transforms.legality import missing
from annotune.transforms.merge import decoded
from annotune.transforms.messages import NOT_DECODED
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import (
    Body,
    declared_name,
    mapped,
    named_loop,
    numbers,
    rewritten,
)
from annotune.transforms.word import TALK, Word, takes

# Loops whose iterations threads are dealt as they come to them: their body is no place of its own.
_COPYING = (Level.COOPERATIVE, Level.ASYNC)


@dataclass(frozen=True, slots=True)
class Decode(OnStatement):
    """Give the iterators of the parts of a merged loop a place of their own, once for all uses.

    ``Decode(0, "ij")``: ``for ij in 0:24: for k: c[ij] += a[k*4 + ij / 6]`` becomes
    ``for ij in 0:24: local int i = ij / 6: for k: c[ij] += a[k*4 + i]``. It stands inside the
    placed loops that the merged loop holds alone, so that a thread divides once. A part that
    no expression asks for is not worked out.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "decode",
        "work out once at which iterations of its parts a merged loop stands",
        'decode(0, "h2h3")',
        TALK,
        exact=True,
    )
    loop: str = takes(Kind.LOOP)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason there is nothing to decode, or no name for it, or None."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        loop = named_loop(body, self.statement, self.loop)
        if not loop.merges:
            return NOT_DECODED.at(self.span, loop=self.loop, reason="runs no other loops")
        if loop.unrolled > 1:
            reason = "is unrolled: each copy of its body has parts of its own"
            return NOT_DECODED.at(self.span, loop=self.loop, reason=reason)
        names = {declared_name(stmt) for stmt in walk_stmts(loop.body)}
        taken = next((part.var for part in loop.merges if part.var in names), "")
        if taken:
            reason = f"holds another '{taken}'"
            return NOT_DECODED.at(self.span, loop=self.loop, reason=reason)
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the parts worked out, which `why_not` has accepted."""

        def known(stmt: Stmt) -> Body | None:
            # Where a block is loaded, updated and stored, there are several loops of the name.
            if not isinstance(stmt, Loop) or stmt.var != self.loop or not stmt.merges:
                return None
            if stmt.place in _COPYING:
                return None
            return (_with_parts(stmt, {part: name for name, part in decoded(stmt).items()}),)

        return tuple(
            mapped((stmt,), known)[0] if self.statement in numbers(stmt) else stmt for stmt in body
        )


def _with_parts(loop: Loop, parts: Mapping[Expr, str]) -> Loop:
    """Return a loop with its parts, by what each of them is, known at the start of its work."""
    if len(loop.body) == 1:
        inner = loop.body[0]
        if isinstance(inner, Loop) and inner.place not in (Level.SERIAL, *_COPYING):
            return replace(loop, body=(_with_parts(inner, parts),))
    used: dict[str, Expr] = {}

    def change(expr: Expr) -> Expr | None:
        name = parts.get(expr)
        if name is None:
            return None
        used[name] = expr
        return Var(name)

    renewed = rewritten(loop.body, change)
    ordered = [name for name in parts.values() if name in used]
    return replace(loop, body=(*(Local(n, "int", used[n]) for n in ordered), *renewed))
