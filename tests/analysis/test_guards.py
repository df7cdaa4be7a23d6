"""Statements under conditions: what is claimed of them, against running every instance."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.laws import tried
from support.sizes import fulfils

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis, LoopKind
from annotune.analysis.model import Model, build_model
from annotune.analysis.statements import read_statements
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import accesses, print_expr, variables
from annotune.ir.nest import Assign, Local, Loop, Stmt
from annotune.ir.region import Region
from annotune.transforms.tree import target_name

from .brute import Contents, Machine, carried_by
from .regions import region

SIZES = {"n": 4, "m": 3}
OTHERS = ({"n": 2, "m": 5}, {"n": 5, "m": 2}, {"n": 1, "m": 1})
CONTENTS: Contents = {
    "col": lambda at: (at * at + 1) % 4,
    "flag": lambda at: at % 3 == 1,
    "s": lambda at: 1,
}
EXTENTS = {"M": (9, "n"), "x": (6,), "flag": (20,), "col": (20,), "y": (30,)}
TYPES = {"col": "int", "flag": "int", "k": "int"}
LAW = tried(200)


@st.composite
def conditions(draw: st.DrawFn, names: tuple[str, ...], depth: int = 0) -> str:
    kind = draw(st.integers(0, 9 if depth < 2 else 6))
    if kind > 6:
        left, right = draw(conditions(names, depth + 1)), draw(conditions(names, depth + 1))
        return f"({left}) {draw(st.sampled_from(['&&', '||']))} ({right})"
    name, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    if kind == 6:
        return f"flag[{name} + 2] > 0"
    if kind == 5:
        return f"({draw(conditions(names, depth + 1))}) == 0"
    side = draw(
        st.sampled_from(
            [name, f"{name} + {other}", f"2*{name} - {other}", f"{name} % 2", f"({name}+1) / 2"]
        )
    )
    op = draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
    return f"{side} {op} {draw(st.sampled_from(['0', '1', '2', 'n', 'n - 1', 'm', 'n / 2']))}"


@st.composite
def reads(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    name, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    kind = draw(st.sampled_from(["a", "a", "b", "y", "s", "1", "M", "x", "?", "/", "%"]))
    if kind == "?":
        chosen, rest = draw(reads(names)), draw(reads(names))
        return f"({draw(conditions(names))} ? {chosen} : {rest})"
    offset = draw(st.sampled_from(["", " + 1", " - 1", " + 2"]))
    forms = {
        "s": "s",
        "1": "1.0",
        "M": f"M[{name} + 2][{other}]",
        "x": f"x[col[{name} + 2]]",
        "/": f"b[({name} + 2) / 2]",
        "%": f"b[({name} + {other} + 4) % 3]",
    }
    return forms.get(kind, f"{kind}[{name}{offset}]")


@st.composite
def statements(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    name, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    forms = (f"a[{name}]", f"y[{name} + {other} + 2]", f"a[2*{name} + 1]", "s")
    target = draw(st.sampled_from((*forms, f"M[{name} + 2][{other}]", f"b[({name} + 2) / 2]")))
    op = draw(st.sampled_from(["=", "=", "+="]))
    guard = f" if {draw(conditions(names))}" if draw(st.booleans()) else ""
    return f"{target} {op} {draw(reads(names))}{guard}"


@st.composite
def nests(draw: st.DrawFn) -> str:
    depth = draw(st.integers(1, 2))
    lines, names = [], list[str]()
    for level in range(depth):
        name = "ij"[level]
        lower = draw(st.sampled_from(["0", "0", "1", "max(0, m - 2)", *names]))
        upper = draw(st.sampled_from(["n", "m", "n", "n / 2 + 1", "min(n, m)", "(n + 3) / 4 + 1"]))
        step = draw(st.sampled_from(["", "", "", " step 2"]))
        lines.append("  " * level + f"for {name} in {lower}:{upper} + {lower}{step}")
        names.append(name)
        if level + 1 < depth and draw(st.booleans()):
            lines.append("  " * (level + 1) + draw(statements(tuple(names))))
    for _ in range(draw(st.integers(1, 3))):
        lines.append("  " * depth + draw(statements(tuple(names))))
    return "\n".join(lines) + "\n"


def _region(text: str, *, fixed: bool) -> Region:
    sizes = {"fixed": SIZES} if fixed else {"sizes": SIZES}
    return region(text, extents=EXTENTS, types=TYPES, pointers=False, **sizes)


def _positions(body: tuple[Stmt, ...], place: tuple[int, ...]) -> list[tuple[int, ...]]:
    found = []
    for index, stmt in enumerate(body):
        if isinstance(stmt, Loop):
            found += [(*place, index), *_positions(stmt.body, (*place, index))]
    return found


def _check(one: Region, sizes: Mapping[str, int], *, exact: bool) -> None:
    analysis = analyse(one)
    carried = carried_by(one, sizes, analysis.private, CONTENTS)
    order = list(LoopKind)
    for facts, position in zip(analysis.loops, _positions(one.nest.body, ()), strict=True):
        seen = carried.get(position, set())
        needed = LoopKind.PARALLEL
        if seen:
            needed = LoopKind.SERIAL if False in seen else LoopKind.REDUCTION
        if exact:
            assert facts.kind is needed, (facts.path, facts.proof)
        else:
            assert order.index(facts.kind) >= order.index(needed), (facts.path, facts.proof)
    _check_uses(one, sizes)


def _check_uses(one: Region, sizes: Mapping[str, int]) -> None:
    """Everything touched lies in the section, which has nothing beyond what may be touched."""
    analysis = analyse(one)
    machine = Machine(one, sizes, CONTENTS)
    seen = machine.left_by(analysis.inspector)
    unseen = {name for name, s in analysis.shapes.items() if s.is_inspected} - _told(analysis)
    read: dict[str, set[int]] = {name: set() for name in one.arrays}
    written: dict[str, set[int]] = {name: set() for name in one.arrays}
    early: set[str] = set()
    for touched in machine.trace().values():
        for name, at in touched.reads:
            if name in read:
                read[name].add(at)
                early |= {name} if at not in written[name] else set()
        for name, at in touched.writes:
            if name in written:
                written[name].add(at)
    for name, shape in analysis.shapes.items():
        lowest = machine.value(shape.lowest, {}, set())
        first = machine.value(shape.part.first, seen, set())
        section = set(range(first, first + machine.value(shape.part.count, seen, set())))
        assert section <= set(range(lowest, lowest + machine.value(shape.length, {}, set())))
        assert read[name] | written[name] <= section, name
        if analysis.uses[name].overwritten:
            assert name not in early
            assert written[name] == section
        # What is copied ends with what is touched, but where C says that all of it is there.
        is_there = EXTENTS.get(name) is not None and bool({"flag", "col"} & one.arrays.keys())
        if section and name not in unseen and not is_there:
            assert {min(section), max(section)} <= read[name] | written[name], name


def _told(analysis: Analysis) -> set[str]:
    """Return the arrays of which the slice says what is touched."""
    names = {stmt.name for stmt in analysis.inspector if isinstance(stmt, Local)}
    parts = {name: variables(shape.part.count) for name, shape in analysis.shapes.items()}
    return {name for name, used in parts.items() if used & names}


@LAW
@given(text=nests())
def test_claims_at_fixed_sizes_are_exact_without_memory(text: str) -> None:
    one = _region(text, fixed=True)
    try:
        analyse(one)
    except AnnotuneError:
        assume(False)
    asks_memory = {"s", "flag", "col"} & {*one.arrays, *one.scalars}
    _check(one, SIZES, exact=not asks_memory and not any(map(_reads_own, one.nest.assigns())))


def _reads_own(assign: Assign) -> bool:
    """Return whether an accumulation names its target's array again.

    It is no reduction by its form, though the branch that reads may be one that never runs.
    """
    inside = (access.array for source in assign.sources() for access in accesses(source))
    return assign.op != "=" and target_name(assign) in inside


@LAW
@given(text=nests())
def test_claims_for_all_sizes_hold_at_every_size(text: str) -> None:
    one = _region(text, fixed=False)
    try:
        analysis = analyse(one)
    except AnnotuneError:
        assume(False)
    for sizes in (SIZES, *OTHERS) if analysis.all_sizes else (SIZES,):
        if _runs(one, sizes) and fulfils(analysis, sizes):
            _check(one, sizes, exact=False)


def _runs(one: Region, sizes: Mapping[str, int]) -> bool:
    """Return whether every loop whose bounds are sizes runs, as emitted code tests first."""
    machine = Machine(one, sizes)
    iterators = {loop.var for loop in one.nest.loops()}
    return all(
        any(True for _ in machine.trips(loop, {}))
        for loop in one.nest.loops()
        if not any(name in print_expr(b) for b in (loop.lower, loop.upper) for name in iterators)
    )


FOOTPRINTS = {
    "a guarded neighbour": ("for i in 0:n: b[i] = i > 0 ? a[i-1] : 0.0", "0", "n - 1"),
    "a short circuit": ("for i in 0:n: b[i] = 1.0 if i > 0 && a[i-1] > 0.0", "0", "n - 1"),
    "an else": ("for i in 0:n: b[i] = i == 0 || a[i-1] > 0.0", "0", "n - 1"),
    "interior points": (
        "for i in 0:n: b[i] = a[i-1] + a[i+1] if i >= 1 && i < n - 1",
        "0",
        "n",
    ),
    "a negated guard": ("for i in 0:n: b[i] = a[i-1] if (i == 0 || i < 1) == 0", "0", "n - 1"),
    "one iteration": ("for i in 0:n: b[i] = a[i] if i == 2", "2", "1"),
}


@pytest.mark.parametrize("name", FOOTPRINTS)
def test_a_condition_bounds_the_section(name: str) -> None:
    text, lowest, length = FOOTPRINTS[name]
    shape = analyse(region(text, sizes={"n": 8})).shapes["a"]
    assert print_expr(shape.lowest) == lowest
    assert {length, {"n - 1": "7", "n": "8", "1": "1"}[length]} & {print_expr(shape.length)}


def test_boundary_statements_leave_a_loop_parallel() -> None:
    text = "for i in 0:n\n  a[i] = b[i] if i > 0\n  a[i] = 0.0 if i == 0\n  c[i] = a[0] if i == 0\n"
    (facts,) = analyse(region(text)).loops
    assert facts.kind is LoopKind.PARALLEL


def test_a_write_under_a_condition_on_memory_overwrites_nothing() -> None:
    text = "for i in 0:n: a[i] = 1.0 if m[i] > 0.0"
    analysis = analyse(region(text, sizes={"n": 4}))
    use = analysis.uses["a"]
    assert use.is_written
    assert not use.overwritten
    assert [w.code for w in analysis.warnings] == ["AT224"]
    said = analyse(region(text, sizes={"n": 4}, assumed={"a": ("n",)}))
    assert said.warnings == ()


def modelled(one: Region) -> Model:
    return build_model(one, read_statements(one))


def test_a_comparison_of_reals_or_unsigned_values_is_not_looked_into() -> None:
    real = "for i in 0:n: s = a[i] if alpha > 0 && alpha < 1"
    found = modelled(region(real, types={"alpha": "double"}))
    (statement,) = found.statements
    assert not found.instances(statement.references[-1]).is_empty()
    wraps = "for i in 0:n: b[0] = a[i] if k - 1 >= 0"
    found = modelled(region(wraps, types={"k": "unsigned int"}, extents={"a": ("n",)}))
    assert found.surely(0).is_empty()


def test_a_sum_whose_guard_reads_it_is_no_reduction() -> None:
    (facts,) = analyse(region("for i in 0:n: s += a[i] if s < 10.0", sizes={"n": 4})).loops
    assert facts.kind is LoopKind.SERIAL


def test_a_scalar_set_and_read_under_one_stored_test_is_private() -> None:
    text = """
        for i in 0:n
          c = a[i] > 0.0
          s = a[i] * 2.0 if c
          a[i] = 1.0 if c
          b[i] = s if {}
    """
    same, other = (
        analyse(region(text.format(guard), sizes={"n": 4}, types={"c": "int"}))
        for guard in ("c", "c == 0")
    )
    assert [(f.kind, f.private) for f in same.loops] == [(LoopKind.PARALLEL, ("c", "s"))]
    assert [f.kind for f in other.loops] == [LoopKind.SERIAL]
