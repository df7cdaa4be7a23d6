"""Copies for each iteration: of scalars with a wanted last value, and of small arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import print_nest

from annotune.analysis.analyse import analyse
from annotune.analysis.normal_form.private_copies import (
    with_last_values,
    with_lives_apart,
    with_private_arrays,
)
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Binary, Expr, Var, print_expr
from annotune.ir.nest import LocalArray, walk_stmts
from annotune.ir.region import Region

from .brute import Machine, Place
from .regions import region

SIZES = ({"n": 4, "m": 3}, {"n": 1, "m": 2}, {"n": 3, "m": 1}, {"n": 0, "m": 2})


def left_behind(one: Region, sizes: Mapping[str, int], hidden: set[str]) -> dict[Place, int]:
    """Return the memory that a region leaves, but for the names in `hidden`."""
    machine = Machine(one, sizes)
    machine.trace()
    return {place: v for place, v in machine.memory.items() if place[0] not in hidden}


def assert_same(one: Region, changed: Region, sizes: Mapping[str, int]) -> None:
    hidden = {name for name in changed.scalars if name not in one.scalars}
    hidden |= {s.name for s in walk_stmts(changed.nest.body) if isinstance(s, LocalArray)}
    assert left_behind(one, sizes, set()) == left_behind(changed, sizes, hidden)


LAST = {
    "a temporary": (
        "for i in 0:n\n  t = a[i]\n  b[i] = t\n",
        "for i in 0:n\n  S0: t_own = a[i]\n  S1: b[i] = t_own\n  S2: t = t_own if i == n - 1\n",
    ),
    "in the inner loop": (
        "for i in 0:n\n  for j in 0:m\n    t = a[i*m + j]\n    b[i*m + j] = t\n",
        "for i in 0:n\n  for j in 0:m\n    S0: t_own = a[i * m + j]\n    S1: b[i * m + j] = t_own\n"
        "    S2: t = t_own if i == n - 1 && j == m - 1\n",
    ),
    "a triangle": (
        "for i in 0:n\n  for j in 0:i+1\n    t = a[i + j]\n    b[i*n + j] = t\n",
        "for i in 0:n\n  for j in 0:i + 1\n    S0: t_own = a[i + j]\n"
        "    S1: b[i * n + j] = t_own\n    S2: t = t_own if i == n - 1 && j == i\n",
    ),
    "a step": (
        "for i in 0:n step 2\n  t = a[i]\n  b[i] = t\n",
        "for i in 0:n step 2\n  S0: t_own = a[i]\n  S1: b[i] = t_own\n"
        "  S2: t = t_own if i + 2 >= n\n",
    ),
    "two bounds": (
        "for i in 0:min(n, m)\n  t = a[i]\n  b[i] = t\n",
        "for i in 0:min(n, m)\n  S0: t_own = a[i]\n  S1: b[i] = t_own\n"
        "  S2: t = t_own if i + 1 >= n || i + 1 >= m\n",
    ),
    "the later of two loops": (
        "for i in 0:n\n  t = a[i]\n  b[i] = t\nfor i in 0:m\n  t = c[i]\n  d[i] = t\n",
        "for i in 0:n\n  S0: t_own = a[i]\n  S1: b[i] = t_own\nfor i in 0:m\n"
        "  S2: t_own = c[i]\n  S3: d[i] = t_own\n  S4: t = t_own if i == m - 1\n",
    ),
}


@pytest.mark.parametrize("name", LAST)
def test_a_last_value_is_written(name: str) -> None:
    text, expected = LAST[name]
    one = region(text, read_after=["t"], sizes={"n": 4, "m": 3})
    changed = with_last_values(one)
    assert print_nest(changed.nest) == expected
    assert changed.as_written == one.nest
    analysis = analyse(changed)
    assert {facts.kind for facts in analysis.loops} == {"parallel"}
    assert analysis.private == {"t_own"}
    for sizes in SIZES:
        if name != "the later of two loops" or min(sizes.values()) > 0:
            assert_same(one, changed, sizes)


NOT_LAST = {
    "assigned in some iterations": (
        "for i in 0:n\n  t = a[i] if a[i] > 0.0\n  b[i] = t if a[i] > 0.0\n"
    ),
    "assigned in an inner loop": "for i in 0:n\n  for j in 0:m\n    t = a[j]\n  b[i] = t\n",
    "an inner loop that may not run last": (
        "for i in 0:n\n  for j in 2*i:n\n    t = a[i + j]\n    b[i*4 + j] = t\n"
    ),
}


@pytest.mark.parametrize("name", NOT_LAST)
def test_a_last_value_that_is_not_known_stays_refused(name: str) -> None:
    one = region(NOT_LAST[name], read_after=["t"], sizes={"n": 4, "m": 3})
    changed = with_last_values(one)
    assert changed is one
    if "t" in _private(one):
        with pytest.raises(AnnotuneError) as refused:
            analyse(changed)
        assert [d.code for d in refused.value.diagnostics] == ["AT207"]


def _private(one: Region) -> frozenset[str]:
    plain = region(print_nest(one.nest), sizes=one.sizes)
    return analyse(plain).private


APART = {
    "in one of two loops": (
        "for k in 0:n\n  t = a[k]\n  for i in 0:m\n    b[k*m + i] = t\n"
        "  for j in 0:m\n    t = c[j]\n    d[k*m + j] = t\n",
        "for k in 0:n\n  S0: t = a[k]\n  for i in 0:m\n    S1: b[k * m + i] = t\n"
        "  for j in 0:m\n    S2: t_own = c[j]\n    S3: d[k * m + j] = t_own\n",
    ),
    "beside statements in no loop": (
        "t = a[0]\nfor j in 0:m\n  t = c[j]\n  d[j] = t\nt = b[0]\nb[1] = t\n",
        "S0: t = a[0]\nfor j in 0:m\n  S1: t_own = c[j]\n  S2: d[j] = t_own\n"
        "S3: t = b[0]\nS4: b[1] = t\n",
    ),
    "one in the other": (
        "for k in 0:n\n  t = a[k]\n  b[k] = t\n  for j in 0:m\n    t = c[j]\n    d[j*2] = t\n"
        "    for i in 0:n\n      t = a[i]\n      d[j*2 + 1] += t\n",
        "for k in 0:n\n  S0: t = a[k]\n  S1: b[k] = t\n  for j in 0:m\n    S2: t_own = c[j]\n"
        "    S3: d[j * 2] = t_own\n    for i in 0:n\n      S4: t_own2 = a[i]\n"
        "      S5: d[j * 2 + 1] += t_own2\n",
    ),
}


@pytest.mark.parametrize("name", APART)
def test_a_life_inside_a_loop_gets_a_scalar_of_its_own(name: str) -> None:
    text, expected = APART[name]
    one = region(text, sizes={"n": 4, "m": 3})
    changed = with_lives_apart(one)
    assert print_nest(changed.nest) == expected
    assert changed.as_written == one.nest
    assert changed.steps[0].proof == (
        "t is t_own in each iteration of j, which writes it before it reads it; "
        "nothing outside j reads what it writes"
    )


TOGETHER = {
    "read after the loop": "t = a[0]\nfor j in 0:m\n  t = c[j]\n  d[j] = t\nb[0] = t\n",
    "read by the next iteration": (
        "for k in 0:n\n  t = a[k] if k < 1\n  b[k] = t\n  for j in 0:m\n    t = c[j]\n"
    ),
    "read before it is written": "t = a[0]\nfor j in 0:m\n  d[j] = t\n  t = c[j]\n",
    "written in some iterations": "t = a[0]\nfor j in 0:m\n  t = c[j] if c[j] > 0.0\n  d[j] = t\n",
    "written nowhere else": "b[0] = t\nfor j in 0:m\n  t = c[j]\n  d[j] = t\n",
    "of two loops side by side": (
        "for j in 0:m\n  t = c[j]\n  d[j] = t\nfor i in 0:n\n  t = a[i]\n  b[i] = t\n"
    ),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_one_life_stays_one_scalar(name: str) -> None:
    one = region(TOGETHER[name], sizes={"n": 4, "m": 3})
    assert with_lives_apart(one) is one


def test_a_value_that_is_read_after_the_region_stays_in_the_users_scalar() -> None:
    text, _ = APART["in one of two loops"]
    one = region(text, read_after=["t"], sizes={"n": 4, "m": 3})
    assert with_lives_apart(one) is one
    text, expected = APART["beside statements in no loop"]
    one = region(text, read_after=["t"], sizes={"n": 4, "m": 3})
    assert print_nest(with_lives_apart(one).nest) == expected


@st.composite
def lives(draw: st.DrawFn, loops: tuple[str, ...] = ()) -> str:
    """Return a body whose statements set and read one scalar, some of them in loops."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        what = draw(st.sampled_from(["set", "read", "set if", "loop", "loop"]))
        place = "".join(f" + {loop}" for loop in loops)
        if what == "loop" and len(loops) < 3:
            var = "ijk"[len(loops)]
            inner = draw(lives((*loops, var))).splitlines()
            lines += [f"for {var} in 0:{draw(st.sampled_from('nm'))}", *("  " + x for x in inner)]
        elif what.startswith("set"):
            guard = " if a[1] > 0.0" if what == "set if" else ""
            lines.append(f"t = a[{draw(st.integers(0, 2))}{place}]{guard}")
        else:
            lines.append(f"b[{draw(st.integers(0, 2))}{place}] += t")
    return "\n".join(lines) + "\n"


@tried(200)
@given(text=lives(), is_read_after=st.booleans())
def test_scalars_of_their_own_leave_the_same(text: str, is_read_after: bool) -> None:
    one = region(text, read_after=["t"] * is_read_after, sizes={"n": 3, "m": 2})
    changed = with_lives_apart(one)
    hidden = {name for name in changed.scalars if name not in one.scalars}
    hidden |= set() if is_read_after else {"t"}
    for sizes in SIZES:
        assert left_behind(one, sizes, hidden) == left_behind(changed, sizes, hidden)


WORK = """\
for i in 0:n
  for k in 0:4
    t[k] = a[i*4 + k]
  for k in 0:4
    b[i*4 + k] = t[k] + t[3 - k]
"""


def test_an_array_of_each_iteration_becomes_local() -> None:
    one = region(WORK, sizes={"n": 5})
    assert analyse(one).loops[0].kind == "serial"
    changed = with_private_arrays(one)
    assert print_nest(changed.nest) == (
        "for i in 0:n\n"
        "  local double t_own[4]\n"
        "  for k in 0:4\n    S0: t_own[k] = a[i * 4 + k]\n"
        "  for k in 0:4\n    S1: b[i * 4 + k] = t_own[k] + t_own[3 - k]\n"
        "  for t_own_1 in 0:4\n    S2: t[t_own_1] = t_own[t_own_1] if i == n - 1\n"
    )
    # Where t overlaps another array, the nest runs without the copies.
    assert changed.as_written == one.nest
    analysis = analyse(changed)
    assert analysis.all_sizes
    assert [facts.kind for facts in analysis.loops] == ["parallel"] * 4
    assert analysis.loops[0].proof.startswith("each iteration of i has its own t_own")
    assert "t_own" not in {*analysis.private, *analysis.shapes, *analysis.uses}
    for sizes in SIZES:
        assert_same(one, changed, sizes)


KEPT = {
    "read before it is written": WORK.replace("t[k] =", "t[k + 1] ="),
    "written under a condition on memory": WORK.replace("k]\n  for", "k] if a[k] > 0.0\n  for", 1),
    "written in part": WORK.replace("for k in 0:4\n    t", "for k in 1:4\n    t", 1),
    "of a length that sizes decide": WORK.replace("0:4", "0:m"),
    "read after the loop": WORK + "c[0] = t[0]\n",
    "already parallel": "for i in 0:n: t[i] = a[i]",
}


@pytest.mark.parametrize("name", KEPT)
def test_an_array_stays_shared(name: str) -> None:
    one = region(KEPT[name], sizes={"n": 5, "m": 4})
    assert with_private_arrays(one) is one


OF_SIZES = {
    "a length that sizes decide": (
        "for i in 0:n\n  for k in 0:m\n    t[k] = a[i*m + k]\n"
        "  for k in 0:m\n    b[i*m + k] = t[m - 1 - k]\n",
        "for i in 0:n\n  local double t_own[3]\n"
        "  for k in 0:m\n    S0: t_own[k] = a[i * m + k]\n"
        "  for k in 0:m\n    S1: b[i * m + k] = t_own[m - k - 1]\n"
        "  for t_own_1 in 0:m\n    S2: t[t_own_1] = t_own[t_own_1] if i == n - 1\n",
    ),
    "a first element beside a loop that counts down": (
        "for i in 0:n\n  t[m] = a[i]\n  for k in 0:m\n    t[m - 1 - k] = t[m - k] * a[i + k]\n"
        "  for k in 0:m + 1\n    b[i*m + i + k] = t[k]\n",
        "for i in 0:n\n  local double t_own[4]\n  S0: t_own[m] = a[i]\n"
        "  for k in 0:m\n    S1: t_own[m - k - 1] = t_own[m - k] * a[i + k]\n"
        "  for k in 0:m + 1\n    S2: b[i * m + i + k] = t_own[k]\n"
        "  for t_own_1 in 0:m + 1\n    S3: t[t_own_1] = t_own[t_own_1] if i == n - 1\n",
    ),
    "rows from a first element": (
        "for i in 0:n\n  for j in 1:m + 1: for k in 1:m + 1: t[k + j*m] = a[i*m + k]\n"
        "  for j in 1:m + 1: for k in 1:m + 1: b[i*m + k] = t[j + k*m]\n",
        "for i in 0:n\n  local double t_own[3][3]\n"
        "  for j in 1:m + 1\n    for k in 1:m + 1\n"
        "      S0: t_own[j - 1][k - 1] = a[i * m + k]\n"
        "  for j in 1:m + 1\n    for k in 1:m + 1\n"
        "      S1: b[i * m + k] = t_own[k - 1][j - 1]\n"
        "  for t_own_1 in 0:m\n    for t_own_2 in 0:m\n"
        "      S2: t[t_own_1 * m + m + t_own_2 + 1] = t_own[t_own_1][t_own_2] if i == n - 1\n",
    ),
}


@pytest.mark.parametrize("name", OF_SIZES)
def test_an_array_has_room_for_the_sizes_that_are_tuned_for(name: str) -> None:
    text, expected = OF_SIZES[name]
    one = region(text, sizes={"n": 4, "m": 3})
    changed = with_private_arrays(one)
    assert print_nest(changed.nest) == expected
    assert "m <= 3" in {print_expr(one) for one in analyse(changed).conditions}
    for sizes in (*SIZES, {"n": 2, "m": 0}):
        assert_same(one, changed, sizes)


DECLARED = (
    "for i in 0:n\n  for j in 0:m: for k in 0:p: t[j][k] = a[i*m*p + j*p + k]\n"
    "  for k in 0:p: for j in 0:m: b[i*m*p + k*m + j] = t[m - 1 - j][k]\n"
)


def test_an_array_that_is_declared_with_sizes_has_room_for_those_that_are_tuned_for() -> None:
    one = region(DECLARED, sizes={"n": 4, "m": 3, "p": 2}, extents={"t": ("m", "p")})
    changed = with_private_arrays(one)
    assert print_nest(changed.nest) == (
        "for i in 0:n\n  local double t_own[3][2]\n"
        "  for j in 0:m\n    for k in 0:p\n"
        "      S0: t_own[j][k] = a[i * m * p + j * p + k]\n"
        "  for k in 0:p\n    for j in 0:m\n"
        "      S1: b[i * m * p + k * m + j] = t_own[m - j - 1][k]\n"
        "  for t_own_1 in 0:m\n    for t_own_2 in 0:p\n"
        "      S2: t[t_own_1][t_own_2] = t_own[t_own_1][t_own_2] if i == n - 1\n"
    )
    analysis = analyse(changed)
    assert {"m <= 3", "p <= 2"} <= {print_expr(one) for one in analysis.conditions}
    assert [facts.kind for facts in analysis.loops][:1] == ["parallel"]
    for sizes in ({"n": 4, "m": 3, "p": 2}, {"n": 2, "m": 1, "p": 2}, {"n": 3, "m": 0, "p": 2}):
        assert_same(one, changed, sizes)


@pytest.mark.parametrize("place", ["t[j][k + 1]", "t[j + k][k]", "t[j + 1][k]", "t[k][j]"])
def test_what_reads_beyond_what_is_written_stays_shared(place: str) -> None:
    text = DECLARED.replace("t[m - 1 - j][k]", place)
    one = region(text, sizes={"n": 4, "m": 3, "p": 2}, extents={"t": ("m", "p")})
    assert with_private_arrays(one) is one


def test_what_is_proven_at_the_regions_sizes_holds_at_these_alone() -> None:
    # Rows of b meet at other sizes, which the local array no longer says.
    text, _ = OF_SIZES["a first element beside a loop that counts down"]
    one = region(text.replace("b[i*m + i + k]", "b[i*m + k]"), sizes={"n": 4, "m": 3})
    changed = with_private_arrays(one)
    assert changed is not one
    analysis = analyse(changed)
    asked = {print_expr(one) for one in analysis.conditions}
    assert not analysis.all_sizes or {"m <= 3", "m >= 3"} <= asked


TWO = (
    "for i in 0:n\n  for k in 0:4\n    t[k] = a[i*4 + k]\n    u[k] = a[i*4 + k] * 2.0\n"
    "  for k in 0:4\n    b[i*4 + k] = t[k] + u[3 - k]\n"
)


def test_several_arrays_become_local() -> None:
    one = region(TWO, sizes={"n": 5})
    changed = with_private_arrays(one)
    assert {s.name for s in walk_stmts(changed.nest.body) if isinstance(s, LocalArray)} == {
        "t_own",
        "u_own",
    }
    analysis = analyse(changed)
    assert {facts.kind for facts in analysis.loops} == {"parallel"}
    assert len(changed.steps) == 2
    for sizes in SIZES:
        assert_same(one, changed, sizes)


def test_where_one_array_stays_shared_the_others_do() -> None:
    # The loop over i stays serial; launched in each iteration, nests inside share t.
    text = TWO.replace("u[k] =", "u[k + 1] =")
    one = region(text, sizes={"n": 5})
    assert with_private_arrays(one) is one
    assert analyse(one).loops[1].kind == "parallel"


@pytest.mark.parametrize(
    ("length", "count", "is_local"),
    [
        (1024, 5, True),
        (1025, 5, False),
        (1025, 256, True),
        (4097, 256, False),
    ],
)
def test_many_iterations_have_room_for_more(length: int, count: int, is_local: bool) -> None:
    text = WORK.replace("0:4", f"0:{length}").replace("3 - k", "k").replace("i*4", f"i*{length}")
    one = region(text, sizes={"n": count})
    assert (with_private_arrays(one) is not one) == is_local


def unread(text: str, sizes: Mapping[str, int], extents: tuple[Expr | int | str, ...]) -> Region:
    """Return a region with an array t, if any, that C declares for the region alone."""
    one = region(text, sizes=sizes, extents={"t": extents}, pointers=False)
    own = {n: replace(a, is_scratch=True) for n, a in one.arrays.items() if n == "t"}
    return replace(one, arrays={**one.arrays, **own})


UNREAD = {
    "of a constant length": (
        WORK,
        (4,),
        "for i in 0:n\n  local double t_own[4]\n"
        "  for k in 0:4\n    S0: t_own[k] = a[i * 4 + k]\n"
        "  for k in 0:4\n    S1: b[i * 4 + k] = t_own[k] + t_own[3 - k]\n",
    ),
    "of a length that sizes decide": (
        OF_SIZES["a length that sizes decide"][0],
        ("m",),
        "for i in 0:n\n  local double t_own[3]\n"
        "  for k in 0:m\n    S0: t_own[k] = a[i * m + k]\n"
        "  for k in 0:m\n    S1: b[i * m + k] = t_own[m - k - 1]\n",
    ),
    # What the last iteration leaves would not be known.
    "whose last iteration is not known": (
        "for i in 0:n\n  for k in i:4\n    t[k] = a[k]\n  for k in i:4\n    b[i*4 + k] = t[k]\n",
        (4,),
        "for i in 0:n\n  local double t_own[4]\n  for k in i:4\n    S0: t_own[k] = a[k]\n"
        "  for k in i:4\n    S1: b[i * 4 + k] = t_own[k]\n",
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_nobody_reads_afterwards_is_not_written(name: str) -> None:
    text, extents, expected = UNREAD[name]
    one = unread(text, {"n": 4, "m": 3}, extents)
    changed = with_private_arrays(one)
    assert print_nest(changed.nest) == expected
    assert changed.steps[0].proof.partition(" (")[0].endswith("nothing reads t afterwards")
    analysis = analyse(changed)
    assert analysis.loops[0].kind == "parallel"
    # The nest as written has the array all the same, of which a device needs nothing.
    assert analysis.stays_on_device("t")
    assert analysis.has_own_memory("t")
    assert print_expr(analysis.shapes["t"].length) == str(extents[0])
    for sizes in SIZES:
        left, now = left_behind(one, sizes, {"t"}), left_behind(changed, sizes, {"t_own", "t"})
        assert left == now


MAY_LEAVE = {
    "beyond what is declared": (WORK, (3,)),
    "beyond what sizes declare": (OF_SIZES["a length that sizes decide"][0], ("n",)),
}


@pytest.mark.parametrize("name", MAY_LEAVE)
def test_what_may_leave_its_array_keeps_the_copy(name: str) -> None:
    text, extents = MAY_LEAVE[name]
    changed = with_private_arrays(unread(text, {"n": 4, "m": 3}, extents))
    assert "t" in changed.nest.arrays()


def test_what_is_already_local_is_private_by_declaration() -> None:
    text = (
        "for i in 0:n\n  local double t[4]\n  for k in 0:4\n    t[k] = a[i*4 + k]\n  b[i] = t[2]\n"
    )
    analysis = analyse(region(text, sizes={"n": 5}))
    assert [facts.kind for facts in analysis.loops] == ["parallel", "parallel"]
    assert set(analysis.homes) == {"t"}
    assert {a.access.array for s in analysis.accesses.values() for a in s} == {"a", "b"}


@st.composite
def works(draw: st.DrawFn) -> str:
    """Two inner loops over a scratch array, in all the orders and places that can go wrong."""
    lines = ["for i in 0:n"]
    for _ in range(draw(st.integers(1, 3))):
        first, end = draw(st.sampled_from([(0, "4"), (1, "4"), (0, "3"), (0, "m + 1")]))
        lines.append(f"  for k in {first}:{end}")
        at = draw(st.sampled_from(["k", "3 - k", "k", "k + i", "0"]))
        forms = [f"t[{at}] = a[i*4 + k]", f"b[i*4 + k] = t[{at}]", f"t[{at}] += a[k]"]
        guard = draw(st.sampled_from(["", "", " if k > 1", " if i > 0", " if a[k] > 0.0"]))
        lines.append("    " + draw(st.sampled_from(forms)) + guard)
    return "\n".join(lines) + "\n"


def random_work(seed: int) -> str:
    """Return a loop over scratch arrays whose lengths sizes decide."""
    pick = Random(seed)

    def one_of(often: Sequence[str], seldom: Sequence[str]) -> str:
        return pick.choice(seldom if pick.random() < 0.15 else often)

    def bounds() -> str:
        ends = [one_of(["0:m"], ["1:m", "0:m + 1", "0:i + 1", "0:n"]) for _ in range(2)]
        return f"  for j in {ends[0]}: for k in {ends[1]}"

    def guard() -> str:
        return one_of([""], [" if k > 1", " if a[k] > 0.0"])

    lines, at = ["for i in 0:n"], pick.choice(("k", "j*m + k"))
    for name in pick.choice(("t", "tu")):
        place = f"{name}[{one_of([at], ['k + 1', 'm - 1 - k', 'k + i'])}]"
        lines += [bounds(), f"    {place} {one_of('=', ['+='])} a[i*m + k]{guard()}"]
    for _ in range(pick.choice((1, 2))):
        places = ("k", "m - 1 - k", "0") if at == "k" else ("j*m + k", "k*m + j", "k")
        value = f"{one_of('t', 'u')}[{one_of(places, ['k + 1', 'm', 'k + i'])}]"
        target = one_of(["b[i*m + k]"], ["t[k]", "b[k]"])
        lines += [bounds(), f"    {target} {pick.choice(('=', '+='))} {value} * a[j]{guard()}"]
    return "\n".join(lines) + "\n"


@tried(300)
@given(seed=st.integers(0, 2**32))
def test_without_an_array_that_nobody_reads_all_others_are_the_same(seed: int) -> None:
    text = random_work(seed)
    length = Binary("*", Var("m"), Var("m")) if "j*m" in text else "m"
    one = unread(text, {"n": 4, "m": 3}, (length,))
    changed = with_private_arrays(one)
    is_replaced = "t" not in changed.nest.arrays()
    for sizes in SIZES:
        if is_replaced and all(p.at(sizes).constant in range(99) for p in changed.never_negative):
            # Others may be private too, and are written by the last iteration.
            own = {s.name for s in walk_stmts(changed.nest.body) if isinstance(s, LocalArray)}
            own |= changed.scalars.keys() - one.scalars.keys()
            assert left_behind(one, sizes, {"t"}) == left_behind(changed, sizes, {"t", *own})


@tried(300)
@given(seed=st.integers(0, 2**32))
def test_a_private_array_as_long_as_sizes_say_leaves_the_same_memory(seed: int) -> None:
    one = region(random_work(seed), sizes={"n": 4, "m": 3})
    changed = with_private_arrays(one)
    for sizes in SIZES:
        if all(poly.at(sizes).constant in range(99) for poly in changed.never_negative):
            assert_same(one, changed, sizes)


@tried(150)
@given(text=works())
def test_a_private_array_leaves_the_same_memory(text: str) -> None:
    one = region(text, sizes={"n": 4, "m": 3})
    changed = with_private_arrays(one)
    for sizes in SIZES:
        assert_same(one, changed, sizes)


def test_a_product_in_an_element_of_the_iteration_is_private() -> None:
    text = "for i in 0:n\n  a[1] = x[i]\n  a[1] *= x[n + i]\n  y[i] = a[1]\n"
    analysis = analyse(with_private_arrays(with_last_values(region(text, sizes={"n": 5}))))
    assert analysis.loops[0].kind == "parallel"
