"""The statements of a PerfTuning text or a specification, with their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lark import Token, Tree

from annotune.annotation.grammar import Parsed
from annotune.annotation.messages import (
    MISPLACED,
    UNKNOWN_DEF,
    UNUSED_BLOCK,
    UNUSED_WARNING,
    did_you_mean,
)
from annotune.annotation.origin import Origin
from annotune.diagnostics import Diagnostic, Span

# Which statements stand in which block; the names are Orio's, but for `assume`. Orio's older
# files declare variables in input_params.
BLOCKS: Mapping[str, frozenset[str]] = {
    "input_params": frozenset({"let", "param", "constraint", "decl"}),
    "performance_params": frozenset({"let", "param", "constraint"}),
    "search": frozenset({"let", "arg"}),
    "build": frozenset({"let", "arg"}),
    "assume": frozenset({"let", "arg"}),
    "performance_counter": frozenset({"let", "arg"}),
    "input_vars": frozenset({"let", "arg", "decl"}),
    "validation": frozenset({"let", "arg"}),
    "performance_test_code": frozenset({"let", "arg"}),
    "cmdline_params": frozenset({"let", "option"}),
    "power": frozenset({"let", "arg"}),
    "other": frozenset({"let", "arg"}),
}
# Blocks that annotune has no use for, and why.
_UNUSED: Mapping[str, str] = {
    "performance_counter": "annotune times in its own way",
    "validation": "every variant is checked against the original C",
    "performance_test_code": "annotune writes its own test code",
    "other": "nothing is known of it",
}
# Those whose absence a user would notice.
_WARNED: Mapping[str, str] = {
    "cmdline_params": "its options are not tried: annotune runs no program of the user's",
    "power": "power is not measured",
}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, such as ``param NAME[] = text``, with the offset of its text.

    `origin` maps offsets of the text it stands in, which may be a file of specifications.
    """

    kind: str
    block: str
    name: str
    text: str
    offset: int
    is_list: bool
    span: Span
    origin: Origin

    def at(self, start: int, end: int) -> Span:
        """Return the place of ``self.text[start:end]``."""
        return self.origin.span(self.offset + start, self.offset + end)


@dataclass(frozen=True, slots=True)
class Statements:
    """What the blocks of one text hold, and what is to be said of them."""

    statements: tuple[Statement, ...]
    imports: tuple[Statement, ...]
    mistakes: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...]


def statements_of(tree: Parsed, text: str, origin: Origin) -> Statements:
    """Return the statements of all blocks; a block or statement out of place is a mistake."""
    reader = _Reader(text, origin, [], [])
    found: list[Statement] = []
    imports: list[Statement] = []
    for child in tree.children:
        if not isinstance(child, Tree):
            continue  # the name of a spec
        if child.data == "let":
            found.append(reader.statement(child, ""))
        elif child.data == "import":
            imports.append(reader.imported(child))
        else:
            found += reader.definition(child)
    return Statements(tuple(found), tuple(imports), tuple(reader.mistakes), tuple(reader.notes))


@dataclass(frozen=True, slots=True)
class _Reader:
    text: str
    origin: Origin
    mistakes: list[Diagnostic]
    notes: list[Diagnostic]

    def definition(self, tree: Parsed) -> Iterator[Statement]:
        name = tree.children[0]
        assert isinstance(name, Token)
        block = str(name)
        span = self.span(name)
        if block not in BLOCKS:
            hint = did_you_mean(block, BLOCKS)
            self.mistakes.append(UNKNOWN_DEF.at(span, name=block, hint=hint))
            return
        if block in _UNUSED:
            self.notes.append(UNUSED_BLOCK.at(span, name=block, why=_UNUSED[block]))
        if block in _WARNED:
            self.notes.append(UNUSED_WARNING.at(span, name=block, why=_WARNED[block]))
        for child in tree.children[1:]:
            assert isinstance(child, Tree)
            kind = str(child.data)
            if kind not in BLOCKS[block]:
                start = child.meta.start_pos
                at = self.origin.span(start, start + len(kind))
                hint = f"def {block} holds: {', '.join(sorted(BLOCKS[block]))}"
                self.mistakes.append(MISPLACED.at(at, what=kind, name=block, hint=hint))
            elif kind == "decl":
                yield self.declaration(child, block)
            elif kind != "option":
                yield self.statement(child, block)

    def span(self, token: Token) -> Span:
        start = int(token.start_pos or 0)
        return self.origin.span(start, start + len(token))

    def statement(self, tree: Parsed, block: str) -> Statement:
        name, *brackets, operand = tree.children
        assert isinstance(name, Token)
        assert isinstance(operand, Tree)
        start, end = operand.meta.start_pos, operand.meta.end_pos
        is_list = any(bracket is not None for bracket in brackets)
        text, kind = self.text[start:end], str(tree.data)
        return Statement(kind, block, str(name), text, start, is_list, self.span(name), self.origin)

    def declaration(self, tree: Parsed, block: str) -> Statement:
        start = tree.meta.start_pos + len("decl")
        end = tree.meta.end_pos - len(";")
        span = self.origin.span(tree.meta.start_pos, tree.meta.end_pos)
        return Statement("decl", block, "", self.text[start:end], start, False, span, self.origin)

    def imported(self, tree: Parsed) -> Statement:
        name = tree.children[0]
        assert isinstance(name, Token)
        return Statement("import", "", str(name), "", 0, False, self.span(name), self.origin)
