"""Words of C and of directives that are the user's macros where our text stands.

Compilers expand macros inside ``#pragma omp`` and ``#pragma acc`` lines too: beside
``#define gang 12`` a loop would be ``parallel loop 12``. What the user's text says in such a
macro has been read, so that ours is made without it.

A variant under other names: what is printed of it, where a name means another thing.

Plain names in emitted text, where the user's C spells a value otherwise: ``*n``, ``p->nx``.

The nest and all that is printed from it use the plain names; what is put in the place of a
region declares them first. The harness passes them as parameters instead. So it is with
``register`` variables, whose address C does not give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from annotune.analysis.facts import Analysis, ArrayShape, ElementRange
from annotune.codegen.names import fresh, spelled
from annotune.codegen.target import RegionCode
from annotune.codegen.writer import Writer, words
from annotune.frontend.read.tokens import Replacement, splice
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
from annotune.ir.region import Array, Redefined, Region, Scalar
from annotune.schedule.plan import HostLoop, Kernel, Plan, Step
from annotune.space.variants import Variant
from annotune.transforms.tree import Body

_IN_DIRECTIVES = frozenset(
    (
        *("GCC", "omp", "acc", "unroll", "parallel", "loop", "simd", "seq", "routine", "cache"),
        *("gang", "worker", "vector", "num_gangs", "num_workers", "vector_length", "num_threads"),
        *("schedule", "static", "collapse", "tile", "reduction", "min", "max", "private", "data"),
        *("present", "copy", "copyin", "copyout", "create", "deviceptr"),
        *("target", "teams", "distribute", "declare", "end", "num_teams", "thread_limit"),
        *("map", "to", "from", "tofrom", "alloc"),
    )
)
_IN_C = frozenset(
    (
        *("char", "short", "int", "long", "float", "double", "signed", "unsigned", "void"),
        *("for", "if", "else", "while", "return", "sizeof"),
    )
)
_DIRECTIVE = re.compile(r"^[ ]*#pragma (?!push_macro|pop_macro)(?:\\\n|.)*", re.MULTILINE)


def without_macros(code: RegionCode, region: Region) -> RegionCode:
    """Return a text of ours in which none of our words is the user's macro."""
    body, helper = (_freed(text, region) for text in (code.body, code.helper))
    return replace(code, body=in_block(body) if body != code.body else body, helper=helper)


def _freed(text: str, region: Region) -> str:
    found = (words(text) & _IN_C) | (words(" ".join(_DIRECTIVE.findall(text))) & _IN_DIRECTIVES)
    return redefining(
        text, [Redefined(name, None) for name in sorted(found & region.around.macros)]
    )


def redefining(text: str, redefined: Sequence[Redefined]) -> str:
    """Return a text in which macros are others than around it.

    gcc, clang and nvc have these pragmas; the user's text goes on as it was.
    """
    before = [f'#pragma push_macro("{one.name}")' for one in redefined]
    before += [line for one in redefined for line in one.directives()]
    after = [f'#pragma pop_macro("{one.name}")' for one in redefined]
    return "\n".join([*before, text.rstrip("\n"), *after, ""]) if redefined else text


def constants(region: Region) -> tuple[Scalar, ...]:
    """Return the constants whose names are among our words: their values stand for them."""
    return tuple(s for s in region.scalars.values() if s.is_macro and s.name in _IN_DIRECTIVES)


def checked_constants(code: str, found: Iterable[Scalar]) -> str:
    """Return a block that stops a compiler for which a constant has another value than it had."""
    checks = [
        f'_Static_assert({one.name} == {one.value}, "annotune read this region where {one.name} '
        f'is {one.value}");'
        for one in found
    ]
    return in_block("\n".join([*checks, code])) if checks else code


def in_block(code: str) -> str:
    """Return a block of `code`, so that lines of the preprocessor have lines of their own."""
    out = Writer()
    with out.block(""):
        out.lines(code)
    return out.text()


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
                return replace(
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
    said = words(" ".join(alias.declaration for alias in region.text.aliases))
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


def body_text(text: str, region: Region, edits: Sequence[Replacement] = ()) -> str:
    """Return the user's own text between the annotations in plain names.

    `edits` are further changes, with offsets in the whole file's `text`.
    """
    place = region.extent
    plain = [(s.start, s.end, s.name) for s in region.text.spellings]
    new = splice(text, [*edits, *plain])
    return new[place.body_start : place.body_end + len(new) - len(text)]


def declared(code: str, region: Region) -> str:
    """Return a block that replaces a region, with the plain names that it uses declared."""
    used = words(code)
    registers = [s for s in region.scalars.values() if s.is_register and _is_addressed(code, s)]
    for scalar in registers:
        code = _in_memory(code, scalar, region)
    wanted = [alias for alias in region.text.aliases if alias.name in used]
    if not wanted:
        return code
    out = Writer()
    with out.block(""):
        for alias in wanted:
            out.line(alias.declaration)
        out.lines(code)
    return out.text()


# A directive for a device with the lines that it goes on over.
_DEVICE_DIRECTIVE = re.compile(r"#pragma (?:acc|omp target)(?:\\\n|.)*")


def _is_addressed(code: str, scalar: Scalar) -> bool:
    """Return whether a text needs a variable's address, in a call or in a data clause."""
    if scalar.is_local:
        return False
    return f"&{scalar.name}" in code or any(
        scalar.name in words(directive) for directive in _DEVICE_DIRECTIVE.findall(code)
    )


def _in_memory(code: str, scalar: Scalar, region: Region) -> str:
    """Return a block in which a register variable is one with an address.

    ``{ T p_kept = p; { T p = p_kept; CODE p_kept = p; } p = p_kept; }``
    """
    kept = fresh(f"{scalar.name}_kept", region.taken | words(code))
    name, type_ = scalar.name, spelled(scalar.type)
    out = Writer()
    with out.block(""):
        out.line(f"{type_} {kept} = {name};")
        with out.block(""):
            out.line(f"{type_} {name} = {kept};")
            out.lines(code)
            out.line(f"{kept} = {name};")
        out.line(f"{name} = {kept};")
    return out.text()
