"""A proof that a schedule is right, and its checker, which trusts nothing else of annotune.

A certificate is a few isl relations at one set of sizes: for each statement its iterations,
the original order, where and when the kernels run each iteration, and the elements it
touches. `verify` needs these texts and islpy alone, so that the claims of the analysis and
of the transforms are checked again by other means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import islpy as isl


@dataclass(frozen=True, slots=True)
class Touch:
    """One access of a statement: a map from its iterations to elements of an array.

    `element` is isl text such as ``{ S0[i0, i1] -> A[16*i0 + i1] }``. `operator` is that of
    an accumulation into its target, empty elsewhere: what is accumulated by one operator may change
    its order. Of two statements it may where each `may_swap`: no value and no order of theirs
    shows. `combined` are the places in (block x, y, z, thread x, y, z) over which each worker has a
    partial result of its own, all of which are combined later.
    """

    statement: int
    array: str
    element: str
    is_write: bool
    operator: str = ""
    combined: tuple[int, ...] = ()
    may_swap: bool = False


@dataclass(frozen=True, slots=True)
class Stored:
    """The element of a local array in which a statement finds the value of a private scalar.

    `life` maps its iterations to that of the scalar that they use, as the scalar's touches do, and
    `element` to the array, one for each iteration of the loops around its declaration, and the
    indices, the last of the coordinates, which stay below `extents`.
    """

    statement: int
    scalar: str
    life: str
    element: str
    extents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Peeled:
    """Iterations of `kernel` in which its text for whole tiles does not do as the other one does.

    `what` is the C that one of them lacks, `differs` the iterations of the loops around in which
    that would matter: there must be none.
    """

    kernel: str
    what: str
    differs: str


@dataclass(frozen=True, slots=True)
class CopiedInput:
    """A copy from which `statements` read an input instead of its `array`.

    `space` is where the copy is, `loops` those in each iteration of which it is made anew. The
    touches name the array itself: what the copy must hold follows from them.
    """

    statements: tuple[int, ...]
    array: str
    name: str
    space: str
    loops: tuple[str, ...]

    def __str__(self) -> str:
        listed = ", ".join(f"S{n}" for n in self.statements)
        verb = "reads" if len(self.statements) == 1 else "read"
        made = f", made in each {', '.join(self.loops)}" if self.loops else ""
        return f"{listed} {verb} {self.array} through {self.name} in {self.space}{made}"


@dataclass(frozen=True, slots=True)
class GrowingRows:
    """Rows of an array that start at half of ``square*r*r + slope*r + first``, each after the last.

    Touches of such an array name a row and a column in it.
    """

    square: int
    slope: int
    first: int

    def start(self, row: int) -> int:
        """Return the address at which a row starts."""
        return (self.square * row * row + self.slope * row + self.first) // 2

    @property
    def columns(self) -> str:
        """Return as isl text the rows and columns in them: below the start of the next row."""
        twice = f"{2 * self.square}*r + {self.square + self.slope}"
        return f"{{ A[r, c] : 0 <= 2*c < {twice} }}"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where and when one statement runs: relations over its iterations, which are `domain`.

    `original` maps them to the order of the C text, `launch` to the launch that runs them (host
    loops and kernel), `worker` to (block x, y, z, thread x, y, z) and `time` to the order inside
    one thread; `grid` has the extents of blocks and threads. Where a statement `is_joined`, the
    threads of a block wait for each other before and after its loops; `phase` is the order that
    this makes, up to the loop for such a statement.
    """

    domain: str
    original: str
    launch: str
    worker: str
    time: str
    grid: tuple[int, ...]
    phase: str = ""
    is_joined: bool = False


@dataclass(frozen=True, slots=True)
class Certificate:
    """The relations to be checked.

    `placed` has the statements by their numbers. `lengths` bound the elements of each array:
    (lowest, one past the highest). `conditions` are tests, as C, without which the kernels do
    not run, each with what it says at these sizes. `stored` are the elements that stand for
    private scalars, and `rows` says where those of packed arrays start. A body written twice is
    one in these relations; `versions` say that the second text of it does the same. `copied` tells
    which inputs come from copies; `verify` does not ask it.
    """

    sizes: Mapping[str, int]
    placed: Mapping[int, Placement]
    touches: tuple[Touch, ...]
    lengths: Mapping[str, tuple[int, int]]
    conditions: Mapping[str, str] = field(default_factory=dict)
    stored: tuple[Stored, ...] = ()
    versions: tuple[Peeled, ...] = ()
    copied: tuple[CopiedInput, ...] = ()
    rows: Mapping[str, GrowingRows] = field(default_factory=dict)

    def text(self) -> str:
        """Return the certificate as lines of isl text with their meaning."""
        rows = [f"sizes: {', '.join(f'{k}={v}' for k, v in self.sizes.items()) or 'none'}"]
        rows += [f"kernels run where {test}: {told}" for test, told in self.conditions.items()]
        for n, one in self.placed.items():
            rows += [
                f"S{n} iterations: {one.domain}",
                f"S{n} original order: {one.original}",
                f"S{n} launch: {one.launch}",
                f"S{n} block and thread: {one.worker}",
                f"S{n} order in the thread: {one.time}",
                f"S{n} grid: {' x '.join(map(str, one.grid))}",
            ]
            if one.is_joined:
                rows.append(f"S{n} between meetings of the block: {one.phase}")
        for touch in self.touches:
            kind = "accumulates into" if touch.operator else "reads"
            kind = "writes" if touch.is_write and not touch.operator else kind
            rows.append(f"S{touch.statement} {kind} {touch.array}: {touch.element}")
        for place in self.stored:
            rows.append(f"S{place.statement} has {place.scalar} in an array: {place.element}")
        for version in self.versions:
            rows.append(
                f"{version.kernel} would miss {version.what} in whole tiles: {version.differs}"
            )
        rows += map(str, self.copied)
        for array, growing in self.rows.items():
            twice = f"{growing.square}*r*r + {growing.slope}*r + {growing.first}"
            rows.append(f"row r of {array} starts at half of {twice}")
        for array, (low, high) in self.lengths.items():
            rows.append(f"{array} holds elements {low} to {high - 1}")
        return "\n".join(rows) + "\n"


def verify(certificate: Certificate) -> tuple[str, ...]:
    """Return what is wrong with a certificate, in words; nothing when it holds.

    It holds when the tests let the kernels run, block, thread and order cover every iteration
    exactly once within the grid, every pair of accesses that conflict keeps its order,
    every access stays in its array, each life of a scalar has an element to itself, no
    iteration tells the two versions of a body apart, and nothing writes what it takes for a size.
    """
    false = [t for t, told in certificate.conditions.items() if isl.Set(told).is_empty()]
    faults = [f"'{test}' is false at these sizes: no kernel runs" for test in false]
    faults += [*_coverage(certificate), *_bounds(certificate), *_order(certificate)]
    faults += [*_storage(certificate), *_changing(certificate)]
    faults += (
        f"{version.kernel}: without {version.what} the text for whole tiles does something else"
        for version in certificate.versions
        if not isl.Set(version.differs).is_empty()
    )
    return tuple(faults)


def _coverage(c: Certificate) -> Iterator[str]:
    for n, one in c.placed.items():
        domain = isl.Set(one.domain)
        workers = isl.Map(one.worker)
        place = isl.Map(one.launch).flat_range_product(workers)
        place = place.flat_range_product(isl.Map(one.time)).intersect_domain(domain)
        if not place.domain().is_equal(domain):
            yield f"S{n}: some iterations run nowhere"
        if not place.is_single_valued():
            yield f"S{n}: some iterations run twice"
        if not place.is_injective():
            yield f"S{n}: two iterations have one place and time"
        box = " and ".join(f"0 <= x{k} < {extent}" for k, extent in enumerate(one.grid))
        names = ", ".join(f"x{k}" for k in range(len(one.grid)))
        used = workers.intersect_domain(domain).range()
        if not used.is_subset(isl.Set(f"{{ [{names}] : {box} }}")):
            yield f"S{n}: an iteration lies outside the grid"


def _made_by(c: Certificate, statement: int, relation: str) -> isl.Map:
    """Return a relation over the iterations of a statement alone."""
    return isl.Map(relation).intersect_domain(isl.Set(c.placed[statement].domain))


def _bounds(c: Certificate) -> Iterator[str]:
    for touch in c.touches:
        if touch.array in c.rows:
            yield from _in_rows(c, touch, c.rows[touch.array])
            continue
        if touch.array not in c.lengths:
            continue
        low, high = c.lengths[touch.array]
        touched = _made_by(c, touch.statement, touch.element)
        box = isl.Set(f"{{ {touched.range().get_tuple_name()}[x] : {low} <= x < {high} }}")
        if not touched.range().is_subset(box):
            yield f"S{touch.statement}: an access leaves {touch.array}"


def _in_rows(c: Certificate, touch: Touch, rows: GrowingRows) -> Iterator[str]:
    """Yield what shows that an element is in no row of its own, or that a row leaves the array.

    A row begins where the one before ends, so that rows and columns are one for each address.
    """
    touched = _made_by(c, touch.statement, touch.element).range()
    if touched.is_empty():
        return
    if (rows.square + rows.slope) % 2 or rows.first % 2:
        yield f"{touch.array}: rows start at half elements"
    if not touched.is_subset(isl.Set(rows.columns)):
        yield f"S{touch.statement}: an access leaves its row of {touch.array}"
        return
    # Linear lengths that are positive in the first and the last row are so in all between them.
    ends = [int(value.to_python()) for value in (touched.dim_min_val(0), touched.dim_max_val(0))]
    at = [touched.fix_val(isl.dim_type.set, 0, isl.Val(row)) for row in ends]
    lowest = rows.start(ends[0]) + int(at[0].dim_min_val(1).to_python())
    highest = rows.start(ends[1]) + int(at[1].dim_max_val(1).to_python())
    low, high = c.lengths.get(touch.array, (lowest, highest + 1))
    if lowest < low or highest >= high:
        yield f"S{touch.statement}: an access leaves {touch.array}"


def _storage(c: Certificate) -> Iterator[str]:
    known = {(s.statement, s.scalar) for s in c.stored}
    for touch in dict.fromkeys((t.statement, t.array) for t in c.touches):
        if touch not in known and any(touch[1] == s.scalar for s in c.stored):
            yield f"S{touch[0]} has {touch[1]} where the other statements do not find it"
    for one in c.stored:
        element = _made_by(c, one.statement, one.element)
        names = [f"x{k}" for k in range(element.dim(isl.dim_type.out))]
        indices = names[len(names) - len(one.extents) :]
        limits = zip(indices, one.extents, strict=True)
        box = " and ".join(f"0 <= {index} < {extent}" for index, extent in limits) or "true"
        if not element.range().is_subset(isl.Set(f"{{ A[{', '.join(names)}] : {box} }}")):
            yield f"S{one.statement}: an element for {one.scalar} lies outside its array"
        for two in c.stored:
            if one.scalar == two.scalar and not _same(c, one, two, lambda s: s.life).is_equal(
                _same(c, one, two, lambda s: s.element)
            ):
                pair = f"S{one.statement} and S{two.statement}"
                yield f"{pair}: the elements for {one.scalar} are not one for each of its lives"


def _changing(c: Certificate) -> Iterator[str]:
    """Yield the sizes that statements write: texts made for one value keep it throughout."""
    written = {t.array.partition(" of ")[0]: t.statement for t in c.touches if t.is_write}
    for name in c.sizes.keys() & written.keys():
        yield f"S{written[name]} writes {name}, which is taken for {c.sizes[name]} throughout"


def _same(c: Certificate, one: Stored, two: Stored, where: Callable[[Stored], str]) -> isl.Map:
    """Return the pairs of iterations that `where` maps to the same."""
    first, second = (_made_by(c, s.statement, where(s)) for s in (one, two))
    return first.apply_range(second.reverse())


def _order(c: Certificate) -> Iterator[str]:
    relations = _Relations(c)
    for one in c.touches:
        for two in c.touches:
            if one.array != two.array or not (one.is_write or two.is_write):
                continue
            before = relations.conflicts(one, two)
            if before.is_empty():
                continue
            broken = before.subtract(_kept(c, one, two, relations))
            if not broken.is_empty():
                yield (
                    f"S{one.statement} and S{two.statement} conflict on {one.array} and may lose "
                    f"their order: {broken.sample()}"
                )


@dataclass
class _Relations:
    """The relations between two statements, each made once."""

    certificate: Certificate
    made: dict[object, isl.Map] = field(default_factory=dict)

    def conflicts(self, one: Touch, two: Touch) -> isl.Map:
        """Return the pairs that touch one element, the first of which comes earlier in C."""
        placed = self.certificate.placed
        first, second = placed[one.statement].original, placed[two.statement].original
        conflicting = self._element(one).apply_range(self._element(two).reverse())
        return conflicting.intersect(self.earlier(first, second))

    def _element(self, touch: Touch) -> isl.Map:
        key = (touch.statement, touch.element)
        if key not in self.made:
            self.made[key] = _made_by(self.certificate, *key)
        return self.made[key]

    def earlier(self, first: str, second: str) -> isl.Map:
        """Return the pairs of iterations of which the first comes earlier."""
        key = ("earlier", first, second)
        if key not in self.made:
            one, two = _alike(first, second)
            before = isl.Map.lex_lt(one.range().get_space())
            self.made[key] = one.apply_range(before).apply_range(two.reverse())
        return self.made[key]

    def equal(self, first: str, second: str, free: tuple[int, ...] = ()) -> isl.Map:
        """Return the pairs of iterations at one place, whatever the coordinates in `free`."""
        key = ("equal", first, second, free)
        if key not in self.made:
            one, two = _alike(first, second)
            for place in sorted(free, reverse=True):
                one = one.project_out(isl.dim_type.out, place, 1)
                two = two.project_out(isl.dim_type.out, place, 1)
            self.made[key] = one.apply_range(two.reverse())
        return self.made[key]


_THREADS = (3, 4, 5)


def _kept(c: Certificate, one: Touch, two: Touch, relations: _Relations) -> isl.Map:
    """Return the pairs of two statements' iterations whose order is no accident."""
    a, b = c.placed[one.statement], c.placed[two.statement]
    same_launch = relations.equal(a.launch, b.launch)
    same_thread = same_launch.intersect(relations.equal(a.worker, b.worker))
    is_one = one.operator == two.operator != ""
    if is_one and (one.statement == two.statement or (one.may_swap and two.may_swap)):
        # Additions may change places, but not run at the same time.
        kept = _differ(same_launch).union(same_thread)
    else:
        kept = relations.earlier(a.launch, b.launch)
        kept = kept.union(same_thread.intersect(relations.earlier(a.time, b.time)))
    if is_one and one.combined and one.combined == two.combined:
        # Each worker has a partial result, and all are combined.
        together = same_launch.intersect(relations.equal(a.worker, b.worker, one.combined))
        kept = kept.union(together)
    if a.is_joined or b.is_joined:
        same_block = same_launch.intersect(relations.equal(a.worker, b.worker, _THREADS))
        kept = kept.union(same_block.intersect(relations.earlier(a.phase, b.phase)))
    return kept


def _alike(first: str, second: str) -> tuple[isl.Map, isl.Map]:
    """Return two relations, the one with fewer coordinates with zeros after its own."""
    one, two = isl.Map(first), isl.Map(second)
    width = max(one.dim(isl.dim_type.out), two.dim(isl.dim_type.out))
    return _padded(one, width), _padded(two, width)


def _differ(equal: isl.Map) -> isl.Map:
    return isl.Map.universe(equal.get_space()).subtract(equal)


def _padded(relation: isl.Map, width: int) -> isl.Map:
    """Return `relation` with zeros after its coordinates, up to `width` of them."""
    missing = width - relation.dim(isl.dim_type.out)
    if not missing:
        return relation
    start = relation.dim(isl.dim_type.out)
    relation = relation.add_dims(isl.dim_type.out, missing)
    for k in range(missing):
        relation = relation.fix_val(isl.dim_type.out, start + k, isl.Val(0))
    return relation
