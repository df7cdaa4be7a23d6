"""Distribute loops over groups of statements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.nest import Stmt
from annotune.transforms.legality import missing, order_refusal
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body, named_loop, numbers, replace_loop, restrict
from annotune.transforms.word import CHILL, Word, takes


@dataclass(frozen=True, slots=True)
class Distribute:
    """Give each group of statements its own copy of the loops around it.

    ``Distribute(((0,), (1,)))``: ``for i: S0; S1`` becomes ``for i: S0`` then ``for i: S1``.
    A statement that no group names stays with the group before it.

    With `loop`, one around the first statement named, the loops from there inwards get copies and
    those around it stay: ``Distribute(((0,), (1,)), loop="j")``: ``for i: for j: S0; S1`` becomes
    ``for i: (for j: S0) (for j: S1)``.
    """

    is_inner: ClassVar[bool] = False
    word: ClassVar[Word] = Word(
        "distribute",
        "give each of the statements loops of its own",
        "distribute(0,1)",
        CHILL,
    )
    groups: tuple[tuple[int, ...], ...] = takes(Kind.GROUP, name="statements", repeated=1)
    loop: str = takes(Kind.LOOP, "", by_name=True, exact=True)
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def statements(self) -> tuple[int, ...]:
        """Return all statements that are named."""
        return tuple(number for group in self.groups for number in group)

    @property
    def statement(self) -> int:
        """Return the first of the statements."""
        return self.groups[0][0]

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the groups may not be taken apart, or None when they may."""
        for statement in self.statements:
            if absent := missing(body, statement, (), self.span):
                return absent
        inner = (self.loop,) if self.loop else ()
        if absent := missing(body, self.statement, inner, self.span):
            return absent
        help_ = "leave the two statements in one nest"
        return order_refusal("distribute", self.apply(body, context), context, self.span, help_)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with one nest per group, in the order of their first statements."""
        if not self.loop:
            return tuple(part for stmt in body for part in self._parts(stmt))
        whole = named_loop(body, self.statement, self.loop)
        return replace_loop(body, whole, self._parts(whole))

    def _parts(self, stmt: Stmt) -> Body:
        """Return a statement once for each group that it has something of."""
        parts = (restrict(stmt, group) for group in _complete(self.groups, numbers(stmt)))
        return tuple(part for part in parts if part is not None)


def _complete(
    groups: tuple[tuple[int, ...], ...], inside: frozenset[int]
) -> tuple[frozenset[int], ...]:
    """Return the groups cut to the statements `inside` one nest, all of which they cover."""
    owner = {n: k for k, group in enumerate(groups) for n in group}
    parts: dict[int, set[int]] = {}
    current = -1
    for number in sorted(inside):
        current = owner.get(number, current)
        parts.setdefault(current, set()).add(number)
    return tuple(frozenset(p) for p in sorted(parts.values(), key=min))
