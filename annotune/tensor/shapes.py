"""Sizes that a file leaves to the indices: of tensors that are declared by an order alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from annotune.diagnostics import AnnotuneError
from annotune.tensor.messages import BAD_SHAPE
from annotune.tensor.names import fresh
from annotune.tensor.program import Length, Reference, TensorProgram, TensorSize

# No name begins so.
_UNKNOWN = "?"


def unknown_length(tensor: str, place: int) -> Length:
    """Return what stands for a length until `with_sizes_of_indices` finds it."""
    return f"{_UNKNOWN}{tensor}.{place}"


def is_unknown(length: Length) -> bool:
    """Return whether a length is still to be found."""
    return isinstance(length, str) and length.startswith(_UNKNOWN)


def with_sizes_of_indices(program: TensorProgram) -> TensorProgram:
    """Return a program in which every length is known: that of the index which runs over it.

    Where no tensor says how far an index runs, its size is a parameter of the function, ``n_i`` of
    an index i; one that the file declares by this name is taken. References have as many indices as
    their tensors have lengths.

    Raises:
        AnnotuneError: No operation uses a tensor that has an order alone.
    """
    open_lengths = [one for t in program.tensors for one in t.lengths if is_unknown(one)]
    if not open_lengths:
        return program
    ties = _Ties(program)
    sizes = {one.name: one for one in program.sizes}
    taken = program.names
    found: dict[Length, Length] = {}
    by_class: dict[Length, Length] = {}
    for length in open_lengths:
        root = ties.root(length)
        if root not in by_class:
            known, index = ties.known.get(root), ties.index.get(root)
            if known is None and index is not None:
                name = f"n_{index}" if f"n_{index}" in sizes else fresh(f"n_{index}", taken)
                taken |= {name}
                sizes.setdefault(name, TensorSize(name, None, is_parameter=True))
                known = name
            if known is not None:
                by_class[root] = known
        found[length] = by_class.get(root, length)
    unused = [t for t in program.tensors if any(is_unknown(found.get(n, n)) for n in t.lengths)]
    if unused:
        hint = "take its declaration away, or declare its sizes: `(m, n)`"
        raise AnnotuneError(
            tuple(
                BAD_SHAPE.at(t.span, what=f"nothing says how long '{t.name}' is", hint=hint)
                for t in unused
            )
        )
    tensors = (
        replace(
            one,
            lengths=tuple(found.get(n, n) for n in one.lengths),
            stored=tuple(found.get(n, n) for n in one.stored),
        )
        for one in program.tensors
    )
    return replace(program, sizes=tuple(sizes.values()), tensors=tuple(tensors))


class _Ties:
    """Which lengths are one, for an index runs over them all; `known` and `index` are by root."""

    def __init__(self, program: TensorProgram) -> None:
        self._parent: dict[Length, Length] = {}
        self.known: dict[Length, Length] = {}
        self.index: dict[Length, str] = {}
        for number, operation in enumerate(program.operations):
            for one in (operation.output, *operation.reads()):
                for index, length in _pairs(program, one):
                    self._tie(f"{_UNKNOWN}{number} {index}", index, length)

    def root(self, length: Length) -> Length:
        """Return which of the lengths stands for all that are tied to one."""
        while self._parent.setdefault(length, length) != length:
            length = self._parent[length]
        return length

    def _tie(self, node: Length, index: str, length: Length) -> None:
        first = self.root(node)
        self.index.setdefault(first, index)
        if not is_unknown(length):
            self.known.setdefault(first, length)
            return
        second = self.root(length)
        if first == second:
            return
        self._parent[second] = first
        self.index[first] = min(self.index[first], self.index.get(second, self.index[first]))
        if second in self.known:
            self.known.setdefault(first, self.known[second])


def _pairs(program: TensorProgram, one: Reference) -> Iterator[tuple[str, Length]]:
    return zip(one.indices, program.tensor(one.tensor).lengths, strict=True)
