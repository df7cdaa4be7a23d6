"""What a copy of an array holds: the loops over it, and how far accesses reach beyond them.

Accesses that are one another some iterations later: how many, and the boxes that they fill.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import TypeAlias

from annotune.frozen import dataclass
from annotune.ir.expr import Access, Binary, Expr, Int, Var, accesses, substitute, variables
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Local, Loop, MemorySpace, walk_paths, walk_stmts
from annotune.ir.poly import Poly, from_expr, integer
from annotune.transforms.legality import TEAM_LEVELS
from annotune.transforms.presence import certain_reads
from annotune.transforms.tree import (
    Body,
    bound_names,
    find_assign,
    full_length,
    surely_read,
    top_of,
)


@dataclass(frozen=True, slots=True)
class Side:
    """One loop over a copy, and by how many iterations accesses are behind and ahead of it.

    `count` are its most iterations there, None where that is not known. A loop that `is_outside`
    stands around the copy, which holds its one iteration and those that accesses reach.
    """

    loop: Loop
    count: int | None
    behind: int = 0
    ahead: int = 0
    is_outside: bool = False

    @property
    def extent(self) -> int | None:
        """Return the elements of the copy along the loop."""
        return None if self.count is None else self.count + self.ahead - self.behind


@dataclass(frozen=True, slots=True)
class Footprint:
    """The accesses that a copy serves, by how far each is ahead of `source`, and its sides."""

    source: Access
    offsets: Mapping[Access, Offset]
    sides: tuple[Side, ...]
    statements: frozenset[int]

    def rows(self) -> tuple[str, ...]:
        """Return the loops of the sides as the array has its rows, neighbours last."""
        return tuple(sorted((side.loop.var for side in self.sides), key=self._nearness))

    def _nearness(self, loop: str) -> tuple[int, tuple[int, int]]:
        """Return a key that grows as the elements that a loop picks come nearer to each other."""
        for place, index in enumerate(self.source.indices):
            poly = from_expr(index)
            split = None if poly is None else poly.linear_in((loop,))
            if split is not None and loop in split[0]:
                sizes, number = length_key(split[0][loop])
                return place, (-sizes, -number)
        # A loop over tiles comes before the loop over one.
        return -1, (0, 0)

    def boxes(self) -> tuple[Box, ...]:
        """Return the offsets along all sides as boxes without a hole."""
        names = [side.loop.var for side in self.sides]
        points = (tuple(o.get(name, 0) for name in names) for o in self.offsets.values())
        return filled_boxes(points)


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a copy stands: inside the outer `depth` of `loops`, in the memory `space`."""

    loops: tuple[Loop, ...]
    depth: int
    space: MemorySpace
    constants: Mapping[str, int]

    def over(self, used: frozenset[str]) -> tuple[Loop, ...]:
        """Return the loops over a copy of what the names in `used` pick, here or on other threads.

        Of a tile that starts inside, the loop over the tiles is one as well.
        """
        is_shared = self.space is MemorySpace.SHARED
        team = [x for x in self.loops[: self.depth] if is_shared and x.place in TEAM_LEVELS]
        for inner in reversed(self.loops[self.depth :]):
            used |= bound_names(inner) if inner.var in used else frozenset()
        return tuple(x for x in (*team, *self.loops[self.depth :]) if x.var in used)


def footprint(
    body: Body,
    statement: int,
    array: str,
    frame: Frame,
    named: Iterable[str],
    is_whole: bool = False,
) -> Footprint | None:
    """Return what `statement`, and those beside it, read of `array` that one copy can hold.

    None where the statement reads an element under a condition, or elements whose subscripts
    differ by more than constants. What its own condition reads first it reads in any case, and of
    an array that `is_whole` it may read more (`certain_reads`). Where accesses reach beyond a loop
    around the copy that is not in `named`, the copy holds one of its planes: the one with the most
    accesses.
    """
    loops = frame.loops
    assign = find_assign(body, statement)
    own = list(dict.fromkeys(_reads(assign, array)))
    if not own or not set(certain_reads(assign, is_whole)).issuperset(own):
        return None
    # An index that is itself an element would be copied with elements nobody chose.
    if any(accesses(index) for one in own for index in one.indices):
        return None
    # A scalar that the nest sets has its value only later than the copy is made.
    if _set_in(body, statement) & frozenset[str]().union(*(_names(one) for one in own)):
        return None
    names = [x.var for x in loops]
    offsets: dict[Access, Offset] = {}
    for access in own:
        offset = offset_of(access, own[0], names)
        if offset is None:
            return None
        offsets[access] = offset
    statements = {statement}
    for other in _beside(body, loops, frame.depth, statement):
        found = {
            a: o for a in _sure(other, array) if (o := offset_of(a, own[0], names)) is not None
        }
        offsets |= found
        statements |= {other.number} if found else set()
    inside = frame.over(_names(own[0]))
    apart = {v for o in offsets.values() for v in o} - {x.var for x in inside} - set(named)
    source, offsets = _plane(offsets, sorted(apart))
    sides = tuple(_sides(loops, inside, offsets, frame))
    return Footprint(source, offsets, sides, frozenset(statements))


def _names(access: Access) -> frozenset[str]:
    return frozenset[str]().union(*map(variables, access.indices))


def _set_in(body: Body, statement: int) -> frozenset[str]:
    """Return the scalars that the nest of a statement assigns or declares."""
    names = set()
    for stmt in walk_stmts((body[top_of(body, statement)],)):
        if isinstance(stmt, Local):
            names.add(stmt.name)
        elif isinstance(stmt, Assign) and isinstance(stmt.target, Var):
            names.add(stmt.target.name)
    return frozenset(names)


def _reads(assign: Assign, array: str) -> Iterator[Access]:
    yield from (a for source in assign.sources() for a in accesses(source) if a.array == array)


def _sure(assign: Assign, array: str) -> Iterator[Access]:
    """Yield the elements that a statement reads whenever its loops run."""
    if assign.guard is None:
        for one in surely_read(assign.value):
            if isinstance(one, Access) and one.array == array:
                yield one


def _beside(body: Body, loops: Sequence[Loop], depth: int, statement: int) -> Iterator[Assign]:
    """Yield the other statements in the very loops of one."""
    for assign, around in walk_paths(body):
        same = len(around) == len(loops) and all(x is y for x, y in zip(around, loops, strict=True))
        if same and assign.number != statement and len(around) >= depth:
            yield assign


def _plane(
    offsets: Mapping[Access, Offset], apart: Sequence[str]
) -> tuple[Access, dict[Access, Offset]]:
    """Return the accesses of the fullest plane, by how far they are ahead of the first of them."""
    planes: dict[tuple[int, ...], list[Access]] = {}
    for access, offset in offsets.items():
        planes.setdefault(tuple(offset.get(v, 0) for v in apart), []).append(access)
    chosen = max(planes.values(), key=len)
    first = offsets[chosen[0]]
    names = {v for access in chosen for v in offsets[access]} | set(first)
    return chosen[0], {
        access: {v: offsets[access].get(v, 0) - first.get(v, 0) for v in names} for access in chosen
    }


def _sides(
    loops: Sequence[Loop], inside: Sequence[Loop], offsets: Mapping[Access, Offset], frame: Frame
) -> Iterator[Side]:
    for loop in loops:
        reach = [offset.get(loop.var, 0) for offset in offsets.values()]
        behind, ahead = min(reach), max(reach)
        if any(loop is x for x in inside):
            yield Side(loop, full_length(loop, frame.constants), behind, ahead)
        elif behind or ahead:
            yield Side(loop, 1, behind, ahead, is_outside=True)


Offset: TypeAlias = Mapping[str, int]
Point: TypeAlias = tuple[int, ...]
Box: TypeAlias = tuple[Point, Point]


def offset_of(access: Access, reference: Access, loops: Sequence[str]) -> Offset | None:
    """Return by how many iterations of each loop `access` is ahead of `reference`.

    ``A[i + 1][j]`` is one iteration of ``i`` ahead of ``A[i][j]``. Loops along which it is not are
    left out. None where no number of iterations turns one into the other.
    """
    if access.array != reference.array or len(access.indices) != len(reference.indices):
        return None
    return _offset_of(access, reference, tuple(loops))


# A strategy asks the same of each of its tiles, and a step before and when it is applied.
@lru_cache(maxsize=1 << 13)
def _offset_of(access: Access, reference: Access, loops: tuple[str, ...]) -> Offset | None:
    found: dict[str, int] = {}
    for own, base in zip(access.indices, reference.indices, strict=True):
        ahead = _ahead(own, base, loops)
        if ahead is None or any(found.get(v, n) != n for v, n in ahead.items()):
            return None
        found |= ahead
    # A loop in two dimensions moves both.
    later: dict[str, Expr] = {v: Binary("+", Var(v), Int(n)) for v, n in found.items()}
    pairs = zip(access.indices, reference.indices, strict=True)
    same = all(_is_zero(Binary("-", substitute(base, later), own)) for own, base in pairs)
    return found if same else None


def offset_key(access: Access, loops: Sequence[str]) -> tuple[object, ...]:
    """Return what two accesses have in common if `offset_of` has an offset between them."""
    dimensions: list[object] = []
    for index in access.indices:
        poly = from_expr(index)
        split = None if poly is None else poly.linear_in(loops)
        if split is None:
            dimensions.append(None if poly is not None else index)
            continue
        strides, rest = split
        # Strides that are numbers leave what sizes add as it is.
        is_plain = all(stride.constant is not None for stride in strides.values())
        sizes = tuple(term for term in rest.terms if term[0]) if is_plain else ()
        dimensions.append((frozenset(strides.items()), sizes))
    return (access.array, *dimensions)


def _ahead(own: Expr, base: Expr, loops: Sequence[str]) -> dict[str, int] | None:
    """Return the iterations between two subscripts of one dimension, the longest strides first."""
    one, two = from_expr(own), from_expr(base)
    if one is None or two is None:
        return {} if own == base else None
    split, other = one.linear_in(loops), two.linear_in(loops)
    if split is None or other is None or split[0] != other[0]:
        return None
    rest = split[1] - other[1]
    found: dict[str, int] = {}
    for loop, stride in sorted(
        split[0].items(), key=lambda item: length_key(item[1]), reverse=True
    ):
        count = _times(rest, stride)
        if count:
            found[loop] = count
            rest = rest - integer(count) * stride
    return found if rest.is_zero else None


def length_key(stride: Poly) -> tuple[int, int]:
    """Return a key that is larger for a stride of more sizes, or of a larger number."""
    return max(len(m) for m, _ in stride.terms), abs(stride.constant or 0)


def _times(distance: Poly, stride: Poly) -> int:
    """Return how many strides come closest to a distance, 0 where none does."""
    step, length = stride.constant, distance.constant
    if step is not None and length is not None:
        nearest = (2 * abs(length) + abs(step) - 1) // (2 * abs(step))
        return nearest if (step > 0) == (length > 0) else -nearest
    return distance.divide(stride)[0].constant or 0


def _is_zero(expr: Expr) -> bool:
    poly = from_expr(fold(expr))
    return poly is not None and poly.is_zero


def filled_boxes(points: Iterable[Point]) -> tuple[Box, ...]:
    """Return boxes, lowest and highest corner, that together are exactly `points`.

    The points of a cross of five are its two lines.
    """
    known = frozenset(points)
    boxes = [(a, b) for a in known for b in known if _is_filled(a, b, known)]
    # The largest first; of equal ones those that begin first, so that texts stay the same.
    boxes.sort(key=lambda box: (-len(tuple(_inside(*box))), box))
    left, chosen = set(known), []
    while left:
        best = max(boxes, key=lambda box: sum(p in left for p in _inside(*box)))
        chosen.append(best)
        left -= set(_inside(*best))
    return tuple(chosen)


def _inside(low: Point, high: Point) -> Iterable[Point]:
    return product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))


def _is_filled(low: Point, high: Point, known: frozenset[Point]) -> bool:
    lengths = [b - a + 1 for a, b in zip(low, high, strict=True)]
    if min(lengths, default=1) < 1 or prod(lengths) > len(known):
        return False
    return all(point in known for point in _inside(low, high))
