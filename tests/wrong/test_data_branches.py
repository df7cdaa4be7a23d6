"""Blocks of Data that are one branch, or the body of a loop, without braces of the user's."""

from __future__ import annotations

from pathlib import Path

from wrong.called import Array, Call, Program

BEGIN = '/*@ begin Data ( enter = "a[n], b[n]"; exit = "a[n], b[n]" ) @*/'
END = "/*@ end @*/"
NEST = """\
/*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
for (int i = 0; i < n; i++) a[i] = a[i] * 0.5 + b[i] + k;
/*@ end @*/
"""
BLOCK = f"{BEGIN}\n{{ {NEST} b[0] += a[1]; {NEST} }}\n{END}"
ONE = f"{BEGIN}\nfor (int r = 0; r < 3; r++) {{ {NEST} b[1] = a[r]; }}\n{END}"
# In the scope of n, k, a and b.
BODIES = (
    f"if (k) {BLOCK} else a[0] = 7;",
    f"if (k) a[0] = 7; else {BLOCK} b[2] += a[2];",
    f"if (k) {ONE} else {BLOCK}",
    f"for (int t = 0; t < 2; t++) {BLOCK} a[3] += b[3];",
    f"int t = 0; do {ONE} while (++t < 2);",
    f"int t = 0; while (t++ < 2) {BLOCK}",
    f"if (k > 1) if (k > 2) {BLOCK} else b[4] = 1;",
    f"switch (k) {{ case 1: {BLOCK} break; default: {ONE} }}",
)
HEAD = "void f{number}(int n, int k, double *restrict a, double *restrict b)\n"


def test_each_leaves_what_c_leaves(tmp_path: Path) -> None:
    texts = (HEAD.format(number=k) + f"{{\n{body}\n}}\n" for k, body in enumerate(BODIES))
    (tmp_path / "branches.c").write_text("".join(texts))
    program = Program(tmp_path, tmp_path / "branches.c", ("cuda", "openacc", "openmp"))
    assert not {"AT111", "AT166"} & {one.code for one in program.emission.diagnostics}
    arrays = Array("f8", 30), Array("f8", 30, seed=2)
    numbers = range(len(BODIES))
    program.check(*(Call(f"f{number}", 20, k, *arrays) for number in numbers for k in (0, 1, 3)))
