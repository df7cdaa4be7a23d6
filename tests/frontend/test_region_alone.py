"""Which arrays are known to be a region's alone, and not copied; any doubt keeps the copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune import pipeline
from annotune.codegen.target import load_target

TEXT = """#include <stdio.h>
#include <stdlib.h>
/*file*/
void twice(int n, double *restrict y, const double *restrict x)
{
    double *t = malloc(n * sizeof *t);/*before*/
    if (t == NULL)
        exit(1);
    /*@ begin PerfTuning ( def input_params { param n = 1000; } ) @*/
    for (int i = 0; i < n; i++)
        t[i] = 2.0 * x[i];/*first*/
    for (int i = 0; i < n; i++)
        y[i] += t[i] * t[n - 1 - i];/*inside*/
    /*@ end @*/
    /*after*/
    free(t);
}
"""


def emitted(text: str, tmp_path: Path, name: str = "a.c") -> dict[str, str]:
    source = tmp_path / name
    source.write_text(text)
    targets = [load_target(one) for one in ("cuda", "openacc", "openmp")]
    return dict(pipeline.emit(pipeline.Settings(source), targets).files)


def copies(text: str, tmp_path: Path, array: str = "t") -> tuple[int, str]:
    """Return how often CUDA copies an array to the device or back, and OpenACC's clause for it."""
    files = emitted(text, tmp_path)
    device = next(text for end, text in files.items() if end.endswith(".cu"))
    acc = next(text for end, text in files.items() if end.endswith("_acc.c"))
    count = sum("cudaMemcpy" in line and f"d_{array}," in line for line in device.splitlines())
    (data,) = (part for part in acc.replace("\\\n", " ").splitlines() if "acc data" in part)
    clause = next(c for c in data.split(")") if f"{array}[0:" in c).split("(")[0].split()[-1]
    assert f"cudaMalloc((void **)&d_{array}" in device
    return count, clause


def test_what_the_function_allocates_for_the_region_is_not_copied(tmp_path: Path) -> None:
    assert copies(TEXT, tmp_path) == (0, "create")


def test_the_host_keeps_the_array_for_the_nest_as_written(tmp_path: Path) -> None:
    files = emitted(TEXT, tmp_path)
    for end, text in files.items():
        if end.endswith(".c"):
            assert "double *t = malloc(n * sizeof *t);" in text
            assert "free(t);" in text
    device = next(text for end, text in files.items() if end.endswith(".cu"))
    assert "twice_1_original(n, t, x, y);" in device


RIGHT = {
    "no test": ("if (t == NULL)\n        exit(1);", ""),
    "a bare test": ("if (t == NULL)", "if (!t)"),
    "a test among others": ("if (t == NULL)", "if (n < 0 || NULL == t || !t)"),
    "a cast": ("malloc(", "(double *)malloc("),
    "calloc": ("malloc(n * sizeof *t)", "calloc(n, sizeof(double))"),
    "freed by a cast pointer": ("free(t)", "free((void *)t)"),
    "a macro of another name": ("/*file*/", "#define LIMIT 3"),
    "a comment": ("/*after*/", "/* t[0] is read here no more */"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_forms_of_allocation(case: str, tmp_path: Path) -> None:
    assert copies(TEXT.replace(*RIGHT[case]), tmp_path) == (0, "create")


WRONG = {
    "read after": ("/*after*/", 'printf("%g", t[0]);'),
    "read after under a condition": ("/*after*/", "if (n > 3) y[0] = t[3];"),
    "given away after": ("/*after*/", "fwrite(t, 8, n, stdout);"),
    "given away before": ("/*before*/", "setbuf(stdout, (char *)t);"),
    "another pointer before": ("/*before*/", "double *u = t;"),
    "another pointer set": ("/*before*/", "double *u; u = t + 1;"),
    "its address before": ("/*before*/", "double **u = &t;"),
    "an element's address": ("/*before*/", "double *u = &t[0];"),
    "returned": ("free(t);", "y[0] += (t != x);"),
    "never freed": ("free(t);", ""),
    "allocated anew": ("/*before*/", "t = realloc(t, 2 * n * sizeof *t);"),
    "not allocated here": ("malloc(n * sizeof *t)", "(double *)x + n"),
    "an own malloc": ("/*file*/", "void *malloc(size_t n) { static char a[1 << 20]; return a; }"),
    "a macro for malloc": ("/*file*/", "#define malloc(n) pool(n)\nvoid *pool(size_t n);"),
    "a macro that reads it": ("/*file*/", '#define SHOW printf("%g", t[0])'),
    "a name pasted": ("/*file*/", "#define PASTED(a) a##_"),
    "left out by #if": ("/*after*/", '#ifdef DEBUG\n    printf("%g", t[0]);\n#endif\n'),
    "declared twice": ("/*after*/", "{ double *t = y; t[0] = 1.0; }"),
    "static": ("double *t = malloc(n * sizeof *t)", "static double *t; t = malloc(n * sizeof *t)"),
    "read before it is written": ("t[i] = 2.0 * x[i];", "t[i] += 2.0 * x[i];"),
    "an unknown header": ("/*file*/", "#include <pool.h>"),
}


@pytest.mark.parametrize("case", WRONG)
def test_any_doubt_keeps_the_copy(case: str, tmp_path: Path) -> None:
    old, new = WRONG[case]
    assert old in TEXT
    count, clause = copies(TEXT.replace(old, new), tmp_path)
    assert count > 0
    assert clause in ("copy", "copyout")


def test_the_region_of_a_loop_of_the_function(tmp_path: Path) -> None:
    text = TEXT.replace("    /*@ begin", "    for (int k = 0; k < 3; k++) {\n    /*@ begin")
    text = text.replace("    /*after*/", "    }")
    # What an iteration leaves the next one overwrites before it reads.
    assert copies(text, tmp_path) == (0, "create")


def test_another_region_of_the_function_reads_it(tmp_path: Path) -> None:
    nest = TEXT[TEXT.index("    /*@ begin") : TEXT.index("    /*after*/")]
    other = nest.replace("t[i] = 2.0 * x[i];/*first*/", "y[i] = t[i];")
    source = tmp_path / "a.c"
    source.write_text(TEXT.replace("    /*after*/\n", other))
    report = pipeline.check(pipeline.Settings(source))
    found = [one.analysis.stays_on_device("t") for one in report.regions if one.analysis]
    assert found == [False, False]


def test_rows_need_all_their_subscripts(tmp_path: Path) -> None:
    text = TEXT.replace(
        "double *t = malloc(n * sizeof *t)", "double (*t)[4] = malloc(n * sizeof *t)"
    )
    text = text.replace("t[i] =", "t[i][1] =").replace("t[i] * t[n - 1 - i]", "t[i][1]")
    source = tmp_path / "a.c"
    source.write_text(text)
    (region,) = pipeline.check(pipeline.Settings(source)).regions
    assert region.analysis is not None
    assert region.analysis.stays_on_device("t")
    source.write_text(text.replace("/*after*/", "y[0] = **t;"))
    (region,) = pipeline.check(pipeline.Settings(source)).regions
    assert region.analysis is not None
    assert not region.analysis.stays_on_device("t")
