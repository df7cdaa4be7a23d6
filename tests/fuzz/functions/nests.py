"""Random loop nests in C text, over the names of a scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from . import heads
from .scope import Array, Iterator, Scope, Variable
from .vocabulary import (
    ITERATORS,
    PLAIN_ITERATORS,
    UNSIGNED,
    WIDE,
    is_complex,
    is_real,
    is_whole,
)

Lines = list[str]

# Heads of loops, each with the first value and how far the last one is beyond size - 1.
_ANY = (
    ("{v} = 1; {v} < {s}; {step}", 1, 0),
    ("{v} = 1; {v} <= {s}; {step}", 1, 1),
    ("{v} = 0; {v} < {s}; {v} += {two}", 0, 0),
    ("{v} = 0; {v} < {s} && {v} < {other}; {step}", 0, 0),
    ("{v} = 0; {v} < {s}/2; {step}", 0, 0),
    ("{v} = 0; {v} < ({s} < 9 ? {s} : 9); {step}", 0, 0),
)
_SIGNED = (
    ("{v} = {s} - 1; {v} >= 0; {v}--", 0, 0),
    ("{v} = {s}; {v} > 0; --{v}", 1, 1),
    ("{v} = 1; {v} <= {s} - 1; {step}", 1, 0),
    ("{v} = 1; {v} < {s} - 1; {step}", 1, 0),
    ("{v} = (0 > {s} - 4 ? 0 : {s} - 4); {v} < {s}; {step}", 0, 0),
    ("{v} = {s} - 1; {v} > 0; {v} -= 2", 0, 0),
)
_NOT_EQUAL = ("{v} = 0; {v} != {s}; {step}", 0, 0)
_UNSIGNED_MAX = ("{v} = MAX(0, {s} - 4); {v} < {s}; {step}", 0, 0)
_TRIANGLES = (
    "{v} = {other}; {v} < {s}; {step}",
    "{v} = {other} + 1; {v} < {s}; {step}",
    "{v} = 0; {v} <= {other}; {step}",
    "{v} = 0; {v} < {other}; {step}",
)
_BANDS = (
    "{v} = MAX(0, {other} - 2); {v} < MIN({s}, {other} + 3); {step}",
    "{v} = MAX(0, {other} - 2); {v} < {s}; {step}",
)


@dataclass
class Nests:
    """Makes the loops of one function.

    `iterators` are the names that loops take, with their types; those of `outside` are
    declared at the top of the function, the others by their loop.
    """

    scope: Scope
    iterators: dict[str, str]
    outside: bool
    used: set[str] = field(default_factory=set)

    # Regions -------------------------------------------------------------------------------

    def region(self) -> Lines:
        """Return the text of one region: mostly one nest, and at times several and scalars."""
        choose = self.scope.choose
        kind = choose.integer(0, 99)
        if kind < 50:
            return self.nest([], choose.pick((1, 2, 2, 2, 3)))
        if kind < 60:
            return self.contraction()
        if kind < 70:
            return [*self.nest([], choose.pick((1, 2))), *self.nest([], choose.pick((1, 2)))]
        if kind < 76:
            return [*self.nest([], 1), *self.between([]), *self.nest([], 2)]
        if kind < 90:
            return self.sweeps()
        if kind < 94:
            return self.swept()
        return self.guarded([], 2)

    def sweeps(self) -> Lines:
        """Return a serial loop around nests, with scalars that change from sweep to sweep."""
        scope = self.scope
        head, one = self._loop([], straight=True)
        body = self.nest([one], scope.choose.pick((1, 2)))
        body += self.between([one])
        if scope.choose.chance(50):
            body += self.nest([one], 1)
        scope.features.add("scalar changed between nests")
        return [f"{head} {{", *_indented(body), "}"]

    def swept(self) -> Lines:
        """Return a loop with an odd head, and at times a nest that uses what it leaves."""
        name, type_ = self._odd([])
        lines = heads.swept(self.scope, name, type_, self.outside)
        return lines + (self.nest([], 1) if self.scope.choose.chance(50) else [])

    def between(self, iterators: list[Iterator]) -> Lines:
        """Return a statement or two on scalars, as stands between nests."""
        choose, scope = self.scope.choose, self.scope
        out: Lines = []
        for _ in range(choose.pick((1, 1, 2))):
            one = self._written(lambda s: True)
            if one is None:
                break
            if is_real(one.type) or is_complex(one.type):
                scope.sums = True
                forms = ("{s} = {s} * 2;", "{s} += {v};", "{s} = {v};", "{s} = -{s};")
            else:
                forms = ("{s} = {s} * 2;", "{s}++;", "{s} -= {v};", "{s} = {s} + 1;", "{s} = {v};")
            value = scope.value(iterators, one.type, 1)
            out.append(choose.pick(forms).format(s=one.word, v=value))
        return out

    # Nests ---------------------------------------------------------------------------------

    def nest(self, around: list[Iterator], depth: int) -> Lines:
        """Return a nest of `depth` loops inside those `around`."""
        choose = self.scope.choose
        head, one = self._loop(around)
        iterators = [*around, one]
        body: Lines = []
        if depth > 1:
            if choose.chance(35):
                body += self.statement(iterators)
            body += self.nest(iterators, depth - 1)
            if choose.chance(25):
                body += self.statement(iterators)
        else:
            for _ in range(choose.pick((1, 1, 1, 2, 2, 3))):
                body += self.statement(iterators)
        if len(body) == 1 and choose.chance(50):
            return [head, "  " + body[0]]
        return [f"{head} {{", *_indented(body), "}"]

    def contraction(self) -> Lines:
        """Return a matrix product, or a product of a matrix and a vector."""
        scope, choose = self.scope, self.scope.choose
        heads, ones = [], []
        for _ in range(3):
            head, one = self._loop(ones, straight=choose.chance(80))
            heads.append(head)
            ones.append(one)
        i, j, k = ones
        element = choose.pick(("double", "double", "double", "float", "int", "double complex"))

        def of(first: Iterator, second: Iterator) -> str:
            array = self._typed((first.size, second.size), element)
            return array.element_at([first.name, second.name]) if array else "1"

        target = self._typed((i.size, j.size), element, is_new=True)
        if target is None:
            return self.nest([], 2)
        scope.sums = True
        scope.features.add("contraction")
        factor = choose.pick(
            ("", "", *[f"{s.word} * " for s in scope.scalars if s.type == element])
        )
        left = target.element_at([i.name, j.name])
        statement = f"{left} {choose.pick(('+=', '+=', '-='))} {factor}{of(i, k)} * {of(k, j)};"
        lines = [statement]
        for head in reversed(heads):
            lines = [head, *_indented(lines)]
        return lines

    def _typed(self, sizes: tuple[str, ...], element: str, is_new: bool = False) -> Array | None:
        """Return an array of an element type that has these sizes, a new one if need be."""
        known = [a for a in self.scope.arrays if a.sizes == sizes and a.element == element]
        known = [a for a in known if not is_new]
        if known:
            return self.scope.choose.pick(known)
        for _ in range(6):
            made = self.scope.new_array(sizes)
            if made is None:
                return None
            if not (is_new and made.is_const):
                return made
        return None

    # Loops ---------------------------------------------------------------------------------

    def _loop(self, around: Sequence[Iterator], straight: bool = False) -> tuple[str, Iterator]:
        """Return the head of a loop and its variable."""
        choose, scope = self.scope.choose, self.scope
        taken = {one.variable or one.name for one in around}
        name = choose.pick([n for n in self.iterators if n not in taken])
        self.used.add(name)
        type_ = self.iterators[name]
        size = choose.pick([*scope.sizes, *scope.sizes, *scope.sizes, "8", "3"])
        v = name
        word = "" if self.outside else f"{type_} "
        inner = [i for i in around if i.size == size]
        step = choose.pick((f"{v}++", f"{v}++", f"{v}++", f"++{v}", f"{v} += 1", f"{v} = {v} + 1"))
        plain = f"for ({word}{v} = 0; {v} < {size}; {step})"
        kind = 0 if straight else choose.integer(0, 99)
        if kind < 48:
            return plain, Iterator(v, type_, size)
        if kind < 52:
            far = scope.wide()
            head = f"{v} = {far}; {v} < {far} + {size}; {step}"
            word, type_ = (word, type_) if self.outside else ("long ", "long")
            is_far = type_ in WIDE
            one = Iterator(f"({v} - {far})" if is_far else v, type_, size, variable=v)
            return (f"for ({word}{head})" if is_far else plain), one
        if kind < 72 and inner:
            scope.features.add("triangular")
            return self._triangle(v, type_, word, size, choose.pick(inner).name, step)
        forms = list(_ANY)
        if not {type_, scope.sizes.get(size)} & set(UNSIGNED):
            forms += _SIGNED
        if size.isdigit():
            forms.append(_NOT_EQUAL)
        if "MAX" in scope.features and type_ in UNSIGNED:
            forms.append(_UNSIGNED_MAX)
        head, low, high = choose.pick(forms)
        other = choose.pick(["6", *scope.sizes])
        text = head.format(v=v, s=size, step=step, two=choose.pick((2, 3, 4)), other=other)
        return f"for ({word}{text})", Iterator(v, type_, size, low, high)

    def _triangle(
        self, v: str, type_: str, word: str, size: str, other: str, step: str
    ) -> tuple[str, Iterator]:
        forms = _TRIANGLES + (_BANDS if "MAX" in self.scope.features else ())
        text = self.scope.choose.pick(forms).format(v=v, s=size, step=step, other=other)
        return f"for ({word}{text})", Iterator(v, type_, size)

    # Statements ----------------------------------------------------------------------------

    def statement(self, iterators: list[Iterator]) -> Lines:
        """Return one statement of a nest's body, with what it needs around it."""
        kind = self.scope.choose.integer(0, 99)
        if kind < 46:
            return self._elementwise(iterators)
        if kind < 60:
            return self._reduction(iterators)
        if kind < 68:
            return self._extreme(iterators)
        if kind < 78:
            return self.guarded(iterators, 0)
        if kind < 88:
            return self._temporary(iterators)
        if kind < 92:
            return self._small_array(iterators)
        if kind < 95:
            return self._counted(iterators)
        return self._sum_of_row(iterators)

    def guarded(self, iterators: list[Iterator], depth: int) -> Lines:
        scope, choose = self.scope, self.scope.choose
        condition = scope.condition(iterators)

        def inside() -> Lines:
            return self.nest(iterators, depth) if depth else self._elementwise(iterators)

        lines = [f"if ({condition}) {{", *_indented(inside())]
        if choose.chance(30):
            return [*lines, "} else {", *_indented(inside()), "}"]
        return [*lines, "}"]

    def _target(self, iterators: list[Iterator]) -> tuple[Array, str] | None:
        """Return an element to write, mostly one of its own for each iteration."""
        choose = self.scope.choose
        if choose.chance(75):
            distinct = list(iterators)
            sizes = tuple(i.size for i in distinct)
            known = [a for a in self.scope.arrays if a.sizes == sizes and not a.is_const]
            array = choose.pick(known) if known and choose.chance(70) else None
            if array is None and len(sizes) <= 3:
                made = self.scope.new_array(sizes)
                array = made if made is not None and not made.is_const else None
            array = array or (choose.pick(known) if known else None)
            if array is not None:
                names = []
                for dim, one in enumerate(distinct):
                    fits = array.form == "flat" or one.high <= array.pads[dim]
                    names.append(one.name if fits else f"{one.name} - {one.high}")
                return array, array.element_at(names)
        return self.scope.element(iterators, lambda a: not a.is_const)

    def _elementwise(self, iterators: list[Iterator]) -> Lines:
        scope = self.scope
        found = self._target(iterators)
        if found is None:
            return [";"]
        array, left = found
        if is_complex(array.element) and scope.choose.chance(12):
            op = scope.choose.pick(("==", "!="))
            return [f"if ({left} {op} {scope.choose.pick(('0', '1', '2.0'))}) {left} *= 2;"]
        op = scope.choose.pick(("=", "=", "=", "+=", "-=", "*="))
        value = scope.value(iterators, array.element)
        scope.sums |= (op != "=" or left in value) and not is_whole(array.element)
        return [f"{left} {op} {value};"]

    def _written(self, wanted: object) -> Variable | None:
        assert callable(wanted)
        usable = [s for s in self.scope.scalars if s.is_written and wanted(s)]
        return self.scope.choose.pick(usable) if usable else None

    def _reduction(self, iterators: list[Iterator]) -> Lines:
        scope = self.scope
        one = self._written(lambda s: s.type not in ("_Bool",))
        if one is None:
            return self._elementwise(iterators)
        op = scope.choose.pick(
            ("+=", "+=", "+=", "-=", "*=") if not is_whole(one.type) else ("+=", "+=", "-=")
        )
        scope.sums |= not is_whole(one.type)
        scope.features.add("reduction")
        value = scope.value(iterators, one.type, 1)
        if op == "*=":
            value = f"({value} > 0 ? 2 : 1)" if not is_complex(one.type) else "2"
            scope.discrete = True
        return [f"{one.word} {op} {value};"]

    def _extreme(self, iterators: list[Iterator]) -> Lines:
        """Return a maximum or minimum in one of its spellings, of a scalar or an element."""
        scope, choose = self.scope, self.scope.choose
        one = self._written(lambda s: not is_complex(s.type))
        found = scope.element(iterators, lambda a: not is_complex(a.element))
        if one is None or found is None:
            return self._elementwise(iterators)
        left = one.word
        if len(iterators) > 1 and choose.chance(30):
            kept = scope.element(
                iterators[:1], lambda a: not is_complex(a.element) and not a.is_const, 1
            )
            left = kept[1] if kept else left
        x = found[1]
        scope.discrete |= is_real(one.type) or is_real(found[0].element)
        scope.features.add("maximum")
        op = choose.pick("<>")
        forms = [
            f"if ({x} {op} {left}) {left} = {x};",
            f"if ({left} {op} {x}) {left} = {x};",
            f"{left} = {left} {op} {x} ? {left} : {x};",
            f"{left} = {x} {op} {left} ? {x} : {left};",
            f"{left} = {left} {op} {x} ? {x} : {left};",
            f"if (!({x} {op}= {left})) {left} = {x};",
        ]
        if "MAX" in scope.features:
            forms += [f"{left} = MAX({left}, {x});", f"{left} = MIN({x}, {left});"]
        if scope.has_math and is_real(one.type):
            forms += [f"{left} = fmax({left}, {x});", f"{left} = fmin({x}, {left});"]
        return [choose.pick(forms)]

    def _temporary(self, iterators: list[Iterator]) -> Lines:
        """Return a scalar that is set, used and perhaps left behind."""
        scope, choose = self.scope, self.scope.choose
        if choose.chance(50):
            one = self._written(lambda s: True)
            if one is None:
                return self._elementwise(iterators)
            lines = [f"{one.word} = {scope.value(iterators, one.type)};"]
            scope.features.add("temporary")
            return [*lines, *self._elementwise(iterators)]
        type_ = choose.pick(("double", "double", "float", "int", "long", "unsigned", "short"))
        name = f"t{choose.integer(0, 9)}_"
        lines = [
            f"{choose.pick(('', 'const ', ''))}{type_} {name} = {scope.value(iterators, type_)};"
        ]
        scope.scalars.append(Variable(name, type_, "", False))
        try:
            return [
                "{",
                *_indented([*lines, *self._elementwise(iterators), *self._elementwise(iterators)]),
                "}",
            ]
        finally:
            scope.scalars.pop()

    def _small_array(self, iterators: list[Iterator]) -> Lines:
        scope, choose = self.scope, self.scope.choose
        found = self._target(iterators)
        if found is None:
            return [";"]
        array, left = found
        type_ = array.element if not is_complex(array.element) else "double"
        z = choose.pick([n for n in (*PLAIN_ITERATORS, "zz") if n not in self.iterators])
        source = scope.value(iterators, type_, 1)
        at = choose.pick(("2", "0", f"{iterators[-1].name} % 3"))
        scope.features.add("array of an iteration")
        return [
            "{",
            f"  {type_} lw_[3];",
            f"  for (int {z} = 0; {z} < 3; {z}++) lw_[{z}] = {source} + {z};",
            f"  {left} = lw_[1] + lw_[{at}];",
            "}",
        ]

    def _odd(self, iterators: list[Iterator]) -> tuple[str, str]:
        """Return the name and type of a variable for a loop with an odd head."""
        taken = {one.variable or one.name for one in iterators}
        name = self.scope.choose.pick([n for n in self.iterators if n not in taken])
        self.used.add(name)
        self.scope.features.add("odd head")
        type_ = self.iterators[name]
        return name, type_ if self.outside else self.scope.choose.pick(ITERATORS)

    def _counted(self, iterators: list[Iterator]) -> Lines:
        """Return an inner loop with an odd head whose count goes into an element."""
        found = None if len(iterators) > 2 else self._target(iterators)
        if found is None or is_complex(found[0].element):
            return self._elementwise(iterators)
        name, type_ = self._odd(iterators)
        return heads.counted(self.scope, name, type_, self.outside, found[1], iterators)

    def _sum_of_row(self, iterators: list[Iterator]) -> Lines:
        """Return an inner loop that sums into an element or a scalar of the iteration."""
        scope, choose = self.scope, self.scope.choose
        if len(iterators) > 2:
            return self._elementwise(iterators)
        found = self._target(iterators)
        if found is None:
            return [";"]
        array, left = found
        head, one = self._loop(iterators, straight=choose.chance(60))
        inner = scope.value([*iterators, one], array.element, 1)
        scope.sums |= not is_whole(array.element)
        scope.features.add("sum")
        if choose.chance(50) or is_complex(array.element):
            return [head, f"  {left} += {inner};"]
        type_ = array.element
        return [
            "{",
            f"  {type_} acc_ = 0;",
            f"  {head}",
            f"    acc_ += {inner};",
            f"  {left} {choose.pick(('=', '+='))} acc_;",
            "}",
        ]


def _indented(lines: Lines) -> Lines:
    return ["  " + line for line in lines]
