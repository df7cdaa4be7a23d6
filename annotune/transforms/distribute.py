"""Distribute loops over groups of statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from annotune.analysis.facts import Analysis
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.transforms.legality import missing, order_refusal
from annotune.transforms.tree import Body, numbers, restrict


@dataclass(frozen=True, slots=True)
class Distribute:
    """Give each group of statements its own copy of the loops around it.

    ``Distribute(((0,), (1,)))``: ``for i: S0; S1`` becomes ``for i: S0`` then ``for i: S1``.
    A statement that no group names stays with the group before it.
    """

    groups: tuple[tuple[int, ...], ...]
    span: Span = field(default=NOWHERE, compare=False)

    def why_not(self, body: Body, analysis: Analysis) -> Diagnostic | None:
        """Return the reason the groups may not be taken apart, or None when they may."""
        for statement in (n for group in self.groups for n in group):
            absent = missing(body, statement, (), self.span)
            if absent is not None:
                return absent
        return order_refusal(
            "distribute",
            self.apply(body),
            analysis,
            self.span,
            "leave the two statements in one nest",
        )

    def apply(self, body: Body) -> Body:
        """Return `body` with one nest per group, in the order of their first statements."""
        result: Body = ()
        for stmt in body:
            for group in _complete(self.groups, numbers(stmt)):
                part = restrict(stmt, group)
                assert part is not None
                result = (*result, part)
        return result


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
