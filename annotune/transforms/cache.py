"""What a compiler is told of a kernel beside its nest, which stays as it is.

What the lanes of a gang read again and again, to keep it near; how many blocks should fit on a
multiprocessor, so that a thread takes few registers; where arrays start, so that it loads
neighbours at once; and sizes that it is not told.

And which outputs the host adds to: of an array that a region only adds to nothing is sent, kernels
begin at -0.0 there, which added to any number is that number, and the host adds what comes back.
Or which share of a call the host computes itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from math import prod
from typing import ClassVar

from annotune.analysis.facts import AccessFacts, Analysis
from annotune.analysis.reductions import adds_to_real, is_narrowed
from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Access, Binary, Expr, Int, Select, Var, accesses, substitute, walk
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Assign, CachedSection, Level, Loop, expressions, walk_stmts
from annotune.transforms.legality import missing
from annotune.transforms.messages import NOT_ADDED, NOT_ALIGNED, NOT_ANY_SIZE, NOT_BOTH, NOT_CACHED
from annotune.transforms.transform import (
    CUDA_GUIDE,
    TALK,
    Context,
    Feature,
    Moving,
    OnStatement,
    PhaseRank,
    SettingGroup,
    StepPhase,
    StepSetting,
    Subject,
    Word,
    takes,
)
from annotune.transforms.tree import Body, find_assign, numbers, path, target_name, top_of

# Bytes of the sections of a gang together: what a block may have of shared memory, where a
# compiler may put them, without asking for more (CUDA C++ Programming Guide).
CACHED_BYTES = 48 * 1024


@dataclass(frozen=True, slots=True)
class Cache(OnStatement):
    """Ask in a gang for boxes of `arrays` that the kernel of `statement` reads more than once.

    ``Cache(0, ("a",))`` changes nothing of the nest: the kernel has the `sections` beside it, and
    OpenACC's ``cache`` directive names them. Gangs are mapped before.

    Source: OpenACC 3.3, section 2.10.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 10)
    feature: ClassVar[str | None] = Feature.GANG_CACHE
    is_decided: ClassVar[bool] = True
    asked_with: ClassVar[tuple[str, ...]] = ("acc",)
    word: ClassVar[Word] = Word(
        "cache",
        "name boxes of arrays that a gang reads again and again, for the compiler to keep near",
        'cache(0, ("a"))',
        "OpenACC 3.3, 2.10",
        exact=True,
    )
    arrays: tuple[str, ...] = takes(Kind.NAMES)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the refusal of an array of which a gang reads no box more than once, or None."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        known = [section.array for section in sections(body, context, self.statement)]
        for array in self.arrays:
            if array not in known:
                listed = ", ".join(known) or "none"
                return NOT_CACHED.at(self.span, array=array, known=listed)
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` as it is."""
        return body

    def cached(self, body: Body, context: Context) -> tuple[CachedSection, ...]:
        """Return the sections of the arrays, in the order in which these are named."""
        found = {one.array: one for one in sections(body, context, self.statement)}
        return tuple(found[array] for array in self.arrays)


def sections(body: Body, context: Context, statement: int) -> tuple[CachedSection, ...]:
    """Return the sections that a gang of a kernel reads more than once, in text order.

    They are boxes of arrays that the kernel does not write, and every gang reads all of its box:
    the last tile of a loop is whole, and no condition leaves elements out. The first element of a
    section must not change in the loop that the directive stands in, and its lengths are constants
    of the tuned sizes. Without gang loops nothing stays in place for a gang. A compiler may read
    all of a section.
    """
    nest = _Gang.around(body, statement, context)
    counts = {name: count for name, count in nest.inside.items() if count is not None}
    if not nest.has_gangs or len(counts) < len(nest.inside):
        return ()
    arrays = context.analysis.region.arrays
    found: dict[str, CachedSection] = {}
    room = CACHED_BYTES
    for access in nest.reads:
        array = access.access.array
        if array in nest.written or array in found or array not in arrays:
            continue
        section = None if nest.leaves_out(access) else nest.section(access, counts)
        if section is None:
            continue
        size = element_bytes(arrays[array].element) * prod(n for _, n in section.rows)
        if size <= room:
            found[array] = section
            room -= size
    return tuple(found.values())


class _Gang:
    """The loops of a kernel that run inside one of its gangs, and what its statements touch.

    The host may run loops around the kernel, and other kernels in them.
    """

    def __init__(self, hosts: tuple[Loop, ...], kernel: Loop, context: Context) -> None:
        self.analysis: Analysis = context.analysis
        self.sizes = context.tuned
        self.statements = tuple(sorted(numbers(kernel)))
        self.paths = {n: (*hosts, *path((kernel,), n)) for n in self.statements}
        loops = {id(x): x for own in self.paths.values() for x in own}
        self.tiles = {x.tile_of: x for x in loops.values() if x.tile_of}
        self.outside = {x.var for own in self.paths.values() for x in _outside(own)}
        self.has_gangs = any(x.place is Level.GANG for x in loops.values())
        facts = {n: self.analysis.accesses[n] for n in self.statements}
        self.written = {f.access.array for own in facts.values() for f in own if f.is_write}
        self.reads = [f for own in facts.values() for f in _inputs(own)]
        self.inside = dict(self._inside())

    @classmethod
    def around(cls, body: Body, statement: int, context: Context) -> _Gang:
        """Return the gang of the kernel of a statement: of the outermost loop that is placed."""
        loops = path(body, statement)
        placed = (k for k, loop in enumerate(loops) if loop.place is not Level.SERIAL)
        first = next(placed, 0)
        return cls(loops[:first], loops[first], context)

    def _inside(self) -> Iterator[tuple[str, int | None]]:
        """Yield the loops that run inside a gang with their counts: whole ones, tiles of one."""
        around = (loop.var for n in self.statements for loop in self.analysis.paths[n])
        for name in dict.fromkeys(around):
            # The user may have a loop `k_t` beside one `k` that is in no tiles.
            if name in self.tiles and self.tiles[name].var in self.outside:
                yield name, self._size(name)
            elif name not in self.outside:
                yield name, self._trips(name)

    def _size(self, name: str) -> int:
        """Return the iterations of one tile of a loop."""
        own = (x for loops in self.analysis.paths.values() for x in loops if x.var == name)
        return self.tiles[name].step // next(own).step

    def _trips(self, name: str) -> int | None:
        """Return how often a loop of the text runs, None where that varies."""
        loops = (x for n in self.statements for x in self.analysis.paths[n] if x.var == name)
        own = {id(loop): loop for loop in loops}
        counts = {fold(trip_count(loop), self.sizes) for loop in own.values()}
        count = counts.pop() if len(counts) == 1 else None
        return count.value if isinstance(count, Int) else None

    @cached_property
    def _cut(self) -> tuple[str, ...]:
        """Return the loops of which some tile is cut short."""
        return tuple(n for n in self.tiles if (self._trips(n) or 0) % self._size(n))

    def leaves_out(self, access: AccessFacts) -> bool:
        """Return whether some gang reads less by an access than its loops run over."""
        if any(access.strides.get(name, 0) != 0 for name in self._cut):
            return True
        assign = find_assign(self.analysis.region.nest.body, access.statement)
        parts = (part for source in assign.sources() for part in walk(source))
        return assign.guard is not None or any(isinstance(part, Select) for part in parts)

    def section(self, access: AccessFacts, counts: Mapping[str, int]) -> CachedSection | None:
        """Return what a gang reads by one access, None where that is no box, or read once."""
        if all(access.strides.get(name) != 0 for name in counts):
            return None
        starts = {name: self._start(name) for name in counts}
        known = {name: start for name, start in starts.items() if start is not None}
        if len(known) < len(starts):
            return None
        rows = []
        for index in access.access.indices:
            length = self._length(index, counts)
            if length is None:
                return None
            rows.append((fold(substitute(index, known)), length))
        size = prod(length for _, length in rows)
        return CachedSection(access.access.array, tuple(rows)) if size > 1 else None

    def _length(self, index: Expr, counts: Mapping[str, int]) -> int | None:
        """Return how many neighbours a subscript takes over all `counts`, None for gaps."""
        steps = []
        for name, count in counts.items():
            after = substitute(index, {name: Binary("+", Var(name), Int(1))})
            step = fold(Binary("-", after, index), self.sizes)
            if not isinstance(step, Int) or step.value < 0:
                return None
            if step.value:
                steps.append((step.value, count))
        length = 1
        for step_length, count in sorted(steps):
            # Each loop goes on where the one before it ends.
            if step_length != length:
                return None
            length *= count
        return length

    def _start(self, name: str) -> Expr | None:
        """Return where a loop starts in a gang, None where the kernel has several of the name."""
        tile = self.tiles.get(name)
        if tile is not None and tile.var in self.outside:
            return Var(tile.var)
        paths = (self.analysis.paths[n] for n in self.statements)
        lowers = {loop.lower for loops in paths for loop in loops if loop.var == name}
        return lowers.pop() if len(lowers) == 1 else None


def _outside(loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """Return the gang loops around a statement, and the serial ones around the first of them."""
    gangs = [k for k, loop in enumerate(loops) if loop.place is Level.GANG]
    return tuple(
        loop for k, loop in enumerate(loops) if loop.place is Level.GANG or (gangs and k < gangs[0])
    )


def _inputs(facts: tuple[AccessFacts, ...]) -> list[AccessFacts]:
    """Return what a statement reads, without the target of a ``+=``."""
    targets = [fact.access for fact in facts if fact.is_write]
    return [fact for fact in facts if not fact.is_write and fact.access not in targets]


@dataclass(frozen=True, slots=True)
class AnySize(OnStatement):
    """Leave a `size` open that the kernel of `statement` is tuned for: it runs at every value.

    ``AnySize(0, "n")`` changes nothing of the nest. The other steps are done without knowing the
    size, and emitted text does not ask for it before it runs the kernel.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 4)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "any_size",
        "run the kernel whatever value a size has that a call gives",
        'any_size(0, "n")',
        "annotune",
        exact=True,
        names=Subject.ARRAY,
    )
    size: str = takes(Kind.NAME)

    @property
    def left_open(self) -> tuple[str, ...]:
        """Return the size, which emitted text does not ask for."""
        return (self.size,)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason a size cannot be left open, or None when it can."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        region = context.analysis.region
        if self.size not in region.called_sizes:
            reason = "it is no size that a call gives"
            return NOT_ANY_SIZE.at(self.span, size=self.size, reason=reason)
        if not context.analysis.all_sizes:
            reason = "the proofs hold at the tuned sizes alone"
            return NOT_ANY_SIZE.at(self.span, size=self.size, reason=reason)
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` as it is."""
        return body


@dataclass(frozen=True, slots=True)
class Resident(Moving):
    """Let so many `blocks` of the kernel of `statement` fit on a multiprocessor.

    ``Resident(0, 3)`` changes nothing of the nest: the compiler is told with the kernel.

    Source: CUDA C++ Programming Guide, Launch Bounds.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 3)
    setting: ClassVar[StepSetting | None] = StepSetting("resident", SettingGroup.MOVEMENT, 2)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    word: ClassVar[Word] = Word(
        "resident",
        "let a thread have so few registers that this many blocks fit on a multiprocessor",
        "resident(0, 3)",
        CUDA_GUIDE,
        kept=False,
    )
    blocks: int = takes(Kind.COUNT)

    @property
    def set_to(self) -> int:
        """Return how many blocks fit on a multiprocessor."""
        return self.blocks

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the refusal of a statement that is not there, or None."""
        return missing(body, self.statement, (), self.span)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` as it is."""
        return body


NO_START = "is not on the device from its first element on"


def starts_on_device(context: Context, array: str) -> bool:
    """Return whether the device has an array from its first element on, where vectors may start."""
    shape = context.analysis.shapes.get(array)
    return shape is not None and shape.touched is None and fold(shape.lowest) == Int(0)


@dataclass(frozen=True, slots=True)
class Aligned(OnStatement):
    """Tell the compiler of the kernel of `statement` that an `array` starts where vectors may.

    ``Aligned(0, "g")`` changes nothing of the nest: neighbours that a thread reads, ``g[6*i]`` and
    ``g[6*i + 1]``, the compiler may then load with one instruction. Arrays that annotune copies to
    the device start so; where the array is the user's there, the host asks before the launch.

    Source: CUDA C++ Programming Guide, Device Memory Accesses.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 5)
    setting: ClassVar[StepSetting | None] = StepSetting("aligned", SettingGroup.BLOCK, 3)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "aligned",
        "tell the compiler that an array is aligned, so that it loads several neighbours at once",
        'aligned(0, "g")',
        CUDA_GUIDE,
        names=Subject.ARRAY,
        kept=False,
    )
    array: str = takes(Kind.NAME)

    @property
    def set_to(self) -> str:
        """Return the array."""
        return self.array

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason why an array is not known to start so, or None when it is."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        nest = (body[top_of(body, self.statement)],)
        assigns = (s for s in walk_stmts(nest) if isinstance(s, Assign))
        read = {a.array for s in assigns for a in s.reads() if isinstance(a, Access)}
        if self.array not in read or self.array not in context.analysis.region.arrays:
            return NOT_ALIGNED.at(
                self.span, array=self.array, reason="is no array that the nest reads"
            )
        if not starts_on_device(context, self.array):
            return NOT_ALIGNED.at(self.span, array=self.array, reason=NO_START)
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` as it is."""
        return body


def why_not_added(analysis: Analysis, array: str) -> str:
    """Return why the host cannot add what a region adds to an array, empty where it can."""
    region = analysis.region
    if array not in region.arrays:
        return "is no array of the region"
    if region.is_resident:
        return "may stay on the device, where its values are"
    if analysis.stays_on_device(array):
        return "is memory of the region's alone"
    others = (e for stmt in walk_stmts(analysis.inspector) for e in expressions(stmt))
    if any(access.array == array for expr in others for access in accesses(expr)):
        return "is read by the host before the kernels"
    adds = 0
    for stmt in walk_stmts(region.nest.body):
        found = Counter(a.array for expr in expressions(stmt) for a in accesses(expr))[array]
        if not found:
            continue
        is_added = isinstance(stmt, Assign) and target_name(stmt) == array
        if not isinstance(stmt, Assign) or not is_added or not adds_to_real(region, stmt):
            return "is read or set, and not only added to as a real number"
        if is_narrowed(region, stmt):
            return "is narrower than what is added, which may be beyond its range"
        # ``x = x + a`` names what it adds to twice.
        if found > (2 if stmt.op == "=" else 1):
            return "is read for what is added"
        adds += 1
    return "" if adds else "is not written"


@dataclass(frozen=True, slots=True)
class AddOnHost(OnStatement):
    """Compute what a region adds to an `array` from nothing, and add it on the host.

    ``AddOnHost(0, "c")`` changes nothing of the nest, in which every access to the array is the
    target of a ``+=`` or ``-=``: the device's memory begins as -0.0 in place of the array's values,
    and what comes back is added to these. ``x + (a + b)`` takes the place of ``(x + a) + b``, as in
    any sum. Only arrays in the host's memory are added to; others are used where they are.

    Source: PNNL, Deep Dive into GPU Programming: results are accumulated on the host.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 11)
    setting: ClassVar[StepSetting | None] = StepSetting("added", SettingGroup.BLOCK, 6)
    feature: ClassVar[str | None] = Feature.HOST_SUMS
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "add_on_host",
        "send nothing of an array that is only added to, and add on the host what comes back",
        'add_on_host(0, "t3")',
        TALK,
        names=Subject.ARRAY,
    )
    array: str = takes(Kind.NAME)

    @property
    def set_to(self) -> str:
        """Return the array."""
        return self.array

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason why the array has to be sent, or None when it need not be."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        reason = why_not_added(context.analysis, self.array)
        return NOT_ADDED.at(self.span, array=self.array, reason=reason) if reason else None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` as it is."""
        return body


def adding(analysis: Analysis, array: str) -> AddOnHost:
    """Return the step for an array, on the first statement that adds to it."""
    writers = (s.number for s in analysis.region.nest.assigns() if target_name(s) == array)
    return AddOnHost(min(writers), array)


COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Both(OnStatement):
    """Let the host compute a `share` of the outermost parallel loop while a GPU does the rest.

    ``Both(0, "0.25")`` changes nothing of the nest: the last quarter of the iterations is the
    OpenMP text's. ``Both(0, "counter")`` has both take iterations until none is left, the GPU from
    the front and the host from the back. With `gpus` so many of them share what is not the host's.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 12)
    feature: ClassVar[str | None] = Feature.HOST_SHARE
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "both",
        "let the host compute a share of the outermost parallel loop, the GPU the rest",
        'both(0, "0.25")',
        "annotune",
    )
    share: str = takes(Kind.TEXT)
    gpus: int = takes(Kind.COUNT, 1, by_name=True)

    @property
    def part(self) -> float | None:
        """Return the host's share, from 0 to 1; None where a counter shares."""
        return None if self.share == COUNTER else float(self.share)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason why a share is none, or None."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        if not is_share(self.share):
            return NOT_BOTH.at(self.span, share=self.share)
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` as it is."""
        return body


def is_share(text: str) -> bool:
    """Return whether a text says how the host and a GPU share a loop."""
    if text == COUNTER:
        return True
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False
