"""CHiLL's names for the loops over tiles, and its statements that change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from annotune.annotation.commands import argument_of, statements
from annotune.annotation.spec import Argument, Command, Formula, Value


def with_tile_names(
    commands: Iterable[Command], tile_name: Callable[[str], str]
) -> Iterator[Command]:
    """Yield the commands of a recipe, loops over tiles by the names that `tile_name` gives.

    ``tile(0, "i", 4, "ii")`` calls the loop over the tiles of i ``ii``, for the commands on
    statement 0 after it. ``stm`` is left out.
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


def _renamed(
    argument: Argument, names: dict[str, str]
) -> Value | Formula | tuple[Value | Formula, ...]:
    value = argument.value
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple):
        return tuple(names.get(one, one) if isinstance(one, str) else one for one in value)
    return value
