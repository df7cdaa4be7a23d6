"""Plain names in emitted text, where the user's C spells a value otherwise: ``*n``, ``p->nx``.

The nest and all that is printed from it use the plain names; what is put in the place of a
region declares them first. The harness passes them as parameters instead. So it is with
``register`` variables, whose address C does not give.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotune.codegen.names import spelled, words
from annotune.codegen.renaming import fresh
from annotune.codegen.writer import Writer
from annotune.frontend.splice import Replacement, splice
from annotune.ir.region import Region, Scalar


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
    registers = [s for s in region.scalars.values() if s.is_register and _is_addressed(code, s)]
    for scalar in registers:
        code = _in_memory(code, scalar, region)
    wanted = [alias for alias in region.aliases if alias.name in used]
    if not wanted:
        return code
    out = Writer()
    with out.block(""):
        for alias in wanted:
            out.line(alias.declaration)
        out.lines(code)
    return out.text()


# An OpenACC directive with the lines that it goes on over.
_DIRECTIVE = re.compile(r"#pragma acc(?:\\\n|.)*")


def _is_addressed(code: str, scalar: Scalar) -> bool:
    """Return whether a text needs a variable's address, in a call or in a data clause."""
    if scalar.is_local:
        return False
    return f"&{scalar.name}" in code or any(
        scalar.name in words(directive) for directive in _DIRECTIVE.findall(code)
    )


def _in_memory(code: str, scalar: Scalar, region: Region) -> str:
    """Return a block in which a register variable is one with an address.

    ``{ T p_kept = p; { T p = p_kept; CODE p_kept = p; } p = p_kept; }``
    """
    kept = fresh(f"{scalar.name}_kept", region.taken | words(code))
    name, type_ = scalar.name, spelled(scalar.type)
    out = Writer()
    with out.block(""):
        out.line(f"{type_} {kept} = {name};")
        with out.block(""):
            out.line(f"{type_} {name} = {kept};")
            out.lines(code)
            out.line(f"{kept} = {name};")
        out.line(f"{name} = {kept};")
    return out.text()
