"""A variant as a recipe that says all of it, and such a recipe as a variant.

What stands after ``target("cuda")`` is a whole schedule: the rules have no say. `exact_recipe`
writes it, `listing_of` reads it, and the text that a target prints is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from annotune.analysis.facts import Analysis
from annotune.annotation.commands import (
    TARGET,
    before_targets,
    parse_recipe,
    with_tile_names,
    wrong_kind,
)
from annotune.annotation.devices import Device
from annotune.annotation.flags import code_flags_at
from annotune.annotation.grammar import Origin
from annotune.annotation.messages import did_you_mean
from annotune.annotation.spec import Argument, Command, Value
from annotune.codegen.several_sizes import call_sizes, combined, sizes_text
from annotune.codegen.target import Target, target_names
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frozen import dataclass
from annotune.schedule.apply import apply
from annotune.schedule.plan import Plan
from annotune.space.decision import Base
from annotune.space.space import Space
from annotune.space.variants import Listing, Variant, has_general, serves_all
from annotune.transforms.language import ForTarget, OtherSizes, Serves, read, text
from annotune.transforms.messages import NO_SUCH_TARGET, NOT_OF_TARGET, TARGET_TWICE
from annotune.transforms.tile import tile_name
from annotune.transforms.transform import Context, Schedule, Transform


def exact_recipe(target: str, variant: Variant) -> str:
    """Return the recipe that makes a variant again, without anything left to the rules."""
    lines: list[str] = []
    for one in variant.by_size:
        # What wins at one of several sizes need not even be legal at the others.
        is_apart = variant.others or one.analysis.region.varied
        sizes = sizes_text(call_sizes(one.analysis)) if is_apart else ""
        lines += _lines(ForTarget(target, sizes), one.tuned)
        if one.general is not None and one.general.schedule != one.tuned.schedule:
            lines += _lines(OtherSizes(), one.general)
        if one.partly is not None:
            lines += _lines(OtherSizes(Serves.LISTED), one.partly)
    return "\n".join(lines) + "\n"


def _lines(head: object, plan: Plan) -> Iterator[str]:
    return map(text, (head, *plan.schedule))


@dataclass(frozen=True)
class Section:
    """What a recipe says of one target at one of the problem sizes, at all where it names none.

    `parts` are the commands for the sizes that they serve. Those that are not tuned have the same
    where they have no part; the listed ones then have none. One that `is_borrowing` has those
    for sizes that are not tuned from another one.
    """

    head: ForTarget
    parts: Mapping[Serves, tuple[Command, ...]]
    is_borrowing: bool = False

    @property
    def sizes(self) -> str:
        """Return the problem sizes in the order of their names."""
        return _in_order(self.head.sizes)

    @property
    def others(self) -> tuple[Command, ...]:
        """Return the commands for sizes that are not tuned."""
        return self.parts.get(Serves.OTHERS, self.parts[Serves.TUNED])


def sections(commands: Sequence[Command], target: str) -> tuple[Section, ...]:
    """Return what a recipe says of a target, for one problem size after another.

    Raises:
        AnnotuneError: It names a target that is not there, or one twice, or sizes that are none.
    """
    found: dict[tuple[str, str], dict[Serves, tuple[Command, ...]]] = {}
    out: list[Section] = []
    serves = Serves.TUNED
    for command in commands[len(before_targets(commands)) :]:
        head = next(read(command, {})) if command.name in _HEADS else None
        if isinstance(head, ForTarget):
            _check_head(command, head)
            serves, key = Serves.TUNED, (head.name, _in_order(head.sizes))
            if key in found:
                raise AnnotuneError.of(TARGET_TWICE.at(head.span, name=head.name))
            found[key] = {serves: ()}
            out.append(Section(head, found[key]))
        elif isinstance(head, OtherSizes):
            serves = head.sizes
            found[key].setdefault(serves, ())
        else:
            found[key][serves] += (command,)
    return tuple(section for section in out if section.head.name == target)


def targets_said(commands: Sequence[Command]) -> Mapping[str, None]:
    """Return the names of the targets of which a recipe says all.

    Raises:
        AnnotuneError: As `sections` does.
    """
    return {name: None for name in target_names() if sections(commands, name)}


_HEADS = (TARGET, OtherSizes.word.name)


def _check_head(command: Command, head: ForTarget) -> None:
    if head.name not in target_names():
        hint = did_you_mean(head.name, target_names())
        raise AnnotuneError.of(NO_SUCH_TARGET.at(head.span, name=head.name, hint=hint))
    if head.sizes and not _in_order(head.sizes):
        given = Argument(head.sizes, span=head.span)
        raise wrong_kind(command, "sizes", given, 'sizes such as "n=8, m=4"')


def _in_order(sizes: str) -> str:
    """Return sizes such as ``m=4,n=8`` in the order of their names, empty for what is none."""
    pairs = [part.split("=") for part in sizes.split(",") if part.strip()]
    if not all(len(pair) == 2 and pair[1].strip().lstrip("-").isdigit() for pair in pairs):
        return ""
    return sizes_text({name.strip(): int(value) for name, value in sorted(pairs)})


def listing_of(
    target: Target,
    base: Base,
    space: Space,
    device: Device,
    limit: int,
    first_alone: bool = False,
) -> Listing:
    """Return the points among which a search of a target chooses, the first choice first.

    They are the recipe's own where it says all that is done for the target: a point for each
    value of its parameters. With `first_alone` no others are ranked where that takes long.

    Raises:
        AnnotuneError: The first choice is illegal, as only a recipe can make it; or what the user
            says of the axes leaves no point.
    """
    commands = base.analysis.region.spec.commands
    section = _own_section(commands, base.analysis, target.name)
    if section is None:
        own = target.points(base, space, device)
        return own.first_alone(limit) if first_alone else own.listing(limit)
    points = space.params[:limit]
    recipe = _Recipe(target, base.analysis, section)
    first = recipe.variant(points[0])
    configs = tuple(map(_shown, points))

    def make(number: int) -> Variant:
        return first if number == 0 else recipe.variant(points[number])

    times = (None,) * len(points)
    return Listing(configs, times, make).of(len(space.params), len(space.params))


def variant_of(
    target: Target,
    recipe: str,
    origin: Origin,
    at_sizes: Sequence[tuple[Analysis, Mapping[str, Value]]],
) -> Variant | None:
    """Return the variant that `exact_recipe` wrote as `recipe`, which stands at `origin`.

    It is of the region whose analyses, at each of its problem sizes, stand in `at_sizes` with what
    the parameters of the annotation are there: flags depend on them. None for the recipe of a
    region that has other sizes.

    Raises:
        AnnotuneError: It is no recipe, or a step is illegal.
    """
    commands = parse_recipe(recipe, origin).commands
    found: list[Variant] = []
    for wanted in sections(commands, target.name):
        for analysis, point in at_sizes:
            own = _own_section(commands, analysis, target.name)
            if own is not None and own.head == wanted.head:
                found.append(_Recipe(target, analysis, own).variant(point))
                break
        else:
            return None
    return combined(found) if found else None


def first_variant(target: Target, base: Base, space: Space, device: Device) -> Variant:
    """Return a target's first choice for a region; it raises as `listing_of` does."""
    return listing_of(target, base, space, device, 1).variant(0)


def _own_section(commands: Sequence[Command], analysis: Analysis, target: str) -> Section | None:
    """Return the section for a target at the region's sizes, None where there is none.

    Only the first of several sizes serves all others.
    """
    found = sections(commands, target)
    own = _in_order(sizes_text(call_sizes(analysis)))
    section = next((one for one in found if one.sizes in ("", own)), None)
    if section is not None and section is not found[0]:
        parts = {**section.parts, Serves.OTHERS: found[0].others}
        return replace(section, parts=parts, is_borrowing=True)
    return section


def _shown(point: Mapping[str, Value]) -> dict[str, str | int]:
    """Return the values of parameters for tables and results."""
    return {k: v if isinstance(v, int | str) else str(v) for k, v in point.items()}


@dataclass(frozen=True)
class _Recipe:
    """A section of a recipe, which makes a variant at each point of the parameters."""

    target: Target
    analysis: Analysis
    section: Section

    def variant(self, point: Mapping[str, Value]) -> Variant:
        """Return the variant at a point.

        Raises:
            AnnotuneError: A step is illegal, or none for the target.
        """
        region, parts = self.analysis.region, self.section.parts
        is_general = has_general(self.analysis)
        sizes = region.tuned_constants if is_general else region.sizes
        tuned = self._plan(parts[Serves.TUNED], point, sizes, is_whole=is_general)
        general = partly = None
        if is_general and not serves_all(tuned, region):
            passed = region.called_sizes
            general = self._general(point)
            if Serves.LISTED in parts:
                listed = {name: region.sizes[name] for name in region.varied if name in passed}
                partly = self._plan(parts[Serves.LISTED], point, {**region.constants, **listed})
        flags = code_flags_at(region.spec, point)
        return Variant(self.analysis, tuned, general, _shown(point), flags=flags, partly=partly)

    def _general(self, point: Mapping[str, Value]) -> Plan | None:
        """Return the plan for all other sizes, None where the commands are another size's.

        Those may be illegal here, such as factors that divide the trips of that one alone.
        """
        try:
            return self._plan(self.section.others, point, self.analysis.region.constants)
        except AnnotuneError:
            if not self.section.is_borrowing:
                raise
            return None

    def _plan(
        self,
        commands: Sequence[Command],
        point: Mapping[str, Value],
        sizes: Mapping[str, int],
        is_whole: bool = False,
    ) -> Plan:
        schedule = self._schedule(commands, point)
        plan = apply(schedule, Context(self.analysis, sizes, is_whole))
        if isinstance(plan, Diagnostic):
            raise AnnotuneError.of(plan)
        return plan

    def _schedule(self, commands: Sequence[Command], point: Mapping[str, Value]) -> Schedule:
        named = tuple(with_tile_names(commands, tile_name))
        steps: list[Transform] = []
        wrong: list[Diagnostic] = []
        for command in named:
            for step in read(command, point):
                own = cast(Transform, step)
                if self.target.vocabulary.prints(own):
                    steps.append(own)
                else:
                    target = self.target.name
                    wrong.append(NOT_OF_TARGET.at(command.span, name=command.name, target=target))
        if wrong:
            raise AnnotuneError.of(*wrong)
        return tuple(steps)
