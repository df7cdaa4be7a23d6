"""What the analysis claims, against running every instance at small sizes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st
from support.laws import tried
from support.sizes import fulfils

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import LoopKind
from annotune.analysis.schedule import violations
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Binary, Call, Int, Var
from annotune.ir.nest import Level, Loop, Stmt
from annotune.ir.region import Region

from .brute import carried_by, is_legal, reversed_pairs
from .regions import region

SIZES = {"n": 3, "m": 2}
OTHER_SIZES = ({"n": 2, "m": 4}, {"n": 4, "m": 3}, {"n": 1, "m": 1})
PLACES = (Level.SERIAL, Level.SERIAL, Level.BLOCK_X, Level.THREAD_X)


@st.composite
def subscripts(draw: st.DrawFn, iterators: tuple[str, ...]) -> str:
    """One subscript: iterators with small factors or sizes as strides, and an offset."""
    terms = []
    for name in iterators:
        factor = draw(st.sampled_from(["0", "0", "1", "1", "2", "-1", "n", "m", "n*m"]))
        if factor != "0":
            terms.append(name if factor == "1" else f"{factor}*{name}")
    offset = draw(st.integers(-1, 2))
    return " + ".join([*terms, str(offset)] if offset or not terms else terms)


@st.composite
def elements(draw: st.DrawFn, iterators: tuple[str, ...]) -> str:
    kind = draw(st.sampled_from(["a", "a", "b", "M", "rows"]))
    if kind == "rows" and len(iterators) > 1:
        outer, inner = draw(st.permutations(iterators))[:2]
        off = draw(st.sampled_from(["", " + 1", " - 1", " + n"]))
        return f"r[{outer}*n + {inner}{off}]"
    if kind == "M" and iterators:
        first, second = draw(st.sampled_from(iterators)), draw(st.sampled_from(iterators))
        offs = [draw(st.sampled_from(["", "+1", "-1"])) for _ in range(2)]
        return f"M[{first}{offs[0]}][{second}{offs[1]}]"
    name = kind if kind in "ab" else "a"
    return f"{name}[{draw(subscripts(iterators))}]"


@st.composite
def statements(draw: st.DrawFn, iterators: tuple[str, ...]) -> str:
    if draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from([f"s = {draw(elements(iterators))}", "s = 1.0", "s += 1.0"]))
    target = draw(elements(iterators))
    value = draw(st.one_of(elements(iterators), st.just("2.0"), st.just("s")))
    return f"{target} {draw(st.sampled_from(['=', '=', '+=', '-=']))} {value}"


@st.composite
def nests(draw: st.DrawFn, perfect: bool = False) -> str:
    """A nest of one to three loops with one to three statements, in its text form."""
    depth = draw(st.integers(1, 3))
    lines, iterators = [], []
    for level in range(depth):
        name = "ijk"[level]
        lower = draw(st.sampled_from(["0", "0", "0", "1"]))
        upper = draw(st.sampled_from(["n", "m", "n"]))
        if not perfect and level and draw(st.integers(0, 3)) == 0:
            lower = iterators[-1]
        lines.append("  " * level + f"for {name} in {lower}:{upper} + {lower}")
        iterators.append(name)
        if not perfect and level + 1 < depth and draw(st.booleans()):
            lines.append("  " * (level + 1) + draw(statements(tuple(iterators))))
    for _ in range(draw(st.integers(1, 2 if depth > 1 else 3))):
        lines.append("  " * depth + draw(statements(tuple(iterators))))
    if not perfect and depth > 1 and draw(st.booleans()):
        lines.append("  " + draw(statements(("i",))))
    return "\n".join(lines) + "\n"


def _region(text: str, *, fixed: bool) -> Region:
    extents = {"M": (5, "n")}
    if fixed:
        return region(text, fixed=SIZES, extents=extents)
    return region(text, sizes=SIZES, fixed={}, extents=extents)


def _check_kinds(one: Region, sizes: Mapping[str, int], *, exact: bool) -> None:
    analysis = analyse(one)
    carried = carried_by(one, sizes, analysis.private)
    for facts, position in zip(analysis.loops, _positions(one.nest.body, ()), strict=True):
        seen = carried.get(position, set())
        needed = LoopKind.PARALLEL
        if seen:
            needed = LoopKind.SERIAL if False in seen else LoopKind.REDUCTION
        order = list(LoopKind)
        if exact:
            assert facts.kind is needed, (facts.path, facts.proof)
        else:
            assert order.index(facts.kind) >= order.index(needed), (facts.path, facts.proof)


def _positions(body: tuple[Stmt, ...], place: tuple[int, ...]) -> list[tuple[int, ...]]:
    found = []
    for index, stmt in enumerate(body):
        if isinstance(stmt, Loop):
            found += [(*place, index), *_positions(stmt.body, (*place, index))]
    return found


@tried(150)
@given(text=nests())
def test_kinds_at_fixed_sizes_are_exact(text: str) -> None:
    one = _region(text, fixed=True)
    _check_kinds(one, SIZES, exact="s" not in one.scalars)


@tried(150)
@given(text=nests())
def test_kinds_for_all_sizes_hold_at_every_size(text: str) -> None:
    one = _region(text, fixed=False)
    try:
        analysis = analyse(one)
    except AnnotuneError:
        assume(False)
    assert fulfils(analysis, SIZES)
    for sizes in (SIZES, *OTHER_SIZES) if analysis.all_sizes else (SIZES,):
        if fulfils(analysis, sizes):
            _check_kinds(one, sizes, exact=False)


@st.composite
def siblings(draw: st.DrawFn) -> str:
    """Two or three perfect nests over the same loops, which may be fused."""
    names = "ij"[: draw(st.integers(1, 2))]
    loops = "".join(f"for {name} in 0:{draw(st.sampled_from('nm'))}: " for name in names)
    count = draw(st.integers(2, 3))
    return "".join(f"{loops}{draw(statements(tuple(names)))}\n" for _ in range(count))


@st.composite
def bodies(draw: st.DrawFn, one: Region) -> tuple[Stmt, ...]:
    """The statements of nests over the same loops, grouped, permuted, tiled and placed."""
    inner: list[Stmt] = []
    for nest in one.nest.body:
        loops: list[Loop] = []
        body: tuple[Stmt, ...] = (nest,)
        while len(body) == 1 and isinstance(body[0], Loop):
            loops.append(body[0])
            body = body[0].body
        inner += body
    if draw(st.booleans()):
        inner = draw(st.permutations(inner))
    cuts = [0, *sorted(draw(st.sets(st.integers(1, len(inner)), max_size=2))), len(inner)]
    groups = [tuple(inner[a:b]) for a, b in pairwise(cuts) if a < b]
    return tuple(_wrap(draw, loops, group) for group in groups)


def _wrap(draw: st.DrawFn, loops: list[Loop], inner: tuple[Stmt, ...]) -> Stmt:
    for loop in reversed(draw(st.permutations(loops))):
        place, tile = draw(st.sampled_from(PLACES)), draw(st.sampled_from([0, 0, 2]))
        if tile:
            tile_var = f"{loop.var}_t"
            end = Call("min", (Binary("+", Var(tile_var), Int(tile)), loop.upper))
            inner = (Loop(loop.var, Var(tile_var), end, inner, place=place),)
            outer_place = draw(st.sampled_from(PLACES))
            inner = (
                Loop(tile_var, loop.lower, loop.upper, inner, tile, outer_place, tile_of=loop.var),
            )
        else:
            inner = (Loop(loop.var, loop.lower, loop.upper, inner, place=place),)
    return inner[0]


@tried(300)
@given(data=st.data())
def test_a_body_without_violations_computes_the_same(data: st.DataObject) -> None:
    one = _region(data.draw(st.one_of(nests(perfect=True), siblings())), fixed=True)
    body = data.draw(bodies(one))
    assume(not _places_one_level_twice(body, ()))
    analysis = analyse(one)
    if not violations(analysis, body):
        assert is_legal(one, body, SIZES, analysis.private)


def _places_one_level_twice(body: tuple[Stmt, ...], levels: tuple[Level, ...]) -> bool:
    for stmt in body:
        if isinstance(stmt, Loop):
            if stmt.place is not Level.SERIAL and stmt.place in levels:
                return True
            if _places_one_level_twice(stmt.body, (*levels, stmt.place)):
                return True
    return False


@tried(200)
@given(data=st.data())
def test_a_serial_violation_reverses_a_pair(data: st.DataObject) -> None:
    """The verdict is exact: what is refused would run some dependent pair backwards."""
    one = _region(data.draw(st.one_of(nests(perfect=True), siblings())), fixed=True)
    assume("s" not in one.scalars)
    body = tuple(_serial(stmt) for stmt in data.draw(bodies(one)))
    for violation in violations(analyse(one), body):
        source, sink = violation.dependence.source, violation.dependence.sink
        assert (source, sink) in reversed_pairs(one, body, SIZES)


def _serial(stmt: Stmt) -> Stmt:
    if not isinstance(stmt, Loop):
        return stmt
    inner = tuple(_serial(child) for child in stmt.body)
    return Loop(stmt.var, stmt.lower, stmt.upper, inner, stmt.step, tile_of=stmt.tile_of)
