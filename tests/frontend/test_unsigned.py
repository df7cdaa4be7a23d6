"""Unsigned and long arithmetic: the nest says what C's types do by themselves."""

from __future__ import annotations

import pytest
from source_text import load_text
from support.nest_text import print_nest

from annotune.frontend.types.kinds import goes_round, literal_type
from annotune.ir.expr import Binary, Int, Var

HEAD = "void f(int n, int k, unsigned u, unsigned long l, double *a, double *b, unsigned *h)\n{\n"

# What `a[i] = …` becomes, i from 0 to n.
VALUES = {
    "k - 1u": "(unsigned int)(k) - 1",
    "i + 1u": "i + 1",
    "k + 1u": "(unsigned int)(k) + 1",
    "(i - 3u) / 2": "((unsigned int)(i) - 3) / 2",
    "k / 2u": "(unsigned int)(k) / 2",
    "u - k": "(unsigned int)(u - k)",
    "u * 3 + i": "(unsigned int)(u * 3 + i)",
    "-u": "(unsigned int)(-u)",
    "i * 2654435761u": "(unsigned int)(i * 2654435761)",
    "h[i] + 1": "(unsigned int)(h[i] + 1)",
    "(u << 20) >> 20": "(unsigned int)(u * 1048576) / 1048576",
    "u < 3u ? -1 : 3u": "u < 3 ? (unsigned int)(-1) : 3",
    # A choice has the type of both its sides (C11 6.5.15), a comparison is an int (6.5.8).
    "(u < 3u ? k : l) + k": "(unsigned long)((u < 3 ? (unsigned long)(k) : l) + k)",
    "(u < 3u ? 3 : l) + k": "(unsigned long)((u < 3 ? 3 : l) + k)",
    "-l + k": "(unsigned long)((unsigned long)(-l) + k)",
    "(k < 3) + 1u": "(k < 3) + 1",
    "(k < 3) - 2u": "(unsigned int)(k < 3) - 2",
    "k * 10L": "k * (long)(10)",
    "l * 10L": "l * 10",
    "x * 10L": "x * 10",
    "l - 1": "(unsigned long)(l - 1)",
    "k < 3u": "(unsigned int)(k) < 3",
    "i < 3u": "i < 3",
}


def stored(value: str) -> str:
    """Return what `a[i] = value` becomes."""
    text = HEAD + "double x = n;\n/*@ begin PerfTuning () @*/\n"
    text += f"for (int i = 0; i < n; i++) a[i] = {value};\n/*@ end @*/ }}\n"
    (only,) = load_text(text).regions
    head, _, found = print_nest(only.nest).partition("  S0: a[i] = ")
    assert head == "for i in 0:n\n"
    return found.removesuffix("\n")


@pytest.mark.parametrize("value", VALUES)
def test_values(value: str) -> None:
    assert stored(value) == VALUES[value]


# What `a[i] = b[…]` becomes: numbers, but for what may go round before a quotient, a comparison
# or a conversion, and for what is meant to.
SUBSCRIPTS = {
    "i + 1u": "i + 1",
    "u - 1": "u - 1",
    "(u + 15u) / 16u": "(unsigned int)(u + 15) / 16",
    "(i + 15u) / 16u": "(i + 15) / 16",
    "(u * 3 + i) % 7": "(unsigned int)(u * 3 + i) % 7",
    "(i * 4000u) % 7": "(unsigned int)(i) * 4000 % 7",
    "k / 2u": "(unsigned int)(k) / 2",
    "(k - 1u) >> 1": "((unsigned int)(k) - 1) / 2",
    "(long)(u - 1) / 2": "(long)((unsigned int)(u - 1)) / 2",
    "(unsigned)l % 7": "(unsigned int)(l) % 7",
    "(int)((k - 1u) * 0.5)": "(int)(((unsigned int)(k) - 1) * 0.5)",
    "u - 1 < 3u": "(unsigned int)(u - 1) < 3",
    "u - 1 < 3u ? u - 1 : 3u": "(unsigned int)(u - 1) < 3 ? (unsigned int)(u - 1) : 3",
    "k < 3u ? k : 3u": "(unsigned int)(k) < 3 ? (unsigned int)(k) : 3",
    "(l - 1) / 2": "(unsigned long)(l - 1) / 2",
    "i / 2u": "i / 2",
    "i * 4294967295u + 64": "(unsigned int)(i * 4294967295 + 64)",
    "(i * 2654435761u) % 64": "(unsigned int)(i * 2654435761) % 64",
    "(i * 2654435761u) >> 26": "(unsigned int)(i * 2654435761) / 67108864",
}


@pytest.mark.parametrize("index", SUBSCRIPTS)
def test_subscripts(index: str) -> None:
    assert stored(f"b[{index}]") == f"b[{SUBSCRIPTS[index]}]"


def test_a_sum_that_goes_round_stays_a_sum() -> None:
    text = HEAD + "unsigned s = 3;\n/*@ begin PerfTuning () @*/\n"
    text += "for (int i = 0; i < n; i++) { s = s - h[i]; }\n/*@ end @*/ a[0] = s; }\n"
    (only,) = load_text(text).regions
    assert print_nest(only.nest) == "for i in 0:n\n  S0: s = s - h[i]\n"


def test_an_integer_that_goes_round_is_no_formula() -> None:
    text = HEAD + "/*@ begin PerfTuning () @*/\nfor (int i = 0; i < n; i++) "
    text += "{ unsigned w = i * 2654435761u; a[i] = b[w % 64]; }\n/*@ end @*/ }\n"
    (only,) = load_text(text).regions
    assert "a[i] = b[w % 64]" in print_nest(only.nest)


# Statements of a loop over i, and what `b[…]` becomes in it: the values that C's types hold.
THROUGH_INTEGERS = {
    "unsigned w = 4000u * i; a[i] = b[w % 7];": "(unsigned int)((unsigned int)(4000) * i) % 7",
    "unsigned w = i; a[i] = b[w * 4000 % 7];": "(unsigned int)(i) * 4000 % 7",
    "unsigned w = i; a[i] = b[w / 2];": "i / 2",
    "unsigned w = l; a[i] = b[w % 7];": "(unsigned int)(l) % 7",
    "int w = u; a[i] = b[w / 2];": "(int)(u) / 2",
    "long w = u - 1; a[i] = b[w % 7];": "(unsigned int)(u - 1) % 7",
    "unsigned w = k; w /= 2; a[i] = b[w];": "(unsigned int)(k) / 2",
    "unsigned w = k; w >>= 1; a[i] = b[w];": "(unsigned int)(k) / 2",
    "int w = 64 + 4294967295u * i; a[i] = b[w];": "w",
}


@pytest.mark.parametrize("statements", THROUGH_INTEGERS)
def test_subscripts_through_integers(statements: str) -> None:
    text = HEAD + "/*@ begin PerfTuning () @*/\nfor (int i = 0; i < n; i++) { "
    (only,) = load_text(text + statements + " }\n/*@ end @*/ }\n").regions
    assert f"a[i] = b[{THROUGH_INTEGERS[statements]}]\n" in print_nest(only.nest)


# Integers that a loop moves, and whether a formula gives their values in it.
MOVED = {
    "int w = 0;; w += 2": True,
    "long w = 0;; w += u": True,
    "long w = 0;; w += u - 1": False,
    "unsigned w = 9;; w -= 1": True,
    "unsigned w = 9;; w += 4294967295u": False,
    "int w = 9;; w += u": False,
    "unsigned long w = u - 1;; w += 2": True,
}


@pytest.mark.parametrize("moved", MOVED)
def test_integers_that_a_loop_moves(moved: str) -> None:
    start, step = moved.split(";; ")
    text = HEAD + f"{start};\n/*@ begin PerfTuning () @*/\nfor (int i = 0; i < n; i++) "
    (only,) = load_text(text + f"{{ a[i] = b[w % 7]; {step}; }}\n/*@ end @*/ }}\n").regions
    assert ("b[w % 7]" not in print_nest(only.nest)) == MOVED[moved]


def test_a_definition_before_the_region_keeps_its_type() -> None:
    text = HEAD + "const unsigned w = u * 3;\n/*@ begin PerfTuning () @*/\n"
    text += "for (int i = 0; i < n; i++) a[i] = b[w % 7] + b[w];\n/*@ end @*/ }\n"
    (only,) = load_text(text).regions
    assert "a[i] = b[(unsigned int)(u * 3) % 7] + b[u * 3]" in print_nest(only.nest)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1", "int"),
        ("2147483647", "int"),
        ("2147483648", "long"),
        ("0x7fffffff", "int"),
        ("0x80000000", "unsigned int"),
        ("020000000000", "unsigned int"),
        ("0x100000000", "long"),
        ("0xffffffffffffffff", "unsigned long"),
        ("1u", "unsigned int"),
        ("4294967296U", "unsigned long"),
        ("1l", "long"),
        ("1LL", "long"),
        ("1ul", "unsigned long"),
        ("0", "int"),
    ],
)
def test_types_of_constants(text: str, kind: str) -> None:
    value = int(text.rstrip("uUlL") or "0", 16 if "x" in text else 8 if text[0] == "0" else 10)
    assert literal_type(text, value) == kind


def test_only_large_factors_go_round() -> None:
    assert goes_round(Binary("+", Binary("*", Int(2654435761), Var("i")), Int(1)))
    assert not goes_round(Binary("*", Int(1024), Var("i")))
