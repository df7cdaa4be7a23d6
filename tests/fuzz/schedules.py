"""Transforms, plans and certificates of a region, against a run of the C text."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import islpy as isl
from support.interpreter import ORDERS, plan_body
from support.interpreter import run as run_nest
from support.sizes import fulfils

from annotune.analysis.facts import Analysis
from annotune.certify.certificate import Certificate, Touch, verify
from annotune.certify.kernels import certify
from annotune.ir.nest import walk_paths
from annotune.schedule.plan import Plan
from annotune.transforms.distribute import Distribute, Fuse
from annotune.transforms.permute import Permute
from annotune.transforms.tile import Cyclic, Tile
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body, bands, path, top_of

from .claims import copied, instances, named, stored_conditions
from .reference import Event, Function, Run, initial


@dataclass
class Runs:
    """The runs of a function at the sizes for which an analysis speaks, the tuned ones first."""

    analysis: Analysis
    function: Function
    at: list[tuple[Mapping[str, int], Run]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for number, sizes in enumerate(self.function.sizes):
            run = self.function.run(sizes)
            everywhere = self.analysis.all_sizes and len(run.ran) == len(self.function.loops)
            everywhere = everywhere and fulfils(self.analysis, named(self.analysis, sizes))
            if not number or everywhere:
                self.at.append((sizes, run))

    def differs(self, body: Body, is_general: bool, order: str = "forwards") -> str:
        """Return how `body` differs from the C text, in words; nothing when it does not."""
        private = self.analysis.private
        region = self.analysis.region
        for sizes, run in self.at if is_general else self.at[:1]:
            got = run_nest(body, region, named(self.analysis, sizes), order, private)
            names = [n for n in run.memory if n in region.arrays or n in region.scalars]
            expected = run.values(n for n in names if n not in private)
            found = {n: dict(v) for n, v in got.values.items()}
            for name in {*expected, *found}:
                if _full(name, expected, found) != _full(name, found, expected):
                    return f"{name} is wrong {order} at {dict(sizes)}"
            for name, places in got.touched.items():
                store = run.memory.get(name) if name in region.arrays and places else None
                if store and (min(places) < store.low or max(places) > store.high):
                    return f"{name} is touched outside {store.low} to {store.high}"
        return ""


def _full(
    name: str, one: Mapping[str, Mapping[int, int]], other: Mapping[str, Mapping[int, int]]
) -> dict[int, int]:
    """Return the elements of an array that either result writes: one may write what was there."""
    written = {index: initial(name, index) for index in other.get(name, ())}
    return {**written, **one.get(name, {})}


# Transforms -----------------------------------------------------------------------------


def wrong_transforms(runs: Runs, seed: int, told: Counter[str]) -> Iterator[str]:
    """Yield each random transform that is called legal and changes the result."""
    analysis = runs.analysis
    body = analysis.region.nest.body
    fault = runs.differs(body, True)
    if fault:
        yield f"the nest as lowered: {fault}"
        return
    for step in _steps(body, random.Random(seed)):
        name = type(step).__name__.lower()
        if step.why_not(body, Context(analysis)) is not None:
            told[f"{name} refused"] += 1
            continue
        told[f"{name} legal"] += 1
        fault = runs.differs(step.apply(body, Context(analysis)), True)
        if fault:
            yield f"{step}: {fault}"


def _steps(body: Body, source: random.Random) -> Iterator[Transform]:
    """Yield permutations, tilings, cyclic shares, distributions and fusions of a body."""
    numbers = sorted(assign.number for assign, _ in walk_paths(body))
    for number in source.sample(numbers, min(2, len(numbers))):
        for band in bands(body, number):
            names = [loop.var for loop in band]
            if len(names) > 1:
                for _ in range(2):
                    yield Permute(number, tuple(source.sample(names, len(names))))
        around = [loop.var for loop in path(body, number)]
        if around:
            yield Tile(number, source.choice(around), source.choice((2, 3)))
            yield Cyclic(number, source.choice(around), source.choice((2, 3)))
    if len(numbers) > 1:
        yield Distribute(tuple((n,) for n in numbers))
        cut = source.randint(1, len(numbers) - 1)
        yield Distribute((tuple(numbers[:cut]), tuple(numbers[cut:])))
        pairs = [(a, b) for a, b in combinations(numbers, 2) if top_of(body, a) != top_of(body, b)]
        for pair in source.sample(pairs, min(2, len(pairs))):
            yield Fuse(pair)


# Plans ----------------------------------------------------------------------------------


def wrong_plan(runs: Runs, plan: Plan, is_general: bool) -> str:
    """Return how a plan differs from the C text in any order of its workers."""
    body = plan_body(plan)
    for order in ORDERS:
        fault = runs.differs(body, is_general, order)
        if fault:
            return f"the {'general' if is_general else 'tuned'} plan: {fault}"
    return ""


def wrong_certificate(runs: Runs, plan: Plan) -> Iterator[str]:
    """Yield what is wrong with the certificate of a plan for the tuned sizes."""
    made = certify(runs.analysis, plan)
    for fault in verify(made):
        yield f"certificate: {fault}"
    _, run = runs.at[0]
    yield from _untrue(made, runs, run)


@dataclass(frozen=True)
class _Instance:
    """One iteration of a statement that ran, and where the certificate places it."""

    number: int
    at: tuple[int, ...]
    event: Event
    launch: tuple[int, ...]
    worker: tuple[int, ...]
    time: tuple[int, ...]
    phase: tuple[int, ...]


def _untrue(made: Certificate, runs: Runs, run: Run) -> Iterator[str]:
    """Yield what a certificate says and the run of the C text does not show."""
    ones = []
    last: tuple[int, ...] = ()
    relations = _Relations(made)
    for event in run.events:
        found = instances(runs.analysis, runs.function, event) if event.write else {}
        if event.write is not None and not found:
            # The front end made something else of this line, as of a loop that counts down.
            return
        for number, at in sorted(found.items())[:1]:
            order = relations.original[number](*at)
            if last and not _before(last, order):
                yield f"certificate: S{number}{list(at)} does not come after {last} in the text"
            last = order
            ones.append(relations.instance(number, at, event))
    stored = stored_conditions(runs.analysis, run)
    yield from _uncovered(made, ones, runs)
    yield from _untold(made, ones, runs, stored)
    yield from _unordered(made, ones, runs, stored)


def _uncovered(made: Certificate, ones: list[_Instance], runs: Runs) -> Iterator[str]:
    """Yield each statement whose iterations are not those that ran."""
    conditional = runs.function.conditional
    assigns = runs.analysis.region.nest.assigns()
    # A maximum written with a condition is no guarded statement, and yet runs now and then.
    guarded = {a.number for a in assigns if a.guard or a.span.line in conditional}
    guarded |= {a.number for a in assigns if a.span.line not in {o.event.line for o in ones}}
    ran: defaultdict[int, set[str]] = defaultdict(set)
    for one in ones:
        ran[one.number].add(f"S{one.number}[{', '.join(map(str, one.at))}]")
    for number, place in made.placed.items():
        told = isl.Set(place.domain)
        if number in ran and not isl.Set(f"{{ {'; '.join(ran[number])} }}").is_subset(told):
            yield f"certificate: S{number} runs outside its iterations"
        if number not in guarded and int(told.count_val().to_python()) != len(ran[number]):
            yield f"certificate: S{number} has other iterations than those that ran"


def _untold(
    made: Certificate, ones: list[_Instance], runs: Runs, stored: set[int]
) -> Iterator[str]:
    """Yield an element that a statement touches and the certificate does not tell of."""
    needed: defaultdict[tuple[int, str, bool], set[str]] = defaultdict(set)
    for one in ones:
        assert one.event.write is not None
        instance = f"S{one.number}[{', '.join(map(str, one.at))}]"
        for array, index in set(one.event.reads_but(stored)):
            needed[one.number, array, False].add(f"{instance} -> A[{index}]")
        array, index = one.event.write
        needed[one.number, array, True].add(f"{instance} -> A[{index}]")
    arrays = {n for n, a in runs.analysis.region.arrays.items() if a.extents}
    arrays -= copied(runs.analysis)
    for (number, array, is_write), pairs in needed.items():
        if array not in arrays:
            continue
        touched = isl.Map(f"{{ {'; '.join(pairs)} }}")
        for touch in made.touches:
            key = (touch.statement, touch.array, touch.is_write)
            if key == (number, array, is_write):
                touched = touched.subtract(isl.Map(touch.element))
        if not touched.is_empty():
            word = "writes" if is_write else "reads"
            yield f"certificate: S{number} {word} {array}, which it leaves out: {touched.sample()}"


def _unordered(
    made: Certificate, ones: list[_Instance], runs: Runs, stored: set[int]
) -> Iterator[str]:
    """Yield pairs that conflict and that the schedule of the certificate leaves unordered."""
    sums = {(t.statement, t.array): t for t in made.touches if t.operator and t.is_write}
    users: defaultdict[tuple[str, int], list[tuple[_Instance, bool]]] = defaultdict(list)
    for one in ones:
        for place in set(one.event.reads_but(stored)) - {one.event.write}:
            users[place].append((one, False))
        assert one.event.write is not None
        users[one.event.write].append((one, True))
    private = runs.analysis.private | copied(runs.analysis)
    for (array, _), found in users.items():
        for k, (first, writes) in enumerate(found if array not in private else ()):
            for then, also in found[k + 1 : k + 20]:
                if not (writes or also):
                    continue
                ends = (
                    [sums.get((n.number, array)) for n in (first, then)] if writes and also else []
                )
                if not _is_kept(made, first, then, [one for one in ends if one is not None]):
                    yield f"certificate: S{first.number} and S{then.number} race on {array}"
                    return


def _is_kept(made: Certificate, first: _Instance, then: _Instance, sums: Sequence[Touch]) -> bool:
    """Return whether two iterations keep their order, or accumulate into one place and need none.

    `sums` are the accumulations among the two.
    """
    together = first.launch == then.launch
    alone = together and first.worker == then.worker
    if together and any(made.placed[one.number].is_joined for one in (first, then)):
        block = _but(first.worker, (3, 4, 5)) == _but(then.worker, (3, 4, 5))
        if block and _before(first.phase, then.phase):
            return True
    if len(sums) == 2 and sums[0].operator == sums[1].operator:
        is_free = first.number == then.number or all(one.may_swap for one in sums)
        if is_free and (not together or alone):
            return True
        combined = sums[0].combined if sums[0].combined == sums[1].combined else ()
        if combined and together and _but(first.worker, combined) == _but(then.worker, combined):
            return True
    return _before(first.launch, then.launch) or (alone and _before(first.time, then.time))


def _but(worker: tuple[int, ...], free: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(value for place, value in enumerate(worker) if place not in free)


def _before(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    width = max(len(one), len(two))
    return one + (0,) * (width - len(one)) < two + (0,) * (width - len(two))


class _Relations:
    """Where a certificate places iterations, as Python functions of the iterators."""

    def __init__(self, made: Certificate) -> None:
        self.original = {n: _tuple(one.original) for n, one in made.placed.items()}
        self.places = {
            n: [_tuple(text) for text in (one.launch, one.worker, one.time, one.phase)]
            for n, one in made.placed.items()
        }

    def instance(self, number: int, at: tuple[int, ...], event: Event) -> _Instance:
        parts = (place(*at) for place in self.places[number])
        return _Instance(number, at, event, *parts)


# More workers than any loop of a random program is dealt out to.
MOST_WORKERS = 33


def _parts(text: str) -> tuple[str, str]:
    """Return the iterators of ``{ S0[i0, i1] … }`` and what follows them."""
    head, _, rest = text.strip("{} ").partition("]")
    return head.partition("[")[2], rest


def _tuple(text: str) -> Callable[..., tuple[int, ...]]:
    names, rest = _parts(text)
    inside, _, where = rest.partition("[")[2].partition("]")
    if " exists " not in where:
        return _function(names, f"({inside},)" if inside.strip() else "()")
    workers, _, told = where.partition(" exists ")[2].partition(" : ")
    given = re.findall(r"(x\d+) = (.*?)(?= and |$)", told)[: inside.count(",") + 1]
    facts = told.partition(f"{given[-1][0]} = {given[-1][1]} and ")[2]
    holds = re.sub(r"(?<![<>=])=", "==", facts).replace(" mod ", " % ")
    coordinates = ", ".join(formula for _, formula in given)
    loops = " ".join(f"for {name} in range({MOST_WORKERS})" for name in workers.split(", "))
    return _function(names, f"next(({coordinates},) {loops} if {holds})")


def _function(names: str, formula: str) -> Callable[..., Any]:
    scope = {"floor": math.floor, "min": min, "max": max}
    made: Callable[..., Any] = eval(f"lambda {names}: {formula}", scope)
    return made
