"""Variables made private to iterations, with one write of the last value where it is wanted.

An array that each iteration of a loop writes before it reads makes the loop serial only because
all iterations share it. Each gets one of its own, and the last iteration writes the user's array,
which the function may read later. That is exact: a read sees a write of its own iteration, the last
iteration writes all that any of them writes, and has the values that C leaves. An array that nobody
reads afterwards (`Array.is_scratch`) is not written, and the text alone has it. How long an array
is, sizes may say: there is room for those that are tuned for, and emitted code tests that a call
has no others; so it does for what the proofs took of sizes (`Region.never_negative`).

A scalar that the region writes and that is private to no loop stays as it is: targets keep it
in memory (`annotune.codegen.in_place.lasting`, `annotune.codegen.cuda.cpp`). A scalar that is
private to a loop and read after the region is rewritten: the private copy gets a new name, and a
statement guarded by "this is the last iteration" writes the user's variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import prod

import islpy as isl

from annotune.analysis.dependences import (
    Carried,
    Lifetime,
    all_dependences,
    flows_into,
    inner_lives,
    lifetimes,
    local_lifetimes,
    sees_writes,
)
from annotune.analysis.domains import ConditionReader, NotLinear, access_map, is_last
from annotune.analysis.messages import listed
from annotune.analysis.model import ArrayLayout, Demand, Model, build_model
from annotune.analysis.sections import Bounds, Unbounded, section
from annotune.analysis.statements import (
    Counted,
    DataReference,
    NestStatement,
    loops_of,
    read_statements,
)
from annotune.annotation.commands import before_targets
from annotune.diagnostics import AnnotuneError
from annotune.frozen import dataclass
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Var,
    conjunction,
    extremum_operands,
    print_expr,
    rewrite,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.nest import (
    Assign,
    LocalArray,
    Loop,
    Nest,
    Stmt,
    map_assigns,
    walk_paths,
)
from annotune.ir.poly import ONE, ZERO, Poly, from_expr, integer, to_expr, variable
from annotune.ir.region import Normalised, Region, Scalar, fresh_name

# The most elements of an array that each thread gets for itself. A GPU thread keeps them in
# registers or in its local memory, 512 KiB at most (CUDA C++ Programming Guide, Technical
# Specifications per Compute Capability); more than this would not stay in any cache.
MOST_ELEMENTS = 1024
# The same where so many iterations run that each may do its own work alone, and wait for memory:
# 32 KiB of double, of which a core keeps some in its second-level cache.
MOST_OF_MANY = 4096
MANY_ITERATIONS = 256

_SET = isl.dim_type.set


def with_private_arrays(region: Region) -> Region:
    """Return `region` with a local array for each array that only sharing makes loops serial.

    ``for i: (for k: t[k] = …); (for k: … = t[k])`` gets ``double t_own[8]`` in the loop over
    i, used instead of t, and a copy of it to t in the last iteration.
    """
    for _ in region.arrays:
        names = _candidates(region)
        if not names:
            return region
        changed = _with_one(region, names)
        if changed is None:
            return region
        region = changed
    return region


def _candidates(region: Region) -> frozenset[str]:
    """Return the arrays written at places that some loop around them does not move.

    Without any, isl need not be asked.
    """
    found: set[str] = set()
    for assign, loops in walk_paths(region.nest.body):
        target = assign.target
        if isinstance(target, Access) and target.array in region.arrays and target.indices:
            used = frozenset[str]().union(*map(variables, target.indices))
            if assign.op == "=" and any(loop.var not in used for loop in loops):
                found.add(target.array)
    read = {r.array for a in region.nest.assigns() for r in a.reads() if isinstance(r, Access)}
    return frozenset(found & read)


def _with_one(region: Region, names: frozenset[str]) -> Region | None:
    """Return `region` with one array of `names` made private, None when none can be."""
    try:
        statements = read_statements(region)
        lives = lifetimes(region.nest.written_scalars(), statements) | local_lifetimes(region)
        model = build_model(region, statements)
    except AnnotuneError:
        return None  # what is wrong with it, the analysis says
    dependences = all_dependences(model, lives)
    for loop in loops_of(statements):
        against = _against(loop, model, dependences)
        if not against or not against <= names:
            continue
        found = [_private(name, model, dependences) for name in sorted(against)]
        # Where one stays shared so the loop is serial, and nests inside it need the others shared.
        privates = [private for private in found if private is not None]
        if len(privates) < len(found):
            continue
        for private in privates:
            changed = in_text_order(private.rewritten())
            if changed is not None:
                return changed
    return None


def _against(loop: Counted, model: Model, dependences: Sequence[Carried]) -> frozenset[str]:
    """Return the variables whose dependences make a loop serial."""
    depth = len(loop.position) - 1
    inside = {statement.number for statement in model.inside(loop.position)}
    return frozenset(
        one.dependence.array
        for one in dependences
        if depth in one.pieces
        and one.dependence.source in inside
        and not one.dependence.is_reduction
    )


@dataclass(frozen=True)
class _WorkArea:
    """The elements of an array that all iterations touch: from each side's first to before its end.

    They are counted along the dimensions of the C text, or, with an array's `layout`, along those
    that are recovered from its subscripts; then the local array begins with the first of them, and
    `rows` are the indices of each access in it. In the C text one subscript reaches them, or, where
    the array `is_declared` so, one for each dimension. With the extents `room` the local array
    holds all of them where none of `demands` is negative.
    """

    sides: tuple[tuple[Poly, Poly], ...]
    room: tuple[int, ...]
    layout: ArrayLayout | None = None
    rows: Mapping[Access, tuple[Expr, ...]] = field(default_factory=dict)
    demands: tuple[Poly, ...] = ()
    is_declared: bool = False

    def indices(self, access: Access) -> tuple[Expr, ...]:
        """Return where an access finds its element in the local array."""
        return self.rows.get(access, access.indices)

    def place(self, counters: tuple[str, ...]) -> tuple[Expr, ...]:
        """Return the subscripts of the array for an element of the box."""
        if self.layout is None:
            return tuple(map(Var, counters))
        row = tuple(variable(c) + low for c, (low, _) in zip(counters, self.sides, strict=True))
        if self.is_declared:
            return tuple(to_expr(index, counters) for index in row)
        return (to_expr(_address(self.layout, row), counters),)

    @property
    def counted(self) -> tuple[tuple[Poly, Poly], ...]:
        """Return between which values the indices in the local array run."""
        if self.layout is None:
            return self.sides
        return tuple((ZERO, end - low) for low, end in self.sides)


def _address(layout: ArrayLayout, row: tuple[Poly, ...]) -> Poly:
    """Return the address of the element with the indices `row`, from the array's start."""
    address, distance = layout.offset, ONE
    for index, extent in zip(reversed(row), reversed(layout.extents), strict=True):
        address = address + index * distance
        distance = distance * (ONE if extent is None else extent)
    return address


@dataclass(frozen=True)
class _Private:
    """An array that is private to the iterations of the loops at `homes`, with its last values.

    The iteration of the last home in which `condition` holds is the last one. Without a condition
    nobody reads them.
    """

    name: str
    model: Model
    homes: tuple[tuple[int, ...], ...]
    box: _WorkArea
    condition: Expr | None

    def rewritten(self) -> Region:
        region = self.model.region
        own = fresh_name(f"{self.name}_own", region)

        def renamed(expr: Expr) -> Expr | None:
            if not isinstance(expr, Access) or expr.array != self.name:
                return None
            indices = tuple(rewrite(index, renamed) for index in self.box.indices(expr))
            return Access(own, indices, expr.span)

        local = LocalArray(own, region.arrays[self.name].element, self.box.room)
        body = map_assigns(region.nest.body, lambda assign: assign.rewritten(renamed))
        places = range(1, len(self.box.room) + 1) if self.condition is not None else ()
        counters = tuple(fresh_name(f"{own}_{place}", region) for place in places)
        copy = (self._copy(own, counters),) if counters else ()
        for home in self.homes:
            after = copy if home == self.homes[-1] else ()
            body = appended(body, home, after, (local,))
        scalars = dict(region.scalars)
        scalars |= {name: Scalar(name, "int", is_local=True) for name in counters}
        return replace(
            region,
            nest=Nest(body),
            scalars=scalars,
            original=region.as_written,
            steps=(*region.steps, self._step(own)),
            never_negative=tuple(dict.fromkeys((*region.never_negative, *self.box.demands))),
        )

    def _step(self, own: str) -> Normalised:
        loop = next(c.loop for c in loops_of(self.model.statements) if c.position == self.homes[-1])
        where = listed([print_expr(Demand(one).expr({})) for one in self.box.demands])
        whole, last = "all of which", f"the last one writes {self.name}"
        if self.condition is None:
            whole, last = "which", f"nothing reads {self.name} afterwards"
        proof = (
            f"each iteration of {loop.var} has a {self.name} of its own, {own}, {whole} it "
            f"writes before it reads it; {last}"
        )
        return Normalised(f"{proof} (where {where})" if where else proof, loop.span)

    def _copy(self, own: str, counters: tuple[str, ...]) -> Stmt:
        """Return the loops that copy all elements in the last iteration."""
        indices = tuple(Var(counter) for counter in counters)
        number = next_number(self.model.region)
        span = next(
            s.assign.span for s in self.model.statements if s.references[-1].name == self.name
        )
        copy: Stmt = Assign(
            number,
            Access(self.name, self.box.place(counters), span),
            "=",
            Access(own, indices, span),
            span,
            self.condition,
        )
        for counter, (low, high) in reversed(tuple(zip(counters, self.box.counted, strict=True))):
            copy = Loop(counter, to_expr(low), to_expr(high), (copy,), span=span)
        return copy


def _private(name: str, model: Model, dependences: Sequence[Carried]) -> _Private | None:
    """Return how to make an array private, None when it cannot be, or its end is not known."""
    references = model.references[name]
    if any(r.unknown or not isinstance(r.access, Access) for r in references):
        return None
    homes = _homes(name, model, dependences)
    if not homes:
        return None
    most, is_unread = _most_elements(homes, model), _is_unread(name, model)
    for box in (_box_of_text(references, model, most), _box_of_rows(name, homes, model, most)):
        writer = None
        if box is not None and not is_unread:
            writer = _whole_writer(name, homes[-1], box, model)
        condition = None if writer is None else _last_iteration(writer, homes, model)
        if box is not None and (is_unread or condition is not None):
            demands = tuple(dict.fromkeys((*box.demands, *only_these_sizes(model))))
            return _Private(name, model, homes, replace(box, demands=demands), condition)
    return None


def _is_unread(name: str, model: Model) -> bool:
    """Return whether nobody reads an array after the region, which needs none in its place.

    Its text still does, at whatever sizes: it must stay inside of what C declares.
    """
    array = model.region.arrays[name]
    polys = [None if one is None else from_expr(one) for one in array.extents]
    if not array.is_scratch or array.is_pointer or None in polys or not model.all_sizes:
        return False
    bounds = Bounds.of(model)
    try:
        found = section(name, bounds)
    except (AnnotuneError, Unbounded):
        return False
    is_whole = (found.lowest, found.length) == (ZERO, model.whole_length(name))
    return is_whole and not found.is_assumed and tuple(bounds.demands.found) == model.demands


def only_these_sizes(model: Model) -> Iterator[Poly]:
    """Yield what holds at the region's sizes alone, where nothing is proven for others.

    What hindered that may be the array, which is gone once it is local.
    """
    if model.all_sizes:
        return
    for name, value in model.region.sizes.items():
        if name in model.region.scalars and name not in model.region.constants:
            yield from (integer(value) - variable(name), variable(name) - integer(value))


def _most_elements(homes: Sequence[tuple[int, ...]], model: Model) -> int:
    """Return the most elements that each iteration of the loops may have for itself."""
    for home in homes:
        runs = 1
        for loop in (
            c for c in loops_of(model.statements) if home[: len(c.position)] == c.position
        ):
            trips = [(u - w).at(model.values).constant for u in loop.upper for w in loop.lower]
            runs *= min((n // loop.loop.step for n in trips if n is not None), default=0)
        if runs < MANY_ITERATIONS:
            return MOST_ELEMENTS
    return MOST_OF_MANY


def _homes(name: str, model: Model, dependences: Sequence[Carried]) -> tuple[tuple[int, ...], ...]:
    """Return the outermost loops to whose iterations the array is private; all uses are there."""
    homes: dict[tuple[int, ...], None] = {}
    flows = flows_into(one for one in dependences if one.dependence.array == name)
    for reference in model.references[name]:
        loops = model.statement(reference.statement).loops
        home = next((c.position for c in loops if _is_home(name, c.position, model, flows)), None)
        if home is None:
            return ()
        homes[home] = None
    return tuple(sorted(homes))


def _is_home(
    name: str, home: tuple[int, ...], model: Model, flows: Mapping[int, Sequence[Carried]]
) -> bool:
    """Return whether each read in the loop at `home` sees a write of the same iteration.

    And whether no loop down to this one moves the places that are touched, so that each
    iteration needs the same elements.
    """
    inside = {statement.number for statement in model.inside(home)}

    def counts(one: Carried, depth: int) -> bool:
        """Return whether a piece of a dependence is within one iteration of the loop at `home`."""
        return depth >= len(home) or (depth == -1 and one.dependence.source in inside)

    for reference in model.references[name]:
        if reference.statement not in inside:
            continue
        statement = model.statement(reference.statement)
        outer = {loop.var for loop in statement.loops[: len(home)]}
        assert isinstance(reference.access, Access)
        if any(variables(index) & outer for index in reference.access.indices):
            return False
        if not reference.is_write and not sees_writes(reference, model, flows, counts):
            return False
    return True


def _box_of_text(references: Sequence[DataReference], model: Model, most: int) -> _WorkArea | None:
    """Return the box of all elements by the indices of the text; None when sizes decide them."""
    touched = _elements(references, model)
    if touched is None:
        return None
    sides = []
    for place in range(touched.dim(_SET)):
        ends = [touched.dim_min_val(place), touched.dim_max_val(place)]
        if not all(end.is_int() for end in ends):
            return None
        low, high = (int(end.to_python()) for end in ends)
        if low < 0:
            return None
        sides.append((low, high + 1))
    room = tuple(end for _, end in sides)
    box = _WorkArea(tuple((integer(low), integer(end)) for low, end in sides), room)
    return box if prod(room) <= most else None


def _box_of_rows(
    name: str, homes: Sequence[tuple[int, ...]], model: Model, most: int
) -> _WorkArea | None:
    """Return the box of all elements by the recovered indices, as long as sizes say.

    Each index of a write is a loop inside the home, up or down, or the same at all times; reads see
    such writes. The local array has room for the region's own sizes: emitted code tests that a call
    has none beyond.
    """
    layout = model.layouts[name]
    if not model.all_sizes or any(demand.differs for demand in model.demands):
        return None
    references = model.references[name]
    is_declared = all(r.subscripts == model.rows[r] for r in references)
    written: list[list[tuple[Poly, Poly]]] = []
    for reference in references:
        is_flat = reference.subscripts == (_address(layout, model.rows[reference]),)
        found = _sides_of(reference, homes, model) if reference.is_write else []
        if found is None or not (is_flat or is_declared):
            return None
        written += [found] if reference.is_write else []
    ordered: list[Poly] = []
    sides = [_side_around(each, model, ordered) for each in zip(*written, strict=True)]
    lengths = [(end - low).at(model.values).constant for low, end in sides]
    room = tuple(length for length in lengths if length is not None and length > 0)
    if len(room) < len(lengths) or not room or prod(room) > most:
        return None
    rows = _rows_within(name, sides, model)
    demands = [integer(n) + low - end for n, (low, end) in zip(room, sides, strict=True)]
    needed = (*demands, *ordered, *(demand.poly for demand in model.demands))
    if rows is None or any((one.constant or 0) < 0 for one in needed):
        return None
    open_ = (one for one in needed if one.constant is None)
    return _WorkArea(tuple(sides), room, layout, rows, tuple(dict.fromkeys(open_)), is_declared)


def _side_around(
    sides: Sequence[tuple[Poly, Poly]], model: Model, demands: list[Poly]
) -> tuple[Poly, Poly]:
    """Return the side around others at the region's sizes; elsewhere it is where `demands` hold."""

    def at_sizes(poly: Poly) -> int:
        return poly.at(model.values).constant or 0

    low = min((low for low, _ in sides), key=at_sizes)
    end = max((end for _, end in sides), key=at_sizes)
    demands += [part for other, last in sides for part in (other - low, end - last)]
    return low, end


def _rows_within(
    name: str, sides: Sequence[tuple[Poly, Poly]], model: Model
) -> dict[Access, tuple[Expr, ...]] | None:
    """Return where each access finds its element in a local array that begins with the box."""
    rows: dict[Access, tuple[Expr, ...]] = {}
    for reference in model.references[name]:
        plain = {
            *model.region.scalars,
            *(x.var for x in model.statement(reference.statement).loops),
        }
        row = [index - low for index, (low, _) in zip(model.rows[reference], sides, strict=True)]
        if not isinstance(reference.access, Access) or any(not i.names <= plain for i in row):
            return None
        rows[reference.access] = tuple(map(to_expr, row))
    return rows


def _sides_of(
    reference: DataReference, homes: Sequence[tuple[int, ...]], model: Model
) -> list[tuple[Poly, Poly]] | None:
    """Return between which values each index of a write runs, if loops in its home move it."""
    statement = model.statement(reference.statement)
    depth = next(len(home) for home in homes if statement.position[: len(home)] == home)
    iterators = {loop.var for loop in statement.loops}
    sides: list[tuple[Poly, Poly]] = []
    for index in model.rows[reference]:
        moving = [loop for loop in statement.loops if loop.var in index.names]
        low, end = index, index + ONE
        if moving:
            loop, *others = moving
            if others or loop not in statement.loops[depth:] or loop.loop.step != 1:
                return None
            if len(loop.lower) != 1 or len(loop.upper) != 1:
                return None
            up, down = index - variable(loop.var), index + variable(loop.var)
            low, end = loop.lower[0] + up, loop.upper[0] + up
            if loop.var not in down.names:
                low, end = down - loop.upper[0] + ONE, down - loop.lower[0] + ONE
        names = low.names | end.names
        if names & iterators or not names <= set(model.region.scalars):
            return None
        sides.append((low, end))
    return sides


def _elements(
    references: Sequence[DataReference], model: Model, runs: Mapping[int, isl.Set] | None = None
) -> isl.Set | None:
    """Return the indices, as C writes them, that references touch in all their runs."""
    touched: isl.Set | None = None
    for one in references:
        instances = model.instances(one) if runs is None else runs[one.statement]
        statement = model.statement(one.statement)
        try:
            image = access_map(statement, one.subscripts, model.space, instances).range()
        except NotLinear:
            return None
        touched = image if touched is None else touched.union(image)
    return touched


def _whole_writer(
    name: str, home: tuple[int, ...], box: _WorkArea, model: Model
) -> NestStatement | None:
    """Return a statement that runs in every iteration of `home` if each writes the whole box.

    Then the last iteration leaves what the loop leaves.
    """
    writes = [r for s in model.inside(home) for r in s.references if r.is_write and r.name == name]
    whole = model.box(box.sides)
    depth = len(home)
    filled: isl.Map | None = None
    for write in writes:
        statement, runs = model.statement(write.statement), model.surely(write.statement)
        if box.layout is None:
            wrote = access_map(statement, write.subscripts, model.space, runs)
        else:
            wrote = model.maps[write].intersect_domain(runs)
        inner = wrote.dim(isl.dim_type.in_) - depth
        outer = wrote.project_out(isl.dim_type.in_, depth, inner).reset_tuple_id(isl.dim_type.in_)
        filled = outer if filled is None else filled.union(outer)
    for write in writes:
        around = _outermost(model.iterations[write.statement], depth).reset_tuple_id()
        every = isl.Map.from_domain_and_range(around, whole)
        statement = model.statement(write.statement)
        is_filled = filled is not None and every.is_subset(filled)
        if is_filled and _runs_with_home(statement, depth, box):
            return statement
    return None


def _outermost(runs: isl.Set, depth: int) -> isl.Set:
    """Return the iterations of the `depth` outermost loops that have some of `runs`."""
    return runs.project_out(_SET, depth, runs.dim(_SET) - depth)


def _runs_with_home(statement: NestStatement, depth: int, box: _WorkArea) -> bool:
    """Return whether the loops inside the home run whenever it does.

    They have constant bounds, or run as often as a side of the box is long: where such a loop does
    not run, the box has no element.
    """
    lengths = {end - low for low, end in box.sides}
    return all(
        (upper - lower).constant is not None or upper - lower in lengths
        for loop in statement.loops[depth:]
        for lower in loop.lower
        for upper in loop.upper
    )


def with_lives_apart(region: Region) -> Region:
    """Return `region` with a scalar of its own for each loop inside which a life of one passes.

    ``for k: (t = a[k]; b[k] = t; for j: (t = c[j]; d[j] = t))`` uses one t for two things: what an
    iteration of j reads, it has written, and nothing outside j sees it. So the iterations of j
    get a t_own, and j is as free as if its author had taken two names. A scalar that nothing would
    write any more stays as it is.
    """
    names = sorted(region.nest.written_scalars() - _tested(region.nest))
    while names:
        name = names.pop()
        try:
            statements = read_statements(region)
        except AnnotuneError:
            return region  # what is wrong with it, the analysis says
        changed, own = region, []
        for home in inner_lives(name, statements, region.scalars[name].read_after):
            changed, new = _with_own(changed, name, home)
            own.append(new)
        if name in changed.nest.written_scalars():
            region, names = changed, names + own
    return region


def _tested(nest: Nest) -> frozenset[str]:
    """Return what the first and the last iterations of loops depend on."""
    ends = (end for loop in nest.loops() for end in (loop.lower, loop.upper))
    return frozenset().union(*map(variables, ends))


def _with_own(region: Region, name: str, home: Counted) -> tuple[Region, str]:
    """Return `region` with a scalar for the loop `home` alone in place of `name`, and its name."""
    scalar = region.scalars[name]
    own = fresh_name(f"{name.removesuffix('_own')}_own", region)
    body = changed_at(
        region.nest.body,
        home.position,
        lambda loop: replace(loop, body=_renamed(loop.body, name, own)),
    )
    proof = (
        f"{name} is {own} in each iteration of {home.var}, which writes it before it reads it; "
        f"nothing outside {home.var} reads what it writes"
    )
    changed = replace(
        region,
        nest=Nest(body),
        scalars={**region.scalars, own: Scalar(own, scalar.type, is_local=True, span=scalar.span)},
        original=region.as_written,
        steps=(*region.steps, Normalised(proof, home.loop.span)),
    )
    return changed, own


def _renamed(body: tuple[Stmt, ...], name: str, new: str) -> tuple[Stmt, ...]:
    """Return `body` with the scalar `new` in place of `name`."""

    def renamed(expr: Expr) -> Expr | None:
        return Var(new, expr.span) if isinstance(expr, Var) and expr.name == name else None

    return map_assigns(body, lambda assign: assign.rewritten(renamed))


def with_last_values(region: Region) -> Region:
    """Return `region` with the last values of private scalars written where they are wanted.

    ``for i: t = a[i]; b[i] = t`` with a later read of ``t`` becomes ``for i: t_own = a[i];
    b[i] = t_own; t = t_own if i == n - 1``. A scalar whose last iteration is not known stays
    as it is, for the analysis to refuse.
    """
    wanted = [
        name
        for name in sorted(region.nest.written_scalars())
        if name in region.scalars and region.scalars[name].read_after
    ]
    if not wanted:
        return region
    try:
        statements = read_statements(region)
        lives = lifetimes(wanted, statements)
        model = build_model(region, statements) if lives else None
    except AnnotuneError:
        return region  # what is wrong with it, the analysis says
    for life in lives.values():
        assert model is not None
        last = _last(life, model)
        if last is not None:
            region = in_text_order(_rewritten(region, life, last)) or region
    return region


def in_text_order(region: Region) -> Region | None:
    """Return `region` with its statements numbered in the order of the text.

    None when a number would change that the user's recipe may name.
    """
    numbers = [assign.number for assign in region.nest.assigns()]
    if numbers == sorted(numbers):
        return region
    if before_targets(region.spec.commands):
        return None
    place = {number: index for index, number in enumerate(numbers)}

    def renumbered(assign: Assign) -> Assign:
        return replace(assign, number=place[assign.number])

    return replace(region, nest=Nest(map_assigns(region.nest.body, renumbered)))


def _last(life: Lifetime, model: Model) -> Expr | None:
    """Return where the last value of a scalar is to be written, None when it is not known."""
    home = max(life.homes)
    writer = next((s for s in model.inside(home) if _always_writes(s, life.name, home)), None)
    return None if writer is None else _last_iteration(writer, life.homes, model)


def _always_writes(statement: NestStatement, name: str, home: tuple[int, ...]) -> bool:
    """Return whether each iteration of the loop at `home` writes `name` by `statement`."""
    assign = statement.assign
    is_direct = statement.position[:-1] == home
    return is_direct and assign.guard is None and assign.target == Var(name)


def next_number(region: Region) -> int:
    """Return the number of a statement that is added: those of the user's text stay."""
    return 1 + max(assign.number for assign in region.nest.assigns())


def _rewritten(region: Region, life: Lifetime, last: Expr) -> Region:
    scalar = region.scalars[life.name]
    own = fresh_name(f"{life.name}_own", region)
    span = next(a.span for a in region.nest.assigns() if a.target == Var(life.name))
    write = Assign(next_number(region), Var(life.name), "=", Var(own), span=span, guard=last)
    body = appended(_renamed(region.nest.body, life.name, own), max(life.homes), (write,))
    scalars = {**region.scalars, own: Scalar(own, scalar.type, is_local=True, span=scalar.span)}
    proof = (
        f"{life.name} is {own} in each iteration; the last one, in which {print_expr(last)}, "
        f"writes {life.name}"
    )
    return replace(
        region,
        nest=Nest(body),
        scalars=scalars,
        original=region.as_written,
        steps=(*region.steps, Normalised(proof, span)),
    )


def appended(
    body: tuple[Stmt, ...],
    home: tuple[int, ...],
    after: tuple[Stmt, ...],
    before: tuple[Stmt, ...] = (),
) -> tuple[Stmt, ...]:
    """Return `body` with statements added at the ends of the loop at `home`."""
    if not home:
        return (*before, *body, *after)
    return changed_at(body, home, lambda loop: replace(loop, body=(*before, *loop.body, *after)))


def changed_at(
    body: tuple[Stmt, ...], place: tuple[int, ...], change: Callable[[Loop], Loop]
) -> tuple[Stmt, ...]:
    """Return `body` with the loop at `place` changed."""
    first, *inner = place
    loop = body[first]
    assert isinstance(loop, Loop), "nothing but a loop has places in it"
    if inner:
        loop = replace(loop, body=changed_at(loop.body, tuple(inner), change))
    else:
        loop = change(loop)
    return (*body[:first], loop, *body[first + 1 :])


def _last_iteration(
    writer: NestStatement, homes: Sequence[tuple[int, ...]], model: Model
) -> Expr | None:
    """Return the condition that holds in the last iteration of the last of `homes` alone.

    `writer` runs in each of its iterations. None when that is not proven, or where another of
    `homes` may run last: this one might not run.
    """
    home = max(homes)
    condition = conjunction(_is_last(loop.loop) for loop in writer.loops[: len(home)])
    assert condition is not None, "only a loop has iterations"
    if not _holds_last_alone(condition, writer, model, len(home)):
        return None
    return condition if len(homes) == 1 or model.surely_runs(writer.number) else None


def _is_last(loop: Loop) -> Expr:
    if loop.step == 1 and not isinstance(loop.upper, Call | Cast):
        return Binary("==", Var(loop.var), fold(Binary("-", loop.upper, Int(1))))
    after = fold(Binary("+", Var(loop.var), Int(loop.step)))
    ends = extremum_operands(loop.upper, "min")
    condition: Expr = Binary(">=", after, ends[0])
    for end in ends[1:]:
        condition = Binary("||", condition, Binary(">=", after, end))
    return condition


def _holds_last_alone(condition: Expr, statement: NestStatement, model: Model, depth: int) -> bool:
    """Return whether `condition` holds in the last iteration of the `depth` outermost loops.

    It must hold there and nowhere else, at all sizes of the model, so far as `statement`
    runs at all.
    """
    reader = ConditionReader(model.region, statement, model.space, is_strict=True)
    try:
        truth = reader.truth(condition)
    except NotLinear:
        return False
    runs = model.iterations[statement.number]
    if not truth.is_exact:
        return False
    chosen = _outermost(runs.intersect(truth.maybe), depth)
    return is_last(chosen, _outermost(runs, depth))
