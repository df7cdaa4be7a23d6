"""Loops that pick registers count from 0, and no subscript of a register has anything else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.executed import Call, Part, executable
from support.nest_text import parse_nest
from support.nests import LAW
from transforms.interpreter import run
from transforms.products import MATMUL

from annotune.codegen.cuda.thread import (
    MOST_ELEMENTS,
    RegisterLoop,
    RegisterLoops,
    may_be_registers,
)
from annotune.ir.expr import Access, Binary, Int, print_expr, variables
from annotune.ir.nest import (
    Assign,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Stmt,
    walk_paths,
    walk_stmts,
)
from annotune.transforms.merge import Merge
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Cyclic, Tile
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body
from annotune.transforms.unroll import Unroll


def finder(body: Body, constants: dict[str, int]) -> RegisterLoops:
    arrays = {s.name: s for s in walk_stmts(body) if isinstance(s, LocalArray)}
    held = {name for name, array in arrays.items() if may_be_registers(array)}
    return RegisterLoops(held, arrays.keys(), constants, frozenset())


def printed(body: Body, loops: RegisterLoops) -> Body:
    """Return the nest that the text of a thread's work is, `body` with its loops as counters."""
    out: list[Stmt] = []
    for stmt in body:
        found = loops.counted(stmt) if isinstance(stmt, Loop) else None
        if found is None:
            is_loop = isinstance(stmt, Loop)
            inner = printed(stmt.body, loops) if is_loop else ()
            out.append(_around(stmt, inner) if isinstance(stmt, Loop) else stmt)
            continue
        round_: Body = printed(found.body, loops)
        if found.needs_iterator:
            round_ = (Local(found.var, "const int", found.value), *round_)
        for end in found.ends:
            # A loop of one iteration, or of none.
            round_ = (Loop("once", Int(0), Binary("<", found.value, end), round_),)
        out.append(Loop(found.counter, Int(0), Int(found.rounds), round_))
    return tuple(out)


def _around(loop: Loop, body: Body) -> Loop:
    return Loop(loop.var, loop.lower, loop.upper, body, loop.step, loop.place)


def register_subscripts(body: Body, registers: set[str]) -> Iterator[tuple[Access, set[str]]]:
    """Yield the elements of registers, with the loops around them that count from 0 to a number."""
    for assign, around in walk_paths(body):
        counters = {x.var for x in around if x.lower == Int(0) and isinstance(x.upper, Int)}
        for place in (assign.target, *assign.reads()):
            if isinstance(place, Access) and place.array in registers:
                yield place, counters


def the_loop(text: str, loops: RegisterLoops) -> RegisterLoop | None:
    (stmt,) = parse_nest(text).body
    assert isinstance(stmt, Loop)
    return loops.counted(stmt)


ONE = RegisterLoops({"r"}, {"r", "s"}, {"n": 12}, frozenset({"i_r"}))
FORMS = {
    "for i in i_t:i_t + 4: r[i - i_t] = a[i]": "r[i_r2] = a[i] | 4 | i_t + i_r2 |",
    "for i in t + w:t + w + 32 step 8: r[(i - t - w)/8] = s[i - t] + 1":
        "r[i_r2] = s[w + 8 * i_r2] + 1 | 4 | t + w + 8 * i_r2 |",
    "for i in t:t + 32 step 16: r[(i - t)/8] += r[(i + 8 - t)/8]":
        "r[2 * i_r2] += r[2 * i_r2 + 1] | 2 | t + 16 * i_r2 |",
    "for i in i_t:min(i_t + 4, m): r[i - i_t] = 0": "r[i_r2] = 0 | 4 | i_t + i_r2 | m",
    "for i in t + 1:min(t + 9, min(m, k)) step 3: r[(i - t - 1)/3] = 0":
        "r[i_r2] = 0 | 3 | t + 3 * i_r2 + 1 | m, k",
    "for i in 0:n: r[i] = a[i]": "r[i] = a[i] | 12 | i |",
    "for i in 0:24: r[i/6] = a[i % 6]": "r[i / 6] = a[i % 6] | 24 | i |",
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS)
def test_forms(text: str) -> None:
    found = the_loop(text, ONE)
    assert found is not None
    (assign,) = found.body
    assert isinstance(assign, Assign)
    said = f"{print_expr(assign.target)} {assign.op} {print_expr(assign.value)}"
    ends = ", ".join(map(print_expr, found.ends))
    assert f"{said} | {found.rounds} | {print_expr(found.value)} | {ends}".rstrip() == FORMS[text]


LEFT = {
    "no register": "for i in i_t:i_t + 4: s[i - i_t] = r[j]",
    "no known length": "for i in i_t:m: r[i - i_t] = 0",
    "the loop over tiles": "for i_t in 0:8 step 4: for i in i_t:i_t + 4: r[i - i_t] = 0",
    "no iteration": "for i in 4:4: r[i - 4] = 0",
}


@pytest.mark.parametrize("text", LEFT.values(), ids=list(LEFT))
def test_other_loops_stay(text: str) -> None:
    assert the_loop(text, ONE) is None


def test_what_the_iterator_is_needed_for() -> None:
    needed = {
        "for i in t:t + 4: r[i - t] = a[i]": True,
        "for i in t:t + 4: r[i - t] = s[i]": False,
        "for i in t:t + 4: r[i - t] = 1.0 * i": True,
        "for i in t:t + 4: for j in 0:i: r[i - t] = 0": True,
        "for i in 0:4: r[i] = a[i]": False,
    }
    for text, is_needed in needed.items():
        found = the_loop(text, ONE)
        assert found is not None
        assert found.needs_iterator is is_needed, text


def test_what_registers_cannot_hold() -> None:
    assert may_be_registers(LocalArray("r", "double", (8, 8)))
    assert not may_be_registers(LocalArray("r", "double", (MOST_ELEMENTS + 1,)))
    assert not may_be_registers(LocalArray("r", "double", (8, 8), MemorySpace.SHARED))


axes = st.tuples(
    st.sampled_from(("tile", "tiles", "deal", "dealt tile", "dealt tiles")),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 3),
)
Axis = tuple[str, int, int, int]


def axis_steps(loop: str, axis: Axis, sizes: dict[str, int]) -> tuple[list[Transform], list[str]]:
    """Return how one axis of the product comes to registers, and the loops around those."""
    way, workers, each, _ = axis
    match way:
        case "tile":
            return [Tile(0, loop, each)], [f"{loop}_t"]
        case "tiles":
            steps: list[Transform] = [Tile(0, loop, each)]
            steps.append(Tile(0, f"{loop}_t", workers))
            return steps, [f"{loop}_t_t", f"{loop}_t"]
        case "deal":
            return [
                Tile(0, loop, workers * each),
                Cyclic(0, loop, workers),
            ], [f"{loop}_t", f"{loop}_w"]
        case "dealt tile":
            return [
                Tile(0, loop, workers * each + 1),
                Cyclic(0, loop, workers),
            ], [f"{loop}_t", f"{loop}_w"]
        case _:
            steps = [Tile(0, loop, workers * each), Tile(0, f"{loop}_t", 2)]
            steps.append(Cyclic(0, loop, workers))
            return steps, [f"{loop}_t_t", f"{loop}_t", f"{loop}_w"]


@LAW
@given(
    i=axes,
    j=axes,
    size=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4)),
    is_fixed=st.booleans(),
    is_padded=st.booleans(),
    is_staged=st.booleans(),
)
def test_a_counted_nest_does_the_same_with_counters_for_subscripts(
    i: Axis, j: Axis, size: tuple[int, int, int], is_fixed: bool, is_padded: bool, is_staged: bool
) -> None:
    sizes = dict(zip("nmk", size, strict=True))
    known = sizes if is_fixed else {}
    i_steps, i_outer = axis_steps("i", i, known)
    j_steps, j_outer = axis_steps("j", j, known)
    steps = [*i_steps, *j_steps, Permute(0, (*i_outer, *j_outer, "l", "i", "j"))]
    if is_staged:
        steps.append(Stage(0, "B", "l", space=MemorySpace.PRIVATE))
    steps.append(Hold(0, "l"))
    if is_padded:
        steps.append(Pad(0, (*i_outer[1:], *j_outer[1:], "i", "j")))
    steps += [Unroll(0, loop, axis[3]) for loop, axis in (("i", i), ("j", j))]
    is_unrolled = max(i[3], j[3]) > 1
    before = body = MATMUL.region.nest.body
    held = False
    for step in steps:
        # Any order of a product is legal, which takes its time to prove.
        if (
            isinstance(step, Tile | Cyclic | Permute)
            or step.why_not(body, Context(MATMUL, known)) is None
        ):
            body = step.apply(body, Context(MATMUL, known))
            held = held or isinstance(step, Hold)
    assert held
    loops = finder(body, known)
    counted = printed(body, loops)
    assert run(counted, sizes) == run(body, sizes) == run(before, sizes)
    if is_unrolled and not is_padded:
        # Where the unrolled part of a tile that is cut short ends, no number tells.
        return
    for place, counters in register_subscripts(counted, set(loops.registers)):
        assert frozenset().union(*map(variables, place.indices)) <= counters, place


def test_merged_loops_are_counters_already() -> None:
    sizes = {"n": 6, "m": 8, "k": 5}
    body = MATMUL.region.nest.body
    for step in (Permute(0, ("l", "i", "j")), Merge(0, ("i", "j")), Hold(0, "l")):
        assert step.why_not(body, Context(MATMUL, sizes)) is None
        body = step.apply(body, Context(MATMUL, sizes))
    loops = finder(body, sizes)
    counted = printed(body, loops)
    assert run(counted, sizes) == run(body, sizes)
    places = list(register_subscripts(counted, {"C_block"}))
    assert places
    for place, counters in places:
        assert variables(place.indices[0]) == {"ij"} <= counters


# In the user's types, where the last tile is cut short ----------------------------------------

CUT = """\
void NAME(TYPE n, double *restrict c, const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    /*@ begin CHiLL (
        tile(0, "i", 12) STEPS
        cuda(0, block={"i_t"}) hold(0, "k") unroll(0, "i", UNROLL)
    ) @*/
    for (TYPE i = 1; i < n; i += 2)
        for (TYPE k = 0; k < n; k++)
            c[i] += a[k*n + i] * (i - 2);
    /*@ end @*/
    /*@ end @*/
}
"""
STEPS = {
    "tiles": 'permute(0, ("i_t","k","i"))',
    "dealt": 'cyclic(0, "i", 3) permute(0, ("i_t","i_w","k","i"))',
}


def test_a_thread_runs_what_the_text_says_in_every_type(tmp_path: Path) -> None:
    texts, calls = [], []
    for type_ in ("int", "unsigned", "long"):
        for way, steps in STEPS.items():
            # Of unsigned iterators that start at a tile's, unrolling is refused.
            for factor in (1, 2) if type_ != "unsigned" else (1,):
                name = f"f_{type_}_{way}_{factor}"
                text = CUT.replace("NAME", name).replace("TYPE", type_).replace("STEPS", steps)
                texts.append(text.replace("UNROLL", str(factor)))
                calls += [Call(name, (n, Part(0), Part(1)), (n, n * n)) for n in (37, 1, 2, 30)]
    executable(tmp_path, "\n".join(texts)).check(*calls)
