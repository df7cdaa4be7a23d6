"""What stands at the disposal of a random statement, and random expressions over it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..choices import Choices
from .vocabulary import FAR, UNSIGNED, WIDE, is_complex, is_real, is_whole


@dataclass(frozen=True)
class Iterator:
    """A loop variable with values from `low` to `size` - 1 + `high`.

    Where its loop begins far away, `name` is its distance from there, and `variable` its name.
    """

    name: str
    type: str
    size: str
    low: int = 0
    high: int = 0
    variable: str = ""


@dataclass(frozen=True)
class Array:
    """An array: the sizes of its dimensions and how much longer than these they are.

    `form` is ``flat`` (a pointer and one subscript), ``shaped`` (a parameter with extents),
    ``rows`` (a pointer to rows), or ``object`` (at file scope or local, constant extents).
    `spelling` is how C reaches it, such as ``g->u``.
    """

    name: str
    element: str
    form: str
    sizes: tuple[str, ...]
    pads: tuple[int, ...]
    spelling: str
    is_const: bool = False

    def extent(self, dim: int) -> str:
        pad = self.pads[dim]
        return f"{self.sizes[dim]} + {pad}" if pad else self.sizes[dim]

    def element_at(self, subscripts: list[str]) -> str:
        if self.form != "flat":
            return self.spelling + "".join(f"[{s}]" for s in subscripts)
        parts = []
        for dim, at in enumerate(subscripts):
            strides = [_bracketed(self.extent(k)) for k in range(dim + 1, len(subscripts))]
            word = _bracketed(at) if strides else at
            parts.append("*".join([word, *strides]))
        return f"{self.spelling}[{' + '.join(parts)}]"


@dataclass(frozen=True)
class Variable:
    """A scalar; `is_written` where statements may set it."""

    name: str
    type: str
    spelling: str = ""
    is_written: bool = True

    @property
    def word(self) -> str:
        return self.spelling or self.name


@dataclass
class Scope:
    """The names of one function, and the features that its text has come to have."""

    choose: Choices
    inexact: bool
    arrays: list[Array] = field(default_factory=list)
    scalars: list[Variable] = field(default_factory=list)
    sizes: dict[str, str] = field(default_factory=dict)
    constants: list[str] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)
    has_math: bool = True
    features: set[str] = field(default_factory=set)
    sums: bool = False
    discrete: bool = False
    new_array: Callable[[tuple[str, ...]], Array | None] = lambda sizes: None
    far: list[str] = field(default_factory=list)
    pointed: set[str] = field(default_factory=set)
    """Elements that pointers name, as they are written."""
    is_quiet: bool = False
    """Whether conversions that lose a number's fraction are kept away."""

    # Elements ------------------------------------------------------------------------------

    def element(
        self, iterators: list[Iterator], wanted: Callable[[Array], bool], rank: int = 0
    ) -> tuple[Array, str] | None:
        """Return an array and one of its elements, subscripted by iterators."""
        fitting = [a for a in self.arrays if wanted(a) and self._fits(a, iterators)]
        if rank:
            fitting = [a for a in fitting if len(a.sizes) == rank]
        array = self.choose.pick(fitting) if fitting and self.choose.chance(85) else None
        if array is None and iterators:
            count = rank or self.choose.pick((1, 1, 2, 2, 3))
            names = tuple(self.choose.pick(iterators).size for _ in range(count))
            made = self.new_array(names)
            array = made if made is not None and wanted(made) else None
        if array is None and fitting:
            array = self.choose.pick(fitting)
        if array is None:
            return None
        at = [self._subscript(array, k, iterators) for k in range(len(array.sizes))]
        if array.form == "flat" and len(at) == 1 and self.choose.chance(6):
            return array, self._pointed(array, at[0])
        return array, array.element_at(at)

    def _pointed(self, array: Array, at: str) -> str:
        """Return an element of an array by the arithmetic of pointers."""
        forms = ("*({a} + {i} - 1)", "({a} + {i})[-1]", "*({a} - {i} + 3)", "({a} - 2)[{i}]")
        text = self.choose.pick(forms).format(a=array.spelling, i=_bracketed(at))
        self.pointed.add(text)
        self.features.add("pointer arithmetic")
        return text

    def _counted(self, one: Iterator) -> str:
        """Return an iterator in a subscript, at times cast."""
        if not self.choose.chance(7):
            return one.name
        type_ = self.choose.pick(("int", "int", "long", "ptrdiff_t"))
        return f"({type_}){_bracketed(one.name)}"

    def _fits(self, array: Array, iterators: list[Iterator]) -> bool:
        known = {i.size for i in iterators}
        return all(size in known or size.isdigit() for size in array.sizes)

    def _subscript(self, array: Array, dim: int, iterators: list[Iterator]) -> str:
        size, pad = array.sizes[dim], array.pads[dim]
        fitting = [i for i in iterators if i.size == size and i.high <= pad and i.low >= 0]
        fitting = fitting or [i for i in iterators if i.size == size]
        if array.form == "flat" and self.choose.chance(8) and iterators:
            one = self.choose.pick(iterators)
            forms = ("{i}/2", "2*{i}", "{i} % 3", "{i} + 3", "{i} - 1", "{i}", "-{i}", "5 - {i}")
            return self.choose.pick(forms).format(i=self._counted(one))
        if not fitting:
            return str(self.choose.integer(0, max(0, int(size) - 1))) if size.isdigit() else "0"
        one = self.choose.pick(fitting)
        kind = self.choose.integer(0, 99)
        if kind < 72:
            return self._counted(one)
        offset = self.choose.integer(-1, 2)
        if array.form != "flat" and (one.low + offset < 0 or one.high + offset > pad):
            return one.name
        if kind < 93 and offset:
            return f"{self._counted(one)} {'-' if offset < 0 else '+'} {abs(offset)}"
        if kind > 96 and not one.high:
            return f"{size} - 1 - {self._counted(one)}"
        return one.name

    # Numbers beyond 32 bits ------------------------------------------------------------------

    def wide(self) -> str:
        """Return a number beyond 32 bits, a product of which no factor is."""
        if self.far and self.choose.chance(30):
            return self.choose.pick(self.far)
        self.features.add("beyond 32 bits")
        return f"(long){self._factor()} * {FAR}"

    def _factor(self) -> str:
        """Return a size, or what C computes of sizes in their own types."""
        choose, sizes = self.choose, list(self.sizes)
        one, other = choose.pick(sizes), choose.pick(sizes)
        forms = (
            "{n} / 2",
            "{n} % 5",
            "{n} - 1",
            "{n} + 1",
            "{n} < {m} ? {n} : {m}",
            "{n} > 3 ? {n} : 3",
        )
        if choose.chance(50):
            return one
        return "-" + one if choose.chance(15) else f"({choose.pick(forms).format(n=one, m=other)})"

    # Values --------------------------------------------------------------------------------

    def value(self, iterators: list[Iterator], type_: str, depth: int = 2) -> str:
        """Return an expression for a target of a type."""
        choose = self.choose
        if depth == 0 or choose.chance(28):
            return self._leaf(iterators, type_)
        kind = choose.integer(0, 99)
        left = self.value(iterators, type_, depth - 1)
        if kind < 62:
            op = (
                choose.pick("++--*")
                if not is_whole(type_)
                else choose.pick("++--*&^|" if choose.chance(6) else "+-*")
            )
            right = self.value(iterators, type_, depth - 1)
            # gcc reads nothing of ``x - (x - y)``, and what C says is touched would not be there.
            if self._elements(left) & self._elements(right) and (
                op in "-^" or "-(" in left + right
            ):
                return left
            return f"({left} {op} {right})"
        if is_complex(type_):
            return f"-{left}" if kind < 70 else left
        if kind < 68:
            condition = self.condition(iterators)
            right = self.value(iterators, type_, depth - 1)
            # Nor does it read what decides between two that are alike.
            return left if left == right else f"({condition} ? {left} : {right})"
        if kind < 73:
            return f"-({left})"
        if kind < 80:
            return self._cast(left, type_)
        if kind < 85:
            return self._divided(left, type_)
        if self.calls and kind < 97:
            name, count = choose.pick(self.calls)
            others = [self.value(iterators, type_, depth - 1) for _ in range(count - 1)]
            self.features.add("call")
            return f"{name}({', '.join([left, *others])})"
        return left

    def _cast(self, left: str, type_: str) -> str:
        if is_real(type_):
            return f"({self.choose.pick(('float', 'double'))})({left})"
        return (
            f"({self.choose.pick(('int', 'long', 'short', 'unsigned char', 'unsigned'))})({left})"
        )

    def _divided(self, left: str, type_: str) -> str:
        if is_whole(type_):
            return f"({left}) {self.choose.pick('/%')} {self.choose.pick((2, 3))}"
        return f"{left} / 3.0" if self.inexact else f"{left} * 0.5"

    def _leaf(self, iterators: list[Iterator], type_: str) -> str:
        choose = self.choose
        kind = choose.integer(0, 99)
        if kind < 62:
            found = self.element(iterators, lambda a: self._may_give(a.element, type_))
            if found is not None:
                return found[1]
        if kind < 80:
            usable = [s for s in self.scalars if self._may_give(s.type, type_)]
            if usable:
                return choose.pick(usable).word
        if kind < 87 and iterators:
            return choose.pick(iterators).name
        if kind < 93 and self.constants:
            return choose.pick(self.constants)
        if kind in (93, 94) and self.sizes:
            return f"({self.wide()})" if type_ in WIDE else f"(int)({self.wide()} / {FAR})"
        if is_whole(type_):
            return choose.pick(("1", "2", "3", "7", "-1", "1u", "2L", "'a'", "255"))
        if self.inexact and choose.chance(50):
            return choose.pick(("0.1", "1.7f", "3.3"))
        return choose.pick(("1.0", "2.0", "0.5", "1", "2", "-1.0", "3", "0.25f", "-0.0"))

    def _elements(self, text: str) -> set[str]:
        return _subscripted(text) | {one for one in self.pointed if one in text}

    def _may_give(self, source: str, target: str) -> bool:
        if is_complex(source):
            return is_complex(target)
        if is_real(source) and is_whole(target):
            if self.is_quiet or not self.choose.chance(15):
                return False
            self.discrete = True
        return True

    def condition(self, iterators: list[Iterator]) -> str:
        """Return a condition on iterators, on data, or on both."""
        choose = self.choose
        kind = choose.integer(0, 99)
        if kind < 35 and iterators:
            one = choose.pick(iterators)
            other = choose.pick(
                [str(choose.integer(0, 4)), one.size + "/2", choose.pick(iterators).name]
            )
            return f"{one.name} {choose.pick(('<', '<=', '>', '>=', '==', '!='))} {other}"
        if kind < 80:
            found = self.element(iterators, lambda a: not is_complex(a.element))
            if found is not None:
                self.discrete |= is_real(found[0].element)
                op = choose.pick(("<", ">", "<=", ">=", "==", "!="))
                right = self._leaf(iterators, found[0].element) if choose.chance(60) else "0"
                right = "0" if right == found[1] else right
                # gcc drops the reads of ``x > x``, and of an unsigned ``x >= 0``, too.
                if right == "0" and _is_unsigned(found[0].element):
                    op = {">=": "==", "<": "!="}.get(op, op)
                return f"{found[1]} {op} {right}"
        usable = [s for s in self.scalars if not is_complex(s.type)]
        if not usable:
            return "1"
        one = choose.pick(usable)
        self.discrete |= is_real(one.type)
        return f"{one.word} {choose.pick(('>', '!=', '<='))} {choose.pick(('0', '1', '2'))}"


def _subscripted(text: str) -> set[str]:
    """Return the array elements of an expression, as they are written."""
    found = set()
    for match in re.finditer(r"[\w.>-]+(?=\[)", text):
        end, depth = match.end(), 0
        while end < len(text) and (depth or text[end] == "["):
            depth += (text[end] == "[") - (text[end] == "]")
            end += 1
        found.add(text[match.start() : end].lstrip("->"))
    return found


def _is_unsigned(type_: str) -> bool:
    return type_ in (*UNSIGNED, "_Bool")


def _bracketed(text: str) -> str:
    is_one = text.replace("->", "_").isidentifier() or text.isdigit()
    return text if is_one else f"({text})"
