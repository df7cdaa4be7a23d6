"""Where the loops of a candidate run in OpenACC: gangs, workers and vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotune.ir.nest import Level
from annotune.schedule.candidate import Candidate
from annotune.transforms.map import Map, Team
from annotune.transforms.tile import deal_name, tile_name

# Threads of one gang on every NVIDIA device; gcc ignores larger sizes with a warning.
GANG_LIMIT = 1024


# Threads of which each may have all of 255 registers; libgomp ends a program that asks for more.
SAFE_GANG = 256


def on_acc(
    choice: Candidate, workers: Sequence[str] = (), clause: str = "", asked: Map | None = None
) -> Candidate:
    """Return a candidate of CUDA's with its loops on gangs, workers and vectors.

    Block loops share the gangs. Thread x is innermost, so that neighbouring lanes run
    neighbouring iterations; the other threads join the vector, but for `workers`, outermost first,
    any of these loops. `asked` is the mapping of a recipe, taken as it is.
    """
    owners = {deal_name(loop): tile_name(loop) for loop, _ in choice.deals}
    if asked is not None:
        levels = dict(asked.levels)
    else:
        gangs = [loop for loop in reversed(choice.blocks) if loop not in workers]
        lanes = [loop for loop in reversed(choice.threads) if loop not in workers]
        levels = dict.fromkeys(gangs, Level.GANG) | dict.fromkeys(workers, Level.WORKER)
        levels |= {loop: Level.VECTOR for _, loop in choice.team}
        levels |= dict.fromkeys(lanes, Level.VECTOR)
    levels = dict(_inside_own_tiles(levels, owners))
    known = choice.mapping or Map(choice.leader, ())
    sizes = asked or Map(choice.leader, ())
    team = {loop for _, loop in choice.team}
    outer = tuple((name, level) for name, level in levels.items() if name not in team)
    mapped = Map(
        choice.leader,
        outer,
        known.host,
        "acc",
        known.max_blocks,
        num_gangs=sizes.num_gangs,
        num_workers=sizes.num_workers,
        vector_length=sizes.vector_length,
        clause=clause,
    )
    teams = (
        Team(step.statement, step.loop, levels[step.loop], step.host)
        for step in choice.of(Team)
        if step.loop in levels
    )
    return choice.having(*((mapped,) if outer else ()), *teams, without=(Map, Team))


def acc_levels(choice: Candidate) -> Mapping[str, Level]:
    """Return gang, worker and vector for the loops that a candidate of OpenACC's maps."""
    levels = dict(choice.mapping.levels) if choice.mapping is not None else {}
    return levels | {step.loop: step.level for step in choice.of(Team)}


def _inside_own_tiles(
    levels: Mapping[str, Level], owners: Mapping[str, str]
) -> Mapping[str, Level]:
    """Return the levels without loops whose tiles run at the same level or further inside.

    `owners` are the loops over the tiles that are dealt out to workers.

    A loop can only stand inside the one that chooses its tile, while gangs hold workers, these
    vectors, and one level counts its loops together before any of them starts. Such a loop
    stays serial.
    """
    order = (Level.GANG, Level.WORKER, Level.VECTOR)

    def is_inside(name: str) -> bool:
        outer = levels.get(owners.get(name, tile_name(name)))
        return outer is None or order.index(outer) < order.index(levels[name])

    return {name: level for name, level in levels.items() if is_inside(name)}
