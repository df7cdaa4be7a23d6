"""What is written plainly has the same value, the same type, and overflows no sooner."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from support.laws import tried
from support.nest_text import parse_nest

from annotune.ir.constants import divide, remainder
from annotune.ir.ctype import LONG, CType
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    RELATIONS,
    Binary,
    Cast,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    print_expr,
)
from annotune.ir.nest import Assign
from annotune.ir.plain import Plain, asked_again, chosen_places, where

TYPES = {
    **dict.fromkeys(("i", "j", "k", "n", "m", "lda", "incx"), "int"),
    **{"s": "short", "c": "unsigned char", "u": "unsigned int", "v": "unsigned int"},
    **{"L": "long", "Z": "size_t", "d": "double", "f": "float"},
}


def expression(text: str) -> Expr:
    (assign,) = parse_nest(f"x = {text}").body
    assert isinstance(assign, Assign)
    return assign.value


PLAINLY = {
    "n + 1 - 0 + 1": "n + 2",
    "i - 1 + 1": "i",
    "0 - 1 + (1 + (i - 1)*incx)": "(i - 1) * incx",
    "0 - (1 + lda) + (i + j*lda)": "i + j * lda - (lda + 1)",
    "-n + 1": "1 - n",
    "n - i - 1 + 1": "n - i",
    "i - -1": "i + 1",
    "i + -j": "i - j",
    "j*0 + i*1": "i",
    "2*j - j": "j",
    "n - 2147483647 + m + 1": "n - 2147483646 + m",
    "u + (v - u)": "v",
    "(n < 3) == 0": "n >= 3",
    "(d == 3.) == 0": "d != 3.",
    "(d == 3.) != 0": "d == 3.",
    "1 < 2 ? i : s": "i",
    "(i >= 1 ? i : 1) <= n ? i : n": "(i > 1 ? i : 1) <= n ? i : n",
    "i <= n ? n : i": "i < n ? n : i",
    "d[i + 1 - 1] + 0.": "d[i] + 0.",
}
# What looks alike and is not, or may overflow where the text does not.
KEPT = [
    "i + j*64 - 65",
    "n - 1 + m",
    "2147483647 + i + 1",
    "(d < 3.) == 0",
    "d + 0",
    "d - 1 + 1",
    "u - u - 1",
    "L - L + 1",
    "L + i - i",
    "1 < 2 ? f : d",
    "1 < 2 ? i : u",
    "i <= u ? i : u",
    "d >= f ? d : f",
    "(i + j) / 2 + 1",
    "w + 1 - 1",
]


@pytest.mark.parametrize("text", PLAINLY)
def test_says_it_plainly(text: str) -> None:
    assert print_expr(Plain(TYPES).expr(expression(text))) == PLAINLY[text]


@pytest.mark.parametrize("text", KEPT)
def test_keeps(text: str) -> None:
    assert Plain(TYPES).expr(expression(text)) == expression(text)


HOLDS = ("incx >= 1", "1 < n + 1", "lda >= n", "u >= 3", "j != 0", "d < 3.")
DECIDED = {
    "incx < 0 ? (-n + 1)*incx + 1 : 1": "1",
    "(incx < 0 ? d : f) + (incx > 0 ? d : f)": "(incx < 0 ? d : f) + d",
    "n == 0 || lda < n": "0",
    "(n - 1)*incx >= 0 && n != 0": "1",
    "lda < n + 1": "lda < n + 1",
    "j != 0 ? n / j : 0": "n / j",
    "j == 0 || d < 3. && (d < 3.) == 0": "0",
    # Of NaN neither holds.
    "d >= 3. || i < 0": "d >= 3. || i < 0",
    # An int below 0 beside one without a sign is another number.
    "u < 1": "u < 1",
    "n - u < 0": "n - u < 0",
}


@pytest.mark.parametrize("text", DECIDED)
def test_decides_by_what_holds(text: str) -> None:
    plain = where(map(expression, HOLDS), TYPES)
    assert print_expr(plain.expr(expression(text))) == DECIDED[text]


# Integers as C has them: values with a type, of which those with a sign may overflow.
BITS = {"int": 32, "unsigned int": 32, "long": 64, "unsigned long": 64}
PROMOTED = {"short": "int", "unsigned char": "int", "size_t": "unsigned long"}
RANKS = tuple(BITS)


class Overflow(Exception):
    """C does not say what the value is."""


def fitted(value: int, kind: str) -> tuple[int, str]:
    if kind.startswith("unsigned"):
        return value % 2 ** BITS[kind], kind
    if not -(2 ** (BITS[kind] - 1)) <= value < 2 ** (BITS[kind] - 1):
        raise Overflow
    return value, kind


def computed(expr: Expr, values: Mapping[str, int]) -> tuple[int, str]:
    """Return the value of an integer expression and its type."""
    match expr:
        case Int(value):
            return fitted(value, "int" if abs(value) < 2**31 else "long")
        case Var(name):
            return values[name], PROMOTED.get(TYPES[name], TYPES[name])
        case Negate(operand):
            value, kind = computed(operand, values)
            return fitted(-value, kind)
        case Cast(CType("long"), operand):
            return fitted(computed(operand, values)[0], "long")
        case Select(condition, if_true, if_false):
            chosen = if_true if computed(condition, values)[0] else if_false
            kinds = [PROMOTED.get(kind, kind) for kind in map(typed, (if_true, if_false))]
            return fitted(computed(chosen, values)[0], max(kinds, key=RANKS.index))
        case Binary(op, left, right) if op in CONNECTIVES:
            if bool(computed(left, values)[0]) == (op == "||"):
                return int(op == "||"), "int"
            return int(computed(right, values)[0] != 0), "int"
        case Binary(op, left, right):
            (one, kind), (two, other) = computed(left, values), computed(right, values)
            both = max(kind, other, key=RANKS.index)
            one, two = fitted(one, both)[0], fitted(two, both)[0]
            if op in COMPARISONS:
                return int(RELATIONS[op](one, two)), "int"
            if op in "/%":
                if two == 0:
                    raise Overflow
                return fitted((divide if op == "/" else remainder)(one, two), both)
            made = {"+": one + two, "-": one - two, "*": one * two}[op]
            return fitted(made, both)
    raise AssertionError(expr)


def typed(expr: Expr) -> str:
    """Return the type of an expression, whatever its variables are."""
    found = Plain(TYPES).type_of(expr)
    assert found is not None
    return PROMOTED.get(found.name, found.name)


LEAVES = st.one_of(
    st.sampled_from([Var(name) for name in TYPES if name not in "df"]),
    st.sampled_from([Var(name) for name in ("i", "n", "lda", "incx")]),
    st.integers(-3, 3).map(Int),
    st.sampled_from([2**31 - 1, 1 - 2**31, 2**31, 1]).map(Int),
)


def larger(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    sums = st.builds(Binary, st.sampled_from("++--*"), parts, parts)
    rest = st.builds(
        Binary, st.sampled_from((*"/%", *sorted(COMPARISONS | CONNECTIVES))), parts, parts
    )
    negated = st.builds(Binary, st.just("=="), parts, st.just(Int(0)))
    casts = st.builds(Cast, st.just(LONG), parts)
    choices = st.builds(Select, parts, parts, parts)
    return st.one_of(sums, sums, sums, st.builds(Negate, parts), rest, negated, casts, choices)


EXPRESSIONS = st.recursive(LEAVES, larger, max_leaves=12)


def held_by(kind: str) -> st.SearchStrategy[int]:
    bits = {"short": 16, "unsigned char": 8}.get(kind) or BITS[PROMOTED.get(kind, kind)]
    is_unsigned = kind.startswith("unsigned") or kind == "size_t"
    low = 0 if is_unsigned else -(2 ** (bits - 1))
    high = low + 2**bits - 1
    edges = [e for e in (low, low + 1, -2, -1, 0, 1, 2, high - 1, high) if low <= e <= high]
    return st.one_of(st.sampled_from(edges), st.integers(max(low, -9), 9))


VALUES = st.fixed_dictionaries({n: held_by(t) for n, t in TYPES.items() if n not in "df"})


def same(old: Expr, new: Expr, values: Mapping[str, int]) -> bool:
    try:
        wanted = computed(old, values)
    except Overflow:
        return True
    return computed(new, values) == wanted


@tried(500)
@example(
    expr=Binary("+", Var("L"), Negate(Var("u"))),
    values=dict.fromkeys((name for name in TYPES if name not in "df"), 1),
)
@given(expr=EXPRESSIONS, values=VALUES)
def test_the_value_the_type_and_the_overflows_stay(expr: Expr, values: dict[str, int]) -> None:
    assert same(expr, Plain(TYPES).expr(expr), values)


def sums_of(*names: str) -> st.SearchStrategy[Expr]:
    """Return sums and products of few variables of one type, in which much is to be collected."""
    constants = st.one_of(st.integers(-2, 2), st.sampled_from([2**31 - 1, 1 - 2**31]))
    leaves = st.one_of(st.sampled_from(names).map(Var), constants.map(Int))
    return st.recursive(
        leaves,
        lambda parts: st.one_of(
            st.builds(Binary, st.sampled_from("++---*"), parts, parts), st.builds(Negate, parts)
        ),
        max_leaves=9,
    )


SUMS = st.one_of(sums_of("i", "n", "lda"), sums_of("u", "v"), sums_of("L"), sums_of("s", "n"))


@tried(500)
@given(expr=SUMS, values=VALUES)
def test_so_they_do_of_sums(expr: Expr, values: dict[str, int]) -> None:
    assert same(expr, Plain(TYPES).expr(expr), values)


@tried(500)
@given(expr=EXPRESSIONS, values=VALUES, held=st.lists(EXPRESSIONS, max_size=2))
def test_so_they_do_where_facts_hold(expr: Expr, values: dict[str, int], held: list[Expr]) -> None:
    conditions = [*held, *map(expression, HOLDS[:-1])]
    values |= {"incx": abs(values["incx"]) % 2**31 or 1, "n": abs(values["n"]) % 2**31 or 1}
    values |= {"lda": max(values["lda"], values["n"]), "u": max(values["u"], 3)}
    true = [one for one in conditions if same(one, Int(1), values)]
    try:
        # A test is computed before what it allows.
        true = [one for one in true if computed(one, values)[0]]
    except Overflow:
        assume(False)
    assert same(expr, where(true, TYPES).expr(expr), values)


@example(expr=Binary("-", Negate(Var("i")), Negate(Var("j"))))
@given(expr=EXPRESSIONS)
def test_what_is_plain_stays(expr: Expr) -> None:
    plain = Plain(TYPES)
    assert plain.expr(plain.expr(expr)) == plain.expr(expr)


AGAIN = {
    "d - f >= 0 ? d - f : -(d - f)": ["d - f"],
    "a[i] >= b[i] ? a[i] : b[i]": ["a[i]", "b[i]"],
    "a[i] * (a[i] >= 0. ? a[i] : 0.)": ["a[i]"],
    "m >= (d >= 0. ? d : -d) ? m : (d >= 0. ? d : -d)": ["d >= 0. ? d : -d"],
    "(i < n && a[i] > 0.) ? a[i] : 0.": [],
    "a[i] != a[i] ? 1. : d": ["a[i]"],
    "i < n ? a[i] > 0. ? a[i] : 0. : a[i]": [],
    "a[i] > 0. ? b[a[i]] : 0.": [],
    "a[i] * a[i] + (d > 3. ? a[i] : 0.)": [],
    "d > 0. ? d : 0.": [],
}


@pytest.mark.parametrize("text", AGAIN)
def test_what_is_asked_and_chosen(text: str) -> None:
    assert [print_expr(part) for part in asked_again(expression(text))] == AGAIN[text]


@given(expr=EXPRESSIONS, values=VALUES)
def test_what_is_asked_again_is_always_computed(expr: Expr, values: dict[str, int]) -> None:
    try:
        computed(expr, values)
    except Overflow:
        return
    for part in asked_again(expr):
        computed(part, values)


def test_what_is_chosen_in_subscripts() -> None:
    one = expression("a[(i < n ? i : n) + b[j < 1 ? 1 : j]] + (d > 0. ? a[m < n ? m : n] : 0.)")
    found = [(array, print_expr(choice)) for array, choice in chosen_places(one)]
    assert found == [("b", "j < 1 ? 1 : j"), ("a", "i < n ? i : n")]
