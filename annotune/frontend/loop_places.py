"""Where the loops of a C text stand, found without parsing: all of them, or one that is named."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from annotune.annotation.messages import nearest
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frontend.messages import NO_FUNCTION, NO_LOOP
from annotune.frontend.read.filescope import File
from annotune.frontend.read.macros import evaluate
from annotune.frontend.read.parse import TopLevel, expanded
from annotune.frontend.read.preprocess import without_comments
from annotune.frontend.read.tokens import IDENTIFIER, Tokens
from annotune.frozen import dataclass


@dataclass(frozen=True, slots=True)
class LoopPlace:
    """A ``for`` of a function: ``text[start:end]`` is its statement, with its pragmas before it.

    The loop itself begins `at` its ``for``. `occurrence` counts the loops of this `iterator` in the
    function from 1. One that `follows` has the loop before it in the same block, and nothing
    between them but scalars that are set. `within` is the directive of OpenMP or OpenACC whose
    threads run it, empty where none does. `range` are the C texts of its first value and of the one
    behind its last, with macros that are integers as these; None where it does not count by one.
    """

    function: str
    iterator: str
    occurrence: int
    start: int
    at: int
    end: int
    span: Span
    inner: tuple[LoopPlace, ...] = ()
    follows: bool = False
    within: str = ""
    range: tuple[str, str] | None = None

    def trip_count(self, sizes: Mapping[str, int]) -> int | None:
        """Return how often the loop runs, None where its range and `sizes` do not say."""
        ends = self._ends(sizes)
        return None if ends is None else max(0, ends[1] - ends[0])

    def middle(self, sizes: Mapping[str, int]) -> int | None:
        """Return the value of the iterator in the middle of the loop, None where nothing says."""
        ends = self._ends(sizes)
        return None if ends is None else (ends[0] + ends[1]) // 2

    def _ends(self, sizes: Mapping[str, int]) -> tuple[int, int] | None:
        first, end = (evaluate(text, sizes.get) for text in self.range or ("", ""))
        return None if first is None or end is None else (first, end)

    @property
    def depth(self) -> int:
        """Return how many loops stand in one another here."""
        return 1 + max((one.depth for one in self.inner), default=0)


def loop_places(file: File) -> tuple[LoopPlace, ...]:
    """Return the outermost loops of each function of a file, in its order.

    Raises:
        AnnotuneError: A macro in a function cannot be expanded.
    """
    directives = tuple(_directives(file))
    found: list[LoopPlace] = []
    for part in file.parts:
        if part.body >= 0:
            # Macros make loops too; the place of such a loop is that of the macro's use.
            tokens = expanded(file.clean, file.tokens, part.first, part.last, True)
            found += _FunctionLoops(file, part.function, tokens, directives).loops()
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _PlacedPragma:
    """A ``#pragma`` before a statement: its place and that of the statement's first token."""

    words: tuple[str, ...]
    start: int
    statement: int

    @property
    def is_of_loop(self) -> bool:
        """Return whether it speaks of the loop that follows, and goes where that goes."""
        first, *rest = self.words
        if first in _MODELS:
            # `acc enter data`, `omp target update` are statements of their own.
            return bool(rest) and rest[0] in _CONSTRUCTS and not {*rest[1:2]} & _OWN_STATEMENTS
        return first in _LOOP_PRAGMAS

    @property
    def is_construct(self) -> bool:
        """Return whether the statement behind it is run by threads of the directive's own."""
        is_task = self.words[0] in _MODELS and self.words[1:2] in _TASKS
        return self.words[0] in _MODELS and (self.is_of_loop or is_task)

    @property
    def shown(self) -> str:
        return f"#pragma {' '.join(self.words[:3])}"


_MODELS = frozenset({"omp", "acc"})
_CONSTRUCTS = frozenset(
    {
        *("parallel", "for", "simd", "loop", "kernels", "serial", "target", "teams", "distribute"),
        *("taskloop", "tile", "unroll"),
    }
)
_TASKS = tuple((word,) for word in ("task", "single", "master", "masked", "sections", "section"))
_OWN_STATEMENTS = frozenset({"enter", "exit", "update", "data"})
_LOOP_PRAGMAS = frozenset(
    {"GCC", "clang", "ivdep", "unroll", "nounroll", "vector", "novector", "simd", "loop"}
)
_COUNTS = re.compile(
    r"(?:[A-Za-z_]\w* )*(?P<var>[A-Za-z_]\w*) = (?P<first>[^;,=]+) ; (?P=var) "
    r"(?P<relation><=?|!=) (?P<end>[^;,=<>&|]+) ; "
    r"(?:\+\+ (?P=var)|(?P=var) \+\+|(?P=var) \+= 1)"
)
_PRAGMA = re.compile(r"^[ \t]*(?P<line>#[ \t]*pragma\b(?P<words>(?:\\\r?\n|[^\n])*))", re.MULTILINE)


def _directives(file: File) -> Iterator[_PlacedPragma]:
    """Yield the pragmas of a file that stand before a statement."""
    for found in _PRAGMA.finditer(without_comments(file.source)):
        start, end = found.span("line")
        words = tuple(re.findall(r"\w+", found["words"]))
        token = file.tokens.at(end)
        if words and token < len(file.tokens) and not file.clean.is_left_out(start):
            yield _PlacedPragma(words, start, file.tokens.starts[token])


@dataclass(frozen=True, slots=True)
class _LoopTokens:
    """A loop by its tokens: those of its statement are `first` to `last`, both inside."""

    iterator: str
    occurrence: int
    first: int
    last: int


@dataclass(frozen=True)
class _FunctionLoops:
    """Reads the loops of one function from its tokens."""

    file: File
    name: str
    tokens: Tokens
    directives: Sequence[_PlacedPragma]

    def loops(self) -> tuple[LoopPlace, ...]:
        counts = Counter[str]()
        found: list[_LoopTokens] = []
        for iterator, index in _loops(self.tokens):
            counts[iterator] += 1
            last = self.tokens.statement_end(index)
            found.append(_LoopTokens(iterator, counts[iterator], index, last))
        return self._nested(found)

    def _nested(self, found: Sequence[_LoopTokens]) -> tuple[LoopPlace, ...]:
        """Return loops of one block, or of blocks in it, each with those inside of it."""
        places: list[LoopPlace] = []
        before: _LoopTokens | None = None
        at = 0
        while at < len(found):
            one = found[at]
            after = at + 1
            while after < len(found) and found[after].first <= one.last:
                after += 1
            place = self._place(one, self._nested(found[at + 1 : after]))
            follows = before is not None and self._only_sets(before.last + 1, one.first)
            places.append(replace(place, follows=follows))
            before, at = one, after
        return tuple(places)

    def _place(self, one: _LoopTokens, inner: tuple[LoopPlace, ...]) -> LoopPlace:
        start, end = self.tokens.roots[one.first], self.tokens.limits[one.last]
        span = self.file.source.span(start, self.tokens.limits[one.first])
        own = [d.start for d in self.directives if d.statement == start and d.is_of_loop]
        around = (d for d in self.directives if d.is_construct and self._holds(d, start))
        within = next((d.shown for d in around), "")
        place = (self.name, one.iterator, one.occurrence, min(own, default=start), start, end)
        range_ = self._range(one.first)
        return LoopPlace(*place, span, inner, within=within, range=range_)

    def _range(self, index: int) -> tuple[str, str] | None:
        """Return the range of the loop whose ``for`` is the token at `index`."""
        texts, closer = self.tokens.texts, self.tokens.match[index + 1]
        words = (self._value(at) for at in range(index + 2, max(closer, index + 2)))
        found = _COUNTS.fullmatch(" ".join(words))
        if found is None or found["var"] not in texts[index : closer + 1]:
            return None
        return found["first"], f"({found['end']}) + {int(found['relation'] == '<=')}"

    def _value(self, index: int) -> str:
        """Return the text of a token, of a macro that is an integer its value."""
        text = self.tokens.texts[index]
        macro = self.file.clean.macro(text, self.tokens.starts[index])
        return text if macro is None or macro.value is None else f"({macro.value})"

    def _holds(self, directive: _PlacedPragma, start: int) -> bool:
        """Return whether a loop stands inside the statement behind a directive."""
        if not directive.statement < start:
            return False
        tokens = self.tokens
        if not len(tokens) or directive.statement < tokens.roots[0]:
            return False
        return start < tokens.limits[tokens.statement_end(tokens.at(directive.statement))]

    def _only_sets(self, first: int, after: int) -> bool:
        """Return whether tokens are nothing but statements that set scalars, and call nothing."""
        texts = self.tokens.texts
        while first < after:
            last = self.tokens.statement_end(first)
            words = texts[first : last + 1]
            calls = any(
                IDENTIFIER.match(word) and behind == "(" for word, behind in pairwise(words)
            )
            is_set = len(words) > 3 and IDENTIFIER.match(words[0]) and words[1] == "="
            if not is_set or calls or "{" in words or last >= after:
                return False
            first = last + 1
        return True


def locate_loop(
    file: File,
    function: str,
    loop: str = "",
    occurrence: int = 1,
) -> tuple[int, int]:
    """Return the offsets at which a loop of a function of a file starts and ends.

    `loop` is the loop's iterator, empty for any; `occurrence` counts such loops from 1 in
    text order.

    Raises:
        AnnotuneError: There is no such function or loop; the help names those there are.
    """
    part = next((p for p in file.parts if p.function == function), None)
    if part is None:
        names = [p.function for p in file.parts if p.function]
        known, hint = ", ".join(names) or "none", nearest(function, names)
        span = file.source.span(0, 1)
        raise AnnotuneError.of(NO_FUNCTION.at(span, function=function, known=known, hint=hint))
    # Macros make loops too; the place of such a loop is that of the macro's use.
    tokens = expanded(file.clean, file.tokens, part.first, part.last, True)
    found = _loops(tokens)
    matching = [index for name, index in found if loop in ("", name)]
    if not 1 <= occurrence <= len(matching):
        names = [name for name, _ in found]
        raise AnnotuneError.of(_no_loop(file, part, names, loop, occurrence))
    first = matching[occurrence - 1]
    return tokens.roots[first], tokens.limits[tokens.statement_end(first)]


def _loops(tokens: Tokens) -> list[tuple[str, int]]:
    """Return the iterator and the token index of each ``for`` of a function."""
    found = []
    for index in range(len(tokens) - 2):
        if tokens.texts[index] == "for" and tokens.texts[index + 1] == "(":
            at = index + 2
            while at < len(tokens) - 1 and tokens.texts[at] not in ("=", ";", ")"):
                at += 1
            found.append((tokens.texts[at - 1], index))
    return found


def _no_loop(
    file: File, part: TopLevel, names: list[str], loop: str, occurrence: int
) -> Diagnostic:
    known, hint = ", ".join(names) or "none", "" if loop in names else nearest(loop, names)
    # A name that a macro pastes together stands nowhere.
    header = range(part.first, part.body)
    name = next((i for i in header if file.tokens.texts[i] == part.function), part.first)
    span = file.source.span(file.tokens.starts[name], file.tokens.ends[name])
    shown = {"loop": loop or "for", "occurrence": occurrence, "known": known, "hint": hint}
    return NO_LOOP.at(span, function=part.function, **shown)
