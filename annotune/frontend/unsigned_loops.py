"""Loops whose iterator C compares with its bound as unsigned numbers.

Where one of the two is unsigned, C11 6.3.1.8 converts the other: from -2, a loop to ``64u`` does
not run at all, since -2 becomes a large number. A nest counts among all the integers.

A loop that one such comparison alone ends is taken to have a bound of 0 or above: it would run
for a long time. Beside another comparison the converted bound is one like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotune.diagnostics import Template
from annotune.frontend import messages
from annotune.frontend.expressions import Expressions
from annotune.frontend.kinds import Typed, common, is_unsigned
from annotune.frontend.ranges import of_type, width
from annotune.frontend.symbols import Symbol
from annotune.frontend.unsigned import signed
from annotune.ir.expr import Binary, Call, Expr, Int, Negate, Select, variables, walk
from annotune.ir.fold import fold

# No iterator comes so far, and its distance from any that one does come to is a long.
_BEYOND = 2**62


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of a loop: ``symbol op bound``, from `start` on by `step`."""

    symbol: Symbol
    op: str
    bound: Typed
    start: Typed
    step: int

    @property
    def kind(self) -> str:
        """Return the type in which C compares."""
        return common(self.symbol.base, self.bound.kind)


def check(compared: Comparison, node: Any, expressions: Expressions) -> None:
    """Refuse a comparison that differs from one among all the integers; `node` is the bound.

    Raises:
        AnnotuneError: Nothing shows that both sides are the numbers that C compares.
    """
    template = _problem(compared, expressions)
    if template is not None:
        var, kind = compared.symbol.name, compared.kind
        raise expressions.refuse(template, node, var=var, type=kind)


def as_compared(compared: Comparison, is_mixed: bool, expressions: Expressions) -> Expr:
    """Return the bound of a comparison, one of several, as the number that C compares with.

    One that the steps never meet is beyond all that they may meet. Among bounds that are not
    `is_mixed`, C itself chooses the least one.
    """
    start, is_up = compared.start.expr, compared.step > 0
    bound = _converted(compared, is_mixed, expressions)
    way = Binary("-", bound, start) if is_up else Binary("-", start, bound)
    if compared.op != "!=" or expressions.is_nonnegative(fold(way)):
        return bound
    beyond = Int(_BEYOND) if is_up else Negate(Int(_BEYOND))
    start, bound = signed(start, expressions.names), signed(bound, expressions.names)
    return Select(Binary("<" if is_up else ">", bound, start), beyond, bound)


def _converted(compared: Comparison, is_mixed: bool, expressions: Expressions) -> Expr:
    """Return the bound in the type in which C compares."""
    bound, bound_kind = compared.bound.expr, compared.bound.kind
    is_met = compared.op == "!=" and not is_unsigned(compared.symbol.base)
    if is_met and is_unsigned(compared.kind):
        # Equal numbers are equal in both types: -1 meets the largest unsigned one.
        return bound
    kind = bound_kind if is_unsigned(bound_kind) else compared.kind
    span = expressions.range_of(bound)
    # No loop around comes as far as a parameter may be.
    is_near = variables(bound) <= expressions.spans.keys() or not (is_mixed or compared.step < 0)
    if not is_unsigned(kind) or (
        span is not None and span[0] >= 0 and (is_near or span[1] < 2**63)
    ):
        return bound
    if width(kind) < 64:
        return Call("(long)", (Call(f"({kind})", (bound,)),))
    bound = signed(bound, expressions.names)
    return Select(Binary("<", bound, Int(0)), Int(_BEYOND), bound)


def _problem(compared: Comparison, expressions: Expressions) -> Template | None:
    base, kind, step = compared.symbol.base, compared.kind, compared.step
    bound = expressions.range_of(compared.bound.expr)
    if not is_unsigned(kind) and not is_unsigned(base):
        # -1u is a large number, also where the comparison is one of longs.
        is_below = is_unsigned(compared.bound.kind) and bound is not None and bound[1] < 0
        return messages.UNSIGNED_BOUND if is_below else None
    if bound is not None and bound[1] < 0:
        return messages.UNSIGNED_BOUND
    starts_above = _starts_above(compared.start.expr, expressions)
    if compared.op == "!=":
        return _meeting_problem(compared, starts_above, expressions)
    if step > 0:
        if not starts_above:
            return messages.UNSIGNED_START
        return messages.NEVER_ENDS if _passes_end(compared) else None
    if not starts_above and (not is_unsigned(base) or bound is None or bound[0] < 0):
        # Where both go round, the one may be above the other again.
        return messages.UNSIGNED_START
    return None if _stays_above(compared, expressions) else messages.NEVER_ENDS


def _starts_above(start: Expr, expressions: Expressions) -> bool:
    """Return whether a start is 0 or more also as a long, however a cast has made it so."""
    casts = {"(unsigned long)", "(unsigned long long)"}
    calls = (part for part in walk(start) if isinstance(part, Call) and part.function in casts)
    inside = (argument for call in calls for argument in call.arguments)
    return expressions.is_nonnegative(start) and all(map(expressions.is_nonnegative, inside))


def _meeting_problem(
    compared: Comparison, starts_above: bool, expressions: Expressions
) -> Template | None:
    """Return why an iterator may meet another number than the bound is, None where it may not.

    Equal numbers are equal in both types, but a signed iterator meets below 0 what an unsigned
    bound has above it. Upwards from 0 it would have to pass the end of its type first.
    """
    if is_unsigned(compared.symbol.base) or not is_unsigned(compared.bound.kind):
        return None
    if compared.step > 0 and starts_above:
        return None
    bound, held = expressions.range_of(compared.bound.expr), of_type(compared.symbol.base)
    is_held = bound is not None and held is not None and bound[1] <= held[1]
    return None if is_held else messages.UNSIGNED_MEETING


def _passes_end(compared: Comparison) -> bool:
    """Return whether an unsigned iterator goes round before it reaches a constant bound."""
    bound, held = compared.bound.expr, of_type(compared.symbol.base)
    if held is None or not is_unsigned(compared.symbol.base) or not isinstance(bound, Int):
        return False
    first_outside = bound.value + (compared.op == "<=")
    return first_outside + compared.step - 1 > held[1]


def _stays_above(compared: Comparison, expressions: Expressions) -> bool:
    """Return whether a loop that counts down ends before it would go below 0.

    The first value that ends it may be as much below the bound as a step is long, less 1.
    """
    bound, step = compared.bound.expr, -compared.step
    if compared.op == ">" and step == 1:
        return True
    distance = fold(Binary("-", compared.start.expr, bound))
    if compared.op == ">" and isinstance(distance, Int) and distance.value % step == 0:
        return True
    span, held = expressions.range_of(bound), of_type(compared.kind)
    if span is None or held is None or span[1] > held[1]:
        return False
    return span[0] - (compared.op == ">=") >= step - 1
