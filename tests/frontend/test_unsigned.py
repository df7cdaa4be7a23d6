"""Unsigned and long arithmetic: the nest says what C's types do by themselves."""

from __future__ import annotations

import pytest
from source_text import load_text

from annotune.frontend.kinds import goes_round, literal_type
from annotune.ir.expr import Binary, Int, Var
from annotune.ir.text import print_nest

HEAD = "void f(int n, int k, unsigned u, unsigned long l, double *a, double *b, unsigned *h)\n{\n"

# What `a[i] = …` becomes, i from 0 to n.
VALUES = {
    "k - 1u": "(unsigned int)(k - 1)",
    "i + 1u": "i + 1",
    "k + 1u": "(unsigned int)(k + 1)",
    "(i - 3u) / 2": "(unsigned int)(i - 3) / 2",
    "k / 2u": "(unsigned int)(k) / 2",
    "u - k": "(unsigned int)(u - k)",
    "u * 3 + i": "u * 3 + i",
    "-u": "(unsigned int)(-u)",
    "i * 2654435761u": "(unsigned int)(i * 2654435761)",
    "h[i] + 1": "(unsigned int)(h[i] + 1)",
    "(u << 20) >> 20": "(unsigned int)(u * 1048576) / 1048576",
    "u < 3u ? -1 : 3u": "u < 3 ? (unsigned int)(-1) : 3",
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


# What `a[i] = b[…]` becomes: numbers, but for what is meant to go round.
SUBSCRIPTS = {
    "i + 1u": "i + 1",
    "u - 1": "u - 1",
    "(u + 15u) / 16u": "(u + 15) / 16",
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
