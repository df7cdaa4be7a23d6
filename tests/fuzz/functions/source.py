"""A C file of whole functions, how each of them is called, and its form on disk."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path

HARNESS = "/* harness */\n"
_REALS = re.compile(r"\b\d+\.\d+")
_HEAD = re.compile(r"/\* functions (\{.*\}) \*/\n")


@dataclass(frozen=True)
class Slot:
    """One argument of a call: a ``value``, or the address of an ``array``, of a C type."""

    name: str
    kind: str
    type: str


@dataclass(frozen=True)
class Fill:
    """What an array holds before a call.

    `style` is one of `child.STYLES`. `same` names the array whose memory this one shares, from
    `offset` elements on; `is_null` gives no memory at all.
    """

    style: str = "small"
    salt: int = 0
    is_null: bool = False
    same: str = ""
    offset: int = 0


@dataclass(frozen=True)
class Call:
    """The arguments of one call: numbers as Python writes them, and what arrays hold."""

    values: Mapping[str, str]
    arrays: Mapping[str, Fill]


@dataclass(frozen=True)
class Entry:
    """One function of the file and its calls."""

    function: str
    slots: tuple[Slot, ...]
    calls: tuple[Call, ...]


_EITHER_ZERO = re.compile(r"\b(fmaxf?|fminf?)\s*\(")


@dataclass(frozen=True)
class Source:
    """A C file, what calls it, and what is known of it.

    `harness` is C that stands behind the text: ``NAME_call(function, arguments)`` calls a function,
    ``NAME_extent(function, slot, arguments)`` says how many elements C declares an array to have,
    0 where it does not, ``NAME_row`` how many come together, and ``NAME_object(k)`` is the address
    of the k-th of `objects`, each with a type and a count. `own` are names at file scope that other
    files may have too. `features` are words for what stands in it. `sums` says that real numbers
    are summed or multiplied in an order that annotune may change, `discrete` that real numbers
    decide or become integers. `fault` is what was wrong with a file that was kept, and `point` the
    seed of the point at which it was.
    """

    name: str
    text: str
    harness: str
    entries: tuple[Entry, ...]
    headers: Mapping[str, str] = field(default_factory=dict)
    objects: tuple[tuple[str, str, int], ...] = ()
    own: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    sums: bool = True
    discrete: bool = True
    point: int | None = None
    fault: str = ""

    def whole(self) -> str:
        """Return the file with all that `read` needs."""
        value = asdict(replace(self, text="", harness=""))
        return f"/* functions {json.dumps(value)} */\n{self.text}{HARNESS}{self.harness}"

    @property
    def leaves_zeros_open(self) -> bool:
        """Return whether a function of C's library is called that may return either of two zeros.

        C17 F.10.9.2 leaves to ``fmax`` and ``fmin`` which one; gcc even swaps their arguments.
        """
        return bool(set(_EITHER_ZERO.findall(self.text)) - set(self.own))

    @property
    def rounds(self) -> bool:
        """Return whether a constant stands in the text of which a double holds only a part."""
        return any(Fraction(word) != Fraction(float(word)) for word in _REALS.findall(self.text))

    @property
    def tolerance(self) -> float:
        """Return how far sums in another order may be apart, relative to the largest.

        What a float has summed may be left in a double.
        """
        return 1e-3 if re.search(r"\bfloat\b", self.text) else 1e-8

    def with_text(self, text: str) -> Source:
        return replace(self, text=text)


def read(text: str) -> Source:
    """Return the source that `Source.whole` wrote."""
    found = _HEAD.match(text)
    assert found is not None
    value = json.loads(found[1])
    entries = tuple(
        Entry(
            one["function"],
            tuple(Slot(**slot) for slot in one["slots"]),
            tuple(
                Call(c["values"], {k: Fill(**f) for k, f in c["arrays"].items()})
                for c in one["calls"]
            ),
        )
        for one in value.pop("entries")
    )
    body, _, harness = text[found.end() :].partition(HARNESS)
    value |= {"text": body, "harness": harness, "entries": entries}
    value["objects"] = tuple(tuple(one) for one in value["objects"])
    for name in ("own", "features"):
        value[name] = tuple(value[name])
    return Source(**value)


def is_functions(text: str) -> bool:
    return _HEAD.match(text) is not None


def placed(source: Source, folder: Path) -> Path:
    """Write a source and its headers to a folder and return the C file."""
    for name, text in source.headers.items():
        (folder / name).write_text(text)
    path = folder / f"{source.name}.c"
    path.write_text(source.text)
    return path
