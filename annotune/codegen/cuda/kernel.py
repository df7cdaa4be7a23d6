"""One CUDA kernel as text: placed loops become indices, the rest stays C."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from annotune.analysis.facts import Analysis
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.cuda.copies import aligned_arrays, dynamic_bytes, merged_loads
from annotune.codegen.cuda.stage import ROLLED, ThreadDialect
from annotune.codegen.cuda.team import OPERATIONS, Partial, TeamWriter, flat_heads, placed_head
from annotune.codegen.cuda.types import cuda_type
from annotune.codegen.grid import BLOCKS, CUDA_INDEX, Grid, axes_of, grid
from annotune.codegen.names import Interface, temporaries, words, wrapped
from annotune.codegen.writer import INDENT, Writer
from annotune.ir.expr import Access, Var, variables
from annotune.ir.nest import Assign, Level, Local, Loop, Stmt, walk_stmts
from annotune.ir.region import Array, Scalar
from annotune.schedule.plan import Kernel, band_of
from annotune.transforms.tree import Body, nest_loops


@dataclass(frozen=True)
class KernelText:
    """A kernel's definition and how to launch it.

    `scalars` and `arrays` are the names to pass, in this order. `constants` are the sizes that
    the text fixes; they are no parameters of it. Each of `partials` is one more array, into
    which the blocks put what they have; `last`, launched with one block, combines that. A launch
    asks for `shared_bytes` beyond what a block has by itself; the arrays in `aligned` must start
    at a multiple of `VECTOR_BYTES`.
    """

    name: str
    definition: str
    scalars: tuple[Scalar, ...]
    arrays: tuple[Array, ...]
    grid: Grid
    kernel: Kernel
    constants: Mapping[str, int]
    partials: tuple[Partial, ...] = ()
    last: KernelText | None = None
    shared_bytes: int = 0
    aligned: frozenset[str] = frozenset()

    def definitions(self) -> str:
        """Return the text of all kernels that this one needs."""
        return self.definition + (f"\n{self.last.definition}" if self.last is not None else "")


@dataclass(frozen=True)
class _Maker:
    """What all texts of one kernel have in common."""

    analysis: Analysis
    outer: Interface
    kernel: Kernel
    shape: Grid
    constants: Mapping[str, int]
    host: tuple[Scalar, ...]

    def text(
        self,
        name: str,
        legend: str,
        part: Body,
        body: str,
        more: Sequence[str] = (),
        partials: Sequence[Partial] = (),
        last: KernelText | None = None,
    ) -> KernelText:
        """Return the kernel `name` around `body`, the text of a `part` of the statements.

        It has `more` parameters at its end.
        """
        # An array may be called x, which stands behind the dot of threadIdx.x as well.
        used = words(re.sub(r"\.[xyz]\b", "", body))
        scalars = tuple(s for s in (*self.outer.scalars, *self.host) if s.name in used)
        open_scalars = tuple(s for s in scalars if s.name not in self.constants)
        arrays = tuple(a for a in self.outer.arrays if a.name in used)
        written = _written(self.kernel.body)
        names = {array.name for array in arrays}
        merged = merged_loads(part, names, _written(part) & names)
        parameters = [f"{s.type} {s.name}" for s in open_scalars]
        for array in arrays:
            const = "" if array.name in written else "const "
            alone = "" if array.name in merged else "__restrict__ "
            parameters.append(f"{const}{array.element} *{alone}{array.name}")
        threads = self.shape.threads[0] * self.shape.threads[1] * self.shape.threads[2]
        out = Writer()
        out.lines(legend)
        # Sizes that arrive at run time cost registers for addresses; asked for one resident
        # block, ptxas gives them, where its own guess at occupancy would rather spill.
        resident = self.kernel.resident or int(bool(open_scalars))
        bounds = f"{threads}, {resident}" if resident else str(threads)
        head = f"__global__ void __launch_bounds__({bounds}) {name}"
        with out.block(wrapped(head, [*parameters, *more]), ""):
            for scalar in scalars:
                if scalar.name in self.constants:
                    value = self.constants[scalar.name]
                    out.line(f"const {scalar.type} {scalar.name} = {value};")
        definition = out.text().rstrip("\n") + "\n" + body + "}\n"
        return KernelText(
            name,
            definition,
            open_scalars,
            arrays,
            self.shape,
            self.kernel,
            self.constants,
            tuple(partials),
            last,
            dynamic_bytes(self.kernel.body),
            aligned_arrays(self.kernel.body),
        )


def kernel_text(
    analysis: Analysis,
    outer: Interface,
    kernel: Kernel,
    suffix: str,
    constants: Mapping[str, int],
    host: tuple[Scalar, ...] = (),
) -> KernelText:
    """Return `kernel` as CUDA C++, with the sizes in `constants` fixed inside it.

    `host` are the iterators of serial loops around the launch, passed as arguments.
    """
    maker = _Maker(analysis, outer, kernel, grid(kernel, analysis.region.sizes), constants, host)
    name, legend = f"{kernel.name}{suffix}", _legend(analysis, kernel)
    if needs_team(kernel):
        return _team_text(maker, name, legend)
    inner = Writer(INDENT)
    _write_placed(inner, maker)
    return maker.text(name, legend, kernel.body, inner.text())


def needs_team(kernel: Kernel) -> bool:
    """Return whether threads or blocks of the kernel have to do with each other."""
    band = kernel.band()
    return any(x.combines or not any(x is y for y in band) for x in kernel.placed())


def _write_placed(out: Writer, maker: _Maker) -> None:
    """Write the indices of the placed loops, and the thread's work inside them."""
    kernel = maker.kernel
    dialect = ThreadDialect.of(maker.analysis.region, kernel, maker.shape, maker.constants)
    dialect.declare_shared(out, kernel.body)
    _write_axes(out, maker, dialect, kernel.body)


def _write_axes(out: Writer, maker: _Maker, dialect: ThreadDialect, body: Body) -> None:
    """Write a nest of placed loops axis by axis, and what a thread does inside them all."""
    band = band_of(body)
    if not band:
        for scalar in temporaries(maker.analysis, body):
            out.line(f"{scalar.type} {scalar.name};")
        dialect.write_body(out, body)
        return
    loops = axes_of(band)[0]
    head, lines = _index(dialect, loops, maker)
    rest = [x for x in band if not any(x is own for own in loops)]
    late = {x.var for x in rest}
    # A test that an index of this axis answers stands here, others with the axis that does.
    tests = [test for x in loops for test in x.peeled]
    due = [test for test in tests if not variables(test) & late]
    if rest and len(due) < len(tests):
        open_tests = tuple(test for test in tests if test not in due)
        rest[-1] = replace(rest[-1], peeled=(*rest[-1].peeled, *open_tests))
    for loop in loops:
        dialect = dialect.inside(loop, dialect.repeats or bool(head))
    if head and not rest and dialect.recurs(band[-1]):
        out.line(dialect.rolled)
    with out.block(head) if head else nullcontext():
        for line in lines:
            out.line(line)
        dialect.write_versions(
            out,
            due,
            nest_loops(rest, band[-1].body),
            lambda inner, version: _write_axes(out, maker, inner, version),
        )


def _index(
    dialect: ThreadDialect, loops: Sequence[Loop], maker: _Maker
) -> tuple[str, tuple[str, ...]]:
    """Return what the indices of an axis are: a head, empty for none, and lines."""
    if len(loops) > 1:
        return flat_heads(dialect, loops, maker.shape, maker.constants)
    start, head = placed_head(dialect, loops[0])
    is_exact = maker.shape.is_exact(loops[0].place, loops[0], maker.constants)
    return ("", (start,)) if is_exact else (head, ())


def _team_text(maker: _Maker, name: str, legend: str) -> KernelText:
    """Return a kernel whose threads combine what they have, and one for what blocks leave."""
    body = maker.kernel.body
    combining = [k for k, stmt in enumerate(body) if _combines_blocks(stmt)]
    end = combining[-1] + 1 if combining else len(body)
    first = _TeamBody(maker, body[:end])
    first.writer.write(first.out, body[:end])
    partials = first.writer.partials
    if partials:
        with first.out.block(f"if ({first.writer.first_thread()})"):
            for partial in partials:
                first.out.line(f"{partial.parameter}[{_BLOCK}] = {partial.name};")
    more = [f"{cuda_type(p.type)} *__restrict__ {p.parameter}" for p in partials]
    last = _last_text(maker, name, body[:end], body[end:], partials) if partials else None
    return maker.text(name, legend, body[:end], first.text(), more, partials, last)


def _last_text(
    maker: _Maker, name: str, before: Body, after: Body, partials: Sequence[Partial]
) -> KernelText:
    """Return the kernel of one block that combines what all blocks leave, and goes on."""
    last = _TeamBody(maker, after)
    out = last.out
    last.writer.write(out, tuple(s for s in before if isinstance(s, Local)))
    for partial in partials:
        index, extent = CUDA_INDEX[Level.THREAD_X]
        head = f"for (int annotune_k = {index}; annotune_k < annotune_blocks;"
        with out.block(f"{head} annotune_k += {extent})"):
            operation = OPERATIONS[partial.operator]
            value = f"{operation}::of({partial.name}, {partial.parameter}[annotune_k])"
            out.line(f"{partial.name} = {value};")
        last.writer.tree(out, partial.name, partial.operator)
    last.writer.write(out, after)
    more = [f"const {cuda_type(p.type)} *__restrict__ {p.parameter}" for p in partials]
    legend = f"/* What the blocks of {name} leave, combined. */"
    text = last.text()
    return maker.text(f"{name}_last", legend, after, text, [*more, "int annotune_blocks"])


# The number of a block in a grid of any shape.
_BLOCK = "blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)"


class _TeamBody:
    """The body of one kernel of a team, under construction."""

    def __init__(self, maker: _Maker, body: Body) -> None:
        self.out = Writer(INDENT)
        dialect = Dialect(maker.analysis.region, has_extrema=True, rolled=ROLLED)
        assigns = (stmt for stmt in walk_stmts(body) if isinstance(stmt, Assign))
        changed = {a.target.array for a in assigns if isinstance(a.target, Access)}
        self.writer = TeamWriter(dialect, maker.shape, maker.constants, frozenset(changed))
        self._own = [f"{s.type} {s.name};" for s in temporaries(maker.analysis, body)]

    def text(self) -> str:
        """Return the body, what it needs declared first."""
        declared = [*self.writer.declare_buffers(), *self._own]
        return "".join(f"{INDENT}{line}\n" for line in declared) + self.out.text()


def _combines_blocks(stmt: Stmt) -> bool:
    return isinstance(stmt, Loop) and bool(stmt.combines) and stmt.place in BLOCKS


def _legend(analysis: Analysis, kernel: Kernel) -> str:
    """Return the comment that says where the kernel comes from and how its loops are mapped."""
    place = analysis.region.span
    numbers = ", ".join(str(n) for n in kernel.statements)
    mapped = dict.fromkeys(f"{loop.var} on {loop.place}" for loop in kernel.placed())
    axes = ", ".join(mapped) or "one thread"
    plural = "s" if len(kernel.statements) > 1 else ""
    return (
        f"/* {analysis.region.function}, statement{plural} {numbers} of the region at "
        f"line {place.line}:\n * {axes}. */"
    )


def _written(body: tuple[Stmt, ...]) -> set[str]:
    return {
        s.target.array
        for s in walk_stmts(body)
        if isinstance(s, Assign) and not isinstance(s.target, Var)
    }
