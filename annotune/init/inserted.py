"""Annotations put around the nests of a C text, or said of them in a sidecar, and checked there.

All else of the text stays as it is, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from annotune.annotation.expressions import literal
from annotune.annotation.sidecar import load_sidecar
from annotune.diagnostics import Span
from annotune.frontend.read.tokens import Replacement, SourceText, splice
from annotune.init.survey import FoundNest, judged
from annotune.pipeline import Settings, check

ASSUMED = "assumed by annotune init: put the size of your own runs"
_CLOSER = "/*@ end @*/"
# What may stand behind a nest on its last line and stay there: a comment that is no annotation.
_REST = re.compile(r"[ \t]*(?://[^\n]*|/\*(?!@)(?:(?!\*/)[^\n])*\*/)?[ \t]*\r?\Z")


def opener_lines(nest: FoundNest) -> tuple[str, ...]:
    """Return the annotation that begins before a nest, as lines."""
    sizes, vouched = nest.sizes, tuple(_vouched(nest))
    if not sizes and not vouched:
        return ("/*@ begin PerfTuning () @*/",)
    lines = ["/*@ begin PerfTuning ("]
    given = " ".join(f"param {one.name} = {one.value};" for one in sizes)
    if sizes and not any(one.is_assumed for one in sizes):
        lines.append(f"  def input_params {{ {given} }}")
    elif sizes:
        lines.append("  def input_params {")
        for one in sizes:
            mark = f"  # {ASSUMED}" if one.is_assumed else ""
            lines.append(f"    param {one.name} = {one.value};{mark}")
        lines.append("  }")
    if vouched:
        lines.append(f"  def assume {{ {' '.join(vouched)} }}")
    return (*lines, ") @*/")


def _vouched(nest: FoundNest) -> Iterator[str]:
    """Yield what the user has vouched for, as arguments of ``def assume``."""
    assumed = nest.assumptions
    if assumed.disjoint:
        yield "arg disjoint = True;"
    if assumed.strides:
        yield "arg strides = True;"
    if assumed.extents:
        texts = [name + "".join(f"[{e}]" for e in each) for name, each in assumed.extents.items()]
        yield f"arg extent = [{', '.join(map(literal, texts))}];"


def annotated(text: str, nests: Sequence[FoundNest]) -> tuple[str, tuple[int, ...]]:
    """Return a text with annotations around nests, in text order, and where each begins in it."""
    source = SourceText("", text)
    pieces = [piece for nest in nests for piece in _pieces(source, nest)]
    made = splice(text, pieces)
    starts: list[int] = []
    for number in range(len(nests)):
        # What stands before an opener is the text with the annotations before it.
        before = splice(text[: pieces[2 * number][0]], pieces[: 2 * number])
        starts.append(made.index("/*@", len(before)))
    return made, tuple(starts)


def _pieces(source: SourceText, nest: FoundNest) -> tuple[Replacement, Replacement]:
    """Return what is put before a nest and behind it: lines of their own, where it has its own."""
    text, lines = source.text, opener_lines(nest)
    line = source.line_start(nest.start)
    before, indent = text[line : nest.start], source.indent(nest.start)
    if before.strip(" \t"):
        opener = (nest.start, nest.start, f"\n{indent}".join(lines) + " ")
    else:
        opener = (line, line, "".join(f"{before}{one}\n" for one in lines))
    end = text.find("\n", nest.end)
    if end < 0 or not _REST.match(text[nest.end : end]) or text[end - 1] == "\\":
        return opener, (nest.end, nest.end, f" {_CLOSER}")
    return opener, (end + 1, end + 1, f"{indent}{_CLOSER}\n")


def sidecar_text(source: str, nests: Sequence[FoundNest]) -> str:
    """Return the nests' annotations in YAML, for a source that is to stay as it is."""
    lines = [f"file: {_quoted(source)}", "regions:"]
    for nest in nests:
        place = nest.loops[0]
        lines += [f"  - function: {place.function}", f"    loop: {place.iterator}"]
        if place.occurrence > 1:
            lines.append(f"    occurrence: {place.occurrence}")
        if nest.sizes:
            lines.append("    input_params:")
        for one in nest.sizes:
            mark = f"  # {ASSUMED}" if one.is_assumed else ""
            lines.append(f"      {one.name}: {one.value}{mark}")
        lines += _sidecar_assumptions(nest)
    return "\n".join(lines) + "\n"


def _sidecar_assumptions(nest: FoundNest) -> Iterator[str]:
    assumed = nest.assumptions
    said = {"disjoint": assumed.disjoint, "strides": assumed.strides}
    extents = [f"{name}{''.join(f'[{e}]' for e in es)}" for name, es in assumed.extents.items()]
    if any(said.values()) or extents:
        yield "    assume:"
    yield from (f"      {name}: true" for name, is_said in said.items() if is_said)
    if extents:
        yield f"      extent: [{', '.join(map(_quoted, extents))}]"


def _quoted(text: str) -> str:
    """Return a text as YAML reads it back, whatever it holds."""
    return "'" + text.replace("'", "''") + "'"


def checked(settings: Settings, text: str, nests: Sequence[FoundNest]) -> tuple[FoundNest, ...]:
    """Return nests as `check` finds them in the text with their annotations."""
    made, starts = annotated(text, nests)
    source = SourceText(str(settings.source), made)
    places = [source.span(at, made.index("*/", at) + len("*/")) for at in starts]
    return _judged(nests, replace(settings, given=made), places)


def checked_sidecar(
    settings: Settings, text: str, nests: Sequence[FoundNest]
) -> tuple[FoundNest, ...]:
    """Return nests as `check` finds them in the text that stays as it is, with a sidecar."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sidecar.yaml"
        path.write_text(sidecar_text(settings.source.name, nests), encoding="utf-8")
        places = [entry.span for entry in load_sidecar(path)]
        return _judged(nests, replace(settings, given=text, sidecar=path), places)


def _judged(
    nests: Sequence[FoundNest], settings: Settings, places: Sequence[Span]
) -> tuple[FoundNest, ...]:
    report = check(replace(settings, sizes={}, function=""))
    return tuple(judged(nest, report, at) for nest, at in zip(nests, places, strict=True))
