"""What a recipe copies, holds in registers, pads and peels, as a part of a kernel's choice."""

from __future__ import annotations

from dataclasses import replace

from annotune.decide.messages import NO_CONTRACTION
from annotune.decide.plan import Blocking, KernelChoice
from annotune.decide.units import Unit
from annotune.decide.wishes import Wishes
from annotune.diagnostics import AnnotuneError
from annotune.ir.nest import MemorySpace


def copying_of(unit: Unit, wishes: Wishes) -> tuple[Blocking, ...]:
    """Return what the recipe copies, holds, pads and peels in the statements of a unit."""
    named = {*wishes.staged, *wishes.held, *wishes.padded, *wishes.peeled}
    return tuple(
        Blocking(
            s,
            held=wishes.held.get(s, ""),
            staged=wishes.staged.get(s, ()),
            padded=wishes.padded.get(s, ()),
            peeled=wishes.peeled.get(s, ()),
        )
        for s in unit.statements
        if s in named
    )


def refuse_beside(unit: Unit, copying: tuple[Blocking, ...], wishes: Wishes) -> None:
    """Refuse what a recipe asks for beside the tile of a contraction, which decides it itself.

    Raises:
        AnnotuneError: There is any of it; at the first such command.
    """
    for command, asked in (
        ("cuda", wishes.cuda),
        ("permute", wishes.order),
        ("tile", wishes.tiles),
        ("deal", wishes.deals),
        ("registers", wishes.registers),
    ):
        for statement in unit.statements:
            if statement in asked:
                why = f"'{command}' is asked for beside it, which it decides itself"
                place = wishes.places.of(command, statement)
                raise AnnotuneError.of(NO_CONTRACTION.at(place, statement=statement, reason=why))
    if any(block != Blocking(block.statement, peeled=block.peeled) for block in copying):
        statement = next(s for s in unit.statements if s in wishes.contract)
        place = wishes.places.of("contract", statement)
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
