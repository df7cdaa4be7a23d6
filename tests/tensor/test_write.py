"""The C text of tensor files: readable, and the figures' own."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Golden
from support.cli import annotune

from annotune.files import write_files
from annotune.tensor.read import read_program
from annotune.tensor.write import Written, written

FIGURE_3_2 = """
for (int p4=0; p4<p4u; p4++)
  for (int p5=0; p5<p5u; p5++)
    for (int p6=0; p6<p6u; p6++)
      for (int h1=0; h1<h1u; h1++)
        for (int h2=0; h2<h2u; h2++)
          for (int h3=0; h3<h3u; h3++)
            for (int h7=0; h7<h7u; h7++)
              t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
                t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
"""


def c_of(text: str) -> Written:
    return written(read_program("x.tensor", text), "x.tensor", "0")


def test_sd_t_d1_1_is_the_nest_of_figure_3_2(examples: Path, golden: Golden) -> None:
    """Up to formatting, and up to a bracket that the thesis's print lacks."""
    text = c_of((examples / "tensor" / "sd_t_d1_1.tensor").read_text()).source
    nest = re.search(r"\*/\n( *for.*);\n", text, re.DOTALL)
    assert nest is not None
    assert re.sub(r"\s", "", nest[1]) == re.sub(r"\s", "", FIGURE_3_2).rstrip(";")
    golden.check("tensor/sd_t_d1_1.c", text)


def test_local_grad3(examples: Path, golden: Golden) -> None:
    made = c_of((examples / "tensor" / "local_grad3.tensor").read_text())
    golden.check("tensor/local_grad3.c", made.source)
    golden.check("tensor/local_grad3.h", made.header)


EVERYTHING = """
everything
access: multidimensional
define:
  n = 16
sizes:
  nb = 10
  lda
variables:
  R: (nb, n, n)
  A: (n, n) leading lda
  B: (nb, n, n) column float
  alpha: ()
  beta: ()
  P: (nb, n, n) column pointers
  t: (n, n) internal
  d: () internal
  s: 0
operations:
  t(i, j) = exp(A:(i, j))
  d = A:(i, j) * A:(j, i)
  R:(b, i, j) = 2 * alpha * A:(i, k) * B:(b, k, j) + beta * R:(b, i, j) - t:(i, l) * P:(b, l, j) * d
  s -= -alpha * (2 * A:(k, l) + A:(l, k)) - 2.5 * fmax(P:(i, j, k), 1)
  R:(b, i, j) -= A:(i, j) * P:(b, j, i)
"""


def test_every_form_of_a_tensor(golden: Golden) -> None:
    made = c_of(EVERYTHING)
    golden.check("tensor/everything.c", made.source)
    golden.check("tensor/everything.h", made.header)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        # Numbers are of the type in which is computed.
        ("f type: float variables: x: (4) operations: x:(i) = 2*x:(i)", "x[i] = 2.0f * x[i];"),
        ("f variables: x: (4) operations: x:(i) = 2*x:(i)", "x[i] = 2.0 * x[i];"),
        (
            "f variables: x: (4) y: (4) float operations: x:(i) = sqrt(y:(i)) + sqrt(x:(i))",
            "x[i] = sqrtf(y[i]) + sqrt(x[i]);",
        ),
        # What is taken away twice is added.
        ("f variables: x: (4) y: (4) operations: x:(i) -= -y:(i)", "x[i] += y[i];"),
        ("f variables: x: (4) y: (4) operations: x:(i) = -y:(i)", "x[i] = -y[i];"),
        (
            "f variables: x: (4) y: (4) operations: x:(i) = 2 * (1 - y:(i)) * y:(i)",
            "x[i] = 2.0 * (1.0 - y[i]) * y[i];",
        ),
        # No subscript leaves the type of its iterators.
        (
            "f variables: x: (65536, 65536) operations: x:(i, j) = 1",
            "for (long i = 0; i < 65536; i++)",
        ),
        ("f variables: x: 1 operations: x:(i) = 1", "for (long i = 0; i < n_i; i++)"),
        ("f variables: x: 1 operations: x:(i) = 1", "void f(long n_i, double *restrict x)"),
        ("f variables: x: (46340, 46340) operations: x:(i, j) = 1", "for (int i = 0;"),
        # A diagonal, and a number that is set.
        ("f variables: x: (4, 4) s: () operations: s += x:(i, i)", "*s += x[i + 4*i];"),
        (
            "f variables: x: (4) s: () internal operations: s = 2 x:(i) = s",
            "double s;",
        ),
        # Numbers stand before the sum, not in it.
        (
            "f variables: x: (4) a: () y: (3, 4) operations: x:(i) = a * y:(j, i) * 2",
            "x[i] = a * 2.0 * sum;",
        ),
        ("f type: complex variables: z: (4) operations: z:(i) = conj(z:(i))", "z[i] = conj(z[i]);"),
        ("f type: complex variables: z: (4) operations: z:(i) = conj(z:(i))", "<complex.h>"),
        # Names that are taken.
        (
            "f variables: sum: (4) y: (3, 4) operations: sum:(i) = y:(j, i)",
            "sum_2 += y[i + 4*j];",
        ),
    ],
)
def test_a_line_of_the_text(text: str, line: str) -> None:
    assert line in c_of(text).source


LINES = """x
access: {}
define:
  n = 5
variables:
  y: (n, n)
  A: (n, n)
  t: (n) internal
operations:
  t:(i) = A:(i, j) * A:(j, i)
  y:(i, j) += t:(i) * A:(i, j)
  y:(i, j) = 2 * y:(i, j) * A:(i, j) * A:(j, i) * t:(i) * exp(A:(i, j)) * exp(A:(j, i)) * t:(j)
"""


@pytest.mark.parametrize("access", ["linearize", "multidimensional"])
@pytest.mark.parametrize("around", [(), ("i",)])
def test_each_line_of_a_nest_leads_to_its_operation(access: str, around: tuple[str, ...]) -> None:
    text = LINES.format(access)
    program = read_program("x.tensor", text)
    if around:
        kept = program.operations[:2]
        program = replace(program, operations=kept, around=around)
    made = written(program, "x.tensor", "0")
    rows = made.source.split("\n")
    starts = [n for n, row in enumerate(rows, 1) if row.lstrip().startswith("/* ") and ":(" in row]
    assert len(starts) == len(program.operations)
    for line, row in enumerate(rows, 1):
        own = [n for n, start in enumerate(starts) if start <= line]
        found = made.operation_at(line)
        ends = {"", "}", "/*@ end @*/", "free(t);"}
        if not own or (row.strip() in ends and line > max(starts) + 1):
            continue
        if row.strip():
            assert found == program.operations[own[-1]].span, row
    assert made.operation_at(1) is None
    assert made.operation_at(len(rows)) is None
    assert made.operation_at(starts[0] - 1) is None


def test_files_of_others_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mm.tensor").write_text("mm\nvariables: x: (4)\noperations: x:(i) = 1\n")
    Path("mm.h").write_text("int mine;\n")
    done = annotune("tensor", "mm.tensor", "-o", "mm.c")
    assert (done.code, done.out) == (1, "")
    assert "[AT603]" in done.err
    assert not Path("mm.c").exists()
    Path("mm.h").unlink()
    for _ in range(2):
        assert annotune("tensor", "mm.tensor", "-o", "mm.c").out == "mm.c\nmm.h\n"
    assert annotune("tensor", "mm.tensor").out == Path("mm.c").read_text()
    write_files(tmp_path, {"mm.c": "int x;"})
    assert annotune("tensor", "mm.tensor", "-o", "mm.c").code == 1
