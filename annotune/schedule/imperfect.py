"""Imperfect nests whose statements may have nests of their own inside a block of outer loops.

``for i: for j: (s = 0; for l: s += a[i][l] * b[l][j]; c[i][j] = s)`` is a product of matrices: in
a tile of i and j, the sums are an array, and the loop over l goes around the loops of the tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from annotune.analysis.facts import AccessFacts, Analysis
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Var
from annotune.ir.nest import Assign, Loop
from annotune.transforms.distribute import Distribute, Expand
from annotune.transforms.legality import carried_sums
from annotune.transforms.permute import Permute
from annotune.transforms.tile import Cyclic, Tile, name_is_taken, tile_name
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body, bands, find_assign, numbers

# Any length of a tile tells whether tiles are legal.
SOME = 4


@dataclass(frozen=True, slots=True)
class ImperfectNest:
    """One statement with loops of its own inside a perfect nest, beside others without any.

    `band` are the loops around all of them, outermost first, `own` the statement's. `scalars` are
    the private scalars that pass between the `groups`, one of which is the statement alone.
    `output` is what is made of the `target`: itself, or what another group writes.
    """

    statement: int
    target: Access | Var
    band: tuple[Loop, ...]
    own: tuple[Loop, ...]
    scalars: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    # Its strides are a mapping, which has no hash.
    output: AccessFacts = field(hash=False)

    @property
    def beside(self) -> frozenset[int]:
        """Return the other statements of the nest."""
        return frozenset(n for group in self.groups for n in group) - {self.statement}


def imperfect_nests(
    analysis: Analysis, body: Body, statements: Iterable[int], host: tuple[str, ...]
) -> Mapping[int, ImperfectNest]:
    """Return the statements of a unit that may be taken out of an imperfect nest, and how."""
    inside = set(statements)
    found = (_imperfect_nest(analysis, body, n, inside, host) for n in sorted(inside))
    return {one.statement: one for one in found if one is not None}


def _imperfect_nest(
    analysis: Analysis, body: Body, statement: int, inside: set[int], host: tuple[str, ...]
) -> ImperfectNest | None:
    nests = bands(body, statement)
    if len(nests) < 2:
        return None
    band, own = nests[-2:]
    children = band[-1].body
    loops = [stmt for stmt in children if isinstance(stmt, Loop)]
    is_only = len(loops) == 1 and numbers(own[0]) == {statement}
    if not is_only or not all(isinstance(s, Loop | Assign) for s in children):
        return None
    groups = tuple(tuple(sorted(numbers(stmt))) for stmt in children)
    members = {n for group in groups for n in group}
    if not members <= inside or any(_is_free(analysis, {statement}, x.var) for x in own):
        return None
    output = _output(analysis, body, statement, groups)
    if output is None:
        return None
    depth = sum(map(len, nests[:-1]))
    scalars = _passed(analysis, statement, groups, depth)
    target = find_assign(body, statement).target
    found = ImperfectNest(statement, target, _less(band, host), own, scalars, groups, output)
    return found if _is_legal(analysis, body, found) else None


def _less(band: tuple[Loop, ...], host: tuple[str, ...]) -> tuple[Loop, ...]:
    return tuple(loop for loop in band if loop.var not in host)


def _is_free(analysis: Analysis, statements: set[int], loop: str) -> bool:
    return carried_sums(analysis, sorted(statements), loop) == ()


def _output(
    analysis: Analysis, body: Body, statement: int, groups: tuple[tuple[int, ...], ...]
) -> AccessFacts | None:
    """Return the array element that a statement's target is, or becomes in a later group."""
    arrays = analysis.region.arrays

    def written(number: int) -> AccessFacts | None:
        facts = (f for f in analysis.accesses[number] if f.is_write and f.access.array in arrays)
        return next(facts, None)

    target = find_assign(body, statement).target
    if isinstance(target, Access):
        return written(statement)
    later = groups[groups.index((statement,)) + 1 :]
    readers = (n for group in later for n in group if Var(target.name) in _reads(body, n))
    return next((found for n in readers if (found := written(n)) is not None), None)


def _reads(body: Body, number: int) -> tuple[Access | Var, ...]:
    return find_assign(body, number).reads()


def _passed(
    analysis: Analysis, statement: int, groups: tuple[tuple[int, ...], ...], depth: int
) -> tuple[str, ...]:
    """Return the private scalars of the loop at `depth` that more than one group uses."""
    out = []
    for name, users in analysis.homes.items():
        using = [group for group in groups if any(len(users.get(n, ())) == depth for n in group)]
        if len(using) > 1 and name in analysis.region.scalars:
            out.append(name)
    return tuple(out)


def _is_legal(analysis: Analysis, body: Body, found: ImperfectNest) -> bool:
    """Return whether the statements can be taken apart in tiles of all the free loops."""
    inside = {n for group in found.groups for n in group}
    free = [
        loop.var
        for loop in found.band
        if _is_free(analysis, inside, loop.var) and not name_is_taken(loop.var, analysis)
    ]
    if not free:
        return False
    tiles = tuple((name, SOME) for name in free)
    names = [tile_name(x.var) if x.var in free else x.var for x in found.band]
    context = Context(analysis)
    for step in distributed(analysis, found, tiles, (*names, *free), tuple(free)):
        if step.why_not(body, context) is not None:
            return False
        body = step.apply(body, context)
    return True


def distributed(
    analysis: Analysis,
    found: ImperfectNest,
    tiles: tuple[tuple[str, int], ...],
    order: tuple[str, ...],
    inside: tuple[str, ...],
    cyclic: tuple[tuple[str, int], ...] = (),
) -> tuple[Transform, ...]:
    """Return the steps that give each group a nest of its own over the loops `inside`.

    `order` are the loops of the band once cut in `tiles` and in the shares of workers, `inside` the
    last of them.
    """
    statement = found.statement
    return (
        *(Tile(statement, name, size) for name, size in tiles),
        *(Cyclic(statement, name, workers) for name, workers in cyclic),
        Permute(statement, order),
        *(Expand(_user(found, s, analysis), s, inside) for s in found.scalars),
        Distribute(found.groups, loop=inside[0]),
    )


def distributed_block(
    analysis: Analysis,
    found: ImperfectNest,
    tiles: tuple[tuple[str, int], ...],
    order: tuple[str, ...],
    held: str,
    cyclic: tuple[tuple[str, int], ...] = (),
) -> tuple[Transform, ...]:
    """Return the steps that give a statement a nest of its own in a block, in the order of that.

    `order` are its loops once cut and dealt out, outermost first, those of the block from `held`
    on.
    """
    place, inside = order.index(held), shared_inside(found, order, held)
    steps = distributed(analysis, found, tiles, (*order[:place], *inside), inside, cyclic)
    return (*steps, Permute(found.statement, order[place:]))


def shared_inside(found: ImperfectNest, order: tuple[str, ...], held: str) -> tuple[str, ...]:
    """Return the loops of a block that a statement shares with its neighbours, outermost first.

    They are those that pick an element of it.
    """
    own = {loop.var for loop in found.own}
    own |= {tile_name(name) for name in own}
    return tuple(n for n in order[order.index(held) :] if n not in own)


def _user(found: ImperfectNest, scalar: str, analysis: Analysis) -> int:
    """Return a statement of the groups that uses a scalar."""
    users = analysis.homes[scalar]
    return next(n for group in found.groups for n in group if n in users)
