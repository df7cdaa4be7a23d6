"""Calls in parts: where iterations on blocks differ in where arrays begin, and in nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.executed import Call, Executable, Part, emitted

from annotune.runtime.texts import standalone_text

N = 64
ROW = N * N


def text(parameters: str, loops: str, size: int = N) -> str:
    """Return a function around loops, tuned for a size."""
    return (
        f"void f(int n, {parameters})\n{{\n"
        f"    /*@ begin PerfTuning (def input_params {{ param n = {size}; }}) @*/\n"
        f"    {loops}\n    /*@ end @*/\n}}\n"
    )


EACH = "for (int i = 0; i < n; i++)"
BOTH = f"{EACH} for (int j = 0; j < n; j++)"
MATRICES = "double b[restrict n][n], const double a[restrict n + 2][n]"
VECTORS = "double b[restrict n], const double a[restrict n]"
CUT = {
    "rows": (text(MATRICES, f"{BOTH} b[i][j] = a[i][j];"), (ROW, ROW + 2 * N)),
    "rows and those beside them": (
        text(MATRICES, f"{BOTH} b[i][j] += a[i][j] + a[i + 2][n - 1 - j];"),
        (ROW, ROW + 2 * N),
    ),
    "rows with gaps": (
        text("double b[restrict n][n], double a[n]", f"{BOTH} if (j < n - 5) b[i][j] += a[j];"),
        (ROW, N),
    ),
    "tiles of a vector": (text(VECTORS, f"{EACH} b[i] += a[i];", 1024), (1024, 1024)),
    "what is read from its end on": (
        text(VECTORS, f"{EACH} b[i] = a[n - 1 - i];", 1024),
        (1024, 1024),
    ),
    "elements with one index for all dimensions": (
        text(
            "double c[restrict n][5][9][24], const double a[restrict 24][5], "
            "const double b[restrict n][9]",
            f"{EACH} for (int j = 0; j < 5; j++) for (int k = 0; k < 9; k++)\n"
            "        for (int l = 0; l < 24; l++) c[i][j][k][l] += a[l][j] * b[i][k];",
        ),
        (N * 5 * 9 * 24, 24 * 5, N * 9),
    ),
    "rows of a product": (
        text(
            "double c[restrict n][9], const double a[restrict n][9], const double b[restrict 9][9]",
            f"{EACH} for (int j = 0; j < 9; j++) for (int k = 0; k < 9; k++)\n"
            "        c[i][j] += a[i][k] * b[k][j];",
            192,
        ),
        (192 * 9, 192 * 9, 81),
    ),
}
WHOLE = {
    "a value of the iterator": text(VECTORS, f"{EACH} b[i] = a[i] + i;", 1024),
    "a condition of the iterator": text(VECTORS, f"{EACH} if (i > 3) b[i] = a[i];", 1024),
    "iterations of other lengths": text(
        MATRICES, f"{EACH} for (int j = 0; j <= i; j++) b[i][j] = a[i][j];"
    ),
    "a tile that is cut": text(VECTORS, f"{EACH} b[i] = a[i];", 1000),
    "places that differ in more than a distance": text(
        "double b[restrict n], const double a[restrict 2 * n]",
        f"{EACH} b[i] = a[i] + a[2 * i];",
        1024,
    ),
    "a sum of all blocks": text(
        "double s[restrict 1], const double *restrict a", f"{EACH} s[0] += a[i];", 1 << 20
    ),
    "every part needs all": text(
        "double b[restrict n], const double a[restrict n][n]",
        f"{EACH} for (int k = 0; k < n; k++) b[i] += a[k][i];",
    ),
    "rows that another kernel reads in another part": text(
        "double b[restrict n][n], double t[restrict n + 1][n], const double a[restrict n][n]",
        f"{BOTH} t[i][j] = a[i][j];\n    {BOTH} b[i][j] = t[i + 1][n - 1 - j];",
    ),
}


@pytest.mark.alike(4)
@pytest.mark.parametrize("name", CUT)
def test_parts_compute_what_the_whole_does(name: str, tmp_path: Path) -> None:
    source, buffers = CUT[name]
    emission = emitted(tmp_path, source)
    program = Executable(tmp_path, source, emission.files)
    n = int(re.search(r"param n = (\d+)", source)[1])  # type: ignore[index]
    pointers = [Part(k) for k in range(len(buffers))]
    tuned, other = (Call("f", (m, *pointers), buffers) for m in (n, n - 3))
    (inside, *_), (alone, *_) = program.check(tuned, other)
    # Beside the kernel one that begins at nothing, where the host adds.
    assert inside.launches > alone.launches == 1 + program.cuda.count("annotune_host_sums<")


@pytest.mark.parametrize("name", WHOLE)
def test_other_calls_run_as_one(name: str, tmp_path: Path) -> None:
    assert 'annotune_call("' not in emitted(tmp_path, WHOLE[name]).files[".cu"]


def test_kernels_one_after_the_other_run_in_the_same_parts(tmp_path: Path) -> None:
    source = (Path(__file__).parents[2] / "c_examples/nekbone/local_grad3.c").read_text()
    small = source.replace("nelt 1000", "nelt 8")
    program = Executable(tmp_path, small, emitted(tmp_path, small).files)
    sizes = (8000, 8000, 8000, 100, 8000, 100)
    call = Call("local_grad3", tuple(Part(k) for k in range(6)), sizes)
    # Two kernels, for each element by itself.
    assert program.check(call)[0][0].launches == 2 * 8


def test_parts_along_two_loops_are_strips(tmp_path: Path) -> None:
    source = (Path(__file__).parents[2] / "c_examples/nwchem/sd_t_d1.c").read_text()
    small = {"p6u": 2, "h1u": 2, "h2u": 8, "h7u": 4}
    files = emitted(tmp_path, source, function="sd_t_d1_1", sizes=small).files
    program = Executable(tmp_path, source, files)
    # Tiles of 8 by 8 of the two outermost loops, of 16 iterations each.
    assert "annotune_first / 2 * 65536 + annotune_first % 2 * 4096" in program.cuda
    buffers = (16 * 16 * 2 * 2 * 8 * 16, 4 * 16 * 16 * 2, 16 * 8 * 2 * 4)
    pointers = [Part(k) for k in range(3)]
    call = Call("sd_t_d1_1", (16, 8, 2, 2, 16, 16, 4, *pointers), buffers)
    other = replace(call, arguments=(16, 8, 2, 2, 15, 16, 4, *pointers))
    (inside, *_), (alone, *_) = program.check(call, other)
    # Each time one has the device's memory begin at nothing.
    assert (inside.launches, alone.launches) == (1 + 4, 1 + 1)
    text = standalone_text(program.cuda)
    assert "if (strip == 0)" in text
    wrong = {**files, ".cu": text.replace("if (strip == 0)", "if (true)")}
    (tmp_path / "wrong").mkdir()
    assert not Executable(tmp_path / "wrong", source, wrong).outcomes(call)[0][0].same
    # What a failure leaves is put back strip by strip.
    count = inside.counted["calls"]
    failing = [replace(call, fail_at=n, orders=(0,)) for n in range(count // 2, count + 1, 40)]
    program.check(*failing, replace(call, fail_at=count, orders=(0,)))
