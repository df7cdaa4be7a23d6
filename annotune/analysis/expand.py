"""Arrays that each iteration of a loop writes before it reads: a copy for each iteration.

Such an array makes its loop serial only because all iterations share it. Each gets one of its
own, and the last iteration writes the user's array, which the function may read later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from annotune.analysis.build_model import build_model
from annotune.analysis.carried import (
    appended,
    fresh_name,
    in_text_order,
    map_assigns,
    next_number,
)
from annotune.analysis.dependences import Carried, all_dependences
from annotune.analysis.domains import NotLinear, access_map
from annotune.analysis.facts import DependenceKind
from annotune.analysis.last import is_the_last, last_iteration, runs_at_all
from annotune.analysis.model import Model
from annotune.analysis.privatise import Lifetime, lifetime
from annotune.analysis.statements import (
    Counted,
    Reference,
    Statement,
    loops_of,
    read_statements,
    written_scalars,
)
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Access, Expr, Int, Var, rewrite, variables
from annotune.ir.nest import Assign, LocalArray, Loop, Nest, Stmt, walk_paths
from annotune.ir.region import Region, Scalar

# The most elements of an array that each thread gets for itself. A GPU thread keeps them in
# registers or in its local memory, 512 KiB at most (CUDA C++ Programming Guide, Technical
# Specifications per Compute Capability); more than this would not stay in any cache.
MOST_ELEMENTS = 1024

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
        lives = _lifetimes(region, statements)
        model = build_model(region, statements)
    except AnnotuneError:
        return None  # what is wrong with it, the analysis says
    dependences = all_dependences(model, lives)
    for loop in loops_of(statements):
        against = _against(loop, model, dependences)
        if not against or not against <= names:
            continue
        for name in sorted(against):
            private = _private(name, model, dependences)
            changed = None if private is None else in_text_order(private.rewritten())
            if changed is not None:
                return changed
    return None


def _lifetimes(region: Region, statements: tuple[Statement, ...]) -> dict[str, Lifetime]:
    found = {name: lifetime(name, statements) for name in written_scalars(region)}
    return {name: life for name, life in found.items() if life is not None}


def _against(loop: Counted, model: Model, dependences: Sequence[Carried]) -> frozenset[str]:
    """Return the variables whose dependences make a loop serial."""
    depth = len(loop.position) - 1
    inside = _inside(loop.position, model)
    return frozenset(
        one.dependence.array
        for one in dependences
        if depth in one.pieces
        and one.dependence.source in inside
        and not one.dependence.is_reduction
    )


def _inside(home: tuple[int, ...], model: Model) -> frozenset[int]:
    return frozenset(s.number for s in model.statements if s.position[: len(home)] == home)


@dataclass(frozen=True)
class _Private:
    """An array that is private to the iterations of the loops at `homes`, with its last values.

    `sides` are the first and last index of each dimension; the iteration of the last home in
    which `condition` holds is the last one.
    """

    name: str
    model: Model
    homes: tuple[tuple[int, ...], ...]
    sides: tuple[tuple[int, int], ...]
    condition: Expr

    def rewritten(self) -> Region:
        """Return the region with the local array and the copy of its last values."""
        region = self.model.region
        own = fresh_name(f"{self.name}_own", region)
        array = region.arrays[self.name]

        def renamed(expr: Expr) -> Expr | None:
            if not isinstance(expr, Access) or expr.array != self.name:
                return None
            indices = tuple(rewrite(index, renamed) for index in expr.indices)
            return Access(own, indices, expr.span)

        local = LocalArray(own, array.element, tuple(high + 1 for _, high in self.sides))
        body = map_assigns(region.nest.body, lambda assign: assign.rewritten(renamed))
        counters = tuple(
            fresh_name(f"{own}_{place}", region) for place in range(1, len(self.sides) + 1)
        )
        copy = self._copy(own, counters)
        for home in self.homes:
            after = (copy,) if home == self.homes[-1] else ()
            body = appended(body, home, after, (local,))
        scalars = dict(region.scalars)
        scalars |= {name: Scalar(name, "int", is_local=True) for name in counters}
        return replace(region, nest=Nest(body), scalars=scalars, original=region.as_written)

    def _copy(self, own: str, counters: tuple[str, ...]) -> Stmt:
        """Return the loops that copy all elements in the last iteration."""
        indices = tuple(Var(counter) for counter in counters)
        number = next_number(self.model.region)
        span = next(
            s.assign.span for s in self.model.statements if s.references[-1].name == self.name
        )
        copy: Stmt = Assign(
            number,
            Access(self.name, indices, span),
            "=",
            Access(own, indices, span),
            span,
            self.condition,
        )
        for counter, (low, high) in reversed(tuple(zip(counters, self.sides, strict=True))):
            copy = Loop(counter, Int(low), Int(high + 1), (copy,), span=span)
        return copy


def _private(name: str, model: Model, dependences: Sequence[Carried]) -> _Private | None:
    """Return how to make an array private, None when it cannot be, or its end is not known."""
    references = model.references[name]
    if any(r.unknown or not isinstance(r.access, Access) for r in references):
        return None
    homes = _homes(name, model, dependences)
    if not homes:
        return None
    sides = _sides(references, homes, model)
    if sides is None:
        return None
    home = homes[-1]
    users = [s for s in model.statements if s.number in _inside(home, model)]
    writer = _whole_writer(name, users, home, sides, model)
    if writer is None:
        return None
    condition = last_iteration(writer.loops[: len(home)])
    if not is_the_last(condition, writer, model, len(home)):
        return None
    if len(homes) > 1 and not runs_at_all(writer, model):
        return None
    return _Private(name, model, homes, sides, condition)


def _homes(name: str, model: Model, dependences: Sequence[Carried]) -> tuple[tuple[int, ...], ...]:
    """Return the outermost loops to whose iterations the array is private; all uses are there."""
    homes: dict[tuple[int, ...], None] = {}
    for reference in model.references[name]:
        loops = model.statement(reference.statement).loops
        home = next(
            (c.position for c in loops if _is_home(name, c.position, model, dependences)), None
        )
        if home is None:
            return ()
        homes[home] = None
    return tuple(sorted(homes))


def _is_home(
    name: str, home: tuple[int, ...], model: Model, dependences: Sequence[Carried]
) -> bool:
    """Return whether each read in the loop at `home` sees a write of the same iteration.

    And whether no loop down to this one moves the places that are touched, so that each
    iteration needs the same elements.
    """
    inside = _inside(home, model)
    for reference in model.references[name]:
        if reference.statement not in inside:
            continue
        statement = model.statement(reference.statement)
        outer = {loop.var for loop in statement.loops[: len(home)]}
        assert isinstance(reference.access, Access)
        if any(variables(index) & outer for index in reference.access.indices):
            return False
        if not reference.is_write and not _is_covered(reference, home, model, dependences):
            return False
    return True


def _is_covered(
    read: Reference, home: tuple[int, ...], model: Model, dependences: Sequence[Carried]
) -> bool:
    """Return whether writes of the same iteration of the loop at `home` surely precede `read`."""
    instances = model.instances(read)
    inside = _inside(home, model)
    covered = isl.Set.empty(instances.get_space())
    for one in dependences:
        if one.sink != read or one.dependence.kind is not DependenceKind.FLOW:
            continue
        wrote = model.surely[one.dependence.source]
        for depth, piece in one.pieces.items():
            if depth >= len(home) or (depth == -1 and one.dependence.source in inside):
                covered = covered.union(piece.intersect_domain(wrote).range())
    return bool(instances.is_subset(covered))


def _sides(
    references: Sequence[Reference], homes: Sequence[tuple[int, ...]], model: Model
) -> tuple[tuple[int, int], ...] | None:
    """Return the first and last index of each dimension; None when sizes decide them."""
    touched = _elements(references, model)
    if touched is None:
        return None
    sides = []
    count = 1
    for place in range(touched.dim(_SET)):
        ends = [touched.dim_min_val(place), touched.dim_max_val(place)]
        if not all(end.is_int() for end in ends):
            return None
        low, high = (int(end.to_python()) for end in ends)
        if low < 0:
            return None
        sides.append((low, high))
        count *= high + 1
    return tuple(sides) if count <= MOST_ELEMENTS else None


def _elements(
    references: Sequence[Reference], model: Model, runs: Mapping[int, isl.Set] | None = None
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
    name: str,
    users: Sequence[Statement],
    home: tuple[int, ...],
    sides: Sequence[tuple[int, int]],
    model: Model,
) -> Statement | None:
    """Return a statement that runs in every iteration of `home` if each writes the whole box.

    Then the last iteration leaves what the loop leaves.
    """
    writes = [r for s in users for r in s.references if r.is_write and r.name == name]
    box = " and ".join(f"{low} <= x{k} <= {high}" for k, (low, high) in enumerate(sides))
    names = ", ".join(f"x{k}" for k in range(len(sides)))
    whole = isl.Set(f"{{ [{names}] : {box} }}").intersect_params(model.sizes)
    for write in _each_iteration(writes, home, whole, model):
        return write
    return None


def _each_iteration(
    writes: Sequence[Reference], home: tuple[int, ...], whole: isl.Set, model: Model
) -> Iterator[Statement]:
    """Yield the writers when, in each iteration of `home`, the writes together fill `whole`."""
    depth = len(home)
    filled: isl.Map | None = None
    for write in writes:
        statement = model.statement(write.statement)
        wrote = access_map(statement, write.subscripts, model.space, model.surely[write.statement])
        inner = wrote.dim(isl.dim_type.in_) - depth
        outer = wrote.project_out(isl.dim_type.in_, depth, inner).reset_tuple_id(isl.dim_type.in_)
        filled = outer if filled is None else filled.union(outer)
    if filled is None:
        return
    for write in writes:
        statement = model.statement(write.statement)
        runs = model.iterations[write.statement]
        around = runs.project_out(_SET, depth, runs.dim(_SET) - depth).reset_tuple_id()
        every = isl.Map.from_domain_and_range(around, whole)
        if every.is_subset(filled) and _runs_with_home(statement, depth):
            yield statement


def _runs_with_home(statement: Statement, depth: int) -> bool:
    """Return whether the loops inside the home run whenever it does, by constant bounds."""
    return all(
        (upper - lower).constant is not None
        for loop in statement.loops[depth:]
        for lower in loop.lower
        for upper in loop.upper
    )
