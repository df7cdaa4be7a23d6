"""Loops on the axes of a grid as indices: one loop to an axis, or several that share one.

The work of a block whose threads share some of its loops, and what they combine.

The statements beside a shared loop belong to the block: what they write to memory one thread
writes, what they write to variables every thread computes for itself. Where one of them and the
threads of a loop touch the same array, the block's threads wait for each other in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from annotune.codegen.c_stmt import Dialect
from annotune.codegen.cuda.types import cuda_type
from annotune.codegen.grid import BLOCKS, CUDA_INDEX, THREADS, Grid, own_count, wide
from annotune.codegen.writer import Writer
from annotune.ir.expr import PRECEDENCE, SUM, Access, Binary, Expr, Int, Var, accesses, variables
from annotune.ir.fold import fold
from annotune.ir.nest import (
    Assign,
    Await,
    Combine,
    Fetch,
    Level,
    Local,
    LocalArray,
    Loop,
    Operator,
    Stmt,
    walk_stmts,
)
from annotune.transforms.tree import Body, bound_names

FLAT_INDEX = "annotune_b"


def placed_head(dialect: Dialect, loop: Loop) -> tuple[str, str]:
    """Return a placed loop's index as one constant, and as a loop in strides of the axis."""
    index, extent = CUDA_INDEX[loop.place]
    kind = dialect.iterator_type(loop)
    if kind not in ("int", "unsigned int"):
        # An index of 32 unsigned bits would make a 64-bit sum of a negative bound positive.
        index = f"({kind}){index}"
    start = _start(dialect, loop, index)
    jump = extent if loop.step == 1 else f"{loop.step} * {extent}"
    upper = dialect.bound(loop, loop.upper)
    head = f"for ({kind} {loop.var} = {start}; {loop.var} < {upper}; {loop.var} += {jump})"
    return f"const {kind} {loop.var} = {start};", head


def flat_heads(
    dialect: Dialect, loops: Sequence[Loop], shape: Grid, constants: Mapping[str, int]
) -> tuple[str, tuple[str, ...]]:
    """Return what the indices of loops that share an axis are: a head, empty for none, and lines.

    The first loop, the outermost, runs fastest, as x does among the axes. Where the axis is
    shorter than all iterations together, the head is a loop in strides of it.
    """
    level = loops[0].place
    index, extent = CUDA_INDEX[level]
    counts = [fold(own_count(loop), constants) for loop in loops]
    head = ""
    if not shape.is_covered(level, constants):
        total = dialect.expr(wide(fold(shape.trips[level], constants)), SUM)
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


OPERATIONS = {
    Operator.SUM: "annotune_sum",
    Operator.PRODUCT: "annotune_product",
    Operator.MIN: "annotune_least",
    Operator.MAX: "annotune_greatest",
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


@dataclass
class TeamWriter:
    """Writes the body of one kernel, placed loops and what is inside them.

    `changed` are the arrays that the kernel writes; nobody waits for who only reads another.
    `partials` are, once all is written, what the blocks leave to be combined.
    """

    dialect: Dialect
    shape: Grid
    constants: Mapping[str, int]
    changed: frozenset[str] = frozenset()
    types: dict[str, str] = field(default_factory=dict)
    partials: list[Partial] = field(default_factory=list)
    buffers: dict[str, str] = field(default_factory=dict)
    _around: set[Level] = field(default_factory=set)
    _reads: set[str] = field(default_factory=set)
    _writes: set[str] = field(default_factory=set)
    _alone_reads: set[str] = field(default_factory=set)
    _alone_writes: set[str] = field(default_factory=set)

    def write(self, out: Writer, body: Body, pending: frozenset[Combine] = frozenset()) -> None:
        """Write what a block does in `body`, in order.

        `pending` is what a loop around `body` combines after all: until then each thread keeps
        its own part of it.
        """
        alone: list[Stmt] = []
        for stmt in body:
            if self._is_alone(stmt, body):
                alone.append(stmt)
                continue
            self._write_alone(out, alone)
            alone = []
            match stmt:
                case Local() | LocalArray():
                    self.types[stmt.name] = stmt.type
                    self._meet(out, {stmt}, is_alone=False)
                    self.dialect.write(out, stmt)
                case Loop() if stmt.place is not Level.SERIAL:
                    self._shared(out, stmt, pending)
                case Loop():
                    self._wait(out)
                    with out.block(self.dialect.loop_head(stmt)):
                        self.write(out, stmt.body, pending)
                        self._wait(out)
                case Assign():
                    self._meet(out, {stmt}, is_alone=False)
                    self.dialect.write(out, stmt)
        self._write_alone(out, alone)

    def first_thread(self) -> str:
        """Return the test for the thread that writes for its block."""
        axes = [level for level, n in zip(THREADS, self.shape.threads, strict=True) if n > 1]
        used = axes or [Level.THREAD_X]
        return " && ".join(f"{CUDA_INDEX[level][0]} == 0" for level in used)

    # What one thread does -----------------------------------------------------------------

    def _is_alone(self, stmt: Stmt, body: Body) -> bool:
        """Return whether one thread runs `stmt` for its block: all that it leaves is in memory."""
        if isinstance(stmt, Assign):
            return isinstance(stmt.target, Access) and stmt.target.array not in self.types
        if not isinstance(stmt, Loop) or _holds_shared(stmt):
            return False
        inside = tuple(walk_stmts((stmt,)))
        declared = {s.name for s in inside if isinstance(s, Local | LocalArray)}
        left = {
            s.target.array if isinstance(s.target, Access) else s.target.name
            for s in inside
            if isinstance(s, Assign)
            and (not isinstance(s.target, Access) or s.target.array in self.types)
        }
        others = [s for other in body if other is not stmt for s in walk_stmts((other,))]
        return not (left - declared) & {n for s in others for n in _names(s)}

    def _write_alone(self, out: Writer, group: list[Stmt]) -> None:
        if not group:
            return
        self._meet(out, {s for stmt in group for s in walk_stmts((stmt,))}, is_alone=True)
        with out.block(f"if ({self.first_thread()})"):
            self.dialect.write_body(out, tuple(group))

    # Shared loops -------------------------------------------------------------------------

    def _shared(self, out: Writer, loop: Loop, pending: frozenset[Combine]) -> None:
        """Write a placed loop, and how what it combines comes together if it is not `pending`."""
        inside = pending | frozenset(loop.combines)
        idle = "" if loop.place in BLOCKS else self._idle_threads(loop)
        if loop.place not in BLOCKS:
            self._meet(out, set(walk_stmts((loop,))), is_alone=False)
        with out.block(f"if ({idle})") if idle else nullcontext(), self.loop(out, loop):
            if _is_band(loop):
                inner = loop.body[0]
                assert isinstance(inner, Loop)
                self._around.add(loop.place)
                self._shared(out, inner, inside)
                self._around.discard(loop.place)
            elif loop.place in BLOCKS:
                self.write(out, loop.body, inside)
            else:
                self.dialect.write_body(out, loop.body)
        for combined in loop.combines:
            if combined not in pending:
                self._combine(out, loop, combined)

    def _idle_threads(self, loop: Loop) -> str:
        """Return the test that leaves out the threads of axes that `loop` does not use."""
        used = {x.place for x in walk_stmts((loop,)) if isinstance(x, Loop)} | self._around
        axes = zip(THREADS, self.shape.threads, strict=True)
        unused = [level for level, n in axes if n > 1 and level not in used]
        return " && ".join(f"{CUDA_INDEX[level][0]} == 0" for level in unused)

    @contextmanager
    def loop(self, out: Writer, loop: Loop) -> Iterator[None]:
        """Write the head of a placed loop, what the body of the `with` writes, and its end.

        An axis that covers its loop exactly gives one index; otherwise the index runs on in
        strides of the axis, so that any launch covers every iteration.
        """
        start, head = placed_head(self.dialect, loop)
        if not self.shape.is_exact(loop.place, loop, self.constants):
            if self.dialect.recurs(loop):
                out.line(self.dialect.rolled)
            with out.block(head):
                yield
            return
        # A block has one index, but its threads may share several loops of one name.
        with nullcontext() if loop.place in BLOCKS else out.block(""):
            out.line(start)
            yield

    # Combining ----------------------------------------------------------------------------

    def _combine(self, out: Writer, loop: Loop, combined: Combine) -> None:
        """Write how the threads, then the blocks, combine a partial result after `loop`."""
        name, operator = combined.name, combined.op
        levels = [
            x.place for x in walk_stmts((loop,)) if isinstance(x, Loop) and combined in x.combines
        ]
        if any(level in THREADS for level in levels):
            self.tree(out, name, operator)
        if any(level in BLOCKS for level in levels):
            self.partials.append(Partial(name, self.types[name], operator))

    def tree(self, out: Writer, name: str, operator: Operator) -> None:
        """Write the call that gives every thread of the block the combined value of `name`."""
        kind = cuda_type(self.types[name])
        buffer = self.buffers.setdefault(kind, f"annotune_team{len(self.buffers)}")
        call = f"annotune_combined<{OPERATIONS[operator]}>({name}, {buffer})"
        out.line(f"{name} = {call};")
        self._forget()

    def declare_buffers(self) -> list[str]:
        """Return the shared arrays through which threads combine, one for each type."""
        count = self.shape.threads[0] * self.shape.threads[1] * self.shape.threads[2]
        return [f"__shared__ {kind} {name}[{count}];" for kind, name in self.buffers.items()]

    # Barriers -----------------------------------------------------------------------------

    def _meet(self, out: Writer, stmts: Iterable[Stmt], is_alone: bool) -> None:
        """Note what `stmts` touch, after a barrier where other threads have to do with it."""
        reads, writes = _touched(stmts, frozenset(self.types))
        others_read = set(self._reads) if is_alone else self._reads | self._alone_reads
        others_write = set(self._writes) if is_alone else self._writes | self._alone_writes
        if (reads | writes) & others_write or writes & others_read:
            self._barrier(out)
        if is_alone:
            self._alone_reads |= reads
            self._alone_writes |= writes
        else:
            self._reads |= reads
            self._writes |= writes

    def _wait(self, out: Writer) -> None:
        """Write a barrier where anything that changes has been touched since the last one."""
        touched = self._reads | self._writes | self._alone_reads | self._alone_writes
        if touched & self.changed:
            self._barrier(out)

    def _barrier(self, out: Writer) -> None:
        out.line("__syncthreads();")
        self._forget()

    def _forget(self) -> None:
        for known in (self._reads, self._writes, self._alone_reads, self._alone_writes):
            known.clear()


def _is_band(loop: Loop) -> bool:
    """Return whether `loop` holds nothing but another placed loop."""
    inner = loop.body[0]
    return len(loop.body) == 1 and isinstance(inner, Loop) and inner.place is not Level.SERIAL


def _holds_shared(stmt: Stmt) -> bool:
    return any(isinstance(s, Loop) and s.place is not Level.SERIAL for s in walk_stmts((stmt,)))


def _names(stmt: Stmt) -> set[str]:
    """Return the scalars and local arrays that one statement uses by itself."""
    match stmt:
        case Assign(target=target):
            parts: list[Expr] = [*stmt.sources(), target]
            found = {n for part in parts for n in variables(part)}
            return found | {a.array for part in parts for a in accesses(part)}
        case Local(value=value):
            return set() if value is None else set(variables(value))
        case Loop():
            return set(bound_names(stmt))
        case Fetch(place):
            return set(variables(place))
        case LocalArray() | Await():
            return set()


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
