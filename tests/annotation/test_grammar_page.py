"""docs/grammar.md: made of the grammar, with words for each production, and sound examples."""

from __future__ import annotations

import re

import pytest
from conftest import Golden
from lark import Lark, Token
from support.grammar_page import GRAMMAR, Production, grammar_page, productions, readable

from annotune.annotation.commands import parse_recipe
from annotune.annotation.expressions import lexemes, type_of
from annotune.annotation.grammar import Origin
from annotune.transforms.language import forms

TEXT = GRAMMAR.read_text()
EVERY = productions(TEXT)
RULES = [one for one in EVERY if one.name.islower()]
PARSER = Lark(TEXT, start=[one.name for one in RULES], parser="lalr", lexer="basic")
# The first of the productions that are parsed by themselves, by tokens of their own.
_FIRST_EXPRESSION = [one.name for one in RULES].index("expression")


def test_the_page_is_made_of_the_grammar(golden: Golden) -> None:
    golden.check("../../docs/grammar.md", grammar_page(TEXT))


def test_every_production_is_told() -> None:
    rules = {re.sub(r"__.*", "", str(rule.origin.name)) for rule in PARSER.rules}
    assert {one.name for one in RULES} == {name for name in rules if name}
    declared = re.findall(r"%declare (.*)", TEXT)[0].split()
    named = {t.name for t in PARSER.terminals if t.pattern.type == "re"} - {*declared}
    tokens = {one.name for one in EVERY} - {one.name for one in RULES}
    assert tokens == {name for name in named if not name.startswith("__")}


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ('loop: "loop" NAME ";"\n', "meaning"),
        ('//| A loop.\n//| example: loop i;\nloop: "loop" NAME ";"\n', "without"),
        ('//| A loop.\n//| without: none\nloop: "loop" NAME ";"\n', "example"),
    ],
)
def test_a_production_without_words_makes_no_page(text: str, lacking: str) -> None:
    with pytest.raises(ValueError, match=f"production loop has no words: {lacking}"):
        productions(f"{TEXT}\n{text}")


EXAMPLES = [(one, example) for one in RULES for example in one.examples]


@pytest.mark.parametrize(("one", "example"), EXAMPLES, ids=lambda value: getattr(value, "name", ""))
def test_an_example_is_what_it_is_an_example_of(one: Production, example: str) -> None:
    if RULES.index(one) < _FIRST_EXPRESSION:
        PARSER.parse(example, start=one.name)
        return
    fed, before = PARSER.parse_interactive(start=one.name), ""
    for lexeme in lexemes(example):
        before = type_of(lexeme, before)
        fed.feed_token(Token(before, lexeme.text))


@pytest.mark.parametrize("one", [one for one in EVERY if one not in RULES], ids=lambda o: o.name)
def test_an_example_of_a_token_is_one(one: Production) -> None:
    assert all(re.fullmatch(one.right.strip("/"), example) for example in one.examples)


def test_an_example_of_a_command_is_one() -> None:
    for form in forms().values():
        parse_recipe(form.word.example, Origin.at("grammar.md", form.word.example), {"UF": 2})


@pytest.mark.parametrize(
    ("right", "shown"),
    [
        ('NAME "(" [argument ("," argument)*] ")"', 'NAME "(" (argument ("," argument)*)? ")"'),
        ("conjunction (_OR conjunction)*", 'conjunction (("or" | "||") conjunction)*'),
        ("product\n    | sum SIGN product -> binary", 'product\n    | sum ("+" | "-") product'),
        ('_atom "," | (_atom | "=")+', 'atom "," | (atom | "=")+'),
    ],
)
def test_productions_are_shown_in_one_notation(right: str, shown: str) -> None:
    assert readable(right) == shown
