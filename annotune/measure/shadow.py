"""Two C programs beside the original: the magnitudes of its results, and their roundings.

Both are the region's own nest with every assignment of a real reinterpreted. Run on the
region's inputs they leave, in the place of every result,

* the *magnitude* M: the result with each term and factor taken by absolute value and each
  minus made a plus, an upper bound on the sum of |terms| for every order of summation;
* the *count* n: how many roundings the longest chain behind the result can hold, in any
  order of summation.

Conditions of inputs and integers decide as they do in the original. One that reads what has
been computed says nothing here: its statement may or may not run, and leaves the larger of
what was there and what it would write.

`annotune.measure.oracle` makes a bound of the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from annotune.codegen.c_expr import plain_c
from annotune.codegen.names import spelled
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    SUM,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    variables,
    walk,
)
from annotune.ir.functions import FUNCTIONS, is_integer
from annotune.ir.nest import Assign, Await, Fetch, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.ir.region import Region
from annotune.measure.values import Family, family_of, integer_names

ABS = "__builtin_fabs"
MAX = "__builtin_fmax"
_COMPLEX_ABS = "__builtin_cabs"

# |max(x, y) - max(x', y')| <= max(|x - x'|, |y - y'|): these round nothing. The absolute value
# of a complex number follows its argument as closely, and rounds as a square root of a sum.
_ROUNDINGS = {"min": 0, "max": 0, "cabs": 3} | {f.name: 0 for f in FUNCTIONS.values() if f.is_exact}

# Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.5: complex arithmetic is as
# accurate as real one up to these numbers of roundings.
_COMPLEX_ROUNDINGS = {"*": 3, "/": 10}


class _Readings:
    """What is known of a region's names, and the two readings of its expressions.

    `is_linear` turns False once M and n do not bound the error by themselves.
    """

    def __init__(self, region: Region) -> None:
        self.is_linear = True
        self.integers = _integers(region)
        stmts = tuple(walk_stmts(region.nest.body))
        types = {s.name: s.type for s in region.scalars.values()}
        types |= {a.name: a.element for a in region.arrays.values()}
        types |= {s.name: s.type for s in stmts if isinstance(s, Local)}
        self._complex = {n for n, type_ in types.items() if family_of(type_) is Family.COMPLEX}
        written = {name_of(a.target) for a in region.nest.assigns()}
        written |= {s.name for s in stmts if isinstance(s, Local)}
        self._written = written - self.integers
        self._doubtful = self._integers_from_reals(region.nest.assigns())

    def is_certain(self, condition: Expr) -> bool:
        """Return whether the shadow programs see the same condition as the original does.

        It is one of inputs and of integers that no computed real has decided.
        """
        names = {name_of(e) for e in walk(condition) if isinstance(e, Var | Access)}
        return not names & (self._written | self._doubtful)

    def is_complex(self, expr: Expr) -> bool:
        """Return whether `expr` is a complex number."""
        match expr:
            case Call(function, _) if function in FUNCTIONS:
                return family_of(FUNCTIONS[function].result) is Family.COMPLEX
            case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
                return False
            case Access(array, _):
                return array in self._complex
            case Var(name):
                # The imaginary unit of complex.h.
                return name in self._complex or name == "I"
            case Int() | Real():
                return False
            case Negate(operand):
                return self.is_complex(operand)
            case Binary(_, left, right) | Select(_, left, right):
                return self.is_complex(left) or self.is_complex(right)
            case Call(_, arguments):
                return any(map(self.is_complex, arguments))
            case _:
                assert_never(expr)

    def absolute(self, expr: Expr) -> Expr:
        """Return the absolute value of `expr` as it stands."""
        return Call(_COMPLEX_ABS if self.is_complex(expr) else ABS, (expr,))

    def is_exact(self, expr: Expr) -> bool:
        """Return whether `expr` is a constant, an input, or integers alone: no rounding yet."""
        match expr:
            case Int() | Real():
                return True
            case Var() | Access():
                return name_of(expr) not in self._written
            case Negate(operand):
                return self.is_exact(operand)
            case Binary() | Call() | Select():
                leaves = [e for e in walk(expr) if isinstance(e, Var | Real | Access)]
                calls = [e for e in walk(expr) if isinstance(e, Call)]
                return all(
                    isinstance(e, Var | Access) and name_of(e) in self.integers for e in leaves
                ) and all(is_integer(e.function) for e in calls)
            case _:
                assert_never(expr)

    def divisor(self, divisor: Expr) -> Expr:
        """Return the absolute value of a divisor; one that carries an error is not linear."""
        if not self.is_exact(divisor):
            self.is_linear = False
        return self.absolute(divisor)

    def magnitude(self, expr: Expr) -> Expr:
        """Return an upper bound on the sum of the absolute values of the terms of `expr`."""
        if self.is_exact(expr):
            return self.absolute(expr)
        match expr:
            case Negate(operand):
                return self.magnitude(operand)
            case Binary("+" | "-", left, right):
                return Binary("+", self.magnitude(left), self.magnitude(right))
            case Binary("/", left, right):
                return Binary("/", self.magnitude(left), self.divisor(right))
            case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
                return expr if self.is_certain(expr) else Int(1)
            case Binary(op, left, right):
                return Binary(op, self.magnitude(left), self.magnitude(right))
            case Call(function, arguments) if self._roundings(function) is not None:
                return folded(MAX, [self.magnitude(a) for a in arguments])
            case Call():
                self.is_linear = False
                return self.absolute(expr)
            case Access() | Var():
                return self.absolute(expr)
            case Select(condition, if_true, if_false):
                first, second = self.magnitude(if_true), self.magnitude(if_false)
                if self.is_certain(condition):
                    return Select(condition, first, second)
                return folded(MAX, [first, second])
            case Int() | Real():
                raise AssertionError(expr)
            case _:
                assert_never(expr)

    def count(self, expr: Expr) -> Expr:
        """Return the roundings on the longest chain behind the value of `expr`."""
        if self.is_exact(expr):
            return Int(0)
        match expr:
            case Access() | Var():
                return expr
            case Negate(operand):
                return self.count(operand)
            case Binary("+" | "-", left, right):
                longer = folded(MAX, [self.count(left), self.count(right)])
                return plus(longer, Int(1))
            case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
                return Int(0)
            case Binary(op, left, right):
                # (1 + d)^a (1 + d)^b (1 + d): a product has the roundings of both.
                both = plus(self.count(left), self.count(right))
                return plus(both, Int(self.own_roundings(op, expr)))
            case Call(function, arguments):
                own = self._roundings(function)
                longest = folded(MAX, [self.count(a) for a in arguments])
                return plus(longest, Int(1 if own is None else own))
            case Select(condition, if_true, if_false):
                first, second = self.count(if_true), self.count(if_false)
                if self.is_certain(condition) and first != second:
                    return Select(condition, first, second)
                return folded(MAX, [first, second])
            case Int() | Real():
                raise AssertionError(expr)
            case _:
                assert_never(expr)

    def own_roundings(self, op: str, expr: Expr) -> int:
        """Return how many roundings one operation is, with the type of `expr`."""
        return _COMPLEX_ROUNDINGS.get(op, 1) if self.is_complex(expr) else 1

    def _roundings(self, function: str) -> int | None:
        """Return the roundings of a function that magnifies no error, None for any other."""
        if function.startswith("("):
            return None if is_integer(function) else 1
        return _ROUNDINGS.get(function)

    def _integers_from_reals(self, assigns: tuple[Assign, ...]) -> set[str]:
        """Return the integers that computed reals decide, directly or by way of others."""
        found: set[str] = set()
        while True:
            bad = self._written | found
            more = {
                name
                for assign in assigns
                if (name := name_of(assign.target)) in self.integers - found
                and any(_names(source) & bad for source in assign.sources())
            }
            if not more:
                return found
            found |= more


def _integers(region: Region) -> frozenset[str]:
    """Return the scalars and the arrays that hold integers."""
    arrays = (a.name for a in region.arrays.values() if family_of(a.element) is Family.INTEGER)
    return integer_names(region) | frozenset(arrays)


def _names(expr: Expr) -> frozenset[str]:
    return variables(expr) | {e.array for e in walk(expr) if isinstance(e, Access)}


def name_of(place: Access | Var) -> str:
    """Return the name of an element's array or of a scalar."""
    return place.array if isinstance(place, Access) else place.name


def plus(left: Expr, right: Expr) -> Expr:
    """Return a sum of counts, constants computed."""
    if isinstance(left, Int) and isinstance(right, Int):
        return Int(left.value + right.value)
    if right == Int(0):
        return left
    return right if left == Int(0) else Binary("+", left, right)


def folded(function: str, arguments: list[Expr]) -> Expr:
    """Return `function`, of two arguments, over all `arguments`; constants computed."""
    result = arguments[0]
    for argument in arguments[1:]:
        if isinstance(result, Int) and isinstance(argument, Int):
            result = Int(max(result.value, argument.value))
        elif argument == Int(0) or argument == result:
            continue
        else:
            result = argument if result == Int(0) else Call(function, (result, argument))
    return result


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
    return Shadow(magnitude, count, writer.values.is_linear)


class _Writer:
    """Rewrites and prints the statements of one region."""

    def __init__(self, region: Region) -> None:
        self.values = _Readings(region)
        self._scalars = region.scalars
        stmts = tuple(walk_stmts(region.nest.body))
        declared = {s.name for s in stmts if isinstance(s, Local)}
        declared |= {s.var for s in stmts if isinstance(s, Loop)}
        self._undeclared = [
            s for s in region.scalars.values() if s.is_local and s.name not in declared
        ]

    def declarations(self) -> Iterator[str]:
        """Yield those of the user's locals that the nest itself does not declare.

        One declaration around the whole nest serves: both programs run in sequence.
        """
        for scalar in self._undeclared:
            yield f"  {_plain(scalar.type)} {scalar.name} = 0;"

    def lines(self, body: tuple[Stmt, ...], counting: bool, indent: str) -> Iterator[str]:
        for stmt in body:
            match stmt:
                case Loop(var, lower, upper, inner, step):
                    declared = self._scalars.get(var)
                    # A variable declared outside is a parameter of the wrapper already.
                    own = "int " if declared is None else ""
                    if declared is not None and declared.is_local:
                        own = f"{_plain(declared.type)} "
                    yield (
                        f"{indent}for ({own}{var} = {plain_c(lower)}; "
                        f"{var} < {plain_c(upper, SUM)}; {var} += {step}) {{"
                    )
                    yield from self.lines(inner, counting, indent + "  ")
                    yield f"{indent}}}"
                case Local(name, type_, None):
                    yield f"{indent}{_plain(type_)} {name};"
                case Local(name, type_, value) if value is not None:
                    new = value if name in self.values.integers else self._value(value, counting)
                    yield f"{indent}{_plain(type_)} {name} = {plain_c(new)};"
                case LocalArray(name, type_, extents):
                    brackets = "".join(f"[{extent}]" for extent in extents)
                    yield f"{indent}{_plain(type_)} {name}{brackets} = {{0}};"
                case Assign():
                    yield f"{indent}{self._assign(stmt, counting)};"
                case Local() | Await() | Fetch():
                    raise AssertionError(stmt)
                case _:
                    assert_never(stmt)

    def _assign(self, assign: Assign, counting: bool) -> str:
        """Return one statement, under its condition where that is known here."""
        target = plain_c(assign.target)
        is_sure = assign.guard is None or self.values.is_certain(assign.guard)
        test = f"if ({plain_c(assign.guard)}) " if assign.guard is not None and is_sure else ""
        if name_of(assign.target) in self.values.integers:
            return f"{test}{target} {assign.op} {plain_c(assign.value)}"
        new = self._new(assign, counting)
        if not is_sure:
            old = assign.target if counting else self.values.absolute(assign.target)
            new = folded(MAX, [old, new])
        return f"{test}{target} = {plain_c(new)}"

    def _new(self, assign: Assign, counting: bool) -> Expr:
        """Return what an assignment that runs leaves in its target."""
        op, value = _accumulation(assign)
        if op == "=":
            return self._value(value, counting)
        if counting:
            return self._counted(assign.target, op, value)
        old = self.values.absolute(assign.target)
        if op == "/=":
            return Binary("/", old, self.values.divisor(value))
        return Binary("*" if op == "*=" else "+", old, self.values.magnitude(value))

    def _counted(self, target: Expr, op: str, value: Expr) -> Expr:
        """Return the count of an accumulation, right for every order of its terms."""
        terms = self.values.count(value)
        if op in ("+=", "-=") and isinstance(terms, Int):
            # Terms of equal count c: the chain is c and one addition per term.
            return Binary("+", Call(MAX, (target, terms)), Int(1))
        # Terms of different counts: the one with most may be the first to be summed.
        own = self.values.own_roundings(op[0], target)
        return Binary("+", plus(target, terms), Int(own))

    def _value(self, value: Expr, counting: bool) -> Expr:
        return self.values.count(value) if counting else self.values.magnitude(value)


def _plain(type_: str) -> str:
    return spelled(type_.replace("const", "").strip())


def _accumulation(assign: Assign) -> tuple[str, Expr]:
    """Return the operator and value, with ``t = t + e`` seen as ``t += e``."""
    match assign.value:
        case Binary("+" | "-" as op, left, right) if assign.op == "=" and left == assign.target:
            return f"{op}=", right
        case Binary("+", left, right) if assign.op == "=" and right == assign.target:
            return "+=", left
        case _:
            return assign.op, assign.value
