"""One CUDA kernel as text: placed loops become indices, the rest stays C.

Of a kernel whose threads share some of its loops, also what a block does beside these, and how its
threads and the blocks combine what they have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import field, replace

from annotune.analysis.facts import Analysis
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.cuda.bulk import FENCE, BulkText
from annotune.codegen.cuda.copies import (
    SHARE,
    VECTOR_BYTES,
    aligned_arrays,
    dynamic_bytes,
    merged_loads,
    shared_arrays,
)
from annotune.codegen.cuda.cpp import cuda_type
from annotune.codegen.cuda.grid import (
    BLOCKS,
    CUDA_INDEX,
    THREADS,
    LaunchGrid,
    axes_of,
    grid,
    is_thread_nest,
    own_count,
    wide,
)
from annotune.codegen.cuda.thread import (
    MAX_WRITTEN_OUT,
    ROLLED,
    ThreadDialect,
    arrays_in_memory,
    declare_arrays,
)
from annotune.codegen.names import Interface, temporaries, written_arrays
from annotune.codegen.writer import INDENT, Writer, words, wrapped
from annotune.frozen import dataclass
from annotune.ir.expr import PRECEDENCE, SUM, Access, Binary, Expr, Int, Var, accesses, variables
from annotune.ir.fold import fold
from annotune.ir.nest import (
    Assign,
    Combine,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Operator,
    Stmt,
    walk_stmts,
)
from annotune.ir.region import Scalar
from annotune.schedule.plan import Kernel, band_of
from annotune.transforms.tree import Body, nest_loops, target_name, used_names

FLAT_INDEX = "annotune_b"
# The number of a block in a grid of any shape.
_BLOCK = "blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)"

OPERATIONS = {
    Operator.SUM: "annotune_sum",
    Operator.PRODUCT: "annotune_product",
    Operator.MIN: "annotune_least",
    Operator.MAX: "annotune_greatest",
    Operator.AND: "annotune_all_bits",
    Operator.OR: "annotune_any_bits",
    Operator.XOR: "annotune_odd_bits",
}


@dataclass(frozen=True, slots=True)
class Partial:
    """A partial result that each block leaves in memory for the last kernel."""

    name: str
    type: str
    operator: Operator

    @property
    def parameter(self) -> str:
        """Return the name of the array with one element per block."""
        return f"annotune_{self.name}"


@dataclass(frozen=True)
class KernelText:
    """A kernel's definition and how to launch it.

    `passed` are the names to pass, scalars first. `constants` are the sizes that the text fixes;
    they are no parameters of it. Each of `partials` is one more array, into which the blocks put
    what they have; `last`, launched with one block, combines that.
    """

    name: str
    definition: str
    passed: Interface
    grid: LaunchGrid
    kernel: Kernel
    constants: Mapping[str, int]
    partials: tuple[Partial, ...] = ()
    last: KernelText | None = None

    @property
    def shared_bytes(self) -> int:
        """Return the shared memory for which a launch asks beyond what a block has by itself."""
        return dynamic_bytes(self.kernel.body)

    @property
    def aligned(self) -> frozenset[str]:
        """Return the arrays that must start at a multiple of `VECTOR_BYTES`."""
        return aligned_arrays(self.kernel.body) | self.kernel.aligned

    def definitions(self) -> str:
        """Return the text of all kernels that this one needs."""
        return self.definition + (f"\n{self.last.definition}" if self.last is not None else "")


@dataclass(frozen=True)
class _Frame:
    """What all texts of one kernel have in common: what stands around their bodies."""

    analysis: Analysis
    outer: Interface
    kernel: Kernel
    grid: LaunchGrid
    constants: Mapping[str, int]

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
        known = [s for s in self.outer.scalars if s.name in used and s.name in self.constants]
        passed = self.outer.among(used - self.constants.keys(), written_arrays(self.kernel.body))
        names = {array.name for array in passed.arrays}
        merged = merged_loads(part, names, written_arrays(part) & names)
        # Sizes that arrive at run time cost registers for addresses, those apart of which there is
        # one for all, and so do arrays in local memory; asked for one resident block, ptxas gives
        # them, where its own guess at occupancy would rather spill.
        sizes = {scalar.name for scalar in passed.scalars} - self.kernel.any_sizes
        needs = sizes or arrays_in_memory(self.analysis.region, self.kernel.body)
        resident = self.kernel.resident or int(bool(needs))
        bounds = f"{self.grid.block_size}, {resident}" if resident else str(self.grid.block_size)
        head = f"__global__ void __launch_bounds__({bounds}) {name}"
        out = Writer()
        out.lines(legend)
        with out.block(wrapped(head, [*passed.parameters("__restrict__", merged), *more]), ""):
            for scalar in known:
                out.line(f"const {scalar.type} {scalar.name} = {self.constants[scalar.name]};")
            for array in sorted(self.kernel.aligned & names):
                out.line(f"__builtin_assume((size_t){array} % {VECTOR_BYTES} == 0);")
        definition = out.text().rstrip("\n") + "\n" + body + "}\n"
        found = definition, passed, self.grid, self.kernel, self.constants
        return KernelText(name, *found, tuple(partials), last)


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
    outer = replace(outer, scalars=(*outer.scalars, *host))
    frame = _Frame(analysis, outer, kernel, grid(kernel, analysis.region.sizes), constants)
    name, legend = f"{kernel.name}{suffix}", _legend(analysis, kernel)
    if needs_team(kernel):
        return _team_text(frame, name, legend)
    out = Writer(INDENT)
    dialect = ThreadDialect.of(analysis.region, kernel, frame.grid, constants)
    dialect.declare_shared(out, kernel.body)
    _write_axes(out, frame, dialect, kernel.body)
    return frame.text(name, legend, kernel.body, out.text())


def needs_team(kernel: Kernel) -> bool:
    """Return whether threads or blocks of the kernel have to do with each other."""
    band = kernel.band()
    return any(x.combines or not any(x is y for y in band) for x in kernel.placed())


def _legend(analysis: Analysis, kernel: Kernel) -> str:
    """Return the comment that says where the kernel comes from and how its loops are mapped."""
    place = analysis.region.span
    numbers = ", ".join(str(n) for n in kernel.statements)
    mapped = dict.fromkeys(f"{loop.var} on {loop.place}" for loop in kernel.placed())
    axes = ", ".join(mapped) or "one thread"
    axes += "".join(f"; for any {name}" for name in sorted(kernel.any_sizes))
    plural = "s" if len(kernel.statements) > 1 else ""
    return (
        f"/* {analysis.region.function}, statement{plural} {numbers} of the region at "
        f"line {place.line}:\n * {axes}. */"
    )


def _write_axes(out: Writer, frame: _Frame, dialect: ThreadDialect, body: Body) -> None:
    """Write a nest of placed loops axis by axis, and what a thread does inside them all."""
    band = band_of(body)
    if not band:
        for scalar in temporaries(frame.analysis, body):
            out.line(f"{scalar.type} {scalar.name};")
        dialect.write_body(out, body)
        return
    loops = axes_of(band)[0]
    head, lines = _index(dialect, loops, frame)
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
    if not head and loops[0].place in BLOCKS:
        dialect = dialect.on_block(
            CUDA_INDEX[loops[0].place][0],
            {x.var: line for x, line in zip(loops, lines, strict=True)},
        )
    if head and not rest and dialect.recurs(band[-1]):
        out.line(dialect.rolled)
    with out.block(head) if head else nullcontext():
        for line in lines:
            out.line(line)
        dialect.write_versions(
            out,
            due,
            nest_loops(rest, band[-1].body),
            lambda inner, version: _write_axes(out, frame, inner, version),
        )


def _index(dialect: Dialect, loops: Sequence[Loop], frame: _Frame) -> tuple[str, tuple[str, ...]]:
    """Return what the indices of an axis are: a head, empty for none, and lines.

    An axis that covers its loop exactly gives one index; otherwise the head runs on in strides of
    the axis, so that any launch covers every iteration.
    """
    if len(loops) > 1:
        return _shared_axis(dialect, loops, frame)
    (loop,) = loops
    _, extent = CUDA_INDEX[loop.place]
    kind, start = _own_index(dialect, loop)
    if frame.grid.is_exact(loop.place, loop, frame.constants):
        return "", (f"const {kind} {loop.var} = {start};",)
    jump = extent if loop.step == 1 else f"{loop.step} * {extent}"
    upper = dialect.bound(loop, loop.upper)
    head = f"for ({kind} {loop.var} = {start}; {loop.var} < {upper}; {loop.var} += {jump})"
    return head, ()


def _own_index(dialect: Dialect, loop: Loop) -> tuple[str, str]:
    """Return the type of an axis' index, and where its first iteration of a loop starts."""
    index, _ = CUDA_INDEX[loop.place]
    kind = dialect.iterator_type(loop)
    if kind not in ("int", "unsigned int"):
        # An index of 32 unsigned bits would make a 64-bit sum of a negative bound positive.
        index = f"({kind}){index}"
    return kind, _start(dialect, loop, index)


def _shared_axis(
    dialect: Dialect, loops: Sequence[Loop], frame: _Frame
) -> tuple[str, tuple[str, ...]]:
    """Return what the indices of loops that share an axis are, as `_index` does.

    The first loop, the outermost, runs fastest, as x does among the axes. Where the axis is
    shorter than all iterations together, the head is a loop in strides of it.
    """
    level, constants = loops[0].place, frame.constants
    index, extent = CUDA_INDEX[level]
    counts = [fold(own_count(loop), constants) for loop in loops]
    head = ""
    if not frame.grid.is_covered(level, constants):
        total = dialect.expr(wide(fold(frame.grid.trips[level], constants)), SUM)
        head = (
            f"for (long {FLAT_INDEX} = {index}; {FLAT_INDEX} < {total}; {FLAT_INDEX} += {extent})"
        )
        index = FLAT_INDEX
    lines = []
    faster: Expr = Int(1)
    for place, (loop, count) in enumerate(zip(loops, counts, strict=True)):
        own: Expr = Var(index) if faster == Int(1) else Binary("/", Var(index), wide(faster))
        if place < len(loops) - 1:
            own = Binary("%", own, count)
        faster = fold(Binary("*", faster, count))
        kind = dialect.iterator_type(loop)
        if count == Int(1):
            start = dialect.expr(fold(loop.lower))
        else:
            text = dialect.expr(own, PRECEDENCE["*"] + 1 if loop.step > 1 else 0)
            start = _start(dialect, loop, text if kind == "int" else f"({kind}){text}")
        lines.append(f"const {kind} {loop.var} = {start};")
    return head, tuple(lines)


def _start(dialect: Dialect, loop: Loop, index: str) -> str:
    """Return the value of a loop's iterator in the iteration with a number."""
    lower = fold(loop.lower)
    scaled = index if loop.step == 1 else f"{loop.step} * {index}"
    return scaled if lower == Int(0) else f"{dialect.bound(loop, lower)} + {scaled}"


def _team_text(frame: _Frame, name: str, legend: str) -> KernelText:
    """Return a kernel whose threads combine what they have, and one for what blocks leave."""
    body = frame.kernel.body
    combining = [k for k, stmt in enumerate(body) if _combines_blocks(stmt)]
    end = combining[-1] + 1 if combining else len(body)
    first = _TeamWriter(frame, body[:end])
    first.write(body[:end])
    partials = first.partials
    if partials:
        with first.out.block(f"if ({first.first_thread()})"):
            for partial in partials:
                first.out.line(f"{partial.parameter}[{_BLOCK}] = {partial.name};")
    more = [f"{cuda_type(p.type)} *__restrict__ {p.parameter}" for p in partials]
    last = _last_text(frame, name, body[:end], body[end:], partials) if partials else None
    return frame.text(name, legend, body[:end], first.text(), more, partials, last)


def _last_text(
    frame: _Frame, name: str, before: Body, after: Body, partials: Sequence[Partial]
) -> KernelText:
    """Return the kernel of one block that combines what all blocks leave, and goes on."""
    last = _TeamWriter(frame, after)
    last.write(tuple(s for s in before if isinstance(s, Local)))
    for partial in partials:
        x, y, z = frame.grid.threads
        index, extent = CUDA_INDEX[Level.THREAD_X]
        if y * z > 1:
            # Each of all threads of a block has other partial results.
            index, extent = last.thread_number(), str(x * y * z)
        # One block has few threads: the loads of several rounds have to be on their way at once.
        last.out.line("#pragma unroll 8")
        head = f"for (int annotune_k = {index}; annotune_k < annotune_blocks;"
        with last.out.block(f"{head} annotune_k += {extent})"):
            operation = OPERATIONS[partial.operator]
            value = f"{operation}::of({partial.name}, {partial.parameter}[annotune_k])"
            last.out.line(f"{partial.name} = {value};")
        last.combine_threads(partial.name, partial.operator)
    last.write(after)
    more = [f"const {cuda_type(p.type)} *__restrict__ {p.parameter}" for p in partials]
    legend = f"/* What the blocks of {name} leave, combined. */"
    text = last.text()
    return frame.text(f"{name}_last", legend, after, text, [*more, "int annotune_blocks"])


def _combines_blocks(stmt: Stmt) -> bool:
    return isinstance(stmt, Loop) and bool(stmt.combines) and stmt.place in BLOCKS


@dataclass(slots=True)
class _Touched:
    """The arrays that threads have read and written since the last barrier."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)


class _TeamWriter:
    """Writes the body of one kernel of a team: placed loops and what is inside them.

    The statements beside a shared loop belong to the block: what they write to memory one thread
    writes, what they write to variables every thread computes for itself. Where one of them and the
    threads of a loop touch the same array, the block's threads wait for each other in between.

    `partials` are, once all is written, what the blocks leave to be combined.
    """

    def __init__(self, frame: _Frame, body: Body) -> None:
        self.out = Writer(INDENT)
        self.partials: list[Partial] = []
        self._frame = frame
        self._body = body
        shared = frozenset(array.name for array in shared_arrays(frame.kernel.body))
        region = frame.analysis.region
        self._dialect = Dialect(region, has_extrema=True, rolled=ROLLED, shared=shared)
        # Nobody waits for who only reads another array.
        self._changed = written_arrays(body)
        self._own = [f"{s.type} {s.name};" for s in temporaries(frame.analysis, body)]
        self._types: dict[str, str] = {}
        self._buffers: dict[str, str] = {}
        self._around: set[Level] = set()
        # By all threads, and by the one that writes for its block.
        self._by_all, self._by_one = _Touched(), _Touched()
        self._bulk = BulkText(body, shared, self._is_once())

    def text(self) -> str:
        """Return the body, what it needs declared first."""
        count = self._frame.grid.block_size
        # Through these threads combine what they have, one for each type.
        buffers = [f"__shared__ {kind} {name}[{count}];" for kind, name in self._buffers.items()]
        shared = Writer(INDENT)
        declare_arrays(shared, self._body)
        first = [*buffers, *self._own, *self._bulk.first_lines()]
        return shared.text() + "".join(f"{INDENT}{line}\n" for line in first) + self.out.text()

    def write(self, body: Body, pending: frozenset[Combine] = frozenset()) -> None:
        """Write what a block does in `body`, in order.

        `pending` is what a loop around `body` combines after all: until then each thread keeps
        its own part of it.
        """
        alone: list[Stmt] = []
        for stmt in body:
            if self._is_alone(stmt, body):
                alone.append(stmt)
                continue
            self._write_alone(alone)
            alone = []
            match stmt:
                case LocalArray(space=MemorySpace.SHARED):
                    pass  # it is declared for the whole block
                case Local() | LocalArray():
                    self._types[stmt.name] = stmt.type
                    self._meet({stmt}, is_alone=False)
                    self._dialect.write(self.out, stmt)
                case Loop(place=Level.COOPERATIVE):
                    self._filled(stmt)
                case Loop(place=Level.BULK):
                    self._moved(stmt)
                case Loop() if stmt.place is not Level.SERIAL:
                    self._shared(stmt, pending)
                case Loop():
                    self._wait()
                    self._write_all(self._bulk.waits())
                    with self.out.block(self._dialect.loop_head(stmt)):
                        self.write(stmt.body, pending)
                        self._wait()
                case Assign():
                    self._meet({stmt}, is_alone=False)
                    self._dialect.write(self.out, stmt)
        self._write_alone(alone)

    def _filled(self, loop: Loop) -> None:
        """Write a loop whose iterations all threads of the block share, whatever their axes."""
        self._meet(set(walk_stmts((loop,))), is_alone=False)
        start, count = self.thread_number(), self._dialect.expr(loop.upper)
        threads = self._frame.grid.block_size
        length = loop.upper.value if isinstance(loop.upper, Int) else 0
        rounds = -(-length // threads)
        if not 1 < rounds <= MAX_WRITTEN_OUT:
            head = f"for (int {loop.var} = {start}; {loop.var} < {count}; {loop.var} += {threads})"
            with self.out.block(head):
                self._dialect.write_body(self.out, loop.body)
            return
        # Written out: the loads of a thread are all on their way before the first has to wait.
        self.out.line("#pragma unroll")
        with self.out.block(f"for (int {SHARE} = 0; {SHARE} < {rounds}; {SHARE}++)"):
            self.out.line(f"const int {loop.var} = {start} + {threads} * {SHARE};")
            is_whole = rounds * threads == length
            with nullcontext() if is_whole else self.out.block(f"if ({loop.var} < {count})"):
                self._dialect.write_body(self.out, loop.body)

    def _moved(self, loop: Loop) -> None:
        """Write a copy that the device makes; who touches what it fills waits for it then."""
        reads, writes = _touched(loop.body, frozenset(self._types))
        if self._bulk.copy(loop).is_load:
            self._keep_apart(reads, writes, (self._by_all, self._by_one))
        else:
            self._write_all(self._bulk.waits(reads))
            self._fence()
            self._by_one.writes |= writes
        self._by_one.reads |= reads
        self.out.line(self._bulk.moved(loop, self._dialect.expr))

    def thread_number(self) -> str:
        """Return the number of a thread in its block, x fastest."""
        x, y, z = self._frame.grid.threads
        terms = ["threadIdx.x", f"{x} * threadIdx.y" if y > 1 else ""]
        terms.append(f"{x * y} * threadIdx.z" if z > 1 else "")
        return " + ".join(filter(None, terms))

    def first_thread(self) -> str:
        """Return the test for the thread that writes for its block."""
        axes = [level for level, n in self._extents() if n > 1]
        return _at_start(axes or [Level.THREAD_X])

    def _extents(self) -> Iterator[tuple[Level, int]]:
        return zip(THREADS, self._frame.grid.threads, strict=True)

    # What one thread does -----------------------------------------------------------------

    def _is_alone(self, stmt: Stmt, body: Body) -> bool:
        """Return whether one thread runs `stmt` for its block: all that it leaves is in memory."""
        if isinstance(stmt, Assign):
            return isinstance(stmt.target, Access) and stmt.target.array not in self._types
        if not isinstance(stmt, Loop) or _holds_shared(stmt):
            return False
        inside = tuple(walk_stmts((stmt,)))
        declared = {s.name for s in inside if isinstance(s, Local | LocalArray)}
        left = {
            target_name(s)
            for s in inside
            if isinstance(s, Assign)
            and (not isinstance(s.target, Access) or s.target.array in self._types)
        }
        others = [s for other in body if other is not stmt for s in walk_stmts((other,))]
        return not (left - declared).intersection(n for s in others for n in used_names(s))

    def _write_alone(self, group: list[Stmt]) -> None:
        if not group:
            return
        self._meet({s for stmt in group for s in walk_stmts((stmt,))}, is_alone=True)
        with self.out.block(f"if ({self.first_thread()})"):
            self._dialect.write_body(self.out, tuple(group))

    # Shared loops -------------------------------------------------------------------------

    def _shared(self, loop: Loop, pending: frozenset[Combine]) -> None:
        """Write a placed loop, and how what it combines comes together if it is not `pending`."""
        if not self._around and is_thread_nest(loop):
            if loop.place not in BLOCKS:
                self._meet(set(walk_stmts((loop,))), is_alone=False)
            self._write_threads(loop)
            return
        inside = pending | frozenset(loop.combines)
        tests = [] if loop.place in BLOCKS else [self._idle_threads(loop)]
        if loop.place not in BLOCKS:
            # What a row does, it has been asked for with the rows.
            if not self._around.intersection(THREADS):
                self._meet(set(walk_stmts((loop,))), is_alone=False)
            # What the whole nest asks is asked once, where no thread waits for others in it.
            asked, loop = (None, loop) if loop.combines else self._dialect.tested(loop)
            tests += [] if asked is None else [self._dialect.expr(asked, PRECEDENCE["&&"] + 1)]
        test = " && ".join(filter(None, tests))
        with self.out.block(f"if ({test})") if test else nullcontext(), self._loop(loop):
            if _is_band(loop):
                inner = loop.body[0]
                assert isinstance(inner, Loop)
                self._around.add(loop.place)
                self._shared(inner, inside)
                self._around.discard(loop.place)
            elif loop.place in BLOCKS:
                self.write(loop.body, inside)
                self._end_round(loop)
            else:
                self._dialect.write_body(self.out, loop.body)
        for combined in loop.combines:
            if combined not in pending:
                self._combine(loop, combined)

    def _write_threads(self, loop: Loop) -> None:
        """Write a nest of which each thread does its part, which is combined after it."""
        frame = self._frame
        region, kernel = frame.analysis.region, frame.kernel
        dialect = ThreadDialect.of(region, kernel, frame.grid, frame.constants)
        dialect.number_thread(self.out, self._body)
        _write_axes(self.out, frame, dialect, (loop,))
        for combined in loop.combines:
            self._combine(loop, combined)

    def _write_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.out.line(line)

    def _end_round(self, loop: Loop) -> None:
        """Write what stands at the end of an iteration of a loop on blocks."""
        self._write_all(self._bulk.waits())
        if shared_arrays(self._body) and not self._is_once():
            if self._bulk.is_rewritten:
                self._fence()
            # The block's arrays of this round may still be in use in the next one.
            self._wait()
        self._write_all(self._bulk.finishes())
        self._write_all(self._bulk.last_lines(loop))

    def _is_once(self) -> bool:
        """Return whether a block runs one iteration of all loops on blocks."""
        loops = (x for x in walk_stmts(self._body) if isinstance(x, Loop) and x.place in BLOCKS)
        constants = self._frame.constants
        return all(self._frame.grid.is_exact(x.place, x, constants) for x in loops)

    def _idle_threads(self, loop: Loop) -> str:
        """Return the test that leaves out the threads of axes that `loop` does not use."""
        used = {x.place for x in walk_stmts((loop,)) if isinstance(x, Loop)} | self._around
        return _at_start(level for level, n in self._extents() if n > 1 and level not in used)

    @contextmanager
    def _loop(self, loop: Loop) -> Iterator[None]:
        """Write the head of a placed loop, what the body of the `with` writes, and its end."""
        head, lines = _index(self._dialect, (loop,), self._frame)
        count = self._frame.grid.spared(loop, self._frame.constants)
        if count:
            # Of a loop that no thread comes back to, nothing is hoisted into registers before it.
            kind, start = _own_index(self._dialect, loop)
            head = f"if ({CUDA_INDEX[loop.place][0]} < {count})"
            lines = (f"const {kind} {loop.var} = {start};",)
        elif head and self._dialect.recurs(loop):
            self.out.line(self._dialect.rolled)
        # A block has one index, but its threads may share several loops of one name.
        has_block = bool(head) or loop.place not in BLOCKS
        with self.out.block(head) if has_block else nullcontext():
            for line in lines:
                self.out.line(line)
            yield

    # Combining ----------------------------------------------------------------------------

    def _combine(self, loop: Loop, combined: Combine) -> None:
        """Write how the threads, then the blocks, combine a partial result after `loop`."""
        name, operator = combined.name, combined.op
        levels = {
            x.place for x in walk_stmts((loop,)) if isinstance(x, Loop) and combined in x.combines
        }
        if levels.intersection(THREADS):
            self.combine_threads(name, operator)
        if levels.intersection(BLOCKS):
            self.partials.append(Partial(name, self._types[name], operator))

    def combine_threads(self, name: str, operator: Operator) -> None:
        """Write the call that gives every thread of the block the combined value of `name`."""
        kind = cuda_type(self._types[name])
        buffer = self._buffers.setdefault(kind, f"annotune_team{len(self._buffers)}")
        call = f"annotune_combined<{OPERATIONS[operator]}>({name}, {buffer})"
        self.out.line(f"{name} = {call};")
        self._by_all, self._by_one = _Touched(), _Touched()

    # Barriers -----------------------------------------------------------------------------

    def _meet(self, stmts: Iterable[Stmt], is_alone: bool) -> None:
        """Note what `stmts` touch, after a barrier where other threads have to do with it."""
        reads, writes = _touched(stmts, frozenset(self._types))
        self._write_all(self._bulk.waits(reads | writes))
        self._keep_apart(
            reads, writes, (self._by_all,) if is_alone else (self._by_all, self._by_one)
        )
        self._bulk.is_fenced = False
        own = self._by_one if is_alone else self._by_all
        own.reads |= reads
        own.writes |= writes

    def _wait(self) -> None:
        """Write a barrier where anything that changes has been touched since the last one."""
        touched = (one.reads | one.writes for one in (self._by_all, self._by_one))
        if any(self._changed & names for names in touched):
            self._barrier()

    def _keep_apart(self, reads: set[str], writes: set[str], others: Iterable[_Touched]) -> None:
        """Write a barrier where `others` have to do with what is touched next."""
        if any((reads | writes) & one.writes or writes & one.reads for one in others):
            self._barrier()

    def _fence(self) -> None:
        """Let the device see what the threads have written to the block's memory."""
        if not self._bulk.is_fenced:
            self.out.line(f"{FENCE}();")
            self._barrier()
        self._bulk.is_fenced = True

    def _barrier(self) -> None:
        self._write_all(self._bulk.finishes())
        self.out.line("__syncthreads();")
        self._by_all, self._by_one = _Touched(), _Touched()


def _at_start(axes: Iterable[Level]) -> str:
    """Return the test for the threads that are the first ones along some axes."""
    return " && ".join(f"{CUDA_INDEX[level][0]} == 0" for level in axes)


def _is_band(loop: Loop) -> bool:
    """Return whether `loop` holds nothing but another placed loop."""
    inner = loop.body[0]
    return len(loop.body) == 1 and isinstance(inner, Loop) and inner.place is not Level.SERIAL


def _holds_shared(stmt: Stmt) -> bool:
    return any(isinstance(s, Loop) and s.place is not Level.SERIAL for s in walk_stmts((stmt,)))


def _touched(stmts: Iterable[Stmt], own: frozenset[str]) -> tuple[set[str], set[str]]:
    """Return the arrays that statements read and write by themselves, but for those in `own`."""
    reads: set[str] = set()
    writes: set[str] = set()
    for stmt in stmts:
        if isinstance(stmt, Assign):
            reads |= {r.array for r in stmt.reads() if isinstance(r, Access)}
            if isinstance(stmt.target, Access):
                writes.add(stmt.target.array)
        elif isinstance(stmt, Local) and stmt.value is not None:
            reads |= {a.array for a in accesses(stmt.value)}
    return reads - own, writes - own
