"""Plain names in emitted text, where the user's C spells a value otherwise: ``*n``, ``p->nx``.

The nest and all that is printed from it use the plain names; what is put in the place of a
region declares them first. The harness passes them as parameters instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotune.codegen.names import words
from annotune.codegen.writer import Writer
from annotune.frontend.splice import Replacement, splice
from annotune.ir.region import Region


def body_text(text: str, region: Region, edits: Sequence[Replacement] = ()) -> str:
    """Return the user's own text between the annotations in plain names.

    `edits` are further changes, with offsets in the whole file's `text`.
    """
    place = region.extent
    plain = [(s.start, s.end, s.name) for s in region.spellings]
    new = splice(text, [*edits, *plain])
    return new[place.body_start : place.body_end + len(new) - len(text)]


def declared(code: str, region: Region) -> str:
    """Return a block that replaces a region, with the plain names that it uses declared."""
    used = words(code)
    wanted = [alias for alias in region.aliases if alias.name in used]
    if not wanted:
        return code
    out = Writer()
    with out.block(""):
        for alias in wanted:
            out.line(alias.declaration)
        out.lines(code)
    return out.text()
