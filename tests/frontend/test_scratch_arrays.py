"""An array is scratch where its function has it for the region alone, and reads it nowhere else."""

from __future__ import annotations

import pytest
from source_text import load_text

HEAD = "#include <stdlib.h>\nvoid f(int n, double *restrict a, const double *restrict b)\n{\n"
REGION = """\
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) t[i] = b[i];
    for (int i = 0; i < n; i++) a[i] = t[n - 1 - i];
    /*@ end @*/
"""
MADE = "double *t = malloc(64 * sizeof(double)); "
# What stands before the region and after it, and whether `t` is scratch.
AROUND = [
    (MADE, "free(t);", True),
    (MADE, "", False),
    ("double t[64];", "", True),
    ("double t[64]; n = sizeof t / sizeof t[0];", "", True),
    (MADE + "if (!t) return;", "free(t);", True),
    (MADE + "if (t == 0) return;", "free(t);", True),
    (MADE + "if (NULL == t || n < 0) return;", "free((void *)t);", True),
    (MADE + "if (t == (double *)1) return;", "free(t);", False),
    (MADE + "if (1 != t) n = 3;", "free(t);", False),
    (MADE + "if (t == a) return;", "free(t);", False),
    (MADE, "a[0] += t[1]; free(t);", False),
    (MADE, "for (int k = 0; k < n; k++) a[k] += *t;", False),
    ("double *t = malloc(64 * sizeof(double)), *u = t;", "free(u);", False),
    ("static double t[64];", "", False),
    ("double *t = a + 3;", "", False),
    ("for (int k = 0; k < 2; k++) { double t[64];", "}", True),
    ("double t[64]; for (int k = 0; k < 2; k++) {", "}", False),
]


@pytest.mark.parametrize(("before", "after", "is_scratch"), AROUND)
def test_what_the_function_does_with_it_decides(before: str, after: str, is_scratch: bool) -> None:
    (region,) = load_text(f"{HEAD}    {before}\n{REGION}    {after}\n}}\n").regions
    assert region.arrays["t"].is_scratch == is_scratch


def test_an_array_that_the_region_declares_is_scratch() -> None:
    declaring = REGION.replace("@*/\n    for", "@*/\n    double t[64];\n    for", 1)
    (region,) = load_text(f"{HEAD}{declaring}}}\n").regions
    assert region.arrays["t"].is_scratch
