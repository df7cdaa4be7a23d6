"""Values that several products have, computed once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

from annotune.frozen import dataclass
from annotune.tensor.contraction_order import TRIP_FLOP, Intermediate, layout, ordered
from annotune.tensor.products import Canonical, IndexLengths, ProductValue, canonical, own_flop
from annotune.tensor.program import Reference, indices

# Of a product of more factors than this, only pairs are looked for in others: 8 factors have 247
# products of two or more of them, each to be compared with those of all others.
MOST_FACTORS = 8


@dataclass(frozen=True)
class Summand:
    """A product that an operation adds, or the value of an intermediate.

    It `is_added` to what is there, or the first that is set.
    """

    value: ProductValue
    is_added: bool = False


@dataclass(frozen=True)
class _PartOfProduct:
    """Some factors of one of the products, and what their product is."""

    product: int
    factors: tuple[int, ...]
    part: ProductValue
    made_of: Canonical


@dataclass(frozen=True)
class SharedValues:
    """Products as they were given, with intermediates as factors, and these, in any order."""

    summands: tuple[Summand, ...]
    intermediates: tuple[Intermediate, ...]

    @property
    def products(self) -> tuple[Summand, ...]:
        """Return all that is computed."""
        return (*self.summands, *(Summand(one.value) for one in self.intermediates))

    def replaced(self, places: Sequence[_PartOfProduct], made: Intermediate) -> SharedValues:
        """Return the same products with an intermediate in those places."""
        own = canonical(made.value).kept
        parts: defaultdict[int, dict[tuple[int, ...], Reference]] = defaultdict(dict)
        for place in places:
            names = dict(zip(own, place.made_of.kept, strict=True))
            there = tuple(names[name] for name in made.reference.indices)
            parts[place.product][place.factors] = replace(made.reference, indices=there)
        values = [one.value.replaced(parts[n]) for n, one in enumerate(self.products)]
        count = len(self.summands)
        pairs = zip(self.intermediates, values[count:], strict=True)
        return SharedValues(
            tuple(replace(s, value=v) for s, v in zip(self.summands, values[:count], strict=True)),
            (*(replace(one, value=value) for one, value in pairs), made),
        )


def shared(
    summands: Sequence[Summand], lengths: IndexLengths, prefix: str, is_shared: bool = True
) -> SharedValues:
    """Return the products with values of their own where that takes fewer operations in all.

    One value at a time, that which saves most: a sum over one factor alone, an expression that does
    not change along all loops, a product of some factors that is met again, in the same product or
    in another one. Each product is counted in its best order. Unless it `is_shared`, no product of
    several factors has a value of its own.
    """

    @cache
    def alone(one: Summand) -> int:
        found = ordered(one.value, lengths, f"{prefix}.", one.is_added)
        return found.cost(lengths, one.is_added)

    def cost(found: SharedValues) -> int:
        kept = sum(one.elements(lengths) for one in found.intermediates)
        return sum(map(alone, found.products)) + TRIP_FLOP * kept

    found = SharedValues(tuple(summands), ())
    while True:
        name = f"{prefix}{len(found.intermediates)}"
        best = min(_with_one_more(found, lengths, name, is_shared), key=cost, default=found)
        if cost(best) >= cost(found):
            return found
        found = best


def _with_one_more(
    found: SharedValues, lengths: IndexLengths, name: str, is_shared: bool
) -> Iterator[SharedValues]:
    """Yield the products with each of the values that may be worth it."""
    by_key: defaultdict[tuple[object, ...], list[_PartOfProduct]] = defaultdict(list)
    for place in _places(found.products, len(found.summands), is_shared):
        by_key[place.made_of.key].append(place)
    for places in by_key.values():
        apart = _apart(places)
        if len(apart) > 1 or len(places[0].factors) == 1:
            part = places[0].part
            yield found.replaced(apart, Intermediate(Reference(name, layout(part, lengths)), part))


def _places(products: Sequence[Summand], count: int, is_shared: bool) -> Iterator[_PartOfProduct]:
    """Yield the parts of products that take operations; those after `count` are intermediates."""
    for number, product in enumerate(products):
        value = product.value
        tensors = [n for n, one in enumerate(value.factors) if indices(one)]
        most = len(tensors) if len(tensors) <= MOST_FACTORS else 2
        for size in range(1, most + 1 if is_shared else 2):
            for chosen in combinations(tensors, size):
                # An intermediate is no part of itself.
                if number >= count and len(chosen) == len(value.factors):
                    continue
                part = value.part(chosen)
                if size > 1 or part.is_summed or own_flop(part.factors[0]):
                    yield _PartOfProduct(number, chosen, part, canonical(part))


def _apart(places: Sequence[_PartOfProduct]) -> list[_PartOfProduct]:
    """Return those places that have no factor of an earlier one."""
    taken: set[tuple[int, int]] = set()
    out: list[_PartOfProduct] = []
    for place in places:
        own = {(place.product, factor) for factor in place.factors}
        if not own & taken:
            taken |= own
            out.append(place)
    return out
