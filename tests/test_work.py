"""Work that `check` does for inputs of twice the length: counts of calls, which no machine changes.

Twice as many statements, nests or regions take at most 2.3 times the calls: cost that grows with
n log n or so. A walk over everything for each of them shows here before anyone waits for it.
"""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import annotune
from annotune.cli import cli

PACKAGE = str(Path(annotune.__file__).parent)
MOST = 2.3

OPEN, CLOSE = "/*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/\n", "/*@ end @*/\n"


def one_region(parameters: str, body: str, before: str = "", after: str = "") -> str:
    return f"void f({parameters})\n{{\n{before}{OPEN}{body}{CLOSE}{after}}}\n"


def one_loop(parameters: str, lines: list[str], before: str = "", after: str = "") -> str:
    body = "".join(f"    {line}\n" for line in lines)
    loop = f"for (int i = 2; i < n - 2; i++) {{\n{body}}}\n"
    return one_region(parameters, loop, before, after)


TWO = "int n, double *restrict a, double *restrict b"


def dependent_statements(count: int) -> str:
    """Each statement reads what the one before it wrote, some iterations ago."""
    sides = [("a", "b") if k % 2 else ("b", "a") for k in range(count)]
    lines = [f"{x}[i] = {y}[i - {k % 3}] * {k} + {x}[i];" for k, (x, y) in enumerate(sides)]
    return one_loop(TWO, lines)


def independent_nests(count: int) -> str:
    rows = ((k, 7 * k % count) for k in range(count))
    loops = (f"for (int i = 0; i < n; i++) a[i + {k}*n] += b[i + {m}*n] * {k};\n" for k, m in rows)
    return one_region(TWO, "".join(loops))


def nests_of_two_depths(count: int) -> str:
    shallow = "for (int i = 0; i < n; i++)\n    x[i] += u[0][i] * {};\n"
    deep = "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n"
    deep += "        u[i][j] += x[i] * {};\n"
    nests = ((deep if k % 2 else shallow).format(k) for k in range(count))
    return one_region("int n, double x[restrict n], double u[restrict n][n]", "".join(nests))


def regions(count: int) -> str:
    nest = "for (int i = 1; i < n - 1; i++)\n    a[i] += b[i - 1] * {} + b[i + 1];\n"
    body = "".join(OPEN + nest.format(k) + CLOSE for k in range(count))
    return f"void f({TWO})\n{{\n    int m = n;\n{body}}}\n"


def regions_in_host_loops(count: int) -> str:
    loop = "for (int s = 0; s < 9; s++) {\n" + OPEN
    loop += "for (int i = 0; i < n; i++)\n    a[i] += b[i] * {};\n" + CLOSE + "}\n"
    return (
        f"void f({TWO})\n{{\n" + "".join(loop.replace("{};", f"{k};") for k in range(count)) + "}\n"
    )


def functions(count: int) -> str:
    nest = "for (int i = 0; i < n; i++)\n    a[i] += b[i];\n"
    return "".join(one_region(TWO, nest).replace("f(", f"f{k}(", 1) for k in range(count))


def temporaries(count: int) -> str:
    """Each temporary is read by the next one, five times."""
    lines = ["double t0 = b[i];"]
    for k in range(1, count):
        lines.append(f"double t{k} = {' * '.join([f't{k - 1}'] * 5)};")
    return one_loop(TWO, [*lines, f"a[i] = t{count - 1};"])


def guarded_statements(count: int) -> str:
    return one_loop(TWO, [f"if (b[i] > {k}) a[i] = a[i] + b[i - {k % 2}];" for k in range(count)])


def sums(count: int) -> str:
    lines = [f"s += b[i] * {k};" for k in range(count)]
    return one_loop(TWO, lines, "    double s = 0;\n", "    a[0] = s;\n")


def loops_in_a_loop(count: int) -> str:
    """All of them add to the same elements, and each alone may run in parallel."""
    loop = "    for (int j = 0; j < n; j++)\n        u[i][j] += x[i] * {};\n"
    loops = "".join(loop.format(k) for k in range(count))
    rows = "int n, const double x[restrict n], double u[restrict n][n]"
    return one_region(rows, f"for (int i = 0; i < n; i++) {{\n{loops}}}\n")


def loops_in_a_serial_loop(count: int) -> str:
    """Each reads what the one before it wrote, which the next step of the loop overwrites."""
    sides = [("a", "b") if k % 2 else ("b", "a") for k in range(count)]
    loop = "    for (int i = 1; i < n - 1; i++)\n        {0}[i] = {1}[i - 1] + {1}[i + 1];\n"
    loops = "".join(loop.format(*both) for both in sides)
    return one_region(TWO, f"for (int s = 0; s < n; s++) {{\n{loops}}}\n")


def sums_of_elements(count: int) -> str:
    lines = "".join(f"        x[i] += u[i][j] * {k};\n" for k in range(count))
    nest = f"for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) {{\n{lines}    }}\n"
    return one_region("int n, double x[restrict n], const double u[restrict n][n]", nest)


def gathered_statements(count: int) -> str:
    lines = [f"a[i] += b[c[i] + {k}];" for k in range(count)]
    return one_loop(f"{TWO}, const int *restrict c", lines)


def parts_of_an_array(count: int) -> str:
    """Statements that touch neighbours in other parts of one array."""
    lines = "".join(
        f"        v[i][j][{k % 5}] += u[i - {k % 3}][j + {k % 2}][{3 * k % 5}] * {k};\n"
        for k in range(count)
    )
    nest = (
        f"for (int i = 2; i < n - 2; i++)\n    for (int j = 2; j < n - 2; j++) {{\n{lines}    }}\n"
    )
    return one_region("int n, double u[restrict n][n][5], double v[restrict n][n][5]", nest)


def sums_of_their_own(count: int) -> str:
    lines = [f"s{k} += b[i] * a[i - {k % 3}];" for k in range(count)]
    before = "".join(f"    double s{k} = 0;\n" for k in range(count))
    after = "".join(f"    a[{k}] = s{k};\n" for k in range(count))
    return one_loop(TWO, lines, before, after)


def maxima(count: int) -> str:
    lines = [f"if (b[i] > s{k}) s{k} = b[i];" for k in range(count)]
    before = "".join(f"    double s{k} = 0;\n" for k in range(count))
    after = "".join(f"    a[{k}] = s{k};\n" for k in range(count))
    return one_loop(TWO, lines, before, after)


def triangular_nests(count: int) -> str:
    nest = "for (int i = 0; i < n; i++)\n    for (int j = 0; j <= i; j++)\n"
    nest += "        u[i][j] += x[j] * {};\n"
    rows = "int n, double u[restrict n][n], double x[restrict n]"
    return one_region(rows, "".join(nest.format(k) for k in range(count)))


def stencils(count: int) -> str:
    nest = "for (int i = 1; i < n - 1; i++)\n    for (int j = 1; j < n - 1; j++)\n"
    nest += "        {0}[i][j] += {1}[i - 1][j] + {1}[i][j + 1];\n"
    sides = [("u", "v") if k % 2 else ("v", "u") for k in range(count)]
    rows = "int n, double u[restrict n][n], double v[restrict n][n]"
    return one_region(rows, "".join(nest.format(*both) for both in sides))


def counting_whiles(count: int) -> str:
    loop = "i = 0;\nwhile (i < n) {{\n    a[i] += b[i] * {};\n    i++;\n}}\n"
    return one_region(TWO, "".join(loop.format(k) for k in range(count)), "    int i;\n")


def calls_of_functions(count: int) -> str:
    names = ("sin", "exp", "sqrt", "fabs")
    lines = [f"a[i] += {names[k % 4]}(b[i] * {k});" for k in range(count)]
    return "#include <math.h>\n" + one_loop(TWO, lines)


def members(count: int) -> str:
    lines = [f"a[i].{'xyz'[k % 3]} += b[i].{'yzx'[k % 3]} * {k};" for k in range(count)]
    rows = "int n, struct s *restrict a, const struct s *restrict b"
    return "struct s { double x, y, z; };\n" + one_loop(rows, lines)


def arrays_of_their_own(count: int) -> str:
    rows = ", ".join(["int n", *(f"double *restrict a{k}" for k in range(count))])
    return one_loop(rows, [f"a{k}[i] = a{k}[i] * {k};" for k in range(count)])


def nested_whiles(count: int) -> str:
    """Loops that only count, each in the one before it, beside the region."""
    opens = "".join(f"while (m > {k}) {{ " for k in range(count))
    before = f"    int m = n;\n    {opens}m--; {'}' * count}\n"
    return one_loop(TWO, ["a[i] += b[i];"], before)


SHAPES = (
    *(dependent_statements, independent_nests, nests_of_two_depths, regions, functions),
    *(regions_in_host_loops, temporaries, guarded_statements, sums),
    *(loops_in_a_loop, loops_in_a_serial_loop, sums_of_elements, gathered_statements),
    *(parts_of_an_array, sums_of_their_own, maxima, triangular_nests, stencils, counting_whiles),
    *(calls_of_functions, members, arrays_of_their_own, nested_whiles),
)
LENGTH = 6


def calls(text: str, folder: Path, *words: str) -> int:
    """Return how many calls of annotune's own functions `check`, or another command, makes."""
    source = folder / "long.c"
    source.write_text(text)
    profile = cProfile.Profile()
    result = profile.runcall(CliRunner().invoke, cli, [*(words or ["check"]), str(source)])
    assert result.exit_code == 0, result.output
    codes = ((one.code, one.callcount) for one in profile.getstats())
    return sum(
        count
        for code, count in codes
        if not isinstance(code, str) and code.co_filename.startswith(PACKAGE)
    )


def else_ifs(count: int) -> str:
    chain = " else ".join(f"if (b[i] > {count - k}) a[i] = b[i] * {k};" for k in range(count))
    return one_loop(TWO, [chain])


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_twice_the_length_is_twice_the_work(shape: Callable[[int], str], tmp_path: Path) -> None:
    calls(shape(1), tmp_path)  # what is imported and asked once
    short, long = calls(shape(LENGTH), tmp_path), calls(shape(2 * LENGTH), tmp_path)
    assert long / short < MOST, f"{short} calls, then {long}"


def test_an_else_if_chain_takes_less_than_the_square_of_its_length(tmp_path: Path) -> None:
    """The condition of a branch is as long as the chain before it: all of them have a square."""
    calls(else_ifs(1), tmp_path)
    short, long = calls(else_ifs(LENGTH), tmp_path), calls(else_ifs(2 * LENGTH), tmp_path)
    assert long / short < 3, f"{short} calls, then {long}"


def test_init_takes_as_long_as_its_nests(tmp_path: Path) -> None:
    """Functions of nests of two depths, each of which is looked at three times."""
    nest = "for (int i = 1; i < n - 1; i++)\n    a[i] += b[i - 1] + b[i + 1];\n"
    text = "".join(f"void f{{0}}_{k}({TWO})\n{{{{\n{nest * 2}}}}}\n" for k in range(2))
    found = []
    for count in (1, LENGTH, 2 * LENGTH):
        source = "".join(text.format(k) for k in range(count))
        found.append(calls(source, tmp_path, "init", "--dry-run"))
    assert found[2] / found[1] < MOST, f"{found[1]} calls, then {found[2]}"
