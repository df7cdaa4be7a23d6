"""One point of the space becomes the choices for every kernel of a region.

What a recipe asks at the point comes first, transforms all of them; the point's own steps follow,
and the rules complete both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import gcd
from typing import Any, TypeVar

from annotune.analysis.facts import Analysis
from annotune.annotation.commands import before_targets, statements, with_tile_names
from annotune.annotation.spec import Command, Value
from annotune.diagnostics import NOWHERE, AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.expr import variables
from annotune.ir.nest import Level, MemorySpace
from annotune.schedule.apply import Places, base_body
from annotune.schedule.candidate import Candidate, Moves, Reason
from annotune.schedule.launch_sizes import MAX_AXES
from annotune.schedule.messages import (
    APART_AND_FUSED,
    FUSED_DIFFERENTLY,
    NO_CONTRACTION,
    NOT_FUSIBLE,
)
from annotune.schedule.units import (
    Unit,
    as_merged,
    atomic_groups,
    fusible,
    join,
    launched,
    refused_merges,
    with_merged,
)
from annotune.strategies import elements
from annotune.strategies.accumulate import by_lanes, gathered, pays
from annotune.strategies.direct import choose, fuse_by_footprint, serial_order, thread_level
from annotune.strategies.gpu_tile import general_tile, wished
from annotune.strategies.hints import HINTS
from annotune.strategies.joined import joined_elements
from annotune.strategies.movements import as_wished
from annotune.strategies.registry import ACCUMULATE, AUTO, ELEMENTS, why_not
from annotune.transforms.cache import Aligned, Resident
from annotune.transforms.distribute import Distribute, Fuse
from annotune.transforms.language import (
    Contract,
    Step,
    T,
    exact_part,
    in_order,
    loops_of,
    of_kind,
    read,
    statement_of,
    written,
)
from annotune.transforms.legality import missing
from annotune.transforms.map import Map, Team
from annotune.transforms.merge import Merge
from annotune.transforms.messages import NOT_SPREAD
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold, Registers, TensorCores
from annotune.transforms.spread import Spread
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Cyclic, Tile, tile_name, worker_name
from annotune.transforms.tile_ends import Pad, Peel
from annotune.transforms.transform import (
    Context,
    Copying,
    Moving,
    OnStatement,
    PhaseRank,
    Schedule,
    Shaping,
    Sharing,
    Transform,
)
from annotune.transforms.tree import Body, path
from annotune.transforms.unroll import Unroll


@dataclass(frozen=True)
class RecipeSteps:
    """The steps that a recipe names, in its order; what is absent is for the rules.

    `places` are where the commands stand.
    """

    steps: tuple[Step, ...] = ()
    places: Places = Places({})

    def of(self, kind: type[T], among: Sequence[int] | None = None) -> tuple[T, ...]:
        """Return the steps of a kind, those on some statements alone if these are given."""
        return of_kind(self.steps, kind, among)

    def as_given(self, among: Sequence[int]) -> tuple[Any, ...]:
        """Return the steps on some statements of which the rules decide nothing."""
        every: tuple[Any, ...] = self.steps
        return tuple(s for s in every if not s.is_decided and s.statement in among)

    def by_statement(self, kind: type[T]) -> dict[int, T]:
        """Return the last step of a kind on each statement."""
        return {statement_of(step): step for step in self.of(kind)}

    def mapped(self, command: str) -> dict[int, Map]:
        """Return the last mapping by a command on each statement."""
        return {step.statement: step for step in self.of(Map) if step.command == command}

    def settles_loops(self, among: Sequence[int]) -> bool:
        """Return whether loops of some statements are mapped, merged or tiled as a whole."""
        own = {*self.mapped("cuda"), *self.by_statement(Contract), *self.by_statement(Merge)}
        return not own.isdisjoint(among)

    @property
    def unrolled(self) -> frozenset[int]:
        """Return the statements of which a loop is unrolled."""
        return frozenset(step.statement for step in self.of(Unroll))

    def without(self, kind: type[Any]) -> RecipeSteps:
        """Return what is asked beside the steps of a kind."""
        return RecipeSteps(tuple(s for s in self.steps if not isinstance(s, kind)), self.places)

    @cached_property
    def moves(self) -> Mapping[int, Moves]:
        """Return what is said of how the data of a kernel move, by statement."""
        found: dict[int, list[Moving]] = {}
        for step in self.steps:
            if isinstance(step, Moving):
                found.setdefault(step.statement, []).append(step)
        return {statement: tuple(known) for statement, known in found.items()}


def read_asked(commands: Sequence[Command], point: Mapping[str, Value], body: Body) -> RecipeSteps:
    """Return the recipe at `point`, each statement and loop of which `body` must have.

    Raises:
        AnnotuneError: A command names no such statement or loop; all of them are reported.
    """
    spans: dict[tuple[str, int], Span] = {}
    mistakes: list[Diagnostic] = []
    known = tuple(with_tile_names(commands, tile_name))
    found = [(command, tuple(read(command, point))) for command in known]
    # A printed recipe has its tiles after the order of them.
    made = {name for _, steps in found for step in steps for name in step.made_loops}
    for command, steps in found:
        numbers = statements(command)
        for number in numbers:
            spans.setdefault((command.name, number), command.span)
        exact = exact_part(command)
        mistakes += [] if exact is None else [exact]
        mistakes += (wrong for step in steps for wrong in step.mistakes(body))
        named = tuple(name for step in steps for name in loops_of(step) if name not in made)
        for number in numbers:
            wrong = missing(body, number, named, command.span)
            if wrong is not None:
                mistakes.append(wrong)
                break
    if mistakes:
        raise AnnotuneError.of(*mistakes)
    return RecipeSteps(tuple(step for _, steps in found for step in steps), Places(spans))


def copying_of(unit: Unit, asked: RecipeSteps) -> Schedule:
    """Return what the recipe copies, holds, pads and peels in the statements of a unit."""
    own = unit.statements
    last: list[Transform] = [
        *asked.by_statement(Hold).values(),
        *asked.by_statement(Peel).values(),
        *asked.by_statement(Pad).values(),
    ]
    found = (*asked.of(Stage, own), *(step for step in last if step.statement in own))
    return in_order(sorted(found, key=lambda step: step.statement))


def _by_turn(step: OnStatement) -> tuple[PhaseRank, int]:
    return step.turn, step.statement


def refuse_beside(unit: Unit, copying: Schedule, asked: RecipeSteps) -> None:
    """Refuse what a recipe asks for beside the tile of a contraction, which decides it itself.

    Raises:
        AnnotuneError: There is any of it; at the first such command.
    """
    mapped = (step for s, step in sorted(asked.mapped("cuda").items()) if s in unit.statements)
    beside = next(iter((*mapped, *sorted(asked.of(Shaping, unit.statements), key=_by_turn))), None)
    if beside is not None:
        command = written(beside).name
        why = f"'{command}' is asked for beside it, which it decides itself"
        place = asked.places.of(command, beside.statement)
        refusal = NO_CONTRACTION.at(place, statement=beside.statement, reason=why)
        raise AnnotuneError.of(refusal)
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
    general = choice.general
    other = None if general is None else peeled_as_wished(general, copying)
    return replace(choice.having(*kept, *found, without=(Peel,)), general=other)


def with_copies(choice: Candidate, copying: Schedule) -> Candidate:
    """Return `choice` with copies; the threads that fill them come to their barriers together."""
    if any(copy.space is MemorySpace.SHARED for copy in of_kind(copying, Stage)):
        cut = tuple(loop for loop, _ in choice.tiles if loop in choice.threads)
        first = copying[0].statement
        asked = next(iter(of_kind(copying, Pad, (first,))), Pad(first, ()))
        loops = tuple(dict.fromkeys((*asked.loops, *cut)))
        others = (step for step in copying if step is not asked)
        copying = in_order((*others, replace(asked, loops=loops))) if loops else copying
    return choice.having(*copying, without=(Copying,))


def with_tiles(choice: Candidate, cut: tuple[tuple[str, int], ...]) -> Candidate:
    """Return the rules' choice with a place for the tiles that the user cuts mapped loops into.

    The tiles of a thread's loop become blocks, as the rules do it, while an axis is free; else
    they take the loop's own place and the loop runs inside the thread.
    """
    blocks, threads = list(choice.blocks), list(choice.threads)
    for loop, _ in cut:
        tile = tile_name(loop)
        if tile in blocks:
            continue
        if loop in threads and len(blocks) < MAX_AXES:
            blocks.append(tile)
        else:
            blocks = [tile if name == loop else name for name in blocks]
            threads = [tile if name == loop else name for name in threads]
    return choice.placed(blocks, threads)


def to_workers(choice: Candidate, dealt: tuple[tuple[str, int], ...]) -> Candidate:
    """Return the rules' choice with workers where the loops stood that are dealt out to them."""
    workers = {loop: worker_name(loop) for loop, _ in dealt}
    blocks = tuple(workers.get(name, name) for name in choice.blocks)
    threads = tuple(workers.get(name, name) for name in choice.threads)
    return choice.placed(blocks, threads)


JOINED = "joined"
FUSIONS = ("footprint", "apart", "all", JOINED)
# Neighbours that accumulate into one output share a kernel: all of them, or so many at a time.
JOINT = "accumulate"
# The same in a kernel for all that the tensor cores add by the same lanes.
BY_LANES = f"{JOINT} by lanes"


@dataclass(frozen=True)
class Point:
    """A point of the space of one region.

    `params` are the annotation's performance parameters, `fusion` one of `FUSIONS`. `picked` are
    the first steps for the unit that a statement leads: all of them where a strategy made the
    candidate, else the axes of its loops and the factors of its unrolling. What is absent is
    decided by the rules.
    """

    params: Mapping[str, Value] = field(default_factory=dict)
    fusion: str = FUSIONS[0]
    picked: Mapping[int, Candidate] = field(default_factory=dict)

    def whole(self, leader: int) -> Candidate | None:
        """Return the candidate that a strategy made for a unit, None where there is none."""
        found = self.picked.get(leader)
        return found if found is not None and found.origin not in ("", HINTS) else None


@dataclass(frozen=True)
class Decision:
    """What a point means: the choices in launch order, and the groups behind them."""

    choices: tuple[Candidate, ...]
    groups: tuple[tuple[int, ...], ...]
    places: Places
    asked: RecipeSteps


@dataclass(frozen=True)
class Base:
    """What all points of a region share, computed once: groups and units per fusion."""

    analysis: Analysis
    groups: tuple[tuple[int, ...], ...]
    apart: tuple[Unit, ...]
    strategy: str = AUTO
    # Fusions are asked for at every point, and each answer costs exact tests.
    _known: dict[object, tuple[Unit, ...]] = field(default_factory=dict, compare=False)
    # Ways of fusing have most units in common, and what is found out of one is kept with it.
    _units: dict[object, Unit] = field(default_factory=dict, compare=False)
    _why_not: dict[object, tuple[Reason, ...]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, analysis: Analysis, strategy: str = AUTO) -> Base:
        """Return the base of a region; `strategy` is one of `strategies.STRATEGY_NAMES`."""
        groups = atomic_groups(analysis)
        return cls(analysis, groups, launched(analysis, groups), strategy)

    def why_not(self, unit: Unit) -> tuple[Reason, ...]:
        """Return the reasons for which a unit has a choice of `direct` and no other."""
        key = unit.parts, unit.band, unit.host, unit.parallel, unit.merges
        if key not in self._why_not:
            self._why_not[key] = why_not(unit, self.strategy)
        return self._why_not[key]

    @cached_property
    def fusions(self) -> tuple[str, ...]:
        """Return the ways of fusing, those first in which statements accumulate together.

        There are none of these where the user's own recipe, or hints, speak of the kernels.
        """
        spec = self.analysis.region.spec
        is_open = not spec.commands and not spec.wishes and self.strategy in (AUTO, ACCUMULATE)
        if not is_open or len(self.apart) < 2:
            return FUSIONS
        whole = self.nests(JOINT, RecipeSteps())
        longest = max((len(unit.parts) for unit in whole if unit.joint), default=1)
        counts = (n for n in range(longest - 1, 1, -1) if longest % n == 0 or n == 6)
        joint = (JOINT, *(f"{JOINT} by {count}" for count in counts))
        if len(self.nests(BY_LANES, RecipeSteps())) > len(whole):
            joint = (JOINT, BY_LANES, *joint[1:])
        is_asked = self.strategy == ACCUMULATE
        is_first = is_asked or all(pays(unit) for unit in whole if unit.joint)
        # Where nothing is joined they are the same as others, which come first then.
        return (*joint, *FUSIONS) if longest > 1 and is_first else (*FUSIONS, *joint)

    def nests(self, fusion: str, asked: RecipeSteps) -> tuple[Unit, ...]:
        """Return the units to launch under a way of fusing, the user's wishes kept.

        Raises:
            AnnotuneError: A wished fusion or distribution is illegal.
        """
        key = (
            fusion,
            asked.of(Fuse),
            asked.of(Distribute),
            asked.of(Permute),
            frozenset((step.statement, step.command) for step in asked.of(Map)),
        )
        if key not in self._known:
            self._known[key] = tuple(map(self._same, self._nests(fusion, asked)))
        return self._known[key]

    def _same(self, unit: Unit) -> Unit:
        """Return the first unit that was the same as this one."""
        key = unit.parts, unit.parallel, unit.joint, unit.joined
        first = self._units.setdefault(key, unit)
        return first if first == unit else unit

    def _nests(self, fusion: str, asked: RecipeSteps) -> tuple[Unit, ...]:
        self._check_apart(asked)
        found = self.apart
        for step in asked.of(Fuse):
            found = self._fuse(found, step)
        if fusion == "apart":
            return found
        if fusion == JOINED:
            # Its blocks and threads are for the strategy alone to choose.
            is_free = not asked.steps and self.strategy in (AUTO, ELEMENTS)
            return joined_elements(found) if is_free else found
        if fusion == BY_LANES:
            return by_lanes(self.analysis, found)
        if fusion.startswith(JOINT):
            _, _, most = fusion.partition(" by ")
            return gathered(self.analysis, found, int(most or len(found)))
        out: list[Unit] = []
        for unit in found:
            is_joined = unit.joined or (out and out[-1].joined)
            if out and not is_joined and not _kept_apart(out[-1], unit, asked):
                merged = (
                    fuse_by_footprint(self.analysis, (out[-1], unit))
                    if fusion == "footprint"
                    else _merged(self.analysis, out[-1], unit)
                )
                out[-1:] = merged
            else:
                out.append(unit)
        return tuple(out)

    def _check_apart(self, asked: RecipeSteps) -> None:
        for step in asked.of(Distribute):
            span, group = step.span, step.statements
            for fused in asked.of(Fuse):
                both = sorted(set(fused.statements) & set(group))
                if len(both) > 1:
                    raise AnnotuneError.of(APART_AND_FUSED.at(span, first=both[0], second=both[1]))
            refusal = step.why_not(self.analysis.region.nest.body, Context(self.analysis))
            if refusal is not None:
                raise AnnotuneError.of(refusal)

    def _fuse(self, found: tuple[Unit, ...], asked: Fuse) -> tuple[Unit, ...]:
        members = [u for u in found if set(u.statements) & set(asked.statements)]
        if len(members) < 2:
            return found
        fused = members[0]
        for unit in members[1:]:
            merged = (
                join(self.analysis, fused, unit, asked.loop)
                if asked.loop
                else fusible(self.analysis, fused, unit, keep_parallel=False)
            )
            if merged is None:
                raise AnnotuneError.of(self._why_not_fused(fused, unit, asked))
            fused = merged
        return tuple(fused if u is members[0] else u for u in found if u not in members[1:])

    def _why_not_fused(self, first: Unit, second: Unit, asked: Fuse) -> Diagnostic:
        parts = (*first.parts, *second.parts)
        context = Context(self.analysis, self.analysis.region.constants)
        fuse = replace(asked, statements=tuple(p[0] for p in parts))
        refusal = fuse.why_not(base_body(self.analysis, self.groups), context)
        if refusal is not None:
            return refusal
        return NOT_FUSIBLE.at(
            asked.span,
            first=first.leader,
            second=second.leader,
            one=", ".join(first.parallel) or "none",
            two=", ".join(second.parallel) or "none",
        )


def decide(base: Base, point: Point) -> Decision:
    """Return the choices at one point: what the recipe says, and the rules for the rest.

    Raises:
        AnnotuneError: The recipe names what is not there, or asks for an illegal fusion.
    """
    region = base.analysis.region
    asked = read_asked(before_targets(region.spec.commands), point.params, region.nest.body)
    choices = []
    shaped = {*asked.by_statement(Merge), *asked.mapped("cuda")}
    for unit in base.nests(point.fusion, asked):
        choice = kernel_choice(unit, point, asked)
        wanted = common(unit, asked.moves, "pipeline", asked)
        if wanted is not None and not choice.of(Spread):
            choice = as_wished(unit, choice, wanted, asked.places)
        aligned = (replace(step, span=NOWHERE) for step in asked.of(Aligned, unit.statements))
        choice = choice.having(*(step for step in aligned if step not in choice.steps))
        is_made = point.whole(unit.leader) is not None
        is_asked = is_made or unit.leader in shaped or asked.of(Contract, unit.statements)
        why = () if is_asked else base.why_not(unit)
        choices.append(replace(choice, reasons=(*why, *choice.reasons)) if why else choice)
    return Decision(tuple(choices), base.groups, asked.places, asked)


def kernel_choice(unit: Unit, point: Point, asked: RecipeSteps) -> Candidate:
    """Return the choice for one kernel: the recipe's words, the point's, then the rules'.

    Where the recipe itself maps loops or cuts them, hints for the launch have no say.
    """
    own = unit.statements
    whole, picked = point.whole(unit.leader), point.picked.get(unit.leader)
    if whole is not None:
        return whole
    merges = common(unit, _merges(asked), "merge", asked)
    if merges:
        return _as_one(unit, merges, point, asked)
    if asked.of(Sharing, own):
        return _spread(unit, asked)
    tile = common(unit, asked.by_statement(Contract), "contract", asked)
    copying = copying_of(unit, asked)
    unrolled = tuple(replace(step, span=NOWHERE) for step in asked.of(Unroll, own))
    by_warps = asked.of(TensorCores, own)
    if tile is not None:
        refuse_beside(unit, copying, asked)
        choice = peeled_as_wished(_contracted(unit, tile, asked), copying)
        return choice.having(*unrolled, *by_warps, without=(Unroll, TensorCores))
    choice = _with_axes(unit, picked, asked)
    permuted = common(unit, asked.by_statement(Permute), "permute", asked)
    if permuted is not None:
        reason = Reason("order", ", ".join(permuted.order), "the recipe says so")
        choice = choice.ordered(permuted.order, reason)
    choice = with_copies(choice, copying)
    own_block = {step.statement for step in copying if isinstance(step, Hold)}
    held = {s: loop for s, loop in _own_registers(unit, choice) if s not in own_block}
    held |= {step.statement: step.loop for step in asked.of(Registers, own)}
    # Copies may stand in the loop that the rules would unroll.
    factors = {} if picked is None else {s: factor for s, _, factor in picked.unroll}
    if not unrolled and not copying:
        unrolled = tuple(_own_unrolls(unit, choice, factors))
    kept = (Registers(statement, loop) for statement, loop in sorted(held.items()))
    others = (*by_warps, *asked.as_given(own))
    return choice.having(*kept, *unrolled, *others, without=(Registers, Unroll))


def _spread(unit: Unit, asked: RecipeSteps) -> Candidate:
    """Return the choice for a kernel whose block has arrays, or shares loops, as a recipe says.

    Raises:
        AnnotuneError: The recipe asks for more than the loops' places and their unrolling.
    """
    own = unit.statements
    # Of a tile threads may have an iteration each; where they share loops, no other loop is cut.
    taken = (Resident,) if asked.of(Spread, own) else (Resident, Tile)
    steps: tuple[Transform, ...] = tuple(
        replace(step, span=NOWHERE) for kind in (Sharing, *taken) for step in asked.of(kind, own)
    )
    for kind in (Shaping, Contract, Copying, Moving):
        others = (step for step in asked.of(kind, own) if not isinstance(step, taken))
        beside = min(others, key=_by_turn, default=None)
        if beside is not None:
            loops = [loop for step in asked.of(Spread, own) for loop in step.loops]
            reason = f"'{written(beside).name}' is asked for beside it"
            place = asked.places.of(written(beside).name, beside.statement)
            raise AnnotuneError.of(NOT_SPREAD.at(place, loop=", ".join(loops), reason=reason))
    axes = common(unit, asked.mapped("cuda"), "cuda", asked)
    choice = elements.asked(unit, axes, steps)
    unrolled = tuple(replace(step, span=NOWHERE) for step in asked.of(Unroll, own))
    return choice.having(*unrolled, without=(Unroll,)) if unrolled else choice


def _with_axes(unit: Unit, picked: Candidate | None, asked: RecipeSteps) -> Candidate:
    """Return the choice with loops on axes, in tiles and in the shares of workers.

    They are the recipe's, else the point's own or those of the rules, around the recipe's tiles.
    """
    own = unit.statements
    axes = common(unit, asked.mapped("cuda"), "cuda", asked)
    cut = tuple((t.loop, t.size) for s in own for t in asked.of(Tile, (s,)))
    dealt = tuple((d.loop, d.workers) for s in own for d in asked.of(Cyclic, (s,)))
    if axes is not None:
        choice = _as_wished(unit, axes)
    else:
        is_launched = picked is not None and picked.origin == HINTS
        if picked is not None and is_launched and not (cut or dealt):
            choice = picked
        else:
            choice = choose(unit, None if is_launched else picked)
        choice = to_workers(with_tiles(choice, cut), dealt)
    if dealt:
        steps = (Cyclic(choice.leader, loop, workers) for loop, workers in dealt)
        choice = choice.having(*steps, without=(Cyclic,))
    if cut:
        again = {loop for loop, _ in cut}
        every = (*cut, *(t for t in choice.tiles if t[0] not in again))
        choice = choice.having(*(Tile(choice.leader, *one) for one in every), without=(Tile,))
    return choice


def _merges(asked: RecipeSteps) -> dict[int, tuple[tuple[str, ...], ...]]:
    """Return the loops that a recipe merges, by statement."""
    found: dict[int, tuple[tuple[str, ...], ...]] = {}
    for step in asked.of(Merge):
        found[step.statement] = (*found.get(step.statement, ()), step.loops)
    return found


def _as_one(
    unit: Unit, merges: tuple[tuple[str, ...], ...], point: Point, asked: RecipeSteps
) -> Candidate:
    """Return the choice for a kernel some of whose loops the recipe merges.

    How often they run must be fixed, so that another choice serves other sizes.

    Raises:
        AnnotuneError: They cannot be one loop.
    """
    refusal = refused_merges(unit, merges, asked.places.of("merge", unit.leader))
    if refusal is not None:
        raise AnnotuneError.of(refusal)
    choice = kernel_choice(with_merged(unit, merges), point, asked.without(Merge))
    general = general_tile(unit) if choice.contract is not None else None
    return replace(as_merged(choice, merges), general=general or choose(unit))


def _contracted(unit: Unit, tile: Contract, asked: RecipeSteps) -> Candidate:
    """Return the choice for a two-level tile of the recipe's.

    Raises:
        AnnotuneError: The unit is no contraction that could have it.
    """
    steps = (step.steps for step in asked.of(TensorCores, unit.statements))
    found = wished(unit, tile, by_warps=max(steps, default=0))
    if isinstance(found, str):
        named = asked.of(Contract, unit.statements)[0].statement
        place = asked.places.of("contract", named)
        raise AnnotuneError.of(NO_CONTRACTION.at(place, statement=named, reason=found))
    return found


Wish = TypeVar("Wish")


def common(unit: Unit, wished: Mapping[int, Wish], command: str, asked: RecipeSteps) -> Wish | None:
    """Return what the recipe asks of all the unit's statements together.

    Raises:
        AnnotuneError: It asks different things of two of them.
    """
    named = [s for s in unit.statements if s in wished]
    for other in named[1:]:
        if _anywhere(wished[other]) != _anywhere(wished[named[0]]):
            place = asked.places.of(command, other)
            raise AnnotuneError.of(
                FUSED_DIFFERENTLY.at(place, first=named[0], second=other, command=command)
            )
    return wished[named[0]] if named else None


def _anywhere(wish: object) -> object:
    """Return a step as if it were on the first statement, to compare it with that of another."""
    if isinstance(wish, tuple):
        return tuple(map(_anywhere, wish))
    return replace(wish, statement=0) if isinstance(wish, OnStatement) else wish


def _own_registers(unit: Unit, choice: Candidate) -> Iterable[tuple[int, str]]:
    """Yield the rules' register copies that the order, the axes and the tiles leave right."""
    tiled = {loop for loop, _ in choice.tiles}
    targets = {a.number: a.target for a in unit.analysis.region.nest.assigns()}
    for statement, loop in choice.registers:
        held = tile_name(loop) if loop in tiled else loop
        # A partial result is in a register by itself.
        if held in (*choice.blocks, *choice.threads):
            continue
        if not variables(targets[statement]) & set(_inside(unit, choice, statement, held)):
            yield statement, held


def _own_unrolls(unit: Unit, choice: Candidate, factors: Mapping[int, int]) -> Iterable[Unroll]:
    """Yield the rules' unrolling of loops that are still innermost, within their tiles."""
    sizes = dict(choice.tiles)
    for statement, loop, factor in choice.unroll:
        if not _inside(unit, choice, statement, loop):
            wanted = factors.get(statement, factor)
            yield Unroll(statement, loop, gcd(wanted, sizes.get(loop, wanted)))


def _inside(unit: Unit, choice: Candidate, statement: int, loop: str) -> list[str]:
    """Return the loops that run inside `loop` in one thread, once `choice` is carried out."""
    tiled = {name for name, _ in choice.tiles}
    dealt = {name for name, _ in choice.cyclic}
    placed = {*choice.blocks, *choice.threads, *unit.host}
    placed |= {name for own, name in choice.team if unit.shares(own, statement, name)}
    renewed = iter(choice.order)
    names: list[str] = []
    for own in unit.loops_around(statement):
        name = next(renewed) if own in choice.order else own
        names += [tile_name(name)] if name in tiled else []
        names += [worker_name(name)] if name in dealt else []
        names.append(name)
    if any(tile_name(name) in choice.order for name in tiled):
        names = [*choice.order, *(name for name in names if name not in choice.order)]
    inner = names[names.index(loop) + 1 :] if loop in names else names
    return [name for name in inner if name not in placed]


def _as_wished(unit: Unit, axes: Map) -> Candidate:
    """Return the choice with the user's axes, the thread level by the rules."""
    tiled = {made(loop.var): loop.var for loop in unit.band for made in (tile_name, worker_name)}
    blocks, threads = axes.on("block"), axes.on("thread")
    names = [tiled.get(n, n) for n in (*blocks, *threads)]
    order = serial_order(unit, tuple(dict.fromkeys(names))[:4])
    text_order = tuple(loop.var for loop in unit.band)
    reasons = (
        Reason("blocks", ", ".join(blocks) or "none", "the recipe says so"),
        Reason("threads", ", ".join(threads) or "none", "the recipe says so"),
    )
    team = _team(unit, axes)
    choice = Candidate.of_axes(
        unit.parts,
        *(Team(statement, loop, Level.THREAD_X, unit.host) for statement, loop in team),
        order=order if order != text_order else (),
        blocks=blocks,
        threads=threads if not team else (),
        host=unit.host,
        max_blocks=axes.max_blocks,
        reasons=reasons,
    )
    return thread_level(unit, choice)


def _team(unit: Unit, axes: Map) -> tuple[tuple[int, str], ...]:
    """Return the loops that a block's threads share when `axes` names one inside its work.

    What the recipe does not name of the other nests in the block is for the rules.
    """
    tiled = {made(loop.var): loop.var for loop in unit.band for made in (tile_name, worker_name)}
    outer = {*unit.parallel, *unit.sums}
    inner = [name for name in axes.on("thread") if tiled.get(name, name) not in outer]
    if len(inner) != 1 or len(axes.on("thread")) != 1 or not axes.on("block"):
        return ()
    named: dict[int, int] = {}
    inside = [s for s in unit.statements if inner[0] in unit.loops_around(s)]
    for statement in inside:
        loop = next(x for x in path(unit.body, statement) if x.var == inner[0])
        named.setdefault(id(loop), statement)
    own = [(statement, inner[0]) for statement in named.values()]
    others = [(s, loop) for s, loop in unit.shared.loops if s not in inside]
    return tuple(sorted([*own, *others], key=lambda pair: pair[0]))


def _kept_apart(first: Unit, second: Unit, asked: RecipeSteps) -> bool:
    """Return whether the recipe maps, orders or distributes two neighbours each on its own."""
    one, two = set(first.statements), set(second.statements)
    orders = {step.order for s, step in asked.by_statement(Permute).items() if s in one | two}
    if len(orders) > 1:
        return True
    mapped = {step.statement for step in asked.of(Map)}
    if one & mapped and two & mapped:
        return True
    apart = [set(step.statements) for step in asked.of(Distribute)]
    return any(one & group and two & group for group in apart)


def _merged(analysis: Analysis, first: Unit, second: Unit) -> Iterable[Unit]:
    fused = fusible(analysis, first, second)
    return (first, second) if fused is None else (fused,)
