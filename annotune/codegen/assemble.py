"""A user's file with its regions replaced: what the targets that stay in C hand back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from annotune.codegen.aliases import declared
from annotune.codegen.code import RegionCode
from annotune.codegen.target import Provenance
from annotune.frontend.splice import splice
from annotune.ir.region import Condition, SourceFile


def assembled(source: SourceFile, codes: Sequence[RegionCode], provenance: Provenance) -> str:
    """Return the user's text with each region replaced, all other bytes unchanged.

    A helper stands directly before the function that encloses its region. The provenance
    opens the first replaced region, since nothing outside the regions may change.
    """
    edits: list[tuple[int, int, str]] = []
    for k, (region, code) in enumerate(zip(source.regions, codes, strict=True)):
        place = region.extent
        if code.helper:
            edits.append((place.function_start, place.function_start, code.helper + "\n"))
        body = checked_conditions((*region.conditions, *code.conditions)) + declared(
            code.body, region
        )
        body = provenance.comment() + body if k == 0 else body
        edits.append((place.start, place.end, indented(body, place.indent)))
    return splice(source.text, edits)


def checked_conditions(conditions: Iterable[Condition]) -> str:
    """Return directives that stop a compiler for which an ``#if`` means another text.

    An empty line first: a directive has a line of its own, whatever stands before the region.
    """
    out: list[str] = []
    for one in dict.fromkeys(conditions):
        said = f"{one.text} is {'true' if one.holds else 'false'}"
        # An unpaired quote would be a warning.
        quoted = re.sub(r"[\"'\\]", "`", said)
        out.append(f"\n#if {'!' if one.holds else ''}({one.text})")
        out.append(f'\n#error "annotune read this region where {quoted}"\n#endif')
    return "".join([*out, "\n"]) if out else ""


def indented(text: str, margin: str) -> str:
    """Return `text` with `margin` before every line but the first, and no newline at its end.

    The first line begins where the annotation did, behind the user's own white space.
    Preprocessor lines keep column one.
    """
    first, *rest = text.rstrip("\n").split("\n")
    rows = [line if not line or line.startswith("#") else margin + line for line in rest]
    return "\n".join([first, *rows])
