"""The decisions for a region as a recipe: the annotation that asks for exactly them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotune.annotation.commands import recipe_text
from annotune.annotation.spec import Argument, Command, Formula
from annotune.decide.plan import Candidate
from annotune.transforms.hold import Hold
from annotune.transforms.language import written
from annotune.transforms.pad import Pad
from annotune.transforms.peel import Peel
from annotune.transforms.stage import Stage


def recipe(
    choices: Sequence[Candidate],
    factors: Mapping[int, tuple[int, ...]],
    wished: Sequence[Command] = (),
) -> str:
    """Return the recipe in the syntax of the CHiLL block, ready to be pasted.

    `wished` are the user's own commands, which stand in it as they were written, parameters
    and all.

    `factors` are the unroll factors to try for each statement's innermost loop; they stand
    as a list before the commands, as in Fig. 3.9 of the thesis, and a statement without any is
    unrolled by its chosen factor.
    """
    lists = [
        f"UF{s}[] = [{','.join(map(str, factors[s]))}];"
        for choice in choices
        for s, _, _ in choice.unroll
        if s in factors and choice.contract is None
    ]
    decided = _as_written(commands(choices, factors), wished)
    return "\n".join([*lists, recipe_text(decided)]) + "\n"


def _as_written(decided: Sequence[Command], wished: Sequence[Command]) -> tuple[Command, ...]:
    """Return the decided commands, the user's in place of those that say the same again."""
    own = {_subject(command): command for command in wished}
    said = {_subject(command) for command in decided}
    others = tuple(c for c in wished if _subject(c) not in said and c.name in _KEPT)
    return (*others, *(own.get(_subject(command), command) for command in decided))


# Commands that no choice turns back into a command, for the loops are those of the choice.
_OF_LOOPS = ("tile", "merge", "deal", "registers", "unroll", "stage", "hold")
_KEPT = ("acc", "distribute", "permute", "pad", "peel", *_OF_LOOPS)


def _subject(command: Command) -> tuple[object, ...]:
    """Return what a command speaks of: its statements, and the loop where one is named."""
    named = command.name in _OF_LOOPS
    return (command.name, *(a.value for a in command.arguments[: 2 if named else 1]))


def commands(
    choices: Sequence[Candidate], factors: Mapping[int, tuple[int, ...]]
) -> tuple[Command, ...]:
    """Return the commands behind the choices, in the order of Fig. 3.9: mappings, registers,
    fusions, unrolling."""
    shaped: list[Command] = []
    held: list[Command] = []
    fused: list[Command] = []
    unrolled: list[Command] = []
    for choice in choices:
        leader = _number(choice.leader)
        for loops in choice.merges:
            shaped.append(Command("merge", (leader, Argument(loops))))
        if choice.order and choice.contract is None:
            for part in choice.parts:
                shaped.append(Command("permute", (_number(part[0]), Argument(choice.order))))
        for loop, size in choice.tiles if choice.contract is None else ():
            shaped.append(Command("tile", (leader, Argument(loop), Argument(size))))
        for loop, workers in choice.deals if choice.contract is None else ():
            shaped.append(Command("deal", (leader, Argument(loop), Argument(workers))))
        # A team's loops need not be around the leader, and all of them follow from the first.
        threads = choice.threads or choice.shared[:1]
        if choice.contract is not None:
            summing = _number(choice.of(Pad)[0].statement)
            shaped.append(Command("contract", (summing, *_contract(choice))))
        elif choice.blocks or threads:
            axes = []
            if choice.blocks:
                axes.append(Argument(choice.blocks, "block"))
            if threads:
                axes.append(Argument(threads, "thread"))
            if choice.max_blocks:
                axes.append(Argument(choice.max_blocks, "max_blocks"))
            shaped.append(Command("cuda", (_number(choice.mapped), *axes)))
        shaped += map(written, choice.moves)
        for statement, loop in choice.registers:
            held.append(Command("registers", (_number(statement), Argument(loop))))
        if choice.contract is None:
            held += map(written, choice.of(Stage))
            held += map(written, (*choice.of(Hold), *choice.of(Pad)))
        held += map(written, choice.of(Peel))
        if len(choice.parts) > 1:
            leaders = tuple(_number(part[0]) for part in choice.parts)
            fused.append(Command("fuse", leaders))
        for statement, loop, factor in choice.unroll:
            is_tried = statement in factors and choice.contract is None
            value: int | Formula = Formula(f"UF{statement}") if is_tried else factor
            unrolled.append(
                Command("unroll", (_number(statement), Argument(loop), Argument(value)))
            )
    return (*shaped, *held, *fused, *unrolled)


def _contract(choice: Candidate) -> Iterator[Argument]:
    """Yield the arguments of ``contract`` that ask for a choice's tile."""
    tile = choice.contract
    assert tile is not None
    yield Argument((tile.thread_x[0], tile.thread_y[0]), "thread")
    yield Argument((tile.register_x[0], tile.register_y[0]), "register")
    yield Argument(tile.contracted[0], "sum")
    names = ("thread_x", "thread_y", "register_x", "register_y", "step")
    for name, (_, size) in zip(names, tile.extents, strict=True):
        yield Argument(size, name)
    if tile.x.is_split or tile.y.is_split:
        yield Argument((str(tile.assign_x), str(tile.assign_y)), "assign")
    if not (tile.stage_x and tile.stage_y):
        copies = (copy.array for copy in choice.of(Stage))
        yield Argument(tuple(copies), "stage")


def _number(statement: int) -> Argument:
    return Argument(statement)
