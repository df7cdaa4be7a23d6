"""Makes the certificate of a plan from the launches that the CUDA target would write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotune.analysis.facts import Analysis
from annotune.analysis.reductions import reduction_operator
from annotune.analysis.scalar_arrays import elements
from annotune.codegen.c_expr import c_expr, plain_c
from annotune.codegen.grid import BLOCKS, THREADS, grid, own_count
from annotune.codegen.isl_text import ALWAYS, IslText, reads_of
from annotune.decide.certificate import Certificate, Stored, Touch
from annotune.decide.plan import HostLoop, Kernel, Plan, Step
from annotune.ir.expr import Access, Binary, Expr, Int, Var, substitute
from annotune.ir.flat import flattened
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Level, Loop, Stmt, walk_paths
from annotune.transforms.legality import joins


@dataclass
class Maker:
    """Collects the relations, statement by statement, in isl text with ``i0, i1, …``."""

    analysis: Analysis
    launch: dict[int, str] = field(default_factory=dict)
    worker: dict[int, str] = field(default_factory=dict)
    time: dict[int, str] = field(default_factory=dict)
    grids: dict[int, tuple[int, ...]] = field(default_factory=dict)
    phase: dict[int, str] = field(default_factory=dict)
    joined: set[int] = field(default_factory=set)
    combined: dict[tuple[int, str], tuple[int, ...]] = field(default_factory=dict)

    def text(self, number: int) -> IslText:
        """Return the writer of isl text over the iterators of a statement."""
        names = {p.var: f"i{k}" for k, p in enumerate(self.analysis.paths[number])}
        return IslText(names, self.analysis.region.sizes)

    def bounds(self, assign: Assign, around: Sequence[Loop]) -> list[str]:
        """Return in isl text which iterations of its loops a statement may run in."""
        text = self.text(assign.number)
        facts = []
        for loop in around:
            facts.append(text.where(Binary("<=", loop.lower, Var(loop.var)))[0])
            facts.append(text.where(Binary("<", Var(loop.var), loop.upper))[0])
            if loop.step > 1:
                steps = [
                    f"({c.where} and ({text.names[loop.var]} - {c.value}) mod {loop.step} = 0)"
                    for c in text.cases(loop.lower) or ()
                ]
                facts.append(f"({' or '.join(steps)})")
        if assign.guard is not None:
            facts.append(text.where(assign.guard)[0])
        return facts

    def instance(self, number: int) -> str:
        """Return ``S0[i0, i1]``."""
        depth = len(self.analysis.paths[number])
        return f"S{number}[{', '.join(f'i{k}' for k in range(depth))}]"

    def names(self, number: int) -> dict[str, Expr]:
        """Return the isl names of a statement's iterators."""
        return {p.var: Var(f"i{k}") for k, p in enumerate(self.analysis.paths[number])}

    def affine(self, expr: Expr, number: int) -> str:
        """Return an expression over iterators and sizes as isl text, sizes put in."""
        return c_expr(fold(substitute(expr, self.names(number)), self.analysis.region.sizes))

    def relation(self, number: int, coordinates: Sequence[str]) -> str:
        """Return the map from a statement's iterations to coordinates."""
        return f"{{ {self.instance(number)} -> [{', '.join(coordinates)}] }}"

    def steps(self, steps: Sequence[Step], outer: tuple[str, ...], loops: tuple[Loop, ...]) -> None:
        """Record where each statement of the steps runs, below the host loops `loops`.

        `outer` is the launch order so far, with loop names standing for their values.
        """
        for place, step in enumerate(steps):
            match step:
                case HostLoop(loop, inner):
                    self.steps(inner, (*outer, str(place), loop.var), (*loops, loop))
                case Kernel():
                    self.kernel(step, (*outer, str(place)), loops)

    def kernel(self, kernel: Kernel, outer: tuple[str, ...], loops: tuple[Loop, ...]) -> None:
        shape = grid(kernel, self.analysis.region.sizes)
        extents = [min(shape.tuned.get(b, 1), shape.limits[b]) for b in BLOCKS]
        extents += shape.threads
        for assign, around in walk_paths(kernel.scheduled):
            number = assign.number
            value = self.values(number, (*loops, *around))
            worker: list[str] = []
            order: list[str] = []
            strides: list[str] = []
            for level, extent in zip((*BLOCKS, *THREADS), extents, strict=True):
                loops_here = [loop for loop in around if loop.place == level]
                if not loops_here:
                    worker.append("0")
                    continue
                index = self.index(loops_here, number, value)
                if shape.tuned[level] <= extent:
                    worker.append(index)
                    continue
                # An axis shorter than its loop runs it in strides: index modulo extent.
                worker.append(f"{index} - {extent}*floor(({index})/{extent})")
                order.append(f"floor(({index})/{extent})")
                strides += order[-1:] if level in BLOCKS else []
            order += self.serial(kernel.scheduled, number, value)
            self.meetings(kernel.scheduled, number, around, value, strides)
            self.launch[number] = self.relation(number, [value.get(o, o) for o in outer])
            self.worker[number] = self.relation(number, worker)
            self.time[number] = self.relation(number, order)
            self.grids[number] = tuple(extents)

    def index(self, loops: Sequence[Loop], number: int, value: Mapping[str, str]) -> str:
        """Return the index on an axis of the iteration of all loops on it, the first fastest."""
        *others, last = loops
        text = self.count(last, number, value)
        for loop in reversed(others):
            trip = fold(own_count(loop), self.analysis.region.sizes)
            assert isinstance(trip, Int)
            text = f"({self.count(loop, number, value)} + {trip.value}*({text}))"
        return text

    def count(self, loop: Loop, number: int, value: Mapping[str, str]) -> str:
        """Return how many iterations of a loop come before the statement's own."""
        lower = self.base(loop, number, value)
        distance = value[loop.var] if lower == "0" else f"({value[loop.var]} - ({lower}))"
        return distance if loop.step == 1 else f"floor(({distance})/{loop.step})"

    def base(self, loop: Loop, number: int, value: Mapping[str, str]) -> str:
        """Return the first value of a loop: a size, or the start of its tile."""
        match loop.lower:
            case Var(name) if name in value:
                return value[name]
            case _:
                return self.affine(loop.lower, number)

    def values(self, number: int, around: Sequence[Loop]) -> dict[str, str]:
        """Return each loop's value as isl text over the statement's own iterators."""
        own = {name: c_expr(v) for name, v in self.names(number).items()}
        for loop in around:
            if loop.tile_of:
                first = self.affine(loop.lower, number)
                inner, step = own[loop.tile_of], loop.step
                if first == "0":
                    own[loop.var] = f"{step}*floor(({inner})/{step})"
                else:
                    own[loop.var] = f"{first} + {step}*floor(({inner} - ({first}))/{step})"
        return own

    def serial(
        self,
        body: tuple[Stmt, ...],
        number: int,
        value: Mapping[str, str],
        until: Loop | None = None,
    ) -> list[str]:
        """Return the order inside a thread: positions and values of serial loops in turn.

        It ends at the loop `until`, if that is given.
        """
        for place, stmt in enumerate(body):
            if stmt is until or (isinstance(stmt, Assign) and stmt.number == number):
                return [str(place)]
            if isinstance(stmt, Loop) and any(a.number == number for a, _ in walk_paths((stmt,))):
                inner = self.serial(stmt.body, number, value, until)
                if stmt.place == Level.SERIAL:
                    return [str(place), value[stmt.var], *inner]
                return inner if len(body) == 1 else [str(place), "0", *inner]
        raise KeyError(number)

    def meetings(
        self,
        body: tuple[Stmt, ...],
        number: int,
        around: tuple[Loop, ...],
        value: Mapping[str, str],
        strides: Sequence[str],
    ) -> None:
        """Record the order that the meetings of a block's workers make, and what they combine.

        Before and after a loop that joins they wait for each other: the order of the text
        holds between what stands inside it and what stands beside it. `strides` are the
        turns of the block itself.
        """
        # Blocks meet when the kernel ends, and not before.
        teams = (loop for loop in around if loop.place not in BLOCKS)
        joining = next((loop for loop in teams if joins(loop, around)), None)
        if joining is not None:
            self.joined.add(number)
        order = [*strides, *self.serial(body, number, value, joining)]
        self.phase[number] = self.relation(number, order)
        levels = (*BLOCKS, *THREADS)
        for combine in {c for loop in around for c in loop.combines}:
            places = [loop.place for loop in around if combine in loop.combines]
            shared = sorted(levels.index(place) for place in places if place in levels)
            self.combined[number, combine.name] = tuple(shared)


def certify(analysis: Analysis, plan: Plan, kind: type[Maker] = Maker) -> Certificate:
    """Return the certificate of a plan at the region's sizes; `kind` knows where loops run."""
    maker = kind(analysis)
    maker.steps(plan.steps, (), ())
    region = analysis.region
    domains: dict[int, str] = {}
    original: dict[int, str] = {}
    for assign, around in walk_paths(region.nest.body):
        number = assign.number
        condition = " and ".join(maker.bounds(assign, around)) or "true"
        domains[number] = f"{{ {maker.instance(number)} : {condition} }}"
        own = maker.values(number, around)
        original[number] = maker.relation(number, text_order(region.nest.body, number, own))
    lengths = {
        name: (_number(shape.lowest, region.sizes), _end(shape.lowest, shape.length, region.sizes))
        for name, shape in analysis.shapes.items()
        if name in region.arrays
    }
    return Certificate(
        region.sizes,
        domains,
        original,
        maker.launch,
        maker.worker,
        maker.time,
        maker.grids,
        tuple(_touches(maker, lengths)),
        lengths,
        maker.phase,
        frozenset(maker.joined),
        _conditions(analysis),
        tuple(_stored(maker, plan)),
    )


def _stored(maker: Maker, plan: Plan) -> Iterator[Stored]:
    """Yield where statements find the private scalars that arrays of the plan stand for."""
    for scalar, found in elements(plan.scheduled()).items():
        for number, place in found.items():
            home = maker.analysis.homes[scalar][number]
            value = maker.values(number, (*place.around, *place.inside))
            known: dict[str, Expr] = {name: Var(f"({text})") for name, text in value.items()}
            indices = (fold(index, maker.analysis.region.sizes) for index in place.indices)
            element = [value[loop.var] for loop in place.around]
            element += [c_expr(substitute(index, known)) for index in indices]
            life = ", ".join(f"i{depth}" for depth in range(len(home)))
            instance = maker.instance(number)
            yield Stored(
                number,
                f"{scalar} of {'.'.join(map(str, home))}",
                f"{{ {instance} -> A[{life}] }}",
                f"{{ {instance} -> A[{', '.join(element)}] }}",
                place.array.extents,
            )


def _conditions(analysis: Analysis) -> dict[str, str]:
    """Return the tests before the kernels, with their truth at the region's sizes."""
    text = IslText({}, analysis.region.sizes)
    return {plain_c(one): f"{{ : {text.where(one)[0]} }}" for one in analysis.conditions}


def text_order(body: tuple[Stmt, ...], number: int, value: Mapping[str, str]) -> list[str]:
    """Return the order of the C text: positions and values of all loops in turn."""
    for place, stmt in enumerate(body):
        if isinstance(stmt, Assign) and stmt.number == number:
            return [str(place)]
        if isinstance(stmt, Loop) and any(a.number == number for a, _ in walk_paths((stmt,))):
            return [str(place), value[stmt.var], *text_order(stmt.body, number, value)]
    raise KeyError(number)


def _touches(maker: Maker, lengths: Mapping[str, tuple[int, int]]) -> list[Touch]:
    """Return every access of every statement, reads before the write."""
    out: list[Touch] = []
    for assign in maker.analysis.region.nest.assigns():
        guard = () if assign.guard is None else (assign.guard,)
        reads = [] if assign.guard is None else list(reads_of(assign.guard))
        reads += reads_of(assign.value, guard)
        if isinstance(assign.target, Access):
            reads += (read for index in assign.target.indices for read in reads_of(index, guard))
        if assign.op != "=":
            reads.append((assign.target, guard))
        touched = [(place, conditions, False) for place, conditions in reads]
        for place, conditions, is_write in [*touched, (assign.target, guard, True)]:
            is_sum = place == assign.target and reduction_operator(assign) is not None
            found = _touch(maker, assign.number, place, conditions, lengths)
            if found is not None:
                combined = maker.combined.get((assign.number, _name(place)), ()) if is_sum else ()
                out.append(Touch(assign.number, *found, is_write, is_sum, combined))
    return list(dict.fromkeys(out))


def _name(place: Access | Var) -> str:
    return place.array if isinstance(place, Access) else place.name


def _touch(
    maker: Maker,
    number: int,
    place: Access | Var,
    conditions: tuple[Expr, ...],
    lengths: Mapping[str, tuple[int, int]],
) -> tuple[str, str] | None:
    """Return the variable behind a place and its element in each iteration.

    None for a scalar that stays as it is. A private variable is another one in each iteration
    of the loop that owns it, and in another loop.
    """
    name, analysis, text = _name(place), maker.analysis, maker.text(number)
    home = analysis.homes.get(name, {}).get(number)
    own = [f"i{depth}" for depth in range(len(home or ()))]
    variable = name if home is None else f"{name} of {'.'.join(map(str, home))}"
    where = " and ".join(text.where(condition)[0] for condition in conditions) or ALWAYS
    if isinstance(place, Var):
        if name not in _written_scalars(analysis):
            return None
        pairs = [(own, where)]
    else:
        flat = flattened(place, analysis.region.arrays) or place
        assert isinstance(flat, Access)
        pairs = _elements(flat, text, where, own, lengths.get(name))
    elements = "; ".join(
        f"{maker.instance(number)} -> A[{', '.join(element)}] : {holds}" for element, holds in pairs
    )
    return variable, f"{{ {elements} }}"


def _elements(
    access: Access,
    text: IslText,
    where: str,
    own: Sequence[str],
    length: tuple[int, int] | None,
) -> list[tuple[list[str], str]]:
    """Return the cases of an access: an element, and where it is that one.

    An index that memory decides may be any; the array is taken to hold it.
    """
    found = [(list(own), where)]
    for place, index in enumerate(access.indices):
        cases = text.cases(index)
        if cases is None:
            any_index = f"x{place}"
            inside = f"{length[0]} <= {any_index} < {length[1]}" if length else ALWAYS
            found = [([*e, any_index], f"{w} and {inside}") for e, w in found]
        else:
            found = [([*e, c.value], f"{w} and {c.where}") for e, w in found for c in cases]
    return found


def _written_scalars(analysis: Analysis) -> frozenset[str]:
    assigns = analysis.region.nest.assigns()
    return frozenset(a.target.name for a in assigns if isinstance(a.target, Var))


def _number(expr: Expr, sizes: Mapping[str, int]) -> int:
    value = fold(expr, sizes)
    assert isinstance(value, Int)
    return value.value


def _end(lowest: Expr, length: Expr, sizes: Mapping[str, int]) -> int:
    return _number(lowest, sizes) + _number(length, sizes)
