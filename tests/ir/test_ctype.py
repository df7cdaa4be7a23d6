"""C types: how they convert, held against what gcc makes of each pair of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from support.gcc_types import OWN, told_by_gcc

from annotune.ir.ctype import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    SIZE,
    UNSIGNED_LONG,
    CType,
    common,
    keeps_values,
    named,
    pointer_to,
    promoted,
)
from annotune.ir.expr import Call, Cast, Expr, Int, Var, print_expr, substitute


def test_the_type_of_an_operation_is_gccs(tmp_path: Path) -> None:
    pairs = list(product(OWN, OWN))
    lines = [f"    puts(NAME(({one})1 + ({other})1));" for one, other in pairs]
    found = told_by_gcc(lines, tmp_path)
    assert [common(one, other).name for one, other in pairs] == found


def test_widths_signs_and_promotions_are_gccs(tmp_path: Path) -> None:
    whole = [one for one in OWN if one.is_integer]
    lines = [f'    printf("%s %d\\n", NAME(+({one})1), ({one})-1 < 0);' for one in whole]
    # A _Bool has one bit of value in a whole byte.
    lines += [f'    printf("%zu\\n", sizeof({one}));' for one in OWN]
    found = told_by_gcc(lines, tmp_path)
    signs = [f"{promoted(one)} {int(one.is_signed)}" for one in whole]
    sizes = [str(max(1, one.bits // 8 * (1 if one.part == one else 2))) for one in OWN]
    assert found == signs + sizes


def test_a_type_that_keeps_values_returns_the_ends_of_the_other(tmp_path: Path) -> None:
    pairs = [
        (one, other)
        for one, other in product(OWN, OWN)
        if one.limits is not None and other.part == other and "char" not in (one.name, other.name)
    ]
    lines = []
    for one, other in pairs:
        assert one.limits is not None
        low, high = one.limits
        ends = (f"(-{-low - 1}{'' if low == 0 else 'L'} - 1)" if low else "0", f"{high}UL")
        kept = [f"(({one})({other})({one}){end} == ({one}){end})" for end in ends]
        # -1 as a large number comes back as -1: it was another value in between.
        same = [f"((({other})({one}){end} < 0) == (({one}){end} < 0))" for end in ends]
        lines.append(f'    printf("%d\\n", {" && ".join(kept + same)});')
    found = told_by_gcc(lines, tmp_path)
    for (one, other), kept in zip(pairs, found, strict=True):
        if keeps_values(one, other):
            assert kept == "1", (one.name, other.name)
        elif other.is_integer:
            assert kept == "0", (one.name, other.name)


def test_a_real_keeps_integers_of_fewer_bits_than_it_has() -> None:
    assert keeps_values(INT, DOUBLE)
    assert keeps_values(named("short"), FLOAT)
    assert not keeps_values(INT, FLOAT)
    assert not keeps_values(LONG, DOUBLE)
    assert not keeps_values(DOUBLE, LONG)


def test_names_tell_types_apart_that_are_alike() -> None:
    assert SIZE != UNSIGNED_LONG
    assert SIZE.limits == UNSIGNED_LONG.limits
    assert pointer_to("const char").name == "const char *"


@pytest.mark.parametrize("make", [lambda: Var("(long)n"), lambda: Call("(long)", (Var("n"),))])
def test_no_name_holds_a_conversion(make: Callable[[], Expr]) -> None:
    with pytest.raises(AssertionError, match="is no name"):
        make()


def test_a_cast_of_a_name_may_stand_without_parentheses() -> None:
    assert print_expr(Cast(LONG, Var("n"))) == "(long)(n)"
    bare = Cast(LONG, Var("n"), is_bare=True)
    assert print_expr(bare) == "(long)n"
    # What takes the place of the name has them again.
    assert print_expr(substitute(bare, {"n": Int(-3)})) == "(long)(-3)"


def test_an_unknown_name_is_no_type() -> None:
    with pytest.raises(KeyError):
        named("struct point")
    assert isinstance(named("int"), CType)
