"""Temporaries between loops, put where they are read: when, and that nothing else changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import print_nest

from annotune.analysis.normal_form.forwarding import (
    with_all_forwarded,
    with_temporaries_forwarded,
)
from annotune.annotation.commands import Argument, Command
from annotune.ir.expr import walk
from annotune.ir.nest import expressions
from annotune.ir.region import Region

from .brute import Machine, Place
from .regions import region

SIZES = ({"n": 4, "m": 3}, {"n": 1, "m": 2}, {"n": 3, "m": 1}, {"n": 0, "m": 2}, {"n": 2, "m": 0})
HIDDEN = {"t", "u", "annotune_if_1"}


def left_behind(one: Region, sizes: Mapping[str, int]) -> dict[Place, int]:
    machine = Machine(one, sizes)
    machine.trace()
    return {place: v for place, v in machine.memory.items() if place[0] not in HIDDEN}


def forwarded(text: str, **types: str) -> Region:
    extents = {"c": (None, 2)} if "][" in text else None
    one = region(text, sizes={"n": 4, "m": 3}, types=types, extents=extents)
    changed = with_temporaries_forwarded(one)
    for sizes in SIZES:
        assert left_behind(one, sizes) == left_behind(changed, sizes)
    return changed


MOVED = {
    "the columns of a product": (
        "for j in 0:n: for l in 0:m\n  t = b[l + j*9] * 2.0\n"
        "  for i in 0:n: c[i + j*9] += t * a[i + l*9]\n",
        "for j in 0:n\n  for l in 0:m\n    for i in 0:n\n"
        "      S1: c[i + j * 9] += b[l + j * 9] * 2.0 * a[i + l * 9]\n",
    ),
    "two of them": (
        "for j in 0:n\n  t = x[j]\n  u = y[j]\n  for i in 0:m: c[i + j*9] += a[i]*t + b[i]*u\n",
        "for j in 0:n\n  for i in 0:m\n    S2: c[i + j * 9] += a[i] * x[j] + b[i] * y[j]\n",
    ),
    "one made of another": (
        "for j in 0:n\n  t = x[j]\n  u = t * t\n  for i in 0:m: c[i + j*9] = u + t\n",
        "for j in 0:n\n  for i in 0:m\n    S2: c[i + j * 9] = x[j] * x[j] + x[j]\n",
    ),
    "set again": (
        "for j in 0:n\n  t = x[j]\n  for i in 0:m: c[i + j*9] = t\n"
        "  t = y[j]\n  for i in 0:m: d[i + j*9] = t\n",
        "for j in 0:n\n  for i in 0:m\n    S1: c[i + j * 9] = x[j]\n"
        "  for i in 0:m\n    S3: d[i + j * 9] = y[j]\n",
    ),
    "set again in a loop": (
        "for j in 0:n\n  t = x[j]\n  for i in 0:m: c[i + j*9] = t\n"
        "  for k in 0:n\n    t = y[k]\n    for i in 0:m: c[i + j*9] += t\n",
        "for j in 0:n\n  for i in 0:m\n    S1: c[i + j * 9] = x[j]\n"
        "  for k in 0:n\n    for i in 0:m\n      S3: c[i + j * 9] += y[k]\n",
    ),
    "under a condition": (
        "for j in 0:n\n  t = x[j] if y[j] > 1.0\n"
        "  for i in 0:m: c[i + j*9] += t * a[i] if y[j] > 1.0\n",
        "for j in 0:n\n  for i in 0:m\n    S1: c[i + j * 9] += x[j] * a[i] if y[j] > 1.0\n",
    ),
    "a condition that is stored": (
        "for j in 0:n\n  annotune_if_1 = y[j] != 0.0\n  t = x[j] if annotune_if_1\n"
        "  for i in 0:m: c[i + j*9] += t * a[i] if annotune_if_1\n",
        "for j in 0:n\n  for i in 0:m\n    S2: c[i + j * 9] += x[j] * a[i] if y[j] != 0.0\n",
    ),
    "other elements of what is written": (
        "for k in 0:n: for j in k + 1:n\n  t = a[k + j*9]\n"
        "  for i in k + 1:n: a[i + j*9] -= t * a[i + k*9]\n",
        "for k in 0:n\n  for j in k + 1:n\n    for i in k + 1:n\n"
        "      S1: a[i + j * 9] -= a[k + j * 9] * a[i + k * 9]\n",
    ),
    "the terms of a sum": (
        "for i in 0:n\n  t = x[i]\n  s += t * t\n",
        "for i in 0:n\n  S1: s += x[i] * x[i]\n",
    ),
    "a product of complex numbers, in its parts": (
        "for j in 0:n: for i in 0:m\n  t = c[i + j*9][0] + x[j]*a[i]\n"
        "  u = y[j]*a[i] + c[i + j*9][1]\n  c[i + j*9][0] = t\n  c[i + j*9][1] = u\n",
        "for j in 0:n\n  for i in 0:m\n    S2: c[i + j * 9][0] += x[j] * a[i]\n"
        "    S3: c[i + j * 9][1] += y[j] * a[i]\n",
    ),
    "a choice": (
        "for j in 0:n\n  t = y[j] > 1.0 ? x[j] : 2.0\n  for i in 0:m: c[i + j*9] += t * a[i]\n",
        "for j in 0:n\n  for i in 0:m\n    S1: c[i + j * 9] += (y[j] > 1.0 ? x[j] : 2.0) * a[i]\n",
    ),
    "a term that costs much, once": (
        "for i in 0:n\n  t = x[i] / y[i]\n  s += t\n",
        "for i in 0:n\n  S1: s += x[i] / y[i]\n",
    ),
}


@pytest.mark.parametrize("name", MOVED)
def test_a_temporary_is_put_where_it_is_read(name: str) -> None:
    text, expected = MOVED[name]
    changed = forwarded(text, annotune_if_1="int")
    assert print_nest(changed.nest) == expected
    assert print_nest(changed.as_written) != expected
    assert changed.steps


INSIDE = "for j in 0:n\n  t = x[j]\n  for i in 0:m: c[i + j*9] += t\n"
STAYS = {
    "what it is made of is written before": INSIDE.replace("c[i + j*9] += t", "x[i] = t"),
    "what it is made of is a scalar that changes": (
        "for j in 0:n\n  t = u\n  for i in 0:m\n    u = x[i]\n    c[i + j*9] += t + u\n"
    ),
    "a write between": INSIDE.replace("  for i", "  x[j] = y[j]\n  for i"),
    "a write to the same element for some sizes": (
        "for j in 0:n\n  t = x[m]\n  for i in 0:n: x[i + j*9] += t\n"
    ),
    "it is changed": INSIDE.replace("+= t\n", "+= t\n  t *= 2.0\n  d[j] = t\n"),
    "it is changed inside": INSIDE.replace(
        ": c[i + j*9] += t", "\n    c[i + j*9] += t\n    t = y[i]"
    ),
    "it is read before it is set": "for j in 0:n\n  for i in 0:m: c[i + j*9] += t\n  t = x[j]\n",
    "it is read after the loop": INSIDE + "d[0] = t\n",
    "it may not be set": INSIDE.replace("x[j]\n", "x[j] if y[j] > 0.0\n"),
    "its condition changes": (
        "for j in 0:n\n  t = x[j] if y[j] > 0.0\n  y[j] = 1.0\n"
        "  for i in 0:m: c[i + j*9] += t if y[j] > 0.0\n"
    ),
    "it costs much": INSIDE.replace("x[j]\n", "1.0 / x[j]\n"),
    "a statement is left": INSIDE + "  d[j] = 1.0\n",
    "nothing moves": "for j in 0:n\n  t = x[j]\n  c[j] = t * t\n",
    "the same element of what is written": (
        "for j in 0:n: for i in 0:m\n  t = c[i + j*9] + x[j]\n  c[i + j*9] += 1.0\n"
        "  d[i + j*9] += t\n"
    ),
    "a triangle": INSIDE.replace("0:m", "0:j + 1"),
    "it means the iterator of another loop": (
        "for j in 0:n\n  t = x[j]\n  for i in 0:m: c[i + j*9] = t\n  for j in 0:m: d[j] = t\n"
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_a_temporary_stays(name: str) -> None:
    one = region(STAYS[name], sizes={"n": 4, "m": 3})
    assert with_temporaries_forwarded(one) is one


def chain(length: int, value: str) -> Region:
    """Return a region of temporaries, each made of the one before it, read in a loop at the end."""
    lines = ["for j in 0:n", "  t0 = x[j]"]
    lines += [f"  t{k} = " + value.replace("t", f"t{k - 1}") for k in range(1, length)]
    lines += [f"  for i in 0:m: c[i + j*9] += t{length - 1} * a[i]", ""]
    return region("\n".join(lines), sizes={"n": 4, "m": 3})


CHAINS = {
    "each read twice": ("t * t", 7, 14),
    "each read three times": ("t * t + t", 5, 10),
    "each read twice, with an element": ("(t + x[j]) * t", 6, 12),
    "each read twice, the sign changed": ("t - t * 0.5", 6, 12),
    "each read twice in a choice": ("t > 0.5 ? t : x[j]", 6, 12),
    "each read once": ("t * 0.5 + x[j]", 40, 140),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_temporary_whose_copies_would_be_long_stays(name: str) -> None:
    value, short, long = CHAINS[name]
    one = chain(short, value)
    changed = with_temporaries_forwarded(one)
    assert len(changed.nest.assigns()) == 1
    for sizes in SIZES:
        after = left_behind(changed, sizes)
        assert after == {p: v for p, v in left_behind(one, sizes).items() if p in after}
    # A part of them alone would leave the loops as they are.
    one = chain(long, value)
    assert with_temporaries_forwarded(one) is one


@pytest.mark.parametrize("name", CHAINS)
def test_what_is_asked_for_is_forwarded_as_far_as_it_is_short(name: str) -> None:
    value, _, long = CHAINS[name]
    changed = with_all_forwarded(chain(long, value), (0,))
    parts = [sum(1 for e in expressions(s) for _ in walk(e)) for s in changed.nest.assigns()]
    assert 1 < len(parts) < long
    assert max(parts) < 2000


def test_one_that_is_read_after_the_region_stays() -> None:
    one = region(INSIDE, read_after=["t"], sizes={"n": 4, "m": 3})
    assert with_temporaries_forwarded(one) is one


def test_one_that_a_recipe_names_stays() -> None:
    one = region(INSIDE, sizes={"n": 4, "m": 3})
    command = Command("registers", (Argument(0), Argument("i")))
    told = replace(one, spec=replace(one.spec, commands=(command,)))
    assert with_temporaries_forwarded(told) is told


TYPES = {
    "narrower": ("x[j] * 3.0", {"t": "float"}, "(float)(x[j] * 3.0)"),
    "wider": ("x[j] * y[j]", {"x": "float", "y": "float"}, "(double)(x[j] * y[j])"),
    "the same": ("x[j] * y[j]", {"x": "float", "y": "float", "t": "float"}, "+= x[j] * y[j]"),
    "of integers": ("x[j] * 2", {"x": "int"}, "(double)(x[j] * 2)"),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_value_keeps_the_temporarys_type(name: str) -> None:
    value, types, expected = TYPES[name]
    text = INSIDE.replace("x[j]\n", f"{value}\n")
    changed = with_temporaries_forwarded(region(text, sizes={"n": 4, "m": 3}, types=types))
    assert expected in print_nest(changed.nest)


@pytest.mark.parametrize("kind", ["int", "long", "char"])
def test_an_integer_stays(kind: str) -> None:
    one = region(INSIDE, sizes={"n": 4, "m": 3}, types={"t": kind})
    assert with_temporaries_forwarded(one) is one


def test_a_step_names_what_is_not_written() -> None:
    (step,) = forwarded(INSIDE).steps
    assert (
        step.proof == "t is x[j] where it is read, for nothing writes what it reads of x in between"
    )


PLACES = ("x[j]", "y[j]", "x[1]", "c[j]", "c[i + j*5]", "c[i]", "d[i + j*5]")


def random_nest(seed: int) -> str:
    """Return a loop with temporaries, loops and statements, in the orders that can go wrong."""
    pick = Random(seed)

    def one_of(often: Sequence[str], seldom: Sequence[str] = ()) -> str:
        return pick.choice(seldom if seldom and pick.random() < 0.1 else often)

    def value(able: Sequence[str], others: Sequence[str] = ("t", "u")) -> str:
        guard = one_of([""], [" if y[j] > 1.0"])
        return f"{one_of(able, others)} * {one_of(able, others)}{guard}"

    lines = ["for j in 0:n"]
    outer = PLACES[:4]
    for _ in range(pick.choice((1, 1, 2))):
        lines.append(f"  t {one_of(['='], ['+='])} {value(outer)}")
        lines.append(f"  u = {value((*outer, 't'))}")
        if pick.random() < 0.2:
            lines.append(f"  {one_of(outer)} = {value(outer)}")
        lines.append(f"  for i in 0:{pick.choice(('m', 'm', 'n', 'j + 1'))}")
        lines.append(f"    d[i + j*5] {one_of(['+=', '='])} t * u")
        if pick.random() < 0.5:
            target = one_of(PLACES[2:], ("t", "u", "x[j]"))
            lines.append(f"    {target} {one_of(['+=', '='])} {value((*PLACES, 't', 'u'))}")
    return "\n".join(lines) + "\n"


@tried(400)
@given(seed=st.integers(0, 2**32))
def test_a_forwarded_temporary_leaves_the_same_memory(seed: int) -> None:
    forwarded(random_nest(seed))
