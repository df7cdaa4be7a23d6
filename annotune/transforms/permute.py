"""Permute the loops of a perfect nest."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.transforms.legality import changed_nest, missing, order_refusal
from annotune.transforms.messages import BOUND_DEPENDS, NOT_A_PERMUTATION, NOT_ONE_BAND
from annotune.transforms.transform import (
    NESTS,
    THESIS,
    AskedOn,
    Context,
    PhaseRank,
    Shaping,
    StepPhase,
    Word,
    takes,
)
from annotune.transforms.tree import Body, band_with, bound_names, nest_loops, path, replace_loop


@dataclass(frozen=True, slots=True)
class Permute(Shaping):
    """Put loops of the perfect nest around `statement` in a new order, outermost first.

    ``Permute(0, ("j", "i"))``: ``for i: for j: S0`` becomes ``for j: for i: S0``. Loops of
    the nest that `order` leaves out keep their depth.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING, 3)
    asked_on: ClassVar[AskedOn] = AskedOn.NEST
    word: ClassVar[Word] = Word(
        "permute",
        "put the statement's loops in this order, outermost first",
        'permute(0, ("j","i"))',
        THESIS,
    )
    order: tuple[str, ...] = takes(Kind.LOOPS)

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether tiles make loops of it, or steps change which nests there are."""
        return NESTS in awaited or any(name in awaited for name in self.order)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason this order is illegal, or None when it is legal."""
        if absent := missing(body, self.statement, self.order, self.span):
            return absent
        loops = ", ".join(loop.var for loop in path(body, self.statement))
        if len(set(self.order)) != len(self.order):
            return NOT_A_PERMUTATION.at(self.span, order=", ".join(self.order), loops=loops)
        band = band_with(body, self.statement, self.order)
        if band is None:
            return NOT_ONE_BAND.at(
                self.span,
                command="permute",
                loops=", ".join(self.order),
                statement=self.statement,
            )
        outside: set[str] = {loop.var for loop in band}
        by_name = {loop.var: loop for loop in band}
        for name in _new_order(tuple(by_name), self.order):
            outside.discard(name)
            late = bound_names(by_name[name]) & outside
            if late:
                return BOUND_DEPENDS.at(self.span, command="permute", inner=name, outer=min(late))
        return order_refusal(
            "permute",
            changed_nest(body, self.apply(body, context), self.statement, context),
            context,
            self.span,
            f"the text's order is ({loops})",
        )

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loops in their new order, which `why_not` has accepted."""
        band = band_with(body, self.statement, self.order)
        assert band is not None
        by_name = {loop.var: loop for loop in band}
        order = _new_order(tuple(by_name), self.order)
        renewed = nest_loops((by_name[name] for name in order), band[-1].body)
        return replace_loop(body, band[0], renewed)


def _new_order(old: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return `old` with the names in `wanted` put, in that order, at the places they held."""
    names = iter(wanted)
    return tuple(next(names) if name in wanted else name for name in old)
