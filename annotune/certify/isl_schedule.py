"""Where and when a plan runs each iteration of a statement, as isl text.

The checker knows blocks, which meet when a kernel ends, and threads, which meet inside. On the
cores of a CPU, iterations of a loop that threads share never meet before its end, as blocks; where
they combine a sum they do, as threads. Lanes are threads: they meet at the ends of their loop. Of
OpenACC's workers, the iterations that gangs share are blocks, and those of workers and lanes are
the threads of a block, whatever the sizes of the launch are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from annotune.analysis.facts import Analysis
from annotune.analysis.schedule import merged_value
from annotune.certify.certificate import Placement
from annotune.certify.isl_text import IslText, affine_text
from annotune.codegen.cuda.grid import BLOCKS, THREADS, grid, own_count
from annotune.ir.expr import Binary, Expr, Int, Var
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Level, Loop, Stmt, walk_paths
from annotune.schedule.plan import HostLoop, Kernel, Step
from annotune.transforms.legality import joins

# (block x, y, z, thread x, y, z): the places of a worker's coordinates.
_AXES = (*BLOCKS, *THREADS)
_FIRST_THREAD = len(BLOCKS)
# A count that a loop around sets is below this; what leaves its own loop is found by the coverage.
_MANY = 1 << 40


@dataclass
class Placer:
    """Collects the relations, statement by statement, in isl text with ``i0, i1, …``.

    `combined` are the places of a worker over which a statement's partial results of a scalar or
    an array are combined; `dealt` says of a statement when workers run its iterations.
    """

    analysis: Analysis
    placed: dict[int, Placement] = field(default_factory=dict)
    combined: dict[tuple[int, str], tuple[int, ...]] = field(default_factory=dict)
    dealt: dict[int, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    @cached_property
    def written(self) -> Mapping[int, tuple[Assign, tuple[Loop, ...]]]:
        """Return each statement as the user wrote it, with the loops around it."""
        return {one.number: (one, around) for one, around in walk_paths(self.body)}

    @property
    def body(self) -> tuple[Stmt, ...]:
        """Return the region's own statements."""
        return self.analysis.region.nest.body

    def iterators(self, number: int) -> dict[str, str]:
        """Return the isl names of the loops around a statement."""
        return {loop.var: f"i{k}" for k, loop in enumerate(self.written[number][1])}

    def text(self, number: int) -> IslText:
        """Return the writer of isl text over the iterators of a statement."""
        return IslText(self.iterators(number), self.analysis.region.sizes)

    def instance(self, number: int) -> str:
        """Return ``S0[i0, i1]``."""
        return f"S{number}[{', '.join(self.iterators(number).values())}]"

    def domain(self, number: int) -> str:
        """Return the iterations of its loops in which a statement may run."""
        assign, around = self.written[number]
        text = self.text(number)
        facts = list(within(text, around))
        if assign.guard is not None:
            facts.append(text.where(assign.guard)[0])
        return f"{{ {self.instance(number)} : {' and '.join(facts) or 'true'} }}"

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
        """Record where each statement of a kernel runs, as `steps` does."""
        for assign, around in walk_paths(kernel.scheduled):
            number = assign.number
            value = self.values(number, (*loops, *around))
            axes = self.axes(around)
            extents, trips = self.extents(kernel, axes)
            worker: list[str] = []
            turns: list[tuple[int, str]] = []
            for place, (extent, trip) in enumerate(zip(extents, trips, strict=True)):
                index = self.index(axes[place], value) if place in axes else "0"
                if place in axes and trip > extent:
                    # An axis shorter than its loop runs it in strides: index modulo extent.
                    turns.append((place, f"floor(({index})/{extent})"))
                    index = f"{index} - {extent}*{turns[-1][1]}"
                worker.append(index)
            of_block = [turn for place, turn in turns if place < _FIRST_THREAD]
            joining = _joining(around)
            phase = [*of_block, *self.serial(kernel.scheduled, number, value, joining)]
            order = [turn for _, turn in turns] + self.serial(kernel.scheduled, number, value)
            own = self.values(number, self.written[number][1])
            self.placed[number] = Placement(
                self.domain(number),
                self.relation(number, self.serial(self.body, number, own)),
                self.relation(number, [value.get(o, o) for o in outer]),
                self.relation(number, worker),
                self.relation(number, order),
                tuple(extents),
                self.relation(number, phase),
                joining is not None,
            )
            for combine in dict.fromkeys(c for loop in around for c in loop.combines):
                over = (p for p, axis in axes.items() if any(combine in x.combines for x in axis))
                self.combined[number, combine.name] = tuple(sorted(over))

    def axes(self, around: tuple[Loop, ...]) -> Mapping[int, tuple[Loop, ...]]:
        """Return the loops on each place of a worker's coordinates, the outermost first."""
        found = {k: tuple(x for x in around if x.place == level) for k, level in enumerate(_AXES)}
        return {place: axis for place, axis in found.items() if axis}

    def extents(
        self, kernel: Kernel, axes: Mapping[int, tuple[Loop, ...]]
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Return the extent of each axis of the launch, and how often its loops run."""
        shape = grid(kernel, self.analysis.region.sizes)
        blocks = [min(shape.tuned.get(b, 1), shape.limits[b]) for b in BLOCKS]
        return (*blocks, *shape.threads), [shape.tuned.get(level, 1) for level in _AXES]

    def index(self, loops: Sequence[Loop], value: Mapping[str, str]) -> str:
        """Return the index on an axis of the iteration of all loops on it, the first fastest."""
        *others, last = loops
        text = self.count(last, value)
        for loop in reversed(others):
            trip = fold(own_count(loop), self.analysis.region.sizes)
            assert isinstance(trip, Int)
            text = f"({self.count(loop, value)} + {trip.value}*({text}))"
        return text

    def count(self, loop: Loop, value: Mapping[str, str]) -> str:
        """Return how many iterations of a loop come before the statement's own."""
        first = value.get(loop.lower.name) if isinstance(loop.lower, Var) else None
        lower = self.text_of(loop.lower, value) if first is None else first
        distance = value[loop.var] if lower == "0" else f"({value[loop.var]} - ({lower}))"
        return distance if loop.step == 1 else f"floor(({distance})/{loop.step})"

    def text_of(self, expr: Expr, value: Mapping[str, str]) -> str:
        """Return an expression over loops with the values `value` as isl text, sizes put in."""
        known = {name: _enclosed(text) for name, text in value.items()}
        return affine_text(expr, known, self.analysis.region.sizes)

    def values(self, number: int, around: Sequence[Loop]) -> dict[str, str]:
        """Return each loop's value as isl text over the statement's own iterators.

        That of a loop over workers is a name, of which `dealt` then says what it may be.
        """
        own = self.iterators(number)
        own |= {loop.var: merged_value(loop, own) for loop in around if loop.merges}
        for loop in around:
            if loop.deal_of:
                dealt = next(one for one in around if one.var == loop.deal_of)
                own[loop.var] = f"w{dealt.var}"
                names = {name: _enclosed(text) for name, text in own.items()}
                text = IslText(names, self.analysis.region.sizes)
                # A worker runs an iteration as the bounds of both loops say.
                turns = tuple(within(text, (loop, dealt)))
                self.dealt.setdefault(number, {})[own[loop.var]] = turns
            elif loop.tile_of:
                first = self.text_of(loop.lower, own)
                inner, step = own[loop.tile_of], loop.step
                if first == "0":
                    own[loop.var] = f"{step}*floor(({inner})/{step})"
                else:
                    own[loop.var] = f"{first} + {step}*floor(({inner} - ({first}))/{step})"
        return own

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


class CorePlacer(Placer):
    """Collects the relations of kernels whose loops are shared by threads, or lanes.

    Workers at the levels `SEPARATE` do not meet before the end of their loop, those at the levels
    `MEETING` do.
    """

    SEPARATE = frozenset({Level.CPU_THREAD})
    MEETING = frozenset({Level.SIMD})

    def axes(self, around: tuple[Loop, ...]) -> Mapping[int, tuple[Loop, ...]]:
        """Return the loops on each place; more loops than axes share the last one."""
        shared = [loop for loop in around if loop.place in self.SEPARATE]
        lanes = [loop for loop in around if loop.place in self.MEETING]
        combining = [loop for loop in shared if loop.combines]
        blocks = [loop for loop in shared if not loop.combines]
        return {**_spread(blocks, 0), **_spread([*combining, *lanes], _FIRST_THREAD)}

    def extents(
        self, kernel: Kernel, axes: Mapping[int, tuple[Loop, ...]]
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Return how many iterations the loops of each axis have together, twice."""
        extents = [1] * len(_AXES)
        for place, axis in axes.items():
            for loop in axis:
                count = fold(own_count(loop), self.analysis.region.sizes)
                extents[place] *= count.value if isinstance(count, Int) else _MANY
        return extents, extents


def _spread(loops: list[Loop], first: int) -> dict[int, tuple[Loop, ...]]:
    """Return the axes of `loops`, from the place `first` on."""
    most = len(BLOCKS)
    alone = loops[: most - 1] if len(loops) > most else loops
    found: dict[int, tuple[Loop, ...]] = {first + k: (x,) for k, x in enumerate(alone)}
    if len(loops) > most:
        found[first + most - 1] = tuple(reversed(loops[most - 1 :]))
    return found


class AccPlacer(CorePlacer):
    """Collects the relations of kernels whose loops are on gangs, workers and vectors."""

    SEPARATE = frozenset({Level.GANG})
    MEETING = frozenset({Level.WORKER, Level.VECTOR})


def _joining(around: tuple[Loop, ...]) -> Loop | None:
    """Return the loop of a statement before and after which the workers of a block meet.

    There the order of the text holds between what stands inside it and what stands beside it.
    """
    # Blocks meet when the kernel ends, and not before.
    teams = (loop for loop in around if loop.place not in BLOCKS)
    return next((loop for loop in teams if joins(loop, around)), None)


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
