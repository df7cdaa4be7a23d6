"""Prints a recipe as a user writes it, to be pasted into an annotation."""

from __future__ import annotations

from collections.abc import Iterable

from annotune.annotation.evaluate import literal
from annotune.annotation.signatures import COMMANDS
from annotune.annotation.spec import Argument, Command, Formula, Value


def recipe_text(commands: Iterable[Command]) -> str:
    """Return one line per command; `parse_recipe` reads equal commands from it."""
    return "\n".join(map(command_text, commands))


def command_text(command: Command) -> str:
    """Return a command such as ``cuda(0, block={"h2","p6"}, thread={"h3","h1"})``."""
    row = COMMANDS.get(command.name)
    # fuse(0,1) is a list of statements, and is written like one.
    comma = "," if row is not None and row.slots[0].repeated else ", "
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


def _item(item: Value | Formula) -> str:
    return item.text if isinstance(item, Formula) else literal(item)
