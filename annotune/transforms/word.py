"""How a transform says which command of a recipe it is, and what its fields are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from enum import StrEnum
from typing import Any

from annotune.annotation.commands import Kind, Slot

THESIS = "Rivera 2014, Table 3.1"
CHILL = "CHiLL, as in Orio's examples"
TALK = "PNNL, Deep Dive into GPU Programming"
CUDA_GUIDE = "CUDA C++ Programming Guide"
KIM_2018 = "Kim et al. 2018, 4"
KIM_2019 = "Kim et al. 2019, 3"


@dataclass(frozen=True, slots=True)
class Word:
    """A command: its name, what it does in a few words, an example, and where it comes from.

    `slots` are the fields that it takes, in its order, all of them where none is named; `places`
    those of a mapping. `also` are arguments that stand for a command of their own on the same
    statement. A recipe that leaves something to the rules cannot say a word that is `exact`.
    """

    name: str
    meaning: str
    example: str
    source: str
    slots: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=dict, hash=False)
    extra: tuple[Slot, ...] = ()
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Argument:
    """What a field is in a command: its slot, the words for its values, and whether only a recipe
    that says all takes it."""

    slot: Slot
    words: Mapping[str, StrEnum] = field(default_factory=dict)
    exact: bool = False


def takes(
    kind: Kind,
    default: Any = MISSING,
    *,
    name: str = "",
    by_name: bool = False,
    repeated: int = 0,
    most: int = 0,
    shares: bool = False,
    words: Mapping[str, StrEnum] | None = None,
    exact: bool = False,
    required: bool = False,
) -> Any:
    """Return a field of a transform that is an argument of its command, `name` if not its own.

    It is Any, as what `dataclasses.field` returns is to a reader of types.
    """
    required = required or default is MISSING
    slot = Slot(name, kind, required, repeated, most, by_name, shares)
    return field(default=default, metadata={"argument": Argument(slot, words or {}, exact)})
