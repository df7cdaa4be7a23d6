"""Sizes behind pointers and members of structs: plain names, with a declaration of each."""

from __future__ import annotations

import re

import pytest
from source_text import load_text
from support.nest_text import print_nest

from annotune.analysis.analyse import analyse
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Binary, Int, Var
from annotune.ir.region import Region
from annotune.settings_check import unused_settings

STRUCTS = """\
struct field { int nx, ny; double *q; double dt; };
typedef struct { struct field f; double grid[10][20]; } chunk_t;
"""


def region(function: str, params: str = "") -> Region:
    text = function.replace("BEGIN", f"/*@ begin PerfTuning ({params}) @*/")
    (found,) = load_text(text).regions
    return found


def declarations(found: Region) -> list[str]:
    return [alias.declaration for alias in found.text.aliases]


def test_an_integer_behind_a_pointer() -> None:
    found = region(
        "void f(int *n, double *a) {\nBEGIN\n"
        "for (int i = 0; i < *n; i++) a[i] = *n;\n/*@ end @*/\n}\n",
        "def input_params { param n = 8; }",
    )
    assert print_nest(found.nest) == "for i in 0:n_\n  S0: a[i] = n_\n"
    assert declarations(found) == ["const int n_ = *n;"]
    assert found.sizes == {"n_": 8}


@pytest.mark.parametrize(
    ("params", "body", "sizes"),
    [
        ("int nx, struct field *f", "a[i] += f->nx", {"nx": 8, "f_nx": 8}),
        ("int nx, struct field f", "a[i] += f.nx", {"nx": 8, "f_nx": 8}),
        ("int nx, chunk_t *c", "a[i] += c->f.nx", {"nx": 8, "c_f_nx": 8}),
        ("long nx, const struct field *f", "a[i] = f->q[f->nx]", {"nx": 8, "f_nx": 8}),
        ("int nx, int m, struct field *f", "a[i] += f[m].nx", {"nx": 8}),
        ("int nx, struct field *f", "int k = f->nx; a[i] += k", {"nx": 8, "f_nx": 8}),
    ],
)
def test_a_parameter_keeps_its_value_beside_a_member_of_its_name(
    params: str, body: str, sizes: dict[str, int]
) -> None:
    found = region(
        f"{STRUCTS}void f({params}, double *a) {{\nBEGIN\n"
        f"for (int i = 0; i < nx; i++) {{ {body}; }}\n/*@ end @*/\n}}\n",
        "def input_params { param nx = 8; }",
    )
    assert {name: value for name, value in found.sizes.items() if "nx" in name} == sizes


@pytest.mark.parametrize(
    ("params", "loop", "asked"),
    [
        ("int *n", "for (int i = 0; i < *n; i++)", ["n"]),
        ("const long *n", "for (long i = *n; i-- > 0;)", ["n"]),
        ("struct field *f", "for (int i = 0; i < f->nx; i++)", ["nx"]),
        ("struct field f", "for (int i = f.ny; i < f.nx; i++)", ["ny", "nx"]),
        ("int i, int n", "for (; i < n; i++)", ["i", "n"]),
        ("unsigned n, short i0", "int i = i0; BEGIN for (; i < (int)n; i++)", ["i", "n"]),
        # Whose it would be is not known: each has a name of its own.
        (
            "struct field *f, struct field *g",
            "for (int i = f->nx; i < g->nx; i++)",
            ["f_nx", "g_nx"],
        ),
    ],
)
def test_a_size_is_asked_for_by_the_name_that_gives_it(
    params: str, loop: str, asked: list[str]
) -> None:
    before, _, nest = loop.rpartition("BEGIN")
    lines = f"{STRUCTS}void f({params}, double *a) {{", before, "BEGIN", nest
    text = "\n".join((*lines, "a[i] = 1;", "/*@ end @*/", "}", ""))
    found = region(text)
    (said,) = (one.message for one in analyse(found).warnings if one.code == "AT221")
    assert sorted(re.findall(r"'(\w+)'", said)) == sorted(asked)
    # What gives them is used, and nothing is left to be asked for.
    assert unused_settings(asked, [found]) == []
    values = "".join(f"param {name} = {9 + number}; " for number, name in enumerate(asked))
    given = region(text, f"def input_params {{ {values}}}")
    assert not any(one.code == "AT221" for one in analyse(given).warnings)


def test_the_places_in_the_text_are_exact() -> None:
    text = (
        "void f(int *n, double *a) {\nBEGIN\n"
        "for (int i = 0; i < * n; i++) a[i] = (*n);\n/*@ end @*/\n}\n"
    )
    found = region(text)
    whole = text.replace("BEGIN", "/*@ begin PerfTuning () @*/")
    assert [whole[s.start : s.end] for s in found.text.spellings] == ["* n", "*n"]


def test_members_of_structs_in_structs() -> None:
    found = region(
        STRUCTS + "void f(chunk_t *c) {\nBEGIN\nfor (int i = 0; i < c->f.ny; i++)\n"
        "for (int j = 0; j < c->f.nx; j++)\n"
        "c->grid[i][j] = c->f.dt * c->f.q[i * c->f.nx + j];\n/*@ end @*/\n}\n",
        "def input_params { param nx = 5; param c_f_ny = 4; }",
    )
    assert print_nest(found.nest) == (
        "for i in 0:c_f_ny\n  for j in 0:c_f_nx\n"
        "    S0: c_grid[i][j] = c_f_dt * c_f_q[i * c_f_nx + j]\n"
    )
    assert sorted(declarations(found)) == [
        "const double c_f_dt = c->f.dt;",
        "const int c_f_nx = c->f.nx;",
        "const int c_f_ny = c->f.ny;",
        "double (*const c_grid)[20] = c->grid;",
        "double *const c_f_q = c->f.q;",
    ]
    assert found.sizes == {"c_f_ny": 4, "c_f_nx": 5}


def test_a_name_of_the_user_is_not_taken() -> None:
    found = region(
        "void f(int *n, int n_, double *a) {\nBEGIN\n"
        "for (int i = 0; i < *n; i++) a[i] = n_;\n/*@ end @*/\n}\n"
    )
    assert declarations(found) == ["const int n__ = *n;"]


def test_what_f2c_computes_before_the_region_is_a_formula() -> None:
    found = region(
        "void f(int *lda, double *a) {\nint a_dim1, a_offset;\na_dim1 = *lda;\n"
        "a_offset = 1 + a_dim1;\na -= a_offset;\nBEGIN\n"
        "for (int i = 1; i <= 4; i++) a[i + a_dim1] = 0.0;\n/*@ end @*/\n}\n",
        "def input_params { param lda = 7; }",
    )
    assert print_nest(found.nest) == "for i in 1:5\n  S0: a[i + lda_] = 0.0\n"
    assert found.sizes["lda_"] == 7
    assert found.text.declarations == ("int a_dim1 = lda_;",)


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("{ a[i] = 0.0; *n = 3; }", "AT147", "reads array 'n'"),
        ("{ a[i] = 0.0; c->nx++; }", "AT147", "reads array 'n'"),
        ("{ a[i] = 0.0; c->q++; }", "AT154", "'c->q' changes inside the region"),
        ("{ a[i] = 0.0; c->q = a; }", "AT154", "'c->q' changes"),
        ("{ a[i] = 0.0; c->bits = 3; }", "AT154", "'c->bits' changes"),
        ("{ a[i] = 0.0; c->one.d = 3; }", "AT154", "'c->one.d' changes"),
        ("a[i] = t[i].q[0];", "AT124", "'t[i].q'"),
        ("a[i] = t[i].dt * t[i].nx;", "AT124", "type 'double' and of type 'int'"),
        ("a[i] = t[i].dt;", "AT124", "'t[i].dt'"),
        ("a[i] = c->none;", "AT124", "'c->none'"),
    ],
)
def test_refusals(body: str, code: str, words: str) -> None:
    text = (
        STRUCTS.replace("double dt;", "double dt; int bits : 3; union { double d; long l; } one;")
        + "void f(int *n, struct field *c, struct field *t, double *a) {\nBEGIN\n"
        f"for (int i = 0; i < *n; i++) {body}\n/*@ end @*/\n}}\n"
    )
    with pytest.raises(AnnotuneError) as refusal:
        region(text)
    assert (code, True) in [(d.code, words in d.message) for d in refusal.value.diagnostics]


TABLE = """\
void f(int n, const double *restrict a, double *restrict b, const int *p)
{
    int offs[3] = {2, 5}, dims[2];
    dims[0] = n;
    int bb = dims[0];
    BEGIN
    for (int i = offs[0]; i < bb - offs[1]; i++)
        b[i] = BODY;
    /*@ end @*/
}
"""


def test_elements_of_a_table_of_integers() -> None:
    found = region(TABLE.replace("BODY", "a[i + 1]"), "def input_params { param n = 20; }")
    assert print_nest(found.nest) == "for i in offs_0:bb - offs_1\n  S0: b[i] = a[i + 1]\n"
    assert declarations(found) == ["const int offs_0 = offs[0];", "const int offs_1 = offs[1];"]
    assert found.sizes == {"n": 20, "offs_0": 2, "bb": 20, "offs_1": 5}


def test_an_element_that_may_not_exist_is_not_read_ahead() -> None:
    # Nothing says that *p has four elements where i < 0 never holds.
    found = region(TABLE.replace("BODY", "i < 0 ? p[3] : a[i]"))
    assert "p" in found.arrays
    assert all("p[3]" not in line for line in declarations(found))


@pytest.mark.parametrize(
    ("before", "statement", "value"),
    [
        ("", "for (int i = 0; i < p->nx; i++) a[i] = p->dt;", "p->dt"),
        ("", "for (int i = 0; i < n; i++) a[i] = p->dt;", "p ? p->dt : 0"),
        ("n += p->ny;", "for (int i = 0; i < n; i++) a[i] = p->dt;", "p->dt"),
        ("n += p->ny; p++;", "for (int i = 0; i < n; i++) a[i] = p->dt;", "p ? p->dt : 0"),
        ("if (n > 3) n += p->ny;", "for (int i = 0; i < n; i++) a[i] = p->dt;", "p ? p->dt : 0"),
        ("", "for (int i = 0; i < n && i < p->nx; i++) a[i] = p->dt;", "p ? p->dt : 0"),
    ],
)
def test_a_pointer_that_may_be_null_is_asked_first(before: str, statement: str, value: str) -> None:
    found = region(
        STRUCTS + f"void f(int n, struct field *p, double *restrict a) {{\n{before}\nBEGIN\n"
        f"{statement}\n/*@ end @*/\n}}\n"
    )
    assert f"const double p_dt = {value};" in declarations(found)


def test_a_chain_of_pointers_is_asked_in_order() -> None:
    found = region(
        "struct s { int nx; }; struct t { struct s *s; };\n"
        "void f(int n, struct t *p, double *a) {\nBEGIN\n"
        "for (int i = 0; i < n; i++) a[i] = p->s->nx;\n/*@ end @*/\n}\n"
    )
    assert declarations(found) == ["const int p_s_nx = p && p->s ? p->s->nx : 0;"]


def test_a_bit_field_is_an_int() -> None:
    found = region(
        "struct s { unsigned u : 3, w : 32; };\nvoid f(int n, struct s *p, double *a) {\nBEGIN\n"
        "for (int i = 0; i < n + p->w; i++) a[i] = p->u - 5;\n/*@ end @*/\n}\n"
    )
    assert "const int p_u = p->u;" in declarations(found)
    assert "const unsigned int p_w = p->w;" in declarations(found)
    assert found.nest.assigns()[0].value == Binary("-", Var("p_u"), Int(5))


@pytest.mark.parametrize(
    ("source", "is_restrict"),
    [
        ("malloc(n * sizeof(*a))", True),
        ("c", True),
        ("a + n", False),
        ("n ? a : c", False),
        ("d", False),
        ("p->q", True),
    ],
)
def test_what_is_made_from_a_restrict_pointer(source: str, is_restrict: bool) -> None:
    found = region(
        STRUCTS + "void f(int n, double *restrict a, double *c, struct field *p) {\n"
        f"double *d = &a[3], *b = {source};\nBEGIN\n"
        "for (int i = 0; i < n; i++) a[i] = b[i];\n/*@ end @*/\nd[0] = 1; }\n"
    )
    # d points into a, whether the region uses it or not.
    assert found.arrays["a"].is_restrict is False
    assert found.arrays["b"].is_restrict is False
    alone = region(
        "void f(int n, double *restrict a, double *c, struct field *p) {\n"
        f"double *b = {source.replace('d', 'a')};\nBEGIN\n"
        "for (int i = 0; i < n; i++) a[i] = b[i];\n/*@ end @*/\n}\n"
    )
    assert alone.arrays["a"].is_restrict is is_restrict


def test_members_that_change_or_may_are_elements_of_arrays_of_one() -> None:
    found = region(
        STRUCTS + "void f(int n, struct field *c, struct field *t, double *a) {\nBEGIN\n"
        "for (int i = 0; i < c->ny; i++) { a[i] = t->dt; c->nx += i; }\n/*@ end @*/\n}\n",
        "def input_params { param n = 8; }",
    )
    assert print_nest(found.nest) == ("for i in 0:c_ny\n  S0: a[i] = t_dt[0]\n  S1: c_nx[0] += i\n")
    assert sorted(declarations(found)) == [
        "const double *const t_dt = t ? &t->dt : 0;",
        "const int c_ny = c->ny;",
        "int *const c_nx = &c->nx;",
    ]


def test_a_struct_that_is_used_by_members_is_a_variable_for_each() -> None:
    found = region(
        STRUCTS + "void f(int n, double *a) {\nstruct field t;\nBEGIN\n"
        "for (int i = 0; i < n; i++) { t.dt = a[i]; a[i] = t.dt * t.dt; }\n/*@ end @*/\n}\n",
    )
    assert print_nest(found.nest) == ("for i in 0:n\n  S0: t_dt = a[i]\n  S1: a[i] = t_dt * t_dt\n")
    assert declarations(found) == ["double t_dt;"]


def test_a_pointer_that_moves_is_an_array_and_a_number() -> None:
    found = region(
        "double *f(int n, double *a, const double *b) {\ndouble *p = a + 1;\nBEGIN\n"
        "for (int i = 0; i < n; i++, b += 2) *p++ = *b;\n/*@ end @*/\nreturn p;\n}\n",
    )
    assert print_nest(found.nest) == (
        "for i in 0:n\n  S0: a[i + 1] = b_from[2 * i]\nS1: p_at = (long)(1) + (long)(max(0, n))\n"
    )
    assert declarations(found) == ["const double *const b_from = b;", "long p_at = 0;"]
    assert [alias.behind for alias in found.text.aliases] == ["", "p = a + p_at;"]
    assert found.text.behind == ("p_at = p - a;",)
    assert "const double *b = b_from + 0L;" in found.text.declarations


def test_pointers_into_rows_and_as_iterators() -> None:
    found = region(
        "void f(int n, int m, double *restrict a, const double *restrict b) {\nBEGIN\n"
        "for (int i = 0; i < n; i++) {\nconst double *row = &b[i * m], *e = row + m;\n"
        "for (; row != e; ++row) a[i] += *row;\n}\n/*@ end @*/\n}\n",
    )
    assert "S0: a[i] += b[" in print_nest(found.nest)


ROWS = "void f(int n, int m, double **a, double **b, int *p, char *c) {\nBEGIN\n"


def test_rows_behind_pointers_are_one_array_after_a_test() -> None:
    found = region(
        ROWS + "for (int i = 1; i < n; i++)\nfor (int j = 0; j < m; j++)\n"
        "a[i][j] = b[i - 1][j];\n/*@ end @*/\n}\n",
        "def input_params { param n = 8; param m = 5; }",
    )
    assert print_nest(found.nest) == (
        "for i in 1:n\n  for j in 0:m\n    S0: a_rows[i * a_ld + j] = b_rows[(i - 1) * b_ld + j]\n"
    )
    assert found.sizes == {"n": 8, "m": 5, "a_ld": 5, "b_ld": 5}
    assert found.text.tests == ("a_even", "b_even")


def test_the_distance_of_rows_is_what_the_annotation_says() -> None:
    found = region(
        ROWS + "for (int i = 0; i < n; i++)\nfor (int j = 0; j < m; j++)\n"
        "a[i][j + m * i] = b[i][j];\n/*@ end @*/\n}\n",
        "def input_params { param n = 8; param m = 5; param a_ld = 40; }",
    )
    assert found.sizes == {"n": 8, "m": 5, "a_ld": 40, "b_ld": 5}


@pytest.mark.parametrize(
    "body",
    [
        "{ a[i][0] = 1; a[i] = b[0]; }",
        "{ a[i][0] = 1; a[p[i]][1] = 2; }",
        "if (i > 0) a[i - 1][0] = 1;",
        "{ c[i] = 0; a[i][0] = 1; }",
        "a[2 * i][0] = 1;",
        "for (int j = 0; j < i; j++) a[j][i] = 1;",
        "{ double *r = p[i] ? a[i] : b[i]; r[0] = 1; }",
    ],
)
def test_rows_that_are_not_known_before_are_refused(body: str) -> None:
    with pytest.raises(AnnotuneError):
        region(f"{ROWS}for (int i = 0; i < n; i++) {body}\n/*@ end @*/\n}}\n")
