"""Constants, held against the values that gcc gives them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.gcc_types import told_by_gcc

from annotune.frontend.read.macros import evaluate
from annotune.ir.constants import Constant, computed, exact_value, value_at
from annotune.ir.ctype import INT, LONG, TYPES, UNSIGNED_INT
from annotune.ir.expr import Binary, Call, Cast, Int, Negate, Var

LITERALS = (
    *("0", "1", "7", "3u", "4294967295u", "2147483647", "2147483648", "0x80000000", "5L", "9UL"),
)
OPERATORS = ("+", "-", "*", "/", "%", "<", "<=", "==", "!=", "&", "|", "^", "<<", ">>", "&&", "||")
COUNT = 400


def drawn(source: random.Random, depth: int) -> str:
    """Return a random constant expression as C."""
    if depth == 0:
        return source.choice(LITERALS)
    parts = [drawn(source, depth - source.randint(1, depth)) for _ in range(3)]
    match source.randrange(6):
        case 0:
            return f"{source.choice('-~!+')} ({parts[0]})"
        case 1:
            return f"(({parts[0]}) ? ({parts[1]}) : ({parts[2]}))"
    return f"(({parts[0]}) {source.choice(OPERATORS)} ({parts[1]}))"


def test_a_constant_has_the_value_that_gcc_gives_it(tmp_path: Path) -> None:
    source = random.Random(3)
    texts = [drawn(source, source.randint(1, 3)) for _ in range(COUNT)]
    found = [(text, evaluate(text, lambda name: None)) for text in texts]
    known = [(text, value) for text, value in found if value is not None]
    assert len(known) > COUNT // 2
    # Where one is below 0 it has a sign.
    lines = [
        f'    printf("%s%llu\\n", ({text}) < 0 ? "-" : "", '
        f"({text}) < 0 ? -(unsigned long long)({text}) : (unsigned long long)({text}));"
        for text, _ in known
    ]
    assert [str(value) for _, value in known] == told_by_gcc(lines, tmp_path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # C11 6.3.1.8: the unsigned type wins where it is no narrower.
        ("1 - 2u", 2**32 - 1),
        ("-1 > 0u", 1),
        ("-1L > 0u", 0),
        ("~0u", 2**32 - 1),
        ("~0", -1),
        ("-2147483647 - 1", -(2**31)),
        # 6.5: what its type does not hold is undefined, with a sign.
        ("2147483647 + 1", None),
        ("2147483647 + 1u", 2**31),
        ("65536 * 65536", None),
        ("1 << 31", None),
        ("1 << 32", None),
        ("1L << 32", 2**32),
        ("1 >> -1", None),
        # 6.6, paragraph 3: what is not evaluated need have no value.
        ("0 && 1 / 0", 0),
        ("2 || 1 / 0", 1),
        ("1 ? 4 : 1 / 0", 4),
        ("1 && 1 / 0", None),
    ],
)
def test_a_constant_has_a_type(text: str, value: int | None) -> None:
    assert evaluate(text, lambda name: None) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2147483647 + 1", 2**31),
        ("65536 * 65536 == 0", 0),
        ("1 - 2u", 2**64 - 1),
        ("-1 > 0u", 1),
        ("1 << 40", 2**40),
    ],
)
def test_the_preprocessor_computes_in_the_widest_types(text: str, value: int) -> None:
    assert evaluate(text, lambda name: None, LONG) == value


def test_what_has_no_type_overflows_nowhere() -> None:
    n = Constant(2**31)
    assert computed("*", n, n) == Constant(2**62)
    assert computed("+", n, Constant(1, INT)) == Constant(2**31 + 1)
    assert computed("+", n, Constant(1, UNSIGNED_INT)) is None
    assert computed("-", Constant(3), Constant(5, UNSIGNED_INT)) is None
    assert exact_value("/", 1, 0) is None
    assert exact_value("<<", 1, -1) is None


def test_casts_are_made_as_c_makes_them() -> None:
    n = Cast(UNSIGNED_INT, Var("n"))
    assert value_at(n, {"n": -1}) == 2**32 - 1
    assert value_at(Binary("-", n, Cast(UNSIGNED_INT, Int(1))), {"n": 0}) is None
    assert value_at(Negate(n), {"n": 1}) is None
    assert value_at(Binary("*", Cast(LONG, n), Int(2)), {"n": -1}) == 2**33 - 2
    assert value_at(Cast(TYPES["_Bool"], Int(2)), {}) == 1
    assert value_at(Call("abs", (Negate(Var("n")),)), {"n": 5}) == 5
    assert value_at(Call("users", (Var("n"),)), {"n": 5}) is None
