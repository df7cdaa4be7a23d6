"""Recipes: commands as values, refused with place, printed back as they were."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotune.annotation.commands import (
    Kind,
    Recipe,
    Signature,
    Slot,
    parse_recipe,
    recipe_text,
    signatures,
)
from annotune.annotation.grammar import Origin
from annotune.annotation.spec import Argument, Command, Formula
from annotune.diagnostics import AnnotuneError, Span
from annotune.ir.nest import Level
from annotune.transforms.distribute import Fuse
from annotune.transforms.language import read, written
from annotune.transforms.map import Map
from annotune.transforms.unroll import Unroll

FIGURE_3_9A = """
  UF0[] = [1,2,4,8,16];
  permute(0, ("p5", "p4", "p6", "h1",
              "h2", "h3", "h7"))
  cuda(0, block={"h2", "p6"},
       thread={"h3", "h1"})
  registers(0, "h7")
  unroll(0, "h7", UF0)
"""


def parse(text: str, **names: object) -> Recipe:
    return parse_recipe(text, Origin.at("f.c", text), names)  # type: ignore[arg-type]


def refusals(text: str) -> list[str]:
    with pytest.raises(AnnotuneError) as refusal:
        parse(text)
    return [f"{d.span.line}:{d.span.column}: {d.message}" for d in refusal.value.diagnostics]


def test_figure_3_9a() -> None:
    recipe = parse(FIGURE_3_9A)
    assert recipe_text(recipe.commands) == (
        'permute(0, ("p5","p4","p6","h1","h2","h3","h7"))\n'
        'cuda(0, block={"h2","p6"}, thread={"h3","h1"})\n'
        'registers(0, "h7")\n'
        'unroll(0, "h7", UF0)'
    )
    (param,) = recipe.performance_params
    assert (param.name, param.values) == ("UF0", (1, 2, 4, 8, 16))
    assert param.span == Span("f.c", 2, 3, 3)
    assert recipe.commands[2].span == Span("f.c", 7, 3, 18)


def test_arguments_at_a_point() -> None:
    recipe = parse(
        'cuda(0, block={BX,"p6"}, thread=T) unroll(1, L, 2*UF)\n'
        'acc(2, gang={"e"}, num_gangs=G); fuse(0,1)'
    )
    point = {"BX": "1", "T": ("h3", "h1"), "L": "k", "UF": 4, "G": 8.0}
    steps = [step for command in recipe.commands for step in read(command, point)]
    threads = ("h3", Level.THREAD_X), ("h1", Level.THREAD_Y)
    assert steps == [
        Map(0, (("p6", Level.BLOCK_X), *threads)),
        Unroll(1, "k", 8),
        Map(2, (("e", Level.GANG),), command="acc", num_gangs=8),
        Fuse((0, 1)),
    ]


@pytest.mark.parametrize("value", [0, -2, 1.5, "h3", (1, 2)])
def test_a_factor_must_be_a_count(value: object) -> None:
    (unroll,) = parse('unroll(0, "k", UF)').commands
    with pytest.raises(AnnotuneError, match="the factor of 'unroll' must be a number from 1"):
        list(read(unroll, {"UF": value}))  # type: ignore[dict-item]


def test_a_let_is_put_in() -> None:
    commands = parse('unroll(0, "k", F) tile(0, "k", F*UF)', F=4).commands
    assert recipe_text(commands) == 'unroll(0, "k", 4)\ntile(0, "k", 4*UF)'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'permute(("i","j"))',
            ["1:9: the statement of 'permute' must be a statement's number"],
        ),
        ('registers(0,"i")\n shared(0, "v2")', ["2:2: unknown command 'shared'"]),
        ("cud(0)\nunrol(1)", ["1:1: unknown command 'cud'", "2:1: unknown command 'unrol'"]),
        ('unroll(0,"i")', ["1:1: 'unroll' needs its factor"]),
        ('unroll(0,"i",2,3)', ["1:16: 'unroll' has an argument too many"]),
        (
            'unroll(0,"i",0)',
            ["1:14: the factor of 'unroll' must be a number from 1, or a parameter"],
        ),
        ('permute(0,("i","i"))', ["1:11: 'permute' names loop 'i' twice"]),
        ('cuda(0,block={"i"},thread={"i"})', ["1:20: 'cuda' names loop 'i' twice"]),
        ('cuda(0,blok={"i"})', ["1:8: 'cuda' has no argument 'blok'"]),
        ('cuda(0,block={"i"},block={"j"})', ["1:20: 'cuda' is given its block twice"]),
        ("fuse(0)", ["1:1: 'fuse' needs its statements"]),
        ("fuse(0,0)", ["1:8: 'fuse' names statement 0 twice"]),
        ('unroll(-1,"i",2)', ["1:8: the statement of 'unroll' must be a statement's number"]),
        ('permute(0, ("i","j")\ncuda(0)', ["1:8: '(' is never closed"]),
        ('registers(0,"i"))', ["1:17: ')' closes nothing here"]),
        ('registers(0,"i)', ["1:13: the string does not end on its line"]),
        ('unroll(0,"i",2+)', ["1:16: expected a value, found the end"]),
        ("UF = [1,2];", ["1:4: unexpected '='"]),
        ("UF[] = [1/0];", ["1:9: division by zero"]),
        ("UF[] = [1]; UF[] = [2];", ["1:13: 'UF' is declared twice"]),
        ("UF[] = [];", ["1:1: parameter 'UF' has no values"]),
    ],
)
def test_refusal(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


_LOOPS = st.from_regex(r"[a-z][a-z0-9_]{0,3}", fullmatch=True).filter(
    lambda name: name not in {"if", "in", "or", "and", "not", "else", "def", "let", "arg", "decl"}
)
_FORMULAS = st.sampled_from(["UF", "2*UF", "(A + B)*2", "A if B else C"]).map(Formula)


def _values(slot: Slot) -> st.SearchStrategy[object]:
    least = 0 if slot.by_name else 1
    return {
        Kind.STATEMENT: st.integers(0, 9),
        Kind.GROUP: st.integers(0, 9)
        | st.lists(st.integers(0, 9), unique=True, min_size=2, max_size=3).map(tuple),
        Kind.LOOP: _LOOPS | _FORMULAS,
        Kind.LOOPS: st.lists(
            _LOOPS, unique=True, min_size=least, max_size=min(3, slot.most or 3)
        ).map(tuple)
        | st.tuples(_FORMULAS),
        Kind.NAMES: st.lists(_LOOPS, min_size=least, max_size=slot.most or 3).map(tuple)
        | st.tuples(_FORMULAS),
        Kind.COUNT: st.integers(1, 64) | _FORMULAS,
        Kind.ROWS: st.lists(
            _LOOPS | st.tuples(_LOOPS, st.integers(1, 99)), min_size=least, max_size=3
        ).map(tuple),
        Kind.FLAG: st.integers(0, 1) | _FORMULAS,
        Kind.NAME: _LOOPS,
        Kind.TEXT: _LOOPS,
    }[slot.kind]


@st.composite
def commands(draw: st.DrawFn) -> Command:
    row: Signature = draw(st.sampled_from(list(signatures().values())))
    arguments: list[Argument] = []
    used: set[object] = set()
    for slot in row.slots:
        if slot.repeated:
            numbers = draw(st.lists(st.integers(0, 9), unique=True, min_size=2, max_size=4))
            arguments.extend(map(Argument, numbers))
            continue
        if not slot.required and draw(st.booleans()):
            continue
        value = draw(_values(slot))
        if isinstance(value, tuple) and slot.kind is Kind.LOOPS:
            value = tuple(item for item in value if item not in used)
            used.update(value)
            if not value and not slot.by_name:
                value = ("z",)
        # A single formula is written without a list, unless it is by name, in braces.
        if isinstance(value, tuple) and len(value) == 1 and not slot.by_name:
            value = value[0] if isinstance(value[0], Formula) else value
        arguments.append(Argument(value, slot.name if slot.by_name else ""))  # type: ignore[arg-type]
    return Command(row.name, tuple(arguments))


@settings(deadline=None)  # the first call builds the parser
@given(st.lists(commands(), max_size=5).map(tuple))
def test_printing_and_parsing_is_the_identity(recipe: tuple[Command, ...]) -> None:
    assert parse(recipe_text(recipe)).commands == recipe


def test_the_example_of_every_command_is_sound() -> None:
    for row in signatures().values():
        assert recipe_text(parse(row.example).commands) == row.example


def test_a_command_that_means_steps_is_the_one_that_they_are_written_as() -> None:
    for row in signatures().values():
        (command,) = parse(row.example).commands
        first, *others = read(command, {"UF": 2})
        assert list(read(written(first), {})) == [first]
        assert not others


@settings(deadline=None)  # the first call builds the parser
@given(st.text() | st.text("()[]{}=,;\"'# \npermutecuda01blockUF", max_size=60))
def test_any_text_gives_a_recipe_or_a_refusal(text: str) -> None:
    with suppress(AnnotuneError):
        parse(text)
