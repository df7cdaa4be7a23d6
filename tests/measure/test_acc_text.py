"""OpenACC as OpenMP: the same sharing, the same lines, or a refusal."""

from __future__ import annotations

import pytest
from support.acc_as_openmp import as_openmp

from annotune.measure.directives import (
    UnsupportedAcc,
    c_tokens,
    names_from_outside,
    without_routines,
)

CASES = {
    "parallel loop gang": "parallel for",
    "parallel loop gang collapse(2) private(t, u) reduction(+:s) num_gangs(4*(n+1)) "
    "vector_length(128) copyin(a[0:n*n]) copy(b[:n]) present(c)": "parallel for collapse(2) "
    "private(t, u) reduction(+:s)",
    "parallel loop gang, vector, reduction(max: s)": "parallel for reduction(max: s)",
    "loop vector independent": "parallel for",
    "loop worker collapse( 3 ) reduction(+:x,y)": "parallel for collapse(3) reduction(+:x,y)",
    "parallel  loop gang(static:1) tile(4, 4) async(1) if(n > 0)": "parallel for collapse(2) "
    "if(n > 0)",
    "parallel loop private (t) // why": "parallel for private(t)",
    "atomic update": "atomic update",
}


@pytest.mark.parametrize("acc", CASES)
def test_a_directive_keeps_its_data_sharing(acc: str) -> None:
    assert as_openmp(f"  #pragma acc {acc}\nx;\n") == f"  #pragma omp {CASES[acc]}\nx;\n"


@pytest.mark.parametrize(
    "acc",
    [
        "loop seq",
        "loop seq reduction(+:s)",
        "data copyin(a[0:n]) copyout(b)",
        "enter data create(a)",
        "exit data delete(a)",
        "update host(a[0:n])",
        "kernels",
        "kernels loop independent",
        "wait(1)",
    ],
)
def test_what_moves_data_or_runs_in_sequence_leaves_an_empty_line(acc: str) -> None:
    assert as_openmp(f"a;\n #pragma acc {acc}\nb;\n") == "a;\n\nb;\n"


def test_a_continued_directive_keeps_its_lines() -> None:
    text = (
        "#pragma acc parallel loop gang \\\n    copyin(a[0:n]) \\\n    private(t)\nfor (;;) f();\n"
    )
    assert as_openmp(text) == "#pragma omp parallel for private(t)\n\n\nfor (;;) f();\n"


def test_line_endings_of_dos_survive() -> None:
    text = "#pragma acc parallel loop \\\r\n gang\r\nx;\r\n"
    assert as_openmp(text) == "#pragma omp parallel for\n\r\nx;\r\n"


def test_comments_strings_and_other_pragmas_are_left_alone() -> None:
    text = "/*\n#pragma acc no\n*/\n// \\\n#pragma acc no\n#pragma omp simd\n"
    text += '"#pragma acc x";\n'
    assert as_openmp(text) == text


@pytest.mark.parametrize(
    ("acc", "named"),
    [
        ("parallel loop gang frobnicate(3)", "frobnicate(3)"),
        ("declare create(x)", "declare create(x)"),
        ("parallel num_gangs(2)", "parallel"),
        ("loop seq private(t)", "private(t)"),
        ("parallel loop reduction(+:s", "never closed"),
        ("parallel loop +", "'+'"),
    ],
)
def test_refuses_what_it_does_not_know_and_says_where(acc: str, named: str) -> None:
    with pytest.raises(UnsupportedAcc) as refusal:
        as_openmp(f"int a;\n\n#pragma acc {acc}\n")
    assert refusal.value.line == 3
    assert named in str(refusal.value)


def test_a_routine_is_a_function_like_others_here() -> None:
    text = "#pragma acc routine seq\nstatic double g(double x)\n{\n"
    assert as_openmp(text) == without_routines(text) == text[text.index("\n") :]


def test_a_function_in_brackets_is_no_variable() -> None:
    text = "if (s) (x)[0] = (max)((y), z); else x[1] = f(g)(t);"
    assert names_from_outside(c_tokens(text)).keys() == {"s", "x", "y", "z", "g", "t"}
