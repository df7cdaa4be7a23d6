"""How long reading a file takes as it grows: seconds for 5,000 to 50,000 lines, by kind.

    python benchmarks/parsing.py

`one region` has a single annotated function among many others, `all regions` annotates every
one of them; `declarations` is a file of globals, `macros` one of definitions that are all used.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from annotune.annotation.regions import scan_annotations
from annotune.frontend.load import load
from annotune.pipeline import Settings, check

_OPEN, _CLOSE = "/*@ begin PerfTuning () @*/", "/*@ end @*/"
LINES = (5_000, 10_000, 50_000)


def function(number: int, is_annotated: bool = False) -> str:
    """Return ten lines of C: one function with a nest of two loops."""
    opener, closer = (_OPEN, _CLOSE) if is_annotated else ("", "")
    return (
        f"/* Computes row {number}. */\n"
        f"static void row_{number}(int n, double *restrict a, const double *restrict b)\n{{\n"
        f"  int i, j;\n  double s{number} = {number}.5;\n  {opener}\n"
        f"  for (i = 0; i < n; i++)\n    for (j = 0; j < n; j++) a[i*n + j] += s{number} * b[j];\n"
        f"  {closer}\n}}\n"
    )


def one_region(lines: int) -> str:
    return "".join(function(k, is_annotated=k == lines // 20) for k in range(lines // 10))


def all_regions(lines: int) -> str:
    return "".join(function(k, is_annotated=True) for k in range(lines // 10))


def declarations(lines: int) -> str:
    globals_ = "".join(f"static double table_{k}[{k + 1}];\n" for k in range(lines - 10))
    return globals_ + function(0, is_annotated=True)


def macros(lines: int) -> str:
    """Return definitions of which each uses the one before, in a region that uses the last."""
    count = min(20, lines - 10)
    chain = "#define M0(x) (x)\n" + "".join(
        f"#define M{k}(x) M{k - 1}((x) + {k})\n" for k in range(1, count)
    )
    flat = "".join(f"#define V{k} {k}.5\n" for k in range(lines - 10 - count))
    body = function(0, is_annotated=True).replace("b[j]", f"M{count - 1}(b[j])")
    return chain + flat + body


def largest_nest(statements: int = 40, temporaries: int = 20) -> str:
    """Return three loops around statements that go through temporaries, as generated C does."""
    body = [f"t{k} = a[i*m*l + j*l + k] * {k}.5 + b[j*l + k];" for k in range(temporaries)]
    for k in range(statements - temporaries):
        other = (7 * k + 3) % temporaries
        target = f"c{k % 4}[i*m*l + j*l + k]" if k % 2 else f"d{k % 3}[j*l + k]"
        body.append(f"{target} += t{k % temporaries} * t{other} - a[i*m*l + j*l + k + {k % 2}];")
    names = ["a", "b", *(f"c{k}" for k in range(4)), *(f"d{k}" for k in range(3))]
    parameters = ", ".join(f"double *restrict {name}" for name in names)
    temporary = ", ".join(f"t{k}" for k in range(temporaries))
    lines = "\n        ".join(body)
    return (
        f"void f(int n, int m, int l, {parameters})\n{{\n  int i, j, k;\n  double {temporary};\n"
        "  /*@ begin PerfTuning ( def input_params "
        "{ param n = 40; param m = 50; param l = 60; } ) @*/\n"
        "  for (i = 0; i < n; i++)\n    for (j = 0; j < m; j++)\n"
        f"      for (k = 0; k < l - 1; k++) {{\n        {lines}\n      }}\n  {_CLOSE}\n}}\n"
    )


KINDS: dict[str, Callable[[int], str]] = {
    "one region": one_region,
    "all regions": all_regions,
    "declarations": declarations,
    "macros": macros,
}


def main() -> None:
    """Print the seconds of every kind and length."""
    for kind, make in KINDS.items():
        seconds = []
        for lines in LINES:
            text = make(lines)
            begin = time.perf_counter()
            blocks = scan_annotations(text, "big.c").blocks
            load("big.c", text, blocks)
            seconds.append(time.perf_counter() - begin)
        figures = [f"{n} lines {s:.2f} s" for n, s in zip(LINES, seconds, strict=True)]
        print(f"{kind:14}", "  ".join(figures))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "largest.c"
        path.write_text(largest_nest())
        begin = time.perf_counter()
        report = check(Settings(path))
        seconds_s = time.perf_counter() - begin
        refused = "refused" if report.is_refused else "accepted"
        print(f"check of 40 statements with 20 temporaries: {seconds_s:.2f} s, {refused}")


if __name__ == "__main__":
    sys.exit(main())
