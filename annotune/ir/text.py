"""The text form of loop nests, for golden files and for tests.

Expressions are C. A loop is one line, its body is indented by two spaces::

    for e in 0:nelt @block.x peeled nelt - e >= 4
      for m in 0:lx step 2 unrolled 2 combines + t
        S0: Ur[e*lx + k] += D[m] * U[e][k]
      local double t = U[e][0]
      local double rows[4][16]
      local double sums[4] for sum
      shared double tile[256]
      await 1
      for ij in 0:6*n merges i from 0 by 6 merges j from 1 by 1
        S2: u[ij] = 0.0
      S1: t = 0.0 if e > 0 && U[e][0] < t streamed

``for i in 1:n: for j in 0:n: a[i][j] = 0.0`` is short for a body of one statement.
Statements without a label are numbered in text order; ``copy:`` marks one that is none of the
region's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from annotune.ir.expr import COMPARISONS, Access, Binary, Call, Expr, Int, Negate, Real, Select, Var
from annotune.ir.functions import c_name
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Await,
    Fetch,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Nest,
    Stmt,
)
from annotune.ir.text_reader import read_nest

# C11 6.5.5 to 6.5.15, loosest first.
SELECT = 1
PRECEDENCE = {
    **{"||": 2, "&&": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5},
    **{"+": 6, "-": 6, "*": 7, "/": 7, "%": 7},
}
SUM = PRECEDENCE["+"]
_UNARY = 8


def print_nest(nest: Nest) -> str:
    """Return the text form of `nest`, one line per loop or statement."""
    return "".join(f"{line}\n" for line in _body(nest.body, 0))


def parse_nest(text: str) -> Nest:
    """Return the nest whose text form is `text`.

    Raises:
        ValueError: The text is not the form of a nest; the message names the line.
    """
    return Nest(read_nest(text))


def print_expr(expr: Expr, enclosing: int = 0) -> str:
    """Return `expr` as C, with only the parentheses C needs.

    `enclosing` is the precedence of the operator around it, 0 for none.
    """
    match expr:
        case Int(value):
            return str(value) if value >= 0 or enclosing <= _UNARY else f"({value})"
        case Real(text):
            return text
        case Var(name):
            return name
        case Access(array, indices):
            return array + "".join(f"[{print_expr(index)}]" for index in indices)
        case Negate(operand):
            # One level above unary: -(-x) must not print as the operator of --x.
            text = f"-{print_expr(operand, _UNARY + 1)}"
            return f"({text})" if enclosing > _UNARY else text
        case Binary(op, left, right):
            own = PRECEDENCE[op]
            # C associates to the left, so only the right operand binds tighter:
            # (a - b) - c prints as a - b - c, but a - (b - c) keeps its parentheses.
            first, second = _clear(op, left, own), _clear(op, right, own + 1)
            text = f"{print_expr(left, first)} {op} {print_expr(right, second)}"
            return f"({text})" if own < enclosing else text
        case Call(function, arguments):
            return f"{c_name(function)}({', '.join(print_expr(a) for a in arguments)})"
        case Select(condition, if_true, if_false):
            choice = f"{print_expr(if_true)} : {print_expr(if_false, SELECT)}"
            text = f"{print_expr(condition, SELECT + 1)} ? {choice}"
            return f"({text})" if enclosing > SELECT else text
        case _:
            assert_never(expr)


def _clear(op: str, operand: Expr, least: int) -> int:
    """Return the precedence around an operand: parentheses also where compilers warn of none.

    These are ``(a < b) == c`` and ``a || (b && c)`` (gcc's -Wparentheses).
    """
    if op in COMPARISONS:
        return SUM
    return SUM if op == "||" and isinstance(operand, Binary) and operand.op == "&&" else least


def _body(body: tuple[Stmt, ...], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for stmt in body:
        match stmt:
            case Loop():
                yield indent + _header(stmt)
                yield from _body(stmt.body, depth + 1)
            case Assign(number, target, op, value, guard=guard):
                condition = "" if guard is None else f" if {print_expr(guard)}"
                label = "copy" if number == NO_STATEMENT else f"S{number}"
                word = " streamed" if stmt.streamed else ""
                text = f"{print_expr(target)} {op} {print_expr(value)}{condition}{word}"
                yield f"{indent}{label}: {text}"
            case Local(name, type_, None):
                yield f"{indent}local {type_} {name}"
            case Local(name, type_, value) if value is not None:
                yield f"{indent}local {type_} {name} = {print_expr(value)}"
            case LocalArray(name, type_, extents, space, scalar):
                word = "local" if space is MemorySpace.PRIVATE else space
                shape = "".join(f"[{n}]" for n in extents)
                yield f"{indent}{word} {type_} {name}{shape}" + (f" for {scalar}" if scalar else "")
            case Local():
                raise AssertionError(stmt)
            case Await(newest):
                yield f"{indent}await {newest}"
            case Fetch(place):
                yield f"{indent}fetch {print_expr(place)}"
            case _:
                assert_never(stmt)


def _header(loop: Loop) -> str:
    lower, upper = (print_expr(bound, SELECT + 1) for bound in (loop.lower, loop.upper))
    text = f"for {loop.var} in {lower}:{upper}"
    if loop.step != 1:
        text += f" step {loop.step}"
    if loop.place is not Level.SERIAL:
        text += f" @{loop.place}"
    if loop.tile_of:
        text += f" tile_of {loop.tile_of}"
    if loop.deal_of:
        text += f" deal_of {loop.deal_of}"
    if loop.unrolled != 1:
        text += f" unrolled {loop.unrolled}"
    for combined in loop.combines:
        text += f" combines {combined.op} {combined.name}"
    for part in loop.merges:
        text += f" merges {part.var} from {part.lower} by {part.stride}"
    for test in loop.peeled:
        text += f" peeled {print_expr(test, SELECT + 1)}"
    return text
