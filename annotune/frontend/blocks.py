"""The annotated places of a file as the front end sees them, and what may stand in one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Protocol

from annotune.annotation.spec import Spec
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frontend import messages
from annotune.frontend.clean import Clean, Directive
from annotune.frontend.filescope import File
from annotune.frontend.tokens import IDENTIFIER, TOKEN
from annotune.frontend.toplevel import TopLevel, enclosing

_OPENING = ("if", "ifdef", "ifndef")
_MIDDLE = ("elif", "else")


class Block(Protocol):
    """An annotated place of a file: offsets into its text, its annotation, and its span."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def body_start(self) -> int: ...
    @property
    def body_end(self) -> int: ...
    @property
    def spec(self) -> Spec: ...
    @property
    def span(self) -> Span: ...


def part_of(file: File, block: Block) -> TopLevel:
    """Return the function around a block, or raise that there is none."""
    tokens = file.tokens
    if file.clean.is_left_out(block.body_start):
        raise AnnotuneError.of(messages.LEFT_OUT.at(block.span))
    for index in (tokens.at(block.body_start), tokens.at(block.body_start) - 1):
        part = enclosing(file.parts, index)
        if part and part.body >= 0:
            opens, closes = tokens.starts[part.body], tokens.ends[part.last]
            if opens < block.body_start and block.body_end < closes:
                return part
    raise AnnotuneError.of(messages.NOT_IN_FUNCTION.at(block.span))


def check_directives(file: File, block: Block, part: TopLevel) -> None:
    """Raise what the directives in and around a region make impossible."""
    problems = list(_in_region(file, block))
    opens, closes = file.tokens.starts[part.first], file.tokens.ends[part.last]
    for unread in file.clean.unread:
        if opens < unread.start < closes:
            span = file.source.span(unread.start, unread.end)
            problems.append(
                messages.UNREAD_HEADER.at(
                    span, name=unread.name, function=part.function, reason=unread.reason
                )
            )
    if problems:
        raise AnnotuneError(tuple(problems))


def _in_region(file: File, block: Block) -> Iterator[Diagnostic]:
    depth = 0
    found = file.clean.directives_in(block.body_start, block.body_end)
    opened: list[Directive] = []
    for directive in found:
        depth += (directive.word in _OPENING) - (directive.word == "endif")
        if directive.word in _OPENING:
            opened.append(directive)
        elif directive.word == "endif" and opened:
            opened.pop()
        elif directive.word in ("define", "undef"):
            yield from _definition(file, block, directive)
        elif directive.word not in _MIDDLE or not opened:
            # Half a conditional cannot be replaced, nor can the text of a header.
            yield _refused(file, directive)
    for directive in opened:
        yield _refused(file, directive)


def _refused(file: File, directive: Directive) -> Diagnostic:
    span = file.source.span(directive.start, directive.end)
    return messages.DIRECTIVE_IN_REGION.at(span, directive=directive.word)


def _definition(file: File, block: Block, directive: Directive) -> Iterator[Diagnostic]:
    """Yield why a macro of the region must outlive the region's text."""
    words = file.source.text[directive.start : directive.end].replace("#", " ").split(None, 1)
    name = (TOKEN.match(words[1]) if len(words) > 1 else None) or TOKEN.match("_")
    assert name is not None
    after = file.tokens.texts[file.tokens.at(block.end) :]
    if name[0] in after or any(_mentions(file, other, name[0]) for other in set(after)):
        span = file.source.span(directive.start, directive.end)
        yield messages.DEFINE_IN_REGION.at(span, directive=directive.word, name=name[0])


def _mentions(file: File, macro: str, name: str) -> bool:
    if not IDENTIFIER.match(macro) or macro not in file.clean.macros:
        return False
    bodies = [m.body for _, m in file.clean.macros[macro] if m is not None]
    return any(name in TOKEN.findall(body) for body in bodies)


def macros_defined_in(clean: Clean, blocks: Sequence[Block]) -> frozenset[str]:
    """Return the macros that are defined inside the blocks; `blocks` are in text order."""
    starts = [block.start for block in blocks]

    def is_inside(offset: int) -> bool:
        at = bisect_right(starts, offset) - 1
        return at >= 0 and offset < blocks[at].end

    return frozenset(
        name
        for name, history in clean.macros.items()
        if any(macro is not None and is_inside(offset) for offset, macro in history)
    )
