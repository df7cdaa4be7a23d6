"""The operations of a program in common loops, so that what one leaves is near for the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from annotune.tensor.program import Reference, Tensor, TensorProgram

# What the temporaries of one iteration may take: they are to stay in a core's own caches.
NEAR_BYTES = 256 * 1024


def fusions(program: TensorProgram) -> tuple[TensorProgram, ...]:
    """Return a program with loops around it that its operations share: the first, the first two…

    They are those over indices of every output. An element that is set and met again is met in
    the same iteration: every reference to a tensor that some operation sets has the index in the
    same place. So each iteration does what the operations, done one after the other, do for its
    values of the indices, and the temporaries need no more room than for one iteration. That has to
    be little at the sizes for which the program is tuned.
    """
    if len(program.operations) < 2 or not any(one.is_internal for one in program.tensors):
        return ()
    first = program.operations[0].output.indices
    common = [name for name in first if _is_shared(program, name)]
    found = (replace(program, around=tuple(common[: n + 1])) for n in range(len(common)))
    return tuple(one for one in found if _is_near(one))


def inner_lengths(program: TensorProgram, tensor: Tensor) -> tuple[bool, ...]:
    """Return for each dimension of a tensor whether memory has room for it.

    The others of an internal tensor are those of the loops around the operations.
    """
    if not tensor.is_internal or not program.around:
        return (True,) * tensor.order
    reference = next(one for one in _met(program) if one.tensor == tensor.name)
    return tuple(name not in program.around for name in reference.indices)


def is_of_one_iteration(program: TensorProgram, tensor: Tensor) -> bool:
    """Return whether an internal tensor can be declared inside the loops around all operations.

    Its room is known to be little then, whatever the function is called with: it is on the stack.
    """
    fixed = {one.name for one in program.sizes if not one.is_parameter}
    kept = zip(tensor.lengths, inner_lengths(program, tensor), strict=True)
    return bool(program.around) and all(
        isinstance(length, int) or length in fixed for length, is_kept in kept if is_kept
    )


def _met(program: TensorProgram) -> Iterator[Reference]:
    for one in program.operations:
        yield one.output
        yield from one.reads()


def _is_shared(program: TensorProgram, index: str) -> bool:
    """Return whether no iteration of the index's loop meets what another one sets."""
    if any(index not in one.output.indices for one in program.operations):
        return False
    if len({program.lengths(one)[index] for one in program.operations}) > 1:
        return False
    places: defaultdict[str, set[tuple[int, ...]]] = defaultdict(set)
    for one in _met(program):
        own = tuple(place for place, name in enumerate(one.indices) if name == index)
        places[one.tensor].add(own)
    return all(len(places[name]) == 1 for name in program.outputs)


def _is_near(program: TensorProgram) -> bool:
    """Return whether what an iteration leaves for itself is known to stay in a cache."""
    total = 0
    for one in (tensor for tensor in program.tensors if tensor.is_internal):
        kept = zip(one.lengths, inner_lengths(program, one), strict=True)
        values = [program.value(length) for length, is_kept in kept if is_kept]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return False
        total += one.element.size_bytes * prod(known)
    return total <= NEAR_BYTES
