"""Runs nests over integers, one instance at a time: what the analysis must agree with.

Nothing here is shared with the analysis: instances are enumerated and addresses computed
from the user's own subscripts.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotune.ir.expr import Access, Binary, Call, Expr, Int, Negate, Real, Var, accesses, walk
from annotune.ir.nest import Assign, Level, Loop, Stmt
from annotune.ir.region import Region

PRIME = 1_000_003
Place = tuple[str, int]


@dataclass(frozen=True)
class Instance:
    """One run of a statement: its number and the values of its own loops."""

    assign: Assign
    values: Mapping[str, int]
    worker: tuple[tuple[Level, int], ...] = ()


class Machine:
    """The memory of a region at given sizes; elements start as numbers made of their address."""

    def __init__(self, region: Region, sizes: Mapping[str, int]) -> None:
        self.region, self.sizes = region, sizes
        self.memory: dict[Place, int] = {}

    def integer(self, expr: Expr, values: Mapping[str, int]) -> int:
        match expr:
            case Int(value):
                return value
            case Var(name):
                return values[name] if name in values else self.sizes[name]
            case Negate(operand):
                return -self.integer(operand, values)
            case Binary(op, left, right):
                a, b = self.integer(left, values), self.integer(right, values)
                return {"+": a + b, "-": a - b, "*": a * b}[op]
            case Call("min", arguments):
                return min(self.integer(a, values) for a in arguments)
            case Call("max", arguments):
                return max(self.integer(a, values) for a in arguments)
        raise AssertionError(expr)

    def place(self, target: Access | Var, values: Mapping[str, int]) -> Place:
        if isinstance(target, Var):
            return target.name, 0
        extents = self.region.arrays[target.array].extents
        address = self.integer(target.indices[0], values)
        for index, extent in zip(target.indices[1:], extents[1:], strict=True):
            assert extent is not None
            address = address * self.integer(extent, {}) + self.integer(index, values)
        return target.array, address

    def load(self, place: Place) -> int:
        return self.memory.get(place, (31 * ord(place[0][0]) + 7 * place[1]) % 97 + 1)

    def real(self, expr: Expr, values: Mapping[str, int]) -> int:
        match expr:
            case Access():
                return self.load(self.place(expr, values))
            case Var(name):
                return values[name] if name in values else self.load((name, 0))
            case Int(value):
                return value
            case Real(text):
                return int(float(text))
            case Negate(operand):
                return -self.real(operand, values)
            case Binary(op, left, right):
                a, b = self.real(left, values), self.real(right, values)
                return {"+": a + b, "-": a - b, "*": a * b}[op] % PRIME
        raise AssertionError(expr)

    def execute(self, instance: Instance) -> None:
        assign, values = instance.assign, instance.values
        value = self.real(assign.value, values)
        place = self.place(assign.target, values)
        old = self.load(place)
        done = {"=": value, "+=": old + value, "-=": old - value, "*=": old * value}
        self.memory[place] = done[assign.op] % PRIME

    def instances(
        self,
        body: tuple[Stmt, ...],
        values: Mapping[str, int],
        worker: tuple[tuple[Level, int], ...] = (),
    ) -> Iterator[Instance]:
        for stmt in body:
            if isinstance(stmt, Loop):
                first = self.integer(stmt.lower, values)
                for value in range(first, self.integer(stmt.upper, values), stmt.step):
                    inner = worker
                    if stmt.place is not Level.SERIAL:
                        inner = (*worker, (stmt.place, value - first))
                    yield from self.instances(stmt.body, {**values, stmt.var: value}, inner)
            elif isinstance(stmt, Assign):
                yield Instance(stmt, values, worker)

    def touched(self, instance: Instance) -> tuple[set[Place], set[Place]]:
        """Return what an instance reads and writes; a scalar counts when the nest writes it."""
        assign, values = instance.assign, instance.values
        reads: set[Place] = {self.place(a, values) for a in accesses(assign.value)}
        reads |= {
            (v.name, 0)
            for v in walk(assign.value)
            if isinstance(v, Var) and v.name not in values and v.name not in self.sizes
        }
        target = self.place(assign.target, values)
        if assign.op != "=":
            reads.add(target)
        return reads, {target}


def kernels(body: tuple[Stmt, ...], machine: Machine) -> Iterator[list[Instance]]:
    """Yield the instances of one kernel after the other, each in text order."""
    yield from _kernels(body, machine, {})


def _kernels(
    body: tuple[Stmt, ...], machine: Machine, values: Mapping[str, int]
) -> Iterator[list[Instance]]:
    for stmt in body:
        if isinstance(stmt, Loop) and stmt.place is Level.SERIAL:
            first = machine.integer(stmt.lower, values)
            for value in range(first, machine.integer(stmt.upper, values), stmt.step):
                yield from _kernels(stmt.body, machine, {**values, stmt.var: value})
        else:
            yield list(machine.instances((stmt,), values))


def has_race(kernel: list[Instance], machine: Machine, private: frozenset[str]) -> bool:
    """Return whether two workers of a kernel touch one element and one of them writes it."""
    readers: defaultdict[Place, set[object]] = defaultdict(set)
    writers: defaultdict[Place, set[object]] = defaultdict(set)
    for instance in kernel:
        reads, writes = machine.touched(instance)
        for place in reads:
            readers[place].add(instance.worker)
        for place in writes:
            writers[place].add(instance.worker)
    return any(
        len(who | readers[place]) > 1 and place[0] not in private for place, who in writers.items()
    )


def is_legal(
    region: Region, body: tuple[Stmt, ...], sizes: Mapping[str, int], private: frozenset[str]
) -> bool:
    """Return whether `body` computes what the region does, without a race."""
    expected, actual = Machine(region, sizes), Machine(region, sizes)
    for instance in expected.instances(region.nest.body, {}):
        expected.execute(instance)
    shuffle = random.Random(1)
    for kernel in kernels(body, actual):
        if has_race(kernel, actual, private):
            return False
        queues: defaultdict[object, list[Instance]] = defaultdict(list)
        for instance in kernel:
            queues[instance.worker].append(instance)
        workers = list(queues)
        shuffle.shuffle(workers)
        for worker in workers:
            for name in private if worker else ():
                actual.memory[name, 0] = 555_555  # what another worker left behind
            for instance in queues[worker]:
                actual.execute(instance)
    return _visible(expected, private) == _visible(actual, private)


def _visible(machine: Machine, private: frozenset[str]) -> dict[Place, int]:
    return {place: v for place, v in machine.memory.items() if place[0] not in private}


def carried_by(
    region: Region, sizes: Mapping[str, int], private: frozenset[str]
) -> dict[tuple[int, ...], set[bool]]:
    """Return for each loop position whether pairs it carries are reductions: {}, {True}, ….

    A loop's position is its place in the text, one number per level.
    """
    machine = Machine(region, sizes)
    numbered = list(_numbered(region.nest.body, machine, {}, ()))
    found: defaultdict[tuple[int, ...], set[bool]] = defaultdict(set)
    for index, (first, first_path) in enumerate(numbered):
        reads, writes = machine.touched(first)
        own_first = machine.place(first.assign.target, first.values)
        for second, second_path in numbered[index + 1 :]:
            then_reads, then_writes = machine.touched(second)
            shared = (writes & (then_reads | then_writes)) | (reads & then_writes)
            for place in {p for p in shared if p[0] not in private}:
                loop = _carrier(first_path, second_path)
                if loop is not None:
                    same = first.assign.number == second.assign.number
                    accumulates = first.assign.op in ("+=", "-=", "*=") and same
                    found[loop].add(
                        accumulates
                        and place == own_first
                        and not _value_reads(first, place, machine)
                        and not _value_reads(second, place, machine)
                    )
    return found


def _value_reads(instance: Instance, place: Place, machine: Machine) -> bool:
    assign, values = instance.assign, instance.values
    names = {(v.name, 0) for v in walk(assign.value) if isinstance(v, Var)}
    return place in names or place in {machine.place(a, values) for a in accesses(assign.value)}


def _numbered(
    body: tuple[Stmt, ...],
    machine: Machine,
    values: Mapping[str, int],
    path: tuple[tuple[int, int], ...],
) -> Iterator[tuple[Instance, tuple[tuple[int, int], ...]]]:
    for index, stmt in enumerate(body):
        if isinstance(stmt, Loop):
            first = machine.integer(stmt.lower, values)
            for value in range(first, machine.integer(stmt.upper, values), stmt.step):
                inner = {**values, stmt.var: value}
                yield from _numbered(stmt.body, machine, inner, (*path, (index, value)))
        elif isinstance(stmt, Assign):
            yield Instance(stmt, values), (*path, (index, 0))


def _carrier(
    first: tuple[tuple[int, int], ...], second: tuple[tuple[int, int], ...]
) -> tuple[int, ...] | None:
    """Return the position of the loop whose iterations differ, None within one iteration."""
    position: list[int] = []
    for (place, value), (other_place, other_value) in zip(first, second, strict=False):
        if place != other_place:
            return None
        position.append(place)
        if value != other_value:
            return tuple(position)
    return None


def reversed_pairs(
    region: Region, body: tuple[Stmt, ...], sizes: Mapping[str, int]
) -> set[tuple[int, int]]:
    """Return the numbers of statements with conflicting instances that `body` runs backwards."""
    machine = Machine(region, sizes)
    paths = region.nest.paths()

    def key(instance: Instance) -> tuple[int, ...]:
        number = instance.assign.number
        return number, *(instance.values[loop.var] for loop in paths[number])

    order = {key(instance): time for time, instance in enumerate(machine.instances(body, {}))}
    instances = list(machine.instances(region.nest.body, {}))
    found = set()
    for index, first in enumerate(instances):
        reads, writes = machine.touched(first)
        for second in instances[index + 1 :]:
            if order[key(first)] > order[key(second)]:
                then_reads, then_writes = machine.touched(second)
                if (writes & (then_reads | then_writes)) | (reads & then_writes):
                    found.add((first.assign.number, second.assign.number))
    return found
