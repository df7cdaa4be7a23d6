"""The commands of a recipe: what each takes, whether one fits it, how one is read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache
from itertools import takewhile
from typing import TypeAlias

from lark import Token, Tree

from annotune.annotation import expressions as ex
from annotune.annotation.expressions import (
    evaluate,
    evaluate_node,
    literal,
    names_in,
    parse_expression,
    placed,
    substitute,
)
from annotune.annotation.grammar import Origin, Parsed, parse_tree
from annotune.annotation.messages import (
    ARGUMENT_TWICE,
    EXTRA_ARGUMENT,
    LOOP_TWICE,
    MISSING_ARGUMENT,
    NO_VALUES,
    STATEMENT_TWICE,
    TOO_MANY_LOOPS,
    UNKNOWN_COMMAND,
    UNKNOWN_SLOT,
    WRONG_KIND,
    declared_twice,
    did_you_mean,
    gathered,
)
from annotune.annotation.spec import Argument, Command, Formula, Item, Parameter, Value
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass

# How a parameter says that no loop stands here: param TX[] = ['h3','1'].
NO_LOOP = "1"
# The command after which a recipe says all that is done for one target.
TARGET = "target"

Given: TypeAlias = "tuple[Slot, Argument]"


class Kind(StrEnum):
    """What an argument may be; the value is the wording of a diagnostic."""

    STATEMENT = "a statement's number"
    GROUP = "a statement's number, or a list of them"
    LOOP = 'a loop\'s name, such as "i"'
    LOOPS = 'a list of loops\' names, such as ("i","j")'
    ROWS = 'a list of loops\' names, such as ("i","j"), or with distances: (("i",8),("j",1))'
    NAMES = 'a list of names, such as ("a","b")'
    COUNT = "a number from 1, or a parameter"
    FLAG = "1 or 0"
    NAME = 'a name, such as "x"'
    TEXT = "a string"


@dataclass(frozen=True, slots=True)
class Slot:
    """One argument of a command. A `repeated` slot takes all arguments that follow.

    Of a slot with `shares`, a loop may stand in another one as well.
    """

    name: str
    kind: Kind
    required: bool = True
    repeated: int = 0
    most: int = 0
    by_name: bool = False
    shares: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """A command with its arguments, in the order in which they are written."""

    name: str
    slots: tuple[Slot, ...]
    meaning: str
    example: str
    source: str

    @property
    def usage(self) -> str:
        """Return the command with its arguments' names, as a user writes it."""
        return f"`{self.example}`"


_SAID: list[Callable[[], Mapping[str, Signature]]] = []


def say_commands(signatures: Callable[[], Mapping[str, Signature]]) -> None:
    """Have recipes read by what `signatures` gives.

    The transforms themselves say what a command takes. They stand later in the order of stages,
    and call this when they are imported.
    """
    _SAID.append(signatures)


@cache
def signatures() -> Mapping[str, Signature]:
    """Return every command there is by its name."""
    assert _SAID, "nobody has said which commands there are: import annotune.transforms.language"
    return {name: one for said in _SAID for name, one in said().items()}


def check_command(command: Command) -> tuple[Command, tuple[Diagnostic, ...]]:
    """Return `command` with lists where its signature has lists, and what is wrong with it."""
    row = signatures().get(command.name)
    if row is None:
        hint = did_you_mean(command.name, signatures())
        return command, (UNKNOWN_COMMAND.at(command.span, name=command.name, hint=hint),)
    mistakes: list[Diagnostic] = []
    given = list(matched(command, mistakes.append))
    arguments = []
    for slot, argument in given:
        argument = _as_list(slot, argument)
        arguments.append(argument)
        if not _fits(slot, argument.value):
            wrong = WRONG_KIND.at(
                argument.span,
                slot=slot.name,
                name=row.name,
                wanted=slot.kind,
                hint=_kind_hint(row, slot),
            )
            if slot.kind in (Kind.STATEMENT, Kind.GROUP):
                # Without it every later argument stands one place off.
                return command, (wrong,)
            mistakes.append(wrong)
        elif isinstance(argument.value, tuple) and 0 < slot.most < len(argument.value):
            count = len(argument.value)
            mistakes.append(
                TOO_MANY_LOOPS.at(
                    argument.span, slot=slot.name, name=row.name, count=count, most=slot.most
                )
            )
    if not mistakes:
        mistakes.extend(_repeated(row, given))
    if mistakes:
        # A wrong count leaves arguments without a slot; the command is refused then.
        return command, tuple(mistakes)
    # An older word for a command stands for its own.
    return replace(command, name=row.name, arguments=tuple(arguments)), ()


def _ignored(mistake: Diagnostic) -> None:
    """Leave a mistake alone: whoever asks has a command that was checked."""


def matched(command: Command, say: Callable[[Diagnostic], None] = _ignored) -> Iterator[Given]:
    """Yield each argument with its slot, in the order written, and `say` what does not match."""
    row = signatures()[command.name]
    free = list(row.slots)
    by_name = {slot.name: slot for slot in row.slots}
    counts = {slot.name: 0 for slot in row.slots}
    for argument in command.arguments:
        if argument.name and argument.name not in by_name:
            hint = did_you_mean(argument.name, [slot.name for slot in row.slots if slot.by_name])
            say(UNKNOWN_SLOT.at(argument.span, name=row.name, slot=argument.name, hint=hint))
            continue
        slot = by_name[argument.name] if argument.name else next(iter(free), None)
        if slot is None:
            say(EXTRA_ARGUMENT.at(argument.span, name=row.name, usage=row.usage))
            return
        if slot in free and not slot.repeated:
            free.remove(slot)
        counts[slot.name] += 1
        if counts[slot.name] > 1 and not slot.repeated:
            say(ARGUMENT_TWICE.at(argument.span, name=row.name, slot=slot.name))
            continue
        yield slot, argument
    for slot in row.slots:
        if counts[slot.name] < max(slot.repeated, int(slot.required)):
            usage = row.usage
            say(MISSING_ARGUMENT.at(command.span, name=row.name, slot=slot.name, usage=usage))


def _as_list(slot: Slot, argument: Argument) -> Argument:
    """Return `argument` with ``("i")`` read as a list of one where a list belongs."""
    if slot.kind in (Kind.LOOPS, Kind.NAMES, Kind.ROWS) and isinstance(argument.value, str):
        return replace(argument, value=(argument.value,))
    return argument


def _is_name(value: object) -> bool:
    return isinstance(value, Formula) or (
        isinstance(value, str) and bool(re.fullmatch(r"[A-Za-z_]\w*|1", value, re.ASCII))
    )


def _fits(slot: Slot, value: Item | tuple[Item, ...]) -> bool:
    match slot.kind:
        case Kind.STATEMENT:
            return _is_number(value)
        case Kind.GROUP:
            return _is_number(value) or (
                isinstance(value, tuple) and len(value) > 1 and all(map(_is_number, value))
            )
        case Kind.LOOP:
            return _is_name(value) and value != NO_LOOP
        case Kind.LOOPS | Kind.NAMES | Kind.ROWS:
            if isinstance(value, Formula):
                return True
            fits = _is_row if slot.kind is Kind.ROWS else _is_name
            return (
                isinstance(value, tuple) and (slot.by_name or bool(value)) and all(map(fits, value))
            )
        case Kind.COUNT:
            return isinstance(value, Formula) or (type(value) is int and value >= 1)
        case Kind.FLAG:
            return isinstance(value, Formula) or (isinstance(value, int) and value in (0, 1))
        case Kind.NAME:
            return isinstance(value, str) and _is_name(value) and value != NO_LOOP
        case Kind.TEXT:
            return isinstance(value, str)


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_row(value: object) -> bool:
    if isinstance(value, tuple):
        return len(value) == 2 and _is_name(value[0]) and _is_number(value[1])
    return _is_name(value)


def _kind_hint(row: Signature, slot: Slot) -> str:
    if slot.kind in (Kind.STATEMENT, Kind.GROUP):
        return f"statements are numbered from 0 in the order of the text: {row.usage}"
    return f"write {row.usage}"


def _repeated(row: Signature, given: list[Given]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each loop or statement that a command names twice."""
    seen: set[object] = set()
    for slot, argument in given:
        if slot.repeated:
            for item in argument.items:
                if item in seen:
                    yield STATEMENT_TWICE.at(argument.span, name=row.name, statement=item)
                seen.add(item)
        if slot.kind is not Kind.LOOPS:
            continue
        if slot.shares:
            seen = set()
        for loop in argument.items:
            if not isinstance(loop, str) or loop == NO_LOOP:
                continue
            if loop in seen:
                yield LOOP_TWICE.at(argument.span, name=row.name, loop=loop)
            seen.add(loop)


def before_targets(commands: Sequence[Command]) -> tuple[Command, ...]:
    """Return the commands of a recipe that the rules complete, for all targets."""
    return tuple(takewhile(lambda command: command.name != TARGET, commands))


def argument_of(command: Command, name: str) -> Argument | None:
    """Return the argument that fills slot `name`, given by name or by place, or None."""
    return next((argument for slot, argument in matched(command) if slot.name == name), None)


def statements(command: Command) -> tuple[int, ...]:
    """Return the statements that a command works on."""
    found: list[int] = []
    for slot, argument in matched(command):
        if slot.kind in (Kind.STATEMENT, Kind.GROUP):
            found += (number for number in argument.items if isinstance(number, int))
    return tuple(found)


def names_at(
    command: Command, slot: Slot, argument: Argument, point: Mapping[str, Value]
) -> tuple[str, ...]:
    """Return the loops or names that an argument is at a point of the parameters.

    A loop named '1' stands for none and is left out.

    Raises:
        AnnotuneError: A parameter is unknown at the point, or holds no loop's name.
    """
    names: list[str] = []
    for item in argument.items:
        found = evaluate(item, point) if isinstance(item, Formula) else item
        for name in found if isinstance(found, tuple) else (found,):
            text = NO_LOOP if name == 1 else name
            if not isinstance(text, str) or not _is_name(text):
                raise wrong_kind(command, slot.name, argument, Kind.LOOP)
            if text != NO_LOOP:
                names.append(text)
    return tuple(names)


def name_at(command: Command, slot: Slot, argument: Argument, point: Mapping[str, Value]) -> str:
    """Return the one loop that an argument is at a point; raises like `names_at`."""
    names = names_at(command, slot, argument, point)
    if len(names) != 1:
        raise wrong_kind(command, slot.name, argument, Kind.LOOP)
    return names[0]


def count_at(command: Command, slot: Slot, argument: Argument, point: Mapping[str, Value]) -> int:
    """Return the number that an argument is at a point, such as the factor of ``unroll``.

    Raises:
        AnnotuneError: A parameter is unknown at the point, or the value is no integer >= 1, or
            none >= 0 where it is a flag.
    """
    value = argument.value
    if isinstance(value, Formula):
        value = evaluate(value, point)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool):
        value = int(value)
    if type(value) is not int or value < (slot.kind is Kind.COUNT):
        raise wrong_kind(command, slot.name, argument, slot.kind)
    return value


def wrong_kind(command: Command, slot: str, argument: Argument, wanted: str) -> AnnotuneError:
    """Return the refusal of an argument that is not what is `wanted`."""
    return AnnotuneError.of(
        WRONG_KIND.at(argument.span, slot=slot, name=command.name, wanted=wanted, hint="")
    )


def with_tile_names(
    commands: Iterable[Command], tile_name: Callable[[str], str]
) -> Iterator[Command]:
    """Yield the commands of a recipe, loops over tiles by the names that `tile_name` gives.

    CHiLL's ``tile(0, "i", 4, "ii")`` calls the loop over the tiles of i ``ii``, for the commands on
    statement 0 after it. Its ``stm``, which changes nothing, is left out.
    """
    names: dict[tuple[int, str], str] = {}
    for command in commands:
        if command.name == "stm":
            continue
        own = {
            control: name
            for (number, control), name in names.items()
            if number in statements(command)
        }
        control = argument_of(command, "control") if command.name == "tile" else None
        arguments = tuple(
            replace(argument, value=_renamed(argument, own))
            for argument in command.arguments
            if argument is not control
        )
        command = replace(command, arguments=arguments)
        if control is not None and isinstance(control.value, str):
            loop = argument_of(command, "loop")
            if loop is not None and isinstance(loop.value, str):
                names[statements(command)[0], control.value] = tile_name(loop.value)
        yield command


def _renamed(argument: Argument, names: dict[str, str]) -> Item | tuple[Item, ...]:
    value = argument.value
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple):
        return tuple(names.get(one, one) if isinstance(one, str) else one for one in value)
    return value


@dataclass(frozen=True, slots=True)
class Recipe:
    """The commands of a recipe, and the parameters that it lists: ``UF0[] = [1,2,4];``."""

    commands: tuple[Command, ...] = ()
    performance_params: tuple[Parameter, ...] = ()


_NO_NAMES: Mapping[str, Value] = {}


def parse_recipe(text: str, origin: Origin, names: Mapping[str, Value] = _NO_NAMES) -> Recipe:
    """Return the recipe in ``begin CHiLL ( … )``; `names` (``let``) are put in.

    Raises:
        AnnotuneError: With every mistake that stands alone, in the order of the text.
    """
    found = _RecipeText(text, origin, names, [])
    commands: list[Command] = []
    params: dict[str, Parameter] = {}
    for child in parse_tree(text, "recipe", origin).children:
        assert isinstance(child, Tree)
        with gathered(found.mistakes):
            if child.data == "command":
                commands.append(found.command(child))
                continue
            param = found.listed(child)
            first = params.setdefault(param.name, param)
            if first is not param:
                found.mistakes.append(declared_twice(param.name, param.span, first.span))
    if found.mistakes:
        raise AnnotuneError.of(*sorted(found.mistakes, key=lambda mistake: mistake.span))
    return Recipe(tuple(commands), tuple(params.values()))


@dataclass(frozen=True, slots=True)
class _RecipeText:
    """Turns the tree of a recipe's text into values, and gathers the mistakes."""

    text: str
    origin: Origin
    names: Mapping[str, Value]
    mistakes: list[Diagnostic]

    def command(self, tree: Parsed) -> Command:
        name = tree.children[0]
        trees = [child for child in tree.children[1:] if isinstance(child, Tree)]
        arguments = tuple(map(self.argument, trees))
        command = Command(str(name), arguments, self.span(tree))
        command, mistakes = check_command(command)
        self.mistakes.extend(mistakes)
        return command

    def span(self, tree: Parsed) -> Span:
        return self.origin.span(tree.meta.start_pos, tree.meta.end_pos)

    def part(self, tree: Parsed) -> tuple[str, Origin]:
        start = tree.meta.start_pos
        return self.text[start : tree.meta.end_pos], self.origin.part(start)

    def argument(self, tree: Parsed) -> Argument:
        name, operand = tree.children
        assert isinstance(operand, Tree)
        text, origin = self.part(operand)
        with placed(origin.span):
            node = parse_expression(text)
            value: Item | tuple[Item, ...]
            if isinstance(node, ex.ListDisplay):
                value = tuple(self.item(item, text, origin) for item in node.items)
            else:
                value = self.item(node, text, origin)
        return Argument(value, "" if name is None else str(name), self.span(tree))

    def item(self, node: ex.Node, text: str, origin: Origin) -> Item:
        """Return a literal as its value, and what has one only at a point as a Formula."""
        names = {name.name for name in names_in(node)}
        is_negative = isinstance(node, ex.Unary) and isinstance(node.operand, ex.Literal)
        is_literal = is_negative or isinstance(node, ex.Literal | ex.ListDisplay)
        if names <= self.names.keys() and (names or is_literal):
            return evaluate_node(node, self.names)
        span = origin.span(node.start, node.end)
        return substitute(Formula(text[node.start : node.end], span), self.names)

    def listed(self, tree: Parsed) -> Parameter:
        """Return the parameter of ``UF0[] = [1,2,4];``."""
        name, operand = tree.children
        assert isinstance(name, Token)
        assert isinstance(operand, Tree)
        at = int(name.start_pos or 0)
        span = self.origin.span(at, at + len(name))
        text, origin = self.part(operand)
        with placed(origin.span):
            value = evaluate_node(parse_expression(text), self.names)
        values = value if isinstance(value, tuple) else (value,)
        if not values:
            raise AnnotuneError.of(NO_VALUES.at(span, name=str(name)))
        return Parameter(str(name), values, span)


def recipe_text(commands: Iterable[Command]) -> str:
    """Return one line per command; `parse_recipe` reads equal commands from it."""
    return "\n".join(map(command_text, commands))


def command_text(command: Command) -> str:
    """Return a command such as ``cuda(0, block={"h2","p6"}, thread={"h3","h1"})``."""
    row = signatures().get(command.name)
    # fuse(0,1) is a list of statements, and is written like one.
    comma = "," if row is not None and row.slots and row.slots[0].repeated else ", "
    return f"{command.name}({comma.join(map(_argument, command.arguments))})"


def _argument(argument: Argument) -> str:
    value = argument.value
    if not isinstance(value, tuple):
        text = _item(value)
    elif argument.name:
        text = f"{{{','.join(map(_item, value))}}}"
    else:
        text = f"({','.join(map(_item, value))})"
    return f"{argument.name}={text}" if argument.name else text


def _item(item: Item) -> str:
    if isinstance(item, tuple):
        return f"({','.join(map(_item, item))})"
    return item.text if isinstance(item, Formula) else literal(item)
