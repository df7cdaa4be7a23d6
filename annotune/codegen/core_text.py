"""What one CPU core does of a kernel, as a C function on flat pointers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.guards import joined
from annotune.codegen.in_place import legend
from annotune.codegen.names import Interface, temporaries, words, wrapped
from annotune.codegen.writer import INDENT, Writer
from annotune.decide.plan import Kernel
from annotune.ir.expr import Call, Expr, Var, variables
from annotune.ir.nest import Assign, Level, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.ir.region import Array, Scalar
from annotune.transforms.tree import Body, rebuilt


@dataclass(frozen=True, slots=True)
class CoreText:
    """A function's definition and the names to pass to it: scalars first, then arrays."""

    name: str
    definition: str
    scalars: tuple[Scalar, ...]
    arrays: tuple[Array, ...]


def core_text(
    analysis: Analysis,
    outer: Interface,
    kernel: Kernel,
    name: str,
    constants: Mapping[str, int],
    iterators: tuple[Scalar, ...],
) -> CoreText:
    """Return the work inside the shared loops of `kernel`, with `constants` fixed in it.

    `iterators` are those of the loops around the call. Macros are at hand at file scope and
    are no parameters.
    """
    inner = Writer(INDENT)
    _Body(analysis).function_body(inner, kernel.thread_body())
    used = words(inner.text())
    scalars = tuple(s for s in (*iterators, *outer.scalars) if s.name in used and not s.is_macro)
    open_scalars = tuple(s for s in scalars if s.name not in constants)
    arrays = tuple(a for a in outer.arrays if a.name in used)
    written = {
        s.target.array
        for s in walk_stmts(kernel.body)
        if isinstance(s, Assign) and not isinstance(s.target, Var)
    }
    parameters = [f"{s.type} {s.name}" for s in open_scalars]
    for array in arrays:
        const = "" if array.name in written else "const "
        parameters.append(f"{const}{array.element} *restrict {array.name}")
    out = Writer()
    out.lines(f"/* {legend(analysis, kernel)} */")
    out.lines(wrapped(f"static void {name}", parameters))
    out.line("{")
    with out.deeper():
        for scalar in scalars:
            if scalar.name in constants:
                kind = scalar.type.replace("const ", "")
                out.line(f"const {kind} {scalar.name} = {constants[scalar.name]};")
    return CoreText(name, out.text() + inner.text() + "}\n", open_scalars, arrays)


class _Body:
    """Writes loops with lanes marked, and a tile that may be cut short in two versions."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.dialect = Dialect(analysis.region, loop=self._loop)

    def function_body(self, out: Writer, body: Body) -> None:
        """Write everything inside the function, its temporaries first."""
        for scalar in temporaries(self.analysis, tuple(_outside_lanes(body))):
            out.line(f"{scalar.type} {scalar.name};")
        self._statements(out, body)

    def _loop(self, out: Writer, loop: Loop) -> bool:
        is_simd = loop.place == Level.SIMD
        if is_simd:
            out.directive("#pragma omp simd")
        with out.block(self.dialect.loop_head(loop)):
            if is_simd:
                for scalar in temporaries(self.analysis, loop.body):
                    out.line(f"{scalar.type} {scalar.name};")
            self._statements(out, loop.body)
        return True

    def _statements(self, out: Writer, body: Body) -> None:
        """Write a body; a register block of full tiles apart from one that is cut short.

        The number of accumulators must be a constant for the compiler to keep them in
        registers.
        """
        cut = _cut_loops(body)
        if not any(isinstance(s, LocalArray) for s in body):
            # What is cut further inside may belong to a register block there.
            self._with_ends(out, body, tuple(c for c in cut if c[0] in body))
            return
        if not cut:
            self.dialect.write_body(out, body)
            return
        tests = dict.fromkeys(
            f"{self.dialect.expr(full)} <= {self.dialect.expr(end)}" for _, full, end in cut
        )
        with out.block(f"if ({joined(tests)})"):
            self.dialect.write_body(out, _changed(body, {x.var: full for x, full, _ in cut}))
        with out.block("else"):
            self._with_ends(out, body, cut)

    def _with_ends(self, out: Writer, body: Body, cut: tuple[tuple[Loop, Expr, Expr], ...]) -> None:
        """Write a body with the ends of its cut tiles as constants before it."""
        ends: dict[str, Expr] = {}
        for loop, full, end in cut:
            if loop.var in ends:
                continue
            one, other = self.dialect.expr(full), self.dialect.expr(end)
            kind = self.dialect.iterator_type(loop).replace("const ", "")
            out.line(f"const {kind} {loop.var}_end = {one} < {other} ? {one} : {other};")
            ends[loop.var] = Var(f"{loop.var}_end")
        self.dialect.write_body(out, _changed(body, ends) if ends else body)


def _cut_loops(body: Body) -> tuple[tuple[Loop, Expr, Expr], ...]:
    """Return (loop, end of a full tile, end of all) of the tiles in `body` that may be short.

    Only those whose tile is chosen outside `body`: the others are met further inside.
    """
    inside = {s.var for s in walk_stmts(body) if isinstance(s, Loop)}
    out = []
    for stmt in walk_stmts(body):
        if isinstance(stmt, Loop) and isinstance(stmt.upper, Call):
            assert stmt.upper.function == "min", stmt.upper
            full, end = stmt.upper.arguments
            if not variables(stmt.upper) & inside:
                out.append((stmt, full, end))
    return tuple(out)


def _changed(body: Body, uppers: Mapping[str, Expr]) -> Body:
    """Return `body` with the upper bounds of some loops replaced, by name."""
    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            upper = uppers[stmt.var] if _is_cut(stmt, uppers) else stmt.upper
            out.append(rebuilt(stmt, upper=upper, body=_changed(stmt.body, uppers)))
        else:
            out.append(stmt)
    return tuple(out)


def _is_cut(loop: Loop, uppers: Mapping[str, Expr]) -> bool:
    return loop.var in uppers and isinstance(loop.upper, Call)


def _outside_lanes(body: Body) -> Iterator[Stmt]:
    """Yield the statements that no lane loop holds; what lanes assign is declared in them."""
    for stmt in body:
        match stmt:
            case Loop() if stmt.place == Level.SIMD:
                continue
            case Loop():
                yield from _outside_lanes(stmt.body)
            case Assign() | Local() | LocalArray():
                yield stmt
