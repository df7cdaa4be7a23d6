"""Checks a command against its row of the table, and evaluates its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from annotune.annotation.evaluate import evaluate
from annotune.annotation.messages import (
    ARGUMENT_TWICE,
    EXTRA_ARGUMENT,
    LOOP_TWICE,
    MISSING_ARGUMENT,
    STATEMENT_TWICE,
    TOO_MANY_LOOPS,
    UNKNOWN_COMMAND,
    UNKNOWN_SLOT,
    UNSUPPORTED_COMMAND,
    WRONG_KIND,
    did_you_mean,
)
from annotune.annotation.signatures import COMMANDS, NO_LOOP, Kind, Signature, Slot
from annotune.annotation.spec import Argument, Command, Formula, Value
from annotune.diagnostics import AnnotuneError, Diagnostic

Given = tuple[Slot, Argument]


def check_command(command: Command) -> tuple[Command, tuple[Diagnostic, ...]]:
    """Return `command` with lists where its row has lists, and what is wrong with it."""
    row = COMMANDS.get(command.name)
    if row is None:
        hint = did_you_mean(command.name, COMMANDS)
        return command, (UNKNOWN_COMMAND.at(command.span, name=command.name, hint=hint),)
    if not row.supported:
        return command, (UNSUPPORTED_COMMAND.at(command.span, name=command.name),)
    mistakes: list[Diagnostic] = []
    given = list(_match(row, command, mistakes))
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
            if slot.kind is Kind.STATEMENT:
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
    # A wrong count leaves arguments without a slot; the command is refused then.
    checked = command if mistakes else replace(command, arguments=tuple(arguments))
    return checked, tuple(mistakes)


def _match(row: Signature, command: Command, mistakes: list[Diagnostic]) -> Iterator[Given]:
    """Yield each argument with its slot, in the order written."""
    free = list(row.slots)
    by_name = {slot.name: slot for slot in row.slots}
    counts = {slot.name: 0 for slot in row.slots}
    for argument in command.arguments:
        if argument.name and argument.name not in by_name:
            hint = did_you_mean(argument.name, [slot.name for slot in row.slots if slot.by_name])
            mistakes.append(
                UNKNOWN_SLOT.at(argument.span, name=row.name, slot=argument.name, hint=hint)
            )
            continue
        slot = by_name[argument.name] if argument.name else next(iter(free), None)
        if slot is None:
            mistakes.append(EXTRA_ARGUMENT.at(argument.span, name=row.name, usage=row.usage))
            return
        if slot in free and not slot.repeated:
            free.remove(slot)
        counts[slot.name] += 1
        if counts[slot.name] > 1 and not slot.repeated:
            mistakes.append(ARGUMENT_TWICE.at(argument.span, name=row.name, slot=slot.name))
            continue
        yield slot, argument
    for slot in row.slots:
        if counts[slot.name] < max(slot.repeated, int(slot.required)):
            mistakes.append(
                MISSING_ARGUMENT.at(command.span, name=row.name, slot=slot.name, usage=row.usage)
            )


def _as_list(slot: Slot, argument: Argument) -> Argument:
    """Return `argument` with ``("i")`` read as a list of one where a list belongs."""
    if slot.kind in (Kind.LOOPS, Kind.NAMES) and isinstance(argument.value, str):
        return replace(argument, value=(argument.value,))
    return argument


def _is_name(value: object) -> bool:
    return isinstance(value, Formula) or (
        isinstance(value, str) and bool(re.fullmatch(r"[A-Za-z_]\w*|1", value, re.ASCII))
    )


def _fits(slot: Slot, value: Value | Formula | tuple[Value | Formula, ...]) -> bool:
    match slot.kind:
        case Kind.STATEMENT:
            return type(value) is int and value >= 0
        case Kind.LOOP:
            return _is_name(value) and value != NO_LOOP
        case Kind.LOOPS | Kind.NAMES:
            if isinstance(value, Formula):
                return True
            may_be_empty = slot.by_name
            return (
                isinstance(value, tuple)
                and (may_be_empty or bool(value))
                and all(map(_is_name, value))
            )
        case Kind.COUNT:
            return isinstance(value, Formula) or (type(value) is int and value >= 1)
        case Kind.NAME:
            return isinstance(value, str) and _is_name(value) and value != NO_LOOP


def _kind_hint(row: Signature, slot: Slot) -> str:
    if slot.kind is Kind.STATEMENT:
        return f"statements are numbered from 0 in the order of the text: {row.usage}"
    return f"write {row.usage}"


def _repeated(row: Signature, given: list[Given]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each loop or statement that a command names twice."""
    seen: set[str | int] = set()
    for slot, argument in given:
        value = argument.value
        if slot.repeated and isinstance(value, int):
            if value in seen:
                yield STATEMENT_TWICE.at(argument.span, name=row.name, statement=value)
            seen.add(value)
        if slot.kind is not Kind.LOOPS:
            continue
        if slot.shares:
            seen = set()
        for loop in value if isinstance(value, tuple) else (value,):
            if not isinstance(loop, str) or loop == NO_LOOP:
                continue
            if loop in seen:
                yield LOOP_TWICE.at(argument.span, name=row.name, loop=loop)
            seen.add(loop)


def argument_of(command: Command, name: str) -> Argument | None:
    """Return the argument that fills slot `name`, given by name or by place, or None."""
    for slot, argument in _match(COMMANDS[command.name], command, []):
        if slot.name == name:
            return argument
    return None


def statement(command: Command) -> int:
    """Return the number of the statement that a command works on."""
    argument = argument_of(command, "statement")
    assert argument is not None
    assert isinstance(argument.value, int)
    return argument.value


def statements(command: Command) -> tuple[int, ...]:
    """Return the statements of ``fuse(…)`` or ``distribute(…)``, or the single statement."""
    if not COMMANDS[command.name].slots[0].repeated:
        return (statement(command),)
    values = (argument.value for argument in command.arguments)
    return tuple(value for value in values if isinstance(value, int))


def loop_names(
    command: Command, slot: str, point: Mapping[str, Value] | None = None
) -> tuple[str, ...]:
    """Return the loops or names in a slot, such as ``block``, at a point of the parameters.

    A loop named '1' stands for none and is left out. A slot that is not given has none.

    Raises:
        AnnotuneError: A parameter is unknown at the point, or holds no loop's name.
    """
    argument = argument_of(command, slot)
    if argument is None:
        return ()
    value = argument.value
    listed = value if isinstance(value, tuple) else (value,)
    names: list[str] = []
    for item in listed:
        found = evaluate(item, point or {}) if isinstance(item, Formula) else item
        for name in found if isinstance(found, tuple) else (found,):
            text = NO_LOOP if name == 1 else name
            if not isinstance(text, str) or not _is_name(text):
                raise _wrong(command, slot, Kind.LOOP, argument)
            if text != NO_LOOP:
                names.append(text)
    return tuple(names)


def loop_name(command: Command, point: Mapping[str, Value] | None = None) -> str:
    """Return the loop of ``unroll``, ``tile`` or ``registers``; raises like `loop_names`."""
    names = loop_names(command, "loop", point)
    if len(names) != 1:
        argument = argument_of(command, "loop")
        assert argument is not None
        raise _wrong(command, "loop", Kind.LOOP, argument)
    return names[0]


def name(command: Command, slot: str) -> str:
    """Return the name in a slot, such as ``array``, empty where none is given."""
    argument = argument_of(command, slot)
    return argument.value if argument is not None and isinstance(argument.value, str) else ""


def factor(command: Command, point: Mapping[str, Value], slot: str = "factor") -> int:
    """Return the factor of ``unroll`` or ``tile``, or another number; raises like `count`."""
    value = count(command, slot, point)
    assert value is not None
    return value


def count(command: Command, slot: str, point: Mapping[str, Value] | None = None) -> int | None:
    """Return the number in a slot, such as ``num_gangs``, at a point; None if not given.

    Raises:
        AnnotuneError: A parameter is unknown at the point, or the value is no integer >= 1.
    """
    argument = argument_of(command, slot)
    if argument is None:
        return None
    value = argument.value
    if isinstance(value, Formula):
        value = evaluate(value, point or {})
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 1:
        raise _wrong(command, slot, Kind.COUNT, argument)
    return value


def word(command: Command, slot: str, known: tuple[str, ...]) -> str:
    """Return the word in a slot, one of the `known`, empty if not given.

    Raises:
        AnnotuneError: It is none of them.
    """
    argument = argument_of(command, slot)
    if argument is None:
        return ""
    if argument.value not in known:
        wanted = " or ".join(f'"{one}"' for one in known)
        raise AnnotuneError.of(
            WRONG_KIND.at(argument.span, slot=slot, name=command.name, wanted=wanted, hint="")
        )
    return str(argument.value)


def _wrong(command: Command, slot: str, kind: Kind, argument: Argument) -> AnnotuneError:
    return AnnotuneError.of(
        WRONG_KIND.at(argument.span, slot=slot, name=command.name, wanted=kind, hint="")
    )
