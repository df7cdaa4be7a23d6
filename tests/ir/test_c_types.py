"""Whether two names may stand for one place: pointers and objects, restrict, and types."""

from __future__ import annotations

from itertools import product

import pytest
from support.each import check_each

from annotune.ir.c_types import StoredName, may_access, may_share

# Two types, and whether C lets one object be accessed in both.
TYPES = {
    ("double", "double"): True,
    ("int", "unsigned int"): True,
    ("unsigned long", "long"): True,
    ("short", "unsigned short"): True,
    ("char", "double"): True,
    ("unsigned char", "long"): True,
    ("signed char", "void *"): True,
    ("double complex", "double"): True,
    ("float complex", "float"): True,
    ("const int", "int"): True,
    ("int", "long"): False,
    ("long", "long long"): False,
    ("float", "double"): False,
    ("double complex", "float"): False,
    ("int", "float"): False,
    ("double", "void *"): False,
    ("_Bool", "int"): False,
}
# Pointers or objects, whether one is restrict, and whether they may share memory in types that
# C lets share, and in others.
DECLARED = [
    (True, True, False, True, True),
    (True, True, True, False, False),
    (True, False, False, True, False),
    (True, False, True, False, False),
    (False, False, False, False, False),
]


@pytest.mark.parametrize("types", TYPES, ids=" and ".join)
def test_types(types: tuple[str, str]) -> None:
    assert may_access(*types) == may_access(*reversed(types)) == TYPES[types]


def test_declarations() -> None:
    def check(case: tuple[tuple[str, str], tuple[bool, bool, bool, bool, bool]]) -> None:
        types, (one, other, restrict, alike, unlike) = case
        first, second = StoredName(types[0], one, restrict), StoredName(types[1], other)
        expected = alike if TYPES[types] else unlike
        assert may_share(first, second) == may_share(second, first) == expected

    check_each(product(TYPES, DECLARED), check)
