"""The transforms inside one thread: copies, what it holds, whole tiles apart, unrolling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from annotune.analysis.facts import Analysis
from annotune.decide.merged import decoding
from annotune.decide.movement import Through
from annotune.decide.partials import element_of
from annotune.decide.places import Places
from annotune.decide.plan import KernelChoice
from annotune.diagnostics import NOWHERE
from annotune.ir.expr import Var
from annotune.ir.nest import MemorySpace
from annotune.transforms.hold import Hold
from annotune.transforms.pad import Pad
from annotune.transforms.peel import Peel
from annotune.transforms.pipeline import Pipeline
from annotune.transforms.prefetch import Prefetch
from annotune.transforms.registers import Registers
from annotune.transforms.stage import Stage
from annotune.transforms.stream import Stream
from annotune.transforms.transform import Transform
from annotune.transforms.tree import find_assign
from annotune.transforms.unroll import Unroll
from annotune.transforms.value_type import region_types

_SPACES = {Through.SHARED: MemorySpace.SHARED, Through.REGISTERS: MemorySpace.DEALT}


def thread_level(
    choice: KernelChoice, analysis: Analysis, constants: Mapping[str, int], places: Places
) -> Iterable[Transform]:
    """Yield the transforms inside one thread: register copies, then unrolling."""
    for statement, loop in choice.registers:
        element = _element(analysis, statement)
        yield Registers(
            statement, loop, element, places.of("registers", statement), analysis.region.names
        )
    for block in choice.blocking:
        asked = (places.of(command, block.statement) for command in ("stage", "vectors"))
        span = next((one for one in asked if one != NOWHERE), NOWHERE)
        for copy in block.staged:
            yield Stage(
                block.statement,
                copy.array,
                copy.loop,
                copy.layout,
                analysis.region.arrays[copy.array].element,
                copy.space,
                constants,
                span,
                analysis.region.names,
                copy.width,
                copy.padding,
            )
        if block.pipelined is not None:
            ahead = block.pipelined
            yield Pipeline(
                block.statement,
                ahead.loop,
                ahead.stages,
                _SPACES[ahead.through],
                constants,
                places.of("pipeline", block.statement),
                analysis.region.names,
            )
        if block.ahead is not None:
            yield Prefetch(block.statement, block.ahead.loop, block.held, block.ahead.line)
        is_in_array = block.apart is not None and isinstance(block.apart.target, Var)
        if block.held and not is_in_array:
            yield Hold(
                block.statement,
                block.held,
                _element(analysis, block.statement),
                constants,
                places.of("hold", block.statement),
                analysis.region.names,
                block.from_zero,
            )
        if block.peeled:
            span, types = places.of("peel", block.statement), region_types(analysis.region)
            yield Peel(block.statement, block.peeled, constants, span, types)
        if block.padded:
            span = places.of("pad", block.statement)
            yield Pad(block.statement, block.padded, constants, span)
    sizes = analysis.region.sizes
    for statement, loop, factor in choice.unroll:
        span = places.of("unroll", statement)
        yield Unroll(statement, loop, factor, constants, sizes, span, region_types(analysis.region))
    if choice.movement.streamed:
        for statement in choice.statements:
            yield Stream(statement, places.of("stream", statement))
    yield from decoding(choice, places.of("merge", choice.leader))


def _element(analysis: Analysis, statement: int) -> str:
    """Return the C type of what a statement writes; a scalar is never copied."""
    target = find_assign(analysis.region.nest.body, statement).target
    return "double" if isinstance(target, Var) else element_of(analysis, target)
