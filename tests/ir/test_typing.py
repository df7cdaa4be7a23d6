"""Types and intervals of expressions, held against what gcc and C's values say."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from support.gcc_types import OWN, told_by_gcc
from support.laws import tried

from annotune.codegen.c_expr import plain_c
from annotune.ir.constants import divide, remainder
from annotune.ir.ctype import DOUBLE, INT, LONG, TYPES, UNSIGNED_INT
from annotune.ir.expr import (
    AS_WRITTEN,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
)
from annotune.ir.typing import (
    Interval,
    ctype,
    has_narrowing_cast,
    in_long,
    integer_type,
    interval,
    may_wrap,
    scope_of,
)

TYPE_NAMES: Mapping[str, str] = {f"v{number}": one.name for number, one in enumerate(OWN)}
SCOPE = scope_of(TYPE_NAMES)
COUNT = 300
INTEGERS = [name for name, kind in TYPE_NAMES.items() if TYPES[kind].is_integer]
PARTS = ("+", "-", "*", "/", "<", "==", "&&", "||")


def drawn(source: random.Random, depth: int) -> Expr:
    """Return a random expression over variables of every type."""
    if depth == 0:
        return source.choice(
            [
                Int(source.choice((0, 7, 2**31 - 1, 2**31, 2**40))),
                Real(source.choice(("0.5", "1e3f"))),
                Var(source.choice(list(TYPE_NAMES))),
                Var(source.choice(INTEGERS)),
            ]
        )
    parts = [drawn(source, depth - source.randint(1, depth)) for _ in range(3)]
    kinds = [ctype(part, SCOPE) for part in parts]
    if any(kind is None or kind.part != kind for kind in kinds):
        # Complex numbers have no order.
        return Cast(source.choice(OWN), parts[0])
    match source.randrange(5):
        case 0:
            return Negate(parts[0])
        case 1:
            return Cast(source.choice(OWN), parts[0])
        case 2:
            return Select(*parts)
    return Binary(source.choice(PARTS), parts[0], parts[1])


def test_the_type_of_an_expression_is_gccs(tmp_path: Path) -> None:
    source = random.Random(5)
    exprs = [drawn(source, source.randint(1, 4)) for _ in range(COUNT)]
    lines = [f"    {kind} {name} = 1;" for name, kind in TYPE_NAMES.items()]
    lines += [f"    puts(NAME(+({plain_c(expr)})));" for expr in exprs]
    found = told_by_gcc(lines, tmp_path)
    told = [ctype(expr, SCOPE) for expr in exprs]
    assert [None if one is None else one.name for one in told] == found


def test_the_type_of_a_constant_is_gccs(tmp_path: Path) -> None:
    digits = ("0", "7", "2147483647", "2147483648", "0x7fffffff", "0x80000000", "4294967296")
    texts = [f"{one}{end}" for one in digits for end in ("", "u", "l", "UL")]
    texts += ["0x7fffffffffffffff", "0x8000000000000000", "9223372036854775807", "037777777777"]
    values = [int(text.rstrip("uUlL"), 8 if text.startswith("03") else 0) for text in texts]
    found = told_by_gcc([f"    puts(NAME({text}));" for text in texts], tmp_path)
    pairs = zip(texts, values, strict=True)
    assert [integer_type(text, value).name for text, value in pairs] == found


def test_what_is_not_known_has_no_type() -> None:
    assert ctype(Binary("+", Var("v0"), Var("other")), SCOPE) is None
    assert ctype(Call("users", (Int(1),)), SCOPE) is None
    assert ctype(Call("min", (Int(1), Var("other"))), SCOPE) is None
    assert ctype(Call("min", (Int(1), Cast(UNSIGNED_INT, Int(2)))), SCOPE) == UNSIGNED_INT
    assert ctype(Access("a", (Var("other"),)), scope_of({"a": "short"})) == INT
    assert ctype(Call("sqrt", (Var("other"),)), SCOPE) == DOUBLE


RANGES: Mapping[str, Interval] = {"i": (0, 5), "j": (-3, 4), "n": (1, 3), "k": (-2, -1)}
LEAVES = st.one_of(st.integers(-4, 4).map(Int), st.sampled_from([Var(name) for name in RANGES]))


def larger(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    pairs = st.tuples(parts, parts)
    return st.one_of(
        st.builds(Binary, st.sampled_from("+-*/%"), parts, parts),
        st.builds(Binary, st.sampled_from(["<", "=="]), parts, parts),
        st.builds(Negate, parts),
        st.builds(Select, parts, parts, parts),
        st.builds(Call, st.sampled_from(["min", "max"]), pairs),
        st.builds(Call, st.just("abs"), st.tuples(parts)),
        st.builds(Cast, st.sampled_from([one for one in OWN if one.is_integer]), parts),
    )


def value(expr: Expr, at: Mapping[str, int]) -> int:
    """Return the value of an integer expression; ZeroDivisionError where C has none."""
    match expr:
        case Int(number):
            return number
        case Var(name):
            return at[name]
        case Negate(operand):
            return -value(operand, at)
        case Select(condition, one, other):
            return value(one if value(condition, at) else other, at)
        case Call("abs", (operand,)):
            return abs(value(operand, at))
        case Call(function, arguments):
            return (min if function == "min" else max)(value(part, at) for part in arguments)
        case Cast(type_, operand):
            assert type_.limits is not None
            if type_.name == "_Bool":
                return int(value(operand, at) != 0)
            # As gcc: a plain char has a sign here.
            low = type_.limits[0]
            return (value(operand, at) - low) % 2**type_.bits + low
        case Binary(op, left, right):
            a, b = value(left, at), value(right, at)
            if op in "/%":
                return divide(a, b) if op == "/" else remainder(a, b)
            return int({"+": a + b, "-": a - b, "*": a * b, "<": a < b, "==": a == b}[op])
    raise AssertionError(expr)


@given(st.recursive(LEAVES, larger, max_leaves=8), st.randoms(use_true_random=False))
@tried(600)
def test_every_value_lies_in_the_interval(expr: Expr, source: random.Random) -> None:
    found = interval(expr, lambda leaf: RANGES.get(leaf.name) if isinstance(leaf, Var) else None)
    for _ in range(10):
        at = {name: source.randint(*ends) for name, ends in RANGES.items()}
        try:
            number = value(expr, at)
        except ZeroDivisionError:
            continue
        assert found is None or found[0] <= number <= found[1], at


def test_a_cast_to_a_long_alone_changes_no_integer() -> None:
    assert not has_narrowing_cast(Cast(LONG, Var("n")))
    assert not has_narrowing_cast(Cast(DOUBLE, Var("n")))
    assert has_narrowing_cast(Binary("+", Int(1), Cast(UNSIGNED_INT, Var("n"))))
    assert has_narrowing_cast(Cast(TYPES["unsigned long"], Var("n")))


def test_a_quotient_is_rounded_toward_zero_on_both_sides_of_it() -> None:
    j, n = Var("j"), Var("n")

    def found(expr: Expr) -> Interval | None:
        return interval(expr, lambda leaf: RANGES.get(leaf.name) if isinstance(leaf, Var) else None)

    assert found(Binary("/", j, Int(2))) == (-1, 2)
    assert found(Binary("%", j, Int(2))) == (-1, 1)
    assert found(Binary("%", Var("k"), Int(9))) == (-2, 0)
    assert found(Binary("/", j, Binary("-", n, Int(1)))) == (-3, 4)
    assert found(Call("abs", (j,))) == (0, 4)
    assert found(Call("labs", (Var("k"),))) == (1, 2)
    assert found(Binary("/", n, j)) is None


def test_a_cast_of_what_is_not_known_is_a_leaf() -> None:
    short = Cast(TYPES["short"], Call("users", ()))
    assert interval(Binary("+", short, Int(1)), lambda leaf: None) is None
    limits = interval(
        Binary("+", short, Int(1)),
        lambda leaf: leaf.type.limits if isinstance(leaf, Cast) else None,
    )
    assert limits == (1 - 2**15, 2**15)


def test_a_difference_of_unsigned_numbers_may_wrap() -> None:
    scope = {"u": "size_t", "i": "int"}
    assert may_wrap(Binary("-", Var("u"), Int(1)), scope)
    assert may_wrap(Binary("+", Var("u"), Int(-1)), scope)
    assert may_wrap(Binary("+", Var("u"), Negate(Var("i"))), scope)
    assert not may_wrap(Binary("-", Var("i"), Int(1)), scope)
    assert not may_wrap(Binary("+", Var("u"), Int(1)), scope)


def test_a_number_in_long_has_no_part_that_goes_round() -> None:
    u, n = Var("u"), Var("n")
    unsigned = Cast(UNSIGNED_INT, Binary("-", u, Int(1)))
    wide = Cast(LONG, Cast(UNSIGNED_INT, Binary("-", Cast(LONG, u, is_bare=True), Int(1))))
    assert in_long(Binary("+", n, unsigned)) == Binary("+", Cast(LONG, n, is_bare=True), wide)
    assert in_long(Cast(LONG, unsigned)) == wide
    assert in_long(in_long(Binary("*", n, u))) == in_long(Binary("*", n, u))
    # A condition is as C compares.
    test = Binary("<", n, u)
    assert in_long(Select(test, n, Int(0))) == Select(test, in_long(n), Int(0))
    as_written = Call(AS_WRITTEN, (test,))
    assert in_long(as_written) == as_written
