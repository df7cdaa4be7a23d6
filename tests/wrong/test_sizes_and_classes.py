"""``sizeof`` of what C fixes, and what ``math.h`` asks of a real, in a region."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.pipeline import Settings, check, emit
from wrong.called import Array, Call, Program

HEAD = """\
#include <math.h>
#include <stddef.h>
#define BYTES sizeof(float)
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
typedef double real;
typedef struct { double a; int b; } pair;
typedef union { char c[12]; int i; } both;
enum side { LEFT, RIGHT };
static double w[12];
static float rows[3][4];
"""
TEXT = """
void classes(int n, const double *restrict a, const float *restrict b, double *restrict c,
             int *restrict m)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        c[i] = isnan(a[i]) ? -1.0 : a[i];
        if (!isfinite(b[i])) m[i] = isinf(b[i]) != 0 ? 2 : 3;
        else if (signbit(a[i]) && !isnan(a[i])) m[i] = 4;
        if (isinf(b[i] * 2) == 0) c[i] += 1;
        if (isnan(a[i] - a[i]) || isinf(a[i])) m[i] += 100;
    }
    /*@ end @*/
}
double sizes(int n, double *restrict c, float (*r)[5], const pair *p)
{
    double s = 0;
    pair q[3];
    /*@ begin PerfTuning ( ) @*/
    for (size_t i = 0; i < sizeof w / sizeof w[0]; i++)
        w[i] = i * sizeof(double) + sizeof(pair) + sizeof q + sizeof(rows[0]) + sizeof(*r)
            + sizeof(c) + sizeof(int [3]) + sizeof p->b + sizeof(real) + sizeof(both)
            + sizeof(r[1]) + sizeof *(w + 1);
    /*@ end @*/
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    for (int i = 0; i < n; i++) {
        c[i] += (i - BYTES) / 2;
        s += (double)(i % sizeof(enum side)) + w[i % 12] - (i < -1 + (int)sizeof rows ? 1 : 0);
    }
    /*@ end @*/
    return s;
}
"""
# Members that are arrays, which the nest has under names of their own, and pointers to rows.
MEMBERS = (
    "a[i] += sizeof p[i].pos;",
    "a[i] += sizeof(p->pos);",
    "a[i] += sizeof(s->e) + p->pos[1];",
    "a[i] += sizeof(s->f[1]) + sizeof s->f + s->e[1];",
    "a[i] += sizeof l.f + sizeof(l.f[0]) + sizeof lines[0].e + l.f[1][2];",
    "a[i] += sizeof all[1].pos + sizeof all->pos + sizeof all + all[1].x;",
    "a[i] += sizeof(s->rows) + sizeof *s->rows + sizeof s->k + sizeof *s->k + s->n;",
    "a[i] += sizeof line + sizeof line[0] + sizeof g.f + g.n; for (int line = 0; line < 2; line++)"
    " a[i] += sizeof line;",
    "struct point *q = &all[i]; q->pos[2] = sizeof *q + sizeof(q->pos) + sizeof q -> pos [1];"
    " a[i] += q->pos[2] + sizeof(q->z);",
    "struct line *q = s; a[i] += sizeof(q->f) + sizeof(*q) + sizeof (q)->e[i % 5] + q->e[0];",
)
MEMBERS_HEAD = """
struct point { double x, pos[3], z; };
struct line { double e[5], f[2][3]; double (*rows)[4], *k; int n; };
static struct point all[64];
static struct line g;
"""
MEMBERS_TEXT = """
void f{number}(int n, double *restrict a, double line[8])
{{
    struct point *p = all;
    struct line *s = &g, l = g, lines[2] = {{g, g}};
    /*@ begin PerfTuning ( def input_params {{ param n = 64; }} ) @*/
    for (int i = 0; i < n; i++) {{ {body} }}
    /*@ end @*/
}}
"""
REFUSED = {
    "c[i] = sizeof(double [n]);": "AT133",
    "c[i] = sizeof(c[i] + 1);": "AT133",
    "c[i] = sizeof(w + 1);": "AT133",
    "c[i] = sizeof(-c[i]);": "AT133",
    "c[i] = sizeof(struct unknown);": "AT133",
    "w[i] = LENGTH(w);": "AT155",
    "c[i] = isnan(c[i]);": "AT133",
    "if (isnan(i)) c[i] = 0;": "AT156",
    "if (isnan(c[i], 2)) c[i] = 0;": "AT156",
    "if (isnormal(c[i])) c[i] = 0;": "AT130",
}
REGION = """
void f(int n, double *restrict c)
{{
    /*@ begin PerfTuning ( def input_params {{ param n = 12; }} ) @*/
    for (int i = 0; i < n; i++) {{ {body} }}
    /*@ end @*/
}}
"""


def test_each_is_what_c_has(tmp_path: Path) -> None:
    source = tmp_path / "sizes.c"
    source.write_text(HEAD + TEXT)
    program = Program(tmp_path, source, ("cuda", "openacc", "openmp"))
    assert not [one.message for one in program.emission.diagnostics if one.code == "AT623"]
    odd = (1, -2, "nan", "-nan", "inf", "-inf", "0.0", "-0.0", 5)
    single = (1, "nan", "inf", "-inf", 0, "-0.0", 3e38, 1, 2)
    double = Array("f8", 20, odd)
    program.check(
        Call("classes", 20, double, Array("f4", 20, single), Array("f8", 20), Array("i4", 20)),
        Call("sizes", 12, Array("f8", 12), Array("f4", 10), Array("f8", 4), returns="f8"),
    )


def test_a_member_has_its_own_size(tmp_path: Path) -> None:
    texts = (MEMBERS_TEXT.format(number=n, body=body) for n, body in enumerate(MEMBERS))
    source = tmp_path / "members.c"
    source.write_text(MEMBERS_HEAD + "".join(texts))
    program = Program(tmp_path, source, ("cuda", "openacc", "openmp"))
    assert not [one.message for one in program.emission.diagnostics if one.code == "AT623"]
    arrays = Array("f8", 64), Array("f8", 8)
    calls = (Call(f"f{number}", n, *arrays) for number in range(len(MEMBERS)) for n in (0, 64))
    program.check(*calls)


def test_the_text_of_a_region_alone_has_the_numbers(tmp_path: Path) -> None:
    """There an array is a parameter, whose size is that of a pointer."""
    source = tmp_path / "sizes.c"
    source.write_text(HEAD + TEXT)
    region = check(Settings(source)).regions[1].region
    numbers = [one.name for one in region.text.spellings if "unsigned long" in one.name]
    assert [int(one.strip("()").split(")")[1]) for one in numbers] == [
        *(96, 8, 16, 48, 16, 20, 8, 12, 4, 12, 20, 8),
    ]


@pytest.mark.parametrize("body", REFUSED)
def test_what_has_no_size_or_no_class_is_refused(body: str, tmp_path: Path) -> None:
    source = tmp_path / "refused.c"
    source.write_text(HEAD + REGION.format(body=body))
    with pytest.raises(AnnotuneError) as refused:
        emit(Settings(source, ("openmp",)), [load_target("openmp")])
    assert REFUSED[body] in {one.code for one in refused.value.diagnostics}
