"""Products that a condition leaves out, in tiles and blocks: what is not added is not touched.

``if (b[l] != 0) c[i] += b[l] * a[i][l]`` leaves c as it is where b is 0: -0.0 stays, NaN and
infinities of a do not come in, and neither a nor c need have the elements.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.borders import check_borders

from annotune.codegen.target import DEFAULT_TARGETS
from wrong.called import Array, Call, Program, some

TEXT = """
void fNUMBER(int m, int n, int k, const TYPE *alpha, const TYPE *restrict a, int lda,
             const TYPE *restrict b, int ldb, TYPE *restrict c, int ldc)
{
    /*@ begin PerfTuning ( def input_params { param m = M; param n = N; param k = K;
        param lda = M; param ldb = LDB; param ldc = M; } ) @*/
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++) {
            STATEMENT
        }
    /*@ end @*/
}
"""
INNER = "for (int i = 0; i < m; i++) c[i + j * ldc] OP alpha[0] * B * a[A];"
COLUMN, ROW = "b[l + j * ldb]", "b[j + l * ldb]"
PLAIN, TURNED = "i + l * lda", "l + i * lda"
# What is asked, of which b, how a lies, and what is done.
FORMS = (
    ("B != 0", COLUMN, PLAIN, "+="),
    ("B != 0", ROW, PLAIN, "+="),
    ("B != 0", ROW, TURNED, "-="),
    # Of a copy's zeros this is true.
    ("B <= 0", ROW, PLAIN, "+="),
    ("B < 1 && B != 0", COLUMN, PLAIN, "-="),
    ("B > 0 || B < 0", ROW, PLAIN, "+="),
    # More than memory decides.
    ("B != 0 && j < l + 3", COLUMN, PLAIN, "+="),
)
# Tiles and copies on a device and on cores; loops that tiles do not divide; and neither.
SIZES = ((256, 41, 24), (260, 33, 20), (19, 9, 40))


def programs(type_: str, m: int, n: int, k: int) -> str:
    text = ""
    for number, (test, b, a, op) in enumerate(FORMS):
        inner = INNER.replace("OP", op).replace("B", b).replace("A", a)
        statement = f"if ({test.replace('B', b)}) {inner}"
        one = TEXT.replace("NUMBER", str(number)).replace("STATEMENT", statement)
        one = one.replace("LDB", str(max(n, k))).replace("TYPE", type_)
        text += one.replace("M;", f"{m};").replace("N;", f"{n};").replace("K;", f"{k};")
    return text


def factors(kind: str, n: int, k: int) -> list[dict[tuple[int, int], float | str]]:
    """Return some b by (l, j): nowhere 0, here and there, and so on to everywhere."""
    zero = "-0.0" if kind[0] == "f" else 0
    places = [(row, j) for row in range(k) for j in range(n)]
    full = {(row, j): (1, -2, 3, -1)[(3 * row + j) % 4] for row, j in places}
    some = {at: zero if (at[0] + 2 * at[1]) % 5 == 0 else value for at, value in full.items()}
    found: list[dict[tuple[int, int], float | str]] = [full, some]
    # Without the first and the last rows, then columns; one element alone, and none.
    found.append({at: 0 if at[0] in (0, k - 1) else v for at, v in some.items()})
    found.append({at: 0 if at[1] in (0, n - 1) else v for at, v in some.items()})
    found.append({at: v if at == (1, 1) else 0 for at, v in full.items()})
    found.append(dict.fromkeys(places, 0))
    return found


def calls(kind: str, m: int, n: int, k: int) -> list[Call]:
    ldb, zero = max(n, k), "-0.0" if kind[0] == "f" else 0
    odd = ("nan", "inf", "-inf") if kind[0] == "f" else (7, 8, 9)
    found = []
    for number, (_, column, lies, _) in enumerate(FORMS):
        for b in factors(kind, n, k):
            of_b: list[float | str] = [5] * ldb * ldb
            for (row, j), value in b.items():
                of_b[row + j * ldb if column == COLUMN else j + row * ldb] = value
            lda = k if lies == TURNED else m
            of_a: list[float | str] = [0] * m * k
            for row in range(k):
                is_idle = all(b[row, j] in (0, zero) for j in range(n))
                for i in range(m):
                    at = row + i * lda if lies == TURNED else i + row * lda
                    # Where ``b <= 0`` asks, what a 0 multiplies is added.
                    is_odd = is_idle and "=" not in FORMS[number][0].replace("!=", "")
                    of_a[at] = odd[i % 3] if is_odd else (i + 2 * row) % 5 - 2
            c = tuple((zero, 0, 1, -3)[at % 4] for at in range(m * n))
            arrays = [Array(kind, len(v), tuple(v)) for v in ([2], of_a, of_b, c)]
            alpha, a_, b_, c_ = arrays
            found.append(Call(f"f{number}", m, n, k, alpha, a_, lda, b_, ldb, c_, m))
    return found


@pytest.mark.alike(2)
# The last sizes leave parts of tiles over, in all three loops.
@pytest.mark.alike(9)
@pytest.mark.parametrize(("type_", "kind"), [("double", "f8"), ("float", "f4"), ("int", "i4")])
@pytest.mark.parametrize("sizes", SIZES[::-1])
def test_what_is_left_out_is_left_alone(
    type_: str, kind: str, sizes: tuple[int, int, int], tmp_path: Path
) -> None:
    source, made = tmp_path / "g.c", tmp_path / "made"
    made.mkdir()
    source.write_text(programs(type_, *sizes))
    program = Program(made, source, DEFAULT_TARGETS, strategy="gemm" if sizes[0] > 200 else "auto")
    program.check(*(one for other in SIZES for one in calls(kind, *other)))
    check_borders(program.libraries, *some(calls(kind, *sizes)))


def test_memory_of_a_device_need_not_have_what_is_left_out(tmp_path: Path) -> None:
    source, made = tmp_path / "g.c", tmp_path / "made"
    made.mkdir()
    source.write_text(programs("double", *SIZES[0]))
    program = Program(made, source, ("cuda",), strategy="gemm", resident=True)
    assert "double b_tile[" in program.files[".cu"]
    assert "double a_tile[" not in program.files[".cu"]


def test_cores_copy_what_they_know_to_be_there(tmp_path: Path) -> None:
    source, made = tmp_path / "g.c", tmp_path / "made"
    made.mkdir()
    source.write_text(programs("double", *SIZES[0]))
    text = Program(made, source, ("openmp",)).files["_omp.c"]
    assert text.count("double a_tile[") == text.count("&& annotune_a_first && annotune_a_last") > 4
