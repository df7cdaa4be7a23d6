"""One thread's work as CUDA, with the copies in shared memory that it helps to fill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from math import prod

from annotune.codegen.c_stmt import Dialect
from annotune.codegen.grid import Grid
from annotune.codegen.names import spelled
from annotune.codegen.writer import Writer
from annotune.decide.plan import Kernel
from annotune.ir.expr import Access, Binary, Expr, Int, Var, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Assign, Level, LocalArray, Loop, MemorySpace, Stmt, walk_stmts
from annotune.ir.region import Region
from annotune.transforms.tree import Body

THREAD_INDEX = "annotune_thread"
_SHARE = "annotune_k"
_ELEMENT = "annotune_e"
# A thread copies so many elements at most in a loop that is written out: their loads are then
# all on their way before the first one has to wait.
MAX_WRITTEN_OUT = 32


@dataclass(frozen=True)
class ThreadDialect(Dialect):
    """C for one thread of `shape`, which holds the arrays `registers`.

    `constants` are the sizes that the text fixes; `repeats` says that a loop runs its statements
    again.

    Nests of `COOPERATIVE` loops stand between barriers. Loops that pick elements of registers are
    written out by the compiler: an index known only at run time would put them into memory.
    """

    shape: Grid | None = None
    constants: Mapping[str, int] = field(default_factory=dict)
    registers: frozenset[str] = frozenset()
    repeats: bool = False

    @classmethod
    def of(
        cls, region: Region, kernel: Kernel, shape: Grid, constants: Mapping[str, int]
    ) -> ThreadDialect:
        """Return the dialect for the threads of a kernel."""
        registers = _private_names(kernel.body) - _private_names(region.nest.body)
        return cls(region, has_extrema=True, shape=shape, constants=constants, registers=registers)

    def declare_shared(self, out: Writer, body: Body) -> None:
        """Write the declarations of what the block shares, and the number of a thread in it."""
        shared = [s for s in walk_stmts(body) if _is_shared(s)]
        for stmt in shared:
            assert isinstance(stmt, LocalArray)
            extents = "".join(f"[{n}]" for n in stmt.extents)
            out.line(f"__shared__ {spelled(stmt.type)} {stmt.name}{extents};")
        if shared:
            out.line(f"const int {THREAD_INDEX} = {self._thread()};")

    def write_body(self, out: Writer, body: tuple[Stmt, ...]) -> None:
        """Write statements in order, neighbouring copies between one pair of barriers."""
        own = tuple(s for s in body if not _is_shared(s))
        for is_copy, group in _runs(own):
            if not is_copy:
                super().write_body(out, group)
                continue
            if self.repeats:
                # The copies of the last round may still be in use.
                out.line("__syncthreads();")
            for stmt in group:
                assert isinstance(stmt, Loop)
                self._together(out, stmt)
            out.line("__syncthreads();")

    def write(self, out: Writer, stmt: Stmt) -> None:
        """Write one statement."""
        if not isinstance(stmt, Loop):
            super().write(out, stmt)
            return
        if self._picks_registers(stmt):
            out.line("#pragma unroll")
        with out.block(self.loop_head(stmt)):
            is_once = fold(trip_count(stmt), self.constants) == Int(1)
            replace(self, repeats=self.repeats or not is_once).write_body(out, stmt.body)

    def _picks_registers(self, loop: Loop) -> bool:
        """Return whether a loop of a known length is in the subscript of a block of registers."""
        if not isinstance(fold(trip_count(loop)), Int):
            return False
        assigns = (s for s in walk_stmts(loop.body) if isinstance(s, Assign))
        places = (place for s in assigns for place in (s.target, *s.reads()))
        return any(
            isinstance(place, Access)
            and place.array in self.registers
            and any(loop.var in variables(index) for index in place.indices)
            for place in places
        )

    def _thread(self) -> str:
        """Return the number of a thread in its block, x fastest."""
        assert self.shape is not None
        x, y, z = self.shape.threads
        terms = ["threadIdx.x"] + ([f"{x} * threadIdx.y"] if y > 1 else [])
        return " + ".join(terms + ([f"{x * y} * threadIdx.z"] if z > 1 else []))

    def _together(self, out: Writer, outermost: Loop) -> None:
        """Write a nest of which each thread runs every so-manieth iteration."""
        assert self.shape is not None
        loops, body = _flat(outermost)
        counts = {}
        for loop in loops:
            count = fold(trip_count(loop))
            assert isinstance(count, Int)
            assert loop.lower == Int(0)
            assert loop.step == 1
            counts[loop.var] = count.value
        total, threads = prod(counts.values()), prod(self.shape.threads)
        rounds = -(-total // threads)
        if rounds <= MAX_WRITTEN_OUT:
            out.line("#pragma unroll")
        with out.block(f"for (int {_SHARE} = 0; {_SHARE} < {rounds}; {_SHARE}++)"):
            out.line(f"const int {_ELEMENT} = {THREAD_INDEX} + {threads} * {_SHARE};")
            some_idle = total % threads
            with out.block(f"if ({_ELEMENT} < {total})") if some_idle else nullcontext():
                for var, value in _digits(counts):
                    out.line(f"const int {var} = {self.expr(value)};")
                super().write_body(out, body)


def _digits(counts: Mapping[str, int]) -> Iterator[tuple[str, Expr]]:
    """Yield what the number of an iteration makes of each loop, the innermost fastest."""
    faster, total = 1, prod(counts.values())
    for var, count in reversed(tuple(counts.items())):
        own: Expr = Var(_ELEMENT)
        if faster > 1:
            own = Binary("/", own, Int(faster))
        faster *= count
        if faster < total:
            own = Binary("%", own, Int(count))
        yield var, Int(0) if count == 1 else own


def _flat(loop: Loop) -> tuple[tuple[Loop, ...], Body]:
    """Return a perfect nest of loops and what it holds."""
    out = [loop]
    while len(out[-1].body) == 1 and isinstance(out[-1].body[0], Loop):
        out.append(out[-1].body[0])
    return tuple(out), out[-1].body


def _is_shared(stmt: Stmt) -> bool:
    return isinstance(stmt, LocalArray) and stmt.space is MemorySpace.SHARED


def _runs(body: Body) -> Iterator[tuple[bool, Body]]:
    """Yield `body` in runs of copies and of other statements."""
    run: list[Stmt] = []
    for stmt in body:
        is_copy = isinstance(stmt, Loop) and stmt.place is Level.COOPERATIVE
        if run and is_copy != (isinstance(run[-1], Loop) and run[-1].place is Level.COOPERATIVE):
            yield not is_copy, tuple(run)
            run = []
        run.append(stmt)
    if run:
        last = run[-1]
        yield isinstance(last, Loop) and last.place is Level.COOPERATIVE, tuple(run)


def _private_names(body: Body) -> frozenset[str]:
    return frozenset(
        s.name
        for s in walk_stmts(body)
        if isinstance(s, LocalArray) and s.space is MemorySpace.PRIVATE
    )
