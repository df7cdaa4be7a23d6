"""A region as CUDA C++ can say it: other names where C++ keeps one, and scalars in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from annotune.analysis.facts import Analysis, ArrayUse, Shape
from annotune.codegen.cuda_types import FUNCTIONS, IMAGINARY_UNIT, cuda_type
from annotune.codegen.target import Variant
from annotune.decide.plan import HostLoop, Kernel, Plan, Step
from annotune.diagnostics import Template
from annotune.ir.expr import Access, Call, Expr, Int, Real, Var, rewrite
from annotune.ir.nest import (
    Assign,
    Await,
    Combine,
    Fetch,
    Local,
    LocalArray,
    Loop,
    Nest,
    Stmt,
    walk_stmts,
)
from annotune.ir.region import Array, Region, Scalar
from annotune.transforms.tree import Body, rebuilt

HELD_RESIDENT = Template(
    "AT401",
    "'{name}' is computed in this region, and with --data resident nothing copies it back",
    "make it an array of one element on the device",
)

# Words that C leaves to the user and C++ does not (C++17, [lex.key] and [lex.digraph]).
CPP_WORDS = (
    "alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t class compl concept "
    "const_cast constexpr decltype delete dynamic_cast explicit export false friend mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "reinterpret_cast requires static_assert static_cast template this thread_local throw true "
    "try typeid typename using virtual wchar_t xor xor_eq"
)
# Words that the generated text uses itself.
_OWN_WORDS = (
    "blockDim blockIdx gridDim threadIdx dim3 min max size_t NULL stderr fprintf malloc free "
    "memcpy cudaError_t cudaSuccess cudaErrorMemoryAllocation cudaMalloc cudaMemcpy cudaFree "
    "cudaMemcpyHostToDevice cudaMemcpyDeviceToHost cudaDeviceSynchronize cudaGetLastError "
    "cudaGetErrorString blocks threads status fits warpSize"
)


@dataclass(frozen=True)
class View:
    """What stands in ``S.cu`` for the names of a region.

    `names` maps those that change to their new ones; `held` are the scalars, by their new
    name, that become arrays of one element: the region assigns them and their values travel
    from one kernel to the next, or out.
    """

    names: Mapping[str, str]
    held: frozenset[str]

    @classmethod
    def of(cls, analysis: Analysis, plans: Iterable[Plan]) -> View:
        """Return the view of a region and the plans made for it."""
        region = analysis.region
        assigned = {a.target.name for a in region.nest.assigns() if isinstance(a.target, Var)}
        held = assigned - analysis.private
        locals_ = {
            stmt.name
            for plan in plans
            for kernel in plan.kernels()
            for stmt in walk_stmts(kernel.body)
            if isinstance(stmt, Local | LocalArray)
        }
        names = _renamed(region, held, locals_)
        return cls(names, frozenset(names.get(name, name) for name in held))

    def name(self, name: str) -> str:
        """Return the name in ``S.cu``."""
        return self.names.get(name, name)

    def expr(self, expr: Expr) -> Expr:
        """Return an expression in the names of ``S.cu``."""
        return rewrite(expr, self.change)

    def change(self, part: Expr) -> Expr | None:
        """Return a scalar or an element in the names of ``S.cu``, None for other parts."""
        match part:
            case Var(name, span):
                new = self.name(name)
                return Access(new, (Int(0),), span) if new in self.held else Var(new, span)
            case Access(array, indices, span):
                return Access(self.name(array), tuple(map(self.expr, indices)), span)
            case Real("I"):
                return Call(IMAGINARY_UNIT, ())
            case Call(function, arguments) if function in FUNCTIONS or function.startswith("("):
                inner = tuple(map(self.expr, arguments))
                return Call(FUNCTIONS.get(function) or f"({cuda_type(function[1:-1])})", inner)
            case _:
                return None

    def body(self, body: Body) -> Body:
        """Return statements in the names of ``S.cu``."""
        return tuple(map(self._stmt, body))

    def _stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Assign() | Fetch():
                return stmt.rewritten(self.change)
            case Local(name, kind, value):
                start = None if value is None else self.expr(value)
                return Local(self.name(name), cuda_type(kind), start)
            case LocalArray(name, kind):
                return replace(stmt, name=self.name(name), type=cuda_type(kind))
            case Loop():
                return rebuilt(
                    stmt,
                    var=self.name(stmt.var),
                    lower=self.expr(stmt.lower),
                    upper=self.expr(stmt.upper),
                    body=self.body(stmt.body),
                    tile_of=self.name(stmt.tile_of),
                    deal_of=self.name(stmt.deal_of),
                    combines=tuple(Combine(c.op, self.name(c.name)) for c in stmt.combines),
                    merges=tuple(replace(p, var=self.name(p.var)) for p in stmt.merges),
                    peeled=tuple(map(self.expr, stmt.peeled)),
                )
            case Await():
                return stmt
            case _:
                assert_never(stmt)

    def analysis(self, analysis: Analysis) -> Analysis:
        """Return what code generation asks of `analysis`, in the names of ``S.cu``.

        Domains, dependences and accesses keep the user's names: they are not printed.
        """
        region = analysis.region
        written = region.original
        arrays = {self.name(a.name): self._array(a) for a in region.arrays.values()}
        scalars = {
            self.name(s.name): replace(s, name=self.name(s.name), type=cuda_type(s.type))
            for s in region.scalars.values()
            if self.name(s.name) not in self.held
        }
        shapes = {self.name(name): self._shape(s) for name, s in analysis.shapes.items()}
        uses = {
            self.name(name): replace(use, array=self.name(name))
            for name, use in analysis.uses.items()
        }
        for scalar in region.scalars.values():
            name = self.name(scalar.name)
            if name in self.held:
                arrays[name] = Array(name, cuda_type(scalar.type), (None,), is_pointer=True)
                shapes[name] = Shape(name, (None,), Int(0), Int(1))
                uses[name] = ArrayUse(name, is_read=True, is_written=True, overwritten=False)
        return replace(
            analysis,
            region=replace(
                region,
                nest=Nest(self.body(region.nest.body)),
                original=None if written is None else Nest(self.body(written.body)),
                arrays=arrays,
                scalars=scalars,
                sizes={self.name(name): value for name, value in region.sizes.items()},
            ),
            shapes=shapes,
            uses=uses,
            private=frozenset(map(self.name, analysis.private)),
            conditions=tuple(map(self.expr, analysis.conditions)),
        )

    def plan(self, plan: Plan) -> Plan:
        """Return a plan in the names of ``S.cu``."""
        constants = {self.name(name): value for name, value in plan.constants.items()}
        return replace(plan, steps=self._steps(plan.steps), constants=constants)

    def _steps(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        out: list[Step] = []
        for step in steps:
            match step:
                case Kernel():
                    out.append(replace(step, body=self.body(step.body)))
                case HostLoop(loop, inner):
                    (renamed,) = self.body((loop,))
                    assert isinstance(renamed, Loop)
                    out.append(HostLoop(renamed, self._steps(inner)))
        return tuple(out)

    def _array(self, array: Array) -> Array:
        extents = tuple(None if e is None else self.expr(e) for e in array.extents)
        kind = cuda_type(array.element)
        return replace(array, name=self.name(array.name), extents=extents, element=kind)

    def _shape(self, shape: Shape) -> Shape:
        extents = tuple(None if e is None else self.expr(e) for e in shape.extents)
        lowest, length = self.expr(shape.lowest), self.expr(shape.length)
        return Shape(self.name(shape.array), extents, lowest, length)


def viewed(variant: Variant) -> tuple[Variant, View]:
    """Return a variant in the names of ``S.cu``, and the view that leads there."""
    view = View.of(variant.analysis, variant.plans())
    return variant.rewritten(view.analysis, view.plan), view


def held_scalars(region: Region, view: View) -> tuple[Scalar, ...]:
    """Return the user's scalars that the kernels keep in memory."""
    return tuple(s for s in region.scalars.values() if view.name(s.name) in view.held)


def _renamed(region: Region, held: set[str], locals_: set[str]) -> dict[str, str]:
    """Return new names for what cannot keep its own, no two things under one name."""
    users = {*region.arrays, *region.scalars, *locals_}
    prefix = f"{region.function}_{region.index}_"
    words = {*CPP_WORDS.split(), *_OWN_WORDS.split()}
    names: dict[str, str] = {}
    while True:
        memory = [names.get(a, a) for a in (*region.arrays, *held)]
        derived = {f"d_{a}" for a in memory} | {f"h_{a}" for a in memory}
        reserved = words | derived | {f"{a}_bytes" for a in memory}
        clash = next(
            (
                user
                for user in sorted(users)
                if names.get(user, user) in reserved
                or names.get(user, user).startswith(("annotune_", prefix))
            ),
            None,
        )
        if clash is None:
            return names
        new = f"{names.get(clash, clash)}_"
        if new.startswith(("annotune_", prefix)):
            new = f"own_{new}"
        while new in reserved or new in users or new in names.values():
            new += "_"
        names[clash] = new
