"""The text of PerfTuning: a Spec, or refusals with their place."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotune.annotation.expressions import unknown_names
from annotune.annotation.grammar import Origin
from annotune.annotation.perf_tuning import read_perf_tuning
from annotune.annotation.spec import Spec
from annotune.diagnostics import AnnotuneError, Span

FULL = """
  let BASE = 8;
  def performance_params {
    param UF[] = range(1, TOP, 3);        # TOP comes later; this ; is no end
    param TX[] = ['h3',"1"];
    constraint divides = (h7u % UF == 0 and UF <= TOP);
  }
  def input_params { param h7u = 2*BASE; let TOP = h7u // 2; param N[] = [10,20]; }
  def search { arg algorithm = 'Exhaustive'; arg time_limit = 5; arg algoritm = 'x'; }
  def build { arg build_command = 'gcc -O3'; }
  def performance_counter { arg repetitions = 35; }
  def input_vars { decl static double A[h7u*N] = random; decl int o[2] = {-1, 1}; decl int n; }
"""


def parse(text: str, **settings: object) -> Spec:
    return read_perf_tuning(text, Origin.at("f.c", text), settings).spec  # type: ignore[arg-type]


def refusals(text: str) -> list[str]:
    with pytest.raises(AnnotuneError) as refusal:
        parse(text)
    return [f"{d.span.line}:{d.span.column}: {d.message}" for d in refusal.value.diagnostics]


def test_every_block() -> None:
    spec = parse(FULL)
    assert [(p.name, p.values) for p in spec.input_params] == [("h7u", (16,)), ("N", (10, 20))]
    assert [(p.name, p.values) for p in spec.performance_params] == [
        ("UF", (1, 4, 7)),
        ("TX", ("h3", "1")),
    ]
    (constraint,) = spec.constraints
    assert constraint.formula.text == "(h7u % UF == 0 and UF <= 8)"
    assert constraint.span == Span("f.c", 6, 16, 7)
    assert spec.search == {"algorithm": "Exhaustive", "time_limit": 5, "algoritm": "x"}
    assert spec.build == {"build_command": "gcc -O3"}
    assert [(str(note.span), note.code, note.help) for note in spec.notes] == [
        ("f.c:9:70", "AT031", "did you mean 'algorithm'?"),
        ("f.c:11:7", "AT030", ""),
    ]
    assert [(v.name, v.type, [e.text for e in v.extents]) for v in spec.input_vars] == [
        ("A", "double", ["h7u*N"]),
        ("o", "int", ["2"]),
        ("n", "int", []),
    ]


def test_the_empty_text_is_a_full_annotation() -> None:
    spec = parse(" # nothing\n")
    assert (spec.input_params, spec.performance_params, spec.commands) == ((), (), ())


def test_a_setting_wins_and_counts_in_expressions() -> None:
    spec = parse("def input_params { param n = 8; param m = 2*n; }", n=100)
    assert [(p.name, p.values) for p in spec.input_params] == [("n", (100,)), ("m", (200,))]


def test_a_param_may_carry_the_name_of_a_let() -> None:
    assert parse("let s = 4; def input_params { param s = 2*s; }").input_params[0].values == (8,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def input_parms { }", ["1:5: unknown block 'def input_parms'"]),
        ("def search {\n\tparam x = 1; }", ["2:2: 'param' does not belong in 'def search'"]),
        ("param x = 2;", ["1:1: unexpected 'param'"]),
        ("def input_params { param x = 16\r\n  param y = 3; }", ["2:3: unexpected 'param'"]),
        ("def input_params { param x = 3 }", ["1:32: unexpected '}'"]),
        ("def input_params { parm x = 16; }", ["1:20: unexpected 'parm'"]),
        ("def input_params {", ["1:18: '{' is never closed"]),
        (
            "def input_params { param x = 1; param x = 2; param y = [1,2];\n param z = 1/0; }",
            [
                "1:39: 'x' is declared twice",
                "1:52: parameter 'y' is one value, but a list is given",
                "2:12: division by zero",
            ],
        ),
        ("def input_params { param N[] = []; }", ["1:26: parameter 'N' has no values"]),
        (
            "def input_params { param N[] = [1,2]; let X = 2*N; }",
            ["1:49: 'N' has several values, and one is needed here"],
        ),
        (
            "def input_params { param a = b; param b = a; }",
            ["1:30: unknown name 'b'", "1:43: unknown name 'a'"],
        ),
        ("def search { arg algorithm = Random; }", ["1:30: unknown name 'Random'"]),
        (
            "def performance_params { constraint c = (UF ==); }",
            ["1:47: expected a value, found ')'"],
        ),
        ("import spec no_such;", ["1:13: cannot read no_such.spec: there is no such file"]),
        ("spec foo { def build { } }", ["1:1: unexpected 'spec'"]),
        ("def build { arg libs = '-lm; }", ["1:24: the string does not end on its line"]),
        ("def input_params { param x = @; }", ["1:30: unexpected character '@'"]),
    ],
)
def test_refusal(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


def test_the_caret_stands_under_the_mistake() -> None:
    text = "def input_params {\n\tparam n = 16;\n\tparam m = nn/2;\n}"
    with pytest.raises(AnnotuneError) as refusal:
        parse(text)
    assert refusal.value.diagnostics[0].render(text) == (
        "f.c:3:12: error: unknown name 'nn' [AT044]\n"
        "    3 | \tparam m = nn/2;\n"
        "      | \t          ^^\n"
        "  help: did you mean 'n'?"
    )


def test_unknown_names_of_a_constraint() -> None:
    spec = parse("def performance_params { param UF[] = [1]; constraint c = (n % UG == 0); }")
    assert [str(one.span) for one in unknown_names(spec)] == ["f.c:1:60", "f.c:1:64"]
    assert [one.help for one in unknown_names(spec, {"n"})] == ["did you mean 'UF'?"]


@settings(deadline=None)  # the first call builds the parser
@given(st.text() | st.text("{}()[]=;,'\"# \ndefparamletargxyinput_params0129", max_size=80))
def test_any_text_gives_a_spec_or_a_refusal(text: str) -> None:
    with suppress(AnnotuneError):
        parse(text)
