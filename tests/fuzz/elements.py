"""Random element nests: loops over elements whose nests hand on arrays, and sums into one output.

The kinds of program in which several nests run as one kernel: operators of finite and spectral
elements, written with the work arrays of an element or with a loop over elements for each nest, and
products that add to one array one after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from .choices import Choices, Drawn
from .nests import finished
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
)

MOST_INSTANCES = 5000
"""Assignments per run of a program: an element's points, summed over a row of them each."""

POINTS = "ijk"
SUMMED = "l"


@dataclass
class _Maker:
    """One program in the making.

    Points of an element are counted by `rank` iterators below ``n`` or ``m``; `ready` are the
    arrays that are written so far, with the lengths of their dimensions. With `is_apart` each nest
    has a loop over the elements of its own.
    """

    choose: Choices
    function: str
    rank: int
    is_apart: bool
    arrays: list[Array] = field(default_factory=list)
    ready: list[tuple[Array, tuple[str, ...]]] = field(default_factory=list)

    def array(self, name: str, kind: str, rank: int) -> Array:
        own = f"_{self.function}" if kind == "static" else ""
        made = Array(name + own, kind, rank, is_restrict=self.choose.chance(70))
        self.arrays.append(made)
        return made

    # The nests of an element ----------------------------------------------------------------

    def element_body(self) -> list[list[Stmt]]:
        """Return the nests of an element, the last of which leave results."""
        choose = self.choose
        outer = self.array("U", choose.pick(("shaped", "shaped", "flat")), self.rank + 1)
        self.ready.append((outer, ("n",) * self.rank))
        nests: list[list[Stmt]] = []
        count = choose.pick((2, 2, 3, 3, 4))
        for number in range(count):
            last = number == count - 1
            nests.append(self.nest(number, last or choose.chance(15)))
        return nests

    def nest(self, number: int, leaves_result: bool) -> list[Stmt]:
        """Return a nest that writes an array whole, or adds to one, preceded by declarations."""
        choose = self.choose
        if leaves_result:
            kind, name = choose.pick(("shaped", "shaped", "flat")), f"R{number}"
        else:
            kinds = ("shaped", "flat") if self.is_apart else ("local", "local", "static", "shaped")
            kind, name = choose.pick(kinds), f"W{number}"
        has_element = leaves_result or self.is_apart or (kind == "shaped" and choose.chance(50))
        lengths = tuple(choose.pick(("n", "n", "n", "m")) for _ in range(self.rank))
        # Most read what the nest before them has left.
        source, given = self.ready[-1] if choose.chance(50) else choose.pick(self.ready)
        old = [one for one in self.ready if one[0].name[0] in "RW"]
        if old and choose.chance(20):
            # To what an earlier nest has left this one adds.
            target, lengths = choose.pick(old)
            op = choose.pick(("+=", "-="))
            declared: list[Stmt] = []
        else:
            target = self.array(name, kind, self.rank + has_element)
            op = choose.pick(("=", "=", "+=")) if leaves_result else "="
            declared = [Scratch(name)] if kind == "local" else []
        body = self.statement(target, lengths, op, source, given)
        loops: tuple[Stmt, ...] = tuple(body)
        for dim in reversed(_shuffled(choose, range(self.rank))):
            loops = (Loop(POINTS[dim], Affine(), _size(lengths[dim]), loops),)
        self.ready.append((target, lengths))
        return [*declared, *loops]

    def statement(
        self,
        target: Array,
        lengths: Sequence[str],
        op: str,
        source: Array,
        given: Sequence[str],
    ) -> list[Stmt]:
        """Return the statements of one point: a row of a product, or a combination of values."""
        choose = self.choose
        place = self.at(target, [Affine(((1, POINTS[d]),)) for d in range(self.rank)])
        differs = [d for d in range(self.rank) if lengths[d] != given[d]]
        if len(differs) > 1 or (not differs and choose.chance(35)):
            return [Set(place, op, self.pointwise(lengths))]
        along = differs[0] if differs else choose.integer(0, self.rank - 1)
        at = [Affine(((1, POINTS[d]),)) for d in range(self.rank)]
        at[along] = Affine(((1, SUMMED),))
        operator = self.operator()
        pair = [Affine(((1, POINTS[along]),)), Affine(((1, SUMMED),))]
        row = Element(operator.name, tuple(pair[::-1] if choose.chance(40) else pair))
        product = Apply("*", (row, self.at(source, at)))
        head = Loop(SUMMED, Affine(), _size(given[along]), ())
        form = choose.pick(("scalar", "scalar", "scalar", "target"))
        if form == "target" and target is not source:
            zero = [Set(place, "=", Atom("0.0"))] if op == "=" else []
            added = Set(place, "-=" if op == "-=" else "+=", product)
            return [*zero, Loop(SUMMED, head.lower, head.upper, (added,))]
        summed = Loop(SUMMED, head.lower, head.upper, (Set(Atom("s"), "+=", product),))
        sum_: Value = Atom("s")
        if choose.chance(30):
            sum_ = Apply("*", (sum_, self.own(lengths)))
        return [Declare("s", Atom("0.0")), summed, Set(place, op, sum_)]

    def pointwise(self, lengths: Sequence[str]) -> Apply:
        """Return a value of a point: arrays of these lengths, and factors of the point's own."""
        choose = self.choose
        alike = [a for a, own in self.ready if tuple(own) == tuple(lengths)]
        here = [Affine(((1, POINTS[d]),)) for d in range(self.rank)]
        terms = [self.at(choose.pick(alike), here)] if alike else [self.own(lengths)]
        second = self.at(choose.pick(alike), here) if alike and choose.chance(50) else None
        factor = self.own(lengths)
        first = Apply("*", (factor, terms[0]))
        return first if second is None else Apply(choose.pick("+-"), (first, second))

    def own(self, lengths: Sequence[str]) -> Element:
        """Return an element of an input with a value for each point of each element."""
        name = "G" if tuple(lengths) == ("n",) * self.rank else "H"
        found = next((a for a in self.arrays if a.name == name), None)
        array = found or self.array(name, self.choose.pick(("shaped", "flat")), self.rank + 1)
        return self.at(array, [Affine(((1, POINTS[d]),)) for d in range(self.rank)])

    def operator(self) -> Array:
        known = [a for a in self.arrays if a.name.startswith("D")]
        if known and self.choose.chance(60):
            return self.choose.pick(known)
        return self.array(f"D{len(known)}", self.choose.pick(("shaped", "flat", "static")), 2)

    def at(self, array: Array, point: Sequence[Affine]) -> Element:
        """Return an element of an array of each element, or of one that all use in turn."""
        first = (Affine(((1, "e"),)),) if array.rank > self.rank else ()
        return Element(array.name, (*first, *point))


def _size(name: str) -> Affine:
    return Affine(((1, name),))


def _shuffled(choose: Choices, numbers: Sequence[int]) -> list[int]:
    left, out = list(numbers), []
    # Most people count the points in the order of their memory.
    while left:
        out.append(left.pop(choose.integer(0, len(left) - 1) if choose.chance(30) else 0))
    return out


def _sizes(choose: Choices, rank: int) -> tuple[dict[str, int], ...]:
    n = choose.integer(5, 9) if rank == 2 else choose.integer(3, 5)
    m = choose.pick((n, n - 1, n + 1)) if rank == 2 else choose.pick((n, n, n - 1))
    tuned = {"z": choose.integer(2, 4), "n": n, "m": m}
    other = {"z": choose.integer(1, 6), "n": choose.integer(2, n), "m": choose.integer(2, m)}
    return (tuned, {**tuned, "z": choose.integer(1, 7)}, other, {"z": 1, "n": 1, "m": 1})


def element_nest(choose: Choices, name: str) -> Program:
    """Return a random program over elements of two or three dimensions."""
    rank = choose.pick((2, 2, 3))
    maker = _Maker(choose, name, rank, choose.chance(30))
    nests = maker.element_body()
    around = Loop("e", Affine(), _size("z"), ())
    if maker.is_apart:
        body: tuple[Stmt, ...] = tuple(
            Loop("e", around.lower, around.upper, tuple(nest)) for nest in nests
        )
    else:
        body = (Loop("e", around.lower, around.upper, tuple(s for nest in nests for s in nest)),)
    fixed = ("n", "m") if choose.chance(60) else ()
    return _program(choose, name, maker.arrays, body, _sizes(choose, rank), fixed)


def accumulation(choose: Choices, name: str) -> Program:
    """Return a random program of two to four products that add to one array."""
    rank = choose.pick((2, 2, 3))
    lengths = {x: choose.pick(("n", "m")) for x in POINTS[:rank]}
    target = Array("C", choose.pick(("shaped", "flat")), rank, is_restrict=True)
    arrays, body = [target], list[Stmt]()
    place = [Affine(((1, x),)) for x in POINTS[:rank]]
    for number in range(choose.pick((2, 2, 3, 4))):
        cut = choose.integer(1, rank - 1)
        mixed = [POINTS[k] for k in _shuffled(choose, range(rank))]
        summed = choose.pick((SUMMED, SUMMED, SUMMED, ""))
        terms = []
        for side, own in enumerate((mixed[:cut], mixed[cut:])):
            order = [*own, summed] if summed else own
            order = [order[k] for k in _shuffled(choose, range(len(order)))]
            kind = choose.pick(("shaped", "flat"))
            arrays.append(Array(f"{'AB'[side]}{number}", kind, len(order), is_restrict=True))
            terms.append(Element(arrays[-1].name, tuple(Affine(((1, x),)) for x in order)))
        op = choose.pick(("+=", "+=", "+=", "-="))
        stmt: Stmt = Set(Element("C", tuple(place)), op, Apply("*", (terms[0], terms[1])))
        loops = [POINTS[k] for k in _shuffled(choose, range(rank))]
        if summed:
            loops.insert(choose.pick((rank, rank, choose.integer(0, rank))), summed)
        size = choose.pick(("n", "m", "z"))
        for x in reversed(loops):
            stmt = Loop(x, Affine(), _size(lengths.get(x, size)), (stmt,))
        body.append(stmt)
    if choose.chance(25):
        arrays.append(Array("E", "shaped", rank, is_restrict=True))
        use: Stmt = Set(
            Element("E", tuple(place)), "=", Apply("*", (Element("C", tuple(place)), Atom("2.0")))
        )
        for x in reversed(POINTS[:rank]):
            use = Loop(x, Affine(), _size(lengths[x]), (use,))
        body.append(use)
    fixed = ("n", "m", "z") if choose.chance(25) else ()
    return _program(choose, name, arrays, tuple(body), _sizes(choose, rank), fixed)


def _program(
    choose: Choices,
    name: str,
    arrays: Sequence[Array],
    body: tuple[Stmt, ...],
    sizes: tuple[dict[str, int], ...],
    fixed: tuple[str, ...],
) -> Program:
    seen = {f"{a.name}.{d}": choose.integer(0, 4) for a in arrays for d in range(a.rank)}
    program = Program(
        name,
        sizes,
        tuple(arrays),
        body,
        defined=fixed,
        iterators_outside=choose.chance(20),
        seen=seen,
    )
    return finished(program, MOST_INSTANCES)


@st.composite
def element_nests(draw: st.DrawFn, name: str = "f") -> Program:
    """The same as a strategy of Hypothesis: of both kinds."""
    choose = Drawn(draw)
    made = accumulation if choose.chance(40) else element_nest
    return made(choose, name)
