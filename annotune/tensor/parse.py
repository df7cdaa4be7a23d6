"""A tensor file's text as a tree by the grammar, each part at its place in the file."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from annotune.annotation.grammar import Parsed, place
from annotune.annotation.messages import did_you_mean
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.tensor.messages import NOT_CLOSED, TOO_MUCH, UNEXPECTED_WORD

SECTIONS = ("define", "sizes", "variables", "operations")
OPTIONS = ("access", "memory", "pattern", "type")
ATTRIBUTES = (
    *("row", "column", "float", "double", "complex"),
    *("leading", "pointers", "internal"),
)
# So many brackets may stand inside one another: what walks an expression has 1000 frames.
MAX_BRACKETS = 30
# A thousand contractions are a tenth of it.
MAX_CHARACTERS = 1 << 20


@dataclass(frozen=True, slots=True)
class TensorText:
    """A text that a program is read from, and the name by which messages call it."""

    file: str
    text: str

    def span(self, part: Parsed | Token) -> Span:
        """Return the place of a part, as far as it stands on its first line."""
        if isinstance(part, Token):
            return self.place(int(part.start_pos or 0), int(part.end_pos or 0))
        meta = part.meta
        return Span(self.file, 1, 1) if meta.empty else self.place(meta.start_pos, meta.end_pos)

    def place(self, start: int, end: int) -> Span:
        """Return the place of a part of the text, cut at the end of its first line."""
        return place(self.file, self.text, start, end)


def tensor_tree(source: TensorText) -> Parsed:
    """Return the tree of a tensor file.

    Raises:
        AnnotuneError: The text does not follow the grammar, or there is too much of it.
    """
    if len(source.text) > MAX_CHARACTERS:
        limit = f"{MAX_CHARACTERS >> 20} MiB"
        what = f"this text has {len(source.text)} characters"
        raise AnnotuneError.of(TOO_MUCH.at(source.place(0, 1), what=what, limit=limit, hint=""))
    try:
        _refuse_depth(source)
        return _grammar().parse(source.text)
    except UnexpectedInput as error:
        raise AnnotuneError.of(_unexpected(source, error)) from None


@cache
def _grammar() -> Lark:
    """Return the parser, its tables kept beside the byte code, and trusted as that is."""
    kept = str(Path(cache_from_source(__file__)).with_suffix(".tables"))
    return Lark.open(
        "tensor.lark",
        rel_to=__file__,
        start="file",
        parser="lalr",
        propagate_positions=True,
        cache=False if sys.dont_write_bytecode else kept,
    )


def _refuse_depth(source: TensorText) -> None:
    """Refuse brackets in brackets without end, and one that is never closed."""
    opened: list[int] = []
    is_comment = False
    for at, letter in enumerate(source.text):
        if letter == "\n":
            is_comment = False
        elif letter == "#":
            is_comment = True
        elif is_comment:
            continue
        elif letter == "(":
            opened.append(at)
        elif letter == ")" and opened:
            opened.pop()
        if len(opened) > MAX_BRACKETS:
            what = f"these are {len(opened)} brackets in one another"
            where = source.place(at, at + 1)
            hint = "give a part a tensor of its own: `T: (m, n) internal`"
            limit = str(MAX_BRACKETS)
            raise AnnotuneError.of(TOO_MUCH.at(where, what=what, limit=limit, hint=hint))
    if opened:
        where = source.place(opened[-1], opened[-1] + 1)
        raise AnnotuneError.of(NOT_CLOSED.at(where, bracket="("))


def _unexpected(source: TensorText, error: UnexpectedInput) -> Diagnostic:
    """Return the refusal of what the grammar does not know there."""
    if isinstance(error, UnexpectedCharacters):
        at = int(error.pos_in_stream or 0)
        letter = source.text[at]
        hint = "names are of C's letters" if letter.isalpha() else ""
        hint = "multiply by a number such as 0.5, or by pow(x, -1)" if letter == "/" else hint
        found = f"character {letter!r}"
        return UNEXPECTED_WORD.at(source.place(at, at + 1), found=found, hint=hint)
    assert isinstance(error, UnexpectedToken)
    token = error.token
    if token.type == "$END":
        # The end of the text has no place of its own: point at the last thing in it.
        end = len(source.text.rstrip())
        where, found = source.place(end - 1, end), "end of the file"
    else:
        where, found = source.span(token), f"'{token}'"
    before = re.search(r"(\w*)\s*:?\s*$", source.text[: int(token.start_pos or 0)], re.ASCII)
    hint = _hint(str(token), set(error.accepts or error.expected), before[1] if before else "")
    return UNEXPECTED_WORD.at(where, found=found, hint=hint)


def _hint(word: str, expected: set[str], before: str) -> str:
    """Return what should stand there instead of a word, which comes after another one."""
    if "DEFINE" in expected or "LEADING" in expected:
        known = (*SECTIONS, *(ATTRIBUTES if "LEADING" in expected else ()))
        close = did_you_mean(word, known)
        if close.startswith("did"):
            return close
    known = (*ATTRIBUTES, *SECTIONS, *OPTIONS)
    if before and "NAME" not in expected and before not in known:
        # What was meant for a heading, or for a word, was read as a name.
        close = did_you_mean(before, known)
        if close.startswith("did"):
            return f"'{before}' is read as a name: {close}"
    return _wanted(expected)


def _wanted(expected: set[str]) -> str:
    """Return in words which of the grammar's terminals could stand there."""
    names = {
        "NAME": "a name",
        "NUMBER": "a number",
        "LPAR": "'('",
        "COMMA": "','",
        "RPAR": "')'",
        "COLON": "':'",
        "EQUAL": "'='",
        "ASSIGN": "'=', '+=' or '-='",
        "STAR": "'*'",
        "SIGN": "'+' or '-'",
        "WORD": "a word such as 'column'",
        "OPERATIONS": "a section such as 'operations:'",
        "ORDER": "an order such as 'order2'",
    }
    shown = [text for name, text in names.items() if name in expected]
    return f"expected {' or '.join(shown)}" if shown else ""


def token_of(tree: Parsed) -> Token:
    """Return the first word of a part."""
    return next(iter(tree.scan_values(lambda part: isinstance(part, Token))))


def trees_of(tree: Parsed, *names: str) -> tuple[Parsed, ...]:
    """Return the parts of a part that are no words, of some names or of any."""
    found = (part for part in tree.children if not isinstance(part, Token) and part is not None)
    return tuple(part for part in found if not names or part.data in names)
