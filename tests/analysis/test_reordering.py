"""Sums taken apart, triangles turned, and shared loops put around: when, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import print_nest

from annotune.analysis.normal_form.reordering import with_loops_reordered
from annotune.annotation.commands import Argument, Command
from annotune.ir.region import Region

from .brute import Machine, Place
from .regions import region

SIZES = ({"n": 4, "m": 3}, {"n": 1, "m": 5}, {"n": 3, "m": 1}, {"n": 0, "m": 2}, {"n": 6, "m": 0})
HIDDEN = {"t", "s"}
GRIDS = {"b": (12, 12), "d": (12, 12)}


def left_behind(one: Region, sizes: Mapping[str, int]) -> dict[Place, int]:
    machine = Machine(one, sizes)
    machine.trace()
    return {place: v for place, v in machine.memory.items() if place[0] not in HIDDEN}


def reordered(text: str, **types: str) -> Region:
    """Return the region of a text with its loops reordered, run beside the text's own."""
    one = region(text, sizes={"n": 4, "m": 3}, extents=GRIDS, types=types)
    changed = with_loops_reordered(one)
    for sizes in SIZES:
        if all((poly.at(sizes).constant or 0) >= 0 for poly in changed.never_negative):
            assert left_behind(one, sizes) == left_behind(changed, sizes)
    return changed


CHANGED = {
    "a triangle": (
        "for j in 0:n: for i in 0:j: y[i] += x[j] * a[i + j*9]\n",
        "for i in 0:n - 1\n  for j in i + 1:n\n    S0: y[i] += x[j] * a[i + j * 9]\n",
    ),
    "a trapezium": (
        "for j in 0:n: for i in 0:m - j: y[i] += x[j]\n",
        "for i in 0:m\n  for j in 0:min(n, m - i)\n    S0: y[i] += x[j]\n",
    ),
    "a band": (
        "for j in 0:n: for i in max(0, j - 2):min(m, j + 3): y[i] += x[j]\n",
        "for i in 0:min(m, n + 2)\n  for j in max(0, i - 2):min(n, i + 3)\n    S0: y[i] += x[j]\n",
    ),
    "a symmetric matrix": (
        "for j in 0:n\n  t = x[j]\n  s = 0.0\n"
        "  for i in 0:j\n    y[i] += t * a[i + j*9]\n    s += a[i + j*9] * x[i]\n"
        "  y[j] = y[j] + t * a[j + j*9] + s\n",
        "for j in 0:n\n  S0: s = 0.0\n  for i in 0:j\n    S1: s += a[i + j * 9] * x[i]\n"
        "  S2: y[j] = y[j] + x[j] * a[j + j * 9] + s\n"
        "for i in 0:n - 1\n  for j in i + 1:n\n    S3: y[i] += x[j] * a[i + j * 9]\n",
    ),
    "a rectangle that adds to its own row": (
        "for j in 0:n\n  for i in 0:m: y[i] += x[j]\n  y[j] -= x[j]\n",
        "for j in 0:n\n  for i in 0:m\n    S0: y[i] += x[j]\nfor j in 0:n\n  S1: y[j] -= x[j]\n",
    ),
    "two steps along columns": (
        "for j in 1:n\n  for i in 0:m: d[j][i] = d[j - 1][i] * a[i]\n"
        "  for i in 0:m: b[j][i] = b[j - 1][i] + d[j][i]\n",
        "for i in 0:m\n  for j in 1:n\n    S0: d[j][i] = d[j - 1][i] * a[i]\n"
        "    S1: b[j][i] = b[j - 1][i] + d[j][i]\n",
    ),
    "a step with a factor of its own, set twice": (
        "for j in 1:n\n  t = x[j]\n  t = t * x[j - 1] if t > 2.0\n"
        "  for i in 0:m: d[j][i] = d[j - 1][i] * t\n",
        "for i in 0:m\n  for j in 1:n\n    S0: t = x[j]\n"
        "    S1: t = t * x[j - 1] if t > 2.0\n    S2: d[j][i] = d[j - 1][i] * t\n",
    ),
    "steps along columns of half a square, one of which sums up": (
        "for j in 1:n\n  for i in 0:m: for k in 0:i: d[i][k] += d[i][k] * x[j]\n"
        "  for i in 0:m: for k in 0:i: for l in 0:2: d[i][k] += a[l + j] * x[k]\n",
        "for i in 0:m\n  for k in 0:i\n    for j in 1:n\n"
        "      S0: d[i][k] += d[i][k] * x[j]\n"
        "      for l in 0:2\n        S1: d[i][k] += a[l + j] * x[k]\n",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_loops_are_taken_apart_and_turned(name: str) -> None:
    text, expected = CHANGED[name]
    assert print_nest(reordered(text).nest) == expected


STAYS = {
    "a rectangle": "for j in 0:n: for i in 0:m: y[i] += x[j]\n",
    "an outer loop that is parallel": "for j in 0:n: for i in 0:j: c[i + j*9] += x[j]\n",
    "a value that is read": "for j in 0:n: for i in 0:j: y[i] += y[j] * x[i]\n",
    "one that is set": "for j in 0:n: for i in 0:j: y[i] = x[j]\n",
    "a product beside": "for j in 0:n\n  for i in 0:m: y[i] += x[j]\n  y[j] *= x[j]\n",
    "a guard that reads": (
        "for j in 0:n\n  for i in 0:m: y[i] += x[j] if y[j] > 1.0\n  y[j] += 1.0\n"
    ),
    "twice as fast": "for j in 0:n: for i in 0:2*j: y[i] += x[j]\n",
    "a step beside its column": (
        "for j in 1:n\n  for i in 0:m: d[j][i] = b[j - 1][i] * x[i]\n"
        "  for i in 0:m: b[j][i] = b[j - 1][i] + d[j][i - 1]\n"
    ),
    "a factor that the step before has set": (
        "for j in 1:n\n  t = t * x[j]\n  for i in 0:m: d[j][i] = d[j - 1][i] * t\n"
    ),
    "a factor of what a nest writes": (
        "for j in 1:n\n  t = d[j - 1][0]\n  t = t * x[j]\n"
        "  for i in 0:m: d[j][i] = d[j - 1][i] * t\n"
    ),
    "an element beside a nest": (
        "for j in 1:n\n  y[j] = y[j - 1] * x[j]\n  for i in 0:m: d[j][i] = d[j - 1][i] * y[j]\n"
    ),
    "a nest that does nothing": "for j in 1:n\n  t = x[j]\n  for i in 0:m\n  y[j] = t + y[j - 1]\n",
    "nests of other lengths": (
        "for j in 1:n\n  for i in 0:m: c[j][i] = c[j - 1][i] * x[i]\n"
        "  for i in 0:n: b[j][i] = b[j - 1][i]\n"
    ),
    "a length that the serial loop sets": (
        "for j in 1:n\n  for i in 0:j: c[i] = c[i] * x[i]\n  for i in 0:j: a[i] = a[i] + c[i]\n"
    ),
    "nests of which each has more that may run at once": (
        "for j in 1:n\n  for i in 0:3: for k in 0:n: d[i][k] = d[i][k] * x[j]\n"
        "  for i in 0:3: for k in 0:m: b[i][k] = b[i][k] * x[j]\n"
    ),
    "nests in a parallel loop": (
        "for j in 0:n\n  for i in 0:m: c[j][i] = x[i]\n  for i in 0:m: b[j][i] = x[i]\n"
    ),
    "elements that meet in one iteration alone": (
        "for j in 0:n\n  for i in 0:j: s += x[i]\n  y[j] += s\n  y[0 + j] += x[j]\n"
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_loops_stay(name: str) -> None:
    one = region(STAYS[name], sizes={"n": 4, "m": 3}, extents=GRIDS)
    assert with_loops_reordered(one) is one


@pytest.mark.parametrize("kind", ["int", "short", "unsigned"])
def test_sums_of_integers_stay(kind: str) -> None:
    text = "for j in 0:n\n  for i in 0:m: y[i] += x[j]\n  y[j] -= x[j]\n"
    one = region(text, sizes={"n": 4, "m": 3}, types={"y": kind})
    assert with_loops_reordered(one) is one


def test_a_loop_that_a_recipe_names_stays() -> None:
    one = region(CHANGED["a triangle"][0], sizes={"n": 4, "m": 3})
    command = Command("registers", (Argument(0), Argument("i")))
    told = replace(one, spec=replace(one.spec, commands=(command,)))
    assert with_loops_reordered(told) is told


@pytest.mark.parametrize("name", ["i", "j"])
def test_iterators_that_are_read_later_stay(name: str) -> None:
    one = region(CHANGED["a triangle"][0], sizes={"n": 4, "m": 3}, read_after=[name])
    assert with_loops_reordered(one) is one


STEPS = (
    "for j in 1:n\n"
    "  for i in 0:m\n    t = x[i] + 1.0 if x[i] > j\n    b[j][i] = b[j - 1][i] + 1.0\n"
    "  for i in 0:m: d[j][i] += b[j][i]\n"
)
TRIANGLE = "for j in 0:n\n  for i in 0:j\n    t = x[j] if x[j] > i\n    y[i] += x[j]\n"


@pytest.mark.parametrize("text", [STEPS, TRIANGLE])
def test_a_scalar_that_is_read_later_keeps_its_last_value(text: str) -> None:
    """Another iteration may be the last one to write it."""
    one = region(text, sizes={"n": 4, "m": 3}, extents=GRIDS, read_after=["t"])
    assert with_loops_reordered(one) is one
    free = replace(one, scalars={**one.scalars, "t": replace(one.scalars["t"], read_after=False)})
    assert with_loops_reordered(free) is not free


LOWER = ("0", "1", "j", "j + 1", "j - 2", "n - j", "m - j", "max(j, 1)", "max(j - 1, m - j)")
UPPER = ("m", "n", "j", "j + 2", "m - j", "n - j + 1", "min(n, j + 1)", "min(m - j, j)")
TARGETS = ("y[i]", "y[i]", "y[j]", "y[i + 1]", "y[m - i + 9]", "y[i + j]", "s")
VALUES = ("x[j]", "x[i]", "a[i + j*9]", "t", "t * x[i]", "y[j]", "s")


def random_nest(seed: int) -> str:
    """Return a loop around sums of every kind, among other statements."""
    pick = Random(seed)
    lines = [f"for j in {pick.choice(('0', '1', 'm'))}:{pick.choice(('n', 'min(n, m)', 'm + 2'))}"]
    if pick.random() < 0.5:
        lines.append(f"  t = {pick.choice(('x[j]', 'x[j] * 2.0', 'y[j]'))}")
    if pick.random() < 0.5:
        lines.append("  s = 0.0")
    for _ in range(pick.choice((1, 1, 2))):
        lines.append(f"  for i in {pick.choice(LOWER)}:{pick.choice(UPPER)}")
        for _ in range(pick.choice((1, 1, 2))):
            value = pick.choice(VALUES[: 5 if pick.random() < 0.9 else 7])
            op = pick.choice(("+=", "+=", "+=", "-=", "=")) if pick.random() < 0.3 else "+="
            lines.append(f"    {pick.choice(TARGETS)} {op} {value}")
        if pick.random() < 0.5:
            lines.append(f"  y[j] = y[j] + {pick.choice(('x[j]', 't * x[j]', 's'))}")
    return "\n".join(lines) + "\n"


PLACES = ("[j][i]", "[j - 1][i]", "[0][i]", "[j + 1][i]", "[j][i + 1]", "[i][j]", "[1][0]")


STEPS = ("x[j]", "x[j] * t", "x[j] + 1.0 if x[j] > 3.0", "d[j][0]", "b[0][j]", "t * 2.0")


def random_steps(seed: int) -> str:
    """Return a loop around nests of its own that set and add to elements near its column."""
    pick = Random(seed)
    lines = ["for j in 1:n"]
    for _ in range(pick.choice((2, 2, 3))):
        if pick.random() < 0.3:
            lines.append(f"  t {pick.choice(('=', '=', '+='))} {pick.choice(STEPS)}")
        lines.append(f"  for i in 0:{'m' if pick.random() < 0.9 else 'n'}")
        for _ in range(pick.choice((1, 1, 2))):
            target, one, other = (pick.choice(PLACES[: pick.choice((3, 4, 7))]) for _ in "abc")
            arrays = [pick.choice("bd") for _ in "abc"]
            op = pick.choice(("=", "+=", "-="))
            factor = " * t" if pick.random() < 0.3 else ""
            value = f"{arrays[1]}{one} + {arrays[2]}{other}{factor}"
            lines.append(f"    {arrays[0]}{target} {op} {value}")
    return "\n".join(lines) + "\n"


@tried(400)
@given(seed=st.integers(0, 2**32))
def test_exchanged_loops_leave_the_same_memory(seed: int) -> None:
    reordered(random_steps(seed))


@tried(400)
@given(seed=st.integers(0, 2**32))
def test_reordered_loops_leave_the_same_memory(seed: int) -> None:
    reordered(random_nest(seed))
