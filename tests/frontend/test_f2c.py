"""What f2c makes of Fortran's expressions is the expression again."""

from __future__ import annotations

import pytest
from source_text import CLOSE, OPEN, load_text, refusals
from support.nest_text import print_nest
from support.regions import find_annotations

from annotune.frontend.load import load_sound

HEAD = """#include "f2c.h"
int f_(integer *n, doublereal *x, doublereal *y, doublereal *z__, doublereal *s, integer *k)
{
    integer i__1, i__2;
    doublereal d__1, d__2, d__3;
    real r__1;
    integer i__;
    --z__; --y; --x; --k;
    i__1 = *n;
"""
ABS = "x[i__] >= 0 ? x[i__] : -x[i__]"
# What is in the loop, and what is left of it.
BODIES = {
    "z__[i__] = (d__1 = x[i__], abs(d__1));": f"S0: z__[i__] = {ABS}",
    "d__1 = x[i__], d__2 = y[i__]; z__[i__] = max(d__1,d__2);": (
        "S0: z__[i__] = x[i__] >= y[i__] ? x[i__] : y[i__]"
    ),
    "d__2 = *s, d__3 = (d__1 = x[i__], abs(d__1)); *s = max(d__2,d__3);": (
        f"S0: s[0] = s[0] >= ({ABS}) ? s[0] : {ABS}"
    ),
    "*s += (d__1 = x[i__], abs(d__1));": f"S0: s[0] += {ABS}",
    "d__1 = x[i__]; z__[i__] = d__1 * d__1;": "S0: z__[i__] = x[i__] * x[i__]",
    "r__1 = x[i__]; z__[i__] = r__1 * 2;": "S0: z__[i__] = (float)(x[i__]) * 2",
    "if ((d__1 = x[i__], abs(d__1)) > *s) z__[i__] = 1.;": (f"S0: z__[i__] = 1. if ({ABS}) > s[0]"),
    # One read is no copy, so none is one.
    "d__1 = x[i__]; x[i__] = 2.; z__[i__] = d__1;": (
        "S0: d__1 = x[i__]\n  S1: x[i__] = 2.\n  S2: z__[i__] = d__1"
    ),
    "if (*s > 1.) d__1 = x[i__]; z__[i__] = d__1;": (
        "S0: d__1 = x[i__] if s[0] > 1.\n  S1: z__[i__] = d__1"
    ),
}


@pytest.mark.parametrize("body", BODIES)
def test_temporaries_are_what_they_stand_for(body: str) -> None:
    loop = f"    for (i__ = 1; i__ <= i__1; ++i__) {{ {body} }}\n"
    (found,) = load_text(f"{HEAD}    {OPEN}\n{loop}    {CLOSE}\n    return 0;\n}}\n").regions
    inner = print_nest(found.nest).partition("\n")[2].strip()
    assert inner == BODIES[body]
    if "d__" in body and "d__" not in inner:
        # The user's own text still sets it.
        assert "double d__1;" in found.text.declarations
        assert "d__1" in found.text.formulas


@pytest.mark.parametrize("folder", ["", "nowhere/"])
def test_integers_in_memory_are_as_long_as_the_header_says(folder: str) -> None:
    head = HEAD.replace("f2c.h", f"{folder}f2c.h")
    loop = "    for (i__ = 1; i__ <= i__1; ++i__) { k[i__] = x[i__]; }\n"
    text = f"{head}    {OPEN}\n{loop}    {CLOSE}\n    return 0;\n}}\n"
    loaded = load_sound("t.c", text, find_annotations(text, "t.c"))
    (found,) = loaded.source.regions
    assert found.arrays["k"].element == "int"
    told = [p.code for p in loaded.problems if "f2c.h" in p.message]
    assert told == (["AT119"] if folder else told)


def test_the_users_own_header_says_how_long_integers_are() -> None:
    head = HEAD.replace('#include "f2c.h"', "typedef long integer; typedef double doublereal;")
    head = head.replace("real r__1;", "")
    loop = "    for (i__ = 1; i__ <= i__1; ++i__) { k[i__] = x[i__]; }\n"
    (found,) = load_text(f"{head}    {OPEN}\n{loop}    {CLOSE}\n    return 0;\n}}\n").regions
    assert found.arrays["k"].element == "long"


VIEWS = """#include "f2c.h"
union {{
    struct {{ doublereal u[100], v[100]; }} _1;
    struct {{ doublereal u[200]; }} _2;
}} fld_;
#define fld_1 (fld_._1)
#define fld_2 (fld_._2)
int f_(integer *n, doublereal *x)
{{
    integer i__;
    {before}
    {open}
    for (i__ = 0; i__ < 100; ++i__) {{ {body} }}
    {close}
    return 0;
}}
"""


@pytest.mark.parametrize(
    ("body", "before", "codes"),
    [
        ("fld_1.u[i__] += fld_1.v[i__] * x[i__];", "", set()),
        ("fld_2.u[i__] = x[i__];", "", set()),
        ("fld_1.u[i__] = fld_2.u[i__ + 1];", "", {"AT124"}),
        ("fld_1.u[i__] = x[i__];", "fld_2.u[3] = 1.;", {"AT124"}),
        ("fld_1.u[i__] = x[i__];", "g_(&fld_);", {"AT124"}),
    ],
)
def test_a_common_block_is_one_of_its_views(body: str, before: str, codes: set[str]) -> None:
    text = VIEWS.format(body=body, before=before, open=OPEN, close=CLOSE)
    assert {d.code for d in refusals(text)} == codes
