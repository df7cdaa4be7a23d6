"""One program through annotune: every claim checked, and the texts of the targets collected."""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from support.mistakes import let_through
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.analysis.normal_form.forwarding import with_temporaries_forwarded
from annotune.analysis.normal_form.normalised import normalised
from annotune.analysis.normal_form.reordering import with_loops_reordered
from annotune.annotation.devices import Device, load_device
from annotune.codegen.target import DEFAULT_TARGETS, Provenance, RegionCode, load_target
from annotune.diagnostics import NOWHERE, AnnotuneError
from annotune.ir.region import SourceFile
from annotune.schedule.candidate import Assignment, Candidate, ContractionTile
from annotune.schedule.units import Unit
from annotune.space.decision import Base, Point
from annotune.space.space import Space, region_space, with_factors
from annotune.space.variants import Variant
from annotune.strategies.gpu_tile import has_own_sums, wished
from annotune.strategies.movements import with_peeled
from annotune.strategies.nests import contraction
from annotune.transforms.language import Contract
from annotune.transforms.tile_ends import Peel

from .c_reader import functions
from .claims import wrong_claims
from .reference import Function
from .schedules import Runs, wrong_certificate, wrong_plan, wrong_transforms

# Else a mistake of annotune's in a region would count as a refusal.
let_through()

PROVENANCE = Provenance("fuzz", "fuzz.c")
DEVICE = "h200"
# Of so many points of the CPU's space one is drawn.
LISTED = 64


@dataclass
class Examined:
    """What came of one program.

    `refused` are the codes of its refusal. `faults` are wrong claims in words, `crashes`
    tracebacks. `made` holds, per target, the text for the region; `source` the text it is for.
    `told` counts what was checked.
    """

    text: str
    refused: tuple[str, ...] = ()
    faults: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    source: SourceFile | None = None
    made: dict[str, RegionCode] = field(default_factory=dict)
    told: Counter[str] = field(default_factory=Counter)

    @property
    def is_wrong(self) -> bool:
        return bool(self.faults or self.crashes)


@dataclass(frozen=True)
class OnePoint(Space):
    """A space of one point, for a target that asks for the best ones."""

    point: Point = field(default_factory=Point)

    @classmethod
    def of(cls, space: Space, point: Point) -> OnePoint:
        return cls(space.base, space.axes, (point.params,), space.branches, point=point)

    def points(self) -> Iterator[Point]:
        yield self.point

    def ranked(self, device: Device, limit: int) -> tuple[Point, ...]:
        return (self.point,)


def examine(
    text: str,
    seed: int,
    is_random: bool,
    targets: Sequence[str] = DEFAULT_TARGETS,
    with_claims: bool = True,
) -> Examined:
    """Return all that is wrong with what annotune makes of a text with one region.

    `is_random` takes a random point of the space in place of the first choice. Without claims only
    the texts are made, to be executed: what is claimed of long programs takes long to try.
    """
    out = Examined(text)
    try:
        _examine(out, seed, is_random, targets, with_claims)
    except AnnotuneError as refusal:
        out.refused = tuple(sorted({d.code for d in refusal.diagnostics}))
        # No user asked for what a step without a place does: annotune refuses its own choice.
        own = [d for d in refusal.diagnostics if d.span == NOWHERE]
        out.faults += [f"own choice is refused: {d.code} {d.message}" for d in own]
        out.made = {}
    except Exception:
        out.crashes.append(traceback.format_exc())
        out.made = {}
    return out


def _examine(
    out: Examined, seed: int, is_random: bool, targets: Sequence[str], with_claims: bool
) -> None:
    out.source = text_source(out.text)
    (region,) = out.source.regions
    analysis = analyse(normalised(region))
    (function,) = functions(out.text)
    # Statements that are taken apart or turned stand in another order than in the text that the
    # claims are held against; what they compute is compared as always.
    in_order = with_temporaries_forwarded(region)
    is_reordered = with_loops_reordered(in_order).nest != in_order.nest
    out.told["reordered"] += is_reordered
    runs = Runs(analysis, function) if with_claims and not is_reordered else None
    if runs is not None:
        out.faults += wrong_claims(analysis, function, seed)
        out.faults += wrong_transforms(runs, seed, out.told)
    base = Base.of(analysis)
    space = region_space(base)
    source = random.Random(seed)
    point = random_point(space, source) if is_random else space.first
    chosen = OnePoint.of(space, point) if is_random else space
    for name in targets:
        target = load_target(name)
        limit = LISTED if is_random and name == "openmp" else 1
        try:
            found = target.points(base, chosen, _device()).listing(limit)
            variant = found.variant(source.randrange(len(found)))
        except AnnotuneError as refusal:
            if not is_random:
                raise
            out.told.update(f"point refused {d.code}" for d in refusal.diagnostics)
            continue
        if runs is not None:
            out.faults += _wrong_variant(runs, name, variant)
        out.made[name] = target.region(variant, resident=False)
        tiles = [c.contract for c in variant.tuned.choices if c.contract is not None]
        out.told[f"{name} two-level tiles"] += bool(tiles)
        out.told[f"{name} split loops"] += any(t.x.is_split or t.y.is_split for t in tiles)
        peeled = any(isinstance(step, Peel) for step in variant.tuned.schedule)
        out.told[f"{name} whole tiles apart"] += peeled
        out.told[f"{name} kernels"] += any(k.band() for k in variant.tuned.kernels())


def _wrong_variant(runs: Runs, name: str, variant: Variant) -> list[str]:
    found = [wrong_plan(runs, variant.tuned, False)]
    if variant.general is not None:
        found.append(wrong_plan(runs, variant.general, True))
    if name == "cuda":
        found += wrong_certificate(runs, variant.tuned)
    return [f"{name}: {fault}" for fault in found if fault]


def _device(known: dict[str, Device] = {}) -> Device:  # noqa: B006  (read from disk once)
    if DEVICE not in known:
        known[DEVICE] = load_device(DEVICE)
    return known[DEVICE]


def random_point(space: Space, source: random.Random) -> Point:
    """Return a legal point of a space, drawn without listing them all."""
    fusion, units = source.choice(space.branches)
    picked = {}
    for unit in units:
        tiled = random_tile(unit.unit, source) if unit.mapped else None
        if tiled is not None and source.randrange(4):
            picked[unit.unit.leader] = replace(tiled, origin="two-level")
            continue
        apart = [c for c in unit.made.after_direct if c.of(Peel)]
        if apart and source.randrange(2):
            picked[unit.unit.leader] = source.choice(apart)
            continue
        whole = (*unit.made.first, *unit.made.after_direct)
        if whole and source.randrange(2):
            # What a strategy of its own makes of the unit.
            picked[unit.unit.leader] = source.choice(whole)
            continue
        axes = source.choice(unit.mapped) if unit.mapped else Candidate(unit.unit.parts)
        picked[unit.unit.leader] = with_factors(axes, source.choice(unit.factors))
    return Point(source.choice(space.params), fusion, picked)


def random_tile(unit: Unit, source: random.Random) -> Candidate | None:
    """Return a tile of random loops and lengths, None for what is no contraction.

    Loops are split among threads and registers where an input has one, and now and then else.
    """
    found = contraction(unit)
    if isinstance(found, str):
        return None
    names = [*_axis_loops(found.x, source), *_axis_loops(found.y, source)]
    names.append(source.choice(found.contracted))
    x, deep, y, wide, summed = ((name, source.randint(1, 6)) for name in names)
    inputs = (found.a.access.array, found.b.access.array)
    staged = tuple(name for name in inputs if source.randrange(4))
    assigned = tuple(source.choice(list(Assignment)) for _ in range(2))
    if not has_own_sums(unit, found, ContractionTile(x, y, deep, wide, summed)):
        return None
    wish = Contract(
        unit.leader,
        (x[0], y[0]),
        (deep[0], wide[0]),
        summed[0],
        x[1],
        y[1],
        deep[1],
        wide[1],
        summed[1],
        assign=assigned,
        stage=staged,
    )
    choice = wished(unit, wish)
    assert not isinstance(choice, str), choice
    apart = with_peeled(unit, choice) if source.randrange(2) else None
    return apart or choice


def _axis_loops(loops: Sequence[str], source: random.Random) -> list[str]:
    """Return the loop for threads and that for registers, which may be one."""
    if len(loops) > 1 and source.randrange(4):
        return source.sample(list(loops), 2)
    return [source.choice(loops)] * 2


def files(ones: Sequence[Examined], target: str) -> Mapping[str, str]:
    """Return the files of a target for many programs, each a function of its own name."""
    writer = load_target(target)
    texts: dict[str, list[str]] = {}
    for one in ones:
        assert one.source is not None
        for suffix, text in writer.files(one.source, [one.made[target]], PROVENANCE).items():
            texts.setdefault(suffix, []).append(text)
    if ".cu" in texts:
        # One head for all of them.
        from annotune.runtime.texts import cuda_head

        devices = [one.made[target].device for one in ones]
        texts[".cu"] = [cuda_head("\n".join(devices)), *devices]
    return {suffix: "\n".join(parts) for suffix, parts in texts.items()}


def functions_of(ones: Sequence[Examined]) -> list[Function]:
    return [functions(one.text)[0] for one in ones]


def claims_of(analysis: Analysis, text: str, seed: int) -> list[str]:
    """Return the wrong claims about a text, for tests that make their own analysis."""
    (function,) = functions(text)
    return list(wrong_claims(analysis, function, seed))
