"""What a recipe copies, holds in registers, pads and peels, as a part of a kernel's choice."""

from __future__ import annotations

from dataclasses import replace

from annotune.decide.asked import Asked
from annotune.decide.messages import NO_CONTRACTION
from annotune.decide.plan import Candidate
from annotune.decide.units import Unit
from annotune.diagnostics import AnnotuneError
from annotune.ir.nest import MemorySpace
from annotune.transforms.deal import Deal
from annotune.transforms.hold import Hold
from annotune.transforms.map import Map
from annotune.transforms.pad import Pad
from annotune.transforms.peel import Peel
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Registers
from annotune.transforms.requests import Contract
from annotune.transforms.stage import Stage
from annotune.transforms.steps import in_order, of_kind
from annotune.transforms.tile import Tile
from annotune.transforms.transform import Schedule, Transform

COPYING = (Stage, Hold, Pad, Peel)


def copying_of(unit: Unit, asked: Asked) -> Schedule:
    """Return what the recipe copies, holds, pads and peels in the statements of a unit."""
    own = unit.statements
    last: list[Transform] = [
        *asked.by_statement(Hold).values(),
        *asked.by_statement(Peel).values(),
        *asked.by_statement(Pad).values(),
    ]
    found = (*asked.of(Stage, own), *(step for step in last if step.statement in own))
    return in_order(sorted(found, key=lambda step: step.statement))


def refuse_beside(unit: Unit, copying: Schedule, asked: Asked) -> None:
    """Refuse what a recipe asks for beside the tile of a contraction, which decides it itself.

    Raises:
        AnnotuneError: There is any of it; at the first such command.
    """
    for command, beside in (
        ("cuda", asked.by_statement(Map, "cuda")),
        ("permute", asked.by_statement(Permute)),
        ("tile", asked.by_statement(Tile)),
        ("deal", asked.by_statement(Deal)),
        ("registers", asked.by_statement(Registers)),
    ):
        for statement in unit.statements:
            if statement in beside:
                why = f"'{command}' is asked for beside it, which it decides itself"
                place = asked.places.of(command, statement)
                raise AnnotuneError.of(NO_CONTRACTION.at(place, statement=statement, reason=why))
    if not all(isinstance(step, Peel) for step in copying):
        statement = asked.of(Contract, unit.statements)[0].statement
        place = asked.places.of("contract", statement)
        why = "it has its own copies, block of registers and padding"
        raise AnnotuneError.of(NO_CONTRACTION.at(place, statement=statement, reason=why))


def peeled_as_wished(choice: Candidate, copying: Schedule) -> Candidate:
    """Return the tile of a contraction, at other sizes too, with whole tiles apart as asked."""
    if not copying:
        return choice
    asked = {step.statement for step in copying}
    kept = (s for s in choice.of(Peel) if s.statement not in asked)
    # What is peeled elsewhere than at the tile's own statement is for nothing.
    own = {step.statement for step in choice.of(Pad)}
    found = (step for step in copying if step.statement in own)
    general = choice.elsewhere
    elsewhere = None if general is None else peeled_as_wished(general, copying)
    return replace(choice.having(*kept, *found, without=(Peel,)), elsewhere=elsewhere)


def with_copies(choice: Candidate, copying: Schedule) -> Candidate:
    """Return `choice` with copies; the threads that fill them come to their barriers together."""
    if any(copy.space is MemorySpace.SHARED for copy in of_kind(copying, Stage)):
        cut = tuple(loop for loop, _ in choice.tiles if loop in choice.threads)
        first = copying[0].statement
        asked = next(iter(of_kind(copying, Pad, (first,))), Pad(first, ()))
        loops = tuple(dict.fromkeys((*asked.loops, *cut)))
        others = (step for step in copying if step is not asked)
        copying = in_order((*others, replace(asked, loops=loops))) if loops else copying
    return choice.having(*copying, without=COPYING)
