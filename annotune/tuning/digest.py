"""The hash of a region: of its text as it was read, and what else of the source decides its code.

White space, comments, and what the file holds elsewhere are no part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from annotune.diagnostics import Span
from annotune.ir.region import Extent, Region, Surroundings

# Of the annotation what shapes code or the commands that compile it; the rest speaks of searches,
# or of sizes, which are the region's.
_OF_SPEC = ("build", "commands", "wishes", "input_vars", "assumptions")
# The annotation, of which some counts, and what a program has recorded of a region's calls.
_OTHERWISE = ("spec", "recorded")
# The file's other macros only keep generated names from being one of them.
_NAMES_ALONE = ("macros",)


def digest(region: Region) -> str:
    """Return the SHA-256 of a region as the front end made it, in hexadecimal digits."""
    found = hashlib.sha256()
    own = {f.name: getattr(region, f.name) for f in fields(region) if f.name not in _OTHERWISE}
    own["sizes"] = own_sizes(region, region.sizes)
    own["other_sizes"] = tuple(own_sizes(region, sizes) for sizes in region.other_sizes)
    spec = {name: getattr(region.spec, name) for name in _OF_SPEC}
    for part in _parts({**own, "spec": spec}):
        found.update(part.encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def own_sizes(region: Region, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return those of `sizes` that a region has; ``--set`` gives each region all of them."""
    return {name: value for name, value in sizes.items() if name in region.scalars}


def _parts(value: object) -> Iterator[str]:
    """Yield a value's text in parts: that of equal values is equal, in any process."""
    match value:
        case Span() | Extent():
            return
        case Mapping():
            yield "{"
            for key, one in value.items():
                yield f"{key!r}:"
                yield from _parts(one)
            yield "}"
        case frozenset():
            yield from sorted("".join(_parts(one)) for one in value)
        case tuple() | list():
            yield "("
            for one in value:
                yield from _parts(one)
                yield ","
            yield ")"
        case _ if is_dataclass(value):
            yield f"{type(value).__name__}("
            hidden = _NAMES_ALONE if isinstance(value, Surroundings) else ()
            for one in fields(value):
                if one.compare and one.name not in hidden:
                    yield from _parts(getattr(value, one.name))
                    yield ","
            yield ")"
        case _:
            yield repr(value)
