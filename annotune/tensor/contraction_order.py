"""The order in which the tensors of a product are multiplied, two at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod

from annotune.tensor.products import IndexLengths, ProductValue
from annotune.tensor.program import Reference, TensorExpr, indices

# An element of an intermediate is written and read again, which takes as long as so many
# operations: 16 bytes at 71 GB/s, while two cores do 27 GFLOP/s of a contraction compiled by gcc.
TRIP_FLOP = 6


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
    numbers = tuple(one for one in value.factors if not indices(one))
    tensors = tuple(one for one in value.factors if indices(one))
    if len(tensors) < 3:
        return as_written
    inputs = tuple(frozenset(indices(one)) for one in tensors)
    sizes = tuple(sorted((name, lengths[name]) for name in value.loops))
    pairs = _path(inputs, frozenset(value.kept), sizes)
    found = _along(ProductValue(tensors, value.kept), pairs, lengths, prefix)
    found = _without_idle(found, lengths)
    found = Ordered(found.before, ProductValue((*numbers, *found.last.factors), value.kept))
    is_better = found.cost(lengths, is_added) < as_written.cost(lengths, is_added)
    return found if is_better else as_written


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
    before: list[Intermediate] = []
    for pair in path[:-1]:
        part = value.part(pair)
        name = f"{prefix}{len(before)}"
        made = Intermediate(Reference(name, layout(part, lengths)), part)
        before.append(made)
        rest = (one for n, one in enumerate(value.factors) if n not in pair)
        value = ProductValue((*rest, made.reference), value.kept)
    return Ordered(tuple(before), value)


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
