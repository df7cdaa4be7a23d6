"""A ``begin Loop ( … )`` and the C after it, to one region with one text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from annotune.annotation.c_declarations import c_tokens
from annotune.annotation.evaluate import free_names
from annotune.annotation.flags import placed_names
from annotune.annotation.loop_text import LoopText, loop_iterators, read_loop_text
from annotune.annotation.messages import (
    NO_LOOPS,
    TEXTS_DIFFER,
    TEXTS_DIFFER_HERE,
    UNSEARCHED,
)
from annotune.annotation.origin import place
from annotune.annotation.scan import Opener
from annotune.annotation.spec import Formula, Spec, Value
from annotune.annotation.transforms import wishes_of
from annotune.diagnostics import AnnotuneError, Diagnostic


@dataclass(frozen=True, slots=True)
class LoopBody:
    """Where a Loop region's C stands, and what its transformations add to the Spec.

    `loop_text` holds the offsets of C that stands in the annotation alone; None where C
    stands after it. `c_text` is that C with the transformations blanked, of the same length.
    """

    spec: Spec
    loop_text: tuple[int, int] | None
    c_text: str


def loop_body(
    opener: Opener, body: str, body_start: int, spec: Spec, lets: Mapping[str, Value]
) -> LoopBody:
    """Return the region of a Loop annotation with the C `body` after it.

    Where both hold loops, those after the annotation are the program: a C compiler sees no
    others. A difference is warned about.

    Raises:
        AnnotuneError: A transformation is unknown, unsupported or malformed, or there is no
            loop anywhere.
    """
    text = read_loop_text(opener.text, opener.origin)
    in_body = [(token.text, token.start) for token in c_tokens(body)]
    if not text.has_loops and not in_body:
        raise AnnotuneError.of(NO_LOOPS.at(opener.span, name=opener.name))
    iterators = loop_iterators(body if in_body else text.c_text)
    values: dict[str, tuple[Value, ...]] = {name: (value,) for name, value in lets.items()}
    params = (*spec.input_params, *spec.performance_params)
    values |= {param.name: param.values for param in params}
    found = wishes_of(text.transformations, iterators, values)
    notes = list({note.message: note for note in reversed(found.notes)}.values())
    if in_body and text.has_loops:
        notes += _difference(opener, text, in_body, body_start)
    spec = replace(spec, wishes=tuple(found.wishes))
    spec, unused = searched(spec, found.used)
    notes = sorted([*spec.notes, *notes, *unused], key=lambda note: note.span)
    spec = replace(spec, notes=tuple(notes))
    if in_body:
        return LoopBody(spec, None, "")
    start = opener.origin.offset(0)
    return LoopBody(spec, (start, start + len(opener.text)), text.c_text)


def _difference(
    opener: Opener, text: LoopText, in_body: list[tuple[str, int]], body_start: int
) -> list[Diagnostic]:
    """Return the warning that the loops in the annotation are not those after it."""
    in_text = [(token.text, token.start) for token in c_tokens(text.c_text)]
    if [one for one, _ in in_text] == [one for one, _ in in_body]:
        return []
    pairs = zip(in_text, in_body, strict=False)
    first = next((k for k, (a, b) in enumerate(pairs) if a[0] != b[0]), None)
    at = min(len(in_text), len(in_body)) - 1 if first is None else first
    word, start = in_body[at]
    source = opener.origin
    span = place(source.file, source.source, body_start + start, body_start + start + len(word))
    here = in_text[at]
    note = TEXTS_DIFFER_HERE.at(source.span(here[1], here[1] + len(here[0])))
    return [TEXTS_DIFFER.at(span).with_note(note)]


def searched(spec: Spec, in_wishes: Collection[str]) -> tuple[Spec, tuple[Diagnostic, ...]]:
    """Return `spec` with the axes of the search, and a note on parameters that change nothing.

    The values of a parameter `in_wishes` stand there; as an axis it would multiply the search
    with those of all others. A constraint that names a parameter which is no axis goes too:
    it rules out points of Orio's code, not of ours.
    """
    axes = {*placed_names(spec), *_command_names(spec)}
    kept = tuple(param for param in spec.performance_params if param.name in axes)
    gone = {param.name for param in spec.performance_params} - axes
    if not gone:
        return spec, ()
    constraints = tuple(one for one in spec.constraints if not gone & set(free_names(one.formula)))
    left = [p for p in spec.performance_params if p.name in gone and p.name not in in_wishes]
    spec = replace(spec, performance_params=kept, constraints=constraints)
    if not left:
        return spec, ()
    names = "', '".join(param.name for param in left)
    return spec, (UNSEARCHED.at(left[0].span, names=names),)


def _command_names(spec: Spec) -> set[str]:
    found: set[str] = set()
    for command in spec.commands:
        for argument in command.arguments:
            value = argument.value
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, Formula):
                    found |= set(free_names(item))
    return found
