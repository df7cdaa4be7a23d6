"""What the front end refuses of the text of a region, each with its code and the exact place."""

from __future__ import annotations

import pytest
from source_text import CLOSE, OPEN, load_text, marked, refusals, region

from annotune.ir.expr import Int

LOOP = "for (i = 0; i < n; i++)"

# A region's body, the code, and words of the message.
# Directives of a user's own program. One for the threads around the region shares its work.
SHARED = "«#pragma {}»\n" + LOOP + " a[i] = 0;"
IN_REGION = {
    "work of a team": (SHARED.format("omp for"), "AT177", "threads that start outside"),
    "a loop of a region of OpenACC": (SHARED.format("acc loop gang"), "AT177", "acc loop gang"),
    "one thread of a team": (SHARED.format("omp  single nowait"), "AT177", "omp single nowait"),
    "behind another loop": (
        f"{LOOP} a[i] = 0;\n«#pragma omp for simd schedule(static)»\n{LOOP} b[i] = 0;",
        "AT177",
        "shares work",
    ),
    "call": (f"{LOOP} a[i] = «noise»(b[i]);", "AT130", "'noise' may have effects"),
    "call statement": (f"{LOOP} «update»(a, i);", "AT130", "'update' may have effects"),
    "call in subscript": (f"{LOOP} a[«idx»(i)] = 0;", "AT130", "'idx'"),
    "call in bound": ("for (i = 0; i < «size»(); i++) a[i] = 0;", "AT130", "'size'"),
    "call by pointer": (f"{LOOP} a[i] = «b[i]»(x);", "AT130", "'b[i]'"),
    "arguments": (f"{LOOP} a[i] = «pow(x)»;", "AT156", "takes 2 argument(s), but 1"),
    "break": (f"{LOOP} {{ a[i] = 0; «break»; }}", "AT131", "'break'"),
    "continue in one of three ways": (
        f"{LOOP} {{ if (n) a[i] = 0; else if (m) «continue»; a[i] = 1; }}",
        "AT131",
        "'continue'",
    ),
    "a break that not all fall past": (
        f"{LOOP} «switch» (n) {{ case 1: if (m) break; a[i] = 1; case 2: a[i] = 2; }}",
        "AT131",
        "'switch'",
    ),
    "a case inside another statement": (
        f"{LOOP} «switch» (n) {{ case 1: if (m) {{ a[i] = 1; case 2: a[i] = 2; }} }}",
        "AT131",
        "'switch'",
    ),
    "return": (f"{LOOP} {{ «return»; }}", "AT131", "'return'"),
    "goto": (f"{LOOP} «goto» out; out: ;", "AT131", "'goto'"),
    "jump back": (f"{LOOP} {{ again: a[i] = 0; if (a[i] > 0) «goto» again; }}", "AT131", "'goto'"),
    "jump past the inner loop": (
        f"{LOOP} {{ for (j = 0; j < m; j++) if (b[j] > 0) «goto» next; a[i] = 0; next: ; }}",
        "AT131",
        "'goto'",
    ),
    "jump into a branch": (
        f"{LOOP} {{ if (n > 2) «goto» in; if (m) {{ in: a[i] = 0; }} }}",
        "AT131",
        "'goto'",
    ),
    "while": (f"{LOOP} «while» (x > 0) a[i] = 0;", "AT131", "'while'"),
    "do": (f"{LOOP} «do» a[i] = 0; while (x > 0);", "AT131", "'do'"),
    "assignment as condition": (f"{LOOP} if («a[0] = i») a[i] = 0;", "AT134", "assignment inside"),
    "a sequence behind a condition": (
        f"{LOOP} a[i] = n > 2 && («b[i] = 2, b[i]») > 1;",
        "AT139",
        "this statement",
    ),
    "a sequence in a choice": (
        f"{LOOP} a[i] = n > 2 ? («b[i] = 2, b[i]») : 1;",
        "AT139",
        "this statement",
    ),
    "pointer as condition": (f"{LOOP} if («a») a[i] = 0;", "AT136", "1 dimension(s) but 0"),
    "bits": (f"{LOOP} a[i] = (s) «&» 1;", "AT133", "operator '&'"),
    "bits as condition": (f"{LOOP} if (s «|» 1) a[i] = 0;", "AT133", "operator '|'"),
    "complement": (f"{LOOP} a[i] = «~s»;", "AT133", "operator '~'"),
    "exclusive or": (f"{LOOP} «a[i] ^= 1»;", "AT133", "operator '^='"),
    "remainder of reals": (f"{LOOP} a[i] = b[i] «%» 2.0;", "AT133", "operator '%'"),
    "shift": (f"{LOOP} a[i «>>» n] = 0;", "AT133", "operator '>>'"),
    "shift of a real": (f"{LOOP} a[i] = x «<<» 1;", "AT133", "operator '<<'"),
    "shift assignment": (f"{LOOP} «a[i] %= 2»;", "AT133", "operator '%='"),
    "sizeof": (f"{LOOP} a[i] = «sizeof(x * 2)»;", "AT133", "how many bytes 'sizeof(x * 2)'"),
    "assignment in a sum": (f"{LOOP} a[i] = 1 + («b[i] = 0»);", "AT134", "assignment inside"),
    "increment beside a use": (f"{LOOP} a[«k++»] = k;", "AT134", "assignment inside"),
    "increment where asked": (f"{LOOP} a[i] = n > 2 ? b[«k++»] : 0;", "AT134", "assignment inside"),
    "increment behind a condition": (f"{LOOP} if (b[«k++»] > 0) a[i] = 0;", "AT134", "inside"),
    "cast to a pointer": (f"{LOOP} a[i] = *«(double *) b»;", "AT135", "a cast to 'double *'"),
    "row": (f"{LOOP} a[i] = «A[i]»;", "AT136", "2 dimension(s) but 1"),
    "too many": (f"{LOOP} a[i] = «a[i][0]»;", "AT136", "1 dimension(s) but 2"),
    "bare pointer": (f"{LOOP} a[i] = «b»;", "AT136", "1 dimension(s) but 0"),
    "subscripted scalar": (f"{LOOP} a[i] = «x»[i];", "AT136", "0 dimension(s)"),
    "moving pointer": (f"{LOOP} {{ b[i] = 0; «b» = a; }}", "AT137", "arithmetic on 'b'"),
    "stepping pointer": (f"{LOOP} *«a++» = a[1];", "AT137", "arithmetic on 'a'"),
    "characters": (f"{LOOP} a[i] = «'ab'»;", "AT138", "literal ''ab''"),
    "long double": (f"{LOOP} a[i] = «1.0L»;", "AT138", "literal '1.0L'"),
    "real subscript": (f"{LOOP} a[«x»] = 0;", "AT149", "must be an integer"),
    "no start": (
        "for (j = 0; j < 3; j++) «for» (; i < n; i++) a[i] = 0;",
        "AT140",
        "not known here",
    ),
    "two starts": ("for («i = 0, i = 1»; i < n; i++, j++) a[i] = 0;", "AT140", "start with"),
    "other condition": ("for (i = 0; «j < n»; i++) a[i] = 0;", "AT141", "compare iterator 'i'"),
    "two bounds, one own": (
        "for (i = 0; i < n && «s > 0»; i++) a[i] = 0;",
        "AT141",
        "compare iterator 'i'",
    ),
    "no condition": ("for («i = 0»;; i++) a[i] = 0;", "AT141", "compare iterator 'i'"),
    "below an unsigned number": ("for (i = -2; i < «64u»; i++) a[i] = 0;", "AT159", "unsigned int"),
    "up to an unsigned number": ("for (i = n; i <= «64u»; i++) a[i] = 0;", "AT159", "'i' compares"),
    "below a size": (
        "for (i = 0; i < n; i++) for (j = i - 2; j < «(size_t)m»; j++) a[j] = 0;",
        "AT159",
        "'j' compares as 'unsigned long'",
    ),
    "unsigned from a signed start": (
        "for (unsigned w = k; w < «n»; w++) a[w] = 0;",
        "AT159",
        "'w' compares as 'unsigned int'",
    ),
    "unsigned from a difference": (
        "for (size_t w = (size_t)n - 5; w < «(size_t)n»; w++) a[w] = 0;",
        "AT159",
        "'w' compares as 'unsigned long'",
    ),
    "down from a signed start": ("for (i = n; i > «0u»; i--) a[i] = 0;", "AT159", "'i' compares"),
    "down between two signed numbers": (
        "for (size_t w = n; w > «m»; w--) a[w] = 0;",
        "AT159",
        "'w' compares as 'unsigned long'",
    ),
    "a negative unsigned bound": (
        "for (long w = -5; w < «-1u»; w++) a[w] = 0;",
        "AT159",
        "below 0",
    ),
    "an unsigned iterator to a negative bound": (
        "for (unsigned w = 0; w != «-1»; w++) a[w] = 0;",
        "AT159",
        "below 0",
    ),
    "down until it meets an unsigned number": (
        "for (int w = 9; w != «3u * n»; w--) a[w] = 0;",
        "AT159",
        "may be below 0",
    ),
    "down over zero": (
        "for (unsigned w = 9; w > «0»; w -= 2) a[w] = 0;",
        "AT143",
        "may step over it",
    ),
    "down to unsigned zero": ("for (i = 9; i >= «0u»; i--) a[i] = 0;", "AT143", "loop 'i'"),
    "past the last unsigned number": (
        "for (unsigned w = 0; w <= «4294967295u»; w++) a[w] = 0;",
        "AT143",
        "loop 'w'",
    ),
    "own bound": ("for (i = 0; «i < n - i»; i++) a[i] = 0;", "AT141", "compare iterator 'i'"),
    "no step": ("for («i = 0»; i < n;) a[i] = 0;", "AT142", "step of loop 'i'"),
    "unsigned step": (
        "for (i = 0; i < n; «i += (unsigned)m») a[i] = 0;",
        "AT142",
        "size with a sign",
    ),
    "moving step": ("for (i = 0; i < n; «i += m») { a[i] = 0; m++; }", "AT142", "constant other"),
    "step to a meeting": ("for (i = 0; i != n; «i += m») a[i] = 0;", "AT142", "size with a sign"),
    "two ways to two ends": (
        "for (i = 0; «m < 0 ? i >= n : i <= m»; i += m) a[i] = 0;",
        "AT141",
        "compare iterator 'i'",
    ),
    "two ways by another step": (
        "for (i = 0; «n < 0 ? i >= n : i <= n»; i += m) a[i] = 0;",
        "AT141",
        "compare iterator 'i'",
    ),
    "zero step": ("for (i = 0; i < n; «i += 0») a[i] = 0;", "AT142", "constant other"),
    "doubling": ("for (i = 1; i < n; «i *= 2») a[i] = 0;", "AT142", "constant other"),
    "other step": ("for (i = 0; i < n; «j++») a[i] = 0;", "AT142", "constant other"),
    "wrong way": ("for (i = 0; i > «n»; i++) a[i] = 0;", "AT143", "steps away from its bound"),
    "wrong way down": ("for (i = n; i < «m»; i--) a[i] = 0;", "AT143", "steps away"),
    "over its bound": ("for (i = 0; i != «n»; i += 2) a[i] = 0;", "AT143", "may step over it"),
    "never below 0": ("for (unsigned r = n; r >= «0»; r--) a[r] = 0;", "AT143", "loop 'r'"),
    "round the corner": ("for (size_t r = 1; r != «n»; r++) a[r] = 0;", "AT143", "loop 'r'"),
    "iterator set": (f"{LOOP} {{ a[i] = 0; «i» = i + 1; }}", "AT144", "iterator 'i'"),
    "iterator stepped": (f"{LOOP} {{ a[i] = 0; «i»++; }}", "AT144", "iterator 'i'"),
    "iterator reused": (
        f"{LOOP} for («i» = 0; i < m; i++) a[i] = 0;",
        "AT145",
        "used by an enclosing loop",
    ),
    "bound changes": (f"{LOOP} {{ a[i] = 0; «n» = n - 1; }}", "AT146", "bound 'n' of loop 'i'"),
    "bound changes in the header": (
        "for (i = 0, j = n; i < j; i++, «j»--) a[i] = b[j];",
        "AT146",
        "bound 'j' of loop 'i'",
    ),
    "iterator twice in the header": (
        "for (i = 0; i < n; i++, «i»++) a[i] = 0;",
        "AT144",
        "'i'",
    ),
    "bound in array": ("for (i = 0; i < 2 + «p[0]»; i++) a[i] = 0;", "AT147", "reads array 'p'"),
    "bound read before": ("k = «p[0]»; for (i = 0; i < k; i++) a[i] = 0;", "AT147", "array 'p'"),
    "real iterator": ("for («s» = 0; s < n; s++) a[0] = s;", "AT148", "type 'double'"),
    "narrow iterator": ("for (char «c» = 0; c < n; c += 3) a[c] = 0;", "AT148", "type 'char'"),
    "narrow iterator by a size": (
        "for (short «w» = 0; w < n; w += m) a[w] = 0;",
        "AT148",
        "type 'short'",
    ),
    "narrow iterator to a meeting": (
        "for (unsigned char «w» = n; w != 4; w++) a[w] = 0;",
        "AT148",
        "type 'unsigned char'",
    ),
    "real bound": ("for (i = 0; i < «x»; i++) a[i] = 0;", "AT149", "must be an integer"),
    "undeclared": (f"{LOOP} a[i] = «q»;", "AT120", "'q' is not declared"),
    "unset": (f"{LOOP} {{ int o; a[«o»] = 0; }}", "AT150", "integer 'o'"),
    "long sum": ("for (i = 0; i < n; i++) a[i] = " + "x+" * 3000 + "x;", "AT107", "too deeply"),
    "local array": (f"{LOOP} {{ double «t»[n]; a[i] = 0; }}", "AT127", "array 't'"),
    "static": (f"{LOOP} {{ static double «t»; a[i] = t; }}", "AT123", "type 'static'"),
    "empty": ("«»", "AT112", "no loop nest"),
    "no loop": ("s = 1;", "AT112", "no loop nest"),
    "directive": (f'{LOOP}\n«#include "a.h"»\n a[i] = 0;', "AT114", "'#include' inside"),
}


@pytest.mark.parametrize("name", IN_REGION)
def test_refuses_in_a_region(name: str) -> None:
    body, code, words = IN_REGION[name]
    text, place = marked(region(body))
    first = refusals(text)[0]
    assert first.code == code, first
    assert words in first.message
    if place is not None and place.length:
        assert first.span == place, first.render(text)
    assert first.help


def test_names_the_type_of_a_cast_that_a_macro_makes() -> None:
    text = "#define whole ((double *)b)\n" + region(f"{LOOP} a[i] = *whole;")
    assert "a cast to 'double *'" in refusals(text)[0].message


# Loops that compare as unsigned and count as they would among all the integers.
UNSIGNED_LOOPS = [
    "for (i = 0; i < 64u; i++) a[i] = 0;",
    "for (i = 0; i < n; i++) for (j = i + 1; j < (size_t)m; j++) a[j] = 0;",
    "for (i = 2; i < n; i++) for (j = i - 2; j < (size_t)m; j++) a[j] = 0;",
    "for (unsigned w = 0; w < n; w++) a[w] = 0;",
    "for (i = -2; i < (int)64u; i++) a[i + 2] = 0;",
    "for (i = -2; i != 64u; i++) a[i + 2] = 0;",
    "for (unsigned w = n; w > 0; w--) a[w] = 0;",
    "for (unsigned w = 9; w >= 3; w -= 3) a[w] = 0;",
    "for (unsigned w = 8; w > 0; w -= 2) a[w] = 0;",
]


@pytest.mark.parametrize("body", UNSIGNED_LOOPS)
def test_loops_that_compare_as_unsigned(body: str) -> None:
    assert refusals(region(body)) == ()


# What looks like a row, a swap or a copy of a struct and is none, or is not known to be one.
NEAR = {
    "a row that moves": (
        "void f(int n, int m, double a[n][m])",
        "for (int i = 0; i < n; i++) { double *r = a[i]; for (int j = 0; j < m; j++) *r++ = 1; }",
        "AT127",
    ),
    "a row of one of two arrays": (
        "void f(int n, int m, double a[n][m], double b[n][m])",
        "for (int i = 0; i < n; i++) { double *r = i > 2 ? a[i] : b[i]; r[0] = 1; }",
        "AT127",
    ),
    "a row from before a change of its number": (
        "void f(int n, int m, double a[n][m], int k)",
        "for (int i = 0; i < n; i++) { double *r = a[k]; k = i; r[0] = 1; }",
        "AT127",
    ),
    "a row by a number that its own elements may be": (
        "void f(int n, int m, int a[n][m])",
        "for (int i = 0; i < n; i++) { int *r = a[a[i][0]]; r[1] = 1; r[2] = 3; }",
        "AT127",
    ),
    "a swap under a condition": (
        "void f(int n, int s, double *a, double *b)",
        "for (int t = 0; t < s; t++) { for (int i = 0; i < n; i++) a[i] = b[i];"
        " if (t % 3) { double *c = a; a = b; b = c; } }",
        "AT137",
    ),
    "a swap in a loop whose bound changes": (
        "void f(int n, int s, double *a, double *b)",
        "for (int t = 0; t < s; t++) { for (int i = 0; i < n; i++) a[i] = b[i];"
        " s -= 1; double *c = a; a = b; b = c; }",
        "AT146",
    ),
    "a use of swapped pointers after the loop": (
        "void f(int n, int s, double *a, double *b)",
        "for (int t = 0; t < s; t++) { for (int i = 0; i < n; i++) a[i] = b[i];"
        " double *c = a; a = b; b = c; } for (int i = 0; i < n; i++) a[i] = 0;",
        "AT137",
    ),
    "two pointers that become one": (
        "void f(int n, int s, double *a, double *b)",
        "for (int t = 0; t < s; t++) { for (int i = 0; i < n; i++) a[i] = b[i]; a = b; }",
        "AT137",
    ),
    "a swap of pointers to pointers": (
        "void f(int n, int s, double **a, double **b)",
        "for (int t = 0; t < s; t++) { for (int i = 0; i < n; i++) a[i][0] = b[i][1];"
        " double **c = a; a = b; b = c; }",
        "AT137",
    ),
    "a swap of pointers to structs": (
        "typedef struct { double x, y; } vec;\nvoid f(int n, int s, vec *a, vec *b)",
        "for (int t = 0; t < s; t++) { for (int i = 0; i < n; i++) a[i].x = b[i].y;"
        " vec *c = a; a = b; b = c; }",
        "AT154",
    ),
    "a struct that is read later": (
        "typedef struct { double x, y; } vec;\ndouble f(int n, const vec *p, double *a, vec q)",
        "for (int i = 0; i < n; i++) { q = p[i]; a[i] = q.x; }",
        "AT154",
    ),
    "a struct with a pointer in it": (
        "struct s { double x; double *p; };\nvoid f(int n, const struct s *p, struct s *q)",
        "for (int i = 0; i < n; i++) q[i] = p[i];",
        "AT124",
    ),
    "a struct whose address something has": (
        "typedef struct { double x, y; } vec;\nvoid f(int n, const vec *p, double *a)",
        "for (int i = 0; i < n; i++) { vec t = p[i]; vec *u = &t; a[i] = u->x; }",
        "AT123",
    ),
    "a struct of several types": (
        "struct s { double x; int k; };\nvoid f(int n, const struct s *p, struct s *q)",
        "for (int i = 0; i < n; i++) q[i] = p[i];",
        "AT124",
    ),
}


@pytest.mark.parametrize("name", NEAR)
def test_refuses_what_is_near(name: str) -> None:
    head, body, code = NEAR[name]
    after = "return q.y;" if "later" in name else ""
    text = f"{head}\n{{\n{OPEN}\n{body}\n{CLOSE}\n{after}\n}}\n"
    assert code in {one.code for one in refusals(text)}


def test_a_list_says_how_long_an_array_is() -> None:
    (only,) = load_text(
        "static const double w[] = { 1, 2, 3 }, r[][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };\n"
        "void f(int n, const int *k, double *a)\n{\n"
        f"{OPEN}\nfor (int i = 0; i < n; i++) a[i] = w[k[i]] * r[k[i]][0];\n{CLOSE}\n}}\n"
    ).regions
    assert [only.arrays[name].extents for name in "wr"] == [(Int(3),), (Int(3), Int(2))]
