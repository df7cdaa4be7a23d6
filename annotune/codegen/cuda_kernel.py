"""One CUDA kernel as text: placed loops become indices, the rest stays C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.grid import CUDA_INDEX, Grid, grid
from annotune.codegen.names import Interface, temporaries, words, wrapped
from annotune.codegen.writer import INDENT, Writer
from annotune.decide.plan import Kernel
from annotune.ir.expr import Int, Var
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Stmt, walk_stmts
from annotune.ir.region import Array, Scalar


@dataclass(frozen=True)
class KernelText:
    """A kernel's definition and how to launch it.

    `arguments` are the names to pass, scalars then arrays. `constants` are the sizes that
    the text fixes; they are no parameters of it.
    """

    name: str
    definition: str
    scalars: tuple[Scalar, ...]
    arrays: tuple[Array, ...]
    grid: Grid
    kernel: Kernel
    constants: Mapping[str, int]


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
    shape = grid(kernel, analysis.region.sizes)
    inner = Writer(INDENT)
    _write_placed(inner, Dialect(analysis.region), kernel, shape, constants, analysis)
    used = words(inner.text())
    scalars = tuple(s for s in (*outer.scalars, *host) if s.name in used)
    open_scalars = tuple(s for s in scalars if s.name not in constants)
    arrays = tuple(a for a in outer.arrays if a.name in used)
    name = f"{kernel.name}{suffix}"
    written = _written(kernel.body)
    parameters = [f"{s.type} {s.name}" for s in open_scalars]
    for array in arrays:
        const = "" if array.name in written else "const "
        parameters.append(f"{const}{array.element} *__restrict__ {array.name}")
    threads = shape.threads[0] * shape.threads[1] * shape.threads[2]
    out = Writer()
    out.lines(_legend(analysis, kernel))
    # Sizes that arrive at run time cost registers for addresses; asked for one resident block,
    # ptxas gives them, where its own guess at occupancy would rather spill.
    bounds = f"{threads}, 1" if open_scalars else str(threads)
    head = f"__global__ void __launch_bounds__({bounds}) {name}"
    with out.block(wrapped(head, parameters), ""):
        for scalar in scalars:
            if scalar.name in constants:
                out.line(f"const {scalar.type} {scalar.name} = {constants[scalar.name]};")
    definition = out.text().rstrip("\n") + "\n" + inner.text() + "}\n"
    return KernelText(name, definition, open_scalars, arrays, shape, kernel, constants)


def _write_placed(
    out: Writer,
    dialect: Dialect,
    kernel: Kernel,
    shape: Grid,
    constants: Mapping[str, int],
    analysis: Analysis,
) -> None:
    """Write the indices of the placed loops, and the thread's work inside them.

    An axis that covers its loop exactly gives one index; otherwise the index runs on in
    strides of the axis, so that any launch covers every iteration.
    """
    strided = 0
    for loop in kernel.band():
        index, extent = CUDA_INDEX[loop.place]
        kind = dialect.iterator_type(loop)
        if kind not in ("int", "unsigned int"):
            # An index of 32 unsigned bits would make a 64-bit sum of a negative bound positive.
            index = f"({kind}){index}"
        lower = fold(loop.lower)
        scaled = index if loop.step == 1 else f"{loop.step} * {index}"
        start = scaled if lower == Int(0) else f"{dialect.expr(lower)} + {scaled}"
        if shape.is_exact(loop.place, loop, constants):
            out.line(f"const {kind} {loop.var} = {start};")
            continue
        jump = extent if loop.step == 1 else f"{loop.step} * {extent}"
        upper = dialect.bound(loop, loop.upper)
        out.line(
            f"for ({kind} {loop.var} = {start}; {loop.var} < {upper}; {loop.var} += {jump}) {{"
        )
        out.indent()
        strided += 1
    for scalar in temporaries(analysis, kernel.thread_body()):
        out.line(f"{scalar.type} {scalar.name};")
    dialect.write_body(out, kernel.thread_body())
    for _ in range(strided):
        out.dedent()
        out.line("}")


def _legend(analysis: Analysis, kernel: Kernel) -> str:
    """Return the comment that says where the kernel comes from and how its loops are mapped."""
    place = analysis.region.span
    numbers = ", ".join(str(n) for n in kernel.statements)
    axes = ", ".join(f"{loop.var} on {loop.place}" for loop in kernel.band()) or "one thread"
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
