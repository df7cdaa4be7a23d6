"""Where and when a plan runs each iteration of a statement, as isl text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotune.analysis.facts import Analysis
from annotune.analysis.schedule import merged_value
from annotune.certify.isl_text import IslText, affine_text
from annotune.codegen.c_expr import c_expr
from annotune.codegen.cuda.grid import BLOCKS, THREADS, grid, own_count
from annotune.ir.expr import Binary, Expr, Int, Var, substitute
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Level, Loop, Stmt, walk_paths
from annotune.schedule.plan import HostLoop, Kernel, Step
from annotune.transforms.legality import joins


@dataclass
class Maker:
    """Collects the relations, statement by statement, in isl text with ``i0, i1, …``."""

    analysis: Analysis
    launch: dict[int, str] = field(default_factory=dict)
    worker: dict[int, str] = field(default_factory=dict)
    time: dict[int, str] = field(default_factory=dict)
    grids: dict[int, tuple[int, ...]] = field(default_factory=dict)
    phase: dict[int, str] = field(default_factory=dict)
    joined: set[int] = field(default_factory=set)
    combined: dict[tuple[int, str], tuple[int, ...]] = field(default_factory=dict)
    dealt: dict[int, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def text(self, number: int) -> IslText:
        """Return the writer of isl text over the iterators of a statement."""
        names = {p.var: f"i{k}" for k, p in enumerate(self.analysis.paths[number])}
        return IslText(names, self.analysis.region.sizes)

    def bounds(self, assign: Assign, around: Sequence[Loop]) -> list[str]:
        """Return in isl text which iterations of its loops a statement may run in."""
        text = self.text(assign.number)
        facts = list(within(text, around))
        if assign.guard is not None:
            facts.append(text.where(assign.guard)[0])
        return facts

    def instance(self, number: int) -> str:
        """Return ``S0[i0, i1]``."""
        depth = len(self.analysis.paths[number])
        return f"S{number}[{', '.join(f'i{k}' for k in range(depth))}]"

    def names(self, number: int) -> dict[str, Expr]:
        """Return the isl names of a statement's iterators."""
        return {p.var: Var(f"i{k}") for k, p in enumerate(self.analysis.paths[number])}

    def affine(self, expr: Expr, number: int) -> str:
        """Return an expression over iterators and sizes as isl text, sizes put in."""
        return affine_text(substitute(expr, self.names(number)), self.analysis.region.sizes)

    def relation(self, number: int, coordinates: Sequence[str], name: str = "") -> str:
        """Return the map from a statement's iterations to coordinates, of the tuple `name`.

        The number of a worker is whatever its loops allow: where they leave out an iteration,
        or give it to two, so does the map.
        """
        dealt = self.dealt.get(number, {})
        names = {word for text in coordinates for word in re.findall(r"\w+", text)}
        free = [worker for worker in dealt if worker in names]
        if not free:
            return f"{{ {self.instance(number)} -> {name}[{', '.join(coordinates)}] }}"
        places = [f"x{k}" for k in range(len(coordinates))]
        facts = [f"{x} = {c}" for x, c in zip(places, coordinates, strict=True)]
        facts += [fact for worker in free for fact in dealt[worker]]
        where = f"exists {', '.join(free)} : {' and '.join(facts)}"
        return f"{{ {self.instance(number)} -> {name}[{', '.join(places)}] : {where} }}"

    def steps(self, steps: Sequence[Step], outer: tuple[str, ...], loops: tuple[Loop, ...]) -> None:
        """Record where each statement of the steps runs, below the host loops `loops`.

        `outer` is the launch order so far, with loop names standing for their values.
        """
        for place, step in enumerate(steps):
            match step:
                case HostLoop(loop, inner):
                    self.steps(inner, (*outer, str(place), loop.var), (*loops, loop))
                case Kernel():
                    self.kernel(step, (*outer, str(place)), loops)

    def kernel(self, kernel: Kernel, outer: tuple[str, ...], loops: tuple[Loop, ...]) -> None:
        shape = grid(kernel, self.analysis.region.sizes)
        extents = [min(shape.tuned.get(b, 1), shape.limits[b]) for b in BLOCKS]
        extents += shape.threads
        for assign, around in walk_paths(kernel.scheduled):
            number = assign.number
            value = self.values(number, (*loops, *around))
            worker: list[str] = []
            order: list[str] = []
            strides: list[str] = []
            for level, extent in zip((*BLOCKS, *THREADS), extents, strict=True):
                loops_here = [loop for loop in around if loop.place == level]
                if not loops_here:
                    worker.append("0")
                    continue
                index = self.index(loops_here, number, value)
                if shape.tuned[level] <= extent:
                    worker.append(index)
                    continue
                # An axis shorter than its loop runs it in strides: index modulo extent.
                worker.append(f"{index} - {extent}*floor(({index})/{extent})")
                order.append(f"floor(({index})/{extent})")
                strides += order[-1:] if level in BLOCKS else []
            order += self.serial(kernel.scheduled, number, value)
            self.meetings(kernel.scheduled, number, around, value, strides)
            self.launch[number] = self.relation(number, [value.get(o, o) for o in outer])
            self.worker[number] = self.relation(number, worker)
            self.time[number] = self.relation(number, order)
            self.grids[number] = tuple(extents)

    def index(self, loops: Sequence[Loop], number: int, value: Mapping[str, str]) -> str:
        """Return the index on an axis of the iteration of all loops on it, the first fastest."""
        *others, last = loops
        text = self.count(last, number, value)
        for loop in reversed(others):
            trip = fold(own_count(loop), self.analysis.region.sizes)
            assert isinstance(trip, Int)
            text = f"({self.count(loop, number, value)} + {trip.value}*({text}))"
        return text

    def count(self, loop: Loop, number: int, value: Mapping[str, str]) -> str:
        """Return how many iterations of a loop come before the statement's own."""
        lower = self.base(loop, number, value)
        distance = value[loop.var] if lower == "0" else f"({value[loop.var]} - ({lower}))"
        return distance if loop.step == 1 else f"floor(({distance})/{loop.step})"

    def base(self, loop: Loop, number: int, value: Mapping[str, str]) -> str:
        """Return the first value of a loop: a size, or the start of its tile."""
        match loop.lower:
            case Var(name) if name in value:
                return value[name]
            case _:
                return self.text_of(loop.lower, number, value)

    def text_of(self, expr: Expr, number: int, value: Mapping[str, str]) -> str:
        """Return an expression over loops with the values `value` as isl text, sizes put in."""
        known = {name: Var(_enclosed(text)) for name, text in value.items()}
        return affine_text(substitute(expr, known), self.analysis.region.sizes)

    def values(self, number: int, around: Sequence[Loop]) -> dict[str, str]:
        """Return each loop's value as isl text over the statement's own iterators.

        That of a loop over workers is a name, of which `dealt` then says what it may be.
        """
        own = {name: c_expr(v) for name, v in self.names(number).items()}
        own |= {loop.var: merged_value(loop, own) for loop in around if loop.merges}
        for loop in around:
            if loop.deal_of:
                dealt = next(one for one in around if one.var == loop.deal_of)
                own[loop.var] = f"w{dealt.var}"
                self.dealt.setdefault(number, {})[own[loop.var]] = self.turns(
                    loop, dealt, number, own
                )
            elif loop.tile_of:
                first = self.text_of(loop.lower, number, own)
                inner, step = own[loop.tile_of], loop.step
                if first == "0":
                    own[loop.var] = f"{step}*floor(({inner})/{step})"
                else:
                    own[loop.var] = f"{first} + {step}*floor(({inner} - ({first}))/{step})"
        return own

    def turns(
        self, worker: Loop, dealt: Loop, number: int, value: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return when a worker runs an iteration of `dealt`, as the bounds of both loops say."""
        names = {name: _enclosed(text) for name, text in value.items()}
        text = IslText(names, self.analysis.region.sizes)
        return tuple(within(text, (worker, dealt)))

    def serial(
        self,
        body: tuple[Stmt, ...],
        number: int,
        value: Mapping[str, str],
        until: Loop | None = None,
    ) -> list[str]:
        """Return the order inside a thread: positions and values of serial loops in turn.

        It ends at the loop `until`, if that is given.
        """
        for place, stmt in enumerate(body):
            if stmt is until or (isinstance(stmt, Assign) and stmt.number == number):
                return [str(place)]
            if isinstance(stmt, Loop) and any(a.number == number for a, _ in walk_paths((stmt,))):
                inner = self.serial(stmt.body, number, value, until)
                if stmt.place == Level.SERIAL:
                    return [str(place), value[stmt.var], *inner]
                return inner if len(body) == 1 else [str(place), "0", *inner]
        raise KeyError(number)

    def meetings(
        self,
        body: tuple[Stmt, ...],
        number: int,
        around: tuple[Loop, ...],
        value: Mapping[str, str],
        strides: Sequence[str],
    ) -> None:
        """Record the order that the meetings of a block's workers make, and what they combine.

        Before and after a loop that joins they wait for each other: the order of the text
        holds between what stands inside it and what stands beside it. `strides` are the
        turns of the block itself.
        """
        # Blocks meet when the kernel ends, and not before.
        teams = (loop for loop in around if loop.place not in BLOCKS)
        joining = next((loop for loop in teams if joins(loop, around)), None)
        if joining is not None:
            self.joined.add(number)
        order = [*strides, *self.serial(body, number, value, joining)]
        self.phase[number] = self.relation(number, order)
        levels = (*BLOCKS, *THREADS)
        for combine in {c for loop in around for c in loop.combines}:
            places = [loop.place for loop in around if combine in loop.combines]
            shared = sorted(levels.index(place) for place in places if place in levels)
            self.combined[number, combine.name] = tuple(shared)


def within(text: IslText, loops: Sequence[Loop]) -> Iterator[str]:
    """Yield in isl text that the iterators of `loops` are inside their bounds, and on a step."""
    for loop in loops:
        yield text.where(Binary("<=", loop.lower, Var(loop.var)))[0]
        yield text.where(Binary("<", Var(loop.var), loop.upper))[0]
        if loop.step > 1:
            steps = [
                f"({c.where} and ({text.names[loop.var]} - ({c.value})) mod {loop.step} = 0)"
                for c in text.cases(loop.lower) or ()
            ]
            yield f"({' or '.join(steps)})"


def _enclosed(text: str) -> str:
    """Return isl text that may stand in a product."""
    return text if text.isidentifier() else f"({text})"


def text_order(body: tuple[Stmt, ...], number: int, value: Mapping[str, str]) -> list[str]:
    """Return the order of the C text: positions and values of all loops in turn."""
    for place, stmt in enumerate(body):
        if isinstance(stmt, Assign) and stmt.number == number:
            return [str(place)]
        if isinstance(stmt, Loop) and any(a.number == number for a, _ in walk_paths((stmt,))):
            return [str(place), value[stmt.var], *text_order(stmt.body, number, value)]
    raise KeyError(number)
