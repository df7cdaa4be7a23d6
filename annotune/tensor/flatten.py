"""Indices that stay adjacent as one: a contraction of tensors is one of matrices then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from annotune.frozen import dataclass
from annotune.tensor.fuse import inner_lengths
from annotune.tensor.names import fresh
from annotune.tensor.program import (
    Length,
    Memory,
    Operation,
    Reference,
    Tensor,
    TensorProgram,
)


def fastest_last(program: TensorProgram, tensor: Tensor) -> tuple[int, ...]:
    """Return the dimensions in memory of a tensor, the fastest last.

    Those of pointers are none, and those of loops around all operations neither.
    """
    kept = inner_lengths(program, tensor)
    places = tuple(p for p in range(int(tensor.is_pointers), tensor.order) if kept[p])
    return places if tensor.memory is Memory.ROW else places[::-1]


@dataclass(frozen=True, slots=True)
class MergedIndices:
    """The indices of an operation that are one, the fastest last, by what that is called."""

    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def loops(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the loops over indices, in the order of these."""
        called = {part: name for name, parts in self.parts.items() for part in parts}
        return tuple(dict.fromkeys(called.get(name, name) for name in names))

    def with_lengths(self, lengths: Mapping[str, Length]) -> Mapping[str, Length]:
        """Return how far loops run."""
        own = {n: " * ".join(str(lengths[p]) for p in parts) for n, parts in self.parts.items()}
        return {**lengths, **own}

    def subscript(
        self, names: Sequence[str], room: Sequence[Length]
    ) -> tuple[list[str], list[Length]]:
        """Return an element's indices, with the room of their dimensions, as they are merged."""
        found, rooms = list(names), list(room)
        for name, parts in self.parts.items():
            if parts[0] in found:
                at = found.index(parts[0])
                part = slice(at, at + len(parts))
                found[part], rooms[part] = [name], ["*".join(map(str, rooms[part]))]
        return found, rooms


def merged_indices(program: TensorProgram, operation: Operation) -> MergedIndices:
    """Return the indices of an operation that are one in a program that is flat.

    They lie in memory next to each other, in one order and without a gap, in every tensor that has
    any of them.
    """
    if not program.is_flat:
        return MergedIndices()
    met = tuple((one, _in_memory(program, one)) for one in (operation.output, *operation.reads()))
    after = dict(_adjacent(program, met))
    taken, found = program.names, dict[str, tuple[str, ...]]()
    for first in (name for name in after if name not in after.values()):
        parts = [first]
        while parts[-1] in after:
            parts.append(after[parts[-1]])
        name = fresh("_".join(parts), taken)
        taken |= {name}
        found[name] = tuple(parts)
    return MergedIndices(found)


def loops_of(program: TensorProgram) -> int:
    """Return how many loops the operations of a program are in, each counted by itself."""
    merged = ((one, merged_indices(program, one)) for one in program.operations)
    return sum(len(made.loops(program.lengths(one))) for one, made in merged)


def _in_memory(program: TensorProgram, one: Reference) -> tuple[str, ...]:
    """Return the indices of an element as they lie in memory, the fastest last."""
    tensor = program.tensor(one.tensor)
    return tuple(one.indices[place] for place in fastest_last(program, tensor))


def _adjacent(
    program: TensorProgram,
    met: Sequence[tuple[Reference, tuple[str, ...]]],
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of indices of which the second comes after the first wherever either is."""
    pairs = dict.fromkeys(pair for _, order in met for pair in pairwise(order))
    for first, second in pairs:
        either = [(one, order) for one, order in met if {first, second} & {*one.indices}]
        if all(_is_after(program, one, order, first, second) for one, order in either):
            yield first, second


def _is_after(
    program: TensorProgram, one: Reference, order: tuple[str, ...], first: str, second: str
) -> bool:
    """Return whether an element has two indices once each, the second the next in memory."""
    if one.indices.count(first) != 1 or one.indices.count(second) != 1:
        return False
    tensor, place = program.tensor(one.tensor), one.indices.index(second)
    return (first, second) in pairwise(order) and tensor.room[place] == tensor.lengths[place]
