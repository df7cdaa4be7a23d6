"""A product of registers by the instructions of the tensor cores, in double precision.

A lane loads its part of both operands for 4 steps of the sum, and the warp multiplies 16 rows by 8
columns at a time. Of the lanes, 4 along x and 8 along y, lane (q, g) has the operand of row g at
step q, that of column g at step q, and the sums of row g in columns 2q and 2q + 1 (PTX ISA, "Matrix
Fragments for mma.m16n8k4 with .f64 floating point type"). So it loads rows of its own and columns
of others: column g belongs to the lanes with q = g / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import product

from annotune.codegen.writer import Writer
from annotune.ir.expr import Binary, Expr, Int, Negate, Var, substitute
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Loop
from annotune.transforms.registers import DEPTH_LANES, FRAGMENT, Fragments, column_distance

ROW, COLUMN = Var("annotune_row"), Var("annotune_column")
# The step of the sum that a lane has, and whose column it loads for others.
STEP, PAIR, SIDE = Var("annotune_step"), Var("annotune_pair"), Var("annotune_side")
# The two registers of a lane along the columns of one instruction.
BOTH = Var("annotune_first"), Var("annotune_second")
LEFT, RIGHT = "annotune_left", "annotune_right"
WHOLE = Var("annotune_whole")
MULTIPLY = "annotune_mma_m16n8k4"

# Before sm_90 there is m8n8k4 alone, which is half of it; before sm_80 nothing, and lanes add what
# they hand each other. The instruction is as the CPU check knows it (docs/execution.md).
DEFINITION = """\
#ifndef ANNOTUNE_CPU
/* d += a * b for 16 rows, 8 columns and 4 steps, of which each lane of a warp has its part. */
static __device__ __forceinline__ void annotune_mma_m16n8k4(
        double (&d)[4], const double (&a)[2], double b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(a[0]), "d"(a[1]), "d"(b));
#elif __CUDA_ARCH__ >= 800
    for (int k = 0; k < 2; k++)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+d"(d[2 * k]), "+d"(d[2 * k + 1]) : "d"(a[k]), "d"(b));
#else
    const int lane = (threadIdx.x + 4 * threadIdx.y) % 32;
    for (int step = 0; step < 4; step++)
        for (int k = 0; k < 4; k++) {
            const double left = __shfl_sync(~0u, a[k / 2], lane / 4 * 4 + step);
            d[k] += left * __shfl_sync(~0u, b, (lane % 4 * 2 + k % 2) * 4 + step);
        }
#endif
}
#endif
"""


@dataclass(frozen=True, slots=True)
class FragmentText:
    """Writes a product; `is_whole` where no step of the sum is left, else it stops at `WHOLE`."""

    product: Fragments
    rows: int
    columns: int
    is_whole: bool

    @classmethod
    def of(cls, product: Fragments, constants: Mapping[str, int]) -> FragmentText:
        """Return the text of a product with the sizes in `constants` fixed."""
        steps = fold(trip_count(product.sum), constants)
        is_whole = isinstance(steps, Int) and steps.value % DEPTH_LANES == 0
        rows, columns = (_count(x, constants) for x in (product.rows, product.columns))
        return cls(product, rows, columns, is_whole)

    def write(
        self, out: Writer, kind: str, start: str, end: str, expr: Callable[[Expr], str]
    ) -> None:
        """Write the steps from `start` to `end` of an iterator of a type, by `expr` as C."""
        var, one = self.product.sum.var, self.product
        out.line("#pragma unroll" if self.is_whole else "#pragma unroll 1")
        with out.block(f"for ({kind} {var} = {start}; {var} < {end}; {var} += {DEPTH_LANES})"):
            out.line(f"const int {STEP.name} = threadIdx.x;")
            out.line(f"const int {PAIR.name} = threadIdx.y / 2 % 4;")
            out.line(f"const int {SIDE.name} = threadIdx.y % 2;")
            out.line(f"double {LEFT}[{self.rows}], {RIGHT}[{self.columns // FRAGMENT}];")
            at = {var: Binary("+", Var(var), STEP)}
            left = substitute(one.placed(one.left, ROW, COLUMN), at)
            left = Negate(left) if one.assign.op == "-=" else left
            own, other = _columns(self.columns)
            column = Binary("+", own, Binary("*", Binary("-", other, own), SIDE))
            right = one.placed(one.right, ROW, fold(column), PAIR)
            with _each(out, ROW, self.rows, 1):
                out.line(f"{LEFT}[{ROW.name}] = {expr(fold(left))};")
            with _each(out, COLUMN, self.columns // FRAGMENT, 1):
                out.line(f"{RIGHT}[{COLUMN.name}] = {expr(fold(substitute(right, at)))};")
            with _each(out, COLUMN, self.columns // FRAGMENT, 1):
                for name, register in zip(BOTH, _columns(self.columns), strict=True):
                    out.line(f"const int {name.name} = {expr(register)};")
                with _each(out, ROW, self.rows, FRAGMENT):
                    self._instruction(out, expr)

    def _instruction(self, out: Writer, expr: Callable[[Expr], str]) -> None:
        """Write one instruction on the sums of two rows and two columns of the thread."""
        row, rows = ROW.name, (ROW, fold(Binary("+", ROW, Int(1))))
        target = self.product.assign.target
        places = product(rows, BOTH)
        sums = [expr(self.product.placed(target, *at)) for at in places]
        out.line(f"double annotune_sums[4] = {{{', '.join(sums)}}};")
        pair = f"{LEFT}[{row}], {LEFT}[{row} + 1]"
        out.line(f"const double annotune_pairs[2] = {{{pair}}};")
        out.line(f"{MULTIPLY}(annotune_sums, annotune_pairs, {RIGHT}[{COLUMN.name}]);")
        for number, place in enumerate(sums):
            out.line(f"{place} = annotune_sums[{number}];")


def _each(out: Writer, counter: Var, count: int, step: int) -> AbstractContextManager[None]:
    """Return the block of a loop over registers, which the compiler writes out."""
    name = counter.name
    turn = f"{name}++" if step == 1 else f"{name} += {step}"
    out.line("#pragma unroll")
    return out.block(f"for (int {name} = 0; {name} < {count}; {turn})")


def _columns(count: int) -> tuple[Expr, Expr]:
    """Return the two registers along columns of the instruction with a number."""
    apart = column_distance(count)
    turn = Binary("*", Binary("/", COLUMN, Int(apart)), Int(apart))
    first = fold(Binary("+", COLUMN, turn))
    return first, fold(Binary("+", first, Int(apart)))


def _count(loop: Loop, constants: Mapping[str, int]) -> int:
    count = fold(trip_count(loop), constants)
    assert isinstance(count, Int)
    return count.value
