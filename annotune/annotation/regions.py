"""Finds the annotated regions of a C text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from annotune.annotation.messages import (
    CROSSED,
    DECLARED_TWICE,
    END_WITHOUT_BEGIN,
    FIRST_DECLARED,
    NOT_NESTABLE,
    OPENED_HERE,
    OTHER_CLOSER,
    UNCLOSED_BEGIN,
    UNKNOWN_BLOCK,
    UNSUPPORTED_BLOCK,
    did_you_mean,
)
from annotune.annotation.parse import Recipe, parse_recipe
from annotune.annotation.perf_tuning import PerfTuning, read_perf_tuning
from annotune.annotation.scan import Closer, Opener, annotations_of
from annotune.annotation.spec import Spec, Value
from annotune.diagnostics import AnnotuneError, Diagnostic, Span

# The thesis writes CHILL in one figure and CHiLL in another, so case does not count.
_PERF_TUNING = "perftuning"
_CHILL = "chill"
_KNOWN = ("PerfTuning", "CHiLL")
# Orio's other modules.
UNSUPPORTED = (
    "Align",
    "Loop",
    "Loops",
    "OpenCL",
    "OrTil",
    "Pluto",
    "PolySyn",
    "SimplyRewrite",
    "SpMV",
)


@dataclass(frozen=True, slots=True)
class AnnotationBlock:
    """One annotated region of a C text.

    ``text[start:end]`` is what a rewritten region replaces, first opener to last closer;
    ``text[body_start:body_end]`` is the C in the innermost annotation. Where C stands
    between PerfTuning and CHiLL, `start` and `end` bound the CHiLL annotation alone, so
    that this C stays. `span` is the opener of the outermost annotation.
    """

    start: int
    end: int
    body_start: int
    body_end: int
    spec: Spec
    span: Span


@dataclass(frozen=True, slots=True)
class Annotations:
    """The regions of a text that are sound, and what is wrong with the others."""

    blocks: tuple[AnnotationBlock, ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(slots=True)
class _Open:
    """An annotation that is not yet closed, with the regions found in it."""

    opener: Opener
    tuning: PerfTuning = field(default_factory=lambda: PerfTuning(Spec(), {}))
    recipe: Recipe = field(default_factory=Recipe)
    is_sound: bool = True
    inner: list[AnnotationBlock] = field(default_factory=list)
    has_inner: bool = False

    @property
    def kind(self) -> str:
        return self.opener.name.lower()


def find_annotations(
    text: str, file: str, settings: Mapping[str, Value] | None = None
) -> tuple[AnnotationBlock, ...]:
    """Return the annotated regions of `text`, in its order.

    `settings` (``--set NAME=VALUE``) replace parameters of the annotations.

    Raises:
        AnnotuneError: With every mistake that stands alone, in the order of the text.
    """
    found = scan_annotations(text, file, settings)
    if found.diagnostics:
        raise AnnotuneError.of(*found.diagnostics)
    return found.blocks


def scan_annotations(
    text: str, file: str, settings: Mapping[str, Value] | None = None
) -> Annotations:
    """Return the sound regions of `text`, and diagnostics for the rest."""
    scanner = _Scanner(text, settings or {})
    for found in annotations_of(text, file):
        match found:
            case Opener():
                scanner.begin(found)
            case Closer():
                scanner.end(found)
            case Diagnostic():
                scanner.mistakes.append(found)
    for left in scanner.opened:
        scanner.mistakes.append(UNCLOSED_BEGIN.at(left.opener.span, name=left.opener.name))
    blocks = sorted(scanner.blocks, key=lambda block: block.start)
    return Annotations(tuple(blocks), tuple(sorted(scanner.mistakes, key=lambda one: one.span)))


@dataclass(slots=True)
class _Scanner:
    """The stack of open annotations, and what has been found so far."""

    text: str
    settings: Mapping[str, Value]
    opened: list[_Open] = field(default_factory=list)
    blocks: list[AnnotationBlock] = field(default_factory=list)
    mistakes: list[Diagnostic] = field(default_factory=list)

    def begin(self, opener: Opener) -> None:
        one = _Open(opener, is_sound=opener.is_sound)
        outer = self.opened[-1] if self.opened else None
        self.opened.append(one)
        if outer is not None:
            outer.has_inner = True
        try:
            self.check_name(opener, outer)
            if one.is_sound:
                self.read(one, outer)
        except AnnotuneError as error:
            self.mistakes.extend(error.diagnostics)
            one.is_sound = False

    def read(self, one: _Open, outer: _Open | None) -> None:
        """Read the text of an annotation into `one`."""
        text, origin = one.opener.text, one.opener.origin
        if one.kind == _PERF_TUNING:
            one.tuning = read_perf_tuning(text, origin, self.settings)
        else:
            one.recipe = parse_recipe(text, origin, outer.tuning.lets if outer else {})

    def check_name(self, opener: Opener, outer: _Open | None) -> None:
        name, span = opener.name, opener.span
        if name.lower() in (other.lower() for other in UNSUPPORTED):
            raise AnnotuneError.of(UNSUPPORTED_BLOCK.at(span, name=name))
        if name.lower() not in (_PERF_TUNING, _CHILL):
            hint = did_you_mean(name, _KNOWN)
            raise AnnotuneError.of(UNKNOWN_BLOCK.at(span, name=name, hint=hint))
        if outer is not None and (outer.kind, name.lower()) != (_PERF_TUNING, _CHILL):
            raise AnnotuneError.of(NOT_NESTABLE.at(span, name=name, outer=outer.opener.name))

    def end(self, closer: Closer) -> None:
        index = self.match(closer)
        if index is None:
            return
        one = self.opened.pop(index)
        if not one.is_sound:
            return
        outer = self.opened[index - 1] if index else None
        if one.kind == _CHILL:
            block = self.region(one, closer, one.opener.end, closer.start, outer)
            if block is not None:
                (outer.inner if outer else self.blocks).append(block)
        elif one.inner:
            self.blocks.extend(self.widened(one, closer))
        elif not one.has_inner:
            block = self.region(one, closer, one.opener.end, closer.start, None)
            self.blocks.extend([block] if block else [])

    def match(self, closer: Closer) -> int | None:
        """Return which open annotation `closer` closes; None when it closes none."""
        names = [one.opener.name.lower() for one in self.opened]
        wanted = closer.name.lower()
        if not names:
            self.mistakes.append(END_WITHOUT_BEGIN.at(closer.span))
            return None
        if not wanted or names[-1] == wanted:
            return len(names) - 1
        inner = self.opened[-1].opener
        note = OPENED_HERE.at(inner.span, name=inner.name)
        if wanted not in names:
            mistake = OTHER_CLOSER.at(closer.span, name=closer.name, open=inner.name)
            index = len(names) - 1
        else:
            mistake = CROSSED.at(closer.span, name=closer.name, inner=inner.name)
            index = len(names) - 1 - names[::-1].index(wanted)
            for crossing in self.opened[index:]:
                crossing.is_sound = False
        self.mistakes.append(mistake.with_note(note))
        self.opened[index].is_sound = False
        return index

    def region(
        self, one: _Open, closer: Closer, body_start: int, body_end: int, outer: _Open | None
    ) -> AnnotationBlock | None:
        """Return the region between an opener and its closer; None where its parts clash."""
        spec = outer.tuning.spec if outer else one.tuning.spec
        span = outer.opener.span if outer else one.opener.span
        try:
            spec = with_recipe(spec, one.recipe)
        except AnnotuneError as error:
            self.mistakes.extend(error.diagnostics)
            return None
        spec = replace(spec, span=span)
        return AnnotationBlock(one.opener.start, closer.end, body_start, body_end, spec, span)

    def widened(self, one: _Open, closer: Closer) -> list[AnnotationBlock]:
        """Return the regions in a PerfTuning; a single one takes in the PerfTuning itself."""
        if len(one.inner) > 1:
            return one.inner
        block = one.inner[0]
        around = self.text[one.opener.end : block.start] + self.text[block.end : closer.start]
        plain = re.sub(r"/\*.*?\*/|//[^\n]*", "", around, flags=re.DOTALL)
        if plain.strip():
            return one.inner
        return [replace(block, start=one.opener.start, end=closer.end)]


def with_recipe(spec: Spec, recipe: Recipe) -> Spec:
    """Return `spec` with the commands and the parameter lists of `recipe`.

    Raises:
        AnnotuneError: A parameter stands in both.
    """
    known = {param.name: param for param in (*spec.input_params, *spec.performance_params)}
    mistakes: list[Diagnostic] = []
    for param in recipe.performance_params:
        first = known.setdefault(param.name, param)
        if first is not param:
            note = FIRST_DECLARED.at(first.span)
            mistakes.append(DECLARED_TWICE.at(param.span, name=param.name).with_note(note))
    if mistakes:
        raise AnnotuneError.of(*mistakes)
    params = (*spec.performance_params, *recipe.performance_params)
    return replace(spec, performance_params=params, commands=recipe.commands)
