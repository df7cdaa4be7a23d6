"""How far a right result may lie from the original's, by two C programs beside the original.

Both are the region's own nest with every assignment of a real reinterpreted. Run on the
region's inputs they leave, in the place of every result,

* the *magnitude* M: the result with each term and factor taken by absolute value and each
  minus made a plus, an upper bound on the sum of |terms| for every order of summation;
* the *count* n: how many roundings the longest chain behind the result can hold, in any
  order of summation.

Conditions of inputs and integers decide as they do in the original. One that reads what has
been computed says nothing here: its statement may or may not run, and leaves the larger of
what was there and what it would write.

A bound is made of the two.

Source:
    Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, section 3.1:
    a computed inner product, whatever the order of summation and with or without fused
    multiply-add, differs from the exact one by at most gamma_n sum |x_i y_i|, where
    gamma_n = n u / (1 - n u) and u is the unit roundoff.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import Any, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from annotune.codegen.c_expr import plain_c
from annotune.codegen.names import spelled
from annotune.frozen import dataclass
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    SUM,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    is_real,
    names_read,
    place_name,
    walk,
)
from annotune.ir.functions import FUNCTIONS
from annotune.ir.nest import Assign, Await, Fetch, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.ir.region import Region
from annotune.measure.parts.sample import Part
from annotune.measure.values import Family, family_of, integer_names, plain_type
from annotune.transforms.tree import target_name

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

    Those of arrays that are `shared` may be computed by way of others. `is_linear` turns False once
    M and n do not bound the error by themselves.
    """

    def __init__(self, region: Region, shared: frozenset[str]) -> None:
        self.is_linear = True
        self.integers = _integers(region)
        stmts = tuple(walk_stmts(region.nest.body))
        types = {s.name: s.type for s in region.scalars.values()}
        types |= {a.name: a.element for a in region.arrays.values()}
        types |= {s.name: s.type for s in stmts if isinstance(s, Local)}
        self._complex = {n for n, type_ in types.items() if family_of(type_) is Family.COMPLEX}
        written = {place_name(a.target) for a in region.nest.assigns()}
        written |= {s.name for s in stmts if isinstance(s, Local)} | shared
        self._written = written - self.integers
        self._doubtful = self._integers_from_reals(region.nest.assigns())

    def is_certain(self, condition: Expr) -> bool:
        """Return whether the shadow programs see the same condition as the original does.

        It is one of inputs and of integers that no computed real has decided.
        """
        names = {place_name(e) for e in walk(condition) if isinstance(e, Var | Access)}
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
            case Negate(operand) | Cast(_, operand):
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
                return place_name(expr) not in self._written
            case Negate(operand):
                return self.is_exact(operand)
            case Binary() | Call() | Cast() | Select():
                leaves = [e for e in walk(expr) if isinstance(e, Var | Real | Access)]
                calls = [e for e in walk(expr) if isinstance(e, Call | Cast)]
                return all(
                    isinstance(e, Var | Access) and place_name(e) in self.integers for e in leaves
                ) and not any(map(is_real, calls))
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
            case Cast(type_, operand) if type_.is_floating:
                return self.magnitude(operand)
            case Call() | Cast():
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
            case Cast(_, operand):
                return plus(self.count(operand), Int(1))
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
        return _ROUNDINGS.get(function)

    def _integers_from_reals(self, assigns: tuple[Assign, ...]) -> set[str]:
        """Return the integers that computed reals decide, directly or by way of others."""
        found: set[str] = set()
        while True:
            bad = self._written | found
            more = {
                name
                for assign in assigns
                if (name := place_name(assign.target)) in self.integers - found
                and any(names_read(source) & bad for source in assign.sources())
            }
            if not more:
                return found
            found |= more


def _integers(region: Region) -> frozenset[str]:
    """Return the scalars and the arrays that hold integers."""
    arrays = (a.name for a in region.arrays.values() if family_of(a.element) is Family.INTEGER)
    return integer_names(region) | frozenset(arrays)


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
    values: str = ""


class _Kind(Enum):
    """What a program that follows the original computes in the place of each value."""

    MAGNITUDE = auto()
    COUNT = auto()
    VALUE = auto()


def shadow_of(region: Region, is_shared: bool = False, part: Part | None = None) -> Shadow:
    """Return the two programs of `region`, whose arrays may share memory if `is_shared`.

    With a `part` they and the nest itself, in `values`, run its iterations alone.
    """
    writer = _Writer(region, frozenset(region.arrays) if is_shared else frozenset(), part)

    def text(kind: _Kind) -> str:
        lines = writer.lines(region.nest.body, kind, "  ")
        return "".join(f"{line}\n" for line in (*writer.declarations(), *lines))

    magnitude, count = text(_Kind.MAGNITUDE), text(_Kind.COUNT)
    values = "" if part is None else text(_Kind.VALUE)
    return Shadow(magnitude, count, writer.values.is_linear, values)


class _Writer:
    """Rewrites and prints the statements of one region."""

    def __init__(self, region: Region, shared: frozenset[str], part: Part | None = None) -> None:
        self.values = _Readings(region, shared)
        self._scalars = region.scalars
        self._part = part
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
            yield f"  {spelled(plain_type(scalar.type))} {scalar.name} = 0;"

    def lines(
        self, body: tuple[Stmt, ...], kind: _Kind, indent: str, depth: int = 0
    ) -> Iterator[str]:
        for stmt in body:
            match stmt:
                case Loop(var, lower, upper, inner, step):
                    declared = self._scalars.get(var)
                    # A variable declared outside is a parameter of the wrapper already.
                    own = "int " if declared is None else ""
                    if declared is not None and declared.is_local:
                        own = f"{spelled(plain_type(declared.type))} "
                    yield (
                        f"{indent}for ({own}{var} = {plain_c(lower)}; "
                        f"{var} < {plain_c(upper, SUM)}; {var} += {step}) {{"
                    )
                    if left_out := self._part and self._part.left_out(stmt, depth):
                        yield f"{indent}  if ({left_out}) continue;"
                    yield from self.lines(inner, kind, indent + "  ", depth + 1)
                    yield f"{indent}}}"
                case Local(name, type_, None):
                    yield f"{indent}{spelled(plain_type(type_))} {name};"
                case Local(name, type_, value) if value is not None:
                    new = value if name in self.values.integers else self._value(value, kind)
                    yield f"{indent}{spelled(plain_type(type_))} {name} = {plain_c(new)};"
                case LocalArray(name, type_, extents):
                    brackets = "".join(f"[{extent}]" for extent in extents)
                    yield f"{indent}{spelled(plain_type(type_))} {name}{brackets} = {{0}};"
                case Assign():
                    yield f"{indent}{self._assign(stmt, kind)};"
                case Local() | Await() | Fetch():
                    raise AssertionError(stmt)
                case _:
                    assert_never(stmt)

    def _assign(self, assign: Assign, kind: _Kind) -> str:
        """Return one statement, under its condition where that is known here."""
        target = plain_c(assign.target)
        is_sure = assign.guard is None or self.values.is_certain(assign.guard)
        is_sure |= kind is _Kind.VALUE
        test = f"if ({plain_c(assign.guard)}) " if assign.guard is not None and is_sure else ""
        if place_name(assign.target) in self.values.integers or kind is _Kind.VALUE:
            return f"{test}{target} {assign.op} {plain_c(assign.value)}"
        new = self._new(assign, kind)
        if not is_sure:
            is_count = kind is _Kind.COUNT
            old = assign.target if is_count else self.values.absolute(assign.target)
            new = folded(MAX, [old, new])
        return f"{test}{target} = {plain_c(new)}"

    def _new(self, assign: Assign, kind: _Kind) -> Expr:
        """Return what an assignment that runs leaves in its target."""
        op, value = _accumulation(assign)
        if op == "=":
            return self._value(value, kind)
        if kind is _Kind.COUNT:
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

    def _value(self, value: Expr, kind: _Kind) -> Expr:
        match kind:
            case _Kind.VALUE:
                return value
            case _Kind.COUNT:
                return self.values.count(value)
            case _Kind.MAGNITUDE:
                return self.values.magnitude(value)
            case _:
                assert_never(kind)


def _accumulation(assign: Assign) -> tuple[str, Expr]:
    """Return the operator and value, with ``t = t + e`` seen as ``t += e``."""
    match assign.value:
        case Binary("+" | "-" as op, left, right) if assign.op == "=" and left == assign.target:
            return f"{op}=", right
        case Binary("+", left, right) if assign.op == "=" and right == assign.target:
            return "+=", left
        case _:
            return assign.op, assign.value


Reals: TypeAlias = npt.NDArray[Any]

UNIT_ROUNDOFF = {"double": 2.0**-53, "float": 2.0**-24}
"""u of IEEE 754 binary64 and binary32 in round-to-nearest."""

CONDITION_ALLOWANCE = 2.0**10
"""By how much a division by a computed value, or a function such as ``sqrt``, may magnify an
error before the result is called wrong. A convention of annotune's, not a bound."""

LAST_BITS = 2.0
"""How many times as far as the last bits of the inputs move a result it may lie from the
original's, which roundings on its way have moved as well. A convention, too."""

LARGEST_RELATIVE = 1e-3
"""No tolerance is wider than this share of the largest result: past it nothing is checked."""


def gamma(count: Reals, unit: float) -> Reals:
    """Return Higham's gamma_n = n u / (1 - n u) for every n, infinite from n u = 1 on."""
    product = np.asarray(count, dtype=np.float64) * unit
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(product < 1.0, product / (1.0 - product), np.inf)


def bound(magnitude: Reals, count: Reals, element: str) -> Reals:
    """Return how far two computed results may differ, for each element.

    Both the original and the variant may lie gamma_n M from the exact value, which makes
    2 gamma_n M. M has itself been computed with up to n roundings, so that the true sum of
    magnitudes is up to M / (1 - gamma_n).

    Args:
        magnitude: M, the sum of the absolute values of the terms behind each element.
        count: n, the roundings on the longest chain behind each element.
        element: The coarsest type that the region computes with, ``double`` or ``float``.
    """
    if count.size and count.min() == count.max():
        count = count[:1]  # the usual case, and a third of the time for a large array
    error = gamma(count, UNIT_ROUNDOFF[element])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        share = np.where(error < 0.5, error / (1.0 - error), np.inf)
        return np.asarray(2.0 * share * np.asarray(magnitude, dtype=np.float64))


def relative_bound(expected: Reals, count: Reals, element: str) -> Reals:
    """Return the tolerance where no rigorous one is to be had cheaply, for each element.

    A region that divides by what it has computed, or calls a function, has errors in
    proportion to a condition number that M does not hold. The tolerance is then
    `CONDITION_ALLOWANCE` times 2 gamma_n of the largest result in the array, and at most
    `LARGEST_RELATIVE` of it.
    """
    finite = np.abs(expected[np.isfinite(expected)], dtype=np.float64)
    largest = float(finite.max()) if finite.size else 0.0
    share = 2.0 * CONDITION_ALLOWANCE * gamma(count, UNIT_ROUNDOFF[element])
    limited = np.minimum(np.where(np.isnan(share), LARGEST_RELATIVE, share), LARGEST_RELATIVE)
    return np.asarray(limited * largest)


def capped(tolerance: Reals, expected: Reals) -> Reals:
    """Return `tolerance` with what is not finite replaced by `LARGEST_RELATIVE` of the largest.

    A chain of products that doubles its roundings at each step has no finite bound.
    """
    finite = np.abs(expected[np.isfinite(expected)], dtype=np.float64)
    widest = LARGEST_RELATIVE * (float(finite.max()) if finite.size else 0.0)
    return np.where(np.isfinite(tolerance), tolerance, widest)


def widened(tolerance: Reals, moved: Reals, expected: Reals) -> Reals:
    """Return `tolerance`, or `LAST_BITS` times what the last bits of the inputs have `moved`.

    An element whose condition number is far from that of the others moves by as much with the last
    bits of the inputs as with the roundings on its way. It has `LARGEST_RELATIVE` of the largest
    result at most.

    Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, section 1.6.
    """
    finite = np.abs(expected[np.isfinite(expected)], dtype=np.float64)
    widest = LARGEST_RELATIVE * (float(finite.max()) if finite.size else 0.0)
    return np.asarray(np.maximum(tolerance, np.minimum(LAST_BITS * moved, widest)))


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The worst element that lies outside its tolerance, and how many do.

    `index` counts elements from the array's own first one; `part` names the component of a
    complex one.
    """

    array: str
    index: int
    got: float
    expected: float
    tolerance: float
    wrong: int
    total: int
    part: str = ""

    def __str__(self) -> str:
        place = f"{self.array}[{self.index}]{self.part}"
        return (
            f"{place} is {self.got:.17g}, expected {self.expected:.17g} "
            f"within {self.tolerance:.3g}; {self.wrong} of {self.total} elements are wrong"
        )


def compare(
    array: str,
    expected: Reals,
    got: Reals,
    tolerance: Reals,
    untouched: Reals | None = None,
    has_nan: bool = False,
    has_signs: bool = False,
) -> Mismatch | None:
    """Return the worst element of `got` outside its tolerance, or None when all are inside.

    NaN equals nothing, unless the right result `has_nan`: then it must be where it is there. Zeros
    of both signs are equal, unless it `has_signs`. Integers must be equal. `untouched` marks
    elements that the original left as they were: there the very bits must have stayed, a NaN's
    payload included.
    """
    wrong, worst, worst_excess = 0, -1, -1.0
    for start in range(0, expected.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        excess = _excess(
            expected[part],
            got[part],
            tolerance[part],
            None if untouched is None else untouched[part],
            has_nan,
            has_signs,
        )
        if excess is None:
            continue
        wrong += int(np.count_nonzero(excess >= 0.0))
        largest = int(np.argmax(excess))
        if excess[largest] > worst_excess:
            worst, worst_excess = start + largest, float(excess[largest])
    if not wrong:
        return None
    return Mismatch(
        array,
        worst,
        float(got[worst]),
        float(expected[worst]),
        float(tolerance[worst]),
        wrong,
        int(expected.size),
    )


# Elements compared at a time: what numpy makes on the way stays in the L2 cache.
_CHUNK = 1 << 15


def _excess(
    expected: Reals,
    got: Reals,
    tolerance: Reals,
    untouched: Reals | None,
    has_nan: bool,
    has_signs: bool,
) -> Reals | None:
    """Return by how much each wrong element exceeds its tolerance, and -1 for right ones.

    None when all are right.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(np.subtract(got, expected, dtype=np.float64))
        right = got == expected
        if expected.dtype.kind == "f":
            right |= difference <= tolerance
            if has_nan:
                right |= np.isnan(expected) & np.isnan(got)
            if has_signs:
                are_zeros = (expected == 0.0) & (got == 0.0)
                right &= ~(are_zeros & (np.signbit(expected) != np.signbit(got)))
        if untouched is not None and untouched.any():
            bits = np.dtype(f"u{expected.dtype.itemsize}")
            right = np.where(untouched, got.view(bits) == expected.view(bits), right)
        if right.all():
            return None
        excess = np.nan_to_num(difference - tolerance, nan=np.inf, posinf=np.inf)
    # A bit that changed in an untouched NaN has no size; it is wrong all the same.
    return np.where(right, -1.0, np.maximum(excess, 0.0))


def tolerances(
    expected: Reals, magnitude: Reals, count: Reals, element: str, is_linear: bool
) -> Reals:
    """Return the tolerance of each component, from what the two shadow programs left.

    `element` is the coarsest type that rounds on the way to the values. Of a complex
    number the programs leave the absolute value and the count, which hold for both parts.
    """
    parts = expected.size // max(1, count.size)
    counts = count.real if parts == 1 else np.repeat(count.real, parts)
    if not is_linear:
        return relative_bound(expected, counts, element)
    # Elements that the region leaves alone keep their sign in the magnitude program.
    sizes = np.abs(magnitude) if parts == 1 else np.repeat(np.abs(magnitude), parts)
    return capped(bound(sizes, counts, element), expected)


def coarsest_type(region: Region, names: set[str]) -> str:
    """Return the coarsest floating type of all that flows into some arrays and scalars.

    ``float`` where any of it is stored or written as one, else ``double``: a float beside
    them in the region does not loosen the bound on doubles that never meet it.
    """
    into, before, flows = set(names), 0, list[Expr]()
    while len(into) > before:
        before = len(into)
        flows = [s for a in region.nest.assigns() if target_name(a) in into for s in a.sources()]
        into.update(*map(names_read, flows))
    literals = [e.text for source in flows for e in walk(source) if isinstance(e, Real)]
    types = [array.element for array in region.arrays.values() if array.name in into]
    types += [s.type for s in region.scalars.values() if s.name in into]
    is_float = any("float" in t for t in types) or any(t.lower().endswith("f") for t in literals)
    return "float" if is_float else "double"
