"""What every transform is, and what it may know of the region that it changes.

A frozen value that says why not and then returns a new body. It says itself which command of a
recipe it is, and what its fields are there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, field
from enum import IntEnum, StrEnum
from functools import cached_property, wraps
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar, TypeVarTuple, cast

from annotune.analysis.facts import Analysis
from annotune.annotation.commands import Kind, Slot
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.expr import Expr
from annotune.ir.fold import fold
from annotune.ir.nest import CachedSection, Level, MemorySpace
from annotune.transforms.tree import Body

THESIS = "Rivera 2014, Table 3.1"
CHILL = "CHiLL, as in Orio's examples"
TALK = "PNNL, Deep Dive into GPU Programming"
CUDA_GUIDE = "CUDA C++ Programming Guide"
KIM_2018 = "Kim et al. 2018, 4"
KIM_2019 = "Kim et al. 2019, 3"

Answers: TypeAlias = dict[tuple[object, ...], object]
"""What has been found out of something, by the question and what it is about."""


class Answering(Protocol):
    """What keeps the answers about itself."""

    @property
    def answers(self) -> Answers: ...


K = TypeVar("K", bound=Answering)
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def asked_once(about: Callable[[K, *Ts], T]) -> Callable[[K, *Ts], T]:
    """Return a function whose answers are kept with the unit, or the context, that it is about.

    A space asks the same of a nest for thousands of its points.
    """

    @wraps(about)
    def answer(one: K, *of: *Ts) -> T:
        known = one.answers
        key = (about, *of)
        if key not in known:
            known[key] = about(one, *of)
        return cast(T, known[key])

    return answer


class Subject(StrEnum):
    """What a command speaks of: its statements as a whole, or a loop or an array of them."""

    STATEMENT = "statement"
    LOOP = "loop"
    ARRAY = "array"


@dataclass(frozen=True, slots=True)
class Word:
    """A command: its name, what it does in a few words, an example, and where it comes from.

    `slots` are the fields that it takes, in its order, all of them where none is named; `places`
    those of a mapping. `also` are arguments that stand for a command of their own on the same
    statement. A recipe that leaves something to the rules cannot say a word that is `exact`.
    `old` is what earlier recipes say for it. What the command `names` tells it from others on the
    same statements. One that is `kept` stands in a printed recipe as the user wrote it, unless the
    choices come to the same command; others follow from the choices.
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
    old: str = ""
    names: Subject = Subject.STATEMENT
    kept: bool = True


@dataclass(frozen=True, slots=True)
class ArgumentForm:
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
    return field(default=default, metadata={"argument": ArgumentForm(slot, words or {}, exact)})


@dataclass(frozen=True)
class Context:
    """A region's analysis, and the `sizes` that hold wherever what is made of the region runs.

    Those are sizes that C fixes, and the tuned ones where a plan is for these alone. Where
    `is_whole`, emitted text sees to it before such a plan that all is there which its conditions
    may leave out: it tests the ends of arrays (`ends_seen`), or has copies that are whole.
    """

    analysis: Analysis
    sizes: Mapping[str, int] = field(default_factory=dict)
    is_whole: bool = False

    @cached_property
    def answers(self) -> Answers:
        return {}

    def folded(self, expr: Expr) -> Expr:
        """Return an expression with the sizes put in."""
        return fold(expr, self.sizes)

    @property
    def tuned(self) -> Mapping[str, int]:
        """Return the sizes that the region is tuned for, which need not hold."""
        return self.analysis.region.sizes

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that nothing new may have."""
        return self.analysis.region.names

    @cached_property
    def types(self) -> Mapping[str, str]:
        """Return the C types of the region's names, of an array that of its elements."""
        return self.analysis.region.types

    @cached_property
    def extents(self) -> Mapping[str, Sequence[Expr | None]]:
        """Return the extents of the arrays, which lie flat in memory, outermost first."""
        return {a.name: a.extents for a in self.analysis.region.arrays.values()}


def words_of(made: type[object]) -> tuple[Word, ...]:
    """Return the commands that a class is, none for one that no recipe names."""
    said = (*_tuple(getattr(made, "words", ())), getattr(made, "word", None))
    return tuple(word for word in said if isinstance(word, Word))


def _tuple(value: object) -> tuple[object, ...]:
    # A field of that name in another class is no tuple.
    return value if isinstance(value, tuple) else ()


class StepPhase(IntEnum):
    """When a step of a kernel is done: its nests, the places of its loops, what a worker does."""

    SHAPING = 0
    PLACING = 1
    REGISTERS = 2
    # Statement by statement, from copies to the ends of tiles.
    STATEMENT = 3
    LAST = 4
    # Never: a strategy is asked for it as a whole.
    ASKED = 5

    @property
    def is_inner(self) -> bool:
        """Return whether steps of the phase change what a worker does, not which worker does it."""
        return self > StepPhase.PLACING


# The rank of a step that comes after all others of its phase.
LATE = 99


class PhaseRank(NamedTuple):
    """The place of a class in the order of work: its phase, and its rank there."""

    phase: StepPhase
    rank: int = LATE


class Feature(StrEnum):
    """What the text of a target must have for a step, beside loops, their levels and copies."""

    DEVICE_THREADS = "threads of a device"
    BLOCK_THREADS = "threads that meet in a block"
    CORE_VECTORS = "vectors of a core"
    TILE_ENDS = "ends of tiles"
    GANG_CACHE = "sections that a gang reads again"
    HOST_SUMS = "sums that the host adds"
    HOST_SHARE = "a share that the host computes"
    # No text has it: a strategy is asked as a whole.
    STRATEGY = "a strategy"


Needed: TypeAlias = Level | MemorySpace | str


class AskedOn(StrEnum):
    """The statements that a user's command may name to ask for a step of theirs."""

    STATEMENT = "the step's own"
    NEST = "one of its nest"
    KERNEL = "one of its kernel"


class SchedulePart(StrEnum):
    """The parts of a kernel's schedule in their order; an ablation adds one after the other."""

    GRID = "grid"
    VECTORS = "vectors"
    REGISTERS = "registers"
    STAGING = "staging"
    REGISTER_BLOCK = "register block"
    TILE_ENDS = "tile ends"
    UNROLL = "unroll"
    OTHERS = "others"


class SettingGroup(StrEnum):
    """Where a table has the setting of a step: its kernel's block or movement, or a statement.

    A `COPY` is of a statement, too, where no tile of a contraction settles it.
    """

    BLOCK = "block"
    MOVEMENT = "movement"
    STATEMENT = "statement"
    COPY = "copy"


class StepSetting(NamedTuple):
    """The column of a step in tables and results: its name, and its place in the group."""

    name: str
    group: SettingGroup
    rank: int = LATE


class Described:
    """What a class says of its steps, as it is for most of them.

    `turn` is when they are done. Those of another package may state `is_inner` alone. Where they
    have a `setting`, tables show what each of them is set to. A target must have the `feature`, if
    there is one, to print what they make; without one they leave loops that every target prints.
    What a recipe asks for is taken as it is given, and stands in the recipe of a choice that has
    it, but for steps that the rules make of a command and turn back into it (`is_decided`).
    """

    __slots__ = ()

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING)
    setting: ClassVar[StepSetting | None] = None
    feature: ClassVar[str | None] = None
    is_decided: ClassVar[bool] = False
    schedule_part: ClassVar[SchedulePart | None] = None
    asked_on: ClassVar[AskedOn] = AskedOn.STATEMENT
    # Words of other classes that ask for the step, too.
    asked_with: ClassVar[tuple[str, ...]] = ()

    @property
    def asked_by(self) -> tuple[str, ...]:
        """Return the commands that ask for the step."""
        return (*(word.name for word in words_of(self.__class__)), *self.asked_with)

    @property
    def left_open(self) -> tuple[str, ...]:
        """Return the sizes that other steps may not rely on."""
        return ()

    @property
    def made_loops(self) -> tuple[str, ...]:
        """Return the loops that the step makes, which other commands of a recipe may name."""
        return ()

    @property
    def joined_loops(self) -> tuple[str, ...]:
        """Return the loops of which the step makes one."""
        return ()

    def mistakes(self, body: Body) -> Iterator[Diagnostic]:
        """Yield what is wrong with the step as a recipe states it, before anything is applied."""
        yield from ()

    def cached(self, body: Body, context: Context) -> tuple[CachedSection, ...]:
        """Return the sections of arrays that a gang of the kernel reads again and again."""
        return ()

    @property
    def needs(self) -> Collection[Needed]:
        """Return what a target must print for the step: levels of loops, memories, features."""
        return () if self.feature is None else (self.feature,)

    @property
    def set_to(self) -> str | int:
        """Return the step's value in tables; several texts stand side by side, 0 is left out."""
        return ""

    @property
    def is_inner(self) -> bool:
        """Return whether the step changes what a worker does, not which worker does what."""
        return self.turn.phase.is_inner

    @property
    def awaited(self) -> tuple[str, ...]:
        """Return what others of a kernel wait for: a loop over tiles, `NESTS` or `JOINT`."""
        return ()

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether the step comes after all of its phase, for what a kernel's steps make."""
        return False


# What a step makes that others wait for, by names that no loop has: other nests, and a block that
# statements have in common.
NESTS, JOINT = "(nests)", "(joint)"


class Transform(Protocol):
    """One step of a schedule. Its fields are the arguments of its command, and its place.

    One that `is_inner` changes what a worker does, others which worker does what.
    """

    turn: ClassVar[PhaseRank]
    setting: ClassVar[StepSetting | None]
    schedule_part: ClassVar[SchedulePart | None]
    is_decided: ClassVar[bool]
    asked_on: ClassVar[AskedOn]

    @property
    def asked_by(self) -> tuple[str, ...]: ...

    @property
    def left_open(self) -> tuple[str, ...]: ...

    @property
    def joined_loops(self) -> tuple[str, ...]: ...

    def cached(self, body: Body, context: Context) -> tuple[CachedSection, ...]: ...

    @property
    def needs(self) -> Collection[Needed]: ...

    @property
    def set_to(self) -> str | int: ...

    @property
    def is_inner(self) -> bool: ...

    @property
    def awaited(self) -> tuple[str, ...]: ...

    def comes_late(self, awaited: Collection[str]) -> bool: ...

    @property
    def statement(self) -> int:
        """Return the statement that names the step, one of the kernel that it changes."""

    @property
    def span(self) -> Span:
        """Return where the user asks for the step, NOWHERE for our own decision."""

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the step is illegal on `body`, or None when it is legal."""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` after the step, which `why_not` has accepted."""


@dataclass(frozen=True, slots=True)
class OnStatement(Described):
    """A step that names its nest by one `statement` in it; `span` is where the user asks for it."""

    statement: int = takes(Kind.STATEMENT)
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


def counts_set(steps: Iterable[Described | Transform], setting: str) -> tuple[int, ...]:
    """Return the numbers to which steps set a setting of tables, by its name."""
    return tuple(value for value in _set(steps, setting) if isinstance(value, int))


def names_set(steps: Iterable[Described | Transform], setting: str) -> tuple[str, ...]:
    """Return the names to which steps set a setting of tables, by its name."""
    return tuple(value for value in _set(steps, setting) if isinstance(value, str))


def _set(steps: Iterable[Described | Transform], setting: str) -> Iterator[str | int]:
    for step in steps:
        if step.setting is not None and step.setting.name == setting and step.set_to:
            yield step.set_to


class NestStep(OnStatement):
    """A transform of one of the families below, which says why not and changes a body."""

    __slots__ = ()

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the step is illegal on `body`, or None when it is legal."""
        raise NotImplementedError

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` after the step, which `why_not` has accepted."""
        raise NotImplementedError


# The families of steps that strategies and recipes speak of as a whole: `isinstance` and
# `of_kind` take them as they take a class.


class Shaping(NestStep):
    """A step that gives a nest its loops: their order, tiles, shares, and what they hold."""

    __slots__ = ()

    is_decided: ClassVar[bool] = True


class Sharing(NestStep):
    """A step by which the threads of a block share an element's work."""

    __slots__ = ()

    is_decided: ClassVar[bool] = True


class Copying(NestStep):
    """A step that copies elements, has a block of registers, or settles how tiles end there."""

    __slots__ = ()

    is_decided: ClassVar[bool] = True


class Moving(OnStatement):
    """A step that tells how the data of a kernel move whose tile is chosen."""

    __slots__ = ()

    is_decided: ClassVar[bool] = True


# What is done to a region, in the order in which it is done.
Schedule: TypeAlias = tuple[Transform, ...]
