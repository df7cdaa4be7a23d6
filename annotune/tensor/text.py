"""A program as the text of a tensor file, from which the same one is read again."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import assert_never

from annotune.tensor.program import (
    Added,
    Addressing,
    Applied,
    ElementType,
    Length,
    Memory,
    Multiplied,
    Number,
    Operation,
    Pattern,
    Reference,
    Tensor,
    TensorExpr,
    TensorProgram,
    TensorSize,
    Term,
)


def tensor_text(program: TensorProgram) -> str:
    """Return the tensor file that says a program."""
    lines = [program.name]
    if program.addressing is not Addressing.LINEARIZE:
        lines.append(f"access: {program.addressing}")
    if program.pattern is not Pattern.CONTIGUOUS:
        lines.append(f"pattern: {program.pattern}")
    for is_parameter, sizes in groupby(program.sizes, lambda one: one.is_parameter):
        lines.append("sizes:" if is_parameter else "define:")
        lines += (f"  {_given(one)}" for one in sizes)
    lines += ["variables:", *(f"  {declaration_text(one)}" for one in program.tensors)]
    lines += ["operations:", *(f"  {operation_text(one)}" for one in program.operations)]
    return "\n".join(lines) + "\n"


def _given(size: TensorSize) -> str:
    return size.name if size.value is None else f"{size.name} = {size.value}"


def declaration_text(tensor: Tensor) -> str:
    """Return how a tensor is declared."""
    words = [f"{tensor.name}: {_listed(tensor.lengths)}"]
    if tensor.memory is not Memory.ROW:
        words.append(tensor.memory.value)
    if tensor.stored:
        words.append(f"leading {_listed(tensor.stored[tensor.is_pointers :])}")
    if tensor.element is not ElementType.DOUBLE:
        words.append(tensor.element.rpartition(" ")[2])
    words += ["pointers"] * tensor.is_pointers + ["internal"] * tensor.is_internal
    return " ".join(words)


def operation_text(operation: Operation) -> str:
    """Return what an operation says."""
    return f"{_expr(operation.output)} {operation.assign} {_sum(operation.terms)}"


def _listed(names: Iterable[Length]) -> str:
    return f"({', '.join(map(str, names))})"


def _sum(terms: Iterable[Term]) -> str:
    words = [f"{'-' if one.is_subtracted else '+'} {_expr(one.value)}" for one in terms]
    text = " ".join(words)
    return text.removeprefix("+ ") if not text.startswith("- ") else f"-{text[2:]}"


def _expr(expr: TensorExpr) -> str:
    match expr:
        case Reference(tensor, ()):
            return tensor
        case Reference(tensor, indices):
            return f"{tensor}:{_listed(indices)}"
        case Number(text):
            return text
        case Multiplied(factors):
            return " * ".join(map(_expr, factors))
        case Added(terms):
            return f"({_sum(terms)})"
        case Applied(function, arguments):
            return f"{function}({', '.join(map(_argument, arguments))})"
        case _:
            assert_never(expr)


def _argument(expr: TensorExpr) -> str:
    return _sum(expr.terms) if isinstance(expr, Added) else _expr(expr)
