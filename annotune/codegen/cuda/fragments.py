"""A product of registers by the instructions of the tensor cores, in double precision.

A lane loads its part of both operands for 4 steps of the sum, and the warp multiplies 16 rows by 8
columns at a time. Of the lanes, 4 along x and 8 along y, lane (q, g) has the operand of row g at
step q, that of column g at step q, and the sums of row g in columns 2q and 2q + 1 (PTX ISA, "Matrix
Fragments for mma.m16n8k4 with .f64 floating point type"). So it loads rows of its own and columns
of others: column g belongs to the lanes with q = g / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import product

from annotune.codegen.writer import Writer
from annotune.ir.expr import Binary, Expr, Int, Negate, Var, substitute
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Loop
from annotune.transforms.registers import (
    DEPTH_LANES,
    DEPTHS,
    FRAGMENT,
    Fragments,
    column_distance,
)

ROW, COLUMN = Var("annotune_row"), Var("annotune_column")
# The step of the sum that a lane has, and whose column it loads for others.
STEP, PAIR, SIDE = Var("annotune_step"), Var("annotune_pair"), Var("annotune_side")
# The two registers of a lane along the columns of one instruction.
BOTH = Var("annotune_first"), Var("annotune_second")
LEFT, RIGHT = "annotune_left", "annotune_right"
WHOLE = Var("annotune_whole")
PART = Var("annotune_part")
MULTIPLY = "annotune_mma_m16n8k"

# Before sm_90 there is m8n8k4 alone, which is half of it; before sm_80 nothing, and lanes add what
# they hand each other. The instructions are as the CPU check knows them (docs/execution.md).
_OLDER = """\
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
"""
_IN_PARTS = """\
#else
    for (int part = 0; part < PARTS; part++) {
        const double rows[2] = {a[2 * part], a[2 * part + 1]};
        annotune_mma_m16n8k4(d, rows, b[part]);
    }
#endif
"""


def definitions(called: Collection[str]) -> str:
    """Return the functions for the instructions that a text calls, empty for none."""
    depths = [steps for steps in DEPTHS if f"{MULTIPLY}{steps}" in called]
    if not depths:
        return ""
    # What has more steps is several of the shortest one on older devices.
    texts = "\n".join(map(_definition, sorted({DEPTHS[0], *depths})))
    return f"#ifndef ANNOTUNE_CPU\n{texts}#endif\n"


def _definition(steps: int) -> str:
    parts = steps // DEPTH_LANES
    left, right = 2 * parts, parts
    places = [f"%{number}" for number in range(4 + left + right)]
    sums, rows, columns = (
        "{" + ", ".join(some) + "}"
        for some in (places[:4], places[4 : 4 + left], places[4 + left :])
    )
    b = "double b" if parts == 1 else f"const double (&b)[{parts}]"
    given = [f'"d"(a[{k}])' for k in range(left)]
    given += ['"d"(b)'] if parts == 1 else [f'"d"(b[{k}])' for k in range(parts)]
    kept = ", ".join(f'"+d"(d[{k}])' for k in range(4))
    out = Writer()
    what = f"/* d += a * b for 16 rows, 8 columns and {steps} steps"
    out.line(f"{what}, of which each lane of a warp has its part. */")
    out.line(f"static __device__ __forceinline__ void {MULTIPLY}{steps}(")
    out.line(f"        double (&d)[4], const double (&a)[{left}], {b})")
    out.line("{")
    out.line("#if __CUDA_ARCH__ >= 900")
    out.line(f'    asm("mma.sync.aligned.m16n8k{steps}.row.col.f64.f64.f64.f64 "')
    out.line(f'        "{sums}, {rows}, {columns}, {sums};"')
    out.line(f"        : {kept}")
    out.line(f"        : {', '.join(given)});")
    out.lines(_OLDER if parts == 1 else _IN_PARTS.replace("PARTS", str(parts)))
    out.line("}")
    return out.text()


@dataclass(frozen=True, slots=True)
class FragmentText:
    """Writes a product; `is_whole` where no step of the sum is left, else it stops at `WHOLE`."""

    product: Fragments
    rows: int
    columns: int
    steps: int
    is_whole: bool

    @classmethod
    def of(cls, product: Fragments, constants: Mapping[str, int]) -> FragmentText:
        """Return the text of a product with the sizes in `constants` fixed.

        Sums that the steps of its instruction do not divide have the shortest one.
        """
        total = fold(trip_count(product.sum), constants)
        count, steps = total.value if isinstance(total, Int) else 1, product.sum.by_warps
        rows, columns = (_count(x, constants) for x in (product.rows, product.columns))
        is_whole = count % DEPTH_LANES == 0
        return cls(product, rows, columns, DEPTH_LANES if count % steps else steps, is_whole)

    def write(
        self,
        out: Writer,
        kind: str,
        start: str,
        end: str,
        expr: Callable[[Expr], str],
        copies: Callable[[], None] | None = None,
    ) -> None:
        """Write the steps from `start` to `end` of an iterator of a type, by `expr` as C.

        `copies` writes what begins once the first operands are on their way: the compiler puts its
        instructions between those of the tensor cores.
        """
        var, one, instructions = self.product.sum.var, self.product, self.columns // FRAGMENT
        parts = "" if self._parts == 1 else f"[{self._parts}]"
        out.line("#pragma unroll" if self.is_whole else "#pragma unroll 1")
        with out.block(f"for ({kind} {var} = {start}; {var} < {end}; {var} += {self.steps})"):
            out.line(f"const int {STEP.name} = threadIdx.x;")
            out.line(f"const int {PAIR.name} = threadIdx.y / 2 % 4;")
            out.line(f"const int {SIDE.name} = threadIdx.y % 2;")
            out.line(f"double {LEFT}{parts}[{self.rows}], {RIGHT}{parts}[{instructions}];")
            ahead: Expr = Binary("+", Var(var), STEP)
            if parts:
                ahead = Binary("+", ahead, Binary("*", Int(DEPTH_LANES), PART))
            left = substitute(one.placed(one.left, ROW, COLUMN), {var: ahead})
            left = Negate(left) if one.assign.op == "-=" else left
            own, other = _columns(self.columns)
            column = Binary("+", own, Binary("*", Binary("-", other, own), SIDE))
            right = substitute(one.placed(one.right, ROW, fold(column), PAIR), {var: ahead})
            part = f"[{PART.name}]" if parts else ""
            with _each(out, PART, self._parts, 1) if parts else nullcontext():
                with _each(out, ROW, self.rows, 1):
                    out.line(f"{LEFT}{part}[{ROW.name}] = {expr(fold(left))};")
                with _each(out, COLUMN, instructions, 1):
                    out.line(f"{RIGHT}{part}[{COLUMN.name}] = {expr(fold(right))};")
            if copies is not None:
                with out.block(f"if ({var} == {start})"):
                    copies()
            with _each(out, COLUMN, instructions, 1):
                for name, register in zip(BOTH, _columns(self.columns), strict=True):
                    out.line(f"const int {name.name} = {expr(register)};")
                with _each(out, ROW, self.rows, FRAGMENT):
                    self._instruction(out, expr)

    @property
    def _parts(self) -> int:
        """Return how many steps a lane has of one instruction."""
        return self.steps // DEPTH_LANES

    def _instruction(self, out: Writer, expr: Callable[[Expr], str]) -> None:
        """Write one instruction on the sums of two rows and two columns of the thread."""
        row, rows = ROW.name, (ROW, fold(Binary("+", ROW, Int(1))))
        target = self.product.assign.target
        sums = [expr(self.product.placed(target, *at)) for at in product(rows, BOTH)]
        out.line(f"double annotune_sums[4] = {{{', '.join(sums)}}};")
        parts = [""] if self._parts == 1 else [f"[{part}]" for part in range(self._parts)]
        pairs = [f"{LEFT}{part}[{at}]" for part in parts for at in (row, f"{row} + 1")]
        out.line(f"const double annotune_pairs[{len(pairs)}] = {{{', '.join(pairs)}}};")
        steps = [f"{RIGHT}{part}[{COLUMN.name}]" for part in parts]
        given = steps[0]
        if len(steps) > 1:
            given = "annotune_steps"
            out.line(f"const double {given}[{len(steps)}] = {{{', '.join(steps)}}};")
        out.line(f"{MULTIPLY}{self.steps}(annotune_sums, annotune_pairs, {given});")
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
