"""Runs nests over integers, local scalars and arrays included, so that equality is exact."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from annotune.analysis.domains import Premises
from annotune.codegen.cuda.thread import is_peeled, unpeeled
from annotune.ir.constants import divide, remainder
from annotune.ir.expr import Access, Binary, Call, Expr, Int, Negate, Real, Select, Var
from annotune.ir.nest import Assign, Await, Fetch, Level, Local, LocalArray, Loop, Stmt
from annotune.transforms.tile_ends import whole_tiles
from annotune.transforms.tree import Body

Place = tuple[str, tuple[int, ...]]


def run(body: tuple[Stmt, ...], sizes: Mapping[str, int]) -> dict[Place, int]:
    """Return every element that `body` writes, with its last value.

    Elements start as numbers made of their place; those of a local array have no value
    before they are written, and reading one is an error. So it is for an asynchronous copy from
    its beginning until a wait covers it.
    """
    machine = _Machine(sizes)
    machine.body(body)
    return {place: value for place, value in machine.memory.items() if place[0] not in machine.own}


def touched(body: tuple[Stmt, ...], sizes: Mapping[str, int]) -> set[Place]:
    """Return every element that `body` reads or writes, those of local arrays left out."""
    machine = _Machine(sizes)
    machine.body(body)
    return {place for place in machine.read | set(machine.memory) if place[0] not in machine.own}


def whole_tiles_run(body: tuple[Stmt, ...], sizes: Mapping[str, int]) -> int:
    """Return how often the version for whole tiles of a peeled loop runs."""
    machine = _Machine(sizes)
    machine.body(body)
    return machine.whole_tiles


def fetched(body: tuple[Stmt, ...], sizes: Mapping[str, int]) -> list[Place]:
    """Return every element that `body` asks for, in that order."""
    machine = _Machine(sizes)
    machine.body(body)
    return machine.fetched


def _is_async(stmt: Stmt) -> bool:
    return isinstance(stmt, Loop) and stmt.place is Level.ASYNC


class _Machine:
    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.values = dict(sizes)
        self.read: set[Place] = set()
        self.fetched: list[Place] = []
        self.memory: dict[Place, int] = {}
        self.own: dict[str, tuple[int, ...]] = {}
        # Groups of copies that have been begun, the oldest first; None outside of one.
        self.groups: list[list[tuple[Place, int]]] = []
        self.begun: list[tuple[Place, int]] | None = None
        self.known = Premises()
        self.whole_tiles = 0
        # What holds in a peeled loop and in its whole tiles, and what then runs in it.
        self.made: dict[tuple[int, tuple[str, ...]], tuple[Premises, Premises, Body, Body]] = {}

    def body(self, body: tuple[Stmt, ...]) -> None:
        for is_async, run in groupby(body, _is_async):
            if is_async and self.begun is None:
                self.begun = []
                self.statements(tuple(run))
                self.groups.append(self.begun)
                self.begun = None
            else:
                self.statements(tuple(run))

    def statements(self, body: tuple[Stmt, ...]) -> None:
        for stmt in body:
            match stmt:
                case Await(newest):
                    arrived = len(self.groups) - newest
                    for group in self.groups[: max(0, arrived)]:
                        self.memory |= dict(group)
                    self.groups = self.groups[max(0, arrived) :]
                case Loop(peeled=tests) if tests:
                    self.versions(stmt)
                case Fetch(place):
                    self.fetched.append(self.place(place))
                case Loop(var, lower, upper, inner, step):
                    known = self.known
                    self.known = known.inside(stmt) if is_peeled(inner) else known
                    for value in range(self.value(lower), self.value(upper), step):
                        self.values[var] = value
                        self.body(inner)
                    self.known = known
                case Local(name, _, value):
                    self.values[name] = 0 if value is None else self.value(value)
                case LocalArray(name, _, extents):
                    self.own[name] = extents
                    self.memory = {p: v for p, v in self.memory.items() if p[0] != name}
                case Assign(_, target, op, value, guard=guard):
                    if guard is None or self.value(guard):
                        self.assign(target, op, self.value(value))

    def versions(self, loop: Loop) -> None:
        """Run a loop whose body is another one where its tests hold."""
        known = self.known
        key = (id(loop), known.facts)
        if key not in self.made:
            inside = known.inside(loop)
            there = inside.where(loop.peeled)
            self.made[key] = inside, there, whole_tiles(loop.body, there), unpeeled(loop.body)
        inside, there, whole, rest = self.made[key]
        for value in range(self.value(loop.lower), self.value(loop.upper), loop.step):
            self.values[loop.var] = value
            is_whole = all(self.value(test) for test in loop.peeled)
            self.whole_tiles += is_whole
            self.known = there if is_whole else inside
            self.body(whole if is_whole else rest)
        self.known = known

    def assign(self, target: Access | Var, op: str, value: int) -> None:
        if op != "=":
            old = self.value(target)
            value = {"+=": old + value, "-=": old - value, "*=": old * value}[op]
        if isinstance(target, Var):
            self.values[target.name] = value
        elif self.begun is not None:
            self.memory.pop(self.place(target), None)
            self.begun.append((self.place(target), value))
        else:
            self.memory[self.place(target)] = value

    def place(self, access: Access) -> Place:
        indices = tuple(self.value(i) for i in access.indices)
        for index, extent in zip(indices, self.own.get(access.array, ()), strict=False):
            assert 0 <= index < extent, f"{access.array}{list(indices)} leaves the block"
        return access.array, indices

    def value(self, expr: Expr) -> int:
        match expr:
            case Int(value):
                return value
            case Real(text):
                return int(float(text))
            case Var(name):
                return self.values[name]
            case Access():
                place = self.place(expr)
                if place[0] in self.own:
                    return self.memory[place]
                self.read.add(place)
                return self.memory.get(place, hash(place) % 97 + 1)
            case Negate(operand):
                return -self.value(operand)
            case Binary("&&", left, right):
                return int(bool(self.value(left)) and bool(self.value(right)))
            case Binary("||", left, right):
                return int(bool(self.value(left)) or bool(self.value(right)))
            case Binary("<", left, right):
                return int(self.value(left) < self.value(right))
            case Binary("<=", left, right):
                return int(self.value(left) <= self.value(right))
            case Binary("!=", left, right):
                return int(self.value(left) != self.value(right))
            case Binary(">=", left, right):
                return int(self.value(left) >= self.value(right))
            case Select(condition, if_true, if_false):
                return self.value(if_true if self.value(condition) else if_false)
            case Binary(op, left, right):
                a, b = self.value(left), self.value(right)
                if op in "/%":
                    return divide(a, b) if op == "/" else remainder(a, b)
                return {"+": a + b, "-": a - b, "*": a * b}[op]
            case Call("min", arguments):
                return min(self.value(a) for a in arguments)
            case Call("max", arguments):
                return max(self.value(a) for a in arguments)
        raise AssertionError(expr)
