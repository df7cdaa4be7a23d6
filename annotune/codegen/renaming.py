"""A variant under other names: what is printed of it, where a name means another thing.

Also the user's functions under names of their own, for devices that cannot call what is compiled
for the host: the user's stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from annotune.analysis.facts import Analysis, ArrayShape, ElementRange
from annotune.codegen.names import spelled
from annotune.codegen.writer import Writer, wrapped
from annotune.frontend.lower.libf2c import called_functions
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Call, Expr, Var, rewrite
from annotune.ir.functions import FUNCTIONS, own_name
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
from annotune.ir.region import Array, Region, UserFunction
from annotune.schedule.plan import HostLoop, Kernel, Plan, Step
from annotune.space.variants import Variant
from annotune.transforms.tree import Body


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
                return replace(
                    stmt,
                    var=self.name(stmt.var),
                    lower=self.expr(stmt.lower),
                    upper=self.expr(stmt.upper),
                    body=self.body(stmt.body),
                    tile_of=self.name(stmt.tile_of),
                    deal_of=self.name(stmt.deal_of),
                    combines=tuple(Combine(c.op, self.name(c.name)) for c in stmt.combines),
                    merges=tuple(
                        replace(p, var=self.name(p.var), deal_of=self.name(p.deal_of))
                        for p in stmt.merges
                    ),
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
            shapes={self.name(name): self.shape(s) for name, s in analysis.shapes.items()},
            uses=uses,
            private=frozenset(map(self.name, analysis.private)),
            homes={self.name(name): users for name, users in analysis.homes.items()},
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

    def shape(self, shape: ArrayShape) -> ArrayShape:
        """Return an array's shape in the names of the text."""
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


def copied(region: Region) -> tuple[UserFunction, ...]:
    """Return the functions of a region of which there can be a copy, what is called first."""
    return tuple(function for function in region.functions if not function.reason)


def library_copies(region: Region) -> dict[str, str]:
    """Return the names, in the user's file, of the functions that every text brings along."""
    return {f.name: f"{region.entry}_{f.name}" for f in copied(region) if f.is_library}


def copies_text(region: Region, names: Mapping[str, str], qualifiers: str) -> str:
    """Return the copies that have a name in `names`, and what declares C's functions for them."""
    found = [function for function in copied(region) if function.name in names]
    known = called_functions(function for function in found if function.is_library)
    lines = [
        f"{FUNCTIONS[name].result} {name}({', '.join(FUNCTIONS[name].parameters)});\n"
        for name in known
    ]
    return "".join([*lines, "\n".join(definition(f, names, qualifiers) for f in found)])


# The lesser or greater of two numbers, the other one where one is NaN, and the second of equal
# ones, as the library for x86-64 has it. A compiler calls `fmin` for each element where it may not
# take it that there is no NaN; this it makes vector instructions of.
_EXTREMA = {"fmin": "<", "fmax": ">", "fminf": "<", "fmaxf": ">"}


def extrema_copies(region: Region) -> dict[str, str]:
    """Return the names, in the user's file, of our own `fmin` and `fmax` that a nest calls."""
    return {name: f"{region.entry}_{name}" for name in _EXTREMA if name in region.called}


def extrema_text(names: Mapping[str, str]) -> str:
    """Return the definitions of our own `fmin` and `fmax`, in names that no macro has."""
    kinds = {name: FUNCTIONS[name].result for name in names}
    return "\n".join(
        f"static inline {kinds[name]} {copy}({kinds[name]} annotune_a, {kinds[name]} annotune_b)\n"
        "{\n    return annotune_b != annotune_b || "
        f"annotune_a {_EXTREMA[name]} annotune_b ? annotune_a : annotune_b;\n}}\n"
        for name, copy in names.items()
    )


def calling_extrema(variant: Variant, names: Mapping[str, str]) -> Variant:
    """Return a variant whose plans call our own `fmin` and `fmax`; what is as written stays."""
    return variant.rewritten(lambda one: one, _Calls({}, names).plan) if names else variant


def definition(
    function: UserFunction, names: Mapping[str, str], qualifiers: str, table: str = ""
) -> str:
    """Return the text of a copy under its name in `names`, those of its callees too.

    `qualifiers` stand before its type, `table` before arrays of constants.
    """
    out = Writer()
    head = f"{qualifiers} {spelled(function.result)} {names[function.name]}"
    with out.block(wrapped(head, function.parameters) + "\n"):
        for constant in function.constants:
            is_array = "[" in constant.partition("=")[0]
            out.line(f"{table}{constant}" if is_array else constant)
        for line in function.body:
            out.line(_renamed(line, function, names))
    return out.text()


def _renamed(line: str, function: UserFunction, names: Mapping[str, str]) -> str:
    """Return a line with the calls of its callees: no other name stands before a ``(``."""
    for name in function.needs:
        line = re.sub(rf"\b{name}(?=\()", names[name], line)
    return line


def calling_copies(variant: Variant, names: Mapping[str, str]) -> Variant:
    """Return a variant whose nest, as written too, and whose plans call the copies in `names`."""
    if not names:
        return variant
    view = _Calls({}, {own_name(name): copy for name, copy in names.items()})

    def analysis(one: Analysis) -> Analysis:
        region = one.region
        nest, original = Nest(view.body(region.nest.body)), region.original
        if original is not None:
            original = Nest(view.body(original.body))
        region = replace(region, nest=nest, original=original)
        return replace(one, region=region, inspector=view.body(one.inspector))

    return variant.rewritten(analysis, view.plan)


@dataclass(frozen=True)
class _Calls(Renaming):
    """Statements that call the `copies` of functions; all names else stay."""

    copies: Mapping[str, str]

    def change(self, part: Expr) -> Expr | None:
        """Return a call of a copy, None for what is no call of a function that has one."""
        if isinstance(part, Call) and part.function in self.copies:
            return Call(self.copies[part.function], tuple(map(self.expr, part.arguments)))
        return None
