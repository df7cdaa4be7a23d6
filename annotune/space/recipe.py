"""A point of the space as flat settings, for tables and results.

The decisions for a region as a recipe: the annotation that asks for exactly them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from annotune.annotation.commands import recipe_text
from annotune.annotation.spec import Argument, Command, Formula
from annotune.schedule.candidate import Candidate
from annotune.space.decision import Decision, Point
from annotune.strategies.movements import described
from annotune.strategies.openacc import RECIPE, acc_levels
from annotune.transforms.cache import Aligned, Resident
from annotune.transforms.distribute import Fuse
from annotune.transforms.language import is_as_given, on_place, word_of, written
from annotune.transforms.map import Map
from annotune.transforms.merge import Merge, merged_name
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold, Registers, TensorCores
from annotune.transforms.spread import (
    Spread,
)
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Cyclic, Tile
from annotune.transforms.tile_ends import Pad, Peel
from annotune.transforms.transform import (
    SettingGroup,
    Sharing,
    Subject,
)

ACC_PLACES = ("gang", "worker", "vector")


def config(decision: Decision, point: Point) -> dict[str, str | int]:
    """Return a point as a flat mapping for tables and results: names to values."""
    out: dict[str, str | int] = {}
    for name, value in point.params.items():
        out[name] = value if isinstance(value, int | str) else str(value)
    for choice in decision.choices:
        prefix = f"S{choice.leader}"
        if len(choice.parts) > 1:
            out[f"{prefix}.fused"] = ",".join(map(str, choice.statements))
            out |= {f"{prefix}.joined": choice.joined} if choice.joined else {}
        step = choice.mapping
        if step is not None and step.command == "acc" and choice.shape in ("", RECIPE):
            out |= {f"{prefix}.{n}": ",".join(step.on(n)) or "-" for n in ACC_PLACES}
        elif choice.shape:
            out |= form_settings(choice)
        else:
            if choice.merges:
                out[f"{prefix}.merged"] = " ".join(map(",".join, choice.merges))
            out[f"{prefix}.block"] = ",".join(choice.blocks) or "-"
            out[f"{prefix}.thread"] = ",".join(choice.shared or _flat(choice)) or "-"
            out |= _settings(choice, SettingGroup.BLOCK)
            if choice.contract is not None:
                out[f"{prefix}.tile"] = str(choice.contract)
            if choice.moves:
                out[f"{prefix}.movement"] = described(choice.moves)
            if choice.joint is not None:
                out[f"{prefix}.tile"] = str(choice.joint)
            out |= _settings(choice, SettingGroup.MOVEMENT)
            if choice.joint is not None:
                continue
            picked = point.picked.get(choice.leader)
            is_cut = picked is not None and bool(picked.origin)
            if is_cut and choice.contract is None:
                out |= {f"{prefix}.tile_{loop}": size for loop, size in choice.tiles}
            out |= _settings(choice, SettingGroup.STATEMENT)
            if choice.contract is None:
                out |= _settings(choice, SettingGroup.COPY)
        if choice.max_blocks:
            out[f"{prefix}.max_blocks"] = choice.max_blocks
        for statement, loop, factor in choice.unroll:
            out[f"S{statement}.unroll_{loop}"] = factor
    return out


def _flat(choice: Candidate) -> tuple[str, ...]:
    """Return the flattened loops that a block's threads share."""
    return tuple(dict.fromkeys(merged_name(step.flattened) for step in choice.of(Spread)))


def _settings(choice: Candidate, group: SettingGroup) -> dict[str, str | int]:
    """Return what the steps of a choice are set to, each class at its place in a group.

    The words for a movement tell what its own steps are set to.
    """
    told: set[object] = {step.__class__ for step in choice.moves}
    is_kernel = group in (SettingGroup.BLOCK, SettingGroup.MOVEMENT)
    found: list[tuple[int, str, str | int]] = []
    for step in choice.steps:
        own = step.setting
        if own is not None and own.group is group and step.set_to and step.__class__ not in told:
            leader = choice.leader if is_kernel else step.statement
            found.append((own.rank, f"S{leader}.{own.name}", step.set_to))
    out: dict[str, str | int] = {}
    for _, name, value in sorted(found, key=itemgetter(0)):
        out[name] = f"{out[name]},{value}" if name in out and isinstance(value, str) else value
    return out


def form_settings(choice: Candidate) -> dict[str, str | int]:
    """Return what OpenACC makes of a choice: its shape, the loops of each level, and tiles."""
    if not choice.shape:
        return {}
    levels = acc_levels(choice)
    out: dict[str, str | int] = {"shape": choice.shape}
    for level in ACC_PLACES:
        out[level] = ",".join(name for name, place in levels.items() if place == level) or "-"
    out |= {f"tile_{loop}": size for loop, size in choice.tiles}
    return {f"S{choice.leader}.{name}": value for name, value in out.items()}


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
        for s, loop, _ in choice.unroll
        if s in factors and not _is_settled(choice, loop)
    ]
    decided = _as_written(commands(choices, factors), wished)
    return "\n".join([*lists, recipe_text(decided)]) + "\n"


def _is_settled(choice: Candidate, loop: str) -> bool:
    """Return whether a tile's threads settle how often the rest of a loop is written out."""
    return choice.contract is not None or any(loop == dealt for dealt, _ in choice.cyclic)


def _as_written(decided: Sequence[Command], wished: Sequence[Command]) -> tuple[Command, ...]:
    """Return the decided commands, the user's in place of those that say the same again."""
    own = {_subject(command): command for command in wished}
    said = {_subject(command) for command in decided}
    kept = (c for c in wished if is_as_given(c) or (_subject(c) not in said and word_of(c).kept))
    others = (c for c in decided if not (is_as_given(c) and _subject(c) in own))
    return (*kept, *(own.get(_subject(command), command) for command in others))


def _subject(command: Command) -> tuple[object, ...]:
    """Return what a command speaks of: its statements, and the loop or array that it names."""
    count = 1 if word_of(command).names is Subject.STATEMENT else 2
    return (command.name, *(a.value for a in command.arguments[:count]))


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
        shaped += (written(step) for step in choice.steps if not step.is_decided)
        shaped += _shaping(choice)
        shaped += map(written, choice.moves)
        # Those of threads that share a block's work follow from where its loops run.
        held += map(written, choice.of(Registers) if not choice.of(Spread) else ())
        if choice.contract is None:
            held += map(written, (*choice.of(Stage), *choice.of(Hold), *choice.of(Pad)))
        held += map(written, (*choice.of(Peel), *choice.of(TensorCores)))
        if len(choice.parts) > 1:
            leaders = tuple(part[0] for part in choice.parts)
            fused.append(written(Fuse(leaders, choice.joined)))
        for statement, loop, factor in choice.unroll:
            is_tried = statement in factors and not _is_settled(choice, loop)
            value: int | Formula = Formula(f"UF{statement}") if is_tried else factor
            unrolled.append(
                Command("unroll", (Argument(statement), Argument(loop), Argument(value)))
            )
    return (*shaped, *held, *fused, *unrolled)


def _shaping(choice: Candidate) -> Iterator[Command]:
    """Yield the commands that shape a kernel's nests and map its loops."""
    leader, tile = choice.leader, choice.contract
    yield from (written(Merge(leader, loops)) for loops in choice.merges)
    if tile is not None:
        summing = Argument(choice.of(Pad)[0].statement)
        yield Command("contract", (summing, *_contract(choice)))
        return
    if choice.order:
        yield from (written(Permute(part[0], choice.order)) for part in choice.parts)
    yield from (written(Tile(leader, loop, size)) for loop, size in choice.tiles)
    yield from (written(Cyclic(leader, loop, workers)) for loop, workers in choice.cyclic)
    # A team's loops need not be around the leader, and all of them follow from the first.
    threads = choice.threads or choice.shared[:1]
    if choice.blocks or threads:
        levels = (*on_place("block", choice.blocks), *on_place("thread", threads))
        yield written(Map(choice.mapped, levels, max_blocks=choice.max_blocks))
    yield from map(written, choice.of(Sharing))
    if choice.of(Spread):
        yield from map(written, (*choice.of(Aligned), *choice.of(Resident)))


def _contract(choice: Candidate) -> Iterator[Argument]:
    """Yield the arguments of ``contract`` that ask for a choice's tile."""
    tile = choice.contract
    assert tile is not None
    along_z = tuple(loop for loop, _ in tile.z)
    yield Argument((tile.thread_x[0], tile.thread_y[0], *along_z), "thread")
    yield Argument((tile.register_x[0], tile.register_y[0]), "register")
    yield Argument(tile.contracted[0], "sum")
    names = ("thread_x", "thread_y", "register_x", "register_y", "step", "thread_z")
    for name, (_, size) in zip(names, tile.extents, strict=False):
        yield Argument(size, name)
    if tile.x.is_split or tile.y.is_split:
        yield Argument((str(tile.assign_x), str(tile.assign_y)), "assign")
    if not (tile.stage_x and tile.stage_y):
        copies = (copy.array for copy in choice.of(Stage))
        yield Argument(tuple(copies), "stage")
