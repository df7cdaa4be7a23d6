"""Directives of the user's own that leave no place for the text of a region.

What replaces a region is a block with directives of its own. No directive for a loop may stand
before a block, and threads that start around a region would each run all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from annotune.annotation.regions import AnnotationBlock
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frontend.messages import FOR_A_LOOP, SHARED_AROUND
from annotune.frontend.read.filescope import File
from annotune.frontend.read.preprocess import without_comments
from annotune.frozen import dataclass

_PRAGMA = re.compile(r"^[ \t]*(?P<line>#[ \t]*pragma\b(?P<words>(?:\\\r?\n|[^\n])*))", re.MULTILINE)
_OF_LOOPS = frozenset({"for", "simd", "loop", "distribute", "taskloop", "tile", "unroll"})
_SHARED = frozenset({"for", "loop", "sections", "single", "master", "masked", "barrier"})
_STARTS = frozenset({"parallel", "kernels", "serial", "teams", "target"})
_OF_MODELS = _OF_LOOPS | _SHARED | _STARTS
# Of compilers; each is for the loop behind it.
_HINTS = frozenset({"ivdep", "unroll", "nounroll", "novector", "vector", "simd", "loop"})


@dataclass(frozen=True, slots=True)
class _OwnDirective:
    """A ``#pragma``: what it begins with, and its place."""

    words: Sequence[str]
    start: int
    end: int

    @property
    def constructs(self) -> frozenset[str]:
        """Return the constructs of OpenMP or OpenACC that it names."""
        model, *rest = self.words
        if model not in ("omp", "acc"):
            return frozenset()
        others = (k for k, word in enumerate(rest) if word not in _OF_MODELS)
        return frozenset(rest[: next(others, len(rest))])

    @property
    def needs_loop(self) -> bool:
        """Return whether C has a loop behind it, or what runs on a device."""
        first = self.words[0]
        hint = self.words[1:2] if first in ("GCC", "clang") else self.words[:1]
        on_device = self.constructs if first == "acc" else self.constructs & {"target", "teams"}
        return bool(self.constructs & _OF_LOOPS or on_device or _HINTS.intersection(hint))

    @property
    def shares(self) -> bool:
        """Return whether threads that are there already share what stands behind it."""
        return bool(self.constructs & _SHARED) and not self.constructs & _STARTS


def check_own_directives(file: File, block: AnnotationBlock) -> None:
    """Raise which directives before or in a region keep it from being replaced."""
    problems = tuple(_without_place(file, block)) if "pragma" in file.source.text else ()
    if problems:
        raise AnnotuneError(problems)


def _without_place(file: File, block: AnnotationBlock) -> Iterator[Diagnostic]:
    first, starts = file.tokens.at(block.body_start), False
    for found in _PRAGMA.finditer(without_comments(file.source)):
        words = re.findall(r"\w+", found["words"])
        one = _OwnDirective(words, *found.span("line"))
        if not words or file.clean.is_left_out(one.start):
            continue
        span = file.source.span(one.start, one.end)
        shown = " ".join(found["line"].split())
        if one.start < block.start and file.tokens.at(one.end) == first and one.needs_loop:
            yield FOR_A_LOOP.at(span, directive=shown)
        elif block.body_start <= one.start < block.body_end:
            if one.shares and not starts:
                yield SHARED_AROUND.at(span, directive=shown)
            starts = starts or bool(one.constructs & _STARTS)
