"""Finds the annotated regions of a C text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from annotune import plugins
from annotune.annotation.commands import Recipe, parse_recipe
from annotune.annotation.data_block import DataBlock, data_block
from annotune.annotation.grammar import Closer, Opener, annotations_of
from annotune.annotation.messages import (
    BAD_MODULE,
    CROSSED,
    END_WITHOUT_BEGIN,
    FORTRAN,
    IGNORED_BLOCK,
    NOT_NESTABLE,
    OPENED_HERE,
    OTHER_CLOSER,
    UNCLOSED_BEGIN,
    UNKNOWN_BLOCK,
    UNSUPPORTED_BLOCK,
    UNSUPPORTED_TRANSFORM,
    declared_twice,
    did_you_mean,
)
from annotune.annotation.perf_tuning import (
    PerfTuning,
    read_perf_tuning,
    read_specification,
)
from annotune.annotation.spec import Spec, Value
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass

# The thesis writes CHILL in one figure and CHiLL in another, so case does not count.
_PERF_TUNING = "perftuning"
_CHILL = "chill"
_LOOP = "loop"
_DATA = "data"
_KNOWN = ("PerfTuning", "CHiLL", "Loop", "Data")
# A module of Orio's around another one, which changes nothing here, and why.
_IGNORED = {"align": "annotune assumes no alignment"}
_OURS = frozenset({_PERF_TUNING, _CHILL, _LOOP, _DATA, *_IGNORED})
# What may stand directly in what; modules of other packages stand where a recipe does.
_NESTS = {_PERF_TUNING: (_CHILL, _LOOP, *_IGNORED), **dict.fromkeys(_IGNORED, (_CHILL, _LOOP))}
# Orio's other modules.
UNSUPPORTED = (
    "Loops",
    "OpenCL",
    "OrTil",
    "Pluto",
    "PolySyn",
    "SimplyRewrite",
    "SpMV",
)
# By the names that compilers know.
_FORTRAN = frozenset({".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08"})


@dataclass(frozen=True, slots=True)
class AnnotationBlock:
    """One annotated region of a C text.

    ``text[start:end]`` is what a rewritten region replaces, first opener to last closer;
    ``text[body_start:body_end]`` is the C in the innermost annotation. Where C stands
    between PerfTuning and CHiLL, `start` and `end` bound the CHiLL annotation alone, so
    that this C stays. `span` is the opener of the outermost annotation.

    ``begin Loop ( … )`` may hold the only C of its region: then `loop_text` bounds it in
    the text, inside a comment, and `c_text` is that C with the transformations blanked, of
    the same length; the body is blank. Otherwise `loop_text` is None.

    `inner` and `frame` are ``(start, end, start, end)`` of an opener and of its closer: those
    of the innermost and of the outermost annotation. None for a region of a sidecar.
    `annotune.annotation.orio.complete` makes a C text of all this.
    """

    start: int
    end: int
    body_start: int
    body_end: int
    spec: Spec
    span: Span
    loop_text: tuple[int, int] | None = None
    c_text: str = ""
    inner: tuple[int, int, int, int] | None = None
    frame: tuple[int, int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Annotations:
    """The regions of a text that are sound, and what is wrong with the others.

    `kept` are blocks around regions, or around calls of them, in which arrays stay on the device.
    """

    blocks: tuple[AnnotationBlock, ...]
    diagnostics: tuple[Diagnostic, ...]
    kept: tuple[DataBlock, ...] = ()


@dataclass(slots=True)
class _Open:
    """An annotation that is not yet closed, with the regions found in it.

    `tuning` is that of the PerfTuning in force, `frame` the outermost opener. `mistakes` are
    those of its own text: nobody needs them where a module in it is not supported at all.
    """

    opener: Opener
    frame: Opener
    tuning: PerfTuning = field(default_factory=lambda: PerfTuning(Spec(), {}))
    recipe: Recipe = field(default_factory=Recipe)
    is_sound: bool = True
    is_hopeless: bool = False
    mistakes: list[Diagnostic] = field(default_factory=list)
    inner: list[AnnotationBlock] = field(default_factory=list)
    has_inner: bool = False

    @property
    def kind(self) -> str:
        return self.opener.name.lower()


def scan_annotations(
    text: str,
    file: str,
    settings: Mapping[str, Value] | None = None,
    spec_file: Path | None = None,
) -> Annotations:
    """Return the sound regions of `text`, and diagnostics for the rest.

    `settings` (``--set NAME=VALUE``) replace parameters of the annotations. `spec_file`
    (``--spec FILE``) holds the specification of regions without a PerfTuning of their own.

    Raises:
        AnnotuneError: The file is none of C.
    """
    if Path(file).suffix.lower() in _FORTRAN:
        raise AnnotuneError.of(FORTRAN.at(Span(file, 1, 1), file=Path(file).name))
    scanner = _Scanner(text, settings or {}, spec_file)
    for found in annotations_of(text, file):
        match found:
            case Opener():
                scanner.begin(found)
            case Closer():
                scanner.end(found)
            case Diagnostic():
                scanner.mistakes.append(found)
    for left in scanner.opened:
        scanner.settle(left)
        scanner.mistakes.append(UNCLOSED_BEGIN.at(left.opener.span, name=left.opener.name))
    blocks = sorted(scanner.blocks, key=lambda block: block.start)
    mistakes = sorted(scanner.mistakes, key=lambda one: one.span)
    kept = sorted(scanner.kept, key=lambda block: block.opener)
    return Annotations(tuple(blocks), tuple(mistakes), tuple(kept))


@dataclass(slots=True)
class _Scanner:
    """The stack of open annotations, and what has been found so far."""

    text: str
    settings: Mapping[str, Value]
    spec_file: Path | None
    opened: list[_Open] = field(default_factory=list)
    blocks: list[AnnotationBlock] = field(default_factory=list)
    kept: list[DataBlock] = field(default_factory=list)
    mistakes: list[Diagnostic] = field(default_factory=list)

    def around(self, index: int) -> _Open | None:
        """Return the annotation around the one that is opened as that number, but for Data."""
        outer = self.opened[index - 1] if index else None
        return None if outer is None or outer.kind == _DATA else outer

    def begin(self, opener: Opener) -> None:
        outer = self.around(len(self.opened))
        one = _Open(opener, outer.frame if outer else opener, is_sound=opener.is_sound)
        self.opened.append(one)
        if outer is not None:
            outer.has_inner = True
            one.tuning = outer.tuning
        try:
            self.check_name(opener, outer)
            if one.is_sound:
                self.read(one, outer)
        except AnnotuneError as error:
            one.mistakes.extend(error.diagnostics)
            one.is_sound = False

    def read(self, one: _Open, outer: _Open | None) -> None:
        """Read the text of an annotation into `one`."""
        text, origin = one.opener.text, one.opener.origin
        if one.kind == _PERF_TUNING:
            one.tuning = read_perf_tuning(text, origin, self.settings)
            return
        is_outermost = outer is None or outer.frame.name.lower() in _IGNORED
        if one.kind == _DATA:
            return
        if self.spec_file is not None and is_outermost and one.kind not in _IGNORED:
            one.tuning = read_specification(self.spec_file, one.opener.span, self.settings)
        if one.kind not in _OURS:
            text, origin = _recipe_of(one.opener), replace(origin, whole=one.opener.span)
        if one.kind == _CHILL or one.kind not in _OURS:
            one.recipe = parse_recipe(text, origin, one.tuning.lets)

    def check_name(self, opener: Opener, outer: _Open | None) -> None:
        name, span = opener.name, opener.span
        kind = name.lower()
        if kind not in _OURS and kind not in _modules():
            if kind in (other.lower() for other in UNSUPPORTED):
                self.give_up()
                raise AnnotuneError.of(UNSUPPORTED_BLOCK.at(span, name=name))
            hint = did_you_mean(name, (*_KNOWN, *_modules().values()))
            raise AnnotuneError.of(UNKNOWN_BLOCK.at(span, name=name, hint=hint))
        as_what = kind if kind in _OURS else _CHILL
        if outer is not None and as_what not in _NESTS.get(outer.kind, ()):
            raise AnnotuneError.of(NOT_NESTABLE.at(span, name=name, outer=outer.opener.name))

    def give_up(self) -> None:
        """Keep quiet about what stands around an annotation that is not supported."""
        for around in self.opened[:-1]:
            around.is_hopeless = True

    def settle(self, one: _Open) -> None:
        """Report what is wrong with the own text of a closed or abandoned annotation."""
        if not one.is_hopeless:
            self.mistakes.extend(one.mistakes)

    def end(self, closer: Closer) -> None:
        index = self.match(closer)
        if index is None:
            return
        one = self.opened.pop(index)
        outer = self.around(index)
        if one.is_sound:
            try:
                if one.kind == _DATA:
                    self.kept.append(data_block(one.opener, closer))
                else:
                    (outer.inner if outer else self.blocks).extend(self.found(one, closer))
            except AnnotuneError as error:
                one.mistakes.extend(error.diagnostics)
                if any(one.code == UNSUPPORTED_TRANSFORM.code for one in error.diagnostics):
                    for around in self.opened:
                        around.is_hopeless = True
        self.settle(one)

    def found(self, one: _Open, closer: Closer) -> list[AnnotationBlock]:
        """Return the regions of an annotation that is closed now."""
        if one.inner and one.kind not in (_CHILL, _LOOP):
            if one.kind == _PERF_TUNING:
                return self.widened(one, closer)
            why = _IGNORED[one.kind]
            note = IGNORED_BLOCK.at(one.opener.span, name=one.opener.name, why=why)
            blocks = self.widened(one, closer)
            return [
                replace(block, spec=replace(block.spec, notes=(note, *block.spec.notes)))
                for block in blocks
            ]
        if one.has_inner:
            return []
        if one.kind in _IGNORED:
            raise AnnotuneError.of(UNSUPPORTED_BLOCK.at(one.opener.span, name=one.opener.name))
        return [self.region(one, closer)]

    def match(self, closer: Closer) -> int | None:
        """Return which open annotation `closer` closes; None when it closes none."""
        wanted = closer.name.lower()
        if not self.opened:
            self.mistakes.append(END_WITHOUT_BEGIN.at(closer.span))
            return None
        inner = self.opened[-1].opener
        if not wanted or inner.name.lower() == wanted:
            return len(self.opened) - 1
        names = [one.opener.name.lower() for one in self.opened]
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

    def region(self, one: _Open, closer: Closer) -> AnnotationBlock:
        """Return the region between an opener and its closer; raises where its parts clash."""
        opener, span = one.opener, one.frame.span
        places = (opener.start, opener.end, closer.start, closer.end)
        spec = with_recipe(replace(one.tuning.spec, span=span), one.recipe)
        loop_text, c_text = None, ""
        if one.kind == _LOOP:
            from annotune.annotation.orio.loop import loop_body

            text = self.text[opener.end : closer.start]
            body = loop_body(opener, text, opener.end, spec, one.tuning.lets)
            spec, loop_text, c_text = body.spec, body.loop_text, body.c_text
        return AnnotationBlock(
            opener.start,
            closer.end,
            opener.end,
            closer.start,
            spec,
            span,
            loop_text,
            c_text,
            places,
            places,
        )

    def widened(self, one: _Open, closer: Closer) -> list[AnnotationBlock]:
        """Return the regions in an outer annotation; a single one takes it in when alone."""
        frame = (one.opener.start, one.opener.end, closer.start, closer.end)
        inner = [replace(block, frame=frame) for block in one.inner]
        if len(inner) > 1:
            return inner
        block = inner[0]
        around = self.text[one.opener.end : block.start] + self.text[block.end : closer.start]
        plain = re.sub(r"/\*.*?\*/|//[^\n]*", "", around, flags=re.DOTALL)
        if plain.strip():
            return inner
        return [replace(block, start=one.opener.start, end=closer.end)]


def _modules() -> Mapping[str, str]:
    """Return the annotation modules of other packages, by their names in small letters."""
    return {name.lower(): name for name in plugins.names(plugins.MODULES)}


def _recipe_of(opener: Opener) -> str:
    """Return the recipe that a module of another package makes of an annotation's text.

    Raises:
        AnnotuneError: The module refuses the text, by a ValueError.
    """
    make = plugins.loaded(plugins.MODULES)[_modules()[opener.name.lower()]]
    try:
        return str(make(opener.text))
    except ValueError as error:
        raise AnnotuneError.of(BAD_MODULE.at(opener.span, name=opener.name, why=error)) from error


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
            mistakes.append(declared_twice(param.name, param.span, first.span))
    if mistakes:
        raise AnnotuneError.of(*mistakes)
    params = (*spec.performance_params, *recipe.performance_params)
    return replace(spec, performance_params=params, commands=recipe.commands)
