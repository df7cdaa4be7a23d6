"""f2c's library by value: bit by bit what libf2c returns, where that is installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from annotune.codegen.renaming import definition
from annotune.frontend.lower.libf2c import _TABLE, LIBRARY, called_functions, library_functions
from annotune.ir.functions import FUNCTIONS

_NAMES = {"d": "double", "r": "float", "i": "int", "z": "doublecomplex", "c": "complex"}
_HEAD = """
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
typedef struct { double r, i; } doublecomplex;
typedef struct { float r, i; } complex;
static double reals[] = { 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e300, -1e-310, 3.0, -7.25,
    0.49999999999999994, 4503599627370497.0, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0, 1e-20, 12345.678,
    0.6, 0.8, 0.803, -0.995, 0.0625, 1.0, -1.0, 0.28, -0.96, 0.7071067811865476 };
static int wholes[] = { 0, 1, -1, 2, -2, 3, 7, -5, 31, 10, 1000 };
enum { REALS = sizeof reals / sizeof *reals, WHOLES = sizeof wholes / sizeof *wholes };
static double real(unsigned k) {
    return k < REALS ? reals[k] : (rand() % 20001 - 10000) / (double)(rand() % 97 + 1);
}
static int whole(unsigned k) { return k < WHOLES ? wholes[k] : rand() % 41 - 20; }
static int is_same(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}
int MAIN__(void) { return 0; }
"""


def _make(name: str, letter: str, k: str) -> str:
    """Return C that declares an argument and gives it the k-th value."""
    if letter in "zc":
        other = "yk" if name == "x" else "(xk * 7 + yk) % 60"
        return f"{_NAMES[letter]} {name} = {{ real({k}), real({other}) }};"
    value = "whole" if letter == "i" else "real"
    return f"{_NAMES[letter]} {name} = {value}({k});"


def _trial(name: str) -> str:
    entry = _TABLE[name]
    own = "xy"[: len(entry.arguments)]
    letters = ["c" if name == "c_abs" else letter for letter in entry.arguments]
    pointers = [f"{_NAMES[letter]} *" for letter in letters]
    pairs = list(zip(own, letters, strict=True))
    lines = [_make(name, letter, f"{name}k") for name, letter in pairs]
    given = ", ".join(f"&{name}" for name in own)
    values = ", ".join(f"{n}.r, {n}.i" if letter in "zc" else n for n, letter in pairs)
    is_complex = entry.result in "zc"
    result = "void" if is_complex else "int" if entry.result == "i" else "double"
    kinds = [f"{_NAMES[entry.result]} *"] * is_complex + pointers
    if is_complex:
        lines.append(f"{_NAMES[entry.result]} a; {name}(&a, {given});")
        checks = [f"is_same(a.{part}, f2c_{name}_{part}({values}))" for part in "ri"]
    else:
        lines.append(f"{result} a = {name}({given});")
        checks = [f"is_same(a, f2c_{name}({values}))"]
    # A complex division by zero, and an integer one, end the program.
    skip = "if (y.r == 0 && y.i == 0) continue;" if name.endswith("div") else ""
    skip = "if (x.r == 0 && x.i == 0 && y < 0) continue;" if name in ("pow_zi", "pow_ci") else skip
    skip = "if (x == 0 && y < 0) continue;" if name == "pow_ii" else skip
    inner = "\n".join([*lines[: len(own)], skip, *lines[len(own) :]])
    return (
        f"{result} {name}({', '.join(kinds)});\n"
        f"static int try_{name}(void) {{ int bad = 0;\n"
        f"for (unsigned xk = 0; xk < 60; xk++) for (unsigned yk = 0; yk < 60; yk++) {{\n{inner}\n"
        f"if (!({' && '.join(checks)})) bad++; }} return bad; }}\n"
    )


@pytest.mark.skipif(not list(Path("/usr/lib").glob("**/libf2c.a")), reason="no libf2c")
def test_the_values_are_those_of_the_library(tmp_path: Path) -> None:
    found = library_functions(LIBRARY, "int")
    math = [
        f"{FUNCTIONS[n].result} {n}({', '.join(FUNCTIONS[n].parameters)});\n"
        for n in called_functions(found)
    ]
    own = "".join(definition(f, {g.name: g.name for g in found}, "static") for f in found)
    tried = [name for name, entry in _TABLE.items() if entry.bodies]
    calls = "".join(f'if (try_{n}()) printf("{n} %d\\n", try_{n}());' for n in tried)
    text = _HEAD + "".join(math) + own + "".join(map(_trial, tried))
    source, program = tmp_path / "t.c", tmp_path / "t"
    source.write_text(f"{text}\nint main(void) {{ {calls} return 0; }}\n")
    flags = ["-O2", "-w", "-ffp-contract=off"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(program), "-lf2c", "-lm"], check=True)
    assert subprocess.run([str(program)], capture_output=True, text=True).stdout == ""
