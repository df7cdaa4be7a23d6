"""The transforms inside one thread: copies, what it holds, whole tiles apart, unrolling."""

from __future__ import annotations

from collections.abc import Iterable

from annotune.decide.merged import decoding
from annotune.decide.movement import Through
from annotune.decide.places import Places
from annotune.decide.plan import KernelChoice
from annotune.diagnostics import NOWHERE
from annotune.ir.expr import Var
from annotune.ir.nest import MemorySpace
from annotune.transforms.cache import Cache
from annotune.transforms.hold import Hold
from annotune.transforms.pad import Pad
from annotune.transforms.peel import Peel
from annotune.transforms.pipeline import Pipeline
from annotune.transforms.prefetch import Prefetch
from annotune.transforms.registers import Registers
from annotune.transforms.resident import Resident
from annotune.transforms.stage import Stage
from annotune.transforms.stream import Stream
from annotune.transforms.transform import Transform
from annotune.transforms.unroll import Unroll

_SPACES = {Through.SHARED: MemorySpace.SHARED, Through.REGISTERS: MemorySpace.DEALT}


def thread_level(choice: KernelChoice, places: Places) -> Iterable[Transform]:
    """Yield the transforms inside one thread: register copies, then unrolling."""
    for statement, loop in choice.registers:
        yield Registers(statement, loop, places.of("registers", statement))
    for block in choice.blocking:
        asked = (places.of(command, block.statement) for command in ("stage", "vectors"))
        span = next((one for one in asked if one != NOWHERE), NOWHERE)
        for copy in block.staged:
            yield Stage(
                block.statement,
                copy.array,
                copy.loop,
                copy.layout,
                copy.space,
                copy.width,
                copy.padding,
                span,
            )
        if block.pipelined is not None:
            ahead = block.pipelined
            span = places.of("pipeline", block.statement)
            yield Pipeline(block.statement, ahead.loop, ahead.stages, _SPACES[ahead.through], span)
        if block.ahead is not None:
            yield Prefetch(block.statement, block.ahead.loop, block.held, block.ahead.line)
        is_in_array = block.apart is not None and isinstance(block.apart.target, Var)
        if block.held and not is_in_array:
            span = places.of("hold", block.statement)
            yield Hold(block.statement, block.held, block.from_zero, span)
        if block.peeled:
            yield Peel(block.statement, block.peeled, places.of("peel", block.statement))
        if block.padded:
            yield Pad(block.statement, block.padded, places.of("pad", block.statement))
    for statement, loop, factor in choice.unroll:
        yield Unroll(statement, loop, factor, places.of("unroll", statement))
    if choice.movement.streamed:
        for statement in choice.statements:
            yield Stream(statement, places.of("stream", statement))
    if choice.movement.resident:
        span = places.of("resident", choice.leader)
        yield Resident(choice.leader, choice.movement.resident, span)
    yield from decoding(choice, places.of("merge", choice.leader))
    if choice.form is not None and choice.form.cached:
        yield Cache(choice.leader, choice.form.cached, places.of("acc", choice.leader))
