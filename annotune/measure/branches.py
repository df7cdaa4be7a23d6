"""Which branches of an emitted text the runs of a check have reached, and which none has.

A text is built once more with a mark at the beginning of every block: of a function, of what an
``if`` chooses, of a loop. Marks are bytes of the library that a child reads before it ends; gcov
would write them at the end of a process, and here none ends by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

HELPER, BODY, DEVICE = MARKS = tuple(
    f"annotune_reached_{part}" for part in ("helper", "body", "device")
)
"""The arrays of marks in a library, for each of the texts of a variant."""

ROOM = 4096
"""So many blocks of a text are marked at the most."""

_TOLD = 5
_TOKEN = re.compile(
    r"""
    //(?:\\\n|[^\n])* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
  | ^[ \t]*\#(?:\\\n|[^\n])*
  | (?P<token> [A-Za-z_]\w* | [^\s\w] )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block that has a mark: the line of its brace, from 1, and that line's text."""

    line: int
    text: str


def blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a text in their order."""
    lines = text.split("\n")
    numbers = [text.count("\n", 0, place) for place in _places(text)]
    return tuple(Block(n + 1, lines[n].strip()) for n in numbers)


def marked(text: str, marks: str) -> str:
    """Return `text` with marks in the array `marks`, every line at its number."""
    pieces, done = [], 0
    for number, place in enumerate(_places(text)):
        pieces += [text[done:place], f" {marks}[{number}] = 1;"]
        done = place
    return "".join([*pieces, text[done:]])


def declared(marks: str) -> str:
    """Return a line of C and C++ that defines an array of marks."""
    return f'__attribute__((visibility("default"))) unsigned char {marks}[{ROOM}];\n'


def told(texts: Mapping[str, str], reached: Mapping[str, set[int]]) -> str:
    """Return in words which blocks of `texts`, each by its array of marks, have no mark."""
    count = sum(len(_places(text)) for text in texts.values())
    missed = list(_missed(texts, reached))
    if not missed:
        return f"all {count} reached"
    more = f"; {len(missed) - _TOLD} more" if len(missed) > _TOLD else ""
    return f"{len(missed)} of {count} not reached: {'; '.join(missed[:_TOLD])}{more}"


def _missed(texts: Mapping[str, str], reached: Mapping[str, set[int]]) -> Iterator[str]:
    for marks, text in texts.items():
        part = marks.rpartition("_")[2]
        for number, block in enumerate(blocks(text)):
            if number not in reached.get(marks, ()):
                yield f"{part} line {block.line}, {block.text}"


def _places(text: str) -> list[int]:
    """Return where marks stand: behind the braces that open a block of statements.

    Not in a loop whose body is another loop, which a directive may collapse with it.
    """
    found = [match for match in _TOKEN.finditer(text) if match["token"]]
    words = [match["token"] for match in found]
    opened: list[int] = []
    header = ""
    places = []
    for number, word in enumerate(words[:-1]):
        if word == "(":
            opened.append(number)
        elif word == ")" and opened:
            start = opened.pop()
            header = words[start - 1] if start else ""
        elif word == "{" and number and words[number - 1] in (")", "else"):
            is_loop = words[number - 1] == ")" and header == "for"
            if not (is_loop and words[number + 1] == "for"):
                places.append(found[number].end())
    return places[:ROOM]
