"""What the file around a region says of names: which of ours it leaves free."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from annotune.frontend.clean import Clean, Range
from annotune.frontend.filescope import Declaration, File
from annotune.frontend.macro_texts import texts_read
from annotune.frontend.names import Names
from annotune.frontend.open_macros import in_force
from annotune.frontend.preprocess import without_comments
from annotune.frontend.region_finder import Function
from annotune.frontend.source import Source
from annotune.ir.region import Redefined, Surroundings


def surroundings(names: Names, function: Function, index: int, place: Range) -> Surroundings:
    """Return what the file says of names to region `index` of a function, at `place`."""
    file = names.file
    start = file.tokens.starts[function.part.first]
    return Surroundings(
        _label(file, function, index),
        frozenset(file.clean.macros),
        tuple(_redefined(file.clean, start, place[0])),
        texts_read(names, function, *place),
        tuple(_redefined(file.clean, len(file.source.text), place[0])),
        "register" in file.words(function.part),
    )


def _label(file: File, function: Function, index: int) -> str:
    """Return what begins the names of a region's kernels and functions.

    Other files may have a static function of this name, and a region in it: the file's name
    tells the two apart. A name that the file has already is ours with ``own_`` before it.
    """
    part = function.part
    stem = re.sub(r"\W", "_", PurePath(file.source.path).stem, flags=re.ASCII)
    own = f"{part.function}_in_{stem}" if _is_static(file, function) else part.function
    first, last = file.tokens.starts[part.first], file.tokens.ends[part.last]
    inside = without_comments(Source(file.source.path, file.source.text[first:last]))
    while _has(file, inside, own, index) or (
        own != part.function and file.definition(own) is not None
    ):
        own = f"own_{own}"
    return f"{own}_{index}"


def _has(file: File, inside: str, function: str, index: int) -> bool:
    """Return whether a name that a region of `function` would have means something already.

    A file may call the entry by itself. What is called so in the text `inside` of the function
    would hide it, and so would a macro.
    """
    label = f"{function}_{index}"
    entry = f"annotune_{label}"
    spelled = file.spelled
    return (
        any(spelled.beginning(f"{entry}_"))
        or any(re.match(r"\d", word[len(label) + 2 :]) for word in spelled.beginning(f"{label}_s"))
        or entry in spelled.uncalled
        or re.search(rf"\b{entry}\b", inside) is not None
        or entry in file.clean.macros
        or file.definition(entry) is not None
    )


def _is_static(file: File, function: Function) -> bool:
    """Return whether other files may define a function of this name for themselves."""
    declared = function.tree.decl
    if {"static", "inline"} & {*declared.storage, *declared.funcspec}:
        return True
    here = Declaration(file, function.part, (file.tokens.starts[function.part.first],), None)
    earlier = file.declarations_of(function.part.function, here)
    return any("static" in found.file.words(found.part) for found in earlier)


def _redefined(clean: Clean, start: int, region_start: int) -> Iterator[Redefined]:
    """Yield the names that a text at `start` must be given to see them as at `region_start`."""
    for name in sorted(clean.macros):
        (_, before), (_, here) = (in_force(clean, name, at) for at in (start, region_start))
        if before != here:
            yield Redefined(name, None if here is None else f"{here.use} {here.body}".rstrip())
