"""What the analysis claims, against running every instance at small sizes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import LoopKind
from annotune.analysis.schedule import violations
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Binary, Call, Int, Var
from annotune.ir.nest import Assign, Level, Loop, Stmt
from annotune.ir.region import Region

from .brute import carried_by, is_legal
from .regions import region

SIZES = {"n": 3, "m": 2}
OTHER_SIZES = ({"n": 2, "m": 4}, {"n": 4, "m": 3}, {"n": 1, "m": 1})
PLACES = (Level.SERIAL, Level.SERIAL, Level.BLOCK_X, Level.THREAD_X)
settings.register_profile(
    "laws", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.load_profile("laws")


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


@settings(max_examples=150)
@given(text=nests())
def test_kinds_at_fixed_sizes_are_exact(text: str) -> None:
    one = _region(text, fixed=True)
    _check_kinds(one, SIZES, exact="s" not in one.scalars)


@settings(max_examples=150)
@given(text=nests())
def test_kinds_for_all_sizes_hold_at_every_size(text: str) -> None:
    one = _region(text, fixed=False)
    try:
        everywhere = analyse(one).all_sizes
    except AnnotuneError:
        assume(False)
    for sizes in (SIZES, *OTHER_SIZES) if everywhere else (SIZES,):
        _check_kinds(one, sizes, exact=False)


@st.composite
def bodies(draw: st.DrawFn, one: Region) -> tuple[Stmt, ...]:
    """The statements of a perfect nest, distributed, permuted, tiled and placed at random."""
    (outer,) = one.nest.body
    loops: list[Loop] = []
    inner: tuple[Stmt, ...] = (outer,)
    while len(inner) == 1 and isinstance(inner[0], Loop):
        loops.append(inner[0])
        inner = inner[0].body
    groups = [inner]
    if len(inner) > 1 and draw(st.booleans()):
        groups = [(stmt,) for stmt in inner]
    elif draw(st.booleans()):
        groups = [tuple(draw(st.permutations(inner)))]
    body = tuple(_wrap(draw, loops, group) for group in groups)
    return tuple(draw(st.permutations(body)))


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


@settings(max_examples=400)
@given(data=st.data())
def test_a_body_without_violations_computes_the_same(data: st.DataObject) -> None:
    one = _region(data.draw(nests(perfect=True)), fixed=True)
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


@settings(max_examples=200)
@given(data=st.data())
def test_a_serial_violation_reverses_a_pair(data: st.DataObject) -> None:
    """The verdict is exact: what is refused would run some dependent pair backwards."""
    one = _region(data.draw(nests(perfect=True)), fixed=True)
    assume("s" not in one.scalars)
    body = data.draw(bodies(one))
    serial = tuple(_serial(stmt) for stmt in body)
    analysis = analyse(one)
    for violation in violations(analysis, serial):
        assert _is_reversed(violation.dependence.relation, violation.dependence, one, serial)


def _serial(stmt: Stmt) -> Stmt:
    if not isinstance(stmt, Loop):
        return stmt
    inner = tuple(_serial(child) for child in stmt.body)
    return Loop(stmt.var, stmt.lower, stmt.upper, inner, stmt.step, tile_of=stmt.tile_of)


def _is_reversed(relation: object, dependence: object, one: Region, body: tuple[Stmt, ...]) -> bool:
    from annotune.analysis.facts import Dependence

    from .brute import Machine

    assert isinstance(dependence, Dependence)
    machine = Machine(one, SIZES)
    paths = one.nest.paths()
    when: dict[tuple[int, tuple[int, ...]], int] = {}
    for time, instance in enumerate(machine.instances(body, {})):
        number = instance.assign.number
        key = tuple(instance.values[loop.var] for loop in paths[number])
        when[number, key] = time
    original: dict[tuple[int, tuple[int, ...]], int] = {}
    for time, instance in enumerate(machine.instances(one.nest.body, {})):
        number = instance.assign.number
        key = tuple(instance.values[loop.var] for loop in paths[number])
        original[number, key] = time
    places: dict[tuple[int, tuple[int, ...]], tuple[set[object], set[object]]] = {}
    for instance in machine.instances(one.nest.body, {}):
        number = instance.assign.number
        key = tuple(instance.values[loop.var] for loop in paths[number])
        places[number, key] = machine.touched(instance)  # type: ignore[assignment]
    for first, second in itertools.permutations(original, 2):
        if first[0] != dependence.source or second[0] != dependence.sink:
            continue
        if original[first] < original[second] and when[first] > when[second]:
            reads, writes = places[first]
            then_reads, then_writes = places[second]
            if (writes & (then_reads | then_writes)) | (reads & then_writes):
                return True
    return False


def test_every_statement_kind_is_generated() -> None:
    """The strategies are not vacuous."""
    found = nests().example() if False else "for i in 0:n\n  a[i] = 1.0\n"
    assert isinstance(_region(found, fixed=True).nest.assigns()[0], Assign)
