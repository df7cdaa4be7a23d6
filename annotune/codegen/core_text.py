"""What one CPU core does of a kernel, as a C function on flat pointers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.core_blocks import for_registers
from annotune.codegen.guards import joined
from annotune.codegen.names import Interface, spelled, words, wrapped
from annotune.codegen.placed import declared_in, is_placed, reduction_clauses
from annotune.codegen.tile_ends import cut_loops, full_blocks, write_ends
from annotune.codegen.writer import INDENT, Writer
from annotune.ir.expr import Var
from annotune.ir.nest import Assign, Level, LocalArray, Loop, walk_stmts
from annotune.ir.region import Array, Scalar
from annotune.transforms.tree import Body, only_fetches

# The longest vector of a CPU, AVX-512's, and a line of its caches: a load that crosses two
# lines costs two.
VECTOR_BYTES = 64
# A block is as many accumulators as the long registers hold, which gcc leaves unused on the CPUs
# that slowed down with them.
_WIDE = """\
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
"""


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
    body: Body,
    name: str,
    constants: Mapping[str, int],
    around: tuple[Scalar, ...],
    comment: str,
) -> CoreText:
    """Return the work inside shared loops, `body`, with `constants` fixed in it.

    `around` are the iterators of the loops around the call, and scalars that are computed
    there. Macros are at hand at file scope and are no parameters.
    """
    inner = Writer(INDENT)
    BodyWriter(analysis).write(inner, body, frozenset(s.name for s in around))
    used = words(inner.text())
    named: dict[str, Scalar] = {}
    for scalar in (*around, *outer.scalars):
        if scalar.name in used and not scalar.is_macro:
            named.setdefault(scalar.name, scalar)
    scalars = tuple(named.values())
    open_scalars = tuple(s for s in scalars if s.name not in constants)
    arrays = tuple(a for a in outer.arrays if a.name in used)
    written = {
        s.target.array
        for s in walk_stmts(body)
        if isinstance(s, Assign) and not isinstance(s.target, Var)
    }
    parameters = [f"{spelled(s.type)} {s.name}" for s in open_scalars]
    for array in arrays:
        const = "" if array.name in written else "const "
        parameters.append(f"{const}{spelled(array.element)} *restrict {array.name}")
    out = Writer()
    out.lines(f"/* {comment} */")
    if any(isinstance(stmt, LocalArray) for stmt in walk_stmts(body)):
        out.lines(_WIDE)
    out.lines(wrapped(f"static void {name}", parameters))
    out.line("{")
    with out.deeper():
        for scalar in scalars:
            if scalar.name in constants:
                kind = scalar.type.replace("const ", "")
                out.line(f"const {kind} {scalar.name} = {constants[scalar.name]};")
    return CoreText(name, out.text() + inner.text() + "}\n", open_scalars, arrays)


class BodyWriter:
    """Writes what one core does: lanes marked, and a tile that may be cut short in two versions.

    `flat` is for functions, whose arrays are flat.
    """

    def __init__(self, analysis: Analysis, flat: bool = True) -> None:
        self.analysis = analysis
        self.dialect = Dialect(analysis.region, flat=flat, loop=self._loop, alignment=VECTOR_BYTES)

    def write(self, out: Writer, body: Body, known: frozenset[str] = frozenset()) -> None:
        """Write statements with their temporaries before them, less those that are `known`."""
        for scalar in declared_in(self.analysis, body, known):
            out.line(f"{spelled(scalar.type)} {scalar.name};")
        self._statements(out, body)

    def _loop(self, out: Writer, loop: Loop) -> bool:
        if loop.place is Level.SIMD:
            out.directive(f"#pragma omp simd{reduction_clauses((loop,))}")
        with out.block(self.dialect.loop_head(loop)):
            if is_placed(loop):
                self.write(out, loop.body)
            else:
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
        lengths = {cut.least for cut in cuts if cut.is_tile and not only_fetches(cut.loop)}
        tiles = tuple(cut for cut in cuts if cut.least in lengths)
        body = write_ends(out, self.dialect, body, [cut for cut in cuts if cut not in tiles])
        if not tiles:
            self._block(out, body)
            return
        tests, whole = full_blocks(body)
        with out.block(f"if ({joined(map(self.dialect.wide, tests))})"):
            self._block(out, whole)
        with out.block("else"):
            self._block(out, write_ends(out, self.dialect, body, tiles))

    def _block(self, out: Writer, body: Body) -> None:
        """Write a body with local arrays, whose ends are known by now."""
        self.dialect.write_body(out, for_registers(body, self.dialect.region.taken))
