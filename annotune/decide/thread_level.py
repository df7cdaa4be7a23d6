"""The transforms inside one thread: copies, what it holds, whole tiles apart, unrolling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from annotune.decide.merged import decoding
from annotune.decide.places import Places
from annotune.decide.plan import KernelChoice
from annotune.diagnostics import NOWHERE
from annotune.transforms.cache import Cache
from annotune.transforms.language import words_of
from annotune.transforms.registers import Registers
from annotune.transforms.resident import Resident
from annotune.transforms.stage import Stage
from annotune.transforms.stream import Stream
from annotune.transforms.transform import Transform
from annotune.transforms.unroll import Unroll

# Commands that ask for a kind of step beside its own.
_ALSO: dict[type[Transform], tuple[str, ...]] = {Stage: ("vectors",)}


def at_places(steps: Iterable[Transform], places: Places) -> Iterable[Transform]:
    """Yield steps, each at the place of the command that asks for it, if one does."""
    for step in steps:
        words = (*(word.name for word in words_of(type(step))), *_ALSO.get(type(step), ()))
        spans = (places.of(word, step.statement) for word in words)
        span = next((span for span in spans if span != NOWHERE), NOWHERE)
        yield step if span == NOWHERE else replace(step, span=span)  # type: ignore[type-var]


def thread_level(choice: KernelChoice, places: Places) -> Iterable[Transform]:
    """Yield the transforms inside one thread: register copies, then unrolling."""
    for statement, loop in choice.registers:
        yield Registers(statement, loop, places.of("registers", statement))
    yield from at_places((step for step in choice.steps if step.is_inner), places)
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
