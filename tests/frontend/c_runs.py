"""A region and its lowered nest, both compiled with gcc and run on the same memory.

The nest is printed as serial C in the place of the region; iterators and variables of the nest's
own are declared there. What is left in memory must be the same, byte by byte, also where arrays
overlap.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from source_text import CLOSE, OPEN, load_text

from annotune.codegen.c_stmt import Dialect, final_values
from annotune.codegen.writer import Writer
from annotune.ir.region import Region

HEAD = """\
#include <complex.h>
#include <math.h>
#include <stdlib.h>
"""
_PARAMETERS = (
    "int n, int m, unsigned u, long l, double *a, double *b, double *c, float *f, int *p, int *q, "
    "double complex *z, double x, float y"
)
_SIZE = 4096
# Half-way into its buffer each pointer may be moved either way.
_MAIN = """
#include <stdio.h>
#include <string.h>
static union memory {
    double d[7][SIZE];
    struct {
        double a[SIZE], b[SIZE], c[SIZE]; float f[SIZE]; int p[SIZE], q[SIZE];
        double complex z[SIZE];
    } part;
} one, two;
static void fill(union memory *at) {
    memset(at, 0, sizeof *at);
    unsigned state = 7;
    for (int i = 0; i < SIZE; i++) {
        state = state * 1103515245u + 12345u;
        int value = (int)(state >> 16) % 19 - 9;
        at->part.a[i] = value + 0.5;
        at->part.b[i] = (i * 7) % 11 - 5;
        at->part.c[i] = value * (i % 3);
        at->part.f[i] = 0.25f * value;
        at->part.p[i] = (i * 5) % 8;
        at->part.q[i] = value;
        at->part.z[i] = value + 2 * I;
    }
    at->part.b[SIZE / 2 + 3] = NAN;
}
typedef void function(PARAMETERS);
static void call(function *f, union memory *at, int n, int m, int overlap) {
    int h = SIZE / 2;
    double *a = at->part.a + h;
    int *p = at->part.p + h;
    f(n, m, (unsigned)(n + 2), m + 1L, a, overlap ? a - 1 : at->part.b + h,
      overlap ? a + 2 : at->part.c + h, at->part.f + h, p, overlap ? p + 1 : at->part.q + h,
      at->part.z + h, 1.5, 2.5f);
}
static function *const pairs[][2] = {PAIRS};
int main(void) {
    const int sizes[][2] = {{0, 0}, {1, 1}, {4, 3}, {7, 5}, {3, 9}, {0, 4}, {6, 0}, {-2, 3}};
    for (int k = 0; k < (int)(sizeof pairs / sizeof *pairs); k++)
        for (int s = 0; s < 2 * (int)(sizeof sizes / sizeof *sizes); s++) {
            fill(&one);
            fill(&two);
            call(pairs[k][0], &one, sizes[s / 2][0], sizes[s / 2][1], s % 2);
            call(pairs[k][1], &two, sizes[s / 2][0], sizes[s / 2][1], s % 2);
            if (memcmp(&one, &two, sizeof one)) {
                printf("%d\\n", k);
                break;
            }
        }
    return 0;
}
"""


def function(body: str, before: str = "", after: str = "", head: str = "") -> str:
    """Return a file with one function `original` whose region is `body`."""
    return (
        f"{HEAD}{head}\nvoid original({_PARAMETERS})\n{{\n    int i, j, k, off;\n"
        f"    double s, t;\n{before}\n    {OPEN}\n{body}\n    {CLOSE}\n{after}\n}}\n"
    )


def printed(region: Region) -> str:
    """Return the nest of a region as a block of C."""
    out = Writer()
    with out.block(""):
        for alias in region.text.aliases:
            out.line(alias.declaration)
        iterators = {loop.var for loop in region.nest.loops()}
        for scalar in region.scalars.values():
            if scalar.is_local and scalar.name not in iterators:
                out.line(f"{scalar.type} {scalar.name};")
        Dialect(region, flat=False).write_body(out, region.nest.body)
        wanted = frozenset(s.name for s in region.scalars.values() if s.read_after)
        out.lines(final_values(region, wanted))
        for alias in region.text.aliases:
            out.lines(alias.behind)
    return out.text()


def differing(texts: Sequence[str], folder: Path) -> list[str]:
    """Return the texts whose lowered nest leaves something else in memory, each with its nest."""
    parts, pairs, nests = [HEAD], [], []
    for number, text in enumerate(texts):
        (region,) = load_text(text).regions
        nests.append(printed(region))
        where = region.extent
        changed = text[: where.start] + nests[-1] + text[where.end :]
        for name, version in (("original", text), ("lowered", changed)):
            parts.append(version[version.index("void original(") :])
            parts[-1] = parts[-1].replace("void original(", f"static void {name}_{number}(", 1)
        pairs.append(f"{{original_{number}, lowered_{number}}}")
    main = _MAIN.replace("SIZE", str(_SIZE)).replace("PAIRS", ", ".join(pairs))
    source, program = folder / "pairs.c", folder / "pairs"
    source.write_text("\n".join(parts) + main.replace("PARAMETERS", _PARAMETERS))
    command = ["gcc", "-O1", "-w", "-ffp-contract=off", str(source), "-o", str(program), "-lm"]
    subprocess.run(command, check=True, timeout=300)
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=True)
    wrong = [int(line) for line in ran.stdout.split()]
    return [f"{texts[number]}\n{nests[number]}" for number in wrong]
