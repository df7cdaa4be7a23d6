"""Mistakes are put where they belong, each program once, and the score counts what passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from mutants import main
from mutation.judge import Fate, Judged, chosen
from mutation.operators import KINDS, edits
from mutation.subjects import Mutant, Subject, programs
from mutation.table import score, survivors, table

CUDA = """\
__global__ void f_s0(int n, const double *__restrict__ x, double *__restrict__ y) {
    __shared__ double tile[8];
    const int m = 48;
    for (int i = threadIdx.x; i < n; i += 2) {
        tile[i] = x[2 * i + 1];
        __syncthreads();
        y[i] += tile[i];
    }
}
static long long f_x_count(long long n) {
    return 2 * n;
}
static cudaError_t f(int n, const double *x, double *d_x) {
    if (n == 48 && n < 90) {
        f_s0<<<1, 2>>>(n, d_x, d_x);
        return cudaSuccess;
    }
    annotune_array arrays[] = {
        {(void *)(x), x_bytes, 0, x_bytes, true, false},
    };
    return annotune_send(arrays, 1);
}
"""
ACC = """\
#pragma acc parallel loop gang vector collapse(2) num_gangs(4) \\
    copyin(a[0:m][0:k]) copy(b[1:m - 1]) reduction(+:s) private(t)
for (int i = 0; i < m; i++) s += 1.5;
"""
EXPECTED = {
    "bound": {"i <= n;", "i < n - 1;", "int i = threadIdx.x + 1;"},
    "barrier": {"        ;"},
    "guard": {"n >= 48", "n == 48 || n", "n == 48 && 1)", "n <= 90"},
    "subscript": {"x[2 * i + 1 + 1]", "x[2 + i + 1]", "tile[i - 1]"},
    "copy": {"return 2 * n - 1;", "x_bytes / 2, 0", "false, false", "};\n    return cudaSuccess;"},
    "combine": {"y[i] = tile[i]", "y[i] -= tile[i]"},
    "type": {"float tile", "short i"},
    "constant": {"(48 + 1)", "(2 - 1) * n"},
}
CLAUSES = {
    *("copyin(b[1:m - 1])", "create(b[1:m - 1])", "copyout(a[0:m][0:k])", "[0:k - 1]", "[0 + 1:m]"),
    *("reduction(*:s)", "collapse(3)"),
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_the_mistakes_of_a_kind_are_made(kind: str) -> None:
    found = [one.applied(CUDA) for one in edits(CUDA) if one.kind == kind]
    for new in EXPECTED[kind]:
        assert any(new in text and new not in CUDA for text in found), (new, found)


def test_each_mistake_makes_another_text_with_every_line_at_its_number() -> None:
    for text in (CUDA, ACC):
        made = [one.applied(text) for one in edits(text)]
        assert len({*made, text}) == len(made) + 1
        assert {one.count("\n") for one in made} == {text.count("\n")}


def test_clauses_become_weaker_and_none_that_only_places_work_changes() -> None:
    found = [one.applied(ACC) for one in edits(ACC) if one.kind == "clause"]
    for new in CLAUSES:
        assert any(new in text for text in found), new
    assert any("private" not in text for text in found)
    assert all("num_gangs(4)" in text for text in found)


def test_a_test_beside_a_right_way_is_only_made_weaker() -> None:
    text = "if (i + 8 <= m) { f(); } else { g(); }\nif (i < m) { f(); }\n"
    found = {one.applied(text).split("\n")[0] for one in edits(text)}
    assert "if (i + (8 - 1) <= m) { f(); } else { g(); }" in found
    assert not {one for one in found if "(8 + 1)" in one or "< m" in one}


ROWS = """\
if (n == 48 && m == 32) {
    #pragma acc parallel loop gang num_gangs(48)
    for (int i = 0; i < n; i++)
        y[i] += 31 * x[i];
}
else {
    for (int j = 0; j < n - n % 8; j += 8)
        y[j] = x[j];
    for (int j = 0; j < n; j++) {
        for (int k = j; k < n; k++) {
            y[j] += x[k];
        }
    }
    int again = s_sum == 0.0 && s == 0.0 && 1.0 / s < 0.0;
}
"""


@pytest.mark.parametrize(
    ("equal", "made"),
    [
        ("n >= 48 && m", "m >= 32"),  # what it guards only places work by the number
        ("num_gangs(48)\n    for (short i", "j < n - n % 8; j += 8 + 1"),  # n is 48 there
        ("n - n % 8 - 1", "n % 8 + 1"),  # in steps of 8 nothing lies between
        ("for (int j = 0; j <= n; j++)", "for (int k = j; k <= n"),  # the loop in it is empty then
        ("(1.0 + 0.5)", "s_sum == (0.0 + 0.5)"),  # an infinity lies on the same side
    ],
)
def test_what_makes_no_difference_is_not_made(equal: str, made: str) -> None:
    found = [one.applied(ROWS) for one in edits(ROWS)]
    assert not [text for text in found if equal in text]
    assert [text for text in found if made in text] or made == "n % 8 + 1"


def test_a_failure_that_is_told_later_need_not_be_asked_for_before() -> None:
    text = (
        "if (status == cudaSuccess)\n    status = annotune_allocate((void **)&d_x, x_bytes);\n"
        "if (status == cudaSuccess)\n    status = launch(d_x);\n"
    )
    told = f"{text}return cudaGetLastError();\n"
    for one, count in ((text, 2), (told, 1)):
        made = [e.applied(one) for e in edits(one) if ">= cudaSuccess" in e.applied(one)]
        assert len(made) == count


def _judged(mutants: Mapping[Fate, int], subject: Subject) -> list[Judged]:
    (edit, *_) = edits(CUDA)
    return [
        Judged(Mutant(subject, "device", edit), fate)
        for fate, n in mutants.items()
        for _ in range(n)
    ]


@pytest.fixture
def subject() -> Subject:
    return Subject("gemm", "cuda", None, None, None)  # type: ignore[arg-type]


def test_the_score_leaves_out_what_does_not_compile_and_what_is_equal(subject: Subject) -> None:
    counts = {Fate.NOT_COMPILED: 5, Fate.EQUAL: 7, Fate.TURNED_DOWN: 3, Fate.PASSED: 1}
    found = _judged(counts, subject)
    assert score(found) == 0.75
    assert score([]) == 1.0
    assert score(_judged({**counts, Fate.NOT_RUN: 1}, subject)) == 0.6
    assert "75.0%" in table(found).splitlines()[-1]
    assert len(survivors(found)) == 1


def test_a_seed_draws_the_same_of_a_text_whatever_others_there_are(subject: Subject) -> None:
    mutants = [Mutant(subject, "device", one) for one in edits(CUDA)]
    other = [replace(one, part="body") for one in mutants]
    alone = list(chosen({"a": mutants}, 2, 1))
    assert alone == [one for one in chosen({"b": other, "a": mutants}, 2, 1) if one[0] == "a"]
    assert alone != list(chosen({"a": mutants}, 2, 2))
    assert len(alone) <= 2 * len(KINDS)


def test_an_unknown_name_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(programs()) == 12
    assert main(["--only", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err


@pytest.mark.slow
def test_a_benchmark_of_one_text_exits_by_its_score(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "dot openmp", "--check", "--jobs", "1"]) in (0, 1)
    assert "turned down without a mistake" not in capsys.readouterr().out
