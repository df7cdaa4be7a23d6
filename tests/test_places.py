"""The place of a report, exact to the column whatever stands before it; all mistakes at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cli import CLOSE, OPEN, annotune, function, marked, region

from annotune.diagnostics import Diagnostic, Span
from annotune.printable import cells


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LOOP = "for (int i = 0; i < n; i++)"
CALL = "a[i] = «update»(b[i]);"
NEWLINES = pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])


def errors(text: str, newline: str = "\n", **files: str) -> list[tuple[str, int, int, str]]:
    """Return file, line, column and code of every error of a text with marks, in order."""
    Path("user.c").write_bytes(
        marked(text)[0].replace("\n", newline).encode("utf-8", "surrogateescape")
    )
    done = annotune("check", "user.c", "--json")
    return [
        (d["file"], d["line"], d["column"], d["code"])
        for d in done.json["diagnostics"]
        if d["severity"] == "error"
    ]


C_PLACES = {
    "a tab": f"\t{LOOP}\t{CALL}",
    "tabs and blanks": f" \t  {LOOP}\t \t{CALL}",
    "letters of two bytes": f"{LOOP} /* ééé */ {CALL}",
    "letters of four bytes": f"{LOOP} /* 😀😀 */ {CALL}",
    "wide letters": f"{LOOP} /* 漢字 */ {CALL}",
    "an accent on its own": f"{LOOP} /* e\u0301 */ {CALL}",
    "bytes that are no UTF-8": f"{LOOP} /* \udcff */ {CALL}",
    "a joined line": f"{LOOP} \\\n {CALL}",
    "a token on the next line": f"{LOOP}\n\n\n    a[i] =\n  «update»(b[i]);",
    "a string with a quote": f'{LOOP} /* " */ {CALL}',
    "a comment of lines": f"{LOOP} /* one\n two */ {CALL}",
    "a line comment": f"{LOOP} // one /* \n {CALL}",
    "a form feed": f"{LOOP} \f {CALL}",
    "a macro": f"for (int i = 0; i < MANY; i++) {CALL}",
    "the use of a macro": f"{LOOP} a[i] = SIZE + «update»(b[i]);",
}


@NEWLINES
@pytest.mark.parametrize("name", C_PLACES)
def test_a_place_in_c(name: str, newline: str) -> None:
    text = "#define MANY 64\n#define SIZE (1 + 2 + 3)\n" + function(region(C_PLACES[name]))
    _, line, column = marked(text)
    assert errors(text, newline) == [("user.c", line, column, "AT130")]


ANNOTATIONS = {
    "on one line": "/*@ begin PerfTuning (def input_params { param n = 2 * «tile»; }) @*/",
    "with tabs": "/*@ begin PerfTuning (\tdef input_params {\tparam n =\t«tile»; }) @*/",
    "on several": "/*@ begin PerfTuning (\n  def input_params {\n\tparam n =\n «tile»;\n }) @*/",
    "after a comment": (
        "/*@ begin PerfTuning (\n  # é 漢\n  def input_params { param n = «tile»; }) @*/"
    ),
    "as directives": (
        "#pragma Orio begin PerfTuning ( \\\n def input_params { \\\n param n = «tile»; })"
    ),
    "after wide letters": (
        "/* 漢字 😀 */ /*@ begin PerfTuning (def input_params { param n = «tile»; }) @*/"
    ),
}


@NEWLINES
@pytest.mark.parametrize("name", ANNOTATIONS)
def test_a_place_in_an_annotation(name: str, newline: str) -> None:
    text = function(f"{ANNOTATIONS[name]}\n  {LOOP} a[i] = b[i];\n  {CLOSE}")
    _, line, column = marked(text)
    assert errors(text, newline) == [("user.c", line, column, "AT044")]


SIDE = "file: user.c\nregions:\n  - function: f\n    loop: i\n"
YAML = {
    "plain": "    input_params:\n      n: 2 * «tile»\n",
    "quoted": '    input_params:\n      n: "2 * «tile»"\n',
    "block": '    recipe: |\n      permute(0, ("i"))\n      unroll(0, "i", «tile»)\n',
    "after a comment": "    # é 漢\n    input_params: {m: 1, n: «tile»}\n",
}


@NEWLINES
@pytest.mark.parametrize("name", YAML)
def test_a_place_in_a_sidecar(name: str, newline: str) -> None:
    text, line, column = marked(SIDE + YAML[name])
    Path("annotations").mkdir()
    Path("annotations/user.yaml").write_bytes(text.replace("\n", newline).encode())
    found = errors(function(f"  {LOOP} a[i] = b[i];"), newline)
    assert found == [("annotations/user.yaml", line, column, "AT044")]


# Several mistakes that have nothing to do with each other: each is told, once, in the text's order.
SEVERAL = {
    "in one annotation": (
        function(
            "  /*@ begin PerfTuning (\n    def input_params { param n = 64L; }\n"
            "    def performance_params { param UF[] = []; param VF[] = [8 / 0]; }\n"
            f"    def serach {{ arg seed = 1; }}\n  ) @*/\n  {LOOP} a[i] = b[i];\n  {CLOSE}"
        ),
        ["AT040", "AT027", "AT046", "AT024"],
    ),
    "in one recipe": (
        function(
            region(
                f"{LOOP} a[i] = b[i];",
                'permut(0, ("i"))\n    cuda(0, blok={"i"})\n    unroll(0, "i", 0)\n'
                "    registers(0)\n    distribute(0, 0)",
            )
        ),
        ["AT060", "AT064", "AT065", "AT062", "AT069"],
    ),
    "in one loop": (
        function(region(f"{LOOP} {{ a[i] = update(b[i]);\n a[i] = q;\n a[1.0L] = 0;\n break; }}")),
        ["AT130", "AT120", "AT138", "AT131"],
    ),
    "in the loops of one region": (
        function(
            region(
                "for (int i = 0; b[i] > 0; i++) a[i] = 0;\n"
                "for (int i = 1; i < n; i *= 2) a[i] = 0;\n"
                f"{LOOP} {{ a[i] = 0; i++; }}"
            )
        ),
        ["AT141", "AT142", "AT144"],
    ),
    "in the regions of one file": (
        "".join(
            function(region(f"{LOOP} {body}")).replace("f(", f"f{number}(")
            for number, body in enumerate(["a[i] = g(i);", "a[i*i] = b[i];", "break;"])
        ),
        ["AT130", "AT201", "AT131"],
    ),
    "in annotations and in C": (
        function(region(f"{LOOP} a[i] = g(i);"))
        + function(f"  /*@ begin PerfTunning () @*/\n  {LOOP} a[i] = b[i];\n  {CLOSE}")
        + function(region(f"{LOOP} a[i] = b[i];", 'permut(0, ("i"))')).replace("f(", "h("),
        ["AT130", "AT005", "AT060"],
    ),
    "subscripts": (
        function(region(f"{LOOP} {{ a[i*i] = 0;\n a[i*n*i] = 1; }}")),
        ["AT201", "AT201"],
    ),
}


@NEWLINES
@pytest.mark.parametrize("name", SEVERAL)
def test_every_mistake_is_reported_at_once(name: str, newline: str) -> None:
    text, codes = SEVERAL[name]
    found = errors(text, newline)
    assert [code for *_, code in found] == codes
    places = [(line, column) for _, line, column, _ in found]
    assert places == sorted(places)
    assert len(set(found)) == len(found)


def test_every_mistake_of_a_sidecar_is_reported_at_once() -> None:
    Path("annotations").mkdir()
    second = SIDE.partition("regions:\n")[2]
    Path("annotations/user.yaml").write_text(
        SIDE + "    occurrence: 0\n" + second + "    lop: i\n" + second + "    recipe: permut(0)\n"
    )
    found = errors(function(f"  {LOOP} a[i] = b[i];"))
    assert [(line, code) for _, line, _, code in found] == [
        (5, "AT082"),
        (8, "AT083"),
        (11, "AT060"),
    ]


lines = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=60)


@given(line=lines, column=st.integers(1, 61), length=st.integers(1, 70))
def test_the_carets_stand_under_the_place(line: str, column: int, length: int) -> None:
    found = Diagnostic("AT001", "m", Span("f", 1, column, length)).render(line)
    rows = found.split("\n")
    if not line:
        assert len(rows) == 1
        return
    _, shown, carets = rows
    assert shown.startswith("    1 | ")
    before, after = line[: column - 1], line[column - 1 :][:length]
    indent = carets.removeprefix("      | ").rstrip("^")
    assert indent.count("\t") == before.count("\t")
    assert len(indent) == sum(cells(c) if c != "\t" else 1 for c in before)
    assert carets.count("^") == max(1, sum(map(cells, after)))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", shown)


def test_an_opener_stays_a_place_when_the_file_has_a_mark() -> None:
    found = errors("\ufeff" + function(f"  {OPEN}\n  {LOOP} {CALL}\n  {CLOSE}"))
    _, line, column = marked(function(f"  {OPEN}\n  {LOOP} {CALL}\n  {CLOSE}"))
    assert found == [("user.c", line, column, "AT130")]
