"""Long lines of a text of ours, broken so that none has more than 100 columns.

As in LLVM's style lines end after a comma or an operator, and begin with ``?`` and ``:``; they are
broken where the fewest brackets are open, at what binds least, and go on below what they belong to.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

COLUMNS = 100

_INDENT = 4
# With fewer columns below an open bracket, what follows is indented instead.
_NARROW = 40
_OPEN, _CLOSE = "([{", ")]}"
# How strongly what stands before a space binds: a line ends where that is least.
_LEVELS = (
    (",", ";"),
    ("?", ":"),
    ("||",),
    ("&&",),
    ("|", "^", "&"),
    ("==", "!=", "<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
    ("=", "+=", "-=", "*=", "/=", "|=", "&=", "^="),
)
_BINDING = {piece: level for level, pieces in enumerate(_LEVELS) for piece in pieces}
_STRONGEST = len(_LEVELS)
_ASSIGNING = _LEVELS[-1]
_BEFORE = frozenset(("?", ":"))
_PIECE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'| +|[^\s"\'()\[\]{},;]+|.')
_RIGHT_SIDE = re.compile(r"\s*(?:return |[^=<>!(]*[^=<>!]= )")
_COMMENT = re.compile(r"(\s*)(/\*|\*)( .*)")


def fitted(text: str) -> str:
    """Return a text of C++ whose long lines are broken; its words are the same."""
    if all(len(line) <= COLUMNS for line in text.split("\n")):
        return text
    return "\n".join(part for line in text.split("\n") for part in _fitted_line(line))


def _fitted_line(line: str) -> Iterator[str]:
    """Yield the lines that one line becomes."""
    # A directive is one line, and so is a comment up to its end.
    if len(line) <= COLUMNS or line.lstrip().startswith("#") or "//" in line:
        yield line
    elif comment := _COMMENT.fullmatch(line):
        yield from _fitted_comment(*comment.groups())
    else:
        yield from _lines_of_code(line)


def _fitted_comment(margin: str, mark: str, text: str) -> Iterator[str]:
    """Yield the lines of a comment that begins with a mark, ``/*`` or ``*``."""
    end = " */" if text.endswith(" */") else ""
    words = text.removesuffix(" */").strip()
    indent = " " * (len(text) - len(text.lstrip()) + (1 if mark == "/*" else 0))
    start = f"{margin}{mark}{text[: len(text) - len(text.lstrip())]}"
    rest = f"{margin} *{indent[1:] if mark == '/*' else indent}"
    width = COLUMNS - len(end)
    rows = textwrap.wrap(
        words,
        width,
        initial_indent=start,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from rows[:-1]
    yield rows[-1] + end


def _lines_of_code(line: str) -> Iterator[str]:
    """Yield the lines that a line of code becomes."""
    margin = len(line) - len(line.lstrip())
    right = _RIGHT_SIDE.match(line)
    # Where what is in no bracket goes on.
    base = right.end() if right and right.end() <= COLUMNS - _NARROW else margin + _INDENT
    stack = [base]
    while len(line) > COLUMNS and (place := _place_to_break(line)) is not None:
        head, rest = line[:place].rstrip(), line[place:].lstrip()
        stack = _open_columns(head, stack)
        if len(stack) == 1 and head.endswith(_ASSIGNING):
            stack = [margin + _INDENT]
        yield head
        line = " " * stack[-1] + rest
    yield line


def _place_to_break(line: str) -> int | None:
    """Return where to break a line, the last of the best places; None where there is none."""
    best: tuple[int, int] | None = None
    depth, start, before = 0, len(line) - len(line.lstrip()), ""
    pieces = [*_PIECE.finditer(line)]
    for found, after in zip(pieces, [*pieces[1:], None], strict=True):
        if found.start() > COLUMNS:
            break
        piece = found[0]
        if piece.isspace() and found.start() >= start and after is not None:
            level = _strength_between(before, after[0])
            rank = _STRONGEST * depth + level
            if level < _STRONGEST and (best is None or rank <= best[0]):
                best = rank, found.end()
        depth += (piece in _OPEN) - (piece in _CLOSE)
        before = piece
    return None if best is None else best[1]


def _strength_between(before: str, after: str) -> int:
    """Return how strongly two pieces hold together, `_STRONGEST` where no line ends between."""
    if after in _BEFORE:
        return _BINDING[after]
    if before in _BEFORE:
        return _STRONGEST
    if before.endswith('"') and after.startswith('"'):
        return 0
    return _BINDING.get(before, _STRONGEST)


def _open_columns(head: str, stack: list[int]) -> list[int]:
    """Return in which columns the contents of the open brackets begin, behind a line."""
    columns = list(stack)
    for found in _PIECE.finditer(head):
        if found[0] in _OPEN:
            inside = found.end()
            is_narrow = inside > COLUMNS - _NARROW
            columns.append(columns[0] + _INDENT if is_narrow else inside)
        elif found[0] in _CLOSE and len(columns) > 1:
            columns.pop()
    return columns
