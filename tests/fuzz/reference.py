"""A C function, read with pycparser and run in Python: an oracle that shares nothing with annotune.

The text becomes a Python function. With exact numbers (modulo a prime) every access of the
region is recorded, with the values of the loops around it; with floats the arithmetic is C's.
Iterations of chosen loops may be run in other orders.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

PRIME = (1 << 61) - 1
Path = tuple[tuple[int, int], ...]
Place = tuple[str, int]
Under = tuple[tuple[int, Place | None], ...]
Order = Callable[[int, list[int]], Iterable[int]]
MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class Event:
    """One run of an assignment or a condition: its line, its iteration, what it touches.

    `path` holds (loop, value) pairs, outermost first; loops are numbered in text order.
    `under` are the reads of the conditions around the statement, each with its line.
    """

    line: int
    path: Path
    reads: tuple[Place, ...]
    write: Place | None
    under: Under = ()

    @property
    def all_reads(self) -> tuple[Place, ...]:
        return self.reads_but(set())

    def reads_but(self, stored: set[int]) -> tuple[Place, ...]:
        """Return what the statement reads, its conditions among it.

        A condition on a line of `stored` is kept in a variable, with all that is around it.
        """
        known = [k for k, (line, _) in enumerate(self.under) if line in stored]
        asked = self.under[known[-1] + 1 :] if known else self.under
        return (*self.reads, *(place for _, place in asked if place is not None))


@dataclass
class Run:
    """What one run leaves: events of the region, and memory by name and index.

    `ran` are the loops that ran at all; `bound` is over all values, however sums are ordered.
    """

    events: list[Event] = field(default_factory=list)
    memory: dict[str, Store] = field(default_factory=dict)
    ran: set[int] = field(default_factory=set)
    bound: float = 0.0

    def values(self, names: Iterable[str]) -> dict[str, dict[int, Any]]:
        return {n: dict(self.memory[n].written) for n in names if self.memory[n].written}


class Number:
    """A float with a bound on all that any order of the same operations passes through."""

    __slots__ = ("bound", "value")

    def __init__(self, value: float, bound: float) -> None:
        self.value, self.bound = value, bound

    @staticmethod
    def of(one: Any) -> Number:
        return one if isinstance(one, Number) else Number(float(one), max(1.0, abs(float(one))))

    def __add__(self, other: Any) -> Number:
        other = Number.of(other)
        return Number(self.value + other.value, self.bound + other.bound)

    def __sub__(self, other: Any) -> Number:
        other = Number.of(other)
        return Number(self.value - other.value, self.bound + other.bound)

    def __mul__(self, other: Any) -> Number:
        other = Number.of(other)
        return Number(self.value * other.value, self.bound * other.bound)

    def __neg__(self) -> Number:
        return Number(-self.value, self.bound)

    def __abs__(self) -> Number:
        return Number(abs(self.value), self.bound)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Number:
        return Number.of(other) - self

    def __lt__(self, other: Any) -> bool:
        return self.value < Number.of(other).value

    def __le__(self, other: Any) -> bool:
        return self.value <= Number.of(other).value

    def __gt__(self, other: Any) -> bool:
        return self.value > Number.of(other).value

    def __ge__(self, other: Any) -> bool:
        return self.value >= Number.of(other).value

    def __eq__(self, other: object) -> bool:
        return self.value == Number.of(other).value

    __hash__ = None  # type: ignore[assignment]  # compared by value, never a key


class Store:
    """One array or scalar. What was never written is made by `first`."""

    def __init__(self, name: str, first: Callable[[str, int], Any], run: Machine) -> None:
        self.name, self.first, self.machine = name, first, run
        self.written: dict[int, Any] = {}
        self.low, self.high = 0, -1

    def ld(self, index: int) -> Any:
        self.machine.reads.append((self.name, index))
        self._widen(index)
        if index in self.written:
            return self.written[index]
        return self.first(self.name, index)

    def _widen(self, index: int) -> None:
        self.low, self.high = min(self.low, index), max(self.high, index)

    def st(self, index: int, value: Any, line: int, path: Path, under: Under) -> None:
        self._widen(index)
        self.written[index] = value
        if isinstance(value, Number):
            self.machine.run.bound = max(self.machine.run.bound, value.bound)
        self.machine.event(line, path, (self.name, index), under)


class Pointer:
    """A pointer parameter: a store and an offset into it, which the function may change.

    Exact runs count from where the pointer stands: that is how a region sees the array.
    """

    def __init__(self, store: Store) -> None:
        self.store, self.offset = store, 0

    def _place(self, index: int) -> int:
        return index if self.store.machine.exact else self.offset + index

    def ld(self, index: int) -> Any:
        return self.store.ld(self._place(index))

    def st(self, index: int, value: Any, line: int, path: Path, under: Under) -> None:
        self.store.st(self._place(index), value, line, path, under)


class Machine:
    """What the generated Python calls."""

    def __init__(
        self, exact: bool, order: Callable[[int, list[int]], Iterable[int]] | None
    ) -> None:
        self.exact, self.order_of = exact, order
        self.reads: list[Place] = []
        self.run = Run()
        self.in_region = False
        self.has_entered = False
        self.scalars: tuple[str, ...] = ()
        self.steps = 0

    def at(self, in_region: bool) -> None:
        """Go on inside or outside the region; exact scalars enter it as numbers of their own."""
        if in_region and not self.has_entered and self.exact:
            for name in self.scalars:
                self.run.memory[name].written.clear()
        self.has_entered |= in_region
        self.in_region = in_region
        self.reads.clear()

    def event(self, line: int, path: Path, place: Place | None, under: Under) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong
        if self.in_region:
            self.run.events.append(Event(line, path, tuple(self.reads), place, under))
        self.reads.clear()

    def guard(self, line: int, path: Path, under: Under) -> Under:
        # A condition that reads nothing, for want of asking, may be stored all the same.
        own = tuple((line, place) for place in self.reads) or ((line, None),)
        self.event(line, path, None, under)
        return (*under, *own)

    def order(self, loop: int, first: int, more: Callable[[int], bool], step: int) -> Iterable[int]:
        values = []
        while more(first):
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TooLong
            values.append(first)
            first += step
        self.reads.clear()
        if values:
            self.run.ran.add(loop)
        return self.order_of(loop, values) if self.order_of else values


class TooLong(Exception):
    """The program runs more steps than a test may take."""


@dataclass(frozen=True)
class Parameter:
    """A parameter: ``int``, ``double``, ``float`` scalars, or an array with its extents."""

    name: str
    type: str
    is_array: bool
    extents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Function:
    """A C function as Python, for exact numbers and for floats.

    `types` are those of its arrays and its doubles; `loops` the lines of the region's loops,
    in text order, `down` the numbers of those that count down. `conditional` are the lines of
    statements under conditions, `mixed` those of conditions that compare integers too.
    """

    name: str
    parameters: tuple[Parameter, ...]
    objects: tuple[Parameter, ...]
    types: Mapping[str, str]
    loops: tuple[int, ...]
    down: frozenset[int]
    conditional: frozenset[int]
    mixed: frozenset[int]
    region: tuple[int, int]
    code: str
    sizes: tuple[Mapping[str, int], ...]
    rooms: Mapping[str, str]

    def run(
        self,
        sizes: Mapping[str, int],
        exact: bool = True,
        first: Callable[[str, int], Any] | None = None,
        reals: Mapping[str, Any] | None = None,
        order: Order | None = None,
    ) -> Run:
        """Return what a call with `sizes` leaves.

        `first` gives the values of elements before they are written, `reals` the scalars.
        """
        machine = Machine(exact, order)
        values = first or initial
        for name in self.types:
            machine.run.memory[name] = Store(name, values, machine)
        arrays = {p.name for p in (*self.parameters, *self.objects) if p.is_array}
        reals_ = {name for name, type_ in self.types.items() if type_ in ("double", "float")}
        machine.scalars = tuple(sorted(reals_ - arrays))
        given: dict[str, Any] = dict(sizes)
        for parameter in self.parameters:
            if parameter.is_array and parameter.type == "int":
                given[parameter.name] = sizes[parameter.name]
            elif parameter.is_array:
                given[parameter.name] = Pointer(machine.run.memory[parameter.name])
            elif parameter.type in ("double", "float"):
                given[parameter.name] = (reals or {}).get(parameter.name, values(parameter.name, 0))
        scope = _scope(self.code, exact)
        scope["body"](machine, machine.run.memory, given)
        return machine.run

    def lengths(self, sizes: Mapping[str, int], run: Run) -> dict[str, int]:
        """Return how many elements each array needs: as declared, as noted, or as touched."""
        known = dict(sizes)
        out = {}
        for array in (*(p for p in self.parameters if p.is_array), *self.objects):
            if array.type == "int":
                continue
            declared = 1
            for extent in array.extents:
                declared *= eval(extent, {"__builtins__": {}}, dict(known)) if extent else 1
            full = declared if array.extents and array.extents[0] else 0
            if array.name in self.rooms:
                full = eval(self.rooms[array.name], {"__builtins__": {}}, dict(known))
            out[array.name] = max(full, run.memory[array.name].high + 1, 1)
        return out


def initial(name: str, index: int) -> int:
    """Return the number that stands in an element before it is written."""
    return (7919 * sum(map(ord, name)) + 104729 * index) % 9973 + 1


@lru_cache(maxsize=64)
def _compiled(code: str) -> Any:
    return compile(code, "<c>", "exec")


def _scope(code: str, exact: bool) -> dict[str, Any]:
    def real(text: str) -> Any:
        if not exact:
            return Number.of(text)
        value = Fraction(text)
        return value.numerator * pow(value.denominator, -1, PRIME) % PRIME

    scope: dict[str, Any] = {
        "real": real,
        "wrap": (lambda x: x % PRIME) if exact else Number.of,
        "quotient": _quotient,
        "remainder": lambda a, b: a - b * _quotient(a, b),
        "ratio": (lambda a, b: a * pow(b % PRIME or 1, -1, PRIME) % PRIME) if exact else None,
        "fmax": (lambda a, b: max(a % PRIME, b % PRIME)) if exact else max,
        "fmin": (lambda a, b: min(a % PRIME, b % PRIME)) if exact else min,
        "absolute": (lambda x: x % PRIME) if exact else abs,
    }
    exec(_compiled(code), scope)
    return scope


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shuffled(seed: int, only: int | None = None) -> Order:
    """Return an order that shuffles the iterations of all loops, or of one."""
    source = random.Random(seed)

    def order(loop: int, values: list[int]) -> Iterator[int]:
        if only is None or loop == only:
            source.shuffle(values)
        yield from values

    return order
