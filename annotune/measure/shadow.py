"""Two C programs beside the original: the magnitudes of its results, and their roundings.

Both are the region's own nest with every assignment of a real reinterpreted. Run on the
region's inputs they leave, in the place of every result,

* the *magnitude* M: the result with each term and factor taken by absolute value and each
  minus made a plus, an upper bound on the sum of |terms| for every order of summation;
* the *count* n: how many roundings the longest chain behind the result can hold, in any
  order of summation.

`annotune.measure.tolerance` makes a bound of the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from annotune.codegen.c_expr import c_expr
from annotune.ir.expr import Access, Binary, Call, Expr, Int, Negate, Real, Select, Var, walk
from annotune.ir.functions import FUNCTIONS
from annotune.ir.nest import Assign, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.ir.region import Region
from annotune.measure.harness import integer_names

_ABS = "__builtin_fabs"
_MAX = "__builtin_fmax"
# |max(x, y) - max(x', y')| <= max(|x - x'|, |y - y'|): these round nothing.
_EXACT_CALLS = {"min", "max"} | {f.name for f in FUNCTIONS.values() if f.is_exact}


@dataclass(frozen=True, slots=True)
class Shadow:
    """The bodies of the two programs, as C in the region's names.

    `is_linear` says that M and n bound the error by themselves. It is False where the region
    divides by what it has computed, or calls a function that can magnify an error.
    """

    magnitude: str
    count: str
    is_linear: bool


def shadow_of(region: Region) -> Shadow:
    """Return the two programs of `region`."""
    writer = _Writer(region)
    magnitude, count = (
        "".join(
            f"{line}\n"
            for line in [*writer.declarations(), *writer.lines(region.nest.body, counting, "  ")]
        )
        for counting in (False, True)
    )
    return Shadow(magnitude, count, writer.is_linear)


class _Writer:
    """Rewrites and prints the statements of one region; remembers what was not linear."""

    def __init__(self, region: Region) -> None:
        self.is_linear = True
        self._scalars = region.scalars
        self._integers = integer_names(region)
        assigns = region.nest.assigns()
        stmts = tuple(walk_stmts(region.nest.body))
        declared = {s.name for s in stmts if isinstance(s, Local)}
        written = {_name(assign.target) for assign in assigns} | declared
        self._written = written - self._integers
        declared |= {s.var for s in stmts if isinstance(s, Loop)}
        self._undeclared = [
            s for s in region.scalars.values() if s.is_local and s.name not in declared
        ]

    def declarations(self) -> Iterator[str]:
        """Yield those of the user's locals that the nest itself does not declare.

        One declaration around the whole nest serves: both programs run in sequence.
        """
        for scalar in self._undeclared:
            yield f"  {scalar.type.replace('const', '').strip()} {scalar.name} = 0;"

    def lines(self, body: tuple[Stmt, ...], counting: bool, indent: str) -> Iterator[str]:
        for stmt in body:
            match stmt:
                case Loop(var, lower, upper, inner, step):
                    declared = self._scalars.get(var)
                    # A variable declared outside is a parameter of the wrapper already.
                    own = "int " if declared is None else ""
                    if declared is not None and declared.is_local:
                        own = f"{declared.type.replace('const', '').strip()} "
                    yield (
                        f"{indent}for ({own}{var} = {c_expr(lower)}; {var} < {c_expr(upper)}; "
                        f"{var} += {step}) {{"
                    )
                    yield from self.lines(inner, counting, indent + "  ")
                    yield f"{indent}}}"
                case Local(name, type_, value):
                    plain = type_.replace("const", "").strip()
                    if value is None:
                        yield f"{indent}{plain} {name};"
                    elif name in self._integers:
                        yield f"{indent}{plain} {name} = {c_expr(value)};"
                    else:
                        yield f"{indent}{plain} {name} = {c_expr(self._value(value, counting))};"
                case LocalArray():
                    raise AssertionError("the user's own nest declares no local array")
                case Assign():
                    yield f"{indent}{self._assign(stmt, counting)};"
                case _:
                    assert_never(stmt)

    def _assign(self, assign: Assign, counting: bool) -> str:
        target = c_expr(assign.target)
        if _name(assign.target) in self._integers:
            return f"{target} {assign.op} {c_expr(assign.value)}"
        op, value = _accumulation(assign)
        if op == "=":
            return f"{target} = {c_expr(self._value(value, counting))}"
        if counting:
            return f"{target} = {c_expr(self._counted(assign.target, op, value))}"
        old: Expr = Call(_ABS, (assign.target,))
        if op == "/=":
            return f"{target} = {c_expr(Binary('/', old, self._divisor(value)))}"
        combined = Binary("*" if op == "*=" else "+", old, self._magnitude(value))
        return f"{target} = {c_expr(combined)}"

    def _counted(self, target: Expr, op: str, value: Expr) -> Expr:
        """Return the count of an accumulation, right for every order of its terms."""
        terms = self._count(value)
        if op in ("+=", "-=") and isinstance(terms, Int):
            # Terms of equal count c: the chain is c and one addition per term.
            return Binary("+", Call(_MAX, (target, terms)), Int(1))
        # Terms of different counts: the one with most may be the first to be summed.
        return Binary("+", _plus(target, terms), Int(1))

    def _value(self, value: Expr, counting: bool) -> Expr:
        return self._count(value) if counting else self._magnitude(value)

    def _is_exact(self, expr: Expr) -> bool:
        """Return whether `expr` is a constant, an input, or integers alone: no rounding yet."""
        match expr:
            case Int() | Real():
                return True
            case Var() | Access():
                return _name(expr) not in self._written
            case Negate(operand):
                return self._is_exact(operand)
            case Binary() | Call() | Select():
                leaves = (e for e in walk(expr) if isinstance(e, Var | Real | Access))
                return all(isinstance(e, Var) and e.name in self._integers for e in leaves)
            case _:
                assert_never(expr)

    def _divisor(self, divisor: Expr) -> Expr:
        """Return the absolute value of a divisor; one that carries an error is not linear."""
        if not self._is_exact(divisor):
            self.is_linear = False
        return Call(_ABS, (divisor,))

    def _magnitude(self, expr: Expr) -> Expr:
        if self._is_exact(expr):
            return Call(_ABS, (expr,))
        match expr:
            case Negate(operand):
                return self._magnitude(operand)
            case Binary("+" | "-", left, right):
                return Binary("+", self._magnitude(left), self._magnitude(right))
            case Binary("/", left, right):
                return Binary("/", self._magnitude(left), self._divisor(right))
            case Binary(op, left, right):
                return Binary(op, self._magnitude(left), self._magnitude(right))
            case Call(function, arguments) if function in _EXACT_CALLS:
                return _folded(_MAX, [self._magnitude(a) for a in arguments])
            case Call():
                self.is_linear = False
                return Call(_ABS, (expr,))
            case Access() | Var():
                return Call(_ABS, (expr,))
            case Select(condition, if_true, if_false):
                self.is_linear &= self._is_exact(condition)
                return _folded(_MAX, [self._magnitude(if_true), self._magnitude(if_false)])
            case Int() | Real():
                raise AssertionError(expr)
            case _:
                assert_never(expr)

    def _count(self, expr: Expr) -> Expr:
        if self._is_exact(expr):
            return Int(0)
        match expr:
            case Access() | Var():
                return expr
            case Negate(operand):
                return self._count(operand)
            case Binary("+" | "-", left, right):
                longer = _folded(_MAX, [self._count(left), self._count(right)])
                return _plus(longer, Int(1))
            case Binary(_, left, right):
                # (1 + d)^a (1 + d)^b (1 + d): a product has the roundings of both.
                return _plus(_plus(self._count(left), self._count(right)), Int(1))
            case Call(function, arguments):
                own = 0 if function in _EXACT_CALLS else 1
                return _plus(_folded(_MAX, [self._count(a) for a in arguments]), Int(own))
            case Select(_, if_true, if_false):
                return _folded(_MAX, [self._count(if_true), self._count(if_false)])
            case Int() | Real():
                raise AssertionError(expr)
            case _:
                assert_never(expr)


def _name(place: Access | Var) -> str:
    return place.array if isinstance(place, Access) else place.name


def _accumulation(assign: Assign) -> tuple[str, Expr]:
    """Return the operator and value, with ``t = t + e`` seen as ``t += e``."""
    match assign.value:
        case Binary("+" | "-" as op, left, right) if assign.op == "=" and left == assign.target:
            return f"{op}=", right
        case Binary("+", left, right) if assign.op == "=" and right == assign.target:
            return "+=", left
        case _:
            return assign.op, assign.value


def _plus(left: Expr, right: Expr) -> Expr:
    if isinstance(left, Int) and isinstance(right, Int):
        return Int(left.value + right.value)
    if right == Int(0):
        return left
    return right if left == Int(0) else Binary("+", left, right)


def _folded(function: str, arguments: list[Expr]) -> Expr:
    """Return `function`, of two arguments, over all `arguments`; constants computed."""
    result = arguments[0]
    for argument in arguments[1:]:
        if isinstance(result, Int) and isinstance(argument, Int):
            result = Int(max(result.value, argument.value))
        elif argument == Int(0):
            continue
        else:
            result = argument if result == Int(0) else Call(function, (result, argument))
    return result
