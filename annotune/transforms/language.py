"""Steps of a schedule: as commands of a recipe, by kind, and in the order of work.

``read(written(step))`` is the step again. A class is a command where it has a `word`, or several in
`words`: those in the modules of this package, and those of the entry points
``annotune.transforms``. Some are no transforms: they ask a strategy as a whole, which then says the
transforms, or say which target and sizes the rest is for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, field, fields, replace
from enum import StrEnum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, cast

from annotune import plugins
from annotune.annotation.commands import (
    TARGET,
    Kind,
    Signature,
    Slot,
    command_text,
    count_at,
    matched,
    name_at,
    names_at,
    say_commands,
    wrong_kind,
)
from annotune.annotation.spec import Argument as Given
from annotune.annotation.spec import Command, Value
from annotune.diagnostics import NOWHERE, Diagnostic, Span, Template
from annotune.frozen import dataclass
from annotune.ir.nest import Level
from annotune.transforms.map import PLACES, Map
from annotune.transforms.transform import (
    CHILL,
    CUDA_GUIDE,
    KIM_2019,
    LATE,
    ArgumentForm,
    Described,
    Feature,
    Moving,
    OnStatement,
    PhaseRank,
    Schedule,
    StepPhase,
    Transform,
    Word,
    takes,
    words_of,
)
from annotune.transforms.tree import Body

EXACT_ONLY = Template(
    "AT061",
    "{what} is for one target alone",
    'write it after target("cuda"), target("openacc") or target("openmp"), with all that is to be '
    "done there; `emit --json` prints such recipes",
)


class Step(Protocol):
    """What a command becomes: a transform, or what is asked of a strategy."""

    @property
    def span(self) -> Span:
        """Return where the user says it."""

    @property
    def made_loops(self) -> tuple[str, ...]:
        """Return the loops that the step makes."""

    def mistakes(self, body: Body) -> Iterator[Diagnostic]:
        """Yield what is wrong with the step as a recipe states it."""


# The classes of this package and of plug-ins; each is a dataclass with `word` or `words`.
Kinds: TypeAlias = type[Any]


@dataclass(frozen=True)
class Form:
    """How a class is written as one of its words."""

    made: Kinds
    word: Word

    @property
    def arguments(self) -> Mapping[str, tuple[str, ArgumentForm]]:
        """Return each field with its argument by the name of the slot, in the command's order."""
        found = {}
        for one in fields(self.made):
            if "argument" in one.metadata:
                own: ArgumentForm = one.metadata["argument"]
                name = own.slot.name or one.name
                found[name] = (one.name, replace(own, slot=replace(own.slot, name=name)))
        if self.made is Map:
            del found["levels"]
        chosen = self.word.slots or tuple(found)
        return {name: found[name] for name in chosen}

    @property
    def signature(self) -> Signature:
        """Return what a user may write."""
        first, *others = (own.slot for _, own in self.arguments.values())
        places = (
            Slot(place, Kind.LOOPS, required=False, by_name=True) for place in self.word.places
        )
        also = (Slot(name, Kind.NAMES, required=False, by_name=True) for name in self.word.also)
        slots = (first, *places, *others, *also, *self.word.extra)
        return Signature(
            self.word.name, slots, self.word.meaning, self.word.example, self.word.source
        )


@cache
def forms() -> Mapping[str, Form]:
    """Return what every command is by its name, those of a user's plug-ins among them."""
    classes = (*own_kinds(), *plugins.loaded(plugins.TRANSFORMS).values())
    found: dict[str, Form] = {}
    for made in classes:
        for word in words_of(made):
            found[word.name] = Form(made, word)
            if word.old:
                found[word.old] = found[word.name]
    return found


@cache
def own_kinds() -> tuple[Kinds, ...]:
    """Return the classes of this package that are commands, in the order in which they are done."""
    package = import_module(__package__)
    modules = (import_module(f"{__package__}.{m.name}") for m in iter_modules(package.__path__))
    found = (
        made
        for module in modules
        for made in vars(module).values()
        if isinstance(made, type) and made.__module__ == module.__name__ and words_of(made)
    )
    return tuple(sorted(found, key=lambda made: made.turn))


def word_of(command: Command) -> Word:
    """Return what is said of a command that was checked."""
    return forms()[command.name].word


def is_as_given(command: Command) -> bool:
    """Return whether the rules leave a command that was checked as it is."""
    return not forms()[command.name].made.is_decided


@cache
def signatures() -> Mapping[str, Signature]:
    """Return what a user may write, by the name of the command."""
    return {name: form.signature for name, form in forms().items()}


say_commands(signatures)


def read(command: Command, point: Mapping[str, Value]) -> Iterator[Step]:
    """Yield what a command that was checked means at a point of the parameters.

    Raises:
        AnnotuneError: A parameter is unknown at the point, or its value is of another kind.
    """
    form = forms()[command.name]
    values: dict[str, Any] = {}
    groups: list[Any] = []
    placed: list[tuple[str, Level]] = []
    others: list[Step] = []
    arguments = form.arguments
    for slot, given in matched(command):
        if slot.name in form.word.places:
            placed += on_place(slot.name, names_at(command, slot, given, point))
        elif slot.name in form.word.also:
            other = forms()[form.word.also[slot.name]].made
            statement = values["statement"]
            named = names_at(command, slot, given, point)
            others.append(other(statement, named, span=command.span))
        elif slot.name in arguments:
            name, own = arguments[slot.name]
            value = _value(command, slot, given, own, point)
            if slot.repeated:
                groups.append(value)
                values[name] = tuple(groups)
            else:
                values[name] = value
    if form.made is Map:
        values |= {"levels": tuple(placed), "command": command.name}
    yield cast(Step, form.made(**values, span=command.span))
    yield from others


def _value(
    command: Command, slot: Slot, given: Given, own: ArgumentForm, point: Mapping[str, Value]
) -> Any:
    value = given.value
    match slot.kind:
        case Kind.STATEMENT:
            return value
        case Kind.GROUP:
            return value if isinstance(value, tuple) else (value,)
        case Kind.LOOP:
            return name_at(command, slot, given, point)
        case Kind.LOOPS | Kind.NAMES:
            return names_at(command, slot, given, point)
        case Kind.ROWS:
            assert isinstance(value, tuple)
            return tuple(
                row
                if isinstance(row, tuple)
                else (name_at(command, slot, replace(given, value=row), point), 0)
                for row in value
            )
        case Kind.COUNT:
            return count_at(command, slot, given, point)
        case Kind.FLAG:
            return bool(count_at(command, slot, given, point))
        case Kind.NAME | Kind.TEXT:
            if not own.words:
                return value
            if value not in own.words:
                wanted = " or ".join(f'"{word}"' for word in own.words)
                raise wrong_kind(command, slot.name, given, wanted)
            return own.words[str(value)]


def on_place(place: str, loops: Iterable[str]) -> Iterator[tuple[str, Level]]:
    """Yield the level of each loop on a place, x first; where there are too many, all are on x."""
    names, levels = tuple(loops), PLACES[place]
    is_flat = len(names) > len(levels)
    for number, name in enumerate(names):
        yield name, levels[0 if is_flat else number]


def written(step: Any) -> Command:
    """Return a transform as a command, what is as usual left out."""
    known = words_of(type(step))
    word = next(one for one in known if not isinstance(step, Map) or one.name == step.command)
    form = Form(type(step), word)
    out: list[Given] = []
    usual = {one.name: _default(one) for one in fields(step)}
    for number, (name, (field_name, own)) in enumerate(form.arguments.items()):
        value = getattr(step, field_name)
        if own.slot.repeated:
            out += (Given(_plain(own, one)) for one in value)
        elif own.slot.required or value != usual[field_name]:
            is_named = own.slot.by_name or number > len(out)
            out.append(Given(_plain(own, value), name if is_named else ""))
        if number == 0 and isinstance(step, Map):
            out += _placed(step, word)
    return Command(word.name, tuple(out), step.span)


def _default(one: Field[Any]) -> object:
    return one.default if one.default is not MISSING else None


def _placed(step: Map, word: Word) -> Iterator[Given]:
    for place in word.places:
        if step.on(place):
            yield Given(step.on(place), place)


def _plain(own: ArgumentForm, value: Any) -> Any:
    """Return a field's value as the argument that means it."""
    if own.words:
        return next(word for word, meant in own.words.items() if meant == value)
    if isinstance(value, StrEnum):
        return str(value)
    match own.slot.kind:
        case Kind.GROUP:
            return value[0] if len(value) == 1 else value
        case Kind.ROWS:
            return tuple(name if distance == 0 else (name, distance) for name, distance in value)
        case Kind.FLAG:
            return int(value)
    return value


def text(step: Any) -> str:
    """Return a transform as a user writes it."""
    return command_text(written(step))


def loops_of(step: Any) -> tuple[str, ...]:
    """Return the loops that a step names, as often as it does."""
    if isinstance(step, Map):
        return step.names
    found: list[str] = []
    (word,) = words_of(type(step))
    for field_name, own in Form(type(step), word).arguments.values():
        value = getattr(step, field_name)
        match own.slot.kind:
            case Kind.LOOP:
                found += [value] if value else []
            case Kind.LOOPS:
                found += value
            case Kind.ROWS:
                found += (name for name, _ in value)
    return tuple(found)


def exact_part(command: Command) -> Diagnostic | None:
    """Return the refusal of a command, or of an argument, that only a whole recipe can have."""
    form = forms()[command.name]
    if form.word.exact:
        return EXACT_ONLY.at(command.span, what=f"'{command.name}'")
    for slot, given in matched(command):
        own = form.arguments.get(slot.name)
        is_exact = own is not None and own[1].exact
        if slot.kind is Kind.GROUP and isinstance(given.value, tuple):
            is_exact = True
        if slot.kind is Kind.ROWS and isinstance(given.value, tuple):
            is_exact = is_exact or any(isinstance(row, tuple) for row in given.value)
        if is_exact:
            return EXACT_ONLY.at(given.span, what=f"this {slot.name} of '{command.name}'")
    return None


@dataclass(frozen=True, slots=True)
class Contract(OnStatement):
    """A two-level tile of a contraction: the loops by role, with the lengths of their tiles.

    `assign` has a word for x, or one for x and one for y, where one loop is split among threads and
    registers; `stage` names the inputs that pass through shared memory, None for both. A third loop
    of `thread` has `thread_z` iterations in a block at once.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.ASKED, 0)
    feature: ClassVar[str | None] = Feature.STRATEGY
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "contract",
        "compute a tile of a contraction's output per block, a part of it in registers",
        'contract(0, thread={"h3","p5"}, register={"h2","p4"}, sum="h7", '
        "thread_x=16, thread_y=8, register_x=8, register_y=8, step=16)",
        KIM_2019,
        kept=False,
    )
    thread: tuple[str, ...] = takes(Kind.LOOPS, most=3, by_name=True)
    register: tuple[str, ...] = takes(Kind.LOOPS, most=2, by_name=True, shares=True)
    sum: str = takes(Kind.LOOP, by_name=True)
    thread_x: int = takes(Kind.COUNT, by_name=True)
    thread_y: int = takes(Kind.COUNT, by_name=True)
    register_x: int = takes(Kind.COUNT, by_name=True)
    register_y: int = takes(Kind.COUNT, by_name=True)
    step: int = takes(Kind.COUNT, by_name=True)
    thread_z: int = takes(Kind.COUNT, 1, by_name=True)
    assign: tuple[str, ...] = takes(Kind.NAMES, (), by_name=True, most=2)
    stage: tuple[str, ...] | None = takes(Kind.NAMES, None, by_name=True, most=2)


@dataclass(frozen=True, slots=True)
class Vectors(Moving):
    """Copies of `copied` neighbours at once, and a layout in which `read` are read together.

    0 leaves it to the rules.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.ASKED, 1)
    feature: ClassVar[str | None] = Feature.STRATEGY
    word: ClassVar[Word] = Word(
        "vectors",
        "copy neighbours at once, and lay out the copies so that neighbours are read at once",
        "vectors(0, copied=2)",
        CUDA_GUIDE,
        kept=False,
    )
    copied: int = takes(Kind.COUNT, 0, by_name=True)
    read: int = takes(Kind.COUNT, 0, by_name=True)


@dataclass(frozen=True, slots=True)
class Stated(OnStatement):
    """CHiLL's statement of what a nest is, which changes nothing."""

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.ASKED, 2)
    feature: ClassVar[str | None] = Feature.STRATEGY
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "stm",
        "state the statement's loops and output; changes nothing",
        'stm(0, ("i","j"), "c")',
        CHILL,
        kept=False,
    )
    loops: tuple[str, ...] = takes(Kind.LOOPS)
    output: str = takes(Kind.NAME)


class Serves(StrEnum):
    """The sizes that steps are for: the tuned ones, all others, or the listed values of some."""

    TUNED = "tuned"
    OTHERS = "others"
    LISTED = "listed"


@dataclass(frozen=True, slots=True)
class ForTarget(Described):
    """What follows is all that is done for one target, `sizes` such as ``n=8, m=4`` its sizes."""

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.ASKED, 3)
    feature: ClassVar[str | None] = Feature.STRATEGY
    word: ClassVar[Word] = Word(
        TARGET,
        "what follows says all that is done for this target; nothing is left to the rules",
        'target("openmp")',
        "annotune",
        kept=False,
    )
    name: str = takes(Kind.NAME)
    sizes: str = takes(Kind.TEXT, "", by_name=True)
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class OtherSizes(Described):
    """What follows is for sizes that are not the tuned ones: all others, or the listed of some."""

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.ASKED, 4)
    feature: ClassVar[str | None] = Feature.STRATEGY
    word: ClassVar[Word] = Word(
        "other_sizes",
        'what follows is for all other sizes, or for the "listed" values of some of them',
        "other_sizes()",
        "annotune",
        exact=True,
        old="elsewhere",
    )
    sizes: Serves = takes(
        Kind.NAME,
        Serves.OTHERS,
        words={"others": Serves.OTHERS, "listed": Serves.LISTED},
    )
    span: Span = field(default=NOWHERE, compare=False)


T = TypeVar("T")


def of_kind(
    steps: Iterable[object], kind: type[T], among: Collection[int] | None = None
) -> tuple[T, ...]:
    """Return the steps of a kind, those on some statements alone if these are given."""
    found = [step for step in steps if isinstance(step, kind)]
    return tuple(found if among is None else (x for x in found if statement_of(x) in among))


def statement_of(step: object) -> int:
    """Return the statement that names a step."""
    number: int = getattr(step, "statement")  # noqa: B009  (whatever the kind)
    return number


def in_order(steps: Iterable[Transform]) -> Schedule:
    """Return the steps of one kernel in the order in which they are done.

    First comes what shapes its nests, then what puts loops in their places, then what a
    worker does, as their classes say (`PhaseRank`). A step that comes late stays where it is given
    after the others of its phase: loops over tiles get their order once they are there, and what
    takes a nest apart changes which nests there are.
    """
    every = tuple(steps)
    first = {statement_of(step): place for place, step in reversed([*enumerate(every)])}
    awaited = {name for step in every for name in step.awaited}

    def place(step: Transform) -> tuple[int, int, int]:
        phase, rank = turn_of(step.__class__)
        is_late = step.comes_late(awaited)
        if phase is StepPhase.STATEMENT:
            return (phase, len(every) if is_late else first[statement_of(step)], rank)
        return (phase, LATE if is_late else rank, 0)

    return tuple(sorted(every, key=place))


@cache
def turn_of(made: Kinds) -> PhaseRank:
    """Return when steps of a class are done; one of another package may say `is_inner` alone."""
    turn: PhaseRank = made.turn
    is_other = made.is_inner in (True, False) and made.is_inner != turn.phase.is_inner
    return PhaseRank(StepPhase.LAST) if is_other else turn


def together(kernels: Iterable[Schedule]) -> Schedule:
    """Return the steps of several kernels, each in order, as those of a region."""

    def phase(step: Transform) -> int:
        return min(turn_of(step.__class__).phase, StepPhase.REGISTERS)

    return tuple(sorted((step for steps in kernels for step in steps), key=phase))
