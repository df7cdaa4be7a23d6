"""Expressions of tensors in C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from annotune.frozen import dataclass
from annotune.tensor.flatten import MergedIndices, fastest_last
from annotune.tensor.program import (
    Added,
    Addressing,
    Applied,
    ElementType,
    Length,
    Multiplied,
    Number,
    Reference,
    TensorExpr,
    TensorProgram,
    Term,
    references,
)

_RANKS = (ElementType.FLOAT, ElementType.DOUBLE, ElementType.COMPLEX)


def widest(program: TensorProgram, exprs: Iterable[TensorExpr]) -> ElementType:
    """Return the type in which C computes expressions; float where they have numbers alone."""
    found = (program.tensor(r.tensor).element for one in exprs for r in references(one))
    return max(found, key=_RANKS.index, default=ElementType.FLOAT)


@dataclass(frozen=True, slots=True)
class ElementText:
    """How elements of a program's tensors stand in C, in an operation with `merged` indices."""

    program: TensorProgram
    merged: MergedIndices

    def element(self, one: Reference) -> str:
        """Return an element: ``T[i][j]``, ``T[j + n*i]``, ``T[b][j + n*i]``, ``*T`` or ``T``."""
        tensor = self.program.tensor(one.tensor)
        order = fastest_last(self.program, tensor)
        if not order:
            is_pointer = one.tensor in self.program.outputs and not tensor.is_internal
            return f"*{one.tensor}" if is_pointer else one.tensor
        is_flat = self.program.addressing is Addressing.LINEARIZE or tensor.is_pointers
        names = [one.indices[place] for place in order]
        row = f"[{one.indices[0]}]" if tensor.is_pointers else ""
        if not is_flat:
            return one.tensor + "".join(f"[{name}]" for name in names)
        room = [tensor.room[place] for place in order]
        return f"{one.tensor}{row}[{_horner(*self.merged.subscript(names, room))}]"

    def expr(self, expr: TensorExpr, kind: ElementType) -> str:
        """Return an expression, whose numbers have the type of real ones that `kind` is made of."""
        match expr:
            case Reference():
                return self.element(expr)
            case Number(text):
                return _literal(text, kind)
            case Multiplied(factors):
                return " * ".join(self.expr(one, kind) for one in factors)
            case Added(terms):
                return f"({self.terms(terms, kind)})"
            case Applied(function, arguments):
                own = widest(self.program, arguments)
                name = function + "f" * (own is ElementType.FLOAT and function != "conj")
                texts = (self.terms((Term(one),), own) for one in arguments)
                return f"{name}({', '.join(texts)})"
            case _:
                assert_never(expr)

    def terms(self, terms: Sequence[Term], kind: ElementType) -> str:
        """Return a sum without its brackets."""
        match terms:
            case (Term(Added(inside), False),):
                return self.terms(inside, kind)
        text = ""
        for one in terms:
            value = self.expr(one.value, kind)
            sign = "-" if one.is_subtracted else "+"
            text += f" {sign} {value}" if text else f"-{value}" if one.is_subtracted else value
        return text


def _horner(names: list[str], lengths: list[Length]) -> str:
    """Return a subscript as in Fig. 3.2 of the thesis, the fastest index first."""
    text = names[0]
    for name, length in zip(names[1:], lengths[1:], strict=True):
        text = f"{name} + {length}*{text if text.isidentifier() else f'({text})'}"
    return text


def _literal(text: str, kind: ElementType) -> str:
    real = text if any(letter in text for letter in ".eE") else f"{text}.0"
    return real + "f" * (kind is ElementType.FLOAT)
