"""A product of registers by the instructions of the tensor cores, in double precision.

A lane loads its part of both operands for 4 steps of the sum, and the warp multiplies 16 rows by 8
columns at a time. Of the lanes, 4 along x and 8 along y, lane (q, g) has the operand of row g at
step q, that of column g at step q, and the sums of row g in columns 2q and 2q + 1 (PTX ISA, "Matrix
Fragments for mma.m16n8k4 with .f64 floating point type"). So it loads rows of its own and columns
of others: column g belongs to the lanes with q = g / 2.

Operands of the next instructions are loaded, and a share of the copies for later tiles is begun,
before those at hand are multiplied: the tensor cores have work meanwhile (NVIDIA CUTLASS,
"Efficient GEMM in CUDA", Pipelining). Shared memory serves a warp in the order in which it asks:
loads behind all copies of a tile would wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import product
from math import prod

from annotune.codegen.cuda.grid import CUDA_INDEX
from annotune.codegen.writer import Writer
from annotune.frozen import dataclass
from annotune.ir.expr import Binary, Expr, Int, Negate, Var, substitute
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Loop
from annotune.transforms.registers import (
    DEPTH_LANES,
    FRAGMENT,
    Fragments,
    simplified,
)

ROW, COLUMN = Var("annotune_row"), Var("annotune_column")
# The step of the sum that a lane has, and whose column it loads for others.
STEP, PAIR, SIDE = Var("annotune_step"), Var("annotune_pair"), Var("annotune_side")
# The two registers of a lane along the columns of one instruction.
BOTH = Var("annotune_first"), Var("annotune_second")
LEFT, RIGHT = "annotune_left", "annotune_right"
WHOLE = Var("annotune_whole")
PART = Var("annotune_part")
ROUND = Var("annotune_round")
MULTIPLY = "annotune_mma_m16n8k"

COPY_OR_ZERO = "annotune_copy_or_zero"


@dataclass(frozen=True, slots=True)
class ProductRound:
    """A round of a product, by its `number`; the first `count` of them have shares of copies."""

    number: Expr
    count: int

    @property
    def is_last(self) -> Expr | None:
        """Return the condition for the round to have the last share, None where it has all."""
        return None if self.count == 1 else Binary("==", self.number, Int(self.count - 1))

    def share(self, iteration: Expr, before: int, total: int) -> Expr | None:
        """Return when an iteration of some nest is part of the round, None for always.

        Of so many rounds in `total` there are some `before` those of the nest.
        """
        if self.count == 1:
            return None
        dealt = Binary("*", Binary("+", iteration, Int(before)), Int(self.count))
        return fold(Binary("==", Binary("/", dealt, Int(total)), self.number))


@dataclass(frozen=True, slots=True)
class NextIteration:
    """The iteration whose first operands the one before it loads, as soon as they have arrived.

    `places` are what names stand for there, `test` whether there is one, None for surely, and
    `wait` writes the wait for its copies.
    """

    places: tuple[Mapping[str, Expr], ...]
    test: Expr | None
    wait: Callable[[], None]

    def placed(self, index: Expr) -> Expr:
        """Return an operand of the present iteration as it is in this one."""
        for names in self.places:
            index = substitute(index, names)
        return simplified(index)


@dataclass(frozen=True, slots=True)
class FragmentText:
    """Writes a product of `count` terms, by instructions that have some `steps` of the sum each.

    It `is_whole` where none of them is left; else it stops at `WHOLE`.
    """

    product: Fragments
    rows: int
    columns: int
    steps: int
    count: int
    is_whole: bool

    @classmethod
    def of(cls, product: Fragments, constants: Mapping[str, int]) -> FragmentText:
        """Return the text of a product with the sizes in `constants` fixed.

        Sums that the steps of its instruction do not divide have the shortest one.
        """
        total = fold(trip_count(product.sum), constants)
        count, steps = total.value if isinstance(total, Int) else 1, product.sum.by_warps
        rows, columns = (
            prod(_count(x, constants) for x in loops) for loops in (product.rows, product.columns)
        )
        steps, is_whole = DEPTH_LANES if count % steps else steps, count % DEPTH_LANES == 0
        return cls(product, rows, columns, steps, count, is_whole)

    def write(
        self,
        out: Writer,
        kind: str,
        start: str,
        end: str,
        expr: Callable[[Expr], str],
        copies: Callable[[ProductRound], None] | None = None,
        following: NextIteration | None = None,
    ) -> None:
        """Write the steps from `start` to `end` of an iterator of a type, by `expr` as C.

        `copies` writes the share of a round in what begins meanwhile. Where there is a `following`
        iteration, its first operands are loaded beside the last step, as those at hand were.
        """
        var = self.product.sum.var
        if following is not None:
            self._write_last_ahead(out, expr, copies, following)
            return
        if self.rounds > 1:
            with out.block(""):
                self._write_rounds(out, expr, copies)
            return
        out.line("#pragma unroll" if self.is_whole else "#pragma unroll 1")
        with out.block(f"for ({kind} {var} = {start}; {var} < {end}; {var} += {self.steps})"):
            self._lanes(out, "")
            self._load(out, expr, Var(var), "")
            if copies is not None:
                copies(ProductRound(Int(0), 1))
            self._multiply(out, expr, "")

    def _write_rounds(
        self,
        out: Writer,
        expr: Callable[[Expr], str],
        copies: Callable[[ProductRound], None] | None,
    ) -> None:
        """Write the steps, each beside the loads of the next one."""
        name = ROUND.name
        self.declare(out)
        out.line("#pragma unroll")
        with out.block(f"for (int {name} = 0; {name} <= {self.rounds}; {name}++)"):
            with out.block(f"if ({name} < {self.rounds})"):
                self._load(out, expr, self._first(ROUND), f"[{name} % 2]")
            with out.block(f"if ({name} > 0)"):
                if copies is not None:
                    copies(ProductRound(Binary("-", ROUND, Int(1)), self.rounds))
                self._multiply(out, expr, f"[({name} - 1) % 2]")

    def _write_last_ahead(
        self,
        out: Writer,
        expr: Callable[[Expr], str],
        copies: Callable[[ProductRound], None] | None,
        following: NextIteration,
    ) -> None:
        """Write the steps of an iteration whose first operands are there, each as above."""
        name, count = ROUND.name, self.rounds
        out.line("#pragma unroll")
        with out.block(f"for (int {name} = 1; {name} <= {count}; {name}++)"):
            if count > 1:
                with out.block(f"if ({name} < {count})"):
                    self._load(out, expr, self._first(ROUND), f"[{name} % 2]")
            if copies is not None:
                # None in the last of several, whose loads come right behind the wait.
                dealt = count - 1 if count > 2 else count
                copies(ProductRound(Binary("-", ROUND, Int(1)), dealt))
            tests = [] if count == 1 else [f"{name} == {count}"]
            tests += [] if following.test is None else [expr(following.test)]
            with out.block(f"if ({' && '.join(tests)})") if tests else nullcontext():
                self.load_first(out, expr, following, f"[{count % 2}]")
            self._multiply(out, expr, f"[({name} - 1) % 2]")
        if count % 2:
            for operand, many in ((LEFT, self.rows), (RIGHT, self.columns // FRAGMENT)):
                with self._each_part(out), _each(out, COLUMN, many, 1):
                    at = f"{self._part}[{COLUMN.name}]"
                    out.line(f"{operand}[0]{at} = {operand}[1]{at};")

    def declare(self, out: Writer) -> None:
        """Write the operands at hand and the next ones."""
        self._lanes(out, "[2]")

    def load_first(
        self, out: Writer, expr: Callable[[Expr], str], at: NextIteration, buffer: str = "[0]"
    ) -> None:
        """Write the wait for an iteration's copies, and the loads of its first operands."""
        at.wait()
        self._load(out, expr, self._first(Int(0)), buffer, at.placed)

    def _first(self, number: Expr) -> Expr:
        """Return the first step of the sum in the round with a number."""
        return Binary("+", self.product.sum.lower, Binary("*", Int(self.steps), number))

    @property
    def rounds(self) -> int:
        """Return how many steps of the instruction there are, 0 where no number says so."""
        return self.count // self.steps if self.is_whole else 0

    def _lanes(self, out: Writer, buffers: str) -> None:
        """Write what a lane is among those of its warp, and its operands, as many as `buffers`."""
        parts = "" if self._parts == 1 else f"[{self._parts}]"
        instructions = self.columns // FRAGMENT
        step, row = (CUDA_INDEX[loop.place][0] for loop in (self.product.x, self.product.y))
        if step == row:
            step, row = f"{step} % {DEPTH_LANES}", f"{step} / {DEPTH_LANES}"
        out.line(f"const int {STEP.name} = {step};")
        out.line(f"const int {PAIR.name} = {row} / 2 % 4;")
        out.line(f"const int {SIDE.name} = {row} % 2;")
        left, right = f"{buffers}{parts}[{self.rows}]", f"{buffers}{parts}[{instructions}]"
        out.line(f"double {LEFT}{left}, {RIGHT}{right};")

    def _load(
        self,
        out: Writer,
        expr: Callable[[Expr], str],
        first: Expr,
        buffer: str,
        placed: Callable[[Expr], Expr] = fold,
    ) -> None:
        """Write the loads of a lane's operands for the steps of the sum from `first` on.

        They are those of another iteration where `placed` puts them there.
        """
        one = self.product
        ahead: Expr = Binary("+", first, STEP)
        if self._parts > 1:
            ahead = Binary("+", ahead, Binary("*", Int(DEPTH_LANES), PART))
        at = {one.sum.var: ahead}
        left = substitute(one.placed(one.left, ROW, COLUMN), at)
        left = Negate(left) if one.assign.op == "-=" else left
        own, other = self._pair()
        column = Binary("+", own, Binary("*", Binary("-", other, own), SIDE))
        right = substitute(one.placed(one.right, ROW, fold(column), PAIR), at)
        part = f"{buffer}{self._part}"
        with self._each_part(out):
            with _each(out, ROW, self.rows, 1):
                out.line(f"{LEFT}{part}[{ROW.name}] = {expr(placed(fold(left)))};")
            with _each(out, COLUMN, self.columns // FRAGMENT, 1):
                out.line(f"{RIGHT}{part}[{COLUMN.name}] = {expr(placed(fold(right)))};")

    @property
    def _part(self) -> str:
        """Return the subscript of the step that a lane has of one instruction, if of several."""
        return f"[{PART.name}]" if self._parts > 1 else ""

    def _each_part(self, out: Writer) -> AbstractContextManager[None]:
        """Return the block of a loop over the steps that a lane has of one instruction."""
        return _each(out, PART, self._parts, 1) if self._parts > 1 else nullcontext()

    def _multiply(self, out: Writer, expr: Callable[[Expr], str], buffer: str) -> None:
        """Write the instructions on the operands of a `buffer`."""
        with _each(out, COLUMN, self.columns // FRAGMENT, 1):
            for name, register in zip(BOTH, self._pair(), strict=True):
                out.line(f"const int {name.name} = {expr(register)};")
            with _each(out, ROW, self.rows, FRAGMENT):
                self._instruction(out, expr, buffer)

    def _pair(self) -> tuple[Expr, Expr]:
        """Return the two registers along columns of the instruction with a number."""
        apart = self.product.apart(self.columns)
        turn = Binary("*", Binary("/", COLUMN, Int(apart)), Int(apart))
        first = fold(Binary("+", COLUMN, turn))
        return first, fold(Binary("+", first, Int(apart)))

    @property
    def _parts(self) -> int:
        """Return how many steps a lane has of one instruction."""
        return self.steps // DEPTH_LANES

    def _instruction(self, out: Writer, expr: Callable[[Expr], str], buffer: str) -> None:
        """Write one instruction on the sums of two rows and two columns of the thread."""
        row, rows = ROW.name, (ROW, fold(Binary("+", ROW, Int(1))))
        target = self.product.assign.target
        sums = [expr(self.product.placed(target, *at)) for at in product(rows, BOTH)]
        out.line(f"double annotune_sums[4] = {{{', '.join(sums)}}};")
        parts = [buffer]
        if self._parts > 1:
            parts = [f"{buffer}[{part}]" for part in range(self._parts)]
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


def _count(loop: Loop, constants: Mapping[str, int]) -> int:
    count = fold(trip_count(loop), constants)
    assert isinstance(count, Int)
    return count.value
