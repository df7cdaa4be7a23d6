"""One text for several problem sizes: kernels for each of them, and a general one for all others.

The text tests the sizes at run time: all of them first, then those alone that the annotation gives
several values, with what else a call decides left open. Kernels that come out alike for two sizes
stand there once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotune.analysis.facts import Analysis
from annotune.codegen.names import Interface, interface
from annotune.ir.expr import Binary, Call, Expr, Int, Var
from annotune.ir.region import Region
from annotune.schedule.plan import Plan
from annotune.space.variants import Variant

OTHERS = "all other sizes"


def call_sizes(analysis: Analysis, sizes: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return those of `sizes`, by default the region's own, that a call decides.

    What code for the tuned ones does not take for granted, as ranges of indices, is none of them.
    """
    region = analysis.region
    given = region.sizes if sizes is None else sizes
    passed = {scalar.name for scalar in interface(analysis).scalars} - region.constants.keys()
    passed -= region.index_ends | region.varying
    return {name: size for name, size in given.items() if name in passed}


def at_other_sizes(region: Region, analysis: Analysis) -> tuple[Region, ...]:
    """Return `region` at its other problem sizes, as far as a call decides them.

    `analysis` is that of the region at its first sizes. What C fixes has one value.
    """
    found = [call_sizes(analysis)]
    out: list[Region] = []
    for sizes in region.other_sizes:
        fixed = all(sizes.get(name, value) == value for name, value in region.constants.items())
        told = call_sizes(analysis, sizes)
        if fixed and told not in found:
            found.append(told)
            out.append(replace(region, sizes=sizes, other_sizes=()))
    return tuple(out)


def can_share(first: Analysis, other: Analysis) -> bool:
    """Return whether one text may hold kernels made with either analysis.

    What stands around the kernels is written once: copies, tests, and the nest as written. What is
    proven at single sizes alone, such as the length of an array, may be another thing at others.
    """
    return _around_kernels(first) == _around_kernels(other)


def _around_kernels(analysis: Analysis) -> tuple[object, ...]:
    region = replace(analysis.region, sizes={}, other_sizes=())
    facts = (analysis.shapes, analysis.uses, analysis.private, analysis.conditions)
    return (region, *facts, analysis.homes, analysis.all_sizes)


def combined(variants: Sequence[Variant]) -> Variant:
    """Return variants of one region, each tuned for sizes of its own, as one.

    The first one's general plan serves all other sizes; their analyses must be such that
    `can_share` holds.
    """
    first, *others = variants
    return replace(first, others=tuple(replace(one, general=None) for one in others))


def suffixes(variant: Variant) -> tuple[str, ...]:
    """Return the end of the names of the kernels for each variant that is told apart.

    With several it names those sizes that tell them apart: ``_lx8``, and ``_lx8_any`` where the
    others are open.
    """
    if not variant.others:
        return (TUNED_SUFFIX if variant.general is not None else "",)
    parts = variant.size_cases
    sizes = [call_sizes(one.analysis) for one in parts]
    telling: list[str] = []
    for name in sizes[0]:
        seen = {tuple(one[n] for n in telling) for one in sizes}
        if len({tuple(one[n] for n in (*telling, name)) for one in sizes}) > len(seen):
            telling.append(name)
    ends = ("".join(_named(name, one[name]) for name in telling) for one in sizes)
    fixed = (part.tuned.constants.keys() for part in parts)
    return tuple(
        end + ("" if one.keys() <= known else "_any")
        for end, one, known in zip(ends, sizes, fixed, strict=True)
    )


def _named(name: str, size: int) -> str:
    """Return a size as a part of a name of C: ``_lx8``, ``_h1_16``."""
    apart = "_" if name[-1].isdigit() else ""
    return f"_{name}{apart}{size}".replace("-", "minus")


def served(analysis: Analysis, plan: Plan) -> str:
    """Return the sizes that a plan is for: ``n=8, m=100``, or ``n=8, any m`` where m is open."""
    sizes = call_sizes(analysis)
    fixed = {name: value for name, value in sizes.items() if name in plan.constants}
    return ", ".join([sizes_text(fixed), *(f"any {name}" for name in sizes if name not in fixed)])


def sizes_text(sizes: Mapping[str, int]) -> str:
    """Return sizes for people: ``lx=8, nelt=1000``."""
    return ", ".join(f"{name}={value}" for name, value in sizes.items())


def tests_by_size(variant: Variant, outer: Interface) -> tuple[tuple[Expr, ...], ...]:
    """Return for each variant that is told apart the tests that a call has its sizes."""
    known = variant.analysis.region.constants
    return tuple(size_tests(outer, one.tuned.constants, known) for one in variant.size_cases)


def any_of(alternatives: Sequence[Sequence[Expr]]) -> tuple[Expr, ...]:
    """Return tests that hold where all tests of one of `alternatives` do.

    What they have in common is tested once.
    """
    first, *others = alternatives
    common = [test for test in first if all(test in other for other in others)]
    rest = [[test for test in one if test not in common] for one in alternatives]
    if not all(rest):
        return tuple(common)
    either = _both(rest[0])
    for one in rest[1:]:
        either = Binary("||", either, _both(one))
    return (*common, either)


def _both(tests: Sequence[Expr]) -> Expr:
    """Return a conjunction that may stand beside ``||``, where compilers want parentheses."""
    found = tests[0]
    for test in tests[1:]:
        found = Binary("&&", found, test)
    return found if len(tests) == 1 else Call("", (found,))


@dataclass
class Definitions:
    """The functions of one region, each text once, with the sizes that it serves."""

    _found: dict[str, _Definition] = field(default_factory=dict)

    def add(self, name: str, text: str, sizes: str) -> str:
        """Return the name of a function whose text under its own `name` is `text`.

        It is that of an earlier one where only their names differ.
        """
        nameless = re.sub(rf"\b{name}(?=\b|_)", "", text)
        found = self._found.setdefault(nameless, _Definition(name, text))
        if sizes not in found.sizes:
            found.sizes.append(sizes)
        return found.name

    def texts(self) -> tuple[str, ...]:
        """Return the definitions below the sizes that they serve, the general ones last."""
        found = sorted(self._found.values(), key=lambda one: OTHERS in one.sizes)
        return tuple(f"/* For {'; '.join(one.sizes)}: */\n{one.text}" for one in found)


@dataclass
class _Definition:
    name: str
    text: str
    sizes: list[str] = field(default_factory=list)


def size_tests(
    outer: Interface, constants: Mapping[str, int], known: Mapping[str, int]
) -> tuple[Expr, ...]:
    """Return tests for the sizes in `constants`, less the `known` ones."""
    return tuple(
        Binary("==", Var(s.name), Int(constants[s.name]))
        for s in outer.scalars
        if s.name in constants and s.name not in known
    )


TUNED_SUFFIX = "_tuned"
"""Ends the name of a kernel for the tuned sizes, where another one is there for all sizes."""
