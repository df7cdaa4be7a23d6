"""A C file and its annotations turned into regions: the front end's one entry."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from annotune.annotation.spec import Spec
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frontend import messages
from annotune.frontend.arrays import describe
from annotune.frontend.expressions import Expressions
from annotune.frontend.filescope import File
from annotune.frontend.liveness import read_after
from annotune.frontend.lower import lower
from annotune.frontend.names import Names
from annotune.frontend.origins import origin
from annotune.frontend.preprocess import preprocess
from annotune.frontend.region_finder import Function, find, function_at
from annotune.frontend.source import Source
from annotune.frontend.toplevel import TopLevel, enclosing
from annotune.ir.region import Array, Extent, Region, SourceFile

_NOTHING: Mapping[str, int] = {}
_NO_DEFINES: Mapping[str, str] = {}
_NAME = re.compile(r"[A-Za-z_$]\w*\Z")


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


@dataclass(frozen=True, slots=True)
class Loaded:
    """The regions of a file that are sound, and what is wrong with the others.

    `functions` are those with an annotated region, in text order.
    """

    source: SourceFile
    problems: tuple[Diagnostic, ...]
    functions: tuple[str, ...]


def load(
    path: str,
    text: str,
    blocks: Sequence[Block],
    overrides: Mapping[str, int] = _NOTHING,
    defines: Mapping[str, str] = _NO_DEFINES,
) -> SourceFile:
    """Return the regions of a C file.

    `overrides` are sizes that win over the annotation's, `defines` macros as of ``-D``.

    Raises:
        AnnotuneError: The file or a region is refused, with every reason found.
    """
    loaded = load_sound(path, text, blocks, overrides, defines)
    if loaded.problems:
        raise AnnotuneError(loaded.problems)
    return loaded.source


def load_sound(
    path: str,
    text: str,
    blocks: Sequence[Block],
    overrides: Mapping[str, int] = _NOTHING,
    defines: Mapping[str, str] = _NO_DEFINES,
    function: str = "",
) -> Loaded:
    """Return what `load` does, without letting one refused region hide the others.

    `function` leaves out the regions of all other functions, unless it is empty.

    Raises:
        AnnotuneError: The file as a whole is no C file.
    """
    file = open_file(path, text, defines)
    parsed: dict[TopLevel, Function] = {}
    counts: Counter[str] = Counter()
    regions: list[Region] = []
    problems: list[Diagnostic] = []
    for block in sorted(blocks, key=lambda b: b.start):
        try:
            part = _part(file, block)
            # A refused region counts too, so that the others keep their numbers.
            counts[part.function] += 1
            if function not in ("", part.function):
                continue
            _check(file, block)
            if part not in parsed:
                parsed[part] = function_at(file, part)
            regions.append(_region(file, parsed[part], block, counts[part.function], overrides))
        except RecursionError:
            problems.append(messages.TOO_DEEP.at(block.span))
        except AnnotuneError as refusal:
            problems += [p for p in refusal.diagnostics if p not in problems]
    problems.sort(key=lambda p: p.span)
    return Loaded(SourceFile(path, text, tuple(regions)), tuple(problems), tuple(counts))


def open_file(path: str, text: str, defines: Mapping[str, str] = _NO_DEFINES) -> File:
    """Return a file preprocessed and cut into its declarations, or raise why it is no C file."""
    source = Source(path, text)
    if "\0" in text:
        at = text.index("\0")
        raise AnnotuneError.of(messages.BINARY_FILE.at(source.span(at, at + 1)))
    if not text.strip():
        raise AnnotuneError.of(messages.EMPTY_FILE.at(source.span(0, 1)))
    return File(preprocess(source, defines))


def _part(file: File, block: Block) -> TopLevel:
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


def _check(file: File, block: Block) -> None:
    """Raise what can be said against a block without parsing it."""
    source, clean, tokens = file.source, file.clean, file.tokens
    problems = [
        messages.DIRECTIVE_IN_REGION.at(source.span(d.start, d.end), directive=d.word)
        for d in clean.directives_in(block.body_start, block.body_end)
    ]
    for index in range(tokens.at(block.body_start), tokens.at(block.body_end)):
        name, start = tokens.texts[index], tokens.starts[index]
        if _NAME.match(name) and tokens.texts[index + 1 : index + 2] == ["("]:
            macro = clean.macro(name, start)
            if macro and macro.is_function:
                span = source.span(start, tokens.ends[index])
                problems.append(messages.MACRO_IN_REGION.at(span, name=name))
    if problems:
        raise AnnotuneError(tuple(problems))


def _region(
    file: File, function: Function, block: Block, index: int, overrides: Mapping[str, int]
) -> Region:
    place = find(file, function, block.body_start, block.body_end, block.span)
    names = Names(
        file,
        function.scope,
        place.scopes,
        read_after(function.tree.body, place.statements),
        function.changes,
    )
    nest = lower(place.statements, names)
    if not nest.loops():
        raise AnnotuneError.of(messages.NO_NEST.at(block.span))
    arrays = _arrays(names, function.tree.body, block.start)
    return Region(
        function.part.function,
        index,
        nest,
        arrays,
        names.scalars,
        _sizes(names, {loop.var for loop in nest.loops()}, block, overrides),
        block.spec,
        _extent(file, function.part, block),
        block.span,
        names.is_wide,
    )


def _arrays(names: Names, body: Any, region_start: int) -> dict[str, Array]:
    expressions = Expressions(names)
    found: dict[str, Array] = {}
    for name, symbol in names.arrays.items():
        root, offset = origin(symbol, body, region_start, expressions)
        found[name] = replace(describe(symbol, expressions), root=root, offset=offset)
    return found


def _sizes(
    names: Names, nest_iterators: set[str], block: Block, overrides: Mapping[str, int]
) -> dict[str, int]:
    """Return the sizes that C fixes, over them those of the annotation, then `overrides`."""
    sizes = {s.name: s.value for s in names.scalars.values() if s.value is not None}
    for parameter in block.spec.input_params:
        value = parameter.values[0] if parameter.values else None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        is_size = isinstance(value, int) and not isinstance(value, bool)
        if is_size and parameter.name not in nest_iterators and parameter.name not in names.arrays:
            assert isinstance(value, int)
            sizes[parameter.name] = value
    return sizes | {k: v for k, v in overrides.items() if k not in nest_iterators}


def _extent(file: File, part: TopLevel, block: Block) -> Extent:
    first = file.tokens.starts[part.first]
    before = file.tokens.ends[part.first - 1] if part.first else 0
    line_start = file.source.line_start(first)
    return Extent(
        block.start,
        block.end,
        block.body_start,
        block.body_end,
        # Another declaration may end on the line on which the function starts.
        line_start if line_start >= before else first,
        file.source.indent(block.start),
    )
