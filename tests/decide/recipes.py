"""What the tests of decisions share: regions with their decisions, and recipes pasted back."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from support.regions import EXAMPLES, regions_of, text_regions

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.diagnostics import Diagnostic
from annotune.ir.region import Region
from annotune.schedule.apply import build
from annotune.schedule.candidate import Candidate
from annotune.schedule.plan import Plan
from annotune.space.decision import Base, Decision, Point, decide
from annotune.space.recipe import recipe
from annotune.space.space import Space, region_space, with_factors
from annotune.strategies.direct import unrolls
from annotune.strategies.registry import DIRECT
from annotune.transforms.unroll import Unroll


@dataclass(frozen=True)
class Decided:
    """A region with all that is decided for it at one point."""

    analysis: Analysis
    base: Base
    space: Space
    decision: Decision

    @property
    def region(self) -> Region:
        return self.analysis.region

    def recipe(self) -> str:
        """Return the recipe that the user may paste."""
        return recipe(self.decision.choices, self.factors(), self.region.spec.commands)

    def factors(self) -> dict[int, tuple[int, ...]]:
        """Return the unroll factors to try, by statement, where the recipe leaves them open."""
        asked = self.decision.asked
        wished = {step.statement for step in asked.of(Unroll)}
        found = {}
        for unit in self.base.nests("footprint", asked):
            for statement, _, values in unrolls(unit):
                if statement not in wished:
                    found[statement] = values
        return found

    def plan(self, constants: Mapping[str, int] | None = None) -> Plan:
        """Return the plan of the decisions, for the tuned sizes unless `constants` are given."""
        made = self.maybe_plan(constants)
        assert isinstance(made, Plan), made
        return made

    def maybe_plan(self, constants: Mapping[str, int] | None = None) -> Plan | Diagnostic:
        """Return the plan of the decisions, or the refusal of one."""
        known = self.region.sizes if constants is None else constants
        decision = self.decision
        return build(
            self.analysis, decision.choices, decision.groups, known, places=decision.places
        )

    def at(self, point: Point) -> Decided:
        """Return the same region at another point."""
        return replace(self, decision=decide(self.base, point))


def decided(region: Region, strategy: str = DIRECT, **params: int | str) -> Decided:
    """Return what is decided for a region at its first point, or at the first with `params`."""
    analysis = analyse(region)
    base = Base.of(analysis, strategy)
    space = region_space(base)
    points = (p for p in space.points() if params.items() <= dict(p.params).items())
    return Decided(analysis, base, space, decide(base, next(points)))


@lru_cache(maxsize=32)
def decided_text(text: str, strategy: str = DIRECT, **params: int | str) -> Decided:
    """Return what is decided for the only region of a C text."""
    (only,) = text_regions(text)
    return decided(only, strategy, **params)


def example(
    name: str,
    function: str = "",
    sizes: Mapping[str, int] | None = None,
    defines: Mapping[str, str] | None = None,
) -> Region:
    """Return a region of a file of c_examples, the first or that of `function`."""
    found = regions_of(EXAMPLES / name, sizes, defines)
    return next(r for r in found if function in ("", r.function))


def decided_example(
    name: str, function: str = "", strategy: str = DIRECT, sizes: Mapping[str, int] | None = None
) -> Decided:
    """Return what is decided for a region of a file of c_examples, once for all tests."""
    return _decided_example(name, function, strategy, tuple((sizes or {}).items()))


@lru_cache(maxsize=32)
def _decided_example(
    name: str, function: str, strategy: str, sizes: tuple[tuple[str, int], ...]
) -> Decided:
    return decided(example(name, function, dict(sizes)), strategy)


def example_files() -> Iterator[Path]:
    """Yield the files of c_examples that hold regions."""
    yield from sorted(p for p in EXAMPLES.glob("*/*.c") if "/*@ begin" in p.read_text())


def pasted(text: str, region: Region, commands: str) -> str:
    """Return the text with `commands` as the recipe of `region`, which has none."""
    extent = region.extent
    opened = f"/*@ begin CHiLL (\n{commands}) @*/\n"
    before, body = text[: extent.body_start], text[extent.body_start : extent.body_end]
    return before + opened + body + "/*@ end @*/" + text[extent.body_end :]


def random_point(space: Space, source: random.Random) -> Point:
    """Return a legal point of a space, drawn without listing them all."""
    fusion, units = source.choice(space.branches)
    picked = {}
    for unit in units:
        axes = source.choice(unit.mapped) if unit.mapped else Candidate(unit.unit.parts)
        picked[unit.unit.leader] = with_factors(axes, source.choice(unit.factors))
    return Point(source.choice(space.params), fusion, picked)
