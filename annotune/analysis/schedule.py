"""Which dependences a rearranged region breaks, exactly, for any order, tiling and placement.

Top-level statements are kernels, run one after the other. A serial loop outside all placed
loops runs before the kernel or around it: all of one iteration is done before the next
begins. Iterations of a placed loop run in no order, by workers that never wait for each
other; inside them, serial loops and the text order what one worker does, and nothing else.

Inside one iteration the text orders, but not for compilers that run iterations as lanes. Told that
a loop's iterations are independent (``omp simd``, ``acc loop vector``), gcc takes all accesses
whose distance it cannot compute for independent, also those of one iteration: with
``a[i + 3] = 4; b[i] = a[m - i];`` it may read before it writes (seen with gcc 12, from -O1 on).
What it can compute it keeps.

A private scalar lives in one iteration of its home, a loop of the text. A schedule may run several
lives side by side once each has an element of a local array instead (scalar expansion; Allen and
Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 5.3).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TypeAlias

import islpy as isl

from annotune.analysis.dependences import (
    constant_distance,
    shortest_distance,
)
from annotune.analysis.domains import IslSpace, any_instance, parsed_map
from annotune.analysis.facts import Analysis, Conflict, Dependence, DependenceKind, Violation
from annotune.analysis.statements import with_values
from annotune.frozen import dataclass
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Int,
    Var,
    accesses,
    print_expr,
    substitute,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.identity import once_for_each
from annotune.ir.nest import (
    Assign,
    Level,
    LocalArray,
    Loop,
    MergedLoop,
    Stmt,
    walk_places,
    walk_stmts,
)

# For each source of dependences those that orders keep or break alike where statements stand alike:
# the sink and the number of each, by a number of what they have in common.
_DependenceIndex: TypeAlias = Mapping[int, Mapping[int, Sequence[tuple[int, int]]]]
# For each private variable the statements that use it, with the loops that own it.
Homes: TypeAlias = Mapping[str, Mapping[int, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Path:
    """Where a statement stands in a rearranged region.

    `position` numbers the place at each level, outermost first, and ends with the
    statement's own; `iterators` are the statement's original loops, outermost first.
    """

    number: int
    loops: tuple[Loop, ...]
    position: tuple[int, ...]
    iterators: tuple[str, ...]

    @property
    def way(self) -> str:
        """Return what of the loops decides who runs an instance, and how they are called.

        It is text, whose hash is known once it has been asked for.
        """
        loops = (
            f"{x.var} {x.root} {x.place} {print_expr(x.lower)} {x.step} {x.merges}"
            for x in self.loops
        )
        return ";".join((*self.iterators, *loops))

    def with_serial(self, loops: frozenset[int]) -> Path:
        """Return the path with the loops whose identities are in `loops` run in order."""
        if not loops:
            return self
        as_serial = (replace(x, place=Level.SERIAL) if id(x) in loops else x for x in self.loops)
        return replace(self, loops=tuple(as_serial))

    def common_depth(self, other: Path) -> int:
        """Return how many loops surround both statements."""
        depth = 0
        limit = min(len(self.loops), len(other.loops))
        while depth < limit and self.position[depth] == other.position[depth]:
            depth += 1
        return depth

    def instance(self, letter: str) -> str:
        """Return the isl tuple of an instance in `Dependence.pairs`, such as ``S[i0, i1]``."""
        return any_instance(len(self.iterators), letter)

    def root(self, loop: Loop) -> int:
        """Return the depth of the original loop that `loop` runs, or whose tiles it runs.

        Of several that run as one it is the innermost.
        """
        merged = {one.var: one.merges[-1].root for one in self.loops if one.merges}
        return self.iterators.index(merged.get(loop.root, loop.root))

    def within(self, letter: str) -> list[str]:
        """Return as isl text that the instance is one of those that its merged loops run.

        They are merged for sizes at which an inner part ends where the next outer one moves on.
        """
        names = {name: f"{letter}{depth}" for depth, name in enumerate(self.iterators)}
        return [
            f"{part.lower} <= {names[part.var]} < {part.lower + outer.stride // part.stride}"
            for loop in self.loops
            for outer, part in pairwise(loop.merges)
            if not part.deal_of
        ]

    def values(self, letter: str, space: IslSpace) -> tuple[str, ...]:
        """Return the value of each loop around the statement, as isl text over its instance."""
        known = {name: f"{letter}{depth}" for depth, name in enumerate(self.iterators)}
        known |= {x.var: merged_value(x, known) for x in self.loops if x.merges}
        texts = []
        for loop in self.loops:
            if loop.deal_of:
                dealt = next(one for one in self.loops if one.var == loop.deal_of)
                deal = _dealing(loop, dealt)
                first = _first(deal.first, loop.var, space, known)
                turn = f"floor(({known[loop.deal_of]} - {first})/{deal.stride})"
                known[loop.var] = f"({turn} - {deal.workers}*floor({turn}/{deal.workers}))"
            elif loop.tile_of:
                first = _first(loop.lower, loop.var, space, known)
                steps = f"floor(({known[loop.root]} - {first})/{loop.step})"
                known[loop.var] = f"({first} + {loop.step}*{steps})"
            texts.append(known[loop.var])
        return tuple(texts)


@dataclass(frozen=True, slots=True)
class _Dealing:
    """What a loop over workers says of the one that it deals out:

    ``for w in 0:workers: for i in first + stride*w:… step stride*workers``.
    """

    first: Expr
    stride: int
    workers: int


def _dealing(worker: Loop, dealt: Loop) -> _Dealing:
    """Return how the iterations of `dealt` go to those of `worker`, which starts from 0.

    Raises:
        ValueError: The loops do not have this form.
    """
    first, second = (fold(substitute(dealt.lower, {worker.var: Int(k)})) for k in (0, 1))
    stride = fold(Binary("-", second, first))
    if (
        not isinstance(stride, Int)
        or stride.value < 1
        or dealt.step % stride.value
        or (worker.lower, worker.step) != (Int(0), 1)
    ):
        raise ValueError(f"'{worker.var}' does not deal out the iterations of '{dealt.var}'")
    return _Dealing(first, stride.value, dealt.step // stride.value)


def names_of(loop: Loop) -> tuple[str, ...]:
    """Return the names of the loops that run as `loop`: its own, where it merges none."""
    return tuple(part.var for part in loop.merges) or (loop.var,)


def merged_value(loop: Loop, known: Mapping[str, str]) -> str:
    """Return the value of a loop that runs several others, as isl text over theirs."""
    terms = (f"{part.stride}*{_part_value(part, known)}" for part in loop.merges)
    return f"({' + '.join(terms)})"


def _part_value(part: MergedLoop, known: Mapping[str, str]) -> str:
    """Return how many iterations of a part come before that of an instance."""
    if not part.deal_of:
        return f"({known[part.var]} - ({part.lower}))"
    turn = f"({known[part.deal_of]} - ({part.first}))"
    return f"({turn} - {part.workers}*floor({turn}/{part.workers}))"


def _first(lower: Expr, name: str, space: IslSpace, known: Mapping[str, str]) -> str:
    """Return as isl text where a loop starts, over the values `known` of those around it."""
    text = space.value(lower, known)
    if text is None:
        raise ValueError(f"the first value of '{name}' is not affine")
    return f"({text})"


def paths(analysis: Analysis, body: tuple[Stmt, ...]) -> dict[int, Path]:
    """Return where each statement stands in `body`.

    Raises:
        ValueError: A statement stands there twice, lacks one of its original loops, or is inside a
            loop that is neither its own nor steps over its tiles or deals its iterations out.
    """
    found: dict[int, Path] = {}
    iterators = _iterators(analysis)
    # Statements of one loop, as of loops of the same names in the text, are alike.
    known: set[tuple[int, tuple[str, ...]]] = set()
    for stmt, loops, position in walk_places(body):
        if not isinstance(stmt, Assign):
            continue
        if stmt.number in found:
            raise ValueError(f"statement {stmt.number} stands in the body twice")
        path = Path(stmt.number, loops, position, iterators[stmt.number])
        key = id(loops), path.iterators
        if key not in known:
            _expect_own_loops(path)
            known.add(key)
        found[path.number] = path
    return found


@once_for_each(1 << 4)
def _iterators(analysis: Analysis) -> Mapping[int, tuple[str, ...]]:
    """Return the names of each statement's original loops, outermost first."""
    return {number: tuple(x.var for x in loops) for number, loops in analysis.paths.items()}


def _expect_own_loops(path: Path) -> None:
    """Raise ValueError where a statement lacks one of its loops, or is inside one of others."""
    variables = [name for loop in path.loops for name in names_of(loop)]
    merged = {loop.var for loop in path.loops if loop.merges}
    for name in path.iterators:
        if variables.count(name) != 1:
            raise ValueError(f"statement {path.number} needs the loop '{name}' once")
    for loop in path.loops:
        if loop.root not in {*path.iterators, *merged}:
            raise ValueError(f"loop '{loop.var}' is no loop of statement {path.number}")


def space_of(analysis: Analysis) -> IslSpace:
    """Return how the analysis names sizes: numbers where its claims hold for them alone."""
    region = analysis.region
    values = region.constants if analysis.all_sizes else region.known_sizes
    return IslSpace(with_values(values, analysis.rounded), frozenset(analysis.rounded))


def violations(analysis: Analysis, body: tuple[Stmt, ...]) -> tuple[Violation, ...]:
    """Return the dependences that `body` does not keep; none when it is legal.

    Raises:
        ValueError: `body` does not hold every statement once, inside its own loops.
    """
    there = {stmt.number for stmt in walk_stmts(body) if isinstance(stmt, Assign)}
    missing = sorted(set(analysis.paths) - there)
    if missing:
        raise ValueError(f"statement {missing[0]} is missing from the body")
    return tuple(broken(analysis, body))


def broken(
    analysis: Analysis,
    body: tuple[Stmt, ...],
    serial: Callable[[Dependence], frozenset[int]] = lambda _: frozenset(),
    changed: Collection[int] | None = None,
) -> Iterator[Violation]:
    """Yield the dependences that `body` does not keep, as `violations` has them all.

    Where `body` is one nest of a region, they are those between its statements. A dependence meets
    the loops whose identities `serial` names as if they ran in order; it asks for no more than the
    array, whether it is a reduction, and the loops around the two statements. Where only `changed`
    statements run otherwise than in an order that is legal, no dependence between others is asked.
    """
    found = paths(analysis, body)
    order = _Order(analysis, found, serial)
    if not order.keeps_all_in_one_block():
        yield from order.broken(found if changed is None else changed)
    if analysis.homes:
        yield from _broken_privates(analysis, found, body)


@once_for_each(1 << 4)
def _index_of(analysis: Analysis) -> _DependenceIndex:
    kinds: dict[tuple[object, ...], int] = {}
    found: dict[int, dict[int, list[tuple[int, int]]]] = {}
    for number, one in enumerate(analysis.dependences):
        # Those of equal relations know the same.
        key = id(one.known), one.array, one.is_reduction, one.is_ordered, one.source > one.sink
        kind = kinds.setdefault(key, len(kinds))
        found.setdefault(one.source, {}).setdefault(kind, []).append((one.sink, number))
    return found


class _Order:
    """The order that a rearranged region has for its statements, which are `found` there."""

    def __init__(
        self,
        analysis: Analysis,
        found: Mapping[int, Path],
        serial: Callable[[Dependence], frozenset[int]],
    ) -> None:
        self.analysis = analysis
        self.found = found
        self.serial = serial
        self.index = _index_of(analysis)
        self.space = space_of(analysis)
        self.ends: dict[tuple[int, frozenset[int]], Path] = {}
        # What the loops come to follows from them, and from what the region's sizes are.
        self.ways: dict[tuple[int, frozenset[int]], str] = {}
        # Statements in the same loops, one after the other, of which one stands for all.
        blocks: dict[tuple[object, ...], int] = {}
        self.blocks: dict[int, int] = {}
        for number, path in found.items():
            # All statements of a loop have the same tuple of the loops around them.
            around = path.iterators, id(path.loops) if path.loops else path.position
            self.blocks[number] = blocks.setdefault(around, len(blocks))
        self.count = len(blocks)

    def keeps_all_in_one_block(self) -> bool:
        """Return whether one block has all statements in text order, and keeps all dependences."""
        numbers = [*self.found]
        if self.count != 1 or len(numbers) < 2 or numbers != sorted(numbers):
            return False
        kept: set[int] = set()
        for source in numbers:
            for kind, ends in self.index.get(source, {}).items():
                if kind in kept:
                    continue
                number = next((n for sink, n in ends if sink in self.found), None)
                if number is None:
                    continue
                if self.conflict(self.analysis.dependences[number]) is not None:
                    return False
                kept.add(kind)
        return True

    def broken(self, changed: Collection[int]) -> Iterator[Violation]:
        """Yield the dependences of `changed` statements that are not kept, as they were found."""
        broken: list[tuple[int, Conflict]] = []
        for numbers in sorted(self._alike(changed), key=min):
            first = min(numbers)
            conflict = self.conflict(self.analysis.dependences[first])
            if conflict is None:
                continue
            if not broken:
                # Who asks whether an order is legal asks for no other.
                yield conflict.of(self.analysis.dependences[first])
            broken += [(number, conflict) for number in numbers]
        for number, conflict in sorted(broken, key=itemgetter(0))[1:]:
            yield conflict.of(self.analysis.dependences[number])

    def _alike(self, changed: Collection[int]) -> Iterable[Sequence[int]]:
        """Return the numbers of dependences, together those that are all kept, or all broken."""
        alike: dict[tuple[int, int, int, bool], list[int]] = {}
        found, blocks = self.found, self.blocks
        for source, own in found.items():
            is_changed, place = source in changed, own.position
            for kind, ends in self.index.get(source, {}).items():
                for sink, number in ends:
                    if sink not in found or not (is_changed or sink in changed):
                        continue
                    other = found[sink].position
                    # Whatever two kernels do inside, the first has ended.
                    if place[0] >= other[0]:
                        key = kind, blocks[source], blocks[sink], place > other
                        alike.setdefault(key, []).append(number)
        return alike.values()

    def conflict(self, dependence: Dependence) -> Conflict | None:
        """Return how the order breaks a dependence, None where it keeps it."""
        in_order = self.serial(dependence)
        # The loops around a statement, but for those of others.
        loops = self.found[dependence.source].loops, self.found[dependence.sink].loops
        first = dependence.source, in_order and in_order.intersection(map(id, loops[0]))
        then = dependence.sink, in_order and in_order.intersection(map(id, loops[1]))
        for end in (first, then):
            if end not in self.ends:
                self.ends[end] = self.found[end[0]].with_serial(in_order)
                self.ways[end] = self.ends[end].way
        source, sink = self.ends[first], self.ends[then]
        depth, is_late = source.common_depth(sink), source.position > sink.position
        key = self.ways[first], self.ways[then], depth, is_late, dependence.is_free
        if key not in dependence.known:
            before, after = source.values("i", self.space), sink.values("j", self.space)
            pair = _Pair(dependence, source, sink, before, after, self.space)
            dependence.known[key] = pair.conflict()
        return dependence.known[key]


def _broken_privates(
    analysis: Analysis, found: Mapping[int, Path], body: tuple[Stmt, ...]
) -> Iterator[Violation]:
    """Yield a violation for each private scalar whose iterations would share it."""
    around = {
        number: tuple(
            (name, place)
            for loop, place in zip(p.loops, p.position, strict=False)
            for name in names_of(loop)
        )
        for number, p in found.items()
    }
    order = {number: path.position for number, path in found.items()}
    iterators = {number: path.iterators for number, path in found.items()}
    homes = without_arrays(analysis.homes, iterators, body)
    for name, loop in broken_lifetimes(homes, iterators, around, order):
        # Where a loop runs no iteration nothing depends, but its text must still hold together.
        found_one = (d for d in analysis.dependences if d.array == name)
        dependence = next(found_one, None) or _within(name, analysis.homes[name])
        text = f"{name} belongs to one iteration of {loop}, whose statements are taken apart"
        yield Violation(dependence, loop, text)


def _within(name: str, users: Mapping[int, tuple[int, ...]]) -> Dependence:
    """Return a dependence without instances between the first and the last user of a scalar."""
    first, last = min(users), max(users)
    return Dependence(name, DependenceKind.FLOW, first, last, isl.Map("{ S[] -> S[] : 1 = 0 }"))


@dataclass(frozen=True, slots=True)
class _Pair:
    """One dependence between two statements of a rearranged region.

    `before` and `after` are the values of their loops, as isl text.
    """

    dependence: Dependence
    source: Path
    sink: Path
    before: tuple[str, ...]
    after: tuple[str, ...]
    space: IslSpace

    def conflict(self) -> Conflict | None:
        """Return how the order and placement break the dependence, None when they keep it."""
        pairs = self._run_pairs()
        common = self.source.common_depth(self.sink)
        if common == 0:
            # Two kernels, or two statements outside all loops.
            is_late = self.source.position > self.sink.position
            late = is_late and not self.dependence.is_free
            return self._late(pairs) if late else None
        is_worker = False
        for depth in range(common):
            loop = self.source.loops[depth]
            is_placed = loop.place is not Level.SERIAL
            is_worker = is_worker or is_placed
            wrong = pairs.intersect(self._where(depth, "!=" if is_placed else ">"))
            if (is_placed or not self.dependence.is_free) and not wrong.is_empty():
                return self._carried(depth, wrong)
            if is_worker and not is_placed:
                ordered = pairs.intersect(self._where(depth, "!="))
                crossing = self._between_workers(ordered, common)
                if crossing is not None:
                    return crossing
            pairs = pairs.intersect(self._where(depth, "="))
            if pairs.is_empty():
                return None
        if self.source.position > self.sink.position and not self.dependence.is_free:
            return self._late(pairs)
        return self._between_workers(pairs, common) if is_worker else None

    def _run_pairs(self) -> isl.Map:
        """Return the dependent pairs of instances at the sizes for which loops are merged."""
        pairs = self.dependence.pairs
        facts = [*self.source.within("i"), *self.sink.within("j")]
        if not facts:
            return pairs
        return pairs.intersect(self._pairs_with(" and ".join(facts)))

    def _where(self, depth: int, relation: str, sink_depth: int | None = None) -> isl.Map:
        """Return the pairs of instances whose values of the loop at `depth` stand so.

        In the sink it may be another one, at `sink_depth`.
        """
        after = self.after[depth if sink_depth is None else sink_depth]
        return self._pairs_with(f"{self.before[depth]} {relation} {after}")

    def _pairs_with(self, fact: str) -> isl.Map:
        both = f"{self.source.instance('i')} -> {self.sink.instance('j')}"
        return parsed_map(self.space.text(f"{both} : {fact}"))

    def _between_workers(self, pairs: isl.Map, common: int) -> Conflict | None:
        """Return the violation when a pair of `pairs` runs on two workers inside a kernel.

        Loops placed alike, with the same first value and step, give equal values to one
        worker; nothing else does.
        """
        mine, its = _placed(self.source), _placed(self.sink)
        inner = [d for d in mine if d >= common] + [d for d in its if d >= common]
        shared = [d for d in mine if d < common]
        if pairs.is_empty() or not (inner or shared):
            return None
        alike = [_worker(self.source.loops[d]) for d in mine] == [
            _worker(self.sink.loops[d]) for d in its
        ]
        crossing = pairs
        if alike:
            together = pairs
            for source_depth, sink_depth in zip(mine, its, strict=True):
                together = together.intersect(self._where(source_depth, "=", sink_depth))
            crossing = pairs.subtract(together)
        if crossing.is_empty():
            return None
        depth = next((d for d in mine if d >= common), min(common, len(self.source.loops)) - 1)
        name = self.source.loops[depth].var
        return Conflict(name, f"passes between the workers of {name}")

    def _carried(self, depth: int, wrong: isl.Map) -> Conflict:
        loop = self.source.loops[depth]
        roots = self.source.root(loop), self.sink.root(loop)
        steps, least = constant_distance(wrong, *roots), shortest_distance(wrong, *roots)
        text = f"is carried by {loop.var}"
        if steps is not None:
            text += f" (distance {abs(steps)})"
        elif least is not None:
            text += f" (distance {least} and more)"
        return Conflict(loop.var, text)

    def _late(self, pairs: isl.Map) -> Conflict | None:
        if pairs.is_empty():
            return None
        common = self.source.common_depth(self.sink)
        return Conflict(self.source.loops[common - 1].var if common else "")


def _placed(path: Path) -> list[int]:
    """Return the depths of the placed loops around a statement."""
    return [d for d, loop in enumerate(path.loops) if loop.place is not Level.SERIAL]


def _worker(loop: Loop) -> tuple[object, ...]:
    """Return what must agree for equal values of two placed loops to mean one worker."""
    return (loop.place, loop.lower, loop.step)


def keeps_order(analysis: Analysis, statements: Collection[int], loops: Collection[str]) -> bool:
    """Return whether lanes leave the order of `statements` inside an iteration as it is.

    `loops` are the loop whose iterations are lanes and all loops around it.
    """
    inside = frozenset(statements)
    return not any(
        _within_iteration(analysis, dependence, loops)
        for dependence in _unknown_distances(analysis)
        if dependence.source in inside and dependence.sink in inside
    )


@once_for_each(1 << 4)
def _unknown_distances(analysis: Analysis) -> tuple[Dependence, ...]:
    """Return what a statement leaves for another one at a distance that is no number."""
    uses: dict[tuple[str, int], int] = {}
    # Of statements that use an array alike, one is asked about.
    alike: dict[tuple[tuple[bool, tuple[Expr, ...]], ...], int] = {}
    for number, facts in analysis.accesses.items():
        for name in dict.fromkeys(fact.access.array for fact in facts):
            own = tuple((f.is_write, f.indices) for f in facts if f.access.array == name)
            uses[name, number] = alike.setdefault(own, len(alike))
    known: dict[tuple[int | None, int | None], bool] = {}
    found = []
    for one in analysis.dependences:
        if one.kind is not DependenceKind.ANTI and one.source != one.sink:
            ends = uses.get((one.array, one.source)), uses.get((one.array, one.sink))
            if ends not in known:
                known[ends] = _is_unknown(analysis, one)
            if known[ends]:
                found.append(one)
    return tuple(found)


def around(analysis: Analysis, loop: Loop) -> tuple[str, ...]:
    """Return the names of a scheduled loop and of the original ones around it."""
    name = loop.root
    for path in analysis.paths.values():
        names = [x.var for x in path]
        if name in names:
            return tuple(names[: names.index(name) + 1])
    return (name,)


def _is_unknown(analysis: Analysis, dependence: Dependence) -> bool:
    """Return whether some distance between the two accesses is no number."""
    first, then = (
        [f for f in analysis.accesses[n] if f.access.array == dependence.array]
        for n in (dependence.source, dependence.sink)
    )
    pairs = ((one, two) for one in first if one.is_write for two in then)
    return any(
        not isinstance(fold(Binary("-", i, j)), Int)
        for one, two in pairs
        for i, j in zip(one.indices, two.indices, strict=True)
    )


def _within_iteration(analysis: Analysis, dependence: Dependence, loops: Collection[str]) -> bool:
    """Return whether the dependence holds between two statements of one iteration."""
    names = [[x.var for x in analysis.paths[n]] for n in (dependence.source, dependence.sink)]
    source, sink = any_instance(len(names[0]), "i"), any_instance(len(names[1]), "j")
    same = [
        f"i{k} = j{names[1].index(name)}"
        for k, name in enumerate(names[0])
        if name in loops and name in names[1]
    ]
    together = parsed_map(f"{{ {source} -> {sink} : {' and '.join(same) or '1 = 1'} }}")
    return not dependence.pairs.intersect(together).is_empty()


def broken_lifetimes(
    homes: Homes,
    iterators: Mapping[int, Sequence[str]],
    around: Mapping[int, Sequence[tuple[str, int]]],
    order: Mapping[int, tuple[int, ...]],
) -> Iterator[tuple[str, str]]:
    """Yield each private variable, with its loop, whose iterations another order lets overlap.

    Args:
        homes: For each private variable the statements that use it, with their homes.
        iterators: For each statement number its original loops, outermost first.
        around: For each statement number the loops around it in the new order, outermost
            first, as a name and a place in the text.
        order: For each statement number its position in the new text.
    """
    for name, used in homes.items():
        users = sorted(used, key=lambda number: order[number])
        own = [used[number] for number in users]
        runs = [home for home, _ in groupby(own)]
        for home in dict.fromkeys(own):
            members = [u for u, where in zip(users, own, strict=True) if where == home]
            needed = iterators[members[0]][: len(home)]
            shared = _common([around[member] for member in members])
            # Two lifetimes of one variable must not interleave either.
            if not set(needed) <= shared or runs.count(home) > 1:
                yield name, needed[-1]


def _common(paths: Sequence[Sequence[tuple[str, int]]]) -> set[str]:
    """Return the names of the loops that surround all statements with these `paths`."""
    shared: set[str] = set()
    for levels in zip(*paths, strict=False):
        if len(set(levels)) > 1:
            break
        shared.add(levels[0][0])
    return shared


@dataclass(frozen=True, slots=True)
class ScalarElement:
    """Where a statement finds the value of a private scalar, or the elements of a private array.

    `declared` is the position of the array's declaration in the text, `around` are the loops
    around that, outermost first, and `inside` the loops between it and the statement.
    """

    array: LocalArray
    declared: tuple[int, ...]
    around: tuple[Loop, ...]
    inside: tuple[Loop, ...]
    indices: tuple[Expr, ...]

    def picks(self) -> frozenset[str]:
        """Return the loops inside whose iterations differ in an index, those around standing."""
        inner = {loop.var: loop for loop in self.inside}
        found = (_moved_by(index, inner) for index in self.indices)
        return frozenset(name for name in found if name)


def _moved_by(index: Expr, inner: Mapping[str, Loop]) -> str:
    """Return the one loop of `inner` that an index counts from a place known outside."""
    match index:
        case Binary("/", distance, Int(step)):
            name = _moved_by(distance, inner)
            # Such an iterator moves by whole steps, and each of them is another quotient.
            return name if name and inner[name].step == step else ""
        case _:
            used = variables(index) & inner.keys()
            name = next(iter(used)) if len(used) == 1 else ""
            rest = variables(fold(Binary("-", index, Var(name)))) if name else used
            return "" if name in rest else name


def elements(body: tuple[Stmt, ...]) -> dict[str, dict[int, ScalarElement]]:
    """Return for each scalar that arrays of `body` stand for where statements find it.

    A statement that uses several elements is left out.
    """
    found: dict[str, dict[int, ScalarElement]] = {}
    for number, element in _walk_elements(body, (), (), {}):
        found.setdefault(element.array.stands_for, {})[number] = element
    return found


def _walk_elements(
    body: tuple[Stmt, ...],
    loops: tuple[Loop, ...],
    place: tuple[int, ...],
    known: Mapping[str, tuple[LocalArray, tuple[int, ...], int]],
) -> Iterator[tuple[int, ScalarElement]]:
    """Yield each statement's elements; `known` are the arrays declared around, with the depth."""
    known = dict(known)
    for index, stmt in enumerate(body):
        match stmt:
            case LocalArray(name, stands_for=scalar):
                if scalar:
                    known[name] = stmt, (*place, index), len(loops)
                else:
                    known.pop(name, None)
            case Loop():
                yield from _walk_elements(stmt.body, (*loops, stmt), (*place, index), known)
            case Assign(number):
                used = {
                    (a.array, a.indices[: known[a.array][0].lives])
                    for a in _accesses(stmt)
                    if a.array in known
                }
                names = [name for name, _ in used]
                for name, indices in used:
                    if names.count(name) == 1:
                        array, declared, depth = known[name]
                        around, inside = loops[:depth], loops[depth:]
                        yield number, ScalarElement(array, declared, around, inside, indices)


def _accesses(assign: Assign) -> list[Access]:
    return [found for part in (assign.target, *assign.sources()) for found in accesses(part)]


def without_arrays(
    homes: Homes, iterators: Mapping[int, Sequence[str]], body: tuple[Stmt, ...]
) -> Homes:
    """Return `homes` less the lives that have elements of their own in `body`.

    Args:
        homes: For each private variable the statements that use it, with their homes.
        iterators: For each statement number its original loops, outermost first.
        body: The region as scheduled.
    """
    found = elements(body)
    out = {}
    for name, used in homes.items():
        own = found.get(name, {})
        expanded = {
            home for home in set(used.values()) if own and _is_expanded(home, used, own, iterators)
        }
        left = {number: home for number, home in used.items() if home not in expanded}
        if left:
            out[name] = left
    return out


def _is_expanded(
    home: tuple[int, ...],
    used: Mapping[int, tuple[int, ...]],
    own: Mapping[int, ScalarElement],
    iterators: Mapping[int, Sequence[str]],
) -> bool:
    """Return whether each iteration of the loop at `home` has one element, and no other has it."""
    members = [number for number, where in used.items() if where == home]
    if not all(number in own for number in members):
        return False
    places = [own[number] for number in members]
    if len({(p.declared, p.indices) for p in places}) > 1:
        return False
    needed = set(iterators[members[0]][: len(home)])
    around = {loop.var: loop for loop in places[0].around}
    # One array for each iteration of these, which must be chosen by the life alone.
    is_one = all(loop.root in needed for loop in around.values())
    return is_one and all(needed <= around.keys() | place.picks() for place in places)


def has_array_around(
    found: Mapping[str, Mapping[int, ScalarElement]], name: str, loop: Loop
) -> bool:
    """Return whether all iterations of `loop` share the array that stands for a scalar."""
    return any(
        any(inner is loop for inner in element.inside) for element in found.get(name, {}).values()
    )
