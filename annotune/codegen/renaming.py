"""A variant under other names: what is printed of it, where a name means another thing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from annotune.analysis.facts import Analysis, ArrayShape, ElementRange
from annotune.codegen.freed import constants
from annotune.codegen.names import words
from annotune.codegen.target import Variant
from annotune.ir.expr import Access, Expr, Var, rewrite
from annotune.ir.nest import (
    Assign,
    Await,
    CachedSection,
    Combine,
    Fetch,
    Local,
    LocalArray,
    Loop,
    Nest,
    Stmt,
    walk_stmts,
)
from annotune.ir.region import Array, Region
from annotune.schedule.plan import HostLoop, Kernel, Plan, Step
from annotune.transforms.tree import Body, rebuilt

# Types that the text may name, of which a loop ``size`` in tiles would make a variable.
_TYPES = frozenset({"size_t", "ptrdiff_t", "wchar_t", "int8_t", "int16_t", "int32_t", "int64_t"})


@dataclass(frozen=True)
class Renaming:
    """Maps names to those that stand for them in a text; all others stay."""

    names: Mapping[str, str]

    def name(self, name: str) -> str:
        """Return the name in the text."""
        return self.names.get(name, name)

    def kind(self, type_: str) -> str:
        """Return a C type as the text says it."""
        return type_

    def expr(self, expr: Expr) -> Expr:
        """Return an expression in the names of the text."""
        return rewrite(expr, self.change)

    def change(self, part: Expr) -> Expr | None:
        """Return a scalar or an element in the names of the text, None for other parts."""
        match part:
            case Var(name, span):
                return Var(self.name(name), span)
            case Access(array, indices, span):
                return Access(self.name(array), tuple(map(self.expr, indices)), span)
            case _:
                return None

    def body(self, body: Body) -> Body:
        """Return statements in the names of the text."""
        return tuple(map(self._stmt, body))

    def _stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Assign() | Fetch():
                return stmt.rewritten(self.change)
            case Local(name, kind, value):
                start = None if value is None else self.expr(value)
                return Local(self.name(name), self.kind(kind), start)
            case LocalArray(name, kind):
                return replace(stmt, name=self.name(name), type=self.kind(kind))
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
        """Return what code generation asks of `analysis`, in the names of the text.

        Domains, dependences and accesses keep the user's names: they are not printed.
        """
        region = analysis.region
        written = region.original
        scalars = {
            self.name(s.name): replace(s, name=self.name(s.name), type=self.kind(s.type))
            for s in region.scalars.values()
        }
        uses = {
            self.name(name): replace(use, array=self.name(name))
            for name, use in analysis.uses.items()
        }
        return replace(
            analysis,
            region=replace(
                region,
                nest=Nest(self.body(region.nest.body)),
                original=None if written is None else Nest(self.body(written.body)),
                arrays={self.name(a.name): self._array(a) for a in region.arrays.values()},
                scalars=scalars,
                sizes={self.name(name): value for name, value in region.sizes.items()},
            ),
            shapes={self.name(name): self._shape(s) for name, s in analysis.shapes.items()},
            uses=uses,
            private=frozenset(map(self.name, analysis.private)),
            conditions=tuple(map(self.expr, analysis.conditions)),
            inspector=self.body(analysis.inspector),
        )

    def plan(self, plan: Plan) -> Plan:
        """Return a plan in the names of the text."""
        constants = {self.name(name): value for name, value in plan.constants.items()}
        return replace(plan, steps=self._steps(plan.steps), constants=constants)

    def _section(self, section: CachedSection) -> CachedSection:
        rows = tuple((self.expr(first), length) for first, length in section.rows)
        return CachedSection(self.name(section.array), rows)

    def _steps(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        out: list[Step] = []
        for step in steps:
            match step:
                case Kernel():
                    cached = tuple(map(self._section, step.cached))
                    out.append(replace(step, body=self.body(step.body), cached=cached))
                case HostLoop(loop, inner):
                    (renamed,) = self.body((loop,))
                    assert isinstance(renamed, Loop)
                    out.append(HostLoop(renamed, self._steps(inner)))
        return tuple(out)

    def _array(self, array: Array) -> Array:
        extents = tuple(None if e is None else self.expr(e) for e in array.extents)
        kind = self.kind(array.element)
        return replace(array, name=self.name(array.name), extents=extents, element=kind)

    def _shape(self, shape: ArrayShape) -> ArrayShape:
        extents = tuple(None if e is None else self.expr(e) for e in shape.extents)
        lowest, length = self.expr(shape.lowest), self.expr(shape.length)
        return replace(
            shape,
            array=self.name(shape.array),
            extents=extents,
            lowest=lowest,
            length=length,
            touched=self._part(shape.touched),
            rows=self._part(shape.rows),
        )

    def _part(self, part: ElementRange | None) -> ElementRange | None:
        if part is None:
            return None
        return replace(part, first=self.expr(part.first), count=self.expr(part.count))


def made_names(region: Region, plans: Iterable[Plan]) -> frozenset[str]:
    """Return the names that plans declare and the region has not got."""
    found: set[str] = set()
    for plan in plans:
        for kernel in plan.kernels():
            for stmt in walk_stmts(kernel.body):
                match stmt:
                    case Loop(var=name) | Local(name=name) | LocalArray(name=name):
                        found.add(name)
                    case _:
                        pass
    return frozenset(found - region.scalars.keys() - region.arrays.keys())


def in_users_file(variant: Variant) -> Variant:
    """Return a variant whose own names are safe in the user's file.

    There macros of any name may hold, and what is called must be seen. What the user declares
    keeps its name.
    """
    region = variant.analysis.region
    made = made_names(region, variant.plans())
    # Iterators and conditions that reading made, declared where they are used.
    scalars = region.scalars.values()
    made |= {s.name for s in scalars if s.is_local and s.name.startswith("annotune_")}
    said = words(" ".join(alias.declaration for alias in region.aliases))
    reserved = _TYPES | region.around.macros | region.called | said
    clashes = sorted(made & reserved)
    names = {s.name: str(s.value) for s in constants(region)}
    if not clashes and not names:
        return variant
    known = {*made, *reserved, *region.names}
    for clash in clashes:
        names[clash] = fresh(clash, known)
        known.add(names[clash])
    view = Renaming(names)
    return variant.rewritten(view.analysis, view.plan)


def fresh(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, longer where it is among `taken`."""
    known = frozenset(taken)
    while wanted in known:
        wanted += "_"
    return wanted
