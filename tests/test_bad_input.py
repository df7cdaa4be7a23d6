"""What a user may do wrong, on the whole command line: one clear report, and no file written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.cli import CLOSE, OPEN, annotune, function, marked, region


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LOOP = "for (int i = 0; i < n; i++)"
TWO = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
SUM = f"{TWO} «»a[i] += b[i*n + j];"
COPY = f"{TWO} a[i*n + j] = b[i*n + j];"
# a[i][j] needs a[i-1][j+1]: distance (1, -1).
SKEWED = (
    "for (int i = 1; i < n; i++) for (int j = 0; j < n - 1; j++)"
    " a[i*n + j] = a[(i-1)*n + j+1] + b[i];"
)


def plain(body: str) -> str:
    """Return a function with one region that holds `body`, without sizes."""
    return function(f"  {OPEN}\n  {body}\n  {CLOSE}")


def with_recipe(recipe: str, loops: str) -> str:
    return function(region(loops.replace("«»", ""), recipe))


@dataclass(frozen=True)
class Bad:
    """A text with its mistake marked, and what is said of it."""

    text: str
    code: str
    message: str
    help: str = ""
    note: str = ""


BAD = {
    "unclosed": Bad(
        function(f"  «{OPEN}»\n  {LOOP} a[i] = b[i];"),
        "AT001",
        "'begin PerfTuning' is never closed",
        "add `/*@ end @*/` after the annotated loops",
    ),
    "crossed": Bad(
        function(
            f"  {OPEN}\n  /*@ begin CHiLL () @*/\n  {LOOP} a[i] = b[i];\n"
            "  «/*@ end PerfTuning @*/»\n  /*@ end CHiLL @*/"
        ),
        "AT003",
        "'end PerfTuning' comes before the end of 'CHiLL', which was begun later",
        "close the annotations in the reverse order of their begin",
        "'begin CHiLL' is here",
    ),
    "no nest": Bad(
        function(f"  «{OPEN}»\n  a[0] = 1;\n  {CLOSE}"),
        "AT112",
        "there is no loop nest in the annotated region",
        "put the opening annotation before a 'for' loop",
    ),
    "nothing": Bad(
        function(f"  «{OPEN}»\n  {CLOSE}"),
        "AT112",
        "there is no loop nest in the annotated region",
        "put the opening annotation before a 'for' loop",
    ),
    "unknown command": Bad(
        with_recipe('«permut(0, ("j","i"))»', COPY),
        "AT060",
        "unknown command 'permut'",
        "did you mean 'permute'?",
    ),
    "unknown loop": Bad(
        with_recipe('«permute(0, ("j","k"))»', COPY),
        "AT251",
        "statement 0 has no loop 'k'",
        "its loops are, outermost first: i, j",
    ),
    "illegal permutation": Bad(
        with_recipe('«permute(0, ("j","i"))»', SKEWED),
        "AT253",
        "permute: loop 'j' would break the order that 'a' needs: a is carried by j (distance 1)",
        "the text's order is (i, j)",
        "the dependence: a is carried by j (distance 1)",
    ),
    "illegal mapping": Bad(
        with_recipe('«cuda(0, block={"i"}, thread={"j"})»', SUM),
        "AT258",
        "cuda: loop 'j' cannot run in parallel: a is carried by j (distance 1 and more)",
        "loops that may be mapped here: i",
        "the dependence: a is carried by j (distance 1 and more)",
    ),
    "missing size": Bad(
        function(
            f"  {OPEN}\n  for (int i = 0; i < m; i++) for (int j = 0; j < p; j++)"
            f" «c[i*n + j]» = 1;\n  {CLOSE}",
            "int m, int p, int n, double *restrict c",
        ),
        "AT205",
        "the value of 'n' is needed: without it the rows of 'c' cannot be proven apart",
        "add 'param n = …;' to `input_params`, or give --set n=…",
    ),
    "unknown type": Bad(
        function(f"  {OPEN}\n  {LOOP} «v»[i] = 1;\n  {CLOSE}", "int n, vector_t *v"),
        "AT121",
        "unknown type 'vector_t' of 'v'",
        "put the typedef into this file, or pass -Dvector_t=TYPE",
    ),
    "not affine": Bad(
        plain(f"{LOOP} «a[i*i]» = 1;"),
        "AT201",
        "subscript 'i * i' of 'a' is not affine in i",
        "sums of loop variables times sizes",
    ),
    "call": Bad(
        plain(f"{LOOP} a[i] = «sin»(b[i]);"),
        "AT130",
        "call of 'sin' in the nest is not supported yet",
        "compute it before the region",
    ),
    "break": Bad(
        plain(f"{LOOP} {{ a[i] = 1; «break»; }}"),
        "AT131",
        "'break' is not allowed in a region",
        "counted 'for' loops and assignments only",
    ),
    "goto": Bad(
        plain(f"{LOOP} {{ «goto» out; a[i] = 1; out: ; }}"),
        "AT131",
        "'goto' is not allowed in a region",
        "counted 'for' loops and assignments only",
    ),
    "guard": Bad(
        plain(f"{LOOP} «if» (b[i] > 0) a[i] = 1;"),
        "AT132",
        "a condition ('if') in a region is not supported yet",
        "move the condition out of the nest, or into the loop bounds",
    ),
    "modified iterator": Bad(
        plain(f"{LOOP} {{ a[i] = 1; «i»++; }}"),
        "AT144",
        "iterator 'i' is modified in the body of its loop",
        "change it in the loop header only",
    ),
    "overlap": Bad(
        function(
            f"  double *«c» = a + 1;\n  {OPEN}\n  {LOOP} c[i] = a[i];\n  {CLOSE}",
            "int n, double *a",
        ),
        "AT212",
        "'c' and 'a' overlap: 'c' points to a + 1, and the region writes there",
        "use one name in the region",
    ),
    "overlap of three": Bad(
        function(
            f"  double *c = a, *«e»;\n  e = &c[3];\n  {OPEN}\n  {LOOP} e[i] = a[i];\n  {CLOSE}",
            "int n, double *a",
        ),
        "AT212",
        "'e' and 'a' overlap: 'e' points to a + 3, and the region writes there",
        "use one name in the region",
    ),
    "factor": Bad(
        with_recipe('«unroll(0, "j", 5)»', SUM),
        "AT262",
        "unroll: factor 5 does not divide the 64 iterations of loop 'j'",
        "use one of 1, 2, 4, 8, 16, 32, 64",
    ),
    "factor 0": Bad(
        with_recipe('unroll(0, "j", «0»)', SUM),
        "AT065",
        "the factor of 'unroll' must be a number from 1, or a parameter",
        'write `unroll(0, "h7", UF)`',
    ),
    "empty loop": Bad(
        function(region(f"«for» {LOOP[4:]} a[i] = b[i];", sizes="param n = 0;")),
        "AT210",
        "loop 'i' runs no iteration at these sizes",
        "give sizes for which every loop runs",
    ),
    "size that is no integer": Bad(
        function(region(f"{LOOP} a[i] = b[i];", sizes="param «n» = 3.5;")),
        "AT641",
        "'n' is 3.5 here, but it is of type 'int' in C",
        "give a whole number",
    ),
    "tabs": Bad(
        function(f"\t{OPEN}\n\t{LOOP}\n\t\t a[i] =\t«sin»(b[i]);\n\t{CLOSE}"),
        "AT130",
        "call of 'sin' in the nest is not supported yet",
        "compute it before the region",
    ),
    "no function": Bad(
        f"This is prose.\n«{OPEN}»\n for all i do\n{CLOSE}\n",
        "AT110",
        "the annotated region is not inside a function",
        "into the body of a function",
    ),
    "no region": Bad(
        "«»int x;\n",
        "AT604",
        "there is no annotated region in this file",
        "put /*@ begin PerfTuning () @*/ before a loop nest",
    ),
    "empty": Bad("", "AT101", "the file is empty", "give a C file with an annotated loop nest"),
    "no text": Bad(
        "int x;\nab«\0»cd\n", "AT102", "this is not a text file: it holds a NUL byte", "give a C"
    ),
}


def reports(err: str) -> list[str]:
    """Return the lines that begin a diagnostic."""
    return re.findall(r"^\S+:\d+:\d+: (?:error|warning): .*$", err, re.MULTILINE)


def check_report(bad: Bad, path: str, newline: str, err: str) -> None:
    """Assert that `err` reports the mistake, once, at its place, with the carets under it."""
    text, line, column = marked(bad.text)
    head = f"{path}:{line}:{column}: error: {bad.message} [{bad.code}]"
    found = err.split("\n")
    assert [row for row in reports(err) if ": error: " in row] == [head]
    at = found.index(head)
    if text and "\0" not in text:
        shown = text.split("\n")[line - 1]
        assert found[at + 1] == f"{line:5} | {shown}"
        blank = re.sub(r"[^\t]", " ", shown[: column - 1])
        assert found[at + 2].startswith(f"      | {blank}^")
        marks = len(found[at + 2]) - len(f"      | {blank}")
        width = bad.text.find("»") - bad.text.find("«") - 1
        assert marks == max(1, min(width, len(shown) - column + 1))
    helps = [row for row in found if row.startswith("  help: ")]
    assert bad.help in helps[0] if bad.help else helps
    notes = [row for row in found if ": note: " in row]
    assert [row.split(": note: ")[1] for row in notes] == ([bad.note] if bad.note else [])
    assert newline not in ("\r\n",) or "\r" not in err


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("command", ["check", "emit"])
@pytest.mark.parametrize("name", BAD)
def test_one_report_and_nothing_written(name: str, command: str, newline: str) -> None:
    bad = BAD[name]
    text, _, _ = marked(bad.text)
    Path("bad.c").write_text(text.replace("\n", newline), newline="")
    done = annotune(command, "bad.c", *(["--target", "cuda"] if command == "emit" else []))
    assert done.code == 1
    check_report(bad, "bad.c", newline, done.err)
    assert [path.name for path in Path().iterdir()] == ["bad.c"]


def test_a_note_shows_the_dependence() -> None:
    Path("bad.c").write_text(with_recipe('cuda(0, thread={"j"})', SUM))
    assert annotune("check", "bad.c").err.endswith(
        "  help: loops that may be mapped here: i\n"
        "bad.c:7:59: note: the dependence: a is carried by j (distance 1 and more)\n"
        f"    7 |   {SUM.replace('«»', '')}\n"
        f"      | {' ' * 58}^^^^\n"
    )


@pytest.mark.parametrize("command", ["check", "emit"])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.c", "No such file or directory"),
        ("folder", "Is a directory"),
        ("user.c/below.c", "Not a directory"),
    ],
)
def test_no_such_file(name: str, reason: str, command: str) -> None:
    Path("folder").mkdir()
    Path("user.c").write_text("int x;\n")
    done = annotune(command, name)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"{name}:1:1: error: cannot read '{name}': {reason} [AT601]\n"
        "  help: check the name and its rights\n"
    )


GOOD = function(region(f"{LOOP} a[i] = b[i];"))


@pytest.mark.parametrize("folder", ["user.c", "user.c/below"])
def test_a_folder_that_cannot_be(folder: str) -> None:
    Path("user.c").write_text(GOOD)
    done = annotune("emit", "user.c", "--target", "cuda", "-o", folder)
    assert done.code == 1
    assert reports(done.err)[-1].startswith(f"{folder}:1:1: error: cannot write in '{folder}': ")
    assert "[AT602]\n  help: choose another folder with -o DIR\n" in done.err
    assert Path("user.c").read_text() == GOOD


def test_a_file_of_the_users_is_never_overwritten() -> None:
    Path("user.c").write_text(GOOD)
    Path("out").mkdir()
    Path("out/user_cuda.c").write_text("int mine;\n")
    done = annotune("emit", "user.c", "--target", "cuda", "-o", "out")
    assert done.code == 1
    head = "out/user_cuda.c:1:1: error: 'out/user_cuda.c' exists and was not written by annotune"
    assert f"{head} [AT603]\n" in done.err
    assert [path.name for path in Path("out").iterdir()] == ["user_cuda.c"]
    assert Path("out/user_cuda.c").read_text() == "int mine;\n"


def test_the_source_is_never_overwritten() -> None:
    # user_cuda.c is a user's own name here; the output of user.c would land on it.
    Path("user.c").write_text(GOOD)
    Path("user_cuda.c").write_text(GOOD + "/* annotune reads me */\n")
    done = annotune("emit", "user.c", "--target", "cuda", "-o", ".")
    assert done.code == 1
    assert "[AT603]" in done.err
    assert Path("user_cuda.c").read_text() == GOOD + "/* annotune reads me */\n"


def test_every_refused_region_is_reported() -> None:
    one = plain(f"{LOOP} a[i] = g(i);")
    text = one + GOOD.replace("f(", "good(") + one.replace("f(", "h(").replace("g(i)", "b[i*i]")
    Path("user.c").write_text(text)
    done = annotune("emit", "user.c", "--target", "cuda")
    assert done.code == 1
    codes = [re.findall(r"AT\d+", row)[0] for row in reports(done.err) if ": error: " in row]
    assert codes == ["AT130", "AT201"]
    assert not Path("annotune-out").exists()


SERIAL = function(region("for (int i = 1; i < n; i++) a[i] = a[i-1] + b[i];"))


def test_a_size_without_a_value_is_a_warning_and_then_a_refusal() -> None:
    source = "double *restrict a, const double *restrict b, int n"
    Path("user.c").write_text(function(f"  {OPEN}\n  {LOOP} a[i] = b[i];\n  {CLOSE}", source))
    said = (
        "no value is known for 'n', on which work, grid and unrolling depend [AT221]\n"
        "    4 |   for (int i = 0; i < n; i++) a[i] = b[i];\n"
        "      |   ^^^\n"
        "  help: add 'param n = …;' to `input_params`, or give --set n=…\n"
    )
    checked = annotune("check", "user.c")
    assert checked.code == 0
    assert checked.err == f"user.c:4:3: warning: {said}"
    emitted = annotune("emit", "user.c")
    assert emitted.code == 1
    assert emitted.err == f"user.c:4:3: error: {said}"
    assert not Path("annotune-out").exists()
    assert annotune("emit", "user.c", "--set", "n=64").code == 0


def test_no_parallel_loop_is_a_warning_and_then_a_refusal() -> None:
    Path("user.c").write_text(SERIAL)
    said = (
        "no loop of this region can run in parallel [AT301]\n"
        "    3 |   /*@ begin PerfTuning (def input_params { param n = 64; }) @*/\n"
        "      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  help: every loop carries a dependence: "
        "a[i] is written at i and read as a[i - 1] at i+1 (distance 1)\n"
    )
    checked = annotune("check", "user.c")
    assert checked.code == 0
    assert f"user.c:3:3: warning: {said}" in checked.err
    assert checked.out.endswith("    no kernel: no loop may run in parallel\n\n")
    emitted = annotune("emit", "user.c", "--target", "cuda")
    assert emitted.code == 1
    assert f"user.c:3:3: error: {said}" in emitted.err
    assert not Path("annotune-out").exists()
