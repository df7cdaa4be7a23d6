"""A random program as a value: what the generators make, the reducer cuts and C shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

Sizes: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Affine:
    """A sum of names with integer factors, and a constant."""

    terms: tuple[tuple[int, str], ...] = ()
    constant: int = 0

    def __str__(self) -> str:
        text = ""
        for factor, name in self.terms:
            sign = "-" if factor < 0 else "+"
            word = name if abs(factor) == 1 else f"{abs(factor)} * {name}"
            text += f" {sign} {word}"
        if self.constant or not text:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text[3:] if text.startswith(" + ") else text[1:].replace("- ", "-", 1)

    def at(self, values: Sizes) -> int:
        return sum(factor * values[name] for factor, name in self.terms) + self.constant

    def shifted(self, distance: int) -> Affine:
        return replace(self, constant=self.constant + distance)


@dataclass(frozen=True)
class Atom:
    """A constant, a scalar or an iterator, as C spells it."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Element:
    """An array element: one subscript per dimension, whatever the array's layout in C."""

    array: str
    at: tuple[Affine, ...]


@dataclass(frozen=True)
class Apply:
    """An operator or a function on operands; ``?:`` has three, ``!`` one."""

    op: str
    operands: tuple[Value, ...]


Value: TypeAlias = Affine | Atom | Element | Apply


@dataclass(frozen=True)
class Set:
    """``target op value;``"""

    target: Element | Atom
    op: str
    value: Value


@dataclass(frozen=True)
class Declare:
    """``double name = value;`` inside a loop."""

    name: str
    value: Value


@dataclass(frozen=True)
class Scratch:
    """``double name[…];`` inside a loop: the declaration of an array of kind ``local``."""

    name: str


@dataclass(frozen=True)
class When:
    """``if (condition) {…} else {…}``, without ``else`` where nothing stands there."""

    condition: Value
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@dataclass(frozen=True)
class Loop:
    """A counted loop; `is_down` counts from the last value to the first with step 1."""

    var: str
    lower: Affine
    upper: Affine
    body: tuple[Stmt, ...]
    step: int = 1
    is_inclusive: bool = False
    is_down: bool = False

    def values(self, known: Sizes) -> range:
        lower, upper = self.lower.at(known), self.upper.at(known) + self.is_inclusive
        run = range(lower, upper, self.step)
        return run[::-1] if self.is_down else run


Stmt: TypeAlias = Set | Declare | Scratch | When | Loop


@dataclass(frozen=True)
class Array:
    """An array and how C declares it.

    `kind` is ``shaped`` (``double A[n + 1][m]`` as a parameter), ``flat`` (a pointer, with the
    subscript written as one sum), ``horner`` (the same, nested), ``global`` or ``static``
    (objects at file scope), or ``local`` (declared in a loop), the last three of constant extents.
    """

    name: str
    kind: str
    rank: int
    element: str = "double"
    is_restrict: bool = False
    extents: tuple[Affine, ...] = ()

    @property
    def is_object(self) -> bool:
        return self.kind in ("global", "static")


@dataclass(frozen=True)
class Program:
    """One function with one annotated region.

    `sizes` are the values to run at, the tuned ones first; `defined` sizes are macros. `alphas` are
    double parameters that are only read, `temporaries` doubles declared before the region,
    `carried` those whose value after the region is stored in ``out``.
    """

    name: str
    sizes: tuple[Sizes, ...]
    arrays: tuple[Array, ...]
    body: tuple[Stmt, ...]
    alphas: tuple[str, ...] = ()
    temporaries: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    defined: tuple[str, ...] = ()
    iterators_outside: bool = False
    seen: Mapping[str, int] = field(default_factory=dict)

    def array(self, name: str) -> Array:
        return next(a for a in self.arrays if a.name == name)

    def text(self) -> str:
        return _Printer(self).text()


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """Yield every statement of `body`, the outer before the inner."""
    for stmt in body:
        yield stmt
        match stmt:
            case Loop():
                yield from statements(stmt.body)
            case When():
                yield from statements((*stmt.then, *stmt.otherwise))


def operands(value: Value) -> Iterator[Value]:
    """Yield `value` and everything inside it."""
    yield value
    if isinstance(value, Apply):
        for operand in value.operands:
            yield from operands(operand)


def values_of(stmt: Stmt) -> tuple[Value, ...]:
    """Return the expressions of a statement itself, its target included."""
    match stmt:
        case Set(target, _, value):
            return (target, value)
        case Declare(_, value) | When(value):
            return (value,)
        case Loop(_, lower, upper):
            return (lower, upper)
        case Scratch():
            return ()


def elements(body: tuple[Stmt, ...]) -> Iterator[Element]:
    for stmt in statements(body):
        for value in values_of(stmt):
            yield from (v for v in operands(value) if isinstance(v, Element))


def count(body: tuple[Stmt, ...], known: Sizes) -> int:
    """Return how many assignments run, conditions taken for true on both sides."""
    total = 0
    for stmt in body:
        match stmt:
            case Loop():
                total += sum(count(stmt.body, {**known, stmt.var: v}) for v in stmt.values(known))
            case When():
                total += count((*stmt.then, *stmt.otherwise), known)
            case _:
                total += 1
    return total


# C ---------------------------------------------------------------------------------------


class _Printer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []

    def text(self) -> str:
        p = self.program
        runs = "; ".join(" ".join(f"{k}={v}" for k, v in s.items()) for s in p.sizes)
        self.lines = [f"/* fuzz {p.name}: {runs} */"]
        for array in p.arrays:
            if array.kind in ("flat", "horner"):
                # What a condition on data keeps from being touched is there all the same.
                room = " * ".join(f"({e})" for e in array.extents)
                self.lines.append(f"/* room {array.name}: {room} */")
        self.lines += [f"#define {name} {p.sizes[0][name]}" for name in p.defined]
        for array in p.arrays:
            if array.is_object:
                word = "static " if array.kind == "static" else ""
                self.lines.append(f"{word}{array.element} {array.name}{_brackets(array)};")
                self.lines.append(
                    f"{array.element} *{array.name}_place(void) {{ return "
                    f"&{array.name}{'[0]' * array.rank}; }}"
                )
        self.lines += [f"void {p.name}({', '.join(self._parameters()) or 'void'})", "{"]
        scalars = [*p.temporaries, *p.carried]
        self.lines += [f"  double {name} = 1.0;" for name in scalars]
        if p.iterators_outside:
            names = dict.fromkeys(s.var for s in statements(p.body) if isinstance(s, Loop))
            self.lines.append(f"  int {', '.join(names)};")
        given = " ".join(f"param {n} = {p.sizes[0][n]};" for n in self._open())
        inside = f"def input_params {{ {given} }}" if given else ""
        self.lines.append(f"  /*@ begin PerfTuning ({inside}) @*/")
        self._body(p.body, "  ")
        self.lines.append("  /*@ end @*/")
        self.lines += [f"  out[{k}] = {name};" for k, name in enumerate(p.carried)]
        self.lines.append("}")
        self.lines += [f"#undef {name}" for name in p.defined]
        return "\n".join(self.lines) + "\n"

    def _open(self) -> list[str]:
        return [n for n in self.program.sizes[0] if n not in self.program.defined]

    def _parameters(self) -> list[str]:
        out = [f"int {name}" for name in self._open()]
        for array in self.program.arrays:
            if array.is_object or array.kind == "local":
                continue
            if array.kind == "shaped":
                out.append(f"{array.element} {array.name}{_brackets(array)}")
            else:
                word = "restrict " if array.is_restrict else ""
                out.append(f"{array.element} *{word}{array.name}")
        out += [f"double {name}" for name in self.program.alphas]
        if self.program.carried:
            out.append("double *out")
        return out

    def _body(self, body: tuple[Stmt, ...], margin: str) -> None:
        for stmt in body:
            match stmt:
                case Set(target, op, value):
                    self.lines.append(f"{margin}{self.value(target)} {op} {self.value(value)};")
                case Declare(name, value):
                    self.lines.append(f"{margin}double {name} = {self.value(value)};")
                case Scratch(name):
                    array = self.program.array(name)
                    self.lines.append(f"{margin}{array.element} {name}{_brackets(array)};")
                case When(condition, then, otherwise):
                    self.lines.append(f"{margin}if ({self.value(condition)}) {{")
                    self._body(then, margin + "  ")
                    if otherwise:
                        self.lines.append(f"{margin}}} else {{")
                        self._body(otherwise, margin + "  ")
                    self.lines.append(f"{margin}}}")
                case Loop():
                    self.lines.append(f"{margin}for ({self._head(stmt)}) {{")
                    self._body(stmt.body, margin + "  ")
                    self.lines.append(f"{margin}}}")

    def _head(self, loop: Loop) -> str:
        v = loop.var
        word = "" if self.program.iterators_outside else "int "
        if loop.is_down:
            last = loop.upper if loop.is_inclusive else loop.upper.shifted(-1)
            return f"{word}{v} = {last}; {v} >= {loop.lower}; {v}--"
        step = f"{v}++" if loop.step == 1 else f"{v} += {loop.step}"
        compare = "<=" if loop.is_inclusive else "<"
        return f"{word}{v} = {loop.lower}; {v} {compare} {loop.upper}; {step}"

    def value(self, value: Value, inner: bool = False) -> str:
        match value:
            case Affine():
                return (
                    f"({value})"
                    if inner and (len(value.terms) + bool(value.constant)) > 1
                    else str(value)
                )
            case Atom():
                return value.text
            case Element():
                return self._element(value)
            case Apply("?:", (condition, first, second)):
                parts = (self.value(v, True) for v in (condition, first, second))
                return "({} ? {} : {})".format(*parts)
            case Apply("!", (one,)):
                return f"!({self.value(one)})"
            case Apply(op, parts) if op.isidentifier():
                return f"{op}({', '.join(self.value(p) for p in parts)})"
            case Apply(op, (left, right)):
                text = f"{self.value(left, True)} {op} {self.value(right, True)}"
                return f"({text})" if inner else text
        raise AssertionError(value)

    def _element(self, element: Element) -> str:
        array = self.program.array(element.array)
        if array.kind not in ("flat", "horner"):
            return array.name + "".join(f"[{a}]" for a in element.at)
        inner = [f"({e})" if len(e.terms) else str(e) for e in array.extents]
        if array.kind == "horner":
            text = f"{element.at[0]}"
            for extent, at in zip(inner[1:], element.at[1:], strict=True):
                text = f"({text}) * {extent} + {at}"
            return f"{array.name}[{text}]"
        parts = []
        for dim, at in enumerate(element.at):
            strides = inner[dim + 1 :]
            word = f"({at})" if strides else f"{at}"
            parts.append(" * ".join([word, *strides]))
        return f"{array.name}[{' + '.join(parts)}]"


def _brackets(array: Array) -> str:
    return "".join(f"[{e}]" for e in array.extents)
