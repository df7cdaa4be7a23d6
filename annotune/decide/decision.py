"""One point of the space becomes the choices for every kernel of a region."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import gcd
from typing import TypeVar

from annotune.analysis.facts import Analysis
from annotune.annotation.spec import Value
from annotune.decide import even_tiles
from annotune.decide.build import base_body
from annotune.decide.contraction_tile import WishedTile
from annotune.decide.copying import copying_of, peeled_as_wished, refuse_beside, with_copies
from annotune.decide.cut_axes import to_workers, with_tiles
from annotune.decide.direct import choose, fuse_by_footprint, thread_level
from annotune.decide.hints import Launch, with_launch
from annotune.decide.merged import refused_merges, with_merged
from annotune.decide.messages import (
    APART_AND_FUSED,
    FUSED_DIFFERENTLY,
    NO_CONTRACTION,
    NOT_FUSIBLE,
)
from annotune.decide.movements import as_wished
from annotune.decide.places import Places
from annotune.decide.plan import KernelChoice, Reason
from annotune.decide.rules import Roles, serial_order
from annotune.decide.strategies import AUTO, why_not
from annotune.decide.units import Unit, atomic_groups, fusible, units
from annotune.decide.wished_tile import wished
from annotune.decide.wishes import Axes, Wishes, read_wishes
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.ir.expr import variables
from annotune.transforms.context import Context
from annotune.transforms.deal import deal_name
from annotune.transforms.distribute import Distribute
from annotune.transforms.fuse import Fuse
from annotune.transforms.tile import tile_name
from annotune.transforms.tree import path

FUSIONS = ("footprint", "apart", "all")


@dataclass(frozen=True)
class Point:
    """A point of the space of one region.

    `params` are the annotation's performance parameters, `fusion` one of `FUSIONS`, `roles`
    the axes of the unit that a statement leads, `factors` the unroll factor for a
    statement's loop, `launches` what hints make of the launch of the unit that a statement
    leads. `made` are the whole choices of a strategy for the unit that a statement leads. What is
    absent is decided by the rules.
    """

    params: Mapping[str, Value] = field(default_factory=dict)
    fusion: str = FUSIONS[0]
    roles: Mapping[int, Roles] = field(default_factory=dict)
    factors: Mapping[int, int] = field(default_factory=dict)
    launches: Mapping[int, Launch] = field(default_factory=dict)
    made: Mapping[int, KernelChoice] = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    """What a point means: the choices in launch order, and the groups behind them."""

    choices: tuple[KernelChoice, ...]
    groups: tuple[tuple[int, ...], ...]
    places: Places
    wishes: Wishes


@dataclass(frozen=True)
class Base:
    """What all points of a region share, computed once: groups and units per fusion."""

    analysis: Analysis
    groups: tuple[tuple[int, ...], ...]
    apart: tuple[Unit, ...]
    strategy: str = AUTO
    # Fusions are asked for at every point, and each answer costs exact tests.
    _known: dict[object, tuple[Unit, ...]] = field(default_factory=dict, compare=False)
    _why_not: dict[object, tuple[Reason, ...]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, analysis: Analysis, strategy: str = AUTO) -> Base:
        """Return the base of a region; `strategy` is one of `strategies.STRATEGY_NAMES`."""
        groups = atomic_groups(analysis)
        return cls(analysis, groups, units(analysis, groups), strategy)

    def why_not(self, unit: Unit) -> tuple[Reason, ...]:
        """Return the reasons for which a unit has a choice of `direct` and no other."""
        key = unit.parts, unit.band, unit.host, unit.parallel, unit.merges
        if key not in self._why_not:
            self._why_not[key] = why_not(unit, self.strategy)
        return self._why_not[key]

    def nests(self, fusion: str, wishes: Wishes) -> tuple[Unit, ...]:
        """Return the units to launch under a way of fusing, the user's wishes kept.

        Raises:
            AnnotuneError: A wished fusion or distribution is illegal.
        """
        key = (
            fusion,
            wishes.fused,
            wishes.apart,
            frozenset(wishes.order.items()),
            frozenset(wishes.cuda),
            frozenset(wishes.acc),
        )
        if key not in self._known:
            self._known[key] = self._nests(fusion, wishes)
        return self._known[key]

    def _nests(self, fusion: str, wishes: Wishes) -> tuple[Unit, ...]:
        self._check_apart(wishes)
        found = self.apart
        for group in wishes.fused:
            found = self._fuse(found, group, wishes.places.of("fuse", group[0]))
        if fusion == "apart":
            return found
        out: list[Unit] = []
        for unit in found:
            if out and not _kept_apart(out[-1], unit, wishes):
                merged = (
                    fuse_by_footprint(self.analysis, (out[-1], unit))
                    if fusion == "footprint"
                    else _merged(self.analysis, out[-1], unit)
                )
                out[-1:] = merged
            else:
                out.append(unit)
        return tuple(out)

    def _check_apart(self, wishes: Wishes) -> None:
        for group in wishes.apart:
            span = wishes.places.of("distribute", group[0])
            for fused in wishes.fused:
                both = sorted(set(fused) & set(group))
                if len(both) > 1:
                    raise AnnotuneError.of(APART_AND_FUSED.at(span, first=both[0], second=both[1]))
            single = tuple((n,) for n in group)
            refusal = Distribute(single, span=span).why_not(
                self.analysis.region.nest.body, Context(self.analysis)
            )
            if refusal is not None:
                raise AnnotuneError.of(refusal)

    def _fuse(
        self, found: tuple[Unit, ...], group: tuple[int, ...], span: Span
    ) -> tuple[Unit, ...]:
        members = [u for u in found if set(u.statements) & set(group)]
        if len(members) < 2:
            return found
        fused = members[0]
        for unit in members[1:]:
            merged = fusible(self.analysis, fused, unit, keep_parallel=False)
            if merged is None:
                raise AnnotuneError.of(self._why_not_fused(fused, unit, span))
            fused = merged
        return tuple(fused if u is members[0] else u for u in found if u not in members[1:])

    def _why_not_fused(self, first: Unit, second: Unit, span: Span) -> Diagnostic:
        parts = (*first.parts, *second.parts)
        context = Context(self.analysis, self.analysis.region.constants)
        fuse = Fuse(tuple(p[0] for p in parts), span)
        refusal = fuse.why_not(base_body(self.analysis, self.groups), context)
        if refusal is not None:
            return refusal
        return NOT_FUSIBLE.at(
            span,
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
    wishes = read_wishes(region.spec.commands, point.params, region.nest.body)
    choices = []
    for unit in base.nests(point.fusion, wishes):
        choice = kernel_choice(unit, point, wishes)
        movement = _common(unit, wishes.movement, "pipeline", wishes)
        if movement is not None:
            choice = as_wished(unit, choice, movement, wishes.places)
        is_asked = unit.leader in {*point.made, *wishes.cuda, *wishes.merges}
        is_asked = is_asked or any(s in wishes.contract for s in unit.statements)
        why = () if is_asked else base.why_not(unit)
        choices.append(replace(choice, reasons=(*why, *choice.reasons)) if why else choice)
    return Decision(tuple(choices), base.groups, wishes.places, wishes)


def kernel_choice(unit: Unit, point: Point, wishes: Wishes) -> KernelChoice:
    """Return the choice for one kernel: the recipe's words, the point's, then the rules'.

    Where the recipe itself maps loops or cuts them, hints for the launch have no say.
    """
    if unit.leader in point.made:
        return replace(point.made[unit.leader], acc=_common(unit, wishes.acc, "acc", wishes))
    merges = _common(unit, wishes.merges, "merge", wishes)
    if merges:
        return _as_one(unit, merges, point, wishes)
    tile = _common(unit, wishes.contract, "contract", wishes)
    copying = copying_of(unit, wishes)
    unrolled = tuple(u for u in wishes.unroll if u[0] in unit.statements)
    if tile is not None:
        refuse_beside(unit, copying, wishes)
        choice = peeled_as_wished(_contracted(unit, tile, wishes), copying)
        return replace(choice, acc=_common(unit, wishes.acc, "acc", wishes), unroll=unrolled)
    axes = _common(unit, wishes.cuda, "cuda", wishes)
    cut = tuple(t for s in unit.statements for t in wishes.tiles.get(s, ()))
    dealt = tuple(d for s in unit.statements for d in wishes.deals.get(s, ()))
    if axes is not None:
        choice = _as_wished(unit, axes)
    else:
        choice = choose(unit, point.roles.get(unit.leader))
        launch = point.launches.get(unit.leader, Launch())
        is_cut = bool(cut or dealt)
        choice = with_tiles(choice, cut) if is_cut else with_launch(unit, choice, launch)
        choice = to_workers(choice, dealt)
    if dealt:
        choice = replace(choice, deals=dealt)
    if cut:
        own = {loop for loop, _ in cut}
        choice = replace(choice, tiles=(*cut, *(t for t in choice.tiles if t[0] not in own)))
    order = _common(unit, wishes.order, "permute", wishes)
    if order is not None:
        reason = Reason("order", ", ".join(order), "the recipe says so")
        choice = replace(choice, order=order, reasons=(*choice.reasons, reason))
    choice = replace(choice, acc=_common(unit, wishes.acc, "acc", wishes))
    choice = with_copies(choice, copying)
    own_block = {block.statement for block in copying if block.held}
    held = {s: loop for s, loop in _own_registers(unit, choice) if s not in own_block}
    held |= {s: loop for s, loop in wishes.registers.items() if s in unit.statements}
    # Copies may stand in the loop that the rules would unroll.
    if not unrolled and not copying:
        unrolled = tuple(_own_unrolls(unit, choice, point.factors))
    return replace(choice, registers=tuple(sorted(held.items())), unroll=unrolled)


def _as_one(
    unit: Unit, merges: tuple[tuple[str, ...], ...], point: Point, wishes: Wishes
) -> KernelChoice:
    """Return the choice for a kernel some of whose loops the recipe merges.

    How often they run must be fixed, so that another choice serves other sizes.

    Raises:
        AnnotuneError: They cannot be one loop.
    """
    refusal = refused_merges(unit, merges, wishes.places.of("merge", unit.leader))
    if refusal is not None:
        raise AnnotuneError.of(refusal)
    choice = kernel_choice(with_merged(unit, merges), point, replace(wishes, merges={}))
    elsewhere = even_tiles.general(unit) if choice.contract is not None else None
    return replace(choice, merges=merges, elsewhere=elsewhere or choose(unit))


def _contracted(unit: Unit, tile: WishedTile, wishes: Wishes) -> KernelChoice:
    """Return the choice for a two-level tile of the recipe's.

    Raises:
        AnnotuneError: The unit is no contraction that could have it.
    """
    found = wished(unit, tile)
    if isinstance(found, str):
        asked = next(s for s in unit.statements if s in wishes.contract)
        place = wishes.places.of("contract", asked)
        raise AnnotuneError.of(NO_CONTRACTION.at(place, statement=asked, reason=found))
    return found


Wish = TypeVar("Wish")


def _common(unit: Unit, wished: Mapping[int, Wish], command: str, wishes: Wishes) -> Wish | None:
    """Return what the recipe asks of all the unit's statements together.

    Raises:
        AnnotuneError: It asks different things of two of them.
    """
    asked = [s for s in unit.statements if s in wished]
    for other in asked[1:]:
        if wished[other] != wished[asked[0]]:
            raise AnnotuneError.of(
                FUSED_DIFFERENTLY.at(
                    wishes.places.of(command, other), first=asked[0], second=other, command=command
                )
            )
    return wished[asked[0]] if asked else None


def _own_registers(unit: Unit, choice: KernelChoice) -> Iterable[tuple[int, str]]:
    """Yield the rules' register copies that the order, the axes and the tiles leave right."""
    tiled = {loop for loop, _ in choice.tiles}
    targets = {a.number: a.target for a in unit.analysis.region.nest.assigns()}
    for statement, loop in choice.registers:
        held = tile_name(loop) if loop in tiled else loop
        if not variables(targets[statement]) & set(_inside(unit, choice, statement, held)):
            yield statement, held


def _own_unrolls(
    unit: Unit, choice: KernelChoice, factors: Mapping[int, int]
) -> Iterable[tuple[int, str, int]]:
    """Yield the rules' unrolling of loops that are still innermost, within their tiles."""
    sizes = dict(choice.tiles)
    for statement, loop, factor in choice.unroll:
        if not _inside(unit, choice, statement, loop):
            wanted = factors.get(statement, factor)
            yield statement, loop, gcd(wanted, sizes.get(loop, wanted))


def _inside(unit: Unit, choice: KernelChoice, statement: int, loop: str) -> list[str]:
    """Return the loops that run inside `loop` in one thread, once `choice` is carried out."""
    tiled = {name for name, _ in choice.tiles}
    dealt = {name for name, _ in choice.deals}
    placed = {*choice.blocks, *choice.threads, *choice.host}
    placed |= {name for own, name in choice.team if unit.shares(own, statement, name)}
    renewed = iter(choice.order)
    names: list[str] = []
    for own in unit.loops_around(statement):
        name = next(renewed) if own in choice.order else own
        names += [tile_name(name)] if name in tiled else []
        names += [deal_name(name)] if name in dealt else []
        names.append(name)
    if any(tile_name(name) in choice.order for name in tiled):
        names = [*choice.order, *(name for name in names if name not in choice.order)]
    inner = names[names.index(loop) + 1 :] if loop in names else names
    return [name for name in inner if name not in placed]


def _as_wished(unit: Unit, axes: Axes) -> KernelChoice:
    """Return the choice with the user's axes, the thread level by the rules."""
    tiled = {made(loop.var): loop.var for loop in unit.band for made in (tile_name, deal_name)}
    names = [tiled.get(n, n) for n in (*axes.blocks, *axes.threads)]
    plain = [*dict.fromkeys(names), "", "", "", ""]
    order = serial_order(unit, Roles(plain[0], plain[1], plain[2], plain[3]))
    text_order = tuple(loop.var for loop in unit.band)
    reasons = (
        Reason("blocks", ", ".join(axes.blocks) or "none", "the recipe says so"),
        Reason("threads", ", ".join(axes.threads) or "none", "the recipe says so"),
    )
    team = _team(unit, axes)
    choice = KernelChoice(
        unit.parts,
        order if order != text_order else (),
        blocks=axes.blocks,
        threads=axes.threads if not team else (),
        host=unit.host,
        team=team,
        max_blocks=axes.max_blocks,
        reasons=reasons,
    )
    return thread_level(unit, choice)


def _team(unit: Unit, axes: Axes) -> tuple[tuple[int, str], ...]:
    """Return the loops that a block's threads share when `axes` names one inside its work.

    What the recipe does not name of the other nests in the block is for the rules.
    """
    tiled = {made(loop.var): loop.var for loop in unit.band for made in (tile_name, deal_name)}
    outer = {*unit.parallel, *unit.sums}
    inner = [name for name in axes.threads if tiled.get(name, name) not in outer]
    if len(inner) != 1 or len(axes.threads) != 1 or not axes.blocks:
        return ()
    named: dict[int, int] = {}
    inside = [s for s in unit.statements if inner[0] in unit.loops_around(s)]
    for statement in inside:
        loop = next(x for x in path(unit.body, statement) if x.var == inner[0])
        named.setdefault(id(loop), statement)
    own = [(statement, inner[0]) for statement in named.values()]
    others = [(s, loop) for s, loop in unit.shared.loops if s not in inside]
    return tuple(sorted([*own, *others], key=lambda pair: pair[0]))


def _kept_apart(first: Unit, second: Unit, wishes: Wishes) -> bool:
    """Return whether the recipe maps, orders or distributes two neighbours each on its own."""
    one, two = set(first.statements), set(second.statements)
    orders = {o for s, o in wishes.order.items() if s in one | two}
    if len(orders) > 1:
        return True
    mapped = set(wishes.cuda) | set(wishes.acc)
    if one & mapped and two & mapped:
        return True
    return any(one & set(group) and two & set(group) for group in wishes.apart)


def _merged(analysis: Analysis, first: Unit, second: Unit) -> Iterable[Unit]:
    fused = fusible(analysis, first, second)
    return (first, second) if fused is None else (fused,)
