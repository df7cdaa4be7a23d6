"""The order in which the tensors of a product are multiplied, two at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import prod

from annotune.frozen import dataclass
from annotune.tensor.products import IndexLengths, ProductValue
from annotune.tensor.program import Reference, TensorExpr, indices

# An element of an intermediate is written and read again, which takes as long as so many
# operations: 16 bytes at 71 GB/s, while two cores do 27 GFLOP/s of a contraction compiled by gcc.
TRIP_FLOP = 6
# Orders that cost up to so many times the least are worth being tried.
NEARLY = 1.25
# Of products of more factors than this, other orders are not listed: five factors have 105.
MOST_LISTED = 5


@dataclass(frozen=True)
class Intermediate:
    """A value that is computed for itself, and how products refer to it."""

    reference: Reference
    value: ProductValue

    def elements(self, lengths: IndexLengths) -> int:
        """Return how many numbers are kept."""
        return prod(lengths[name] for name in self.reference.indices)

    def cost(self, lengths: IndexLengths) -> int:
        """Return its operations, and those that could be done while it goes to memory and back."""
        return self.value.flop(lengths) + TRIP_FLOP * self.elements(lengths)


@dataclass(frozen=True)
class Ordered:
    """A product as the last of several values; each reads only those before it."""

    before: tuple[Intermediate, ...]
    last: ProductValue

    @property
    def parts(self) -> frozenset[frozenset[TensorExpr]]:
        """Return the factors, as they were given, of each value before the last.

        They tell one order from another; in what order independent values are computed is the same.
        """
        made = {one.reference: one.value for one in self.before}

        def leaves(value: ProductValue) -> Iterator[TensorExpr]:
            for one in value.factors:
                yield from leaves(made[one]) if one in made else (one,)

        return frozenset(frozenset(leaves(one)) for one in made.values())

    def cost(self, lengths: IndexLengths, is_added: bool = False) -> int:
        """Return what all of them cost, in operations."""
        inside = sum(one.cost(lengths) for one in self.before)
        return inside + self.last.flop(lengths, is_added)


def ordered(
    value: ProductValue, lengths: IndexLengths, prefix: str, is_added: bool = False
) -> Ordered:
    """Return a product in the order that takes the fewest operations, two factors at a time.

    Intermediates are called `prefix` and a number. Factors without an index, which are numbers,
    stay with the last value. Where that costs no less, the product stays as it is.
    """
    as_written = Ordered((), value)
    tensors = [one for one in value.factors if indices(one)]
    if len(tensors) < 3:
        return as_written
    inputs = tuple(frozenset(indices(one)) for one in tensors)
    sizes = tuple(sorted((name, lengths[name]) for name in value.loops))
    found = _along(value, _path(inputs, frozenset(value.kept), sizes), lengths, prefix)
    is_better = found.cost(lengths, is_added) < as_written.cost(lengths, is_added)
    return found if is_better else as_written


def other_orders(
    value: ProductValue, lengths: IndexLengths, prefix: str, is_added: bool = False
) -> tuple[Ordered, ...]:
    """Return a product in the other orders that cost nearly as little, the least first.

    None for a product that is best as it is, or has too many orders.
    """
    best = ordered(value, lengths, prefix, is_added)
    count = sum(bool(indices(one)) for one in value.factors)
    if not best.before or count > MOST_LISTED:
        return ()
    limit = NEARLY * best.cost(lengths, is_added)
    by_parts = {best.parts: best}
    for path in _every_path(count):
        one = _along(value, path, lengths, prefix)
        if one.cost(lengths, is_added) <= limit:
            by_parts.setdefault(one.parts, one)
    found = sorted(by_parts.values(), key=lambda one: one.cost(lengths, is_added))
    return tuple(one for one in found if one is not best)


def _every_path(count: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield all ways to multiply so many factors, two at a time."""
    if count < 3:
        yield ((0, 1),)
        return
    for pair in combinations(range(count), 2):
        for rest in _every_path(count - 1):
            yield (pair, *rest)


@cache
def _path(
    inputs: tuple[frozenset[str], ...], kept: frozenset[str], sizes: tuple[tuple[str, int], ...]
) -> tuple[tuple[int, ...], ...]:
    """Return which of the factors left are multiplied in turn; a product goes behind the others."""
    # It imports numpy, which programs without such products need not wait for.
    from opt_einsum.paths import auto_hq

    path = auto_hq([*map(set, inputs)], set(kept), dict(sizes))
    return tuple(tuple(sorted(pair)) for pair in path)


def _along(
    value: ProductValue, path: Sequence[Sequence[int]], lengths: IndexLengths, prefix: str
) -> Ordered:
    """Return a product whose tensors are multiplied in turn, its numbers with the last of them."""
    numbers = tuple(one for one in value.factors if not indices(one))
    value = ProductValue(tuple(one for one in value.factors if indices(one)), value.kept)
    before: list[Intermediate] = []
    for pair in path[:-1]:
        part = value.part(pair)
        name = f"{prefix}{len(before)}"
        made = Intermediate(Reference(name, layout(part, lengths)), part)
        before.append(made)
        rest = (one for n, one in enumerate(value.factors) if n not in pair)
        value = ProductValue((*rest, made.reference), value.kept)
    found = _without_idle(Ordered(tuple(before), value), lengths)
    return replace(found, last=replace(value, factors=(*numbers, *found.last.factors)))


def layout(value: ProductValue, lengths: IndexLengths) -> tuple[str, ...]:
    """Return in which order the indices of an intermediate stand in memory.

    It is that of its longest factor, the indices of the others in the place of those that are
    summed: what was contiguous stays so, and the loops over it are those over the factor.
    """

    def elements(factor: TensorExpr) -> int:
        return prod(lengths[name] for name in indices(factor))

    longest = max(value.factors, key=elements)
    own = indices(longest)
    others = [name for name in value.kept if name not in own]
    out: list[str] = []
    for name in own:
        if name in value.kept:
            out.append(name)
        else:
            out += others
            others = []
    return (*out, *others)


def _without_idle(found: Ordered, lengths: IndexLengths) -> Ordered:
    """Return the values without those whose loops are those of the value that reads them.

    Nothing is added up in them, so they take as many operations there, and no memory.
    """
    values = [*found.before, Intermediate(Reference(""), found.last)]
    for reference in [made.reference for made in found.before]:
        own = next(one for one in values if one.reference == reference)
        place, reader = next(
            (n, one) for n, one in enumerate(values) if reference in one.value.factors
        )
        is_idle = own.value.instances(lengths) == reader.value.instances(lengths)
        if own.value.is_summed or not is_idle:
            continue
        at = reader.value.factors.index(reference)
        factors = (*reader.value.factors[:at], *own.value.factors, *reader.value.factors[at + 1 :])
        values[place] = replace(reader, value=replace(reader.value, factors=factors))
        values.remove(own)
    return Ordered(tuple(values[:-1]), values[-1].value)
