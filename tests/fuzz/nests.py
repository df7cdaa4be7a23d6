"""Random affine nests: loops, statements, arrays, guards and scalars, all accesses in range."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from .choices import Choices, Drawn
from .layout import fitted
from .program import (
    Affine,
    Apply,
    Array,
    Atom,
    Declare,
    Element,
    Loop,
    Program,
    Scratch,
    Set,
    Stmt,
    Value,
    When,
    count,
    elements,
    operands,
    statements,
    values_of,
)

MOST_INSTANCES = 700
"""Assignments per run of a program: pairs of them are compared."""

ITERATORS = "ijkl"


@dataclass(frozen=True)
class Options:
    """What may stand in a program beyond affine loops and assignments."""

    with_guards: bool = True
    with_carried: bool = True
    with_down: bool = True


@dataclass
class _Maker:
    """One program in the making."""

    choose: Choices
    options: Options
    arrays: tuple[Array, ...] = ()
    alphas: tuple[str, ...] = ()
    temporaries: list[str] = field(default_factory=list)
    carried: tuple[str, ...] = ()
    shared: tuple[Atom | Element, str] | None = None
    ready: list[str] = field(default_factory=list)
    names: int = 0
    statements_left: int = 0
    headers: dict[int, Loop] = field(default_factory=dict)
    is_alike: bool = False

    def program(self, name: str) -> Program:
        choose = self.choose
        sizes = self.sizes()
        self.arrays = tuple(self.array(k, name) for k in range(choose.integer(1, 3)))
        self.alphas = ("alpha",) if choose.chance(40) else ()
        if self.options.with_carried and choose.chance(20):
            self.carried = ("s", "q")[: choose.integer(1, 2)]
        self.statements_left = choose.pick((1, 2, 2, 3, 3, 4))
        if self.carried and choose.chance(50):
            self.shared = (Atom(self.carried[0]), choose.pick("+++*<>"))
            self.statements_left += 1
        body: list[Stmt] = []
        depth = choose.pick((1, 2, 2, 2, 3, 3, 4))
        while self.statements_left > 0 and len(body) < 4:
            body += self.nest(depth)
            depth = choose.integer(1, depth)
        if self.temporaries and choose.chance(25):
            # Its last value is read after the region.
            self.carried = (*self.carried, self.temporaries[0])
        self.temporaries = [t for t in self.temporaries if t not in self.carried]
        made = Program(
            name,
            sizes,
            self.arrays,
            tuple(body),
            self.alphas,
            tuple(dict.fromkeys(self.temporaries)),
            self.carried,
            self.defined(sizes[0]),
            choose.chance(35),
            {f"{a.name}.{d}": choose.integer(0, 4) for a in self.arrays for d in range(a.rank)},
        )
        return finished(made)

    def sizes(self) -> tuple[dict[str, int], ...]:
        """Return the tuned sizes, others to run at too, and ones."""
        pick = self.choose.integer
        tuned = {"n": pick(3, 6), "m": pick(2, 5)}
        return (tuned, {"n": pick(2, 7), "m": pick(2, 6)}, {"n": 1, "m": 1})

    def defined(self, tuned: dict[str, int]) -> tuple[str, ...]:
        return self.choose.pick(((), (), (), (), ("n",), ("n", "m")))

    def array(self, number: int, function: str) -> Array:
        choose = self.choose
        kinds = ("shaped", "shaped", "shaped", "flat", "flat", "horner", "global", "static")
        kind = choose.pick(kinds)
        # Objects at file scope of one batch need names of their own.
        own = f"_{function}" if kind in ("global", "static") else ""
        return Array(
            "ABC"[number] + own,
            kind,
            choose.pick((2, 1, 1, 2, 3)),
            "float" if choose.chance(8) else "double",
            choose.chance(60),
        )

    # Loops ------------------------------------------------------------------------------

    def nest(self, depth: int) -> list[Stmt]:
        """Return one nest, perfect or not; now and then over the loops of the one before."""
        self.is_alike = bool(self.headers) and self.choose.chance(45)
        return [self.loop(depth, ())]

    def loop(self, depth: int, around: tuple[str, ...]) -> Loop:
        choose = self.choose
        var = ITERATORS[len(around)]
        if choose.chance(4):
            var = "xyz"[self.names % 3]
            self.names += 1
        loop = self.header(var, around)
        if self.is_alike and len(around) in self.headers:
            loop = self.headers[len(around)]
        self.is_alike = self.is_alike and len(around) in self.headers
        self.headers[len(around)] = loop
        inner = (*around, loop.var)
        ready = list(self.ready)
        if depth == 2 and self.statements_left > 1 and choose.chance(10):
            body = self.scratch(inner)
        elif depth <= 1:
            body = self.leaf(inner)
        else:
            body = []
            if choose.chance(25):
                body += self.leaf(inner)
            body.append(self.loop(depth - 1, inner))
            if choose.chance(25):
                body += self.leaf(inner)
            if choose.chance(8) and self.statements_left > 0:
                body.append(self.loop(depth - 1, inner))
        self.ready = ready
        return replace(loop, body=self.guarded(body, inner))

    def scratch(self, around: tuple[str, ...]) -> list[Stmt]:
        """Return loops that fill an array and use it: each iteration around them has its own."""
        choose = self.choose
        name = f"W{len(self.arrays)}"
        array = Array(name, choose.pick(("local", "local", "shaped", "flat")), 1)
        var = ITERATORS[len(around)]
        first = self.header(var, around)
        then = choose.pick((first, first, self.header(var, around)))
        inner = (*around, var)
        place = Element(name, (Affine(((1, var),), choose.pick((0, 0, 1))),))
        fill = Set(place, "=", self.value(inner, 2))
        op = choose.pick(("=", "+="))
        value = Apply("+", (place, self.value(inner, 1)))
        use = Set(self.element(inner, self.some_array()), op, value)
        if array.kind == "local":
            # What no iteration has written may not be read.
            then = first
        self.arrays = (*self.arrays, array)
        self.statements_left -= 2
        declared: list[Stmt] = [Scratch(name)] if array.kind == "local" else []
        return [*declared, replace(first, body=(fill,)), replace(then, body=(use,))]

    def header(self, var: str, around: tuple[str, ...]) -> Loop:
        choose = self.choose
        lower = Affine((), choose.pick((0, 0, 0, 0, 1, 1, 2)))
        if choose.chance(15) and around:
            lower = Affine(((1, choose.pick(around)),), choose.pick((0, 0, 1)))
        size = choose.pick(("n", "n", "n", "m", "m"))
        upper = Affine(((1, size),), choose.pick((0, 0, 0, 0, -1, 1)))
        if choose.chance(10):
            upper = Affine((), choose.integer(2, 5))
        if choose.chance(12) and around:
            outer = choose.pick(around)
            upper = choose.pick(
                (
                    Affine(((1, outer),), choose.integer(0, 2)),
                    Affine(((1, size), (-1, outer))),
                    Affine(((1, outer), (1, "m"))),
                )
            )
        step = choose.pick((1, 1, 1, 1, 1, 1, 1, 2, 3))
        is_down = self.options.with_down and step == 1 and choose.chance(4)
        return Loop(var, lower, upper, (), step, choose.chance(15), is_down)

    def guarded(self, body: list[Stmt], around: tuple[str, ...]) -> tuple[Stmt, ...]:
        """Return a loop's body, now and then with a condition around a part of it."""
        choose = self.choose
        plain = [s for s in body if not isinstance(s, Declare | Scratch)]
        if not self.options.with_guards or len(plain) < len(body) or not choose.chance(22):
            return tuple(body)
        condition = self.condition(around)
        cut = choose.integer(0, len(body) - 1)
        then, rest = tuple(body[cut:]), tuple(body[:cut])
        otherwise: tuple[Stmt, ...] = ()
        if choose.chance(35):
            ready = list(self.ready)
            otherwise = tuple(self.leaf(around, 1))
            self.ready = ready
        return (*rest, When(condition, then, otherwise))

    # Statements -------------------------------------------------------------------------

    def leaf(self, around: tuple[str, ...], most: int = 3) -> list[Stmt]:
        """Return one statement or a few, at least one."""
        choose = self.choose
        wanted = min(choose.pick((1, 1, 1, 2, 2, 3)), most, max(1, self.statements_left))
        out: list[Stmt] = []
        for _ in range(wanted):
            self.statements_left -= 1
            out += self.statement(around)
        return out

    def statement(self, around: tuple[str, ...]) -> list[Stmt]:
        choose = self.choose
        if choose.chance(14):
            return self.temporary(around)
        if self.shared is None and choose.chance(6):
            inside = self.element(around[: choose.integer(0, len(around))], self.some_array())
            self.shared = (inside, choose.pick("+++*<>"))
            self.statements_left += 2
        if self.shared is not None and choose.chance(60):
            place, operator = self.shared
            if isinstance(place, Atom) or names_of(place) <= {*around}:
                return self.one_of_several(place, operator, around)
        if self.carried and choose.chance(45):
            return [self.accumulation(around)]
        target = self.element(around, self.some_array())
        op = choose.pick(("=", "=", "=", "=", "+=", "+=", "+=", "-=", "*="))
        if choose.chance(20):
            # A sum over the innermost loops: the target does not use them.
            target = self.element(around[: choose.integer(0, len(around))], self.some_array())
            op = choose.pick(("+=", "-=", "+="))
        value = self.value(around, choose.pick((1, 1, 2, 2, 3)))
        if op == "=" and choose.chance(10):
            op, value = "=", Apply(choose.pick("+-*"), (target, value))
        return [Set(target, op, value)]

    def temporary(self, around: tuple[str, ...]) -> list[Stmt]:
        """Return the setting of a private scalar and a statement that reads it."""
        choose = self.choose
        value = self.value(around, 2)
        if choose.chance(40):
            name = f"u{len(self.ready)}{self.names}"
            self.names += 1
            first: Stmt = Declare(name, value)
        else:
            name = choose.pick(("t", "v"))
            self.temporaries.append(name)
            first = Set(Atom(name), "=", value)
        self.ready.append(name)
        then = Set(self.element(around, self.some_array()), choose.pick(("=", "+=")), Atom(name))
        return [first, replace(then, value=Apply("+", (Atom(name), self.value(around, 1))))]

    def accumulation(self, around: tuple[str, ...]) -> Stmt:
        """Return a statement on a scalar whose value after the region matters."""
        choose = self.choose
        name = choose.pick(self.carried)
        value = self.value(around, choose.pick((1, 2)))
        if self.options.with_guards and choose.chance(25):
            return Set(Atom(name), "=", Apply(choose.pick(("fmax", "fmin")), (Atom(name), value)))
        if self.options.with_guards and choose.chance(15):
            larger = Apply(">", (value, Atom(name)))
            return When(larger, (Set(Atom(name), "=", value),))
        if choose.chance(15):
            return Set(Atom(name), "=", value)
        return Set(Atom(name), choose.pick(("+=", "+=", "+=", "-=", "*=")), value)

    def one_of_several(
        self, place: Atom | Element, operator: str, around: tuple[str, ...]
    ) -> list[Stmt]:
        """Return one of the statements that accumulate into one place by one operator."""
        choose = self.choose
        value = self.value(around, choose.pick((1, 1, 2)))
        if operator in "<>":
            function = "fmin" if operator == "<" else "fmax"
            forms: list[Stmt] = [
                Set(place, "=", Apply(function, (place, value))),
                Set(place, "=", Apply(function, (value, place))),
            ]
            if self.options.with_guards:
                further = Apply(operator, (value, place))
                forms.append(Set(place, "=", Apply("?:", (further, value, place))))
                forms.append(When(further, (Set(place, "=", value),)))
            return [choose.pick(forms)]
        forms = [
            Set(place, f"{operator}=", value),
            Set(place, "=", Apply(operator, (value, place))),
        ]
        if operator == "+":
            forms += [Set(place, "-=", value), Set(place, "=", Apply("-", (place, value)))]
        if self.options.with_guards and choose.chance(30):
            condition, more = self.condition(around), Apply(operator, (place, value))
            other = Apply(operator, (place, self.operand(around)))
            forms = [
                When(condition, (forms[0],)),
                When(condition, (forms[0],), (forms[-1],)),
                Set(place, "=", Apply("?:", (condition, more, place))),
                Set(place, "=", Apply("?:", (condition, more, other))),
            ]
        elif choose.chance(15):
            name = choose.pick(("t", "v"))
            self.temporaries.append(name)
            return [
                Set(Atom(name), "=", Apply(operator, (place, value))),
                Set(place, "=", Atom(name)),
            ]
        return [choose.pick(forms)]

    # Expressions ------------------------------------------------------------------------

    def value(self, around: tuple[str, ...], depth: int) -> Value:
        choose = self.choose
        if depth <= 1:
            return self.operand(around)
        if self.options.with_guards and choose.chance(10):
            parts = (self.condition(around), self.value(around, 1), self.value(around, 1))
            return Apply("?:", parts)
        if self.options.with_guards and choose.chance(5):
            return Apply(
                choose.pick(("fmax", "fmin")), (self.operand(around), self.operand(around))
            )
        op = choose.pick("++-*")
        left = self.value(around, depth - 1)
        return Apply(op, (left, self.operand(around)))

    def operand(self, around: tuple[str, ...]) -> Value:
        choose = self.choose
        kind = choose.integer(0, 99)
        if kind < 12:
            return Atom(choose.pick(("1.0", "2.0", "3.0")))
        if kind < 22 and self.alphas:
            return Atom(choose.pick(self.alphas))
        if kind < 34 and self.ready:
            return Atom(choose.pick(self.ready))
        if kind < 37 and around:
            return Atom(choose.pick(around))
        if kind < 39 and self.carried:
            return Atom(choose.pick(self.carried))
        return self.element(around, self.some_array())

    def condition(self, around: tuple[str, ...], depth: int = 2) -> Value:
        choose = self.choose
        if depth > 1 and choose.chance(20):
            op = choose.pick(("&&", "||"))
            return Apply(op, (self.condition(around, 1), self.condition(around, 1)))
        if depth > 1 and choose.chance(8):
            return Apply("!", (self.condition(around, 1),))
        compare = choose.pick(("<", "<=", ">", ">=", "==", "!="))
        if choose.chance(55):
            left = Affine(((1, choose.pick(around)),), choose.pick((0, 0, 0, 1, -1)))
            others = [Affine((), choose.integer(0, 3)), Affine(((1, "n"),), choose.integer(-2, 0))]
            others += [Affine(((1, name),), choose.integer(0, 1)) for name in around]
            return Apply(compare, (left, choose.pick(others)))
        right = choose.pick((Atom("0.0"), Atom("1.0"), self.element(around, self.some_array())))
        return Apply(compare, (self.element(around, self.some_array()), right))

    def some_array(self) -> Array:
        return self.choose.pick([a for a in self.arrays if not a.name.startswith("W")])

    def element(self, around: tuple[str, ...], array: Array) -> Element:
        """Return an element of an array: most often one iterator to a dimension."""
        choose = self.choose
        left = list(around)
        at = []
        for _ in range(array.rank):
            name = choose.pick(left) if left and choose.chance(85) else ""
            if name in left and choose.chance(92):
                left.remove(name)
            at.append(self.subscript(name, around))
        return Element(array.name, tuple(at))

    def subscript(self, name: str, around: tuple[str, ...]) -> Affine:
        choose = self.choose
        offset = choose.pick((0, 0, 0, 0, 0, 1, -1, 2, -2))
        if not name:
            return Affine((), offset)
        form = choose.integer(0, 99)
        if form < 80:
            return Affine(((1, name),), offset)
        if form < 87:
            return Affine(((choose.pick((2, 3)), name),), offset)
        if form < 94:
            return Affine(((1, choose.pick("nm")), (-1, name)), offset - 1)
        other = choose.pick(around)
        if other == name:
            return Affine(((1, name),), offset)
        return Affine(((1, name), (choose.pick((1, 1, -1, 2)), other)), offset)


def names_of(place: Element) -> frozenset[str]:
    """Return the iterators and sizes that pick an element."""
    return frozenset(name for index in place.at for _, name in index.terms)


def finished(made: Program, most: int = MOST_INSTANCES) -> Program:
    """Return the program with the names that it uses, in range, and not too long."""
    used = {e.array for e in elements(made.body)}
    declared = {s.name for s in statements(made.body) if isinstance(s, Scratch)}
    arrays = tuple(a for a in made.arrays if a.name in used | declared)
    words: set[str] = set()
    targets: set[str] = set()
    for stmt in statements(made.body):
        targets |= {str(stmt.target)} if isinstance(stmt, Set) else set()
        for value in values_of(stmt):
            words |= {v.text for v in operands(value) if isinstance(v, Atom)}
    made = replace(
        made,
        arrays=arrays,
        alphas=tuple(a for a in made.alphas if a in words),
        temporaries=tuple(t for t in made.temporaries if t in words | targets),
        carried=tuple(c for c in made.carried if c in words | targets),
    )
    sizes: list[dict[str, int]] = []
    for one in made.sizes:
        known = {**one, **{n: made.sizes[0][n] for n in made.defined}}
        while count(made.body, known) > most and max(known.values()) > 1:
            largest = max(known, key=lambda n: known[n])
            known[largest] -= 1
        sizes.append(known)
    fixed = {n: sizes[0][n] for n in made.defined}
    unique = [dict(t) for t in dict.fromkeys(tuple({**s, **fixed}.items()) for s in sizes)]
    return fitted(replace(made, sizes=tuple(unique)))


def nest(choose: Choices, options: Options, name: str) -> Program:
    """Return a random program whose function is called `name`."""
    return _Maker(choose, options).program(name)


@st.composite
def nests(draw: st.DrawFn, options: Options = Options(), name: str = "f") -> Program:
    """The same as a strategy of Hypothesis."""
    return nest(Drawn(draw), options, name)
