"""Macros are expanded as a C preprocessor does, and every token keeps a place of the user's."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from source_text import SIZES, load_region, load_text, marked, refusals, region
from support.laws import tried
from support.nest_text import print_nest

from annotune.diagnostics import AnnotuneError
from annotune.frontend.read.parse import expanded
from annotune.frontend.read.preprocess import preprocess
from annotune.frontend.read.tokens import SourceText, Tokens


def expansion(text: str) -> list[str]:
    """Return the tokens of a text with every macro expanded, integers too."""
    clean = preprocess(SourceText("t.c", text))
    tokens = Tokens.of(clean.text)
    return expanded(clean, tokens, 0, len(tokens) - 1, erased=frozenset(clean.macros)).texts


# What the standard itself, or GNU C, gives for these.
EXPANSIONS = {
    "#define F(x) x + x\nF(a)": "a + a",
    "#define F(x, y) y x\nF(a, (b, c))": "( b , c ) a",
    "#define F() 1\nF() F": "1 F",
    "#define F(x) [x]\nF() F (\n a\n)": "[ ] [ a ]",
    '#define S(x) #x\nS(a + "b\\n")': '"a + \\"b\\\\n\\""',
    "#define S(x) #x\n#define T(x) S(x)\n#define N 1\nS(N) T(N)": '"N" "1"',
    "#define C(a, b) a##b\n#define xy 7\nC(x, y) C(, z) C(1, .5)": "7 z 1.5",
    "#define V(f, ...) f(__VA_ARGS__)\nV(g, 1, 2) V(g)": "g ( 1 , 2 ) g ( )",
    "#define G(f, a...) f(0, ## a)\nG(g, 1) G(g)": "g ( 0 , 1 ) g ( 0 )",
    "#define f(x) x f\nf(1)(2)": "1 f ( 2 )",
    "#define A B\n#define B A\nA B": "A B",
    "#define F(x) G x\n#define G(x) x - 1\nF((2))": "2 - 1",
    "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n"
    "#define t(a) a\nf(y+1) + f(f(z)) t(t(g)(0) + t)(1)": (
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z ) ) ) ) f ( 2 * ( 0 ) ) + t ( 1 )"
    ),
    "#define EMPTY\nEMPTY a EMPTY": "a",
    "#define M(x) (x)\n#define N M\nN(1)": "( 1 )",
}


@pytest.mark.parametrize("text", EXPANSIONS)
def test_expands(text: str) -> None:
    assert (
        expansion(text) == EXPANSIONS[text].split()
        or " ".join(expansion(text)) == (EXPANSIONS[text])
    )


WORDS = st.sampled_from(["A", "B", "F", "G", "x", "y", "n", "+", "1", "2.5"])
BODY = st.lists(st.one_of(WORDS, st.sampled_from(["x##y", "#x", "F(x)", "G(y, A)", "(x)"])))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@settings(tried(90), suppress_health_check=list(HealthCheck))
@given(
    a=st.lists(WORDS, max_size=4).map(" ".join),
    b=st.lists(WORDS, max_size=4).map(" ".join),
    f=BODY.map(" ".join),
    g=BODY.map(" ".join),
    use=st.lists(st.sampled_from(["A", "F(B)", "G(A, F(1))", "F", "(B)", "F((A), 1)"]), max_size=5),
)
def test_expands_as_gcc_does(a: str, b: str, f: str, g: str, use: list[str]) -> None:
    f = f.replace("x##y", "x##x").replace("y", "x")
    text = f"#define A {a}\n#define B {b}\n#define F(x) {f}\n#define G(x, y) {g}\n"
    text += " ".join(use) + "\n"
    gcc = subprocess.run(
        ["gcc", "-E", "-P", "-x", "c", "-"], input=text, capture_output=True, text=True, timeout=600
    )
    # Pasting what does not fit, and a wrong number of arguments, are errors to both.
    assume(gcc.returncode == 0)
    assert expansion(text) == Tokens.of(gcc.stdout).texts


LOOPS = {
    "a loop header": (
        "#define FOR(i, n) for (int i = 0; i < (n); i++)\n",
        "FOR(c, n) { a[c] = 0; }",
        "for c in 0:n\n  S0: a[c] = 0\n",
    ),
    "a whole header": (
        "#define ALL for (i = 0; i < n; i++)\n",
        "ALL a[i] = 0;",
        "for i in 0:n\n  S0: a[i] = 0\n",
    ),
    "header and body": (
        "#define CLEAR(p, n) for (int c = 0; c < n; c++) p[c] = 0\n",
        "CLEAR(a, n);",
        "for c in 0:n\n  S0: a[c] = 0\n",
    ),
    "begin and end": (
        "#define BEGIN(i, n) for (i = 0; i < n; i++) {\n#define END }\n",
        "BEGIN(i, n) a[i] = 1; END",
        "for i in 0:n\n  S0: a[i] = 1\n",
    ),
    "nested": (
        "#define FOR(i, n) for (int i = 0; i < n; i++)\n#define AT(p, i, j) p[(i)*m + (j)]\n",
        "FOR(r, n) FOR(c, m) AT(a, r, c) += AT(b, c, 0);",
        "for r in 0:n\n  for c in 0:m\n    S0: a[r * m + c] += b[c * m + 0]\n",
    ),
    "a statement": (
        "#define SET(x, v) (x) = (v);\n#define CAT(a, b) a##b\n#define B2 b\n",
        "for (i = 0; i < n; i++) { SET(a[i], CAT(B, 2)[i] + 1.0e+10) }",
        "for i in 0:n\n  S0: a[i] = b[i] + 1.0e+10\n",
    ),
    "a step": (
        "#define STEP i += 2\n",
        "for (i = 0; i < n; STEP) a[i] = 0;",
        "for i in 0:n step 2\n  S0: a[i] = 0\n",
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_macros_make_loops_and_statements(name: str) -> None:
    head, body, nest = LOOPS[name]
    assert print_nest(load_region(body, head=head).nest) == nest


# A region's body after some definitions: the place of a refusal is the macro's use, or what the
# user wrote as its argument.
HEAD = (
    "#define FOR(i, n) for (int i = 0; i < n; i++)\n#define DOWN(i) for (i = n; i > x; i--)\n"
    "#define SQ(x) ((x)*(x))\n#define LEAVE break\n#define TWO(a, b) a = b\n#define HALF 0.5 q\n"
    "#define M0(x) M1(x)\n#define M1(x) x + nowhere\n"
)
PLACES = {
    "an argument": ("FOR(c, n) a[c] = SQ(«q»);", "AT120"),
    "after a tab": ("\tFOR(c, n)\ta[c] = SQ(\t«q»);", "AT120"),
    "deep in a body": ("FOR(c, n) a[c] = «M0»(x);", "AT120"),
    "a statement": ("FOR(c, n) { a[c] = 0; «LEAVE»; }", "AT131"),
    "too few": ("FOR(c, n) «TWO»(a[c]);", "AT109"),
    "too many": ("FOR(c, n) a[c] = «SQ»(1, 2);", "AT109"),
    "no C": ("FOR(c, n) a[c] = «HALF»;", "AT105"),
}


@pytest.mark.parametrize("name", PLACES)
def test_points_at_the_use(name: str) -> None:
    body, code = PLACES[name]
    text, place = marked(HEAD + region(body))
    found = [d for d in refusals(text) if d.code == code]
    assert [d.span for d in found] == [place], [d.render(text) for d in refusals(text)]


def test_macros_that_explode_are_refused() -> None:
    head = "#define a0 1+x\n" + "".join(f"#define a{k} a{k - 1}*a{k - 1}\n" for k in range(1, 40))
    text, place = marked(head + region("for (i = 0; i < n; i++) a[i] = «a39»;"))
    (only,) = refusals(text)
    assert (only.code, only.span) == ("AT108", place)


def test_arguments_that_explode_are_refused() -> None:
    head = "#define D(x) x x x x x x x x\n"
    text = head + region("for (i = 0; i < n; i++) a[i] = " + "D(" * 9 + "1" + ")" * 9 + ";")
    assert [d.code for d in refusals(text)] == ["AT108"]


def test_a_call_never_closed_is_no_call() -> None:
    with pytest.raises(AnnotuneError):
        load_region("for (i = 0; i < n; i++) a[i] = SQ(1;", head="#define SQ(x) x*x\n")


def test_a_value_follows_the_macros_it_is_made_of() -> None:
    head = "#define M (2*N)\n#define N 4\n#undef N\n#define N 8\n"
    assert load_region("for (i = 0; i < M; i++) a[i] = 0;", head=head).sizes == {**SIZES, "M": 16}


def test_a_macro_that_means_something_else_later_is_no_name() -> None:
    tail = "\n#undef N\n#define N 9\n"
    text = "#define N 4\n" + region("for (i = 0; i < N; i++) a[i] = 0;") + tail
    (only,) = load_text(text).regions
    assert print_nest(only.nest) == "for i in 0:4\n  S0: a[i] = 0\n"
