"""Random programs of regions and host code in blocks of Data do what the C as written does.

Also where a call of the CUDA library fails, or memory is short: then they may stop instead.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.laws import IS_THOROUGH
from support.resident import Built, Job

SEEDS = range(20) if IS_THOROUGH else range(1)
FUNCTIONS, FAILURES = (10, 4) if IS_THOROUGH else (5, 3)
REGIONS = {
    "scaled": ("double *restrict a, double c", "a[i] = c * a[i] + 0.25;"),
    "mixed": ("double *restrict a, const double *restrict b", "a[i] = 0.5 * a[i] + 0.25 * b[i];"),
    "made": ("double *restrict a, const double *restrict b", "a[i] = 0.5 * b[i] - 0.125;"),
    "inner": (
        "double *restrict a, const double *restrict b",
        "if (i > 0 && i < n - 1) a[i] = 0.25 * b[i - 1] + 0.5 * b[i + 1];",
    ),
}
HEAD = """
#include <math.h>
#include <stdlib.h>
#include <string.h>
void unknown(double *y);
static double *shared;
typedef struct { int n; double *v; double c[3]; } rows;
static double dot(int n, const double *restrict a, const double *restrict b)
{
    double s = 0.0;
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    /*@ end @*/
    return s / n;
}
static double at(const double *a, int i) { return a[i]; }
static void put(double *a, int i, double v) { if (i > 0) a[i] = v; }
""" + "".join(
    f"static void {name}(int n, {parameters})\n{{\n"
    "/*@ begin PerfTuning (def input_params { param n = 1000; }) @*/\n"
    f"    for (int i = 0; i < n; i++)\n        {body}\n/*@ end @*/\n}}\n"
    for name, (parameters, body) in REGIONS.items()
)
HEAD += """
static void both(int n, double *restrict a, double *restrict b)
{
    scaled(n, a, 0.5);
    b[1] += a[2];
    mixed(n, b, a);
}
"""
OTHERS = "void unknown(double *y) { y[1] = 0.5 * y[1] + 1.0; y[2] -= 0.5; }\n"


class Writing:
    """One function; `a`, `b` of a template are two arrays, `p` any pointer, `i` a subscript."""

    templates = (
        *("scaled(n, {p}, 0.5);", "mixed(n, {a}, {b});", "made(n, {a}, {b});"),
        *("inner(n, {a}, {b});", "inner(n - 1, {a} + 1, {b});", "mixed(n / 3, {a} + 1, {b} + 2);"),
        *("scaled(n / 2, {p} + n / 4, 0.5);", "both(n, {a}, {b});", "s = 0.5 * dot(n, {p}, {p});"),
        *("{p}[{i}] += {v};", "s = 0.5 * s + {v};", "put({p}, {i}, {v});", "unknown({p});"),
        "for (int i = 0; i < n; i++) {p}[i] = 0.5 * {p}[i] + s;",
        "memcpy({a}, {b}, (n / 2) * sizeof *{a});",
        "double *t = {p} + n; *--t += s;",
        "double *t = p; p = q; q = t;",
        "shared = {p}; shared[{i}] -= 0.5;",
        "rows z = {{n, {p}, {{0.0}}}}; z.c[1] += z.v[{i}]; z.v[{i}] = z.c[1];",
        "double *m = malloc(n * sizeof *m); for (int i = 0; i < n; i++) m[i] = {p}[i];"
        " scaled(n, m, 0.5); mixed(n, {p}, m); free(m);",
    )
    values = ("s", "0.5 * {p}[{i}]", "1.0", "fabs({p}[{i}])", "at({p}, {i})")
    subscripts = ("0", "1", "n - 1", "n / 2", "k % n", "3 % n")

    def __init__(self, chosen: random.Random) -> None:
        self.chosen = chosen

    def filled(self, template: str) -> str:
        """Return a template with names for its places, anew for each."""
        pick: dict[str, Callable[[], str]] = {
            "{p}": lambda: self.chosen.choice(("x", "y", "w", "p", "q")),
            "{i}": lambda: self.chosen.choice(self.subscripts),
            "{v}": lambda: self.filled(self.chosen.choice(self.values)),
        }
        a, b = self.chosen.choice((*((m, n) for m in "xyw" for n in "xyw" if m != n), ("p", "q")))
        text = template.replace("{a}", a).replace("{b}", b)
        for place, name in pick.items():
            while place in text:
                text = text.replace(place, name(), 1)
        return text.replace("{{", "{").replace("}}", "}")

    def statement(self, depth: int) -> Iterator[str]:
        """Yield the lines of a block."""
        yield "{"
        kind = self.chosen.randrange(9) if depth < 3 else 9
        inner = [*self.statement(depth + 1), *self.statement(depth + 1)] if kind < 4 else []
        if kind == 0:
            yield from (f"for (int j{depth} = 0; j{depth} < 2; j{depth}++) {{", *inner, "}")
        elif kind == 1:
            yield from ("if (k % 2) {", *inner, self.filled("}} else {p}[{i}] += 0.5;"))
        elif kind == 2:
            yield from (self.filled("if ({p}[{i}] > {v}) {{"), *inner, "}")
        elif kind == 3:
            name = self.chosen.choice("xyw")
            yield f'/*@ begin Data ( enter = "{name}[n]"; exit = "{name}" ) @*/'
            yield from (*inner, "/*@ end @*/")
        else:
            yield self.filled(self.chosen.choice(self.templates))
        yield "}"

    def function(self, name: str) -> str:
        """Return the function, whose arrays x and y are right at its end."""
        stay = [array for array in "xyw" if self.chosen.random() < 0.8] or ["x"]
        ends = [array for array in stay if array != "w" or self.chosen.random() < 0.3]
        lists = [f'enter = "{", ".join(f"{array}[n]" for array in stay)}"']
        lists += [f'exit = "{", ".join(ends)}"'] if ends else []
        body = [line for _ in range(6) for line in self.statement(0)]
        return "\n".join(
            [
                f"void {name}(int n, int steps, double *restrict x, double *restrict y)\n{{",
                "double s = 0.5, *w = malloc(n * sizeof *w), *p = x, *q = w;",
                "for (int i = 0; i < n; i++) w[i] = 0.25 * i;",
                f"/*@ begin Data ( {'; '.join(lists)} ) @*/",
                *("for (int k = 0; k < steps; k++) {", *body, "}", "/*@ end @*/"),
                "x[0] += s;\nfree(w);\n}\n",
            ]
        )


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda", "openacc"])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int, target: str, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    names = [f"f{k}" for k in range(FUNCTIONS)]
    text = HEAD + "\n".join(Writing(chosen).function(name) for name in names)
    built = Built(tmp_path, target, {"program": text}, OTHERS)
    assert all(r.is_resident for r in built.emissions["program"].source.regions)
    jobs = [Job(f, (n, k), (n, n), rtol=1e-11) for f in names for n in (8, 17) for k in (1, 3)]
    built.outcomes(*jobs)
    if target == "openacc":
        return
    rest = [
        Job(f, (16, 2), (16, 16), rtol=1e-11, fail_at=chosen.randrange(1, 80))
        for f in names
        for _ in range(FAILURES)
    ]
    found, said = built.run(*rest)
    assert all(one is None or one.same for one in found)
    assert found.count(None) == said.count("stopping\n")
    short = [Job(f, (16, 3), (16, 16), rtol=1e-11, memory=64 * k) for f in names for k in (1, 3, 6)]
    built.outcomes(*short)
