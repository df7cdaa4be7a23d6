"""What the analysis claims of a region, against a run of the C text at small sizes."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import reduce

import islpy as isl
from support.sizes import fulfils

from annotune.analysis.facts import Analysis, LoopKind
from annotune.ir.expr import AS_WRITTEN, Call, Expr, Int, rewrite
from annotune.ir.fold import fold
from annotune.ir.nest import Local, LocalArray, Nest, walk_stmts
from annotune.ir.region import Region
from annotune.transforms.tree import target_name

from .reference import Event, Function, Place, Run, shuffled

MOST_PAIRS = 120
"""How many pairs of accesses to one element are looked up in the dependences, per run."""


def wrong_claims(analysis: Analysis, function: Function, seed: int) -> Iterator[str]:
    """Yield what is wrong with an analysis, in words, at every size it speaks for."""
    everywhere = analysis.all_sizes
    for number, sizes in enumerate(function.sizes):
        run = function.run(sizes)
        if number and not (everywhere and len(run.ran) == len(function.loops)):
            continue
        if not fulfils(analysis, named(analysis, sizes)):
            if number == 0:
                yield "the conditions do not hold at the tuned sizes"
            continue
        where = " ".join(f"{k}={v}" for k, v in sizes.items())
        for fault in _wrong_at(analysis, function, sizes, run, seed):
            yield f"at {where}: {fault}"


def _wrong_at(
    analysis: Analysis, function: Function, sizes: Mapping[str, int], run: Run, seed: int
) -> Iterator[str]:
    yield from wrong_kinds(analysis, function, run)
    yield from _wrong_reductions(analysis, function, sizes, run, seed)
    yield from _wrong_uses(analysis, sizes, run)
    yield from _missing_dependences(analysis, function, sizes, run, seed)


def named(analysis: Analysis, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes under the names of the region, in which ``*n`` has one of its own."""
    aliases = {a.name: a.spelling.strip("(*) ") for a in analysis.region.text.aliases}
    return {**sizes, **{a: sizes[name] for a, name in aliases.items() if name in sizes}}


def copied(analysis: Analysis) -> frozenset[str]:
    """Return the names of which each iteration has its own: copies, and what the loop declares."""
    region = analysis.region
    local = [s.name for s in walk_stmts(region.nest.body) if isinstance(s, Local | LocalArray)]
    names = {*region.scalars, *region.arrays, *local}
    copies = {re.sub(r"_own\d*$", "", n) for n in names if re.search(r"_own\d*$", n)}
    return frozenset(copies | set(local))


def assigned(region: Region) -> set[str]:
    """Return the names to which a nest assigns as it is left: arrays and scalars."""
    return {target_name(stmt) for stmt in region.nest.assigns()}


# Loops ----------------------------------------------------------------------------------


def wrong_kinds(analysis: Analysis, function: Function, run: Run) -> Iterator[str]:
    """Yield each loop whose iterations conflict though it is called parallel."""
    stored = stored_conditions(analysis, run)
    # Integers decide these first, and then what they guard may never ask for the rest.
    unsure = function.mixed - stored
    events = [e for e in run.events if e.write is not None or e.line not in unsure]
    found = conflicts(events, stored)
    late = _reads_before_writes(events, stored)
    copies = copied(analysis)
    for facts in analysis.loops:
        # A scalar of which only its formula is left is in no claim; another loop may still set it.
        known = {target_name(stmt) for stmt in Nest(facts.loop.body).assigns()}
        for number, line in enumerate(function.loops):
            if line != facts.loop.span.line:
                continue
            name = f"loop {facts.name} at line {line}"
            is_parallel = facts.kind is LoopKind.PARALLEL
            for array, text in found[number].items():
                if array in facts.private or (array in copies and is_parallel):
                    if array in late[number]:
                        yield f"{name}: private {array} is read before it is written"
                elif is_parallel and array in known:
                    yield f"{name} is called parallel, but {text}"


def conflicts(events: list[Event], stored: set[int]) -> dict[int, dict[str, str]]:
    """Return for each loop the arrays of which two iterations touch one element, with one such.

    One of the two writes it; the loops around run the same iteration.
    """
    groups: dict[tuple[object, ...], list[object]] = {}
    found: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for event in events:
        touched = [(place, False) for place in event.reads_but(stored)]
        if event.write is not None:
            touched.append((event.write, True))
        for depth, (loop, value) in enumerate(event.path):
            for place, is_write in touched:
                key = (loop, event.path[:depth], place)
                group = groups.setdefault(key, [value, False, False])
                group[1] = group[1] or group[0] != value
                group[2] = group[2] or is_write
                if group[1] and group[2] and place[0] not in found[loop]:
                    text = f"iterations {group[0]} and others touch {place[0]}[{place[1]}]"
                    found[loop][place[0]] = f"{text}, line {event.line}"
    return found


def _reads_before_writes(events: list[Event], stored: set[int]) -> dict[int, set[str]]:
    """Return for each loop the names of which some iteration reads before it writes an element."""
    written: set[tuple[object, ...]] = set()
    found: defaultdict[int, set[str]] = defaultdict(set)
    for event in events:
        for depth, (loop, value) in enumerate(event.path):
            key = (loop, event.path[:depth], value)
            for place in event.reads_but(stored):
                if (*key, place) not in written:
                    found[loop].add(place[0])
            if event.write is not None:
                written.add((*key, event.write))
    return found


def _wrong_reductions(
    analysis: Analysis, function: Function, sizes: Mapping[str, int], run: Run, seed: int
) -> Iterator[str]:
    """Yield each loop called a reduction whose result changes with the order of iterations."""
    region = analysis.region
    known = assigned(region) - analysis.private - copied(analysis)
    names = [n for n in run.memory if n in known]
    expected = run.values(names)
    for facts in analysis.loops:
        if facts.kind is not LoopKind.REDUCTION:
            continue
        for number, line in enumerate(function.loops):
            if line == facts.loop.span.line:
                got = function.run(sizes, order=shuffled(seed, number)).values(names)
                if got != expected:
                    arrays = [n for n in names if got.get(n) != expected.get(n)]
                    yield f"loop {facts.name} at line {line} is no reduction: {arrays} change"


# Arrays ---------------------------------------------------------------------------------


def _wrong_uses(analysis: Analysis, sizes: Mapping[str, int], run: Run) -> Iterator[str]:
    written: set[Place] = set()
    touched: defaultdict[str, set[int]] = defaultdict(set)
    fresh: set[str] = set()
    read: set[str] = set()
    stored = stored_conditions(analysis, run)
    for event in run.events:
        if event.write is None and event.line not in stored:
            # Asked only where a statement under the condition runs.
            continue
        for name, index in event.reads_but(stored):
            touched[name].add(index)
            read.add(name)
            if (name, index) not in written:
                fresh.add(name)
        if event.write is not None:
            touched[event.write[0]].add(event.write[1])
            written.add(event.write)
    copies = copied(analysis)
    for name, use in analysis.uses.items():
        own = {index for array, index in written if array == name}
        low, end = section(analysis, name, sizes)
        if any(not low <= index < end for index in touched[name]):
            yield f"{name} is touched outside {low} to {end - 1}"
        if own and not use.is_written:
            yield f"{name} is written, but the analysis says it is not"
        # A copy is read in the place of what each iteration has for itself.
        if name in read - copies and not use.is_read:
            yield f"{name} is read, but the analysis says it is not"
        # What is looked for at each call is never wholly written, whatever memory says.
        if use.overwritten and (
            name in fresh - copies or not own.issuperset(part(analysis, name, sizes))
        ):
            yield f"{name} is not wholly written before it is read"


def section(analysis: Analysis, name: str, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return the first element that a region touches, and one past the last, as claimed."""
    shape = analysis.shapes[name]
    known = {**analysis.region.sizes, **named(analysis, sizes)}
    first, length = fold(shape.lowest, known), fold(shape.length, known)
    assert isinstance(first, Int), shape
    assert isinstance(length, Int), shape
    return first.value, first.value + length.value


def part(analysis: Analysis, name: str, sizes: Mapping[str, int]) -> range:
    """Return the elements that one call touches, as claimed: no more of them are copied."""
    known = {**analysis.region.sizes, **named(analysis, sizes)}
    found = analysis.shapes[name].part
    first, count = (fold(without_switches(e), known) for e in (found.first, found.count))
    assert isinstance(first, Int), found
    assert isinstance(count, Int), found
    return range(first.value, first.value + count.value)


def without_switches(expr: Expr) -> Expr:
    """Return an expression with the user's own conditions in it as conditions like others."""

    def change(inner: Expr) -> Expr | None:
        match inner:
            case Call(function, (condition,)) if function == AS_WRITTEN:
                return condition
        return None

    return rewrite(expr, change)


# Dependences ----------------------------------------------------------------------------


def instances(analysis: Analysis, function: Function, event: Event) -> dict[int, tuple[int, ...]]:
    """Return the statements of the nest that stand at an event's line, each with its iteration.

    Statements whose loops are not the text's own are left out: the front end turns round what
    counts down.
    """
    if any(loop in function.down for loop, _ in event.path):
        return {}
    found: dict[int, tuple[int, ...]] = {}
    values = {function.loops[loop]: value for loop, value in event.path}
    for assign in analysis.region.nest.assigns():
        if assign.span.line != event.line:
            continue
        lines = [loop.span.line for loop in analysis.paths[assign.number]]
        if lines == [function.loops[loop] for loop, _ in event.path]:
            found[assign.number] = tuple(values[line] for line in lines)
    return found


def stored_conditions(analysis: Analysis, run: Run) -> set[int]:
    """Return the lines of conditions that are statements of their own in the nest.

    What they guard reads the result and not the condition's elements.
    """
    conditions = {event.line for event in run.events if event.write is None}
    return conditions & {assign.span.line for assign in analysis.region.nest.assigns()}


def _missing_dependences(
    analysis: Analysis, function: Function, sizes: Mapping[str, int], run: Run, seed: int
) -> Iterator[str]:
    """Yield pairs of accesses that conflict and that no dependence holds."""
    wanted: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    stored = stored_conditions(analysis, run)
    private = analysis.private | copied(analysis)
    for first, second in _pairs(run.events, private, stored, seed):
        ones, twos = instances(analysis, function, first), instances(analysis, function, second)
        # One line holds one statement, but for the copy of a last value behind it.
        if ones and twos:
            (a, at), (b, then) = min(ones.items()), min(twos.items())
            wanted[a, b].append(f"S{a}[{_listed(at)}] -> S{b}[{_listed(then)}]")
    for (a, b), pairs in wanted.items():
        relations = [d.relation for d in analysis.dependences if (d.source, d.sink) == (a, b)]
        needed = isl.Map(f"{{ {'; '.join(dict.fromkeys(pairs))} }}")
        if relations:
            known = named(analysis, sizes)
            union = reduce(isl.Map.union, (_at_sizes(r, known) for r in relations))
            needed = needed.subtract(union)
        if not needed.is_empty():
            yield f"no dependence holds {needed.sample()}"


def _listed(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))


def _at_sizes(relation: isl.Map, sizes: Mapping[str, int]) -> isl.Map:
    """Return a relation with every parameter, a product of sizes, at its value."""
    for k in range(relation.dim(isl.dim_type.param)):
        words = relation.get_dim_name(isl.dim_type.param, k).removeprefix("p_").split("_t_")
        names = (word.replace("__", "_") for word in words)
        value = reduce(int.__mul__, (sizes[name] for name in names), 1)
        relation = relation.fix_val(isl.dim_type.param, k, isl.Val(value))
    return relation.project_out(isl.dim_type.param, 0, relation.dim(isl.dim_type.param))


def _pairs(
    events: list[Event], private: frozenset[str], stored: set[int], seed: int
) -> Iterator[tuple[Event, Event]]:
    """Yield some pairs of events that touch one place, one of them writing, in their order.

    A condition on a line of `stored` is a statement of its own, which alone reads for it.
    """
    places: defaultdict[Place, list[tuple[int, bool]]] = defaultdict(list)
    for index, event in enumerate(events):
        seen: dict[Place, bool] = dict.fromkeys(event.reads_but(stored), False)
        if event.write is not None:
            seen[event.write] = True
        for place, is_write in seen.items():
            if place[0] not in private:
                places[place].append((index, is_write))
    every = [
        (first, second)
        for users in places.values()
        for k, (first, writes) in enumerate(users)
        for second, also in users[k + 1 : k + 30]
        if writes or also
    ]
    chosen = random.Random(seed).sample(every, min(len(every), MOST_PAIRS))
    for first, second in sorted(set(chosen)):
        yield events[first], events[second]
