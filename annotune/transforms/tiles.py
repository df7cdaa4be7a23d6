"""The loop over one tile: where it starts, how long a full tile is, and where it may be cut.

The loop that cutting another one makes, around it: over its tiles, or over its workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.diagnostics import Diagnostic, Span
from annotune.ir.expr import Binary, Call, Expr, Int, Var
from annotune.ir.fold import fold
from annotune.ir.nest import Loop
from annotune.transforms.legality import missing
from annotune.transforms.messages import FACTOR_TOO_SMALL, NAME_TAKEN
from annotune.transforms.transform import Context
from annotune.transforms.tree import Body


def full_end(loop: Loop) -> Expr:
    """Return the end of a loop; of one that may be cut short, that of a full tile."""
    match loop.upper:
        case Call("min", (full, _)):
            return full
        case upper:
            return upper


def cut_end(loop: Loop) -> Expr | None:
    """Return the bound that may cut a tile short, None where there is none."""
    match loop.upper:
        case Call("min", (_, end)):
            return end
        case _:
            return None


def cut_ends(loop: Loop) -> tuple[Expr, ...]:
    """Return all bounds that may cut a tile short, the least of which does."""
    found: list[Expr] = []
    end = cut_end(loop)
    while end is not None:
        match end:
            case Call("min", (first, rest)):
                found.append(first)
                end = rest
            case _:
                found.append(end)
                end = None
    return tuple(found)


def full_length(loop: Loop, constants: Mapping[str, int]) -> int | None:
    """Return the most iterations of a loop, None where it is not known."""
    for end in (full_end(loop), *cut_ends(loop)):
        distance = fold(Binary("-", end, loop.lower), constants)
        if isinstance(distance, Int) and distance.value > 0:
            return -(-distance.value // loop.step)
    return None


def turn(loop: Loop) -> Expr:
    """Return how many iterations of a loop come before this one."""
    distance = Binary("-", Var(loop.var), loop.lower)
    return fold(distance if loop.step == 1 else Binary("/", distance, Int(loop.step)))


@dataclass(frozen=True, slots=True)
class NewLoop:
    """What a `command` puts around a loop: a loop over `what`, which has its name and a suffix.

    `usual` are numbers that one may ask for.
    """

    command: str
    what: str
    suffix: str
    usual: str

    def name(self, loop: str) -> str:
        """Return the name of the new loop around `loop`."""
        return loop + self.suffix

    def is_taken(self, loop: str, analysis: Analysis) -> bool:
        """Return whether the region has something of the name that the new loop needs."""
        return self.name(loop) in analysis.region.names

    def why_not(
        self, body: Body, context: Context, statement: int, loop: str, count: int, span: Span
    ) -> Diagnostic | None:
        """Return why no such loop can be there, whatever `loop` is like, or None."""
        if absent := missing(body, statement, (loop,), span):
            return absent
        if count < 1:
            return FACTOR_TOO_SMALL.at(
                span, command=self.command, factor=count, loop=loop, factors=self.usual
            )
        if self.is_taken(loop, context.analysis):
            return NAME_TAKEN.at(
                span, command=self.command, what=self.what, loop=loop, name=self.name(loop)
            )
        return None
