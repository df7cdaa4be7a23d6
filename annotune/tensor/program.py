"""What a tensor file says: tensors with their places in memory, and what is computed of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias, assert_never

from annotune.diagnostics import NOWHERE, Span
from annotune.frozen import dataclass

Length: TypeAlias = str | int
"""How long a dimension is: the name of a `TensorSize`, or a number."""


class ElementType(StrEnum):
    """The type of a tensor's elements, as C writes it."""

    FLOAT = "float"
    DOUBLE = "double"
    COMPLEX = "double complex"

    @property
    def size_bytes(self) -> int:
        """Return how long one element is."""
        return {self.FLOAT: 4, self.DOUBLE: 8, self.COMPLEX: 16}[self]


class Memory(StrEnum):
    """Which index of a tensor runs fastest: the last by rows, the first by columns."""

    ROW = "row"
    COLUMN = "column"


class Pattern(StrEnum):
    """The order of the loops: that of the output's indices as listed, or reversed."""

    CONTIGUOUS = "contiguous"
    STRIDED = "strided"


class Addressing(StrEnum):
    """How C names an element: ``T[i][j]`` or ``T[j + n*i]``."""

    MULTIDIMENSIONAL = "multidimensional"
    LINEARIZE = "linearize"


@dataclass(frozen=True, slots=True)
class TensorSize:
    """A named length. A macro of the C text, or a parameter of the function.

    A macro has its value; a parameter may have one that it is tuned for, else it has None.
    """

    name: str
    value: int | None
    is_parameter: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the file, or a temporary of ours.

    `lengths` are those of the dimensions, in the order of the indices; `stored` are the lengths
    that memory has room for, where these are others (leading dimensions), else empty. A tensor
    that `is_pointers` is an array of pointers over its first index, each to a tensor of the
    others. One that `is_internal` is no parameter of the function: a temporary, which an operation
    sets as a whole before another one reads it. A tensor without dimensions that no operation sets
    is a number which the function gets.
    """

    name: str
    lengths: tuple[Length, ...]
    element: ElementType = ElementType.DOUBLE
    memory: Memory = Memory.ROW
    stored: tuple[Length, ...] = ()
    is_pointers: bool = False
    is_internal: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.stored and len(self.stored) != len(self.lengths):
            raise ValueError(f"tensor '{self.name}': {self.stored} for {self.lengths}")

    @property
    def order(self) -> int:
        """Return how many indices it has."""
        return len(self.lengths)

    @property
    def room(self) -> tuple[Length, ...]:
        """Return the lengths that count for where an element lies."""
        return self.stored or self.lengths


@dataclass(frozen=True, slots=True)
class Reference:
    """``T:(i, j)``: an element of a tensor. An index may stand twice on the right: a diagonal."""

    tensor: str
    indices: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    index_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)

    def index_span(self, place: int) -> Span:
        """Return where the index of one dimension stands."""
        return self.index_spans[place] if self.index_spans else self.span


@dataclass(frozen=True, slots=True)
class Number:
    """A real number, as it is written; never negative."""

    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Multiplied:
    """A product of two factors or more, from left to right; none of them is a product."""

    factors: tuple[TensorExpr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Term:
    """What a sum adds, or subtracts."""

    value: TensorExpr
    is_subtracted: bool = False


@dataclass(frozen=True, slots=True)
class Added:
    """A sum in brackets, from left to right. One subtracted term alone is a negative value."""

    terms: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Applied:
    """A function of C's for each element, by its name for doubles: ``exp(A:(i, j))``."""

    function: str
    arguments: tuple[TensorExpr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


TensorExpr: TypeAlias = Reference | Number | Multiplied | Added | Applied


def parts(expr: TensorExpr) -> tuple[TensorExpr, ...]:
    """Return what an expression is made of, in the order of the text."""
    match expr:
        case Reference() | Number():
            return ()
        case Multiplied(factors):
            return factors
        case Added(terms):
            return tuple(term.value for term in terms)
        case Applied(_, arguments):
            return arguments
        case _:
            assert_never(expr)


def references(expr: TensorExpr) -> Iterator[Reference]:
    """Yield the elements that an expression reads, in the order of the text."""
    if isinstance(expr, Reference):
        yield expr
    for part in parts(expr):
        yield from references(part)


def indices(expr: TensorExpr) -> tuple[str, ...]:
    """Return the indices of an expression, each once, in the order of the text."""
    return tuple(dict.fromkeys(name for one in references(expr) for name in one.indices))


@dataclass(frozen=True, slots=True)
class Operation:
    """``T:(i, j) = …``, ``+=`` or ``-=``: what happens for every element of a tensor.

    Each of the `terms` is summed by itself over its indices that the output does not have, as the
    summation convention says: of ``R:(i) = A:(i, k) * B:(k) + C:(i)`` the product alone is summed.
    All that is read is what the tensors hold before the operation.
    """

    output: Reference
    assign: str
    terms: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.assign not in ("=", "+=", "-="):
            raise ValueError(f"'{self.assign}' is no assignment of a tensor")

    def summed(self, term: Term) -> tuple[str, ...]:
        """Return the indices over which a term is summed, in the order of the text."""
        return tuple(name for name in indices(term.value) if name not in self.output.indices)

    def reads(self) -> Iterator[Reference]:
        """Yield the elements on the right, in the order of the text."""
        for term in self.terms:
            yield from references(term.value)


@dataclass(frozen=True, slots=True)
class TensorProgram:
    """One function: its sizes, its tensors in the order of their declaration, what it computes.

    The operations are done one after the other. Parameters of the function are the sizes that are
    parameters, then the tensors that are not internal, each in the order of the tuples. The loops
    over the indices `around` are around all operations, which are done one after the other for
    each of their iterations: internal tensors hold the elements of one. Where it `is_flat`, the
    loops over indices that stay adjacent in memory throughout an operation are one.
    """

    name: str
    sizes: tuple[TensorSize, ...]
    tensors: tuple[Tensor, ...]
    operations: tuple[Operation, ...]
    addressing: Addressing = Addressing.LINEARIZE
    pattern: Pattern = Pattern.CONTIGUOUS
    around: tuple[str, ...] = ()
    is_flat: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def tensor(self, name: str) -> Tensor:
        """Return the tensor of that name; a KeyError when there is none."""
        found = next((one for one in self.tensors if one.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def value(self, length: Length) -> int | None:
        """Return how long a dimension is; None where that is known at run time alone."""
        if isinstance(length, int):
            return length
        return next(one.value for one in self.sizes if one.name == length)

    def lengths(self, operation: Operation) -> Mapping[str, Length]:
        """Return how far each index of an operation runs, those of the output first.

        Where tensors give an index names that have one value, the first name counts.
        """
        found: dict[str, Length] = {}
        for one in (operation.output, *operation.reads()):
            for index, length in zip(one.indices, self.tensor(one.tensor).lengths, strict=True):
                found.setdefault(index, length)
        return found

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the names of the tensors that operations set, each once."""
        return tuple(dict.fromkeys(one.output.tensor for one in self.operations))

    @property
    def names(self) -> frozenset[str]:
        """Return every name that is taken: of sizes, tensors, indices and the function."""
        met = (
            index
            for operation in self.operations
            for one in (operation.output, *operation.reads())
            for index in one.indices
        )
        sizes = (one.name for one in self.sizes)
        return frozenset((self.name, *sizes, *(one.name for one in self.tensors), *met))
