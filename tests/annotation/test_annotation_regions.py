"""Regions in a C text: found by position, and every broken bracket of theirs refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.regions import find_annotations

from annotune.annotation.orio.complete import complete
from annotune.annotation.regions import scan_annotations
from annotune.diagnostics import AnnotuneError

NESTED = """\
void f(void) {
  /*@ begin PerfTuning ( let F = 2; def input_params { param n = 4; } ) @*/
  /*@ begin CHILL ( UF[] = [1,2]; unroll(0, "i", UF) tile(0, "i", F) ) @*/
  for (i = 0; i < n; i++) a[i] = 0;
  /*@ end @*/   // CHiLL
  /*@ end PerfTuning @*/
}
"""


def refusals(text: str) -> list[str]:
    with pytest.raises(AnnotuneError) as refusal:
        find_annotations(text, "f.c")
    return [f"{d.span.line}:{d.span.column}: {d.message}" for d in refusal.value.diagnostics]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_nested(newline: str) -> None:
    text = NESTED.replace("\n", newline)
    (block,) = find_annotations(text, "f.c")
    assert text[block.start : block.end].startswith("/*@ begin PerfTuning")
    assert text[block.start : block.end].endswith("/*@ end PerfTuning @*/")
    body = text[block.body_start : block.body_end]
    assert body.strip() == "for (i = 0; i < n; i++) a[i] = 0;"
    assert [param.name for param in block.spec.performance_params] == ["UF"]
    assert [str(command.span) for command in block.spec.commands] == ["f.c:3:35", "f.c:3:54"]
    assert block.spec.commands[1].arguments[2].value == 2
    assert str(block.span) == "f.c:2:3"


def test_pragmas() -> None:
    text = (
        "#pragma Orio begin PerfTuning ()\n"
        "# pragma Orio begin CHiLL ( \\\r\n"
        '\tpermute(0, ("i","j")) /* first */ \\\r\n'
        '\tregisters(0, "k") )\r\n'
        "for (;;) ;\n#pragma Orio end CHiLL\n#pragma Orio end\n"
    )
    (block,) = find_annotations(text, "f.c")
    assert text[block.body_start : block.body_end].strip() == "for (;;) ;"
    assert [str(command.span) for command in block.spec.commands] == ["f.c:3:2", "f.c:4:2"]


def test_what_only_looks_like_an_annotation() -> None:
    text = (
        's = "/*@ end @*/"; c = \'"\'; // /*@ end @*/\n'
        "/* /*@ begin CHiLL ( @* */ /*@ requires n > 0; */\n"
        "/*@ begin PerfTuning () @*/ x = ')'; /*@ @*/"
    )
    (block,) = find_annotations(text, "f.c")
    assert text[block.body_start : block.body_end] == " x = ')'; "


def test_c_between_the_annotations_stays() -> None:
    text = (
        "/*@ begin PerfTuning () @*/ int n = 4; "
        "/*@ begin CHiLL () @*/ for (;;) ; /*@ end @*/ /*@ end @*/"
    )
    (block,) = find_annotations(text, "f.c")
    assert text[block.start : block.end] == "/*@ begin CHiLL () @*/ for (;;) ; /*@ end @*/"


def test_two_recipes_in_one_tuning() -> None:
    one = '/*@ begin CHiLL (registers(0, "k")) @*/ x; /*@ end @*/\n'
    text = f"/*@ begin PerfTuning (def input_params {{param n = 1;}}) @*/\n{one}{one}/*@ end @*/"
    first, second = find_annotations(text, "f.c")
    assert first.end < second.start
    assert [p.name for p in second.spec.input_params] == ["n"]


def test_sound_regions_survive_the_others() -> None:
    text = NESTED + "/*@ begin CHiLL ( cud(0) ) @*/ x; /*@ end @*/\n" + NESTED
    found = scan_annotations(text, "f.c")
    assert len(found.blocks) == 2
    assert [d.message for d in found.diagnostics] == ["unknown command 'cud'"]


BEGIN, CHILL, END = "/*@ begin PerfTuning () @*/", "/*@ begin CHiLL () @*/", "/*@ end @*/"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"\n\t{BEGIN} x", ["2:2: 'begin PerfTuning' is never closed"]),
        (
            f"{BEGIN}\n{CHILL} x {END}",
            ["1:1: 'begin PerfTuning' is never closed"],
        ),
        (f"x\n {END}", ["2:2: 'end' without a 'begin' before it"]),
        (
            f"{BEGIN}\n{CHILL}\n/*@ end PerfTuning @*/\n/*@ end CHiLL @*/",
            ["3:1: 'end PerfTuning' comes before the end of 'CHiLL', which was begun later"],
        ),
        (f"{BEGIN}\n/*@ end CHiLL @*/", ["2:1: 'end CHiLL' does not match 'begin PerfTuning'"]),
        ("/*@ begin PrefTuning () @*/ /*@ end @*/", ["1:1: unknown annotation 'PrefTuning'"]),
        (
            "/*@ begin Loop (transform Unroll(ufactor=3)) @*/ /*@ end @*/",
            ["1:1: 'begin Loop' has no loop, neither in it nor after it"],
        ),
        (
            "#pragma Orio Loop(transform Unroll(ufactor=3))\n;\n#pragma Oiro\n",
            ["1:19: 'transform Unroll' has no loop after it"],
        ),
        (
            "/*@ begin PolySyn (parallel = @) @*/ x; /*@ end @*/",
            ["1:1: Orio's module PolySyn is not supported"],
        ),
        (
            "/*@ begin PerfTuning (def x {}) @*/\n/*@ begin SpMV () @*/ x; /*@ end @*/ /*@ end @*/",
            ["2:1: Orio's module SpMV is not supported"],
        ),
        ("/*@ begin Align (x[]) @*/ x; /*@ end @*/", ["1:1: Orio's module Align is not supported"]),
        (
            f"/*@ begin PerfTuning () foo() @*/ {END}",
            ["1:25: text after the ')' that closes 'begin PerfTuning ('"],
        ),
        (f"/*@ begin CHiLL @*/ {END}", ["1:11: 'begin CHiLL' needs its text in parentheses"]),
        (f"/*@ begin CHiLL ( @*/ {END}", ["1:17: '(' is never closed"]),
        (f"/*@ begin CHiLL (cuda(0) @*/ {END}", ["1:22: '(' is never closed"]),
        (f"/*@ begin CHiLL () */ {END}", ["1:20: an annotation's comment must end with '@*/'"]),
        (f"{CHILL} x /*@ end */", ["1:34: an annotation's comment must end with '@*/'"]),
        (
            f"{CHILL} x /*@ end ) @*/",
            ["1:34: this annotation is neither 'begin NAME ( … )' nor 'end'"],
        ),
        ("x /*@ begin CHiLL (", ["1:3: an annotation's comment must end with '@*/'"]),
        (
            f"{CHILL}\n{BEGIN} x {END} {END}",
            ["2:1: 'begin PerfTuning' cannot stand inside 'begin CHiLL'"],
        ),
        (
            f"{END}\n/*@ begin CHiLL (cud()) @*/ x {END}\n{BEGIN}",
            [
                "1:1: 'end' without a 'begin' before it",
                "2:18: unknown command 'cud'",
                "3:1: 'begin PerfTuning' is never closed",
            ],
        ),
        (
            "/*@ begin PerfTuning (def performance_params {param UF[] = [1];}) @*/\n"
            f"/*@ begin CHiLL (UF[] = [2];) @*/ x {END} {END}",
            ["2:18: 'UF' is declared twice"],
        ),
    ],
)
def test_refusal(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


def test_the_examples(examples: Path) -> None:
    for path in sorted(examples.rglob("*.c")):
        text = path.read_text()
        blocks = find_annotations(text, str(path))
        assert len(blocks) == text.count("begin PerfTuning")


_PIECES = st.sampled_from(
    [
        BEGIN,
        CHILL,
        END,
        "/*@ end CHiLL @*/",
        "/*@",
        "@*/",
        "begin CHiLL (",
        ")",
        '"',
        "'",
        "//",
        "\n",
        "\\\n",
        "#pragma Orio ",
        "begin ",
        "end",
        "x;",
        "/*",
        "*/",
        'cuda(0, block={"i"})',
        "/*@ begin Loop ( transform Unroll(ufactor=2) for (i=0; i<n; i++) x[i]=1; ) @*/",
        "/*@ begin PerfTuning ( def input_params { param n = 3; } ) @*/",
        "void f(int m) {",
        "}",
        "int i;",
    ]
)


@settings(deadline=None)  # the first call builds the parser
@given(st.lists(_PIECES | st.text(max_size=4), max_size=20).map("".join))
def test_any_text_gives_regions_or_a_refusal(text: str) -> None:
    try:
        blocks = find_annotations(text, "f.c")
    except AnnotuneError:
        return
    made = complete(text, "f.c", blocks)
    assert made.text.count("\n") == text.count("\n")
    for found in (blocks, made.blocks):
        ends = [0]
        for block in found:
            assert ends[-1] <= block.start <= block.body_start <= block.body_end <= block.end
            ends.append(block.end)
