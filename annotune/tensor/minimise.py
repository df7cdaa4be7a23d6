"""The same tensors with fewer operations: two factors at a time, and each value computed once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from math import prod

from annotune.frozen import dataclass
from annotune.tensor.contraction_order import Intermediate, ordered, other_orders
from annotune.tensor.fuse import inner_lengths
from annotune.tensor.products import ProductValue, own_flop, renamed
from annotune.tensor.program import (
    ElementType,
    Length,
    Multiplied,
    Number,
    Operation,
    Reference,
    Tensor,
    TensorExpr,
    TensorProgram,
    Term,
    indices,
    references,
)
from annotune.tensor.sharing import Summand, shared

# What a size is taken for that is known at run time alone, to compare orders of contraction.
ASSUMED_LENGTH = 16


@dataclass(frozen=True)
class Minimised:
    """A program that computes the same with fewer operations, and what became of them.

    `flop_before` and `flop_after` are exact where every size is known; else for the `assumed` sizes
    by their names.
    """

    program: TensorProgram
    flop_before: int
    flop_after: int
    bytes_before: int
    bytes_after: int
    assumed: Mapping[str, int]

    @classmethod
    def of(cls, program: TensorProgram, made: TensorProgram) -> Minimised:
        """Return what `made` costs, which computes what `program` does, beside that."""
        return cls(
            made,
            flop(program),
            flop(made),
            sum(_bytes(program, one) for one in program.tensors),
            sum(_bytes(made, one) for one in made.tensors),
            {one.name: ASSUMED_LENGTH for one in program.sizes if one.value is None},
        )

    @property
    def temporaries(self) -> tuple[Tensor, ...]:
        """Return the tensors that the function has for itself."""
        return tuple(one for one in self.program.tensors if one.is_internal)

    @property
    def temporaries_elements(self) -> int:
        """Return how many numbers these hold, those of loops around all operations for one."""
        return sum(_elements(self.program, one) for one in self.temporaries)


def minimised(program: TensorProgram, order: int = 0, is_shared: bool = True) -> Minimised:
    """Return a program that sets the same tensors to the same values, with the fewest operations.

    Products of several tensors become contractions of two with temporaries between them, values
    that are met again are computed once. Sums and products of real numbers are computed in another
    order then, so that results are rounded otherwise. A temporary is set once, as a whole, before
    the first operation that reads it.

    `order` takes each product in another order that costs nearly as little, the last one where
    there are fewer. Unless it `is_shared`, each product has its own temporaries.
    """
    names = _UniqueNames.of(program)
    found = _rewritten(program, names, order, is_shared)
    if flop(found) >= flop(program):
        found = program
    return Minimised.of(program, found)


def flop(program: TensorProgram) -> int:
    """Return the operations of a program, as `annotune check` counts those of its C text.

    A real addition or multiplication is one, and so is a complex one.
    """
    return sum(_operation_flop(program, one) for one in program.operations)


def _operation_flop(program: TensorProgram, operation: Operation) -> int:
    """Return the operations of one: terms that are summed over the same are so in one nest.

    What the output is set to is computed of these sums, with the numbers before a sum of one term;
    a single term that is added goes to the output itself.
    """
    lengths = _numbers(program, operation)
    elements = prod(lengths[name] for name in operation.output.indices)
    groups: defaultdict[frozenset[str], list[TensorExpr]] = defaultdict(list)
    for term in operation.terms:
        groups[frozenset(operation.summed(term))].append(term.value)
    is_compound = operation.assign != "="
    if is_compound and len(operation.terms) == 1:
        ((summed, (value,)),) = groups.items()
        return elements * prod(lengths[name] for name in summed) * (own_flop(value) + 1)
    each, inside = len(groups.pop(frozenset(), ())) + len(groups) - 1 + is_compound, 0
    each += sum(own_flop(t.value) for t in operation.terms if not operation.summed(t))
    for summed, values in groups.items():
        outside = sum(map(_is_number, factors(values[0]))) if len(values) == 1 else 0
        each += outside
        times = prod(lengths[name] for name in summed)
        inside += times * (sum(map(own_flop, values)) + len(values) - outside)
    return elements * (each + inside)


def _is_number(expr: TensorExpr) -> bool:
    return isinstance(expr, Number) or (isinstance(expr, Reference) and not expr.indices)


def _numbers(program: TensorProgram, operation: Operation) -> dict[str, int]:
    return {name: _number(program, one) for name, one in program.lengths(operation).items()}


def _number(program: TensorProgram, length: Length) -> int:
    value = program.value(length)
    return ASSUMED_LENGTH if value is None else value


def _bytes(program: TensorProgram, tensor: Tensor) -> int:
    return tensor.element.size_bytes * _elements(program, tensor)


def _elements(program: TensorProgram, tensor: Tensor) -> int:
    """Return how many numbers a tensor has room for; of one iteration where it is of that."""
    kept = zip(tensor.room, inner_lengths(program, tensor), strict=True)
    return prod(_number(program, length) for length, is_kept in kept if is_kept)


@dataclass(frozen=True)
class _UniqueNames:
    """Names that mean one thing in the whole of a program.

    An index is called ``i@2`` in the third operation, a tensor that has been set twice before
    ``A@2``: what is called alike is the same, wherever it stands.
    """

    lengths: Mapping[str, int]
    declared: Mapping[str, Length]
    summands: Mapping[tuple[int, int], Summand]

    @classmethod
    def of(cls, program: TensorProgram) -> _UniqueNames:
        """Return the names of a program, and its terms in these."""
        lengths: dict[str, int] = {}
        declared: dict[str, Length] = {}
        summands: dict[tuple[int, int], Summand] = {}
        times_set: Counter[str] = Counter()
        for number, one in enumerate(program.operations):
            names = {name: f"{name}@{number}" for name in program.lengths(one)}
            lengths |= {names[name]: n for name, n in _numbers(program, one).items()}
            declared |= {names[name]: n for name, n in program.lengths(one).items()}
            tensors = {t.name: f"{t.name}@{times_set[t.name]}" for t in program.tensors}
            kept = tuple(names[name] for name in one.output.indices)
            for place, term in enumerate(one.terms):
                own = factors(renamed(term.value, names, tensors))
                is_added = one.assign != "=" or place > 0
                summands[number, place] = Summand(ProductValue(own, kept), is_added)
            times_set[one.output.tensor] += 1
        return cls(lengths, declared, summands)


def factors(expr: TensorExpr) -> tuple[TensorExpr, ...]:
    """Return the factors of a product, an expression that is none being its own."""
    return expr.factors if isinstance(expr, Multiplied) else (expr,)


def _original(name: str) -> str:
    return name.partition("@")[0]


def _rewritten(
    program: TensorProgram, names: _UniqueNames, order: int, is_shared: bool
) -> TensorProgram:
    """Return the program with its products in order and its common values shared."""
    lengths = names.lengths
    found = shared(tuple(names.summands.values()), lengths, "%", is_shared)
    waiting: dict[str, Intermediate] = {}

    def in_order(value: ProductValue, prefix: str, is_added: bool = False) -> ProductValue:
        made = ordered(value, lengths, prefix, is_added)
        if order:
            made = [made, *other_orders(value, lengths, prefix, is_added)][: order + 1][-1]
        waiting.update((one.reference.tensor, one) for one in made.before)
        return made.last

    for one in found.intermediates:
        value = in_order(one.value, f"{one.reference.tensor}.")
        waiting[one.reference.tensor] = replace(one, value=value)
    values = {
        key: in_order(summand.value, f"%{key[0]}.{key[1]}.", summand.is_added)
        for key, summand in zip(names.summands, found.summands, strict=True)
    }
    return _ProgramWriter(program, names, waiting).program_of(values)


def _read(value: ProductValue) -> set[str]:
    return {one.tensor for factor in value.factors for one in references(factor)}


class _ProgramWriter:
    """Writes operations in front of those that need them."""

    def __init__(
        self, program: TensorProgram, names: _UniqueNames, waiting: Mapping[str, Intermediate]
    ) -> None:
        self._program = program
        self._names = names
        self._waiting = waiting
        self._tensors: dict[str, Tensor] = {}
        self._operations: list[Operation] = []
        self._outputs: defaultdict[str, set[ElementType]] = defaultdict(set)
        self._taken = program.names

    def program_of(self, values: Mapping[tuple[int, int], ProductValue]) -> TensorProgram:
        """Return the program whose terms have those values."""
        for (number, _), value in values.items():
            self._note_output(value, self._program.operations[number].output.tensor)
        for number, one in enumerate(self._program.operations):
            terms: list[Term] = []
            for place, term in enumerate(one.terms):
                value = values[number, place]
                for factor in value.factors:
                    self._write(factor, one)
                same = value == self._names.summands[number, place].value
                terms.append(term if same else replace(term, value=self._expression(value)))
            self._operations.append(replace(one, terms=tuple(terms)))
        tensors = (*self._program.tensors, *self._tensors.values())
        return replace(self._program, tensors=tensors, operations=tuple(self._operations))

    def _note_output(self, value: ProductValue, output: str) -> None:
        """Note for what a value is made of to which tensor it goes."""
        for name in _read(value):
            if made := self._waiting.get(name):
                self._outputs[name].add(self._program.tensor(output).element)
                self._note_output(made.value, output)

    def _write(self, factor: TensorExpr, reader: Operation) -> None:
        """Write what a factor is made of, where that has not been done."""
        for read in references(factor):
            made = self._waiting.get(read.tensor)
            if made is None or read.tensor in self._tensors:
                continue
            for one in made.value.factors:
                self._write(one, reader)
            name = next(free for n in count(1) if (free := f"t{n}") not in self._taken)
            self._taken |= {name}
            own = made.reference.indices
            self._tensors[read.tensor] = Tensor(
                name,
                tuple(self._names.declared[index] for index in own),
                self._element(read.tensor),
                self._program.tensor(reader.output.tensor).memory,
                is_internal=True,
                span=reader.span,
            )
            reference = Reference(name, tuple(map(_original, own)), reader.span)
            term = Term(self._expression(made.value))
            self._operations.append(Operation(reference, "=", (term,), reader.span))

    def _element(self, name: str) -> ElementType:
        """Return the type that holds an intermediate as exactly as the products that read it do."""
        types = {
            (self._tensors.get(one) or self._program.tensor(_original(one))).element
            for one in _read(self._waiting[name].value)
        }
        if ElementType.COMPLEX in types:
            return ElementType.COMPLEX
        is_float = {*types, *self._outputs[name]} == {ElementType.FLOAT}
        return ElementType.FLOAT if is_float else ElementType.DOUBLE

    def _expression(self, value: ProductValue) -> TensorExpr:
        called = {name: one.name for name, one in self._tensors.items()}
        tensors = {name: called.get(name, _original(name)) for name in _read(value)}
        names = {name: _original(name) for factor in value.factors for name in indices(factor)}
        found = tuple(renamed(one, names, tensors) for one in value.factors)
        return found[0] if len(found) == 1 else Multiplied(found)
