"""What a recipe copies, holds in registers, pads and peels, as a part of a kernel's choice."""

from __future__ import annotations

from dataclasses import replace

from annotune.decide.asked import Asked
from annotune.decide.messages import NO_CONTRACTION
from annotune.decide.plan import Blocking, KernelChoice, Staging
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
from annotune.transforms.tile import Tile

COPYING = (Stage, Hold, Pad, Peel)


def copying_of(unit: Unit, asked: Asked) -> tuple[Blocking, ...]:
    """Return what the recipe copies, holds, pads and peels in the statements of a unit."""
    held, padded = asked.by_statement(Hold), asked.by_statement(Pad)
    peeled, staged = asked.by_statement(Peel), asked.by_statement(Stage)
    named = {*held, *padded, *peeled, *staged}
    return tuple(
        Blocking(
            s,
            held=held[s].loop if s in held else "",
            staged=tuple(map(_staging, asked.of(Stage, (s,)))),
            padded=padded[s].loops if s in padded else (),
            peeled=peeled[s].loops if s in peeled else (),
        )
        for s in unit.statements
        if s in named
    )


def _staging(copy: Stage) -> Staging:
    return Staging(
        copy.array, copy.loop, copy.layout, copy.space, width=copy.width, padding=copy.padding
    )


def refuse_beside(unit: Unit, copying: tuple[Blocking, ...], asked: Asked) -> None:
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
    if any(block != Blocking(block.statement, peeled=block.peeled) for block in copying):
        statement = asked.of(Contract, unit.statements)[0].statement
        place = asked.places.of("contract", statement)
        why = "it has its own copies, block of registers and padding"
        raise AnnotuneError.of(NO_CONTRACTION.at(place, statement=statement, reason=why))


def peeled_as_wished(choice: KernelChoice, copying: tuple[Blocking, ...]) -> KernelChoice:
    """Return the tile of a contraction, at other sizes too, with whole tiles apart as asked."""
    asked = {block.statement: block.peeled for block in copying}
    blocking = tuple(
        replace(block, peeled=asked.get(block.statement, block.peeled)) for block in choice.blocking
    )
    general = choice.elsewhere
    elsewhere = None if general is None else peeled_as_wished(general, copying)
    return replace(choice, blocking=blocking, elsewhere=elsewhere)


def with_copies(choice: KernelChoice, copying: tuple[Blocking, ...]) -> KernelChoice:
    """Return `choice` with copies; the threads that fill them come to their barriers together."""
    if any(c.space is MemorySpace.SHARED for block in copying for c in block.staged):
        cut = tuple(loop for loop, _ in choice.tiles if loop in choice.threads)
        first = copying[0]
        padded = tuple(dict.fromkeys((*first.padded, *cut)))
        copying = (replace(first, padded=padded), *copying[1:])
    return replace(choice, blocking=copying)
