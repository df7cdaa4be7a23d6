"""Which arrays are known to be a region's alone, and not copied; any doubt keeps the copy."""

from __future__ import annotations

import re
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
    (row,) = re.findall(rf"^ +{{.*, {array}_bytes, (\w+), (\w+)}},$", device, re.MULTILINE)
    (data,) = (part for part in acc.replace("\\\n", " ").splitlines() if "acc data" in part)
    clause = next(c for c in data.split(")") if f"{array}[0:" in c).split("(")[0].split()[-1]
    return row.count("true"), clause


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


@pytest.mark.alike(2)
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


@pytest.mark.alike(2)
@pytest.mark.parametrize("case", WRONG)
def test_any_doubt_keeps_the_copy(case: str, tmp_path: Path) -> None:
    old, new = WRONG[case]
    assert old in TEXT
    count, clause = copies(TEXT.replace(old, new), tmp_path)
    assert count > 0
    assert clause in ("copy", "copyout")


DECLARED = TEXT.replace("double *t = malloc(n * sizeof *t);", "double t[n];/*here*/")
for gone in ("    if (t == NULL)\n        exit(1);\n", "    free(t);\n"):
    DECLARED = DECLARED.replace(gone, "")

RIGHT_OF_DECLARED = {
    "as it is": ("/*here*/", ""),
    "a number of elements": ("double t[n]", "double t[1000]"),
    "auto": ("double t[n]", "auto double t[n]"),
    "register": ("double t[n]", "register double t[n]"),
    "beside others": ("double t[n]", "double s[n], t[n], *p, r"),
    "behind a function": ("double t[n]", "double g(double t_, int n), t[n]"),
    "its size": ("/*after*/", "if (sizeof(t) > 100) y[0] += 1.0;"),
    "a jump forward": ("/*after*/", "goto over; over: y[0] += 1.0;"),
    "a jump back before the region": ("/*before*/", "up: if (y[0] < 0) { y[0] = 1.0; goto up; }"),
    "a jump back behind it": ("/*after*/", "up: if (y[0] < 0) { y[0] = 1.0; goto up; }"),
    "a loop before": ("/*before*/", "for (int k = 0; k < n; k++) y[k] += x[k];"),
    "a branch": ("/*before*/", "if (n > 1 << 20) y[0] = x[0];"),
    "a block": ("double t[n];", "{ double s[n]; s[0] = 0.0; } double t[n];"),
}


@pytest.mark.alike(2)
@pytest.mark.parametrize("case", RIGHT_OF_DECLARED)
def test_what_the_function_declares_for_the_region_is_not_copied(case: str, tmp_path: Path) -> None:
    old, new = RIGHT_OF_DECLARED[case]
    assert old in DECLARED
    assert copies(DECLARED.replace(old, new), tmp_path) == (0, "create")


WRONG_OF_DECLARED = {
    "read after": ("/*after*/", 'printf("%g", t[0]);'),
    "written after": ("/*after*/", "t[0] = 1.0;"),
    "given away after": ("/*after*/", "fwrite(t, 8, n, stdout);"),
    "given away before": ("/*before*/", "setbuf(stdout, (char *)t);"),
    "another pointer before": ("/*before*/", "double *u = t;"),
    "its address before": ("/*before*/", "double (*u)[n] = &t;"),
    "an element's address": ("/*before*/", "double *u = &t[0];"),
    "static": ("double t[n]", "static double t[1000]"),
    "extern": ("double t[n]", "extern double t[1000]"),
    "of the file": ("double t[n];/*here*/", ""),
    "of the file beside one of a block": ("double t[n];/*here*/", "{ double t[3]; }"),
    "of the file beside a member": ("double t[n];/*here*/", "struct { double t[3]; } s;"),
    "of the file beside a parameter": ("double t[n];/*here*/", "void g(double t[3]);"),
    "a parameter": ("const double *restrict x)", "const double *restrict x, double t[n])"),
    "declared twice": ("/*after*/", "{ double t[3] = { 1.0 }; y[0] += t[0]; }"),
    "a macro that reads it": ("/*file*/", '#define SHOW printf("%g", t[0])'),
    "a name pasted": ("/*file*/", "#define PASTED(a) a##_"),
    "left out by #if": ("/*after*/", '#ifdef DEBUG\n    printf("%g", t[0]);\n#endif\n'),
    "a test of its address": ("/*after*/", "if (t) y[0] += 1.0;"),
    "read before it is written": ("t[i] = 2.0 * x[i];", "t[i] += 2.0 * x[i];"),
    "an unknown header": ("/*file*/", "#include <pool.h>"),
    "a jump back": ("/*before*/", "again:;"),
    "a loop that #if leaves out": ("/*before*/", "\n#ifdef MANY\nwhile (y[0] > 0)\n#endif\n{"),
}


@pytest.mark.alike(2)
@pytest.mark.parametrize("case", WRONG_OF_DECLARED)
def test_any_doubt_keeps_the_copy_of_what_is_declared(case: str, tmp_path: Path) -> None:
    old, new = WRONG_OF_DECLARED[case]
    text = DECLARED.replace(old, new)
    assert text != DECLARED
    if "of the file" in case:
        text = text.replace("/*file*/", "double t[1000];")
    if case == "a parameter":
        text = text.replace("    double t[n];/*here*/", "")
    if case == "a jump back":
        text = text.replace("/*after*/", "if (y[0] > 0.0) goto again;")
    if "leaves out" in case:
        text = text.replace("/*after*/", "}")
    count, clause = copies(text, tmp_path)
    assert count > 0
    assert clause in ("copy", "copyout")


def test_rows_of_a_typedef_may_be_given_away(tmp_path: Path) -> None:
    text = DECLARED.replace("/*file*/", "typedef double row[4];").replace("double t[n]", "row t[n]")
    text = text.replace("t[i] =", "t[i][1] =").replace("t[i] * t[n - 1 - i]", "t[i][1]")
    source = tmp_path / "a.c"
    source.write_text(text)
    (region,) = pipeline.check(pipeline.Settings(source)).regions
    assert region.analysis is not None
    assert not region.analysis.stays_on_device("t")


LOOPS = {
    "for": ("for (int k = 0; k < 3; k++) {", "}"),
    "while": ("while (y[0] < 3.0) {", "}"),
    "do": ("do {", "} while (y[0] < 3.0);"),
    "a block in a loop": ("for (int k = 0; k < 3; k++) { if (n) {", "} }"),
}


@pytest.mark.alike(2)
@pytest.mark.parametrize("case", LOOPS)
@pytest.mark.parametrize("kind", [TEXT, DECLARED], ids=["allocated", "declared"])
def test_the_region_reads_in_a_loop_what_it_has_left(kind: str, case: str, tmp_path: Path) -> None:
    head, end = LOOPS[case]
    text = kind.replace("    /*@ begin", f"    {head}\n    /*@ begin")
    count, clause = copies(text.replace("    /*after*/", f"    {end}"), tmp_path)
    # Emitted code may run the nest as written in one iteration, and kernels in another.
    assert (count, clause) == (2, "copyout")
    own = kind.replace("    double", f"    {head}\n    double", 1)
    own = own.rpartition("}")[0] + f"    {end}\n}}\n"
    assert copies(own, tmp_path) == (0, "create")


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
