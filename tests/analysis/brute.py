"""Runs nests over integers, one instance at a time: what the analysis must agree with.

Nothing here is shared with the analysis: instances are enumerated, conditions evaluated and
addresses computed from the user's own subscripts.
"""

from __future__ import annotations

import operator
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from annotune.ir.ctype import LONG
from annotune.ir.expr import Access, Binary, Call, Cast, Expr, Int, Negate, Real, Select, Var
from annotune.ir.nest import Assign, Level, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.ir.region import Region

PRIME = 1_000_003
Place = tuple[str, int]
Contents = Mapping[str, Callable[[int], int]]
_NOTHING: Contents = {}


@dataclass(frozen=True)
class Instance:
    """One run of a statement: its number and the values of its own loops."""

    assign: Assign
    values: Mapping[str, int]
    worker: tuple[tuple[Level, int], ...] = ()


@dataclass(frozen=True)
class Touched:
    """What an instance reads to compute, and the place it writes, None where its guard forbids.

    `operator` is what it accumulates by, empty where it does not.
    """

    sources: frozenset[Place]
    target: Place | None
    operator: str

    @property
    def reads(self) -> frozenset[Place]:
        if self.operator and self.target is not None:
            return self.sources | {self.target}
        return self.sources

    @property
    def writes(self) -> frozenset[Place]:
        return frozenset() if self.target is None else frozenset({self.target})

    def conflicts(self, other: Touched) -> frozenset[Place]:
        return (self.writes & (other.reads | other.writes)) | (self.reads & other.writes)


class Machine:
    """The memory of a region at given sizes; elements start as numbers made of their address.

    `contents` gives the first values of some arrays, such as indices that must be in range.
    """

    def __init__(
        self, region: Region, sizes: Mapping[str, int], contents: Contents = _NOTHING
    ) -> None:
        self.region, self.sizes, self.contents = region, sizes, contents
        self.memory: dict[Place, int] = {}
        self.extents = {name: array.extents for name, array in region.arrays.items()}
        for stmt in walk_stmts(region.nest.body):
            if isinstance(stmt, LocalArray):
                self.extents[stmt.name] = tuple(Int(extent) for extent in stmt.extents)

    def value(self, expr: Expr, values: Mapping[str, int], reads: set[Place]) -> int:
        """Return an expression's value, as C computes integers; what it reads joins `reads`."""
        match expr:
            case Int(value):
                return value
            case Real(text):
                return int(float(text))
            case Var(name):
                if name in values or name in self.sizes:
                    return values[name] if name in values else self.sizes[name]
                reads.add((name, 0))
                return self.load((name, 0))
            case Access():
                place = self.place(expr, values, reads)
                reads.add(place)
                return self.load(place)
            case Negate(operand):
                return -self.value(operand, values, reads)
            case Select(condition, if_true, if_false):
                chosen = if_true if self.value(condition, values, reads) else if_false
                return self.value(chosen, values, reads)
            case Binary("&&", left, right):
                return int(
                    bool(self.value(left, values, reads)) and bool(self.value(right, values, reads))
                )
            case Binary("||", left, right):
                return int(
                    bool(self.value(left, values, reads)) or bool(self.value(right, values, reads))
                )
            case Binary(op, left, right):
                a, b = self.value(left, values, reads), self.value(right, values, reads)
                return _OPERATIONS[op](a, b)
            case Call(function, arguments):
                compute = _FUNCTIONS.get(function, _mixed)
                return compute(*(self.value(a, values, reads) for a in arguments))
            case Cast(type_, operand):
                value = self.value(operand, values, reads)
                return value if type_ == LONG else _mixed(value)
        raise AssertionError(expr)

    def place(self, target: Access | Var, values: Mapping[str, int], reads: set[Place]) -> Place:
        if isinstance(target, Var):
            return target.name, 0
        extents = self.extents[target.array]
        if not target.indices:
            return target.array, 0
        address = self.value(target.indices[0], values, reads)
        for index, extent in zip(target.indices[1:], extents[1:], strict=True):
            assert extent is not None
            address = address * self.value(extent, {}, set()) + self.value(index, values, reads)
        return target.array, address

    def load(self, place: Place) -> int:
        if place not in self.memory and place[0] in self.contents:
            return self.contents[place[0]](place[1])
        return self.memory.get(place, (31 * ord(place[0][0]) + 7 * place[1]) % 97 + 1)

    def execute(self, instance: Instance) -> Touched:
        """Run one instance and return what it touched."""
        assign, values = instance.assign, instance.values
        reads: set[Place] = set()
        found = _others(assign)
        operator, rest = found if found is not None else ("", None)
        if assign.guard is not None and not self.value(assign.guard, values, reads):
            return Touched(frozenset(reads), None, operator)
        value = self.value(assign.value, values, reads if rest is None else set())
        for operand in rest or ():
            self.value(operand, values, reads)
        place = self.place(assign.target, values, reads)
        old = self.load(place)
        self.memory[place] = _combined(assign.op, old, value) % PRIME
        return Touched(frozenset(reads), place, operator)

    def instances(
        self,
        body: tuple[Stmt, ...],
        values: Mapping[str, int],
        worker: tuple[tuple[Level, int], ...] = (),
    ) -> Iterator[Instance]:
        for stmt in body:
            if isinstance(stmt, Loop):
                for value, first in self.trips(stmt, values):
                    inner = worker
                    if stmt.place is not Level.SERIAL:
                        inner = (*worker, (stmt.place, value - first))
                    yield from self.instances(stmt.body, {**values, stmt.var: value}, inner)
            elif isinstance(stmt, Assign):
                yield Instance(stmt, values, worker)

    def trips(self, loop: Loop, values: Mapping[str, int]) -> Iterator[tuple[int, int]]:
        """Yield each value of a loop with its first one."""
        first = self.value(loop.lower, values, set())
        for value in range(first, self.value(loop.upper, values, set()), loop.step):
            yield value, first

    def left_by(self, look: tuple[Stmt, ...]) -> dict[str, int]:
        """Return what the variables of a slice hold behind it; the memory stays as it is."""
        left: dict[str, int] = {}
        self._follow(look, left, {})
        return left

    def _follow(
        self, body: tuple[Stmt, ...], left: dict[str, int], values: Mapping[str, int]
    ) -> None:
        for stmt in body:
            known = {**left, **values}
            match stmt:
                case Loop():
                    for value, _ in self.trips(stmt, known):
                        self._follow(stmt.body, left, {**values, stmt.var: value})
                case Local(name, _, value):
                    assert value is not None
                    left[name] = self.value(value, known, set())
                case Assign(target=Var(name), guard=guard):
                    if guard is None or self.value(guard, known, set()):
                        value = self.value(stmt.value, known, set())
                        made = _combined(stmt.op, left[name], value)
                        # A copy of a scalar holds what memory would.
                        left[name] = made % PRIME if name.endswith("_seen") else made
                case _:
                    raise AssertionError(stmt)

    def trace(self) -> dict[tuple[int, ...], Touched]:
        """Run the region as written and return what each instance touched, by its key."""
        paths = self.region.nest.paths()
        return {
            key(instance, paths): self.execute(instance)
            for instance in self.instances(self.region.nest.body, {})
        }


def _combined(op: str, old: int, value: int) -> int:
    """Return what an assignment by `op` leaves."""
    done = {"=": value, "+=": old + value, "-=": old - value, "*=": old * value}
    done["/="] = _quotient(old, value)
    return done[op]


def key(instance: Instance, paths: Mapping[int, tuple[Loop, ...]]) -> tuple[int, ...]:
    """Return the statement's number and the values of the loops it has in the user's text."""
    number = instance.assign.number
    return number, *(instance.values[loop.var] for loop in paths[number])


def _others(assign: Assign) -> tuple[str, tuple[Expr, ...]] | None:
    """Return the operator of an accumulation, and what it combines with its target, None for none.

    Sums and differences are one operator.
    """
    value, target = assign.value, assign.target
    match value:
        case _ if assign.op in ("+=", "-=", "*="):
            return "*" if assign.op == "*=" else "+", (value,)
        case _ if assign.op != "=":
            return None
        case Binary("+" | "*" as op, left, right):
            flat = [*_operands(left, op), *_operands(right, op)]
            others = [one for one in flat if one != target]
            return (op, tuple(others)) if len(others) == len(flat) - 1 else None
        case Binary("-", left, right) if left == target:
            return "+", (right,)
        case Select(Binary("<" | "<=" | ">" | ">=" as op, one, two), if_true, if_false):
            pair = [if_true, if_false]
            others = [part for part in (one, two) if part != target]
            is_extremum = sorted([one, two], key=str) == sorted(pair, key=str)
            name = "fmin" if (op[0] == "<") == (pair == [one, two]) else "fmax"
            return (name, tuple(others)) if is_extremum and len(others) == 1 else None
        case Call("fmin" | "fmax" as name, arguments):
            others = [part for part in arguments if part != target]
            return (name, tuple(others)) if len(others) == 1 else None
    return None


def _operands(expr: Expr, op: str) -> list[Expr]:
    if isinstance(expr, Binary) and expr.op == op:
        return [*_operands(expr.left, op), *_operands(expr.right, op)]
    if op == "+" and isinstance(expr, Binary) and expr.op == "-":
        return [*_operands(expr.left, op), Negate(expr.right)]
    return [expr]


def _quotient(a: int, b: int) -> int:
    # What is a real in C may be 0 here, where it is not there.
    b = b or 1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _mixed(*arguments: int) -> int:
    """Return a number made of all arguments, for a function whose values do not matter."""
    return sum((place + 2) * one for place, one in enumerate(arguments)) % PRIME


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
}
_FUNCTIONS: dict[str, Callable[..., int]] = {
    **{"min": min, "fmin": min, "max": max, "fmax": max},
    **{"abs": abs, "fabs": abs},
}


def kernels(body: tuple[Stmt, ...], machine: Machine) -> Iterator[list[Instance]]:
    """Yield the instances of one kernel after the other, each in text order."""
    yield from _kernels(body, machine, {})


def _kernels(
    body: tuple[Stmt, ...], machine: Machine, values: Mapping[str, int]
) -> Iterator[list[Instance]]:
    for stmt in body:
        if isinstance(stmt, Loop) and stmt.place is Level.SERIAL:
            for value, _ in machine.trips(stmt, values):
                yield from _kernels(stmt.body, machine, {**values, stmt.var: value})
        else:
            yield list(machine.instances((stmt,), values))


def has_race(
    kernel: list[Instance],
    touched: Mapping[tuple[int, ...], Touched],
    paths: Mapping[int, tuple[Loop, ...]],
    private: frozenset[str],
) -> bool:
    """Return whether two workers of a kernel touch one element and one of them writes it."""
    readers: defaultdict[Place, set[object]] = defaultdict(set)
    writers: defaultdict[Place, set[object]] = defaultdict(set)
    for instance in kernel:
        seen = touched[key(instance, paths)]
        for place in seen.reads:
            readers[place].add(instance.worker)
        for place in seen.writes:
            writers[place].add(instance.worker)
    return any(
        len(who | readers[place]) > 1 and place[0] not in private for place, who in writers.items()
    )


def is_legal(
    region: Region,
    body: tuple[Stmt, ...],
    sizes: Mapping[str, int],
    private: frozenset[str],
    contents: Contents = _NOTHING,
) -> bool:
    """Return whether `body` computes what the region does, without a race."""
    expected, actual = Machine(region, sizes, contents), Machine(region, sizes, contents)
    touched = expected.trace()
    paths = region.nest.paths()
    shuffle = random.Random(1)
    for kernel in kernels(body, actual):
        if has_race(kernel, touched, paths, private):
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
    region: Region,
    sizes: Mapping[str, int],
    private: frozenset[str],
    contents: Contents = _NOTHING,
) -> dict[tuple[int, ...], set[bool]]:
    """Return for each loop position whether pairs it carries are reductions: {}, {True}, ….

    A loop's position is its place in the text, one number per level.
    """
    machine = Machine(region, sizes, contents)
    executed = [
        (machine.execute(instance), path)
        for instance, path in _numbered(region.nest.body, machine, {}, ())
    ]
    found: defaultdict[tuple[int, ...], set[bool]] = defaultdict(set)
    for index, (first, first_path) in enumerate(executed):
        for second, second_path in executed[index + 1 :]:
            for place in {p for p in first.conflicts(second) if p[0] not in private}:
                loop = _carrier(first_path, second_path)
                if loop is not None:
                    both = first.sources | second.sources
                    is_sum = first.operator == second.operator != "" and place not in both
                    found[loop].add(is_sum and place == first.target == second.target)
    return found


def _numbered(
    body: tuple[Stmt, ...],
    machine: Machine,
    values: Mapping[str, int],
    path: tuple[tuple[int, int], ...],
) -> Iterator[tuple[Instance, tuple[tuple[int, int], ...]]]:
    for index, stmt in enumerate(body):
        if isinstance(stmt, Loop):
            for value, _ in machine.trips(stmt, values):
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
    order = {key(one, paths): time for time, one in enumerate(machine.instances(body, {}))}
    instances = list(machine.trace().items())
    found = set()
    for index, (first_key, first) in enumerate(instances):
        for second_key, second in instances[index + 1 :]:
            if order[first_key] > order[second_key] and first.conflicts(second):
                found.add((first_key[0], second_key[0]))
    return found
