"""What a recipe asks of a strategy as a whole, which then says the transforms."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from annotune.annotation.commands import TARGET, Kind
from annotune.diagnostics import NOWHERE, Span
from annotune.transforms.transform import OnStatement
from annotune.transforms.word import CHILL, CUDA_GUIDE, KIM_2019, Word, takes


@dataclass(frozen=True, slots=True)
class Contract(OnStatement):
    """A two-level tile of a contraction: the loops by role, with the lengths of their tiles.

    `assign` has a word for x, or one for x and one for y, where one loop is split among threads and
    registers; `stage` names the inputs that pass through shared memory, None for both.
    """

    word: ClassVar[Word] = Word(
        "contract",
        "compute a tile of a contraction's output per block, a part of it in registers",
        'contract(0, thread={"h3","p5"}, register={"h2","p4"}, sum="h7", '
        "thread_x=16, thread_y=8, register_x=8, register_y=8, step=16)",
        KIM_2019,
    )
    thread: tuple[str, ...] = takes(Kind.LOOPS, most=2, by_name=True)
    register: tuple[str, ...] = takes(Kind.LOOPS, most=2, by_name=True, shares=True)
    sum: str = takes(Kind.LOOP, by_name=True)
    thread_x: int = takes(Kind.COUNT, by_name=True)
    thread_y: int = takes(Kind.COUNT, by_name=True)
    register_x: int = takes(Kind.COUNT, by_name=True)
    register_y: int = takes(Kind.COUNT, by_name=True)
    step: int = takes(Kind.COUNT, by_name=True)
    assign: tuple[str, ...] = takes(Kind.NAMES, (), by_name=True, most=2)
    stage: tuple[str, ...] | None = takes(Kind.NAMES, None, by_name=True, most=2)


@dataclass(frozen=True, slots=True)
class Vectors(OnStatement):
    """Copies of `copied` neighbours at once, and a layout in which `read` are read together.

    0 leaves it to the rules.
    """

    word: ClassVar[Word] = Word(
        "vectors",
        "copy neighbours at once, and lay out the copies so that neighbours are read at once",
        "vectors(0, copied=2)",
        CUDA_GUIDE,
    )
    copied: int = takes(Kind.COUNT, 0, by_name=True)
    read: int = takes(Kind.COUNT, 0, by_name=True)


@dataclass(frozen=True, slots=True)
class Stated(OnStatement):
    """CHiLL's statement of what a nest is, which changes nothing."""

    word: ClassVar[Word] = Word(
        "stm",
        "state the statement's loops and output; changes nothing",
        'stm(0, ("i","j"), "c")',
        CHILL,
    )
    loops: tuple[str, ...] = takes(Kind.LOOPS)
    output: str = takes(Kind.NAME)


class Serves(StrEnum):
    """The sizes that steps are for: the tuned ones, all others, or the listed values of some."""

    TUNED = "tuned"
    OTHERS = "others"
    LISTED = "listed"


@dataclass(frozen=True, slots=True)
class ForTarget:
    """What follows is all that is done for one target, `sizes` such as ``n=8, m=4`` its sizes."""

    word: ClassVar[Word] = Word(
        TARGET,
        "what follows says all that is done for this target; nothing is left to the rules",
        'target("openmp")',
        "annotune",
    )
    name: str = takes(Kind.NAME)
    sizes: str = takes(Kind.TEXT, "", by_name=True)
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What follows is for sizes that are not the tuned ones: all others, or the listed of some."""

    word: ClassVar[Word] = Word(
        "elsewhere",
        'what follows is for all other sizes, or for the "listed" values of some of them',
        "elsewhere()",
        "annotune",
        exact=True,
    )
    sizes: Serves = takes(
        Kind.NAME,
        Serves.OTHERS,
        words={"others": Serves.OTHERS, "listed": Serves.LISTED},
    )
    span: Span = field(default=NOWHERE, compare=False)
