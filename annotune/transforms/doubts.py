"""What is written for the cases in which the order of a reduction may show in its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotune.analysis.reductions import OrderDoubt
from annotune.ir.expr import Access, Binary, Call, Expr, Negate, Real, Select, Var, negated, rewrite
from annotune.ir.nest import Assign


@dataclass(frozen=True, slots=True)
class Doubts:
    """What is written for the doubts of a statement whose workers have each a `partial` result."""

    doubt: OrderDoubt
    assign: Assign
    partial: Var

    def noted(self, flag: Var, yes: Expr) -> Assign:
        """Return the statement that notes an element that is NaN, which alone is not itself."""
        element, assign = self.doubt.element, self.assign
        assert element is not None
        value = Select(Binary("!=", element, element), yes, flag)
        return Assign(assign.number, flag, "=", value, assign.span, assign.guard)

    def value(self) -> Expr:
        """Return what becomes of the target and the partial result, by the user's own choice."""
        return self.partial if self.doubt.element is None else self._chosen(self.assign.value)

    def _chosen(self, expr: Expr) -> Expr:
        return rewrite(expr, lambda part: self.partial if part == self.doubt.element else None)

    def tests(self, seen: Sequence[Var]) -> list[Expr]:
        """Return where the order of the elements may show, any of it; `seen` are flags for NaN."""
        doubt, target = self.doubt, self.assign.target
        tests: list[Expr] = [Binary("!=", flag, Real("0.0")) for flag in seen]
        if doubt.nan_start:
            tests.append(Binary("!=", target, target))
        is_zero = Binary("==", self.partial, Real("0.0"))
        if doubt.zero_start:
            tests.append(Binary("&&", is_zero, Binary("==", target, Real("0.0"))))
        if doubt.zero:
            choice = self.assign.value
            assert isinstance(choice, Select)
            is_taken = self._chosen(choice.condition)
            if choice.if_true == target:
                is_taken = negated(is_taken)
            tests.append(is_zero if doubt.is_narrow else Binary("&&", is_zero, is_taken))
        return tests


def lost_sign(target: Access | Var, partial: Var, element: str) -> list[Expr]:
    """Return, for each part of a number, whether that of the target is -0.0 and none came."""
    suffix = "f" if "float" in element else ""
    zero, one = Real(f"0.0{suffix}"), Real(f"1.0{suffix}")
    parts: list[tuple[Expr, Expr]] = [(target, partial)]
    if "omplex" in element:
        names = ("__real__", "__imag__")
        parts = [(Call(name, (target,)), Call(name, (partial,))) for name in names]
    found: list[Expr] = []
    for whole, added in parts:
        is_negative = Binary("<", Binary("/", one, whole), zero)
        both = Binary("&&", Binary("==", added, zero), Binary("==", whole, zero))
        found.append(Binary("&&", both, is_negative))
    return found


def adds_more(assign: Assign, element: str) -> Expr:
    """Return whether what a statement adds to a real number is anything but -0.0.

    -0.0 changes no number of its own type, and all else makes 0.0 of -0.0 or another number.
    """
    suffix = "f" if element == "float" else ""
    zero, one = Real(f"0.0{suffix}"), Real(f"1.0{suffix}")
    nothing = Negate(zero)
    match assign.op:
        case "+=":
            added = assign.value
        case "-=":
            added = Binary("-", nothing, assign.value)
        case _:
            added = rewrite(assign.value, lambda part: nothing if part == assign.target else None)
    if element == "float":
        # A term that is a double is rounded when it is added.
        added = Call("(float)", (added,))
    is_positive = Binary(">", Binary("/", one, added), zero)
    return Binary("||", Binary("!=", added, zero), is_positive)


def lost_size(partial: Var, element: str) -> list[Expr]:
    """Return where a product has left its type's range, or digits below it: C's order may not.

    0.0 times what has become infinite is NaN.
    """
    is_float = element == "float"
    least = Real("1.17549435e-38f" if is_float else "2.2250738585072014e-308")
    is_great = Binary("!=", Binary("-", partial, partial), Real("0.0f" if is_float else "0.0"))
    is_small = Binary("&&", Binary("<", partial, least), Binary("<", Negate(partial), least))
    return [is_great, is_small]
