"""Products of a tensor program: what one costs, and when two of them are the same value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, permutations, product
from math import factorial, prod
from typing import TypeAlias, assert_never

from annotune.frozen import dataclass
from annotune.tensor.program import (
    Added,
    Applied,
    Multiplied,
    Number,
    Reference,
    TensorExpr,
    indices,
    parts,
)

IndexLengths: TypeAlias = Mapping[str, int]
"""How far each index of an operation runs, as a number."""

# Factors that look alike are compared in every order where there are no more orders than this, that
# of six of one tensor; products of more are the same only where they are written alike.
MAX_ORDERS = 720


def renamed(
    expr: TensorExpr, names: Mapping[str, str], tensors: Mapping[str, str] | None = None
) -> TensorExpr:
    """Return an expression with its indices called otherwise, and the `tensors` named there."""
    match expr:
        case Reference(tensor, own):
            called = tensor if tensors is None else tensors.get(tensor, tensor)
            return replace(expr, tensor=called, indices=tuple(names[name] for name in own))
        case Number():
            return expr
        case Multiplied(factors):
            return replace(expr, factors=tuple(renamed(one, names, tensors) for one in factors))
        case Added(terms):
            inside = (replace(t, value=renamed(t.value, names, tensors)) for t in terms)
            return replace(expr, terms=tuple(inside))
        case Applied(_, arguments):
            return replace(expr, arguments=tuple(renamed(one, names, tensors) for one in arguments))
        case _:
            assert_never(expr)


def own_flop(expr: TensorExpr) -> int:
    """Return the operations that one element of an expression takes.

    They are counted as `annotune.analysis.work` does, where a function counts as one: a real
    addition or multiplication is one operation, and so is a complex one.
    """
    inside = sum(own_flop(one) for one in parts(expr))
    match expr:
        case Multiplied(factors):
            return inside + len(factors) - 1
        case Added(terms):
            return inside + len(terms) - 1
        case Applied():
            return inside + 1
    return inside


@dataclass(frozen=True)
class ProductValue:
    """A product summed over all its indices that are not `kept`: the elements of one tensor.

    None of the `factors` is a product.
    """

    factors: tuple[TensorExpr, ...]
    kept: tuple[str, ...]

    @property
    def loops(self) -> frozenset[str]:
        """Return the indices of the loops that compute it as it stands."""
        return frozenset(self.kept).union(*(indices(one) for one in self.factors))

    @property
    def is_summed(self) -> bool:
        """Return whether there is an index over which it is summed."""
        return self.loops > frozenset(self.kept)

    def instances(self, lengths: IndexLengths) -> int:
        """Return how many products are computed as it stands."""
        return prod(lengths[name] for name in self.loops)

    def flop(self, lengths: IndexLengths, is_added: bool = False) -> int:
        """Return the operations that compute it as it stands, each product added where need be.

        Where it `is_added` to what is there, that is counted with it.
        """
        each = sum(map(own_flop, self.factors)) + len(self.factors) - 1
        return self.instances(lengths) * (each + int(self.is_summed or is_added))

    def part(self, places: Collection[int]) -> ProductValue:
        """Return the product of some factors, summed over what no other needs."""
        inside = [one for n, one in enumerate(self.factors) if n in places]
        outside = [one for n, one in enumerate(self.factors) if n not in places]
        needed = {*self.kept, *chain.from_iterable(map(indices, outside))}
        own = dict.fromkeys(chain.from_iterable(map(indices, inside)))
        return ProductValue(tuple(inside), tuple(name for name in own if name in needed))

    def replaced(self, parts: Mapping[tuple[int, ...], Reference]) -> ProductValue:
        """Return the value with one factor in the place of each of those parts."""
        first = {min(places): reference for places, reference in parts.items()}
        inside = {place for places in parts for place in places}
        factors = (
            first.get(place, factor)
            for place, factor in enumerate(self.factors)
            if place in first or place not in inside
        )
        return ProductValue(tuple(factors), self.kept)


@dataclass(frozen=True)
class Canonical:
    """What a value is, however its indices are called and its factors are ordered.

    Values with the same `key` have the same elements, that of one at its `kept` indices being that
    of another at its own, one by one.
    """

    key: tuple[object, ...]
    kept: tuple[str, ...]


def canonical(value: ProductValue) -> Canonical:
    """Return what a value is.

    Its indices are numbered as they come up, in the order of the factors for which the text is
    least: real numbers are multiplied in any order. Equal keys are one expression, of which the
    two values are renamings.
    """
    found = (_numbered(factors, value.kept) for factors in _orders(value.factors))
    return min(found, key=lambda one: repr(one.key))


def _numbered(factors: Sequence[TensorExpr], kept: Sequence[str]) -> Canonical:
    names: dict[str, str] = {}
    for name in chain.from_iterable(map(indices, factors)):
        names.setdefault(name, f"{len(names):03}")
    own = sorted(kept, key=names.__getitem__)
    numbers = tuple(names[name] for name in own)
    return Canonical((*(renamed(one, names) for one in factors), numbers), tuple(own))


def _orders(factors: Sequence[TensorExpr]) -> Iterator[Sequence[TensorExpr]]:
    """Yield factors sorted by what each is by itself, those that are alike in every order."""

    def alone(factor: TensorExpr) -> str:
        return repr(_numbered((factor,), ()).key)

    groups = [tuple(group) for _, group in groupby(sorted(factors, key=alone), key=alone)]
    if prod(factorial(len(group)) for group in groups) > MAX_ORDERS:
        yield tuple(chain.from_iterable(groups))
        return
    for chosen in product(*(permutations(group) for group in groups)):
        yield tuple(chain.from_iterable(chosen))
