"""A recipe at one point of its parameters: what the user wants of each statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotune.annotation.commands import (
    argument_of,
    count,
    factor,
    loop_name,
    loop_names,
    name,
    statement,
    statements,
    word,
)
from annotune.annotation.controls import with_tile_names
from annotune.annotation.messages import nearest
from annotune.annotation.spec import Command, Value
from annotune.decide.contraction_tile import ContractionTile, Extent, WishedTile
from annotune.decide.messages import ACC_SIZES, NO_SUCH_ARRAY, NO_SUCH_MEMORY
from annotune.decide.movement import MovementWish, Through
from annotune.decide.placement import GANG_LIMIT, WARP
from annotune.decide.places import Places
from annotune.decide.plan import AccAxes, Staging
from annotune.decide.rules import MAX_AXES
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.ir.expr import accesses
from annotune.ir.nest import MemorySpace, walk_paths
from annotune.transforms.deal import deal_name
from annotune.transforms.legality import missing
from annotune.transforms.merge import merged_name
from annotune.transforms.messages import ALREADY_PLACED, TOO_MANY_LOOPS
from annotune.transforms.tile import tile_name
from annotune.transforms.tree import Body


@dataclass(frozen=True, slots=True)
class Axes:
    """The loops that ``cuda`` puts on blocks and threads, x first."""

    blocks: tuple[str, ...]
    threads: tuple[str, ...]
    max_blocks: int = 0


@dataclass(frozen=True, slots=True)
class Wishes:
    """The commands of a recipe by statement, with the places where they stand.

    `staged`, `held`, `padded` and `peeled` are what ``stage``, ``hold``, ``pad`` and ``peel``
    name. `fused` and `apart` are the groups named by ``fuse`` and ``distribute``. What is absent
    is for the decision algorithm.
    """

    order: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    cuda: Mapping[int, Axes] = field(default_factory=dict)
    acc: Mapping[int, AccAxes] = field(default_factory=dict)
    contract: Mapping[int, WishedTile] = field(default_factory=dict)
    merges: Mapping[int, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    movement: Mapping[int, MovementWish] = field(default_factory=dict)
    registers: Mapping[int, str] = field(default_factory=dict)
    unroll: tuple[tuple[int, str, int], ...] = ()
    tiles: Mapping[int, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    deals: Mapping[int, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    staged: Mapping[int, tuple[Staging, ...]] = field(default_factory=dict)
    held: Mapping[int, str] = field(default_factory=dict)
    padded: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    peeled: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    fused: tuple[tuple[int, ...], ...] = ()
    apart: tuple[tuple[int, ...], ...] = ()
    places: Places = field(default_factory=lambda: Places({}))


def read_wishes(commands: Sequence[Command], point: Mapping[str, Value], body: Body) -> Wishes:
    """Return the recipe at `point`, each statement and loop of which `body` must have.

    Raises:
        AnnotuneError: A command names no such statement or loop; all of them are reported.
    """
    order: dict[int, tuple[str, ...]] = {}
    cuda: dict[int, Axes] = {}
    acc: dict[int, AccAxes] = {}
    contract: dict[int, WishedTile] = {}
    merges: dict[int, tuple[tuple[str, ...], ...]] = {}
    movement: dict[int, MovementWish] = {}
    registers: dict[int, str] = {}
    unroll: list[tuple[int, str, int]] = []
    tiles: dict[int, tuple[tuple[str, int], ...]] = {}
    deals: dict[int, tuple[tuple[str, int], ...]] = {}
    staged: dict[int, tuple[Staging, ...]] = {}
    held: dict[int, str] = {}
    padded: dict[int, tuple[str, ...]] = {}
    peeled: dict[int, tuple[str, ...]] = {}
    fused: list[tuple[int, ...]] = []
    apart: list[tuple[int, ...]] = []
    spans: dict[tuple[str, int], Span] = {}
    mistakes: list[Diagnostic] = []
    every = tuple(with_tile_names(commands, tile_name))
    # A printed recipe has its tiles after the order that names them.
    made = {tile_name(loop_name(c, point)) for c in every if c.name == "tile"}
    made |= {deal_name(loop_name(c, point)) for c in every if c.name == "deal"}
    ones = {merged_name(loop_names(c, "loops", point)) for c in every if c.name == "merge"}
    made |= {*ones, *map(tile_name, ones)}
    for command in every:
        named: tuple[str, ...] = ()
        axes: Axes | None = None
        for number in statements(command):
            spans.setdefault((command.name, number), command.span)
        match command.name:
            case "permute":
                named = loop_names(command, "order", point)
                order[statement(command)] = named
            case "cuda":
                axes = Axes(
                    loop_names(command, "block", point),
                    loop_names(command, "thread", point),
                    count(command, "max_blocks", point) or 0,
                )
                named = (*axes.blocks, *axes.threads)
                cuda[statement(command)] = axes
            case "acc":
                wanted = _acc(command, point)
                refused = _acc_sizes(wanted, command.span)
                if refused is not None:
                    mistakes.append(refused)
                named = (*wanted.gang, *wanted.worker, *wanted.vector)
                acc[statement(command)] = wanted
            case "contract":
                tile = _contraction(command, point)
                named = tuple(loop for loop, _ in tile.tile.extents if loop)
                contract[statement(command)] = tile
            case "pipeline" | "vectors" | "stream" | "resident":
                own_wish = movement.get(statement(command), MovementWish())
                movement[statement(command)] = _movement(command, own_wish, point)
            case "merge":
                named = loop_names(command, "loops", point)
                own_merges = merges.get(statement(command), ())
                merges[statement(command)] = (*own_merges, named)
            case "registers":
                named = (loop_name(command, point),)
                registers[statement(command)] = named[0]
            case "unroll":
                named = (loop_name(command, point),)
                unroll.append((statement(command), named[0], factor(command, point)))
            case "tile":
                named = (loop_name(command, point),)
                own = tiles.get(statement(command), ())
                tiles[statement(command)] = (*own, (named[0], factor(command, point)))
            case "deal":
                named = (loop_name(command, point),)
                given = deals.get(statement(command), ())
                workers = factor(command, point, "workers")
                deals[statement(command)] = (*given, (named[0], workers))
            case "stage":
                copy, number = _staging(command, point), statement(command)
                mistakes += _unknown_names(command, copy, body)
                named = (*(loop for loop, _ in copy.layout), *filter(None, (copy.loop,)))
                staged[number] = (*staged.get(number, ()), copy)
            case "hold":
                named = (loop_name(command, point),)
                held[statement(command)] = named[0]
            case "pad":
                named = loop_names(command, "loops", point)
                padded[statement(command)] = named
            case "peel":
                named = loop_names(command, "loops", point)
                peeled[statement(command)] = named
            case "fuse":
                fused.append(statements(command))
            case "distribute":
                apart.append(statements(command))
            case other:
                raise AssertionError(f"command '{other}' has no meaning here")
        mistakes += _misplaced(command, named, axes)
        for number in statements(command):
            known = tuple(name for name in named if name not in made)
            wrong = missing(body, number, known, command.span)
            if wrong is not None:
                mistakes.append(wrong)
                break
    if mistakes:
        raise AnnotuneError.of(*mistakes)
    return Wishes(
        order,
        cuda,
        acc,
        contract,
        merges,
        movement,
        registers,
        tuple(unroll),
        tiles,
        deals,
        staged,
        held,
        padded,
        peeled,
        tuple(fused),
        tuple(apart),
        Places(spans),
    )


def _misplaced(command: Command, named: tuple[str, ...], axes: Axes | None) -> Iterator[Diagnostic]:
    """Yield what is wrong with the places at this point; the parser has seen no parameters."""
    if command.name not in ("cuda", "acc"):
        return
    twice = next((name for k, name in enumerate(named) if name in named[:k]), None)
    if twice is not None:
        yield ALREADY_PLACED.at(command.span, command=command.name, loop=twice)
    for what, loops in (("block", axes.blocks), ("thread", axes.threads)) if axes else ():
        if len(loops) > MAX_AXES:
            yield TOO_MANY_LOOPS.at(
                command.span, command="cuda", count=len(loops), what=what, limit=MAX_AXES
            )


def _acc_sizes(wanted: AccAxes, span: Span) -> Diagnostic | None:
    """Return why a device cannot launch the sizes of an ``acc`` command, or None."""
    length, workers = wanted.vector_length or WARP, wanted.num_workers or 1
    if length % WARP or length * workers > GANG_LIMIT:
        return ACC_SIZES.at(span, length=length, workers=workers, warp=WARP, limit=GANG_LIMIT)
    return None


def _contraction(command: Command, point: Mapping[str, Value]) -> WishedTile:
    """Return the tile that ``contract`` asks for; a role without a loop has an empty name."""

    def extent(loop: str, name: str) -> Extent:
        return loop, count(command, name, point) or 1

    thread = (*loop_names(command, "thread", point), "", "")
    register = (*loop_names(command, "register", point), "", "")
    tile = ContractionTile(
        extent(thread[0], "thread_x"),
        extent(thread[1], "thread_y"),
        extent(register[0], "register_x"),
        extent(register[1], "register_y"),
        extent((*loop_names(command, "sum", point), "")[0], "step"),
    )
    is_open = argument_of(command, "stage") is None
    staged = None if is_open else loop_names(command, "stage", point)
    return WishedTile(tile, loop_names(command, "assign", point), staged)


def _movement(command: Command, wish: MovementWish, point: Mapping[str, Value]) -> MovementWish:
    """Return `wish` with what a command says of it.

    Raises:
        AnnotuneError: A count is no number from 1, or a place no place of a pipeline.
    """
    match command.name:
        case "pipeline":
            return replace(
                wish,
                stages=count(command, "stages", point),
                through=Through(word(command, "through", tuple(Through)) or Through.SHARED),
            )
        case "vectors":
            copied, read = count(command, "copied", point), count(command, "read", point)
            return replace(wish, copied=copied, read=read)
        case "stream":
            return replace(wish, streamed=True)
        case _:
            return replace(wish, resident=count(command, "blocks", point))


MEMORIES = {"shared": MemorySpace.SHARED, "registers": MemorySpace.PRIVATE}


def _staging(command: Command, point: Mapping[str, Value]) -> Staging:
    """Return the copy that ``stage`` asks for, in shared memory where it does not say."""
    loop = (*loop_names(command, "loop", point), "")[0]
    layout = tuple((name, 0) for name in loop_names(command, "order", point))
    space = MEMORIES.get(name(command, "memory") or "shared", MemorySpace.SHARED)
    padding = count(command, "padding", point) or 0
    return Staging(name(command, "array"), loop, layout, space, padding=padding)


def _unknown_names(command: Command, copy: Staging, body: Body) -> Iterator[Diagnostic]:
    """Yield what is wrong with the array and the memory that ``stage`` names."""
    memory = name(command, "memory")
    if memory and memory not in MEMORIES:
        hint = nearest(memory, MEMORIES)
        known = ", ".join(MEMORIES)
        yield NO_SUCH_MEMORY.at(command.span, memory=memory, hint=hint, known=known)
    number = statement(command)
    assigns = [assign for assign, _ in walk_paths(body) if assign.number == number]
    known_arrays = sorted({a.array for s in assigns for e in s.sources() for a in accesses(e)})
    if assigns and copy.array not in known_arrays:
        yield NO_SUCH_ARRAY.at(
            command.span,
            statement=number,
            array=copy.array,
            hint=nearest(copy.array, known_arrays),
            known=", ".join(known_arrays) or "none",
        )


def _acc(command: Command, point: Mapping[str, Value]) -> AccAxes:
    return AccAxes(
        loop_names(command, "gang", point),
        loop_names(command, "worker", point),
        loop_names(command, "vector", point),
        count(command, "num_gangs", point),
        count(command, "num_workers", point),
        count(command, "vector_length", point),
        loop_names(command, "cache", point),
        name(command, "clause"),
    )
