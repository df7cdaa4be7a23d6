"""Blocks of Data: what is refused or warned of, at its place, and what the text says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.annotation.regions import scan_annotations
from annotune.frontend.load import Loaded, load_sound
from annotune.ir.residency import DataCall

HEAD = """\
#include <stdio.h>
struct row { int n; double *v; };
void unknown(int step);
int rank(int n);
void half(int n, double *restrict a)
{
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] = 0.5 * a[i];
    /*@ end @*/
}
double at(const double *a, int i) { return a[i]; }
double norm(int n, double *restrict a) { half(n, a); return a[0]; }
"""


def loaded(body: str, parameters: str = "", data: str = 'enter = "a[n]"') -> Loaded:
    """Return what is made of a function whose body is in a block of Data."""
    given = ", ".join(filter(None, ["int n, int steps, double *restrict a", parameters]))
    text = f"{HEAD}void f({given})\n{{\n/*@ begin Data ({data}) @*/\n{body}\n/*@ end @*/\n}}\n"
    found = scan_annotations(text, "f.c")
    assert not found.diagnostics
    return load_sound("f.c", text, found.blocks, kept=found.kept)


def told(made: Loaded) -> list[str]:
    return [f"{d.code} {d.span.line - len(HEAD.splitlines()) - 3}" for d in made.of_data]


END = "/*@ end @*/"
# The end of a block, a label, and the beginning of another block.
BETWEEN = f'{END}\nout: n++;\n/*@ begin Data (enter = "a[n]") @*/'
LABELLED = BETWEEN.replace(" n++;", "")
BEGIN = BETWEEN[BETWEEN.rindex("/*@") :]


def switched(body: str) -> str:
    """Return a block in a switch, and two beside that."""
    block = f"switch (n) {{ case 0: ;\n{BEGIN}\n{body}\n{END}\nbreak; }}"
    return f"n++;\n{END}\n{block}\n{BEGIN}\nn--;"


TWICE = LABELLED.replace("out:", "out: again:")
REFUSED = {
    "while (a[0] > 1.0) half(n, a);": ["AT162 1"],
    "for (int i = 0; i < a[0]; i++) half(n, a);": ["AT162 1"],
    "do half(n, a); while (a[1] > 1.0);": ["AT162 1"],
    "while (rank(n) > 1) n--;": ["AT162 1"],
    "if (rank(n) > 1) half(n, a);": ["AT162 1"],
    "if (norm(n, a) > a[1]) half(n, a);": ["AT162 1"],
    "half(n, a);\na[1] = norm(n, a);": ["AT162 2"],
    "a[n - 1] = a[0] + norm(n, a);": ["AT162 1"],
    "for (;;) { half(n, a); if (n < 3) return; }": ["AT163 1"],
    f"half(n, a);\nif (n)\n    goto out;\n{BETWEEN}\nhalf(n, a);": ["AT163 3"],
    f"half(n, a);\n{BETWEEN}\nhalf(n, a);\nif (n)\n    goto out;": ["AT163 7"],
    # A label right before the beginning stands before the calls there.
    f"half(n, a);\n{LABELLED}\nhalf(n, a);\nif (n)\n    goto out;": ["AT163 7"],
    f"n++;\n{TWICE}\n{{\nhalf(n, a);\nif (n)\n    goto again;\n}}": ["AT163 8"],
    f"n++;\n{TWICE}\nin: half(n, a);\nif (n)\n    goto in;\nelse\n    goto out;": ["AT163 9"],
    f"if (n)\n    goto out;\n{LABELLED}\nhalf(n, a);": ["AT163 2"],
    f"half(n, a);\n{LABELLED}\nfor (;;) {{ half(n, a);\nif (n)\n    goto out; }}": ["AT163 7"],
    switched("half(n, a);\ncase 1: half(n, a);"): ["AT163 6"],
    switched("half(n, a);\ndefault: half(n, a);"): ["AT163 6"],
    switched("half(n, a);\ncase 1: switch (n) { case 7: n = 3; break; }"): ["AT163 6"],
    switched("if (n) {\ncase 1: half(n, a); }"): ["AT163 6"],
    switched("for (; n > 3; n--) {\nhalf(n, a);\ncase 1: ; }"): ["AT163 7"],
    f"if (n)\n    goto in;\n{BETWEEN}\nin: half(n, a);": ["AT163 2", "AT163 6"],
    "for (; n;) { switch (rank(n)) { case 1: continue; } half(n, a); }": ["AT162 1"],
    "r[1].v = 0;\nfree(rank(n) ? r[n].v : r[0].v);": ["AT162 2"],
    "switch ((int)a[0] + rank(n)) { case 1: half(n, a); }": ["AT162 1"],
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused(body: str) -> None:
    made = loaded(body, "struct row *r")
    # Of two blocks, the other one goes on.
    is_one_left = END in body and len(REFUSED[body]) == 1
    assert bool(made.source.residency) is is_one_left
    assert all(region.is_resident is is_one_left for region in made.source.regions)
    assert [one for one in told(made) if one[:5] != "AT166"] == REFUSED[body]
    assert made.of_data[-1].code == "AT166" or is_one_left


NAMES = {
    ("", 'enter = "b[n]"'): "AT160",
    ("", 'enter = "n"'): "AT160",
    ("double **b", 'exit = "b[n]"'): "AT160",
    ("double *b", 'enter = "b"'): "AT161",
    ("int b", 'present = "b"'): "AT160",
    ("double b[][4]", 'enter = "b"'): "AT161",
    ("volatile double *b", 'enter = "b[n]"'): "AT160",
}


@pytest.mark.parametrize(("parameters", "data"), NAMES)
def test_names_that_cannot_stay(parameters: str, data: str) -> None:
    made = loaded("half(n, a);", parameters, data)
    assert [d.code for d in made.of_data] == [NAMES[parameters, data], "AT166"]


@pytest.mark.parametrize("head", ["if (n > 3)", "else", "for (;;)", "do"])
def test_a_block_behind_a_head_stays_one_statement(head: str) -> None:
    data = f'{head} /*@ begin Data (enter = "a[n]") @*/ half(n, a); /*@ end @*/'
    before, behind = ("if (n) ; ", "") if head == "else" else ("", " while (0);" * (head == "do"))
    text = f"{HEAD}void f(int n, double *a)\n{{\n{before}{data}{behind}\n}}\n"
    found = scan_annotations(text, "f.c")
    made = load_sound("f.c", text, found.blocks, kept=found.kept)
    assert not made.of_data
    assert all(edit.is_alone for edit in made.source.residency.edits if edit.title)


WRONG_BLOCKS = {
    "cuts a statement": ("if (n > 3) { BEGIN half(n, a); } END", "AT111"),
    "names a number": ('/*@ begin Data (enter = "n") @*/ half(n, a); END', "AT160"),
    "has no length": ('/*@ begin Data (enter = "a") @*/ half(n, a); END', "AT161"),
    "is left in its middle": ("BEGIN if (n > 3) return; half(n, a); END", "AT163"),
}


@pytest.mark.parametrize("name", WRONG_BLOCKS)
def test_a_refused_block_leaves_the_others(name: str) -> None:
    body, code = WRONG_BLOCKS[name]
    begin, end = '/*@ begin Data (enter = "a[n]") @*/', "/*@ end @*/"
    wrong = body.replace("BEGIN", begin).replace("END", end)
    text = f"{HEAD}void f(int n, double *a)\n{{\n{wrong}\n}}\n"
    text += f"void g(int n, double *a)\n{{\n{begin} half(n, a); {end}\n}}\n"
    found = scan_annotations(text, "f.c")
    made = load_sound("f.c", text, found.blocks, kept=found.kept)
    assert [d.code for d in made.of_data] == [code, "AT166"]
    assert "this block" in made.of_data[1].message
    titles = [edit for edit in made.source.residency.edits if edit.title]
    assert len(titles) == 2
    assert all(edit.start > text.index("void g") for edit in titles)


@pytest.mark.parametrize(
    ("parameters", "data", "bytes_"),
    [
        ("", "a[n]", "sizeof a[0] * (n)"),
        ("double b[steps][n]", "b", "sizeof b[0] * (steps)"),
        ("double (*b)[4]", "b[n]", "sizeof b[0] * (n)"),
        ("double (*b)[4]", "b[n][4]", "sizeof b[0][0] * (n) * (4)"),
        ("const struct row *b", "b[2 * n + 1]", "sizeof b[0] * (2 * n + 1)"),
    ],
)
def test_how_long_arrays_are(parameters: str, data: str, bytes_: str) -> None:
    made = loaded("half(n, a);", parameters, f'enter = "{data}"')
    assert not made.of_data
    entered = [c for e in made.source.residency.edits for c in e.before if c[0] is DataCall.ENTER]
    assert [arguments[1] for _, arguments in entered] == [bytes_]


def test_a_block_names_an_array_that_its_function_does_not() -> None:
    text = HEAD.replace("struct row", "typedef double real;\nstatic real g[9];\nstruct row", 1)
    text += "void all(int n) { half(n, g); }\nvoid f(int n)\n{\n"
    text += '/*@ begin Data ( enter = "g" ) @*/\nall(n);\n/*@ end @*/\n}\n'
    found = scan_annotations(text, "f.c")
    made = load_sound("f.c", text, found.blocks, kept=found.kept)
    entered = [c for e in made.source.residency.edits for c in e.before if c[0] is DataCall.ENTER]
    assert entered == [(DataCall.ENTER, ("g", "sizeof g"))]
    assert not made.of_data


CALLS = {
    # Nothing of the host's touches an array here.
    'half(n, a); int k = 0; k += n; printf("%d\\n", k);': [],
    "double b[3] = {0.0};\nhalf(n, a);\nb[1] += b[0];": [],
    "half(n, a);\ndouble s = a[0];": [("on_host", "a", "0")],
    "half(n, a);\na[0] += 1.0;": [("on_host", "a", "1")],
    "half(n, a);\n*a = 1.0;": [("on_host", "a", "1")],
    "half(n, a);\nfor (double *p = a; p < a + n; p++) *p = 0.0;": [("on_host", "a", "1")],
    "half(n, a);\nstruct row r = {n, a};\nfor (int i = 0; i < r.n; i++) r.v[i] = 1.0;": [
        ("on_host", "r.v", "1")
    ],
    'half(n, a);\nprintf("%g\\n", a[1]);': [("on_host", "a", "0")],
    "half(n, a);\nunknown(1);": [("aside", "1")],
    "while (norm(n, a) > 1.0) n--;": [],
    # What runs no region leaves on the host what is there.
    "half(n, a);\na[1] += at(a, 2);": [("on_host", "a", "1")],
    "half(n, a);\nfor (int i = 0; i < n; i++)\n    a[i] += at(a, 2);": [("on_host", "a", "1")],
    "if (norm(n, a) > 1.0)\n    a[1] = 0.0;": [("on_host", "a", "1")],
    # Where a pointer is read only if there is one, nothing is read before.
    "for (int i = 0; i < n; i++)\n    r->v[i] = 1.0;\nhalf(n, a);": [
        ("on_host", "r", "0"),
        ("on_host", "r->v", "1"),
    ],
    "half(n, a);\nr->v[0] += 1.0;": [("on_host", "r", "0"), ("on_host", "r->v", "1")],
    # A pointer that stays may lead to any array of the function.
    "double own[3];\nhalf(n, a);\nown[1] = 0.0;\na = own;": [("on_host", "own", "1")],
    # Where nobody knows which array it is, all are.
    "double s = r ? r->v[0] : 0.0;\nhalf(n, a);": [("aside", "1")],
    "long place = n;\n*(double *)place = 1.0;\nhalf(n, a);": [("aside", "1")],
    "double *p = a;\ndouble **q = &p;\nhalf(n, a);\n*q = a + 1, p[0] = 1.0;": [("aside", "1")],
    # Each statement that a jump may lead to has its own.
    "half(n, a);\nif (n)\n    goto out;\nn++;\nout: there: a[0] = 1.0;": [("on_host", "a", "1")],
    "if (n) goto in;\nhalf(n, a);\nfor (;;) { a[0] = 1.0; in: n += a[1]; break; }": [
        ("on_host", "a", "1"),
        ("on_host", "a", "0"),
    ],
    "for (;;) { a[0] = 1.0; if (n) goto in; n++; in: n += a[1]; break; }": [("on_host", "a", "1")],
    "switch (n) { case 1: half(n, a); a[0] = 1.0; break; default: a[1] = 1.0; }": [
        ("on_host", "a", "1"),
        ("on_host", "a", "1"),
    ],
    "for (; n;) { switch (n) { case 1: rank(n); continue; } half(n, a); }": [("aside", "1")],
    "switch (n) { case 1: a[0] = 1.0; break; case 2: a[1] = 1.0; }": [("on_host", "a", "1")],
    # What may lie outside of its array is asked for by what it was made of.
    "double *p = a - 1;\nhalf(n, a);\np[1] = 1.0;": [("on_host", "a", "1")],
    "--a;\nhalf(n, a + 1);\na[1] = 1.0;": [
        ("on_host", "a", "1"),
        ("on_host", "annotune_given_a", "1"),
    ],
    "double *p = a, *q = a + 1;\np -= n;\nhalf(n, a);\np[n] = q[0];": [
        ("on_host", "a", "1"),
        ("on_host", "q", "0"),
    ],
    "double *p = a + n, *q = p - 1;\nhalf(n, a);\nhalf(n, p);\nq[1] = 0.0;": [
        ("on_host", "a", "1"),
        ("on_host", "p", "1"),
    ],
    "double *p = r->v - 1;\nhalf(n, a);\np[1] = 1.0;": [("on_host", "r", "0"), ("aside", "1")],
    "r->v--;\nhalf(n, a);\nr->v[1] = 1.0;": [("on_host", "r", "1"), ("aside", "1")],
    # The address of an element is not the element.
    "half(n, a);\nhalf(n - 1, &a[1]);": [],
    "half(n, a);\nint more = &a[n] - a;": [],
}


@pytest.mark.parametrize("body", CALLS)
def test_what_is_called_before_statements(body: str) -> None:
    made = loaded(body, "struct row *r")
    assert not [d for d in made.of_data if d.severity == "error"]
    bounds = (DataCall.BEGIN, DataCall.ENTER, DataCall.EXIT, DataCall.END)
    own = [
        (str(call), *arguments)
        for edit in made.source.residency.edits
        # Not in the functions that are called.
        if edit.start > len(HEAD) and edit.region is None
        for call, arguments in edit.before
        if call not in bounds
    ]
    assert own == CALLS[body]


def test_a_file_without_such_blocks_is_left_alone(tmp_path: Path) -> None:
    found = scan_annotations(HEAD, "f.c")
    made = load_sound("f.c", HEAD, found.blocks, kept=found.kept)
    assert not made.source.residency
    assert made.of_data == ()
