"""Executes the statements of a region over integers, so that equality of results is exact.

Reals are numbers modulo a prime: sums may be taken in any order, a division has an inverse, and
nothing is rounded. A body is turned into Python and run. Loops that a schedule places run
forwards, backwards or shuffled, for nothing may depend on their order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from typing import Any, assert_never

from annotune.ir.constants import divide, remainder
from annotune.ir.ctype import CType
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
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
    children,
)
from annotune.ir.nest import Assign, Level, Local, LocalArray, Loop, Operator, Stmt
from annotune.ir.region import Region
from annotune.schedule.plan import Kernel, Plan, Step
from annotune.transforms.tree import Body

PRIME = (1 << 61) - 1
# Numbers modulo a prime are in order like any others.
_EXTREMA = {"fmin": "lowest", "fmax": "highest", "min": "lowest", "max": "highest"}
ORDERS = ("forwards", "backwards", "shuffled")


class _MinusZero(int):
    """-0.0, which a sum that got no number still is: only dividing by it tells it from 0.0."""

    def __add__(self, other: int) -> int:
        return other

    __radd__ = __add__

    def __mod__(self, prime: int) -> int:
        return self


class Memory(dict[int, int]):
    """One array: elements that were never written are numbers made of their place."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.salt = sum(map(ord, name))
        self.touched: set[int] = set()

    def load(self, index: int) -> int:
        self.touched.add(index)
        if index not in self:
            return (7919 * self.salt + 104729 * index) % 9973 + 1
        return self[index]

    def store(self, index: int, value: int) -> None:
        self.touched.add(index)
        self[index] = value % PRIME


@dataclass(frozen=True)
class Result:
    """What a body left: written elements and scalars by name; and what it touched at all."""

    values: Mapping[str, Mapping[int, int]]
    touched: Mapping[str, frozenset[int]] = field(compare=False)


def run(
    body: Body,
    region: Region,
    sizes: Mapping[str, int] | None = None,
    order: str = "forwards",
    private: Iterable[str] = (),
) -> Result:
    """Return what `body` computes for `region` at `sizes`, by default the region's own.

    Scalars in `private` do not count in the result.
    """
    written = _Python(region)
    text = written.function(body)
    arrays = {name: Memory(name) for name in (*region.arrays, *region.scalars)}
    shuffle = random.Random(1)

    def workers(values: range) -> Iterable[int]:
        if order == "forwards":
            return values
        chosen = list(reversed(values))
        if order == "shuffled":
            shuffle.shuffle(chosen)
        return chosen

    scope: dict[str, Any] = {
        "M": arrays,
        "new": Memory,
        "workers": workers,
        "divide": divide,
        "remainder": remainder,
        "inverse": _inverse,
        "minus_zero": _MinusZero(0),
        "function": _function,
        "lowest": min,
        "highest": max,
    }
    exec(text, scope)
    known = {**region.sizes, **(sizes or {}), **region.constants}
    scope["body"]({f"v_{name}": value for name, value in known.items()})
    hidden = set(private) | {loop.var for loop in region.nest.loops()}
    return Result(
        {name: dict(m) for name, m in arrays.items() if m and name not in hidden},
        {name: frozenset(m.touched) for name, m in arrays.items() if m.touched},
    )


class _Python:
    """Writes a body as a Python function of the sizes."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.lines: list[str] = []

    def function(self, body: Body) -> str:
        assigned = {a.target.name for a in self.region.nest.assigns() if isinstance(a.target, Var)}
        outer = [s for s in self.region.scalars if s not in assigned]
        self.lines = ["def body(sizes):"]
        # A size without a value is a coefficient.
        self.lines += [
            f"  v_{s} = sizes[{f'v_{s}'!r}] if {f'v_{s}'!r} in sizes else M[{s!r}].load(0)"
            for s in outer
        ]
        self._body(body, 1, frozenset({*outer, *(x.var for x in self.region.nest.loops())}))
        return "\n".join([*self.lines, "  return None"])

    def _body(self, body: Body, depth: int, known: frozenset[str]) -> None:
        margin = "  " * depth
        start = len(self.lines)
        for stmt in body:
            match stmt:
                case Loop():
                    lower, upper = self.integer(stmt.lower, known), self.integer(stmt.upper, known)
                    values = f"range({lower}, {upper}, {stmt.step})"
                    if stmt.place not in (Level.SERIAL, Level.SIMD):
                        values = f"workers({values})"
                    for k, combined in enumerate(stmt.combines):
                        self.lines.append(f"{margin}before_{depth}_{k} = v_{combined.name}")
                    self.lines.append(f"{margin}for v_{stmt.var} in {values}:")
                    # Each iteration, a worker of its own, starts from the identity.
                    for k, combined in enumerate(stmt.combines):
                        start = self._identity(combined.op, f"before_{depth}_{k}")
                        kept = f"so_far_{depth}_{k} = v_{combined.name}"
                        self.lines.append(f"{margin}  {kept}; v_{combined.name} = {start}")
                    self._body(stmt.body, depth + 1, known | {stmt.var})
                    for k, combined in enumerate(stmt.combines):
                        one, two = f"so_far_{depth}_{k}", f"v_{combined.name}"
                        joined = self._joined(combined.op, one, two)
                        self.lines.append(f"{margin}  v_{combined.name} = {joined}")
                case Assign():
                    self._assign(stmt, margin, known)
                case Local(name, type_, value):
                    known |= {name}
                    # An index: the division of integers drops what is left.
                    number = self.integer if type_ == "int" else self.real
                    start_value = "None" if value is None else number(value, known)
                    self.lines.append(f"{margin}v_{name} = {start_value}")
                case LocalArray(name):
                    known |= {name}
                    self.lines.append(f"{margin}v_{name} = {{}}")
                case _:
                    assert_never(stmt)
        if len(self.lines) == start:
            self.lines.append(f"{margin}pass")

    @staticmethod
    def _identity(operator: Operator, before: str) -> str:
        extremum = operator in (Operator.MIN, Operator.MAX)
        return before if extremum else str(int(operator is Operator.PRODUCT))

    @staticmethod
    def _joined(operator: Operator, one: str, two: str) -> str:
        if operator in (Operator.MIN, Operator.MAX):
            return f"{'lowest' if operator is Operator.MIN else 'highest'}({one}, {two})"
        return f"({one} {operator} {two}) % {PRIME}"

    def _assign(self, stmt: Assign, margin: str, known: frozenset[str]) -> None:
        if stmt.guard is not None:
            self.lines.append(f"{margin}if {self.real(stmt.guard, known)}:")
            margin += "  "
        value = self.real(stmt.value, known)
        old = self.real(stmt.target, known)
        match stmt.op:
            case "=":
                new = value
            case "/=":
                new = f"({old}) * inverse({value})"
            case _:
                new = f"({old}) {stmt.op[0]} ({value})"
        match stmt.target:
            case Var(name) if name in known:
                self.lines.append(f"{margin}v_{name} = ({new}) % {PRIME}")
            case Var(name):
                self.lines.append(f"{margin}M[{name!r}].store(0, {new})")
            case Access(array, indices) if array in known:
                place = self._key(indices, known)
                self.lines.append(f"{margin}v_{array}[{place}] = ({new}) % {PRIME}")
            case Access() as target:
                place = self._place(target, known)
                self.lines.append(f"{margin}M[{target.array!r}].store({place}, {new})")

    def _key(self, indices: tuple[Expr, ...], known: frozenset[str]) -> str:
        return f"({''.join(f'{self.integer(i, known)},' for i in indices)})"

    def _place(self, access: Access, known: frozenset[str]) -> str:
        extents = self.region.arrays[access.array].extents
        if not access.indices:
            return "0"
        place = self.integer(access.indices[0], known)
        if len(access.indices) == 1:
            return place  # of an array that lies flat in memory
        for index, extent in zip(access.indices[1:], extents[1:], strict=True):
            assert extent is not None
            place = f"({place}) * ({self.integer(extent, known)}) + {self.integer(index, known)}"
        return place

    def integer(self, expr: Expr, known: frozenset[str]) -> str:
        match expr:
            case Int(value):
                return f"({value})"
            case Var(name):
                return f"v_{name}" if name in known else f"M[{name!r}].load(0)"
            case Negate(operand):
                return f"(-{self.integer(operand, known)})"
            case Binary(op) if op in COMPARISONS | CONNECTIVES:
                return self.condition(expr, known)
            case Select():
                return self.select(expr, known)
            case Call("abs" | "labs", (operand,)):
                return f"abs({self.integer(operand, known)})"
            case Binary(op, left, right):
                a, b = self.integer(left, known), self.integer(right, known)
                named = {"/": "divide", "%": "remainder"}
                return f"{named[op]}({a}, {b})" if op in named else f"({a} {op} {b})"
            case Call(function, arguments):
                names = {"min": "lowest", "max": "highest"}
                inner = ", ".join(self.integer(a, known) for a in arguments)
                return f"{names[function]}({inner})"
        raise AssertionError(expr)

    def real(self, expr: Expr, known: frozenset[str]) -> str:
        match expr:
            case Access(array, indices) if array in known:
                return f"v_{array}[{self._key(indices, known)}]"
            case Access():
                return f"M[{expr.array!r}].load({self._place(expr, known)})"
            case Real(text):
                value = Fraction(text.rstrip("fFlL"))
                return str(value.numerator * pow(value.denominator, -1, PRIME) % PRIME)
            case Binary(op) if op in COMPARISONS | CONNECTIVES:
                return self.condition(expr, known)
            case Select():
                return self.select(expr, known)
            case Call(function, arguments) if function in _EXTREMA and self.is_real(expr):
                inner = ", ".join(f"({self.real(a, known)}) % {PRIME}" for a in arguments)
                return f"{_EXTREMA[function]}({inner})"
            case Cast(CType("double" | "float"), operand):
                return self.real(operand, known)
            case Call(function, arguments) if self.is_real(expr):
                inner = ", ".join(self.real(a, known) for a in arguments)
                return f"function({function!r}, {inner})"
            case Binary("/", left, right) if not self.is_real(expr):
                return self.integer(expr, known)
            case Binary("/", left, right):
                return f"({self.real(left, known)} * inverse({self.real(right, known)}))"
            case Binary(op, left, right):
                return f"({self.real(left, known)} {op} {self.real(right, known)})"
            case Negate(Real(text)) if Fraction(text.rstrip("fFlL")) == 0:
                return "minus_zero"
            case Negate(operand):
                return f"(-{self.real(operand, known)})"
            case _:
                return self.integer(expr, known)

    def condition(self, expr: Binary, known: frozenset[str]) -> str:
        """Return a comparison; reals are compared as what memory would hold."""
        left, right = self.real(expr.left, known), self.real(expr.right, known)
        if expr.op in CONNECTIVES:
            return f"({left} {'and' if expr.op == '&&' else 'or'} {right})"
        if self.is_real(expr.left) or self.is_real(expr.right):
            left, right = f"({left}) % {PRIME}", f"({right}) % {PRIME}"
        return f"({left} {expr.op} {right})"

    def select(self, expr: Select, known: frozenset[str]) -> str:
        parts = (self.real(e, known) for e in (expr.if_true, expr.condition, expr.if_false))
        return "({} if {} else {})".format(*parts)

    def is_real(self, expr: Expr) -> bool:
        """Return whether C computes `expr` in a floating type."""
        match expr:
            case Real():
                return True
            case Access(array):
                return array not in self.region.arrays or _is_floating(
                    self.region.arrays[array].element
                )
            case Var(name):
                scalar = self.region.scalars.get(name)
                # What has no type here is a register copy that a transform made.
                iterators = {loop.var for loop in self.region.nest.loops()}
                return _is_floating(scalar.type) if scalar else name not in iterators
            case Binary(op) if op in COMPARISONS | CONNECTIVES:
                return False
            case Call("abs" | "labs" | "min" | "max"):
                return False
            case Call():
                return True
            case Cast(type_, _):
                return type_.is_floating
            case Select(_, if_true, if_false):
                return self.is_real(if_true) or self.is_real(if_false)
            case _:
                return any(self.is_real(child) for child in children(expr))


def _inverse(value: int) -> int:
    """Return what a division multiplies with; a number below all others is left for 1 / -0.0."""
    return 0 if isinstance(value, _MinusZero) else pow(value % PRIME or 1, -1, PRIME)


def _function(name: str, *arguments: int) -> int:
    """Return what a function of C stands for: some number that its arguments alone decide."""
    text = f"{name} {[a % PRIME for a in arguments]}"
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") % PRIME


def _is_floating(type_: str) -> bool:
    return "double" in type_ or "float" in type_


def plan_body(plan: Plan) -> Body:
    """Return what a plan runs, kernel after kernel, with the host's loops around them."""
    return _steps(plan.steps)


def _steps(steps: tuple[Step, ...]) -> Body:
    out: list[Stmt] = []
    for step in steps:
        if isinstance(step, Kernel):
            out.extend(step.body)
        else:
            out.append(replace(step.loop, body=_steps(step.steps)))
    return tuple(out)


def assert_same(
    body: Body,
    region: Region,
    sizes: Mapping[str, int] | None = None,
    private: Iterable[str] = (),
    describe: Callable[[], object] = str,
) -> None:
    """Assert that `body` gives what the region gives, in every order, and touches no more."""
    private = tuple(private)
    expected = run(region.nest.body, region, sizes, private=private)
    for order in ORDERS:
        got = run(body, region, sizes, order, private)
        assert got == expected, (order, sizes, describe())
        for name, places in got.touched.items():
            assert places <= expected.touched.get(name, frozenset()), (name, order, describe())
