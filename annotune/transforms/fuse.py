"""Fuse nests that run over the same iterations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.nest import Loop
from annotune.transforms.legality import missing, order_refusal
from annotune.transforms.messages import LOOPS_DIFFER
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body, is_declaration, same_bounds, top_of
from annotune.transforms.word import THESIS, Word, takes


@dataclass(frozen=True, slots=True)
class Fuse:
    """Merge the nests of several statements, as many loops deep as they agree.

    ``Fuse((0, 1))``: ``for i: S0`` and ``for i: S1`` become ``for i: S0; S1``. Loops agree
    when name, bounds and step do, once the sizes that are fixed are put in.
    """

    is_inner: ClassVar[bool] = False
    word: ClassVar[Word] = Word(
        "fuse",
        "run the statements in the same loops",
        "fuse(0,1)",
        THESIS,
    )
    statements: tuple[int, ...] = takes(Kind.STATEMENT, repeated=2)
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def statement(self) -> int:
        """Return the first of the statements."""
        return self.statements[0]

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the nests may not be merged, or None when they may."""
        for statement in self.statements:
            if absent := missing(body, statement, (), self.span):
                return absent
        tops = [body[k] for k in self._places(body)]
        first = tops[0]
        for statement, top in zip(self.statements[1:], tops[1:], strict=False):
            if (
                not isinstance(first, Loop)
                or not isinstance(top, Loop)
                or first.var != top.var
                or not same_bounds(first, top, context.folded)
            ):
                return LOOPS_DIFFER.at(
                    self.span,
                    first=self.statements[0],
                    second=statement,
                    first_loop=first.var if isinstance(first, Loop) else "none",
                    second_loop=top.var if isinstance(top, Loop) else "none",
                )
        return order_refusal(
            "fuse",
            self.apply(body, context),
            context,
            self.span,
            "leave the statements in their own nests",
        )

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the nests merged where the first of them stands."""
        places = self._places(body)
        merged = body[places[0]]
        for place in places[1:]:
            other = body[place]
            assert isinstance(merged, Loop)
            assert isinstance(other, Loop)
            merged = _merged(merged, other, context)
        return tuple(
            merged if k == places[0] else stmt
            for k, stmt in enumerate(body)
            if k == places[0] or k not in places
        )

    def _places(self, body: Body) -> tuple[int, ...]:
        return tuple(dict.fromkeys(top_of(body, statement) for statement in self.statements))


def _merged(first: Loop, second: Loop, context: Context) -> Loop:
    """Return the two loops as one; inner loops merge where the last and first agree."""
    last, head = first.body[-1], second.body[0]
    if (
        isinstance(last, Loop)
        and isinstance(head, Loop)
        and last.var == head.var
        and same_bounds(last, head, context.folded)
        and len(first.body) == len(second.body) == 1
    ):
        return replace(first, body=(_merged(last, head, context),))
    # Both nests may have brought the declaration of one variable.
    again = (stmt for stmt in second.body if not (is_declaration(stmt) and stmt in first.body))
    return replace(first, body=(*first.body, *again))
