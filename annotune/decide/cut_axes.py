"""Places on the axes of a grid for the loops that a recipe cuts into tiles or deals out."""

from __future__ import annotations

from annotune.decide.plan import Candidate
from annotune.decide.rules import MAX_AXES
from annotune.transforms.deal import deal_name
from annotune.transforms.tile import tile_name


def with_tiles(choice: Candidate, cut: tuple[tuple[str, int], ...]) -> Candidate:
    """Return the rules' choice with a place for the tiles that the user cuts mapped loops into.

    The tiles of a thread's loop become blocks, as the rules do it, while an axis is free; else
    they take the loop's own place and the loop runs inside the thread.
    """
    blocks, threads = list(choice.blocks), list(choice.threads)
    for loop, _ in cut:
        tile = tile_name(loop)
        if tile in blocks:
            continue
        if loop in threads and len(blocks) < MAX_AXES:
            blocks.append(tile)
        else:
            blocks = [tile if name == loop else name for name in blocks]
            threads = [tile if name == loop else name for name in threads]
    return choice.placed(blocks, threads)


def to_workers(choice: Candidate, dealt: tuple[tuple[str, int], ...]) -> Candidate:
    """Return the rules' choice with workers where the loops stood that are dealt out to them."""
    workers = {loop: deal_name(loop) for loop, _ in dealt}
    blocks = tuple(workers.get(name, name) for name in choice.blocks)
    threads = tuple(workers.get(name, name) for name in choice.threads)
    return choice.placed(blocks, threads)
