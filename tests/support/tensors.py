"""Tensor programs in a short notation, random ones, and what they compute."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotune.tensor.program import (
    Added,
    Applied,
    ElementType,
    Multiplied,
    Number,
    Operation,
    Reference,
    Tensor,
    TensorExpr,
    TensorProgram,
    Term,
    indices,
    parts,
)

Arrays = Mapping[str, NDArray[np.int64]]


def short_program(
    lengths: Mapping[str, int], *operations: str, elements: Mapping[str, ElementType] | None = None
) -> TensorProgram:
    """Return the program of lines such as ``d:ijk += A:kl*u:ijl - 2*c:ijk``.

    `lengths` are those of the indices, each of one letter; `elements` the types that are not
    double.
    """
    made = tuple(map(_operation, operations))
    tensors: dict[str, Tensor] = {}
    for one in (reference for each in made for reference in (each.output, *each.reads())):
        shape = tuple(lengths[name] for name in one.indices)
        element = (elements or {}).get(one.tensor, ElementType.DOUBLE)
        tensors.setdefault(one.tensor, Tensor(one.tensor, shape, element))
    return TensorProgram("f", (), tuple(tensors.values()), made)


def _operation(line: str) -> Operation:
    output, assign, *words = line.split()
    terms: list[Term] = []
    is_subtracted = False
    for word in words:
        if word in ("+", "-"):
            is_subtracted = word == "-"
            continue
        factors = tuple(map(_factor, word.split("*")))
        terms.append(Term(factors[0] if len(factors) == 1 else Multiplied(factors), is_subtracted))
    return Operation(_reference(output), assign, tuple(terms))


def _factor(word: str) -> TensorExpr:
    if word.startswith("("):
        return Added(tuple(Term(_reference(one)) for one in word[1:-1].split("+")))
    if word.startswith("exp"):
        return Applied("exp", (_reference(word[4:-1]),))
    return Number(word) if word[0].isdigit() else _reference(word)


def _reference(word: str) -> Reference:
    name, _, own = word.partition(":")
    return Reference(name, tuple(own))


def short_text(program: TensorProgram) -> tuple[str, ...]:
    """Return a program's operations in that notation."""
    return tuple(
        f"{_short(one.output)} {one.assign} {_short_sum(one.terms)}" for one in program.operations
    )


def _short_sum(terms: tuple[Term, ...]) -> str:
    text = " ".join(f"{'-' if one.is_subtracted else '+'} {_short(one.value)}" for one in terms)
    return text.removeprefix("+ ")


def _short(expr: TensorExpr) -> str:
    match expr:
        case Reference(tensor, own):
            return f"{tensor}:{''.join(own)}"
        case Number(text):
            return text
        case Multiplied(factors):
            return "*".join(map(_short, factors))
        case Added(terms):
            return f"({_short_sum(terms).replace(' ', '')})"
        case Applied(function, arguments):
            return f"{function}({','.join(map(_short, arguments))})"


def computed(program: TensorProgram, given: Arrays) -> dict[str, NDArray[np.int64]]:
    """Return what the tensors hold in the end, each product in one einsum.

    Tensors of the function itself are not to be read before they are set: they begin with what no
    product of small numbers is. Iterations of loops around the operations are done in turn.
    """
    held = {name: one.copy() for name, one in given.items()}
    for one in program.tensors:
        shape = tuple(n for n in map(program.value, one.lengths) if n is not None)
        held.setdefault(one.name, np.full(shape, 10**15 + 37, np.int64))
    around = [program.lengths(program.operations[0])[name] for name in program.around]
    for iteration in np.ndindex(*(program.value(length) or 0 for length in around)):
        chosen = dict(zip(program.around, iteration, strict=True))
        for operation in program.operations:
            own = operation.output.indices
            place = tuple(chosen.get(name, slice(None)) for name in own)
            held[operation.output.tensor][place] = _after(program, operation, held)[place]
    return held


def _after(program: TensorProgram, operation: Operation, held: Arrays) -> NDArray[np.int64]:
    """Return what an operation's tensor holds after it."""
    lengths = {n: program.value(v) or 0 for n, v in program.lengths(operation).items()}
    own = operation.output.indices
    total = np.zeros([lengths[name] for name in own], np.int64)
    for term in operation.terms:
        value = _summed(term.value, own, lengths, held)
        total = total - value if term.is_subtracted else total + value
    before = held[operation.output.tensor]
    return {"=": total, "+=": before + total, "-=": before - total}[operation.assign]


def _summed(
    expr: TensorExpr, kept: tuple[str, ...], lengths: Mapping[str, int], held: Arrays
) -> NDArray[np.int64]:
    """Return an expression, each factor summed with the others over what is not `kept`."""
    factors = expr.factors if isinstance(expr, Multiplied) else (expr,)
    names = list(lengths)
    operands: list[object] = []
    for factor in factors:
        own = indices(factor)
        operands += [_elements(factor, own, lengths, held), [names.index(name) for name in own]]
    # What an index of the output alone runs over has one value.
    ones = [np.ones([lengths[name] for name in kept], np.int64), [names.index(n) for n in kept]]
    return np.asarray(np.einsum(*operands, *ones, [names.index(name) for name in kept]))


def _elements(
    expr: TensorExpr, kept: tuple[str, ...], lengths: Mapping[str, int], held: Arrays
) -> NDArray[np.int64]:
    """Return an expression for each value of its indices."""
    match expr:
        case Number(text):
            return np.asarray(int(text))
        case Reference(tensor, own):
            names = list(lengths)
            places = [names.index(name) for name in own]
            return np.asarray(np.einsum(held[tensor], places, [names.index(n) for n in kept]))
        case Added(terms):
            total = np.zeros([lengths[name] for name in kept], np.int64)
            for term in terms:
                value = _summed(term.value, kept, lengths, held)
                total = total - value if term.is_subtracted else total + value
            return total
        case Applied():
            # Any function of integers does: this one has no inverse and is not linear.
            (argument,) = parts(expr)
            return _elements(argument, kept, lengths, held) ** 2 % 7
        case Multiplied():
            return _summed(expr, kept, lengths, held)


def random_arrays(program: TensorProgram, seed: int) -> dict[str, NDArray[np.int64]]:
    """Return small integers for the tensors that are the function's parameters."""
    random = np.random.default_rng(seed)
    out: dict[str, NDArray[np.int64]] = {}
    for one in program.tensors:
        if not one.is_internal:
            shape = [program.value(length) or 0 for length in one.lengths]
            out[one.name] = random.integers(-3, 4, shape)
    return out


@st.composite
def short_programs(draw: st.DrawFn) -> TensorProgram:
    """Draw a program of up to three operations, of few tensors, so that values are met again."""
    lengths = {name: draw(st.sampled_from((1, 2, 3, 5))) for name in "ijkl"}
    lengths["m"] = lengths["i"]
    orders = {name: draw(st.text("ijklm", min_size=0, max_size=3)) for name in "ABCD"}

    def reference(name: str) -> str:
        # Each place has an index of the same length as where the tensor is declared.
        alike = (
            [other for other in lengths if lengths[other] == lengths[own]] for own in orders[name]
        )
        return f"{name}:{''.join(draw(st.sampled_from(names)) for names in alike)}"

    def factor() -> str:
        name = draw(st.sampled_from("ABCD"))
        form = draw(st.sampled_from(("{}", "{}", "{}", "exp({})", "({}+{})", "2")))
        return form.format(*(reference(name) for _ in range(form.count("{}"))))

    def operation(number: int) -> str:
        terms = ["*".join(factor() for _ in range(draw(st.integers(1, 4))))]
        terms += ["*".join(factor() for _ in range(draw(st.integers(1, 5))))]
        terms = terms[: draw(st.integers(1, 2))]
        free = [name for name in "ijklm" if any(name in term for term in terms)]
        own = "".join(
            draw(st.lists(st.sampled_from(free), unique=True, max_size=3)) if free else ""
        )
        sign = draw(st.sampled_from("+-"))
        assign = draw(st.sampled_from(("=", "+=", "-=")))
        # The tensor that is set may be one that was read, where its shape is the same.
        again = [n for n in "ABCD" if [*map(lengths.get, orders[n])] == [*map(lengths.get, own)]]
        again = [name for name in again if not any(f"{name}:" in term for term in terms)]
        name = draw(st.sampled_from((f"R{number}", *again)))
        return f"{name}:{own} {assign} " + f" {sign} ".join(terms)

    lines = [operation(number) for number in range(draw(st.integers(1, 3)))]
    return short_program(lengths, *lines)
