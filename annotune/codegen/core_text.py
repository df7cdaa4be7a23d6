"""What one CPU core does of a kernel, as a C function on flat pointers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.guards import joined
from annotune.codegen.in_place import legend
from annotune.codegen.names import Interface, temporaries, words, wrapped
from annotune.codegen.tile_ends import cut_loops, with_bounds, write_ends
from annotune.codegen.writer import INDENT, Writer
from annotune.decide.plan import Kernel
from annotune.ir.expr import Expr, Var
from annotune.ir.nest import Assign, Level, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.ir.region import Array, Scalar
from annotune.transforms.tree import Body


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
        cuts = cut_loops(body)
        if not any(isinstance(s, LocalArray) for s in body):
            # What is cut further inside may belong to a register block there.
            cuts = tuple(cut for cut in cuts if any(cut.loop is stmt for stmt in body))
            self.dialect.write_body(out, write_ends(out, self.dialect, body, cuts))
            return
        if not cuts:
            self.dialect.write_body(out, body)
            return
        expr = self.dialect.expr
        tests = dict.fromkeys(f"{expr(cut.full)} <= {expr(cut.end)}" for cut in cuts)
        with out.block(f"if ({joined(tests)})"):
            full: dict[Expr, Expr] = {cut.least: cut.full for cut in cuts}
            self.dialect.write_body(out, with_bounds(body, full))
        with out.block("else"):
            self.dialect.write_body(out, write_ends(out, self.dialect, body, cuts))


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
