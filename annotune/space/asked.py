"""What a recipe asks at one point of its parameters: transforms, which the rules complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotune import plugins
from annotune.annotation.commands import statements, with_tile_names
from annotune.annotation.messages import nearest
from annotune.annotation.spec import Command, Value
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.ir.expr import accesses
from annotune.ir.nest import walk_paths
from annotune.schedule.apply import Places
from annotune.schedule.candidate import MOVES, Move, Moves
from annotune.schedule.launch_sizes import MAX_AXES, WARP
from annotune.schedule.messages import ACC_SIZES, NO_SUCH_ARRAY
from annotune.strategies.acc_levels import GANG_LIMIT
from annotune.transforms.language import Step, exact_part, loops_of, read
from annotune.transforms.legality import missing
from annotune.transforms.map import Map
from annotune.transforms.merge import Merge, merged_name
from annotune.transforms.messages import ALREADY_PLACED, TOO_MANY_LOOPS
from annotune.transforms.stage import Stage
from annotune.transforms.steps import T, of_kind, statement_of
from annotune.transforms.tile import Deal, Tile, deal_name, tile_name
from annotune.transforms.tree import Body


@dataclass(frozen=True)
class Asked:
    """The steps that a recipe names, in its order; what is absent is for the rules.

    `places` are where the commands stand.
    """

    steps: tuple[Step, ...] = ()
    places: Places = Places({})  # noqa: RUF009  (a frozen value without any place)

    def of(self, kind: type[T], among: Sequence[int] | None = None) -> tuple[T, ...]:
        """Return the steps of a kind, those on some statements alone if these are given."""
        return of_kind(self.steps, kind, among)

    def foreign(self, among: Sequence[int]) -> tuple[Any, ...]:
        """Return the steps on some statements that other packages bring."""
        kinds = tuple(plugins.loaded(plugins.TRANSFORMS).values())
        return of_kind(self.steps, kinds, among) if kinds else ()  # type: ignore[arg-type]

    def by_statement(self, kind: type[T], command: str = "") -> dict[int, T]:
        """Return the last step of a kind on each statement; for mappings by their command."""
        found = self.of(kind)
        return {
            statement_of(step): step
            for step in found
            if not command or getattr(step, "command", "") == command
        }

    def without(self, kind: type[Any]) -> Asked:
        """Return what is asked beside the steps of a kind."""
        return Asked(tuple(s for s in self.steps if not isinstance(s, kind)), self.places)

    @cached_property
    def moves(self) -> Mapping[int, Moves]:
        """Return what is said of how the data of a kernel move, by statement."""
        found: dict[int, list[Move]] = {}
        for step in self.steps:
            if isinstance(step, MOVES):
                found.setdefault(step.statement, []).append(step)
        return {statement: tuple(known) for statement, known in found.items()}


def read_asked(commands: Sequence[Command], point: Mapping[str, Value], body: Body) -> Asked:
    """Return the recipe at `point`, each statement and loop of which `body` must have.

    Raises:
        AnnotuneError: A command names no such statement or loop; all of them are reported.
    """
    spans: dict[tuple[str, int], Span] = {}
    mistakes: list[Diagnostic] = []
    known = tuple(with_tile_names(commands, tile_name))
    found = [(command, tuple(read(command, point))) for command in known]
    made = _made_names(step for _, steps in found for step in steps)
    for command, steps in found:
        numbers = statements(command)
        for number in numbers:
            spans.setdefault((command.name, number), command.span)
        exact = exact_part(command)
        mistakes += [] if exact is None else [exact]
        mistakes += (wrong for step in steps for wrong in _mistakes(command, step, body))
        named = tuple(name for step in steps for name in loops_of(step) if name not in made)
        for number in numbers:
            wrong = missing(body, number, named, command.span)
            if wrong is not None:
                mistakes.append(wrong)
                break
    if mistakes:
        raise AnnotuneError.of(*mistakes)
    return Asked(tuple(step for _, steps in found for step in steps), Places(spans))


def _made_names(steps: Iterator[Step]) -> frozenset[str]:
    """Return the loops that steps make; a printed recipe has its tiles after the order of them."""
    made: set[str] = set()
    for step in steps:
        match step:
            case Tile(loop=loop):
                made.add(tile_name(loop))
            case Deal(loop=loop):
                made.add(deal_name(loop))
            case Merge(loops=loops):
                made |= {merged_name(loops), tile_name(merged_name(loops))}
    return frozenset(made)


def _mistakes(command: Command, step: Step, body: Body) -> Iterator[Diagnostic]:
    """Yield what is wrong with a step at this point; the parser has seen no parameters."""
    if isinstance(step, Stage):
        yield from _unknown_array(command, step, body)
    if not isinstance(step, Map):
        return
    length, workers = step.vector_length or WARP, step.num_workers or 1
    if length % WARP or length * workers > GANG_LIMIT:
        sizes = {"length": length, "workers": workers, "warp": WARP, "limit": GANG_LIMIT}
        yield ACC_SIZES.at(command.span, **sizes)
    names = step.names
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        yield ALREADY_PLACED.at(command.span, command=command.name, loop=twice)
    count = len(step.on("thread"))
    if count > MAX_AXES:
        yield TOO_MANY_LOOPS.at(
            command.span, command="cuda", count=count, what="thread", limit=MAX_AXES
        )


def _unknown_array(command: Command, copy: Stage, body: Body) -> Iterator[Diagnostic]:
    """Yield what is wrong with the array that ``stage`` names."""
    assigns = [assign for assign, _ in walk_paths(body) if assign.number == copy.statement]
    known = sorted({a.array for s in assigns for e in s.sources() for a in accesses(e)})
    if assigns and copy.array not in known:
        yield NO_SUCH_ARRAY.at(
            command.span,
            statement=copy.statement,
            array=copy.array,
            hint=nearest(copy.array, known),
            known=", ".join(known) or "none",
        )
