"""Decode: work out once which iterations of its parts a merged loop stands at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Expr, Var, rewrite
from annotune.ir.nest import Assign, Await, Fetch, Level, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.transforms.legality import missing
from annotune.transforms.merge import decoded
from annotune.transforms.messages import NOT_DECODED
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import Body, declared_name, named_loop, numbers
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
        return tuple(self._inside(s) if self.statement in numbers(s) else s for s in body)

    def _inside(self, stmt: Stmt) -> Stmt:
        """Return a statement with the parts known in each of the loops of the name in it.

        Where a block is loaded, updated and stored, there are several.
        """
        if not isinstance(stmt, Loop):
            return stmt
        if stmt.var == self.loop and stmt.merges and stmt.place not in _COPYING:
            return _with_parts(stmt, {part: name for name, part in decoded(stmt).items()})
        return replace(stmt, body=tuple(map(self._inside, stmt.body)))


def _with_parts(loop: Loop, parts: Mapping[Expr, str]) -> Loop:
    """Return a loop with its parts, by what each of them is, known at the start of its work."""
    if len(loop.body) == 1:
        inner = loop.body[0]
        if isinstance(inner, Loop) and inner.place not in (Level.SERIAL, *_COPYING):
            return replace(loop, body=(_with_parts(inner, parts),))
    used: dict[str, Expr] = {}
    renewed = _Use(parts, used).body(loop.body)
    ordered = [name for name in parts.values() if name in used]
    return replace(loop, body=(*(Local(n, "int", used[n]) for n in ordered), *renewed))


@dataclass(frozen=True, slots=True)
class _Use:
    """Puts the names of parts where statements work them out; `used` has those that were met."""

    parts: Mapping[Expr, str]
    used: dict[str, Expr]

    def stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Assign() | Fetch():
                return stmt.rewritten(self._change)
            case Local(name, type_, value):
                new = None if value is None else rewrite(value, self._change)
                return Local(name, type_, new)
            case Loop():
                lower, upper = (rewrite(e, self._change) for e in (stmt.lower, stmt.upper))
                return replace(stmt, lower=lower, upper=upper, body=self.body(stmt.body))
            case LocalArray() | Await():
                return stmt

    def body(self, body: Sequence[Stmt]) -> Body:
        return tuple(map(self.stmt, body))

    def _change(self, expr: Expr) -> Expr | None:
        name = self.parts.get(expr)
        if name is None:
            return None
        self.used[name] = expr
        return Var(name)
