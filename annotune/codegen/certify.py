"""Makes the certificate of a plan from the launches that the CUDA target would write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import c_expr
from annotune.codegen.c_stmt import flattened
from annotune.codegen.grid import BLOCKS, GRID_LIMIT, THREADS, grid
from annotune.decide.certificate import Certificate, Touch
from annotune.decide.plan import HostLoop, Kernel, Plan, Step
from annotune.ir.expr import Access, Expr, Int, Var, accesses, substitute, variables
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Level, Loop, Stmt, walk_paths


@dataclass
class _Maker:
    """Collects the relations, statement by statement, in isl text with ``i0, i1, …``."""

    analysis: Analysis
    launch: dict[int, str] = field(default_factory=dict)
    worker: dict[int, str] = field(default_factory=dict)
    time: dict[int, str] = field(default_factory=dict)
    grids: dict[int, tuple[int, ...]] = field(default_factory=dict)

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
        extents = [min(shape.tuned.get(b, 1), GRID_LIMIT[b]) for b in BLOCKS]
        extents += shape.threads
        for assign, around in walk_paths(kernel.scheduled):
            number = assign.number
            value = self.values(number, (*loops, *around))
            placed = {loop.place: loop for loop in around if loop.place != Level.SERIAL}
            worker: list[str] = []
            order: list[str] = []
            for level, extent in zip((*BLOCKS, *THREADS), extents, strict=True):
                if level not in placed:
                    worker.append("0")
                    continue
                index = self.count(placed[level], number, value)
                if shape.tuned[level] <= extent:
                    worker.append(index)
                    continue
                # An axis shorter than its loop runs it in strides: index modulo extent.
                worker.append(f"{index} - {extent}*floor(({index})/{extent})")
                order.append(f"floor(({index})/{extent})")
            order += self.serial(kernel.scheduled, number, value)
            self.launch[number] = self.relation(number, [value.get(o, o) for o in outer])
            self.worker[number] = self.relation(number, worker)
            self.time[number] = self.relation(number, order)
            self.grids[number] = tuple(extents)

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

    def serial(self, body: tuple[Stmt, ...], number: int, value: Mapping[str, str]) -> list[str]:
        """Return the order inside a thread: positions and values of serial loops in turn."""
        for place, stmt in enumerate(body):
            if isinstance(stmt, Assign) and stmt.number == number:
                return [str(place)]
            if isinstance(stmt, Loop) and any(a.number == number for a, _ in walk_paths((stmt,))):
                inner = self.serial(stmt.body, number, value)
                if stmt.place != Level.SERIAL:
                    return inner
                return [str(place), value[stmt.var], *inner]
        raise KeyError(number)


def certify(analysis: Analysis, plan: Plan) -> Certificate:
    """Return the certificate of a plan at the region's sizes."""
    maker = _Maker(analysis)
    maker.steps(plan.steps, (), ())
    region = analysis.region
    domains: dict[int, str] = {}
    original: dict[int, str] = {}
    for assign, around in walk_paths(region.nest.body):
        number = assign.number
        bounds = []
        for loop in around:
            name = c_expr(maker.names(number)[loop.var])
            low, high = maker.affine(loop.lower, number), maker.affine(loop.upper, number)
            bounds.append(f"{low} <= {name} < {high}")
            if loop.step > 1:
                bounds.append(f"({name} - ({low})) mod {loop.step} = 0")
        condition = " and ".join(bounds) or "true"
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
        tuple(_touches(maker)),
        lengths,
    )


def text_order(body: tuple[Stmt, ...], number: int, value: Mapping[str, str]) -> list[str]:
    """Return the order of the C text: positions and values of all loops in turn."""
    for place, stmt in enumerate(body):
        if isinstance(stmt, Assign) and stmt.number == number:
            return [str(place)]
        if isinstance(stmt, Loop) and any(a.number == number for a, _ in walk_paths((stmt,))):
            return [str(place), value[stmt.var], *text_order(stmt.body, number, value)]
    raise KeyError(number)


def _touches(maker: _Maker) -> list[Touch]:
    analysis = maker.analysis
    out: list[Touch] = []
    for assign in analysis.region.nest.assigns():
        number = assign.number
        is_sum = assign.op in ("+=", "-=")
        reads = [a for source in assign.sources() for a in accesses(source)]
        if isinstance(assign.target, Access):
            out.append(_array_touch(maker, number, assign.target, True, is_sum))
            if assign.op != "=":
                out.append(_array_touch(maker, number, assign.target, False, is_sum))
        out += [_array_touch(maker, number, a, False, False) for a in reads]
        named = {n for source in assign.sources() for n in variables(source)}
        scalars = named & _written_scalars(analysis)
        out += [_scalar_touch(maker, number, name, False) for name in sorted(scalars)]
        if isinstance(assign.target, Var):
            out.append(_scalar_touch(maker, number, assign.target.name, True))
            if assign.op != "=":
                out.append(_scalar_touch(maker, number, assign.target.name, False))
    return out


def _written_scalars(analysis: Analysis) -> frozenset[str]:
    assigns = analysis.region.nest.assigns()
    return frozenset(a.target.name for a in assigns if isinstance(a.target, Var))


def _array_touch(maker: _Maker, number: int, access: Access, is_write: bool, is_sum: bool) -> Touch:
    flat = flattened(access, maker.analysis.region.arrays) or access
    assert isinstance(flat, Access)
    address = maker.affine(flat.indices[0], number)
    element = f"{{ {maker.instance(number)} -> A[{address}] }}"
    return Touch(number, access.array, element, is_write, is_sum)


def _scalar_touch(maker: _Maker, number: int, name: str, is_write: bool) -> Touch:
    """Return the access of a scalar; a private one is an element per iteration it lives in.

    A temporary has one life in each iteration of the innermost loop to which it is private.
    """
    lives = [f.path for f in maker.analysis.loops if name in f.private]
    own = tuple(loop.var for loop in maker.analysis.paths[number])
    inside = [p for p in lives if own[: len(p)] == p]
    depth = max((len(p) for p in inside), default=0)
    place = ", ".join(f"i{k}" for k in range(depth))
    return Touch(number, name, f"{{ {maker.instance(number)} -> V[{place}] }}", is_write)


def _number(expr: Expr, sizes: Mapping[str, int]) -> int:
    value = fold(expr, sizes)
    assert isinstance(value, Int)
    return value.value


def _end(lowest: Expr, length: Expr, sizes: Mapping[str, int]) -> int:
    return _number(lowest, sizes) + _number(length, sizes)
