"""Emitted texts built again where a header of the user's has other numbers, as NPB writes them.

Each computes what the original does with them, or stops the compiler and asks for another run.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from annotune.codegen.target import DEFAULT_TARGETS, load_target
from annotune.pipeline import Settings, emit
from wrong.called import Call, Program

SIZES = "#define SIZE {size}\n"
DIMS = """\
#include "size.h"
#define IMAX (SIZE / 2 * 2 + 1)
#define CLASS (SIZE / 6)
#define PAD(x) ((x) / 2 * 2 + 1)
#define LINE (64 / sizeof(double))
enum { N = SIZE, ROW = SIZE / 2 * 2 + 3 };
#if SIZE > 20
#define JMAX (SIZE + 1)
#else
#define JMAX (SIZE + 4)
#endif
typedef double row[SIZE / 2 * 2 + 5];
typedef struct { int k; double u[IMAX][IMAX], v[IMAX][JMAX]; } box;
"""
LITERAL = "enum {{ PLAIN = {size} }};\ntypedef double line[{size} + 1];\n"
HEAD = '#include "dims.h"\n#include "literal.h"\n#include "size.h"\n'
FUNCTION = """
{declared}
double f{number}(double s)
{{
    int i, j, n = SIZE;
    double t = 0;
    {local}
    for (i = 0; i < SIZE; i++)
        for (j = 0; j < SIZE; j++)
            {u}[i][j] = i + 0.25 * j;
    /*@ begin PerfTuning ( def input_params {{ param n = 36; }} ) @*/
    {nest}
    /*@ end @*/
    for (i = 0; i < SIZE; i++)
        for (j = 0; j < SIZE; j++)
            t += {v}[i][j] * (i + 1) * (j + 2);
    return t;
}}
"""
NEST = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) {v}[i][j] = s * {u}[i][j];"
BOTH = "static double @u[{0}][{1}], @v[{0}][{1}];"
# Declarations of @u and @v, in or before the function, and other loops than those of all.
KEPT = {
    "a macro of a macro": (BOTH.format("JMAX", "JMAX"), "", NEST),
    "a chain of macros": (BOTH.format("CLASS*6 + 6", "CLASS*6 + 7"), "", NEST),
    "quotients in parentheses": (BOTH.format("IMAX", "IMAX"), "", NEST),
    "enumerators": (BOTH.format("N", "ROW"), "", NEST),
    "rows by a pointer": (
        "static double @p[SIZE*(SIZE + 2)]; static double @q[SIZE*(SIZE + 2)];",
        "double (*@u)[SIZE + 2] = (double (*)[SIZE + 2])@p, "
        "(*@v)[SIZE + 2] = (double (*)[SIZE + 2])@q;",
        NEST,
    ),
    "members": ("static box @box;", "", NEST),
    "another meaning later": (
        f"#define EDGE SIZE + 3\n{BOTH.format('EDGE', 'EDGE')}\n#undef EDGE\n#define EDGE 2",
        "",
        NEST,
    ),
    "bounds and values": (
        BOTH.format("SIZE", "SIZE"),
        "",
        "for (i = 0; i < CLASS * 6; i++) for (j = 0; j < SIZE; j++)"
        " {v}[i][j] = s * {u}[i][j] + SIZE % 7 + 1.0 / IMAX;",
    ),
}
STOPPED = {
    "a quotient in the brackets": (BOTH.format("SIZE/2*2 + 1", "SIZE/2*2 + 1"), "", NEST),
    "a macro with arguments": (BOTH.format("PAD(SIZE)", "PAD(SIZE)"), "", NEST),
    "a remainder of an enumerator": (BOTH.format("N", "N + N % 5"), "", NEST),
    "a quotient of an enumerator of plain numbers": (
        BOTH.format("PLAIN", "PLAIN/2*2 + 3"),
        "",
        NEST,
    ),
    "the size of a type": (BOTH.format("SIZE", "(SIZE + LINE - 1)/LINE*LINE"), "", NEST),
    "a typedef": ("static row @u[SIZE], @v[SIZE];", "", NEST),
    "a typedef of plain numbers": ("static line @u[SIZE], @v[SIZE];", "", NEST),
    "an array of one iteration": (
        BOTH.format("SIZE", "SIZE"),
        "",
        "for (i = 0; i < n; i++) {{ double w[SIZE/2*2 + 1]; for (j = 0; j < n; j++)"
        " w[j] = {u}[i][j]; for (j = 0; j < n; j++) {v}[i][j] = s * w[n - 1 - j]; }}",
    ),
    "a local array": (
        "",
        "static double @u[SIZE][SIZE/2*2 + 1]; double @v[SIZE + SIZE%5][SIZE/2*2 + 1];",
        NEST,
    ),
    "the text of the region": (
        BOTH.format("SIZE", "SIZE"),
        "",
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++)\n"
        "#if SIZE == 36\n{v}[i][j] = s * {u}[i][j];\n#else\n{v}[i][j] = {u}[i][j];\n#endif\n",
    ),
}
AGAIN = "; run annotune again"


def text_of(number: int, case: tuple[str, str, str]) -> str:
    declared, local, nest = (part.replace("@", f"a{number}_") for part in case)
    own = "." if "box" in declared else "_"
    u, v = (f"a{number}_{'box.' * (own == '.')}{name}" for name in "uv")
    shown = nest.format(u=u, v=v)
    return FUNCTION.format(number=number, declared=declared, local=local, nest=shown, u=u, v=v)


def write_headers(folder: Path, size: int) -> None:
    (folder / "size.h").write_text(SIZES.format(size=size))
    (folder / "literal.h").write_text(LITERAL.format(size=size))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dims.h").write_text(DIMS)
    write_headers(tmp_path, 36)
    return tmp_path


def test_what_keeps_the_name_computes_with_the_new_number(folder: Path) -> None:
    source, made = folder / "s.c", folder / "made"
    made.mkdir()
    source.write_text(HEAD + "".join(text_of(k, case) for k, case in enumerate(KEPT.values())))
    # OpenACC's sections are as long as they were; see below.
    program = Program(made, source, ("cuda", "openmp"))
    calls = [Call(f"f{k}", 2.5, returns="f8") for k in range(len(KEPT))]
    program.check(*calls)
    for size in (12, 50):
        write_headers(made, size)
        program.build()
        program.check(*calls)


@pytest.mark.parametrize("name", STOPPED)
def test_what_has_the_number_stops_the_compiler(name: str, folder: Path) -> None:
    source = folder / "s.c"
    source.write_text(HEAD + text_of(0, STOPPED[name]))
    files = emit(Settings(source, DEFAULT_TARGETS), [load_target(t) for t in DEFAULT_TARGETS]).files
    for size in (36, 12, 50):
        write_headers(folder, size)
        for suffix in ("_cuda.c", "_acc.c", "_omp.c"):
            path = folder / f"s{suffix}"
            path.write_text(files[suffix])
            command = ["gcc", "-fsyntax-only", "-w", "-fopenacc", "-I", folder, path]
            done = subprocess.run(command, capture_output=True, text=True)
            assert (done.returncode != 0) is (size != 36), (suffix, size, done.stderr)
            if size != 36:
                assert "annotune read this region where" in done.stderr
                assert AGAIN in done.stderr


def test_a_section_as_long_as_a_constant_says_stops_the_compiler(folder: Path) -> None:
    nest = "for (i = 0; i < N; i++) for (j = 0; j < N; j++) {v}[i][j] = s * {u}[i][j];"
    source = folder / "s.c"
    source.write_text(HEAD + text_of(0, (BOTH.format("ROW", "ROW"), "", nest)))
    text = emit(Settings(source, ("openacc",)), [load_target("openacc")]).files["_acc.c"]
    (folder / "made.c").write_text(text)
    write_headers(folder, 12)
    command = ["gcc", "-fsyntax-only", "-w", "-fopenacc", folder / "made.c"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert f"annotune read this region where ROW is 39{AGAIN}" in done.stderr


TYPES = """\
#include <complex.h>
#include <stdint.h>
typedef {type} number;
typedef number vector[4];
typedef int32_t count;
typedef enum {{ RED, GREEN{more} }} colour;
enum shade {{ LIGHT, DARK{more} }};
typedef struct {{ number y; {type} x; }} site;
typedef struct {{ vector a; enum shade s; }} box;
typedef struct grid {{
    int k;
    {type} nx, *u, w[8];
    const number (*v)[4];
    struct {{ {type} deep; }} in;
    colour *paint;
}} grid;
extern {type} common[64];
extern {type} factor;
extern grid whole;
{type} weight(int i);
static inline number twice(number x) {{ number t = x; return t + t; }}
"""
# What a region uses of a header whose numbers become those of another type: parameters, what stands
# before the region, and in it.
OF_A_HEADER = {
    "a parameter": ("number *restrict a", "", "a[i] += 1;"),
    "a sum": ("const number *restrict a, number *restrict o", "", "o[0] += a[i];"),
    "a local variable": ("double *restrict a", "", "number t = a[i] / 3; a[i] = t;"),
    "a conversion": ("double *restrict a", "", "a[i] = (number)(a[i] / 3);"),
    "rows": ("vector *restrict a", "", "for (int j = 0; j < 4; j++) a[i][j] += 1;"),
    "rows by pointers": ("number **b, double *restrict a", "", "a[i] += b[0][i] + b[1][i];"),
    "a pointer of the region's": ("number *b, double *a", "", "number *p = b + i; a[i] += *p;"),
    "an array of the header's": ("double *restrict a", "", "a[i] = common[i];"),
    "a number of the header's": ("double *restrict a", "", "a[i] *= factor;"),
    "a typedef of the file's": ("own *restrict a", "", "a[i] += 1;"),
    "a typedef of the function's": (
        "double *restrict a",
        "typedef number mine; mine t = 3; t++;",
        "a[i] += t / 2;",
    ),
    "a coefficient": ("number t, double *restrict a", "", "a[i] += t / 2;"),
    "a member": ("const grid *g, double *restrict a", "", "a[i] += g->nx;"),
    "a member of the header's": ("double *restrict a", "", "a[i] += whole.in.deep;"),
    "an array in a struct": ("grid *g, double *restrict a", "", "g->u[i] = a[i] + g->w[i % 8];"),
    "rows in a struct": ("grid *g, double *restrict a", "", "a[i] += g->v[i][2];"),
    "an array of structs": ("site *s, double *restrict a", "", "a[i] += s[i].x;"),
    "an array in an array": ("box *s, double *restrict a", "", "a[i] += s[i].a[1];"),
    "a struct of the region's": (
        "double *restrict a",
        "",
        "site t; t.x = a[i] / 3; t.y = t.x * 2; a[i] = t.y;",
    ),
    "a struct of the function's": (
        "double *restrict a",
        "site t;",
        "t.x = a[i] / 3; a[i] = t.x;",
    ),
    "behind a pointer": ("number *t, double *restrict a", "", "a[i] += *t + *(t + i);"),
    "a function": ("double *restrict a", "", "a[i] += weight(i) / 2;"),
    "a function of the header's": ("double *restrict a", "", "a[i] += twice(i) / 2;"),
}
# And of enumerations that get a value below 0, and another type with it.
OF_ENUMERATIONS = {
    "elements": ("const colour *restrict c, double *restrict a", "", "a[i] += c[i] - 1;"),
    "a tag": ("enum shade *restrict c", "", "c[i] = DARK;"),
    "a number": ("colour c, double *restrict a", "", "a[i] += (c - 1) / 2;"),
    "a temporary": ("double *restrict a", "", "enum shade c = i % 2; a[i] += (c - 1) / 2;"),
    "a conversion": ("double *restrict a", "", "a[i] += ((colour)(i % 2) - 1) / 2;"),
    "a member's elements": ("const grid *g, double *restrict a", "", "a[i] += g->paint[i] - 1;"),
    "a member of elements": ("const box *s, double *restrict a", "", "a[i] += s[i].s - 1;"),
}
WITH_TYPES = """\
void f{number}(int n, count m, {arguments})
{{
    {local}
    /*@ begin PerfTuning (
        def input_params {{ param n = 36; param m = 3; }}
        def assume {{ arg pure = ['weight', 'twice']; }}
    ) @*/
    for (int i = 0; i < n; i++) {{
        if (i > m) {{ {body} }}
    }}
    /*@ end @*/
}}
"""


def stopped_functions(path: Path) -> set[str]:
    """Return the functions of a file at which a compiler stops, and asks for another run."""
    command = ["gcc", "-fsyntax-only", "-w", "-fopenacc", "-fopenmp", path]
    said = subprocess.run(command, capture_output=True, text=True).stderr
    parts = re.split(r"In function .(f\d+)", said)
    texts: dict[str, str] = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        texts[name] = texts.get(name, "") + text
    assert all(AGAIN in text for text in texts.values()), said
    return set(texts)


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("cases", "first", "others"),
    [
        (OF_A_HEADER, "float", ("double", "int")),
        (OF_A_HEADER, "int", ("unsigned", "short", "long", "float")),
        (OF_A_HEADER, "double", ("long",)),
        (OF_ENUMERATIONS, "int", ()),
    ],
)
def test_another_type_in_a_header_stops_the_compiler(
    cases: dict[str, tuple[str, str, str]], first: str, others: tuple[str, ...], tmp_path: Path
) -> None:
    source, header = tmp_path / "s.c", tmp_path / "types.h"
    texts = (
        WITH_TYPES.format(number=k, arguments=arguments, local=local, body=body)
        for k, (arguments, local, body) in enumerate(cases.values())
    )
    source.write_text('#include "types.h"\ntypedef number own;\n' + "".join(texts))
    header.write_text(TYPES.format(type=first, more=""))
    files = emit(Settings(source, DEFAULT_TARGETS), [load_target(t) for t in DEFAULT_TARGETS]).files
    every = {f"f{k}" for k in range(len(cases))}
    changes = [(first, "", set()), *((kind, "", every) for kind in others)]
    if cases is OF_ENUMERATIONS:
        changes = [(first, "", set()), (first, ", BLUE = 7", set()), (first, ", BLUE = -1", every)]
    # CUDA has no function whose text is elsewhere: that region stays as it is.
    left = {f"f{k}" for k, name in enumerate(cases) if name == "a function"}
    for suffix in ("_cuda.c", "_acc.c", "_omp.c"):
        made = tmp_path / f"s{suffix}"
        made.write_text(files[suffix])
        for kind, more, wanted in changes:
            header.write_text(TYPES.format(type=kind, more=more))
            found = wanted - left if suffix == "_cuda.c" else wanted
            assert stopped_functions(made) == found, (suffix, kind, more)


def test_a_macro_of_another_type_in_a_header_stops_the_compiler(tmp_path: Path) -> None:
    source, header, made = tmp_path / "s.c", tmp_path / "size.h", tmp_path / "made.c"
    body = "a[i] += (i - EDGE) / 2;"
    text = WITH_TYPES.format(number=0, arguments="double *a", local="", body=body)
    source.write_text('#include "size.h"\n' + text.replace("count", "int"))
    header.write_text("#define EDGE 4\n")
    files = emit(Settings(source, DEFAULT_TARGETS), [load_target(t) for t in DEFAULT_TARGETS]).files
    for suffix in ("_cuda.c", "_acc.c", "_omp.c"):
        made.write_text(files[suffix])
        for value in ("4", "4u", "4L"):
            header.write_text(f"#define EDGE {value}\n")
            assert stopped_functions(made) == ({"f0"} if value != "4" else set()), (suffix, value)
