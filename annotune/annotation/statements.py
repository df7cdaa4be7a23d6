"""The statements of a PerfTuning text or a specification, with their places.

Specifications in files of their own: ``spec NAME { def … }``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lark import Token, Tree

from annotune.annotation.grammar import Origin, Parsed, parse_tree
from annotune.annotation.messages import (
    MISPLACED,
    NO_SPEC_FILE,
    NO_SUCH_SPEC,
    SEVERAL_SPECS,
    UNKNOWN_DEF,
    UNUSED_BLOCK,
    UNUSED_WARNING,
    did_you_mean,
)
from annotune.diagnostics import AnnotuneError, Diagnostic, Span

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


# A specification is a page of text; a larger file is something else.
MAX_BYTES = 1_000_000


def imported(statement: Statement, folder: Path) -> tuple[Statements, ...]:
    """Return the parts of the specification that ``import spec NAME;`` names.

    It stands in ``NAME.spec`` in `folder`, or in any other ``.spec`` file there; Orio's own
    ptune.c imports a spec from a file of another name.

    Raises:
        AnnotuneError: There is none, or its file does not follow the grammar.
    """
    name = statement.name
    own = folder / f"{name}.spec"
    if own.is_file():
        return _SpecFile.read(own, name, statement.span).named(name, statement.span)
    for path in sorted(folder.glob("*.spec")):
        with suppress(AnnotuneError):  # a file of others, which nobody asked for
            file = _SpecFile.read(path, name, statement.span)
            if name in file.specs:
                return file.named(name, statement.span)
    why = "there is no such file"
    raise AnnotuneError.of(NO_SPEC_FILE.at(statement.span, path=own, why=why, name=name))


def specification(path: Path, span: Span) -> tuple[Statements, ...]:
    """Return the parts of the only specification of a file, for a region at `span`.

    Raises:
        AnnotuneError: The file cannot be read or parsed, or holds none or several.
    """
    file = _SpecFile.read(path, path.stem, Span(str(path), 1, 1))
    if len(file.specs) == 1:
        return file.named(next(iter(file.specs)), span)
    if path.stem in file.specs:
        return file.named(path.stem, span)
    if not file.specs:
        raise AnnotuneError.of(NO_SUCH_SPEC.at(span, name=path.stem, file=path, hint=""))
    names = ", ".join(file.specs)
    first = next(iter(file.specs))
    raise AnnotuneError.of(SEVERAL_SPECS.at(span, file=path, names=names, name=first))


class _SpecFile:
    """A file of specifications: its shared ``let`` statements, and each spec's tree."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.origin = Origin.at(str(path), text)
        tree = parse_tree(text, "spec_file", self.origin)
        self.specs: dict[str, Tree[Token]] = {}
        lets: list[Tree[Token] | Token] = []
        for child in tree.children:
            assert isinstance(child, Tree)
            if child.data == "let":
                lets.append(child)
            else:
                self.specs.setdefault(str(child.children[0]), child)
        self.shared = statements_of(Tree("perf_tuning", lets), text, self.origin)

    @classmethod
    def read(cls, path: Path, name: str, span: Span) -> _SpecFile:
        """Return the file at `path`, or raise at `span` why it cannot be read."""
        try:
            if path.stat().st_size > MAX_BYTES:
                raise AnnotuneError.of(_unread(path, name, span, "it is too large"))
            with path.open(encoding="utf-8", newline="") as stream:
                text = stream.read()
        except OSError as error:
            raise AnnotuneError.of(_unread(path, name, span, error.strerror or "")) from None
        except UnicodeDecodeError:
            raise AnnotuneError.of(_unread(path, name, span, "it is not UTF-8")) from None
        return cls(path, text)

    def named(self, name: str, span: Span) -> tuple[Statements, ...]:
        if name not in self.specs:
            hint = did_you_mean(name, self.specs)
            raise AnnotuneError.of(NO_SUCH_SPEC.at(span, name=name, file=self.path, hint=hint))
        return (self.shared, statements_of(self.specs[name], self.text, self.origin))


def _unread(path: Path, name: str, span: Span, why: str) -> Diagnostic:
    return NO_SPEC_FILE.at(span, path=path, why=why, name=name)
