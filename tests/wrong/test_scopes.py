"""Scopes: what a region declares and the function uses after it, and names that hide others.

Each program is the body of a function; those of a table stand in one file, which is built once as
written and once for each target.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.cli import annotune
from support.executed import run
from support.regions import text_source

from annotune.diagnostics import AnnotuneError

from .called import Array, Call, Program

BEGIN = "/*@ begin PerfTuning (def input_params { param n = 40; }) @*/"
END = "/*@ end @*/"
HEAD = """\
#include <complex.h>
#include <math.h>
#define REAL double
#define DECLARED(x) double x = 0
#define TWO(x, y) double x = 1, y = 2
#define EACH(i) for (int i = 0; i < n; i++)
#define FIRST(i) for (int i = 0; i < 3; i++)
typedef struct { double x, y; int i; } point;
typedef int word;
enum { three = 3 };
static double t = -1;
static double row[8] = { 9, 8, 7, 6, 5, 4, 3, 2 };
static double grid[4][three];
typedef struct { double v[three]; } box;
static int whole = 2;
static double twice(double x) { return 2 * x; }
"""
SIZES = (5, 37)

# Declarations at the top level of a region.
DECLARED = {
    "hides_a_static": "BEGIN double t = 0; EACH(i) t += a[i]; END o[0] = t;",
    "without_a_value": "BEGIN double s; s = 1; EACH(i) s += a[i]; END o[0] = s;",
    "several": "BEGIN double s = 0, p = 1, q; EACH(i) s += a[i]; EACH(i) o[i] = p + a[i]; END\n"
    "q = s; o[0] = s + p + q;",
    "the_second_alone": "BEGIN double u = 2, s = 0; EACH(i) s += u * a[i]; END o[0] = s;",
    "array": "BEGIN double w[4]; FIRST(i) w[i] = a[i]; w[3] = 1; END o[0] = w[1] + w[3];",
    "array_with_values": "BEGIN double w[4] = {1, 2, 3}; FIRST(i) w[i] += a[i]; END o[0] = w[1];",
    "array_of_n": "BEGIN double w[n]; EACH(i) w[i] = 2 * a[i]; END EACH(i) o[i] = w[n - 1 - i];",
    "matrix": "BEGIN double w[2][3] = {{1, 2, 3}, {4, 5, 6}};\n"
    "for (int i = 0; i < 2; i++) FIRST(j) w[i][j] += a[i + j]; END o[0] = w[1][2];",
    "struct_": "BEGIN struct pair { double x, y; } q = {1, 2}; EACH(i) o[i] = a[i] * q.x + q.y;\n"
    "END struct pair r = q; o[0] = r.x + q.y;",
    "struct_summed": "BEGIN point q = {0, 1}; EACH(i) q.x += a[i]; END o[0] = q.x + q.y;",
    "typedef_": "BEGIN typedef double real_t; EACH(i) o[i] = 2 * a[i]; END real_t z = 3; o[0] = z;",
    "enum_": "BEGIN enum { five = 5 }; EACH(i) o[i] = five * a[i]; END o[0] += five;",
    "static_": "BEGIN static double c = 4; EACH(i) o[i] = c * a[i]; END o[0] += c;",
    "constant": "BEGIN const double c = a[0] * 2; EACH(i) o[i] = c * a[i]; END o[0] += c;",
    "size": "BEGIN const int m = n / 2; for (int i = 0; i < m; i++) o[i] = a[i]; END o[0] += m;",
    "made_of_each_other": "BEGIN int h = n / 2, g = h + 1;\n"
    "for (int i = 0; i < g; i++) o[i] = a[i] * 2; END o[0] += g;",
    "counter": "BEGIN int c = 0; EACH(i) { o[c] = a[i]; c++; } END o[0] += c;",
    "iterators": "BEGIN int i, j; for (i = 0; i < n; i++) o[i] = a[i];\n"
    "for (j = n - 1; j >= 0; j--) o[j] += 1; END o[0] += i + j;",
    "register_": "BEGIN register double s = 0; EACH(i) s += a[i]; END o[0] = s;",
    "complex_": "BEGIN double complex z = 1; EACH(i) z += a[i]; END o[0] = creal(z);",
    "pointer": "BEGIN const double *p = a + 1; for (int i = 0; i < n - 1; i++) o[i] = p[i]; END\n"
    "o[0] += *p;",
    "pointer_moved": "BEGIN double *p = o; EACH(i) *p++ = a[i]; END o[0] += p - o;",
    "pointer_to_itself": "BEGIN double s = 2, *p = &s; EACH(i) o[i] = a[i] * s; END\n"
    "*p = 4; o[0] = s;",
    "called": "BEGIN double s = twice(a[1]); EACH(i) o[i] = a[i] * s; END o[0] += s;",
    "maximum": "BEGIN double m = a[0]; EACH(i) if (a[i] > m) m = a[i]; END o[0] = m;",
    "by_a_macro": "BEGIN\nDECLARED(s); EACH(i) s += a[i]; END o[0] = s;",
    "used_by_a_macro": "BEGIN double s = 0; EACH(i) s += a[i]; END\n"
    "#define RESULT(x) ((x) + s)\no[0] = RESULT(1);\n#undef RESULT\n",
    "used_in_a_block": "BEGIN double s = 0; EACH(i) s += a[i]; END\n"
    "if (n > 1) { double q = 1; for (int k = 0; k < 1; k++) { o[k] = s + q; } }",
    "address_taken": "BEGIN double s = 0; EACH(i) s += a[i]; END double *p = &s; o[0] = *p;",
    "size_taken": "BEGIN double w[3]; EACH(i) o[i] = a[i]; END o[0] += sizeof w;",
    "commented": "BEGIN double s = 0; /* the sum; */ // = of all\nEACH(i) s += a[i]; END o[0] = s;",
    "in_a_recipe": 'BEGIN double u = 5; /*@ begin CHiLL ( cuda(0, thread={"i"}) ) @*/\n'
    "double s = 3; EACH(i) o[i] = a[i] * u + s; END END o[0] += s + u;",
    "read_in_the_next_region": "BEGIN double s = 0; EACH(i) s += a[i]; END\n"
    "BEGIN double r = s; EACH(i) r += o[i]; END o[0] = s + r;",
    "in_a_loop": "for (int r = 0; r < 3; r++) {\n"
    "BEGIN double s = r; EACH(i) s += a[i]; END o[r] = s; }",
    "whole_block": "{ BEGIN double t = 0; EACH(i) { t = a[i]; o[i] = t; } END } o[1] = t;",
    "in_a_switch": "switch (n > 3) { case 1: ;\nBEGIN double s = 0; EACH(i) s += a[i]; END\n"
    "o[0] = s; break; default: s = 4; o[1] = s; }",
    "goto_over": "if (n < 0) goto done; { BEGIN double s = 0; EACH(i) s += a[i]; END o[0] = s; }\n"
    "done: o[1] = 1;",
    # Between statements of the region.
    "between": "BEGIN EACH(i) o[i] = a[i] * 3; double s = 0; EACH(i) s += o[i]; END o[0] = s;",
    "between_computed": "BEGIN EACH(i) o[i] = a[i] * 3;\n"
    "double u, s = o[1], v[2], z = 7, w[2] = {1};\n"
    "EACH(i) s += o[i] + w[0]; END u = 1; v[0] = 2; o[0] = s + u + v[0] + z;",
    "between_constant": "BEGIN EACH(i) o[i] = a[i] * 3; const double s = o[1] + 1;\n"
    "EACH(i) o[i] += s; END o[0] += s;",
    "between_by_macros": "BEGIN EACH(i) o[i] = a[i];\nTWO(s, u); REAL v = o[1];\n"
    "EACH(i) s += o[i]; END o[0] = s + u + v;",
    "between_array_of_n": "BEGIN EACH(i) o[i] = a[i] * 3; double w[n + 1];\n"
    "EACH(i) w[i] = o[i]; END o[0] += w[n - 1];",
    "between_struct": "BEGIN EACH(i) o[i] = a[i]; point q = {1, 2, 3}; EACH(i) o[i] *= q.x + q.y;\n"
    "END o[0] += q.i;",
    "between_in_a_chain": "BEGIN EACH(i) o[i] = a[i]; int h = 3; double w[h];\n"
    "FIRST(i) w[i] = o[i]; END o[0] = w[2];",
    "between_changed": "BEGIN int h = 1; EACH(i) { o[i] = a[i]; h += 1; } int g = h + 1;\n"
    "EACH(i) o[i] += g; END o[0] += g + h;",
    "between_pointer": "int k = 0; BEGIN EACH(i) { o[i] = a[i] * 2; k++; }\n"
    "const double *p = a + k - n; for (int i = 0; i < n - 1; i++) o[i] += p[i]; END o[0] += p[2];",
    "between_mean": "BEGIN double s = 0; EACH(i) s += a[i]; double m = s / n;\n"
    "EACH(i) o[i] = a[i] - m; END o[0] = m + s;",
}
# Names of a region that mean another variable around it, or in it.
HIDDEN = {
    "local": "int i = n; BEGIN EACH(i) o[i] = a[i] * 2; END o[0] += i;",
    "static_i": "static int i = 7; BEGIN EACH(i) o[i] = a[i] * 2; END o[0] += i;",
    "another_type": "double i = 7; BEGIN EACH(i) o[i] = a[i] * 2; END o[0] += i;",
    "array_i": "double i[3] = {1, 2, 3}; BEGIN EACH(i) o[i] = a[i] * 2; END o[0] += i[1];",
    "struct_i": "point i = {1, 2}; BEGIN EACH(i) o[i] = a[i]; END o[0] += i.y;",
    "pointer_i": "const double *i = a + 1; BEGIN EACH(i) o[i] = a[i]; END o[0] += *i;",
    "enumerator": "BEGIN EACH(three) o[three] = a[three]; END o[0] += three;",
    "enumerator_used": "enum { i = 3 }; BEGIN for (int k = 0; k < i; k++) o[k] = i;\n"
    "EACH(i) o[i] += a[i]; END o[0] += i;",
    "enumerator_of_a_length": "for (int i = 0; i < 12; i++) grid[i / 3][i % 3] = i;\n"
    "BEGIN for (int i = 0; i < 4; i++) FIRST(three) o[i] += grid[i][three]; END",
    "enumerator_of_a_type": "box b[2]; FIRST(i) b[0].v[i] = b[1].v[i] = i;\n"
    "BEGIN for (int i = 0; i < 2; i++) FIRST(three) o[i] += b[i].v[three]; END o[0] += three;",
    "type": "BEGIN EACH(word) o[word] = a[word] * 2; END word z = 4; o[0] += z;",
    "function": "BEGIN EACH(twice) o[twice] = a[twice]; END o[0] += twice(3);",
    "of_the_file": "BEGIN EACH(whole) o[whole] = a[whole] * 2; END o[0] += whole;",
    "size": "int m = n; BEGIN for (int n = 0; n < m; n++) o[n] = a[n] * 2; END o[0] += n;",
    "parameter": "double *q = o; BEGIN EACH(o) q[o] = a[o] * 2; END o[0] += 1;",
    "address_taken": "int i = 3, *p = &i; BEGIN EACH(i) o[i] = a[i]; END *p += 1; o[0] += i;",
    "register_i": "register int i = 5; BEGIN for (int k = 0; k < n; k++) o[k] = i;\n"
    "EACH(i) o[i] += a[i]; END o[0] += i;",
    "narrow": "unsigned char i = 250; BEGIN for (int k = 0; k < n; k++) o[k] = i + 10;\n"
    "EACH(i) o[i] += a[i]; END o[0] += i;",
    "used_before": "int i = 2; BEGIN o[1] = i; EACH(i) o[i] += a[i] * 2; END o[0] += i;",
    "used_as_a_bound": "int i = n; BEGIN for (int j = 0; j < i; j++) FIRST(i) o[j] += a[j] * i;\n"
    "END o[0] += i;",
    "in_a_formula": "int i = n / 2, m = i * 2 - 1; BEGIN EACH(k) o[k] = k;\n"
    "for (int i = 0; i < m; i++) o[i] += a[i]; END o[0] += i;",
    "in_a_row_length": "int i = n / 2 + 1; double w[2][i];\n"
    "for (int q = 0; q < i; q++) w[0][q] = w[1][q] = q;\n"
    "BEGIN for (int r = 0; r < 2; r++) for (int i = 0; i < n / 2; i++) o[i] += w[r][i]; END",
    "member": "point s = {1, 2, 5}; int i = 4; BEGIN for (int k = 0; k < n; k++) o[k] = s.i + i;\n"
    "EACH(i) o[i] += s.i * a[i]; END o[0] += i + s.i;",
    "iterator_of_both": "int i; BEGIN for (i = 0; i < n - 1; i++) o[i] = a[i];\n"
    "EACH(i) o[i] += 1; END o[0] += i;",
    "set_in_the_region": "int i = 0; BEGIN EACH(i) o[i] = a[i]; i = n + 4; END o[0] += i;",
    "set_in_a_loop": "int k = 2; BEGIN EACH(i) { k += 1; o[i] = a[i]; { int k = i; o[k] += k; } }\n"
    "END o[0] += k;",
    "summed": "double x = 3; BEGIN EACH(i) { x += a[i]; { double x = a[i]; o[i] += x * x; } } END\n"
    "o[0] += x;",
    "largest": "double m = -100; BEGIN EACH(i) { if (a[i] > m) m = a[i]; { double m = a[i];\n"
    "o[i] = m; } } END o[0] += m;",
    "inner_scalar": "double x = 3; BEGIN EACH(i) { double x = a[i]; o[i] = x * x; } END o[0] += x;",
    "inner_integer": "int x = 3; BEGIN EACH(i) { int x = 2 * i; o[x / 2] = a[i]; } END o[0] += x;",
    "inner_array": "BEGIN EACH(i) { double row[8]; for (int k = 0; k < 8; k++) row[k] = a[i] + k;\n"
    "o[i] = row[0] + row[3]; } END o[0] += row[2];",
    "inner_row": "BEGIN EACH(i) { const double *r = a + i; { int i = 0; o[2 * i] += r[i]; } } END",
    "iterator_twice": "BEGIN EACH(i) { o[i] = a[i];\n"
    "for (int i = 0; i < 2; i++) o[n + i] += 1; } END",
    "iterators_of_two_types": "long i = 3; BEGIN for (unsigned i = 0; i < (unsigned)n; i++)\n"
    "o[i] = a[i]; for (short i = 0; i < n; i++) o[i] += a[i]; END o[0] += i;",
    "arrays_of_two_lengths": "BEGIN EACH(i) { double s[2]; s[0] = a[i]; s[1] = 1;\n"
    "o[i] = s[0] + s[1]; } EACH(i) { double s[3]; s[2] = 2; o[i] += s[2]; } END",
    "three_in_each_other": "BEGIN EACH(i) { double t = a[i]; { double t = 2; { float t = 3;\n"
    "o[i] = t; } o[i] += t; } o[i] += t; } END o[0] += t;",
    "an_iterator_then_a_number": "BEGIN EACH(i) o[i] = a[i];\n"
    "for (int k = 0; k < n; k++) { double i = a[k]; o[k] += i; } END",
    "another_one_in_each_region": "int i = 5, j = 6; BEGIN EACH(i) o[i] = a[i] + j; END\n"
    "BEGIN EACH(j) o[j] += i; END o[0] += i + j;",
    "in_a_recipe": 'int i = 5; BEGIN /*@ begin CHiLL ( cuda(0, thread={"i"}) ) @*/\n'
    "EACH(i) o[i] = a[i]; END END o[0] += i;",
    "of_the_host_loop": "FIRST(j) FIRST(i) {\n"
    "BEGIN EACH(i) for (int j = 0; j < 2; j++) o[i] += a[i] * j; END o[i] += i * j; }",
    "of_the_host_loop_alone": "FIRST(i)\nBEGIN EACH(i) o[i] = a[i] * 2; END",
    "of_a_while": "int i = 0; while (i < 3) {\nBEGIN EACH(i) o[i] += a[i] * 2; END i++; }",
    "after_a_jump": "int i = 0; again: {\n"
    "BEGIN EACH(i) o[i] += a[i]; END\n} if (++i < 3) goto again;",
    "declared_behind": "int i = 7; { BEGIN for (i = 0; i < n; i++) o[i] = a[i]; END\n"
    "int i = 2; o[1] += i; } o[0] += i;",
    "left_by_break": "int i = 7; FIRST(q) { BEGIN for (i = 0; i < n; i++) o[i] += a[i]; END\n"
    "int i = q; if (q == 1) break; o[1] += i; } o[0] += i;",
    "sum_declared_behind": "double s = 1; { BEGIN EACH(i) s += a[i]; END\n"
    "double s = 3; o[1] = s; } o[0] = s;",
    "left_by_continue": "double s = 1; FIRST(q) { BEGIN EACH(i) s += a[i]; END\n"
    "double s = q; if (q) continue; o[1] = s; } o[0] = s;",
    "declared_and_hidden": "double s = 9; {\nBEGIN double s = 0; EACH(i) { s += a[i];\n"
    "{ double s = a[i]; o[i] = s; } } END o[0] += s; } o[1] = s;",
}
TABLES: Mapping[str, Mapping[str, str]] = {"declared": DECLARED, "hidden": HIDDEN}


def function(name: str, body: str) -> str:
    head = f"void {name}(int n, const double *restrict a, double *restrict o)\n"
    return f"{head}{{\n{body}\n}}\n".replace("BEGIN", BEGIN).replace("END", END)


@pytest.mark.parametrize("table", TABLES)
def test_every_target_leaves_what_the_original_leaves(table: str, tmp_path: Path) -> None:
    bodies = TABLES[table]
    source = tmp_path / "source" / "scopes.c"
    source.parent.mkdir()
    source.write_text(HEAD + "".join(function(f"f_{name}", bodies[name]) for name in bodies))
    program = Program(tmp_path, source)
    assert not [one for one in program.emission.diagnostics if one.code == "AT623"]
    calls = (
        Call(f"f_{name}", ("i4", n), double(n), double(n, 1)) for name in bodies for n in SIZES
    )
    program.check(*calls)


def double(n: int, seed: int = 0) -> Array:
    return Array("f8", n + 8, seed=seed)


def test_arrays_that_stay_on_the_device(tmp_path: Path) -> None:
    """The declarations are the host's, which reads there what the device has."""
    text = HEAD + (
        "void f(int n, int steps, double *restrict a, double *restrict o)\n{\n"
        '/*@ begin Data ( enter = "a[n], o[n]"; exit = "a, o" ) @*/\n'
        "row[0] = row[1] = 0;\nfor (int i = 0; i < steps; i++) {\n"
        "BEGIN\ndouble s = a[1], c = 2;\nEACH(i) o[i] += c * a[i] + s;\n"
        "double m = o[0];\nEACH(i) a[i] += m;\nEND\nrow[0] += s + m + c;\n"
        "BEGIN\ndouble z = 0;\nEACH(k) z += a[k] * o[k];\nEND\nrow[1] += z;\n}\nEND\n"
        "o[0] += row[0] + row[1];\n}\n"
    ).replace("BEGIN", BEGIN).replace("END", END)
    source = tmp_path / "source" / "scopes.c"
    source.parent.mkdir()
    source.write_text(text)
    program = Program(tmp_path, source)
    program.check(
        *(Call("f", ("i4", n), ("i4", k), double(n), double(n, 1)) for n in SIZES for k in (1, 3))
    )


REFUSED = {
    "values that the region computes": (
        "BEGIN EACH(i) o[i] = a[i]; double «w[3] = {o[0]}»; EACH(i) o[i] += w[0]; END o[0] = w[2];",
        "AT168",
        "'w' is used after the region, .* the region computes its values before it",
    ),
    "another one before it": (
        "BEGIN o[1] = t; double «t = 0»; EACH(i) t += a[i]; END o[0] = t;",
        "AT168",
        "the region means another one by that name before it",
    ),
    "a length that the region computes": (
        "int k = 0; BEGIN EACH(i) k += 2; double «w[k]»; EACH(i) w[i] = a[i]; END o[0] = w[0];",
        "AT168",
        "its type depends on what the region computes",
    ),
    "a constant pointer": (
        "int k = 0; BEGIN EACH(i) k += 1; double *«const p = o + k - n»; EACH(i) p[i] = a[i]; END\n"
        "p[0] = 1;",
        "AT168",
        "it is a constant pointer",
    ),
    "a directive": (
        "BEGIN EACH(i) o[i] = a[i];\ndouble u = 1,\n#if 1\ns = 0;\n#endif\nEACH(i) s += o[i]; END\n"
        "o[0] = s + u;",
        "AT168",
        "a directive stands in it",
    ),
    "an array that is hidden and used": (
        "double w[4] = {1}; BEGIN EACH(i) { o[i] = w[1]; { double w = 2; o[i] += w; } } END",
        "AT126",
        "'w' means two different variables",
    ),
    "a volatile one that is hidden and used": (
        "volatile int i = 3; BEGIN for (int k = 0; k < n; k++) o[k] = i; EACH(i) o[i] = a[i]; END",
        "AT126",
        "'i' means two",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_what_has_no_place_in_front(name: str) -> None:
    body, code, words = REFUSED[name]
    text = HEAD + function("f", body.replace("«", "").replace("»", ""))
    with pytest.raises(AnnotuneError, match=words) as refusal:
        text_source(text)
    (found,) = refusal.value.diagnostics
    assert found.code == code
    if "«" in body and code == "AT168":
        (line,) = (k for k, row in enumerate(body.split("\n")) if "«" in row)
        assert found.span.line == HEAD.count("\n") + 3 + line


def test_places_stay_those_of_the_users_text() -> None:
    """What moves leaves room behind, also for the regions after it."""
    text = HEAD + function(
        "f",
        "BEGIN\n  double s = 0;\n  EACH(i) s += a[i];\n  double m = s;\n  EACH(i) o[i] = nothing;\n"
        "END\no[0] = s + m;\nBEGIN\n  EACH(i) o[i] = naught;\nEND",
    )
    with pytest.raises(AnnotuneError) as refusal:
        text_source(text)
    rows = text.split("\n")
    for one, word in zip(refusal.value.diagnostics, ("nothing", "naught"), strict=True):
        start = one.span.column - 1
        assert rows[one.span.line - 1][start : start + one.span.length] == word


def test_records_of_a_region_whose_declarations_live_on(tmp_path: Path) -> None:
    """What records a region puts a block around it."""
    body = function("f", f"int i = n;\n{DECLARED['between_mean']}\no[1] += i;")
    main = "#include <stdio.h>\nint main(void) { double a[3] = {1, 2, 6}, o[3]; f(3, a, o);\n"
    source = tmp_path / "mean.c"
    source.write_text(f'{HEAD}{body}{main}printf("%g %g", o[0], o[1]); }}\n')
    assert annotune("capture", source, "-o", tmp_path / "inputs").code == 0
    made = tmp_path / "recorded"
    run("gcc", "-w", tmp_path / "inputs" / "mean.c", "-o", made, "-lm")
    done = subprocess.run([made], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "12 2"
    assert list((tmp_path / "inputs").glob("*.json*"))
