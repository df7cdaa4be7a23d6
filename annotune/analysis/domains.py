"""Iteration domains and access maps in isl, with products of sizes as opaque parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import islpy as isl

from annotune.analysis.poly import ZERO, Monomial, Poly, variable
from annotune.analysis.statements import Counted, Statement, loops_of


class NotLinear(Exception):
    """A polynomial multiplies an iterator by a size, or sizes are missing to make it linear."""

    def __init__(self, poly: Poly, names: frozenset[str]) -> None:
        super().__init__(str(poly))
        self.poly = poly
        self.names = names


def parameter(monomial: Monomial) -> str:
    """Return the isl name of a product of sizes; different products have different names.

    isl reserves words such as ``or`` and ``mod``, and knows no dots: a prefix keeps clear of
    the words, and the code of each character is prefix-free.
    """
    return "p_" + "_t_".join(_spell(name) for name in monomial)


def _spell(name: str) -> str:
    return re.sub(r"\W", lambda m: f"_u{ord(m[0]):x}_", name.replace("_", "__"))


@lru_cache(maxsize=8192)
def parsed_map(text: str) -> isl.Map:
    """Return the map that `text` describes; a search asks for the same ones again."""
    return isl.Map(text)


@dataclass(frozen=True, slots=True)
class Space:
    """How polynomials become isl text: `values` are the sizes that take part as numbers.

    These are the sizes that C fixes, or all of them; the others become parameters.
    """

    values: Mapping[str, int]

    def text(self, body: str) -> str:
        """Return ``[parameters] -> { body }``; isl aligns parameters by name."""
        found = sorted(set(re.findall(r"\bp_\w+", body)))
        return f"[{', '.join(found)}] -> {{ {body} }}"

    def affine(self, poly: Poly, dims: Mapping[str, str]) -> str:
        """Return `poly` in isl's syntax, iterators by their names in `dims`.

        Raises:
            NotLinear: An iterator is multiplied by a size without a value, or by an iterator.
        """
        parts = []
        for monomial, factor in poly.at(self.values).terms:
            inside = [name for name in monomial if name in dims]
            if inside and len(monomial) > 1:
                raise NotLinear(poly, frozenset(monomial) - frozenset(inside))
            if inside:
                parts.append(f"{factor}*{dims[inside[0]]}")
            else:
                parts.append(f"{factor}*{parameter(monomial)}" if monomial else str(factor))
        return f"({' + '.join(parts) or '0'})"

    def is_linear(self, poly: Poly, iterators: Sequence[str]) -> bool:
        """Return whether `affine` accepts `poly`."""
        return not any(
            len(monomial) > 1 and any(name in iterators for name in monomial)
            for monomial, _ in poly.at(self.values).terms
        )


def dims(statement: Statement, letter: str = "i") -> dict[str, str]:
    """Return the isl name of each iterator of `statement`, outermost first."""
    return {var: f"{letter}{depth}" for depth, var in enumerate(statement.iterators)}


def tuple_text(statement: Statement, letter: str = "i") -> str:
    """Return the isl tuple of an instance of `statement`: ``S0[i0, i1]``."""
    return f"S{statement.number}[{', '.join(dims(statement, letter).values())}]"


def context(statements: Sequence[Statement], space: Space, extents: Iterable[Poly]) -> isl.Set:
    """Return the sizes for which every loop with fixed bounds runs and every array exists."""
    facts = []
    for loop in loops_of(statements):
        for lower in loop.lower:
            for upper in loop.upper:
                trip = upper - lower
                if space.is_linear(trip, ()) and not _uses_iterator(loop, trip, statements):
                    facts.append(f"{space.affine(trip, {})} >= 1")
    facts += [f"{space.affine(extent, {})} >= 1" for extent in extents]
    return isl.Set(space.text(f": {' and '.join(dict.fromkeys(facts)) or 'true'}"))


def _uses_iterator(loop: Counted, trip: Poly, statements: Sequence[Statement]) -> bool:
    return any(
        trip.names & frozenset(statement.iterators)
        for statement in statements
        if loop in statement.loops
    )


def domain(statement: Statement, space: Space, sizes: isl.Set) -> isl.Set:
    """Return the instances of `statement` for the `sizes` of the context.

    Raises:
        NotLinear: A bound multiplies an outer iterator by a size without a value.
    """
    iterators = {var: variable(var) for var in statement.iterators}
    facts = bound_facts(statement, space, iterators)
    text = f"{tuple_text(statement)} : {' and '.join(facts) or 'true'}"
    return isl.Set(space.text(text)).intersect_params(sizes)


def bound_facts(statement: Statement, space: Space, values: Mapping[str, Poly]) -> list[str]:
    """Return in isl's syntax that the loops of `statement` take the `values`.

    A value is the loop's own variable, or a polynomial in sizes alone.

    Raises:
        NotLinear: A bound multiplies an outer iterator by a size without a value.
    """
    names = dims(statement)
    facts: list[str] = []
    for depth, loop in enumerate(statement.loops):
        value = space.affine(values[loop.var], names)
        lower = [space.affine(bound.substitute(values), names) for bound in loop.lower]
        facts += [f"{value} >= {bound}" for bound in lower]
        upper = [space.affine(bound.substitute(values), names) for bound in loop.upper]
        facts += [f"{value} < {bound}" for bound in upper]
        if loop.loop.step > 1:
            if len(lower) > 1:
                raise NotLinear(loop.lower[0], frozenset())
            step = f"{value} = {lower[0]} + {loop.loop.step} * q{depth}"
            facts.append(f"(exists q{depth} : {step})")
    return facts


def access_map(
    statement: Statement, subscripts: Sequence[Poly], space: Space, instances: isl.Set
) -> isl.Map:
    """Return the map from instances to elements, whose tuple has no name."""
    names = dims(statement)
    element = ", ".join(space.affine(one, names) for one in subscripts)
    text = f"{tuple_text(statement)} -> [{element}]"
    return isl.Map(space.text(text)).intersect_domain(instances)


def always(
    statement: Statement, value: Poly, extent: Poly, space: Space, instances: isl.Set
) -> bool:
    """Return whether ``0 <= value < extent`` at every instance, for all sizes of the context."""
    names = dims(statement)
    one = space.affine(value, names)
    outside = f"{one} < 0 or {one} >= {space.affine(extent, names)}"
    wrong = isl.Set(space.text(f"{tuple_text(statement)} : {outside}"))
    return bool(instances.intersect(wrong).is_empty())


def runs_inside(statement: Statement, value: Poly, extent: Poly) -> bool:
    """Return whether `value` is a loop variable that runs from 0 to below `extent`.

    The common case, decided without isl.
    """
    for loop in statement.loops:
        if value.terms == (((loop.var,), 1),):
            return ZERO in loop.lower and extent in loop.upper
    constant, size = value.constant, extent.constant
    return constant is not None and size is not None and 0 <= constant < size
