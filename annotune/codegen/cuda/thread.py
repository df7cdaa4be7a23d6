"""One thread's work as CUDA, with the copies in shared memory that it helps to fill.

Loops that pick registers are counted from 0, their counters the subscripts. Registers have no
addresses: an array stays in them only where each of its subscripts is a number once the loops
around it are written out. In ``for (i = i_t + i_w; …; i += 8)`` the subscript
``(i - i_t - i_w) / 8`` is one for a compiler that finds that the start cancels and the division is
exact; nvcc does not find it for two such loops in each other, and puts the array into local
memory. So the loop counts, and its iterator is computed from the counter where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace
from enum import Enum
from functools import partial
from itertools import groupby
from math import prod

from annotune.analysis.domains import Premises
from annotune.codegen.c_stmt import RIGHT_OF_SUM, Dialect
from annotune.codegen.cuda.copies import (
    ANEW,
    ANEW_LONG,
    BLOCK_INDEX,
    DYNAMIC,
    SHARE,
    THREAD_INDEX,
    VECTOR_BYTES,
    CopyNest,
    Lanes,
    Share,
    aligned_arrays,
    dynamic_arrays,
    paired_arrays,
    shared_arrays,
    shared_bytes,
    shares,
    vector,
)
from annotune.codegen.cuda.fragments import (
    COPY_OR_ZERO,
    WHOLE,
    FragmentText,
    NextIteration,
    ProductRound,
)
from annotune.codegen.cuda.grid import THREADS, LaunchGrid
from annotune.codegen.names import spelled, used_scalars
from annotune.codegen.writer import Writer
from annotune.frozen import dataclass
from annotune.ir.expr import (
    PRECEDENCE,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Var,
    names_read,
    rewrite,
    substitute,
    variables,
)
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import (
    Assign,
    Await,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Nest,
    Stmt,
    map_assigns,
    walk_paths,
    walk_stmts,
)
from annotune.ir.region import Region, flattened
from annotune.schedule.plan import Kernel
from annotune.transforms.registers import DEPTH_LANES, fragments, simplified
from annotune.transforms.stage import is_integer_type
from annotune.transforms.tile_ends import whole_tiles
from annotune.transforms.tree import Body, cut_ends, fresh_name, full_end, used_names

COUNTER_SUFFIX = "_r"
THERE = "annotune_is_there"
# Elements of an array of which the compiler is asked to make registers. A thread has 255 of 32 bits
# (CUDA C++ Programming Guide, Technical Specifications); what exceeds them a little spills in part
# where it would be in local memory as a whole, and much more only takes time to compile.
MOST_ELEMENTS = 1024
# Elements that rounds of loops over registers may share, written out, beside what these hold.
MOST_READ = 64


@dataclass(frozen=True, slots=True)
class RegisterLoop:
    """A loop as ``for (counter = 0; counter < rounds; counter++)`` around `body`.

    The iterator `var` is `value` in each round. Where it is not below all of `ends`, the loop is
    over; it has none of them where each round runs. Subscripts in `body` of arrays that a schedule
    made have the counter in them; other uses of `var` stand as they were.
    """

    var: str
    counter: str
    rounds: int
    value: Expr
    ends: tuple[Expr, ...]
    body: Body

    @property
    def needs_iterator(self) -> bool:
        """Return whether something but those subscripts uses the iterator."""
        return self.counter != self.var and self.var in used_scalars(self.body)


@dataclass(frozen=True, slots=True)
class RegisterLoops:
    """Finds the loops that pick elements of the arrays `registers`.

    `made` are all local arrays of a schedule, in shared memory too, `constants` the sizes that the
    text fixes, and `taken` the names that a counter must not have.
    """

    registers: Collection[str]
    made: Collection[str]
    constants: Mapping[str, int]
    taken: frozenset[str]

    def counted(self, loop: Loop) -> RegisterLoop | None:
        """Return a loop as one that counts, None where it picks no register.

        So it is too where no number bounds its rounds, for then it cannot be written out.
        """
        ends = (full_end(loop), *cut_ends(loop))
        lengths = [fold(Binary("-", end, loop.lower), self.constants) for end in ends]
        known = [length.value for length in lengths if isinstance(length, Int)]
        if not known or min(known) < 1 or not self._picks(loop):
            return None
        rounds = -(-min(known) // loop.step)
        open_ends = tuple(
            end for end, length in zip(ends, lengths, strict=True) if not isinstance(length, Int)
        )
        if loop.lower == Int(0) and loop.step == 1:
            return RegisterLoop(loop.var, loop.var, rounds, Var(loop.var), open_ends, loop.body)
        counter = fresh_name(loop.var + COUNTER_SUFFIX, (loop,), self.taken)
        ahead = Binary("*", Int(loop.step), Var(counter))
        value = fold(Binary("+", loop.lower, ahead))

        def change(expr: Expr) -> Expr | None:
            if not isinstance(expr, Access) or expr.array not in self.made:
                return None
            places = (substitute(rewrite(i, change), {loop.var: value}) for i in expr.indices)
            return Access(expr.array, tuple(map(simplified, places)), expr.span)

        body = map_assigns(loop.body, lambda stmt: stmt.rewritten(change))
        return RegisterLoop(loop.var, counter, rounds, value, open_ends, body)

    def _picks(self, loop: Loop) -> bool:
        """Return whether the subscript of a register changes with the iterations of a loop.

        In ``for i_t: for i in i_t:i_t + 4: r[i - i_t]`` it does not with those of `i_t`.
        """
        return any(
            loop.var in variables(_within(index, inner))
            for assign, inner in walk_paths(loop.body)
            for place in (assign.target, *assign.reads())
            if isinstance(place, Access) and place.array in self.registers
            for index in place.indices
        )


NO_REGISTERS = RegisterLoops((), (), {}, frozenset())


def may_be_registers(array: LocalArray) -> bool:
    """Return whether a local array is one thread's and so small that registers may hold it."""
    return array.space is MemorySpace.PRIVATE and prod(array.extents) <= MOST_ELEMENTS


def _within(index: Expr, loops: Sequence[Loop]) -> Expr:
    """Return an index with the iterators of `loops`, outermost first, counted from their starts."""
    for loop in reversed(loops):
        ahead = Binary("*", Int(loop.step), Var(f"{loop.var} ahead"))
        index = substitute(index, {loop.var: Binary("+", loop.lower, ahead)})
    return simplified(index)


# A thread copies so many elements at most in a loop that is written out: their loads are then
# all on their way before the first one has to wait.
MAX_WRITTEN_OUT = 32

# What a thread's own arrays may take of its 255 registers; its sums and addresses need the others.
MOST_OWN_REGISTERS = 128
REGISTER_BYTES = 4

# nvcc before 13.2 at times takes another element where it works out addresses from others of the
# same array, in iterations that it has written out.
ROLLED = "#pragma unroll 1"


class _RunKind(Enum):
    """What neighbouring statements are: work, copies into shared memory, loads, async copies."""

    WORK = "work"
    COPY = "copy"
    LOAD = "load"
    ASYNC = "async"


@dataclass(frozen=True)
class ThreadDialect(Dialect):
    """C for one thread of `shape`, which holds its part of the arrays `dealt`.

    `locals` are the types of all local arrays, `constants` the sizes that the text fixes; `repeats`
    says that a loop runs its statements again, and `in_use` are the names that what stands before
    has touched, `before` those at the loops of one body; `threads` are the loops on threads, and
    `late` the copies that begin inside products; the first operands of the `following` iteration
    are loaded in a product, which waits for them then, and what `is_between` its instructions does
    without branches. `is_anew` says that the places of copies are worked out for each loop by
    itself, and `placed` the lines that place a block, by the axis and the iterator; `known` is what
    holds where they stand, as far as whole tiles are apart in the kernel.

    Nests of `COOPERATIVE` loops that fill shared memory stand between barriers. The loops that are
    `picking` elements of registers count from 0 and are written out by the compiler: an index known
    only at run time would put them into memory.
    """

    shape: LaunchGrid | None = None
    constants: Mapping[str, int] = field(default_factory=dict)
    picking: RegisterLoops = NO_REGISTERS
    dealt: Mapping[str, Share] = field(default_factory=dict)
    locals: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = False
    known: Premises = field(default_factory=Premises)
    in_memory: frozenset[str] = frozenset()
    in_use: frozenset[str] = frozenset()
    before: Mapping[int, frozenset[str]] = field(default_factory=dict)
    threads: tuple[Loop, ...] = ()
    late: Mapping[int, Body] = field(default_factory=dict)
    following: NextIteration | None = None
    is_between: bool = False
    is_anew: bool = False
    placed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, region: Region, kernel: Kernel, shape: LaunchGrid, constants: Mapping[str, int]
    ) -> ThreadDialect:
        """Return the dialect for the threads of a kernel."""
        arrays = _local_arrays(kernel.body)
        made = {a.name: a for a in arrays if not _is_users(a, region)}
        held = {name for name, array in made.items() if may_be_registers(array)}
        taken = region.taken.union(made)
        return cls(
            region,
            has_extrema=True,
            rolled=ROLLED,
            shared=frozenset(a.name for a in arrays if a.space is MemorySpace.SHARED),
            shape=shape,
            constants=constants,
            picking=RegisterLoops(held, made.keys(), constants, taken),
            dealt=shares(kernel.body, prod(shape.threads)),
            locals={array.name: array.type for array in arrays},
            known=Premises.of(region.types, constants),
            in_memory=arrays_in_memory(region, kernel.body),
            threads=tuple(x for x in kernel.placed() if x.place in THREADS),
            is_anew=sum(isinstance(s, Await) for s in walk_stmts(kernel.body)) > 1,
        )

    def inside(self, loop: Loop, repeats: bool) -> ThreadDialect:
        """Return the dialect for what a loop runs, again or `repeats` says not."""
        known = self.known.inside(loop) if is_peeled((loop,)) else self.known
        return replace(self, repeats=repeats, known=known)

    def on_block(self, index: str, lines: Mapping[str, str]) -> ThreadDialect:
        """Return the dialect inside loops whose iterators the index of a block gives, by lines."""
        return replace(self, placed={**self.placed, index: lines})

    def write_versions(
        self,
        out: Writer,
        tests: Sequence[Expr],
        body: Body,
        write: Callable[[ThreadDialect, Body], None],
    ) -> None:
        """Write `body` by `write`, once more for whole tiles where there are `tests` for them.

        The version for the other tiles asks nothing twice: loops inside it have one version.
        """
        if not tests:
            write(self, body)
            return
        texts = (self.expr(test, PRECEDENCE["&&"] + 1) for test in tests)
        here = self.known.where(tests)
        with out.block(f"if ({' && '.join(texts)})"):
            write(replace(self, known=here), whole_tiles(body, here))
        with out.block("else"):
            write(self, unpeeled(body))

    def declare_shared(self, out: Writer, body: Body) -> None:
        """Write the declarations of what the block shares, and the number of a thread in it."""
        declare_arrays(out, body)
        self.number_thread(out, body)

    def number_thread(self, out: Writer, body: Body) -> None:
        """Write the number of a thread in its block, where that shares arrays."""
        if shared_arrays(body):
            # Copies that number their threads anew may be all that there are.
            attribute = "[[maybe_unused]] " if self.is_anew else ""
            out.line(f"{attribute}const int {THREAD_INDEX} = {self._thread()};")

    def write_body(self, out: Writer, body: tuple[Stmt, ...]) -> None:
        """Write statements in order, neighbouring copies between one pair of barriers."""
        own = tuple(s for s in body if not _is_shared(s))
        before: Body = ()
        runs = list(self._runs(own))
        late: dict[int, Body] = {}
        for place, (kind, group) in enumerate(runs):
            match kind:
                case _RunKind.WORK:
                    here = replace(self, before=dict(self._before(before, group)), late=late)
                    super(ThreadDialect, here).write_body(out, group)
                case _RunKind.LOAD:
                    self._all_together(out, group)
                case _RunKind.COPY:
                    # The copies of the last round, or of this one, may still be in use.
                    if self.repeats or self._touches(before, group):
                        out.line("__syncthreads();")
                    self._all_together(out, group)
                    out.line("__syncthreads();")
                case _RunKind.ASYNC:
                    # All threads have waited for each other where they have waited for copies.
                    is_open = self.repeats or self._touches(before, group)
                    has_met = bool(before) and isinstance(before[-1], Await)
                    if is_open and not has_met:
                        out.line("__syncthreads();")
                    after = runs[place + 1][1] if place + 1 < len(runs) else ()
                    if has_met and self._may_be_late(group, after):
                        late[id(after[0])] = group
                    else:
                        self._begin_all(out, group)
            before = (*before, *group)

    def _begin_all(self, out: Writer, group: Body, within: ProductRound | None = None) -> None:
        """Write a group of asynchronous copies, or the share in it of one round of a product."""
        if within is None and self.is_anew:
            with out.block(""):
                self._place_anew(out)
                self._all_together(out, group)
        else:
            here = self if within is None else replace(self, is_between=True)
            here._all_together(out, group, within)
        with self._where(out, None if within is None else within.is_last):
            out.line("__pipeline_commit();")

    def _place_anew(self, out: Writer, stmts: Body = ()) -> None:
        """Write the number of a thread, and the iterators of its block that statements use.

        Worked out once for all copies they would be kept from each to the next, beside the outputs
        of all statements: the eighteen doubles of 24 for each extent spill 60 bytes then, and a
        kernel of twelve of them takes 3495 us of an H200 in place of 3271.
        """
        out.line(f"const int {THREAD_INDEX} = {ANEW}({self._thread()});")
        used = {name for stmt in walk_stmts(stmts) for name in used_names(stmt)}
        for index, lines in self.placed.items():
            mine = [line for name, line in lines.items() if name in used]
            name = index.replace("blockIdx.", BLOCK_INDEX)
            if mine:
                out.line(f"const int {name} = {ANEW}({index});")
            for line in mine:
                out.line(line.replace(index, name))

    def _may_be_late(self, group: Body, after: Body) -> bool:
        """Return whether copies that run ahead may begin inside the product that follows them.

        What they fill has no value until it is waited for, so the product does not read it. Without
        a condition they are begun while the tensor cores multiply.
        """
        if not after or not isinstance(after[0], Loop) or not after[0].by_warps:
            return False
        every = [CopyNest.of(stmt) for stmt in group if isinstance(stmt, Loop)]
        one = fragments(self.threads, after[0])
        assert not isinstance(one, str)
        is_whole = FragmentText.of(one, self.constants).is_whole
        return is_whole and all(copies.condition() is None for copies in every)

    def _touches(self, before: Body, group: Body) -> bool:
        """Return whether copies fill what has been touched before them."""
        return bool((self.in_use | _touched(before)) & _filled(group))

    def _before(self, before: Body, group: Body) -> Iterator[tuple[int, frozenset[str]]]:
        """Yield the loops of a group with the names that all before them have touched."""
        used = self.in_use | _touched(before)
        for stmt in group:
            if isinstance(stmt, Loop):
                yield id(stmt), used
            used |= _touched((stmt,))

    def stays_rolled(self, before: Stmt | None, loop: Loop) -> bool:
        """Return whether nvcc must not write out `loop`, which picks no elements of registers."""
        if self.picking.counted(loop) is not None or self._product_alone(loop) is not None:
            return False
        if not loop.peeled and self.tested(loop)[0] is not None:
            return False  # the line belongs between the test and the loop
        return self._may_not_be_written_out(before, loop)

    def _may_not_be_written_out(self, before: Stmt | None, loop: Loop) -> bool:
        return super().stays_rolled(before, loop) or self._is_around_memory(loop)

    def _is_around_memory(self, loop: Loop) -> bool:
        """Return whether loops inside a thread's loop touch an array of it that is in memory.

        Where all is written out nvcc keeps what it can of such an array in registers, and spills.
        """
        if loop.place is not Level.SERIAL or loop.unrolled > 1 or not self.in_memory:
            return False
        if not any(isinstance(stmt, Loop) for stmt in loop.body):
            return False
        return not self.in_memory.isdisjoint(Nest(loop.body).arrays())

    def write(self, out: Writer, stmt: Stmt) -> None:
        """Write one statement."""
        match stmt:
            case Await():
                if self.following is None:
                    _wait(out, stmt)
            case LocalArray(name, _, _, MemorySpace.DEALT):
                share = self.dealt[name]
                out.line(f"{share.spelling} {name}[{share.rounds}];")
            case Loop():
                self._loop(out, stmt)
            case _:
                super().write(out, stmt)

    def _loop(self, out: Writer, loop: Loop) -> None:
        if loop.by_warps:
            self._multiply(out, loop)
            return
        is_once = fold(trip_count(loop), self.constants) == Int(1)
        repeats = self.repeats or not is_once
        in_use = self.before.get(id(loop), self.in_use)
        if all(_is_on(s, Level.ASYNC) for s in loop.body):
            # Each round has a part of its own; only what was there before may be in use.
            if self.repeats or in_use & _filled(loop.body):
                out.line("__syncthreads();")
            repeats, in_use = False, frozenset()
        inside = replace(self.inside(loop, repeats), in_use=in_use)
        one = self._product_alone(loop)
        if one is not None:
            self._run_ahead(out, loop, one, inside)
            return
        counted = self.picking.counted(loop)
        if counted is None:
            test, loop = (None, loop) if loop.peeled else self.tested(loop)
            around = nullcontext() if test is None else out.block(f"if ({self.expr(test)})")
            with around:
                if test is not None and self._may_not_be_written_out(None, loop):
                    out.line(self.rolled)
                with out.block(self.loop_head(loop)):
                    inside.write_versions(out, loop.peeled, loop.body, _write_body(out))
            return
        kind, counter = self.iterator_type(loop), counted.counter
        value = self.bound(loop, counted.value)
        tests = [f"{counter} < {counted.rounds}"]
        tests += [f"{value} < {self.bound(loop, end)}" for end in counted.ends]
        out.line("#pragma unroll")
        with out.block(f"for ({kind} {counter} = 0; {' && '.join(tests)}; {counter}++)"):
            if counted.needs_iterator or (loop.peeled and counter != loop.var):
                anew = {"int": ANEW, "long": ANEW_LONG}.get(kind)
                value = f"{anew}({value})" if anew and self._reads_much(counted) else value
                out.line(f"const {kind} {loop.var} = {value};")
            inside.write_versions(out, loop.peeled, counted.body, _write_body(out))

    def _reads_much(self, counted: RegisterLoop) -> bool:
        """Return whether a round of a loop reads more than registers hold, and none inside it does.

        Where all rounds are written out, the compiler shares elements and their places among them,
        and spills. So it works them out anew in each.
        """
        return self._reads(counted.body) > MOST_READ and not any(
            self._reads(inner.body) > MOST_READ
            for inner in walk_stmts(counted.body)
            if isinstance(inner, Loop)
        )

    def _reads(self, body: Body) -> int:
        """Return how many elements of the user's arrays statements read, written out."""
        total = 0
        for assign, around in walk_paths(body):
            rounds = [self.picking.counted(loop) for loop in around]
            elements = (one for one in assign.reads() if isinstance(one, Access))
            count = sum(one.array not in self.picking.made for one in elements)
            total += count * prod(one.rounds for one in rounds if one is not None)
        return total

    def _product_alone(self, loop: Loop) -> FragmentText | None:
        """Return the product that a loop around a ring of copies computes, None for other loops.

        Its operands are those copies, the part of the ring is computed anew in each iteration.
        """
        *others, last = loop.body
        awaited = [s for s in others if isinstance(s, Await)]
        if len(awaited) != 1 or not isinstance(last, Loop) or not last.by_warps:
            return None
        if not all(isinstance(s, Local | Await) or _is_on(s, Level.ASYNC) for s in others):
            return None
        if not isinstance(others[-1], Loop):
            return None
        one = fragments(self.threads, last)
        assert not isinstance(one, str)
        text = FragmentText.of(one, self.constants)
        return text if text.is_whole else None

    def _run_ahead(
        self, out: Writer, loop: Loop, text: FragmentText, inside: ThreadDialect
    ) -> None:
        """Write a loop each iteration of which loads the first operands of the next one.

        It waits for their copies before its last step is multiplied, and the tensor cores have
        work while they come (NVIDIA CUTLASS, the same document).
        """
        awaited = next(s for s in loop.body if isinstance(s, Await))
        values = {s.name: s.value for s in loop.body if isinstance(s, Local) and s.value}
        var, wait = Var(loop.var), partial(_wait, out, awaited)
        coming = Binary("+", var, Int(loop.step))
        is_run, is_next = (Binary("<", at, loop.upper) for at in (loop.lower, coming))
        first = NextIteration(
            (values, {loop.var: loop.lower}),
            None if self.known.implies(is_run) else is_run,
            wait,
        )

        def write(dialect: ThreadDialect, body: Body) -> None:
            test = None if dialect.known.implies(is_next) else is_next
            following = NextIteration((values, {loop.var: coming}), test, wait)
            replace(dialect, following=following).write_body(out, body)

        with out.block(""):
            text.declare(out)
            with self._where(out, first.test):
                text.load_first(out, self.expr, first)
            if self._may_not_be_written_out(None, loop):
                out.line(self.rolled)
            with out.block(self.loop_head(loop)):
                inside.write_versions(out, loop.peeled, loop.body, write)

    def _multiply(self, out: Writer, loop: Loop) -> None:
        """Write a sum that warps multiply, and what is left of it for each thread."""
        one = fragments(self.threads, loop)
        assert not isinstance(one, str)
        text, kind = FragmentText.of(one, self.constants), self.iterator_type(loop)
        start, end = (self.bound(loop, x) for x in (loop.lower, loop.upper))
        if text.is_whole:
            group = self.late.get(id(loop))
            copies = None if group is None else partial(self._begin_all, out, group)
            text.write(out, kind, start, end, self.expr, copies, self.following)
            return
        first, last = (self.bound(loop, x, RIGHT_OF_SUM) for x in (loop.lower, loop.upper))
        full = replace(loop, upper=full_end(loop))
        whole = FragmentText.of(replace(one, sum=full), self.constants)
        test = f"if ({last} == {self.bound(loop, full.upper, RIGHT_OF_SUM)})"
        if whole.is_whole and full.upper != loop.upper:
            # What is not cut short is written out, without a test in it.
            with out.block(test):
                whole.write(out, kind, start, self.bound(loop, full.upper), self.expr)
        with out.block("else" if whole.is_whole and full.upper != loop.upper else ""):
            steps = f"({last} - {first}) / {DEPTH_LANES} * {DEPTH_LANES}"
            out.line(f"const {kind} {WHOLE.name} = {first} + {steps};")
            text.write(out, kind, start, WHOLE.name, self.expr)
            out.line(self.rolled)
            self._loop(out, replace(loop, lower=WHOLE, by_warps=0))

    def _assign(self, out: Writer, stmt: Assign) -> None:
        """Write an assignment; what is streamed goes by functions that tell the caches so."""
        if not stmt.streamed:
            super()._assign(out, stmt)
            return
        value = rewrite(stmt.value, self._streamed)
        target = stmt.target
        if not isinstance(target, Access) or target.array not in self.region.arrays:
            super()._assign(out, Assign(stmt.number, target, stmt.op, value, stmt.span))
            return
        if stmt.op != "=":
            loaded = self._streamed(target)
            assert loaded is not None
            value = Binary(stmt.op[:-1], loaded, value)
        out.line(f"__stcs({self._address(target)}, {self.expr(value)});")

    def _streamed(self, part: Expr) -> Expr | None:
        if not isinstance(part, Access) or part.array not in self.region.arrays:
            return None
        flat = flattened(part, self.region.arrays) or part
        assert isinstance(flat, Access)
        return Call("__ldcs", (Binary("+", Var(flat.array), flat.indices[0]),))

    def _address(self, element: Access) -> str:
        """Return the address of an element; a dealt one is where the thread has it."""
        return f"&{self._element(element)}"

    def _element(self, element: Access) -> str:
        return f"{element.array}[{SHARE}]" if element.array in self.dealt else self.expr(element)

    def _runs(self, body: Body) -> Iterator[tuple[_RunKind, Body]]:
        """Yield `body` in runs of statements of one kind."""
        run: list[Stmt] = []
        kind = _RunKind.WORK
        for stmt in body:
            own = self._kind(stmt)
            if run and own is not kind:
                yield kind, tuple(run)
                run = []
            kind = own
            run.append(stmt)
        if run:
            yield kind, tuple(run)

    def _kind(self, stmt: Stmt) -> _RunKind:
        if _is_on(stmt, Level.ASYNC):
            return _RunKind.ASYNC
        if not _is_on(stmt, Level.COOPERATIVE):
            return _RunKind.WORK
        return _RunKind.LOAD if _filled((stmt,)) <= self.dealt.keys() else _RunKind.COPY

    def _thread(self) -> str:
        """Return the number of a thread in its block, x fastest."""
        assert self.shape is not None
        x, y, z = self.shape.threads
        terms = ["threadIdx.x"] + ([f"{x} * threadIdx.y"] if y > 1 else [])
        return " + ".join(terms + ([f"{x * y} * threadIdx.z"] if z > 1 else []))

    def _all_together(self, out: Writer, group: Body, within: ProductRound | None = None) -> None:
        """Write neighbouring nests of copies; a condition that several of them have is asked once.

        Their rounds are dealt out to the rounds of a product where it is `within` one of them.
        """
        every = [(stmt, CopyNest.of(stmt)) for stmt in group if isinstance(stmt, Loop)]
        threads = prod(self.shape.threads) if self.shape is not None else 1
        total, before = sum(copies.layout(threads).rounds for _, copies in every), 0
        for shared, some in groupby(every, lambda pair: pair[1].condition()):
            nests = list(some)
            with self._where(out, shared):
                if shared is not None and within is None and self.is_anew:
                    self._place_anew(out, tuple(stmt for stmt, _ in nests))
                for stmt, copies in nests:
                    part = None if within is None else within.share(Var(SHARE), before, total)
                    self._together(out, copies, stmt.place is Level.ASYNC, shared, part)
                    before += copies.layout(threads).rounds

    def _together(
        self,
        out: Writer,
        copies: CopyNest,
        is_async: bool,
        known: Expr | None,
        part: Expr | None,
    ) -> None:
        """Write a nest that the threads run together: each has its place in every row.

        Rounds are made where the condition `part` holds, without one always.
        """
        assert self.shape is not None
        threads = prod(self.shape.threads)
        layout = copies.layout(threads)
        rounds = layout.rounds
        every = [Lanes.of(stmt) for stmt in copies.body]
        if rounds <= MAX_WRITTEN_OUT or any(self._has_share(lanes) for lanes in every):
            out.line("#pragma unroll")
        head = f"for (int {SHARE} = 0; {SHARE} < {rounds}; {SHARE}++)"
        with out.block(head), self._where(out, part):
            for var, value in layout.places(Var(THREAD_INDEX), Var(SHARE)):
                out.line(f"const int {var} = {self.expr(value)};")
            takes_part = layout.idle(Var(THREAD_INDEX), threads)
            is_told = self.is_between and all(lanes.source[0] is not None for lanes in every)
            with self._where(out, None if is_told else takes_part):
                for lanes in every:
                    guard = lanes.assign.guard
                    with self._where(out, guard if guard != known else None):
                        self._copy(out, lanes, is_async, takes_part if is_told else None)

    def _where(self, out: Writer, condition: Expr | None) -> AbstractContextManager[None]:
        """Return the block of what is done under a condition, of None always."""
        return nullcontext() if condition is None else out.block(f"if ({self.expr(condition)})")

    def _has_share(self, lanes: Lanes) -> bool:
        places = (lanes.assign.target, *lanes.assign.reads())
        return any(isinstance(a, Access) and a.array in self.dealt for a in places)

    def _copy(
        self, out: Writer, lanes: Lanes, is_async: bool, takes_part: Expr | None = None
    ) -> None:
        """Write the copy of one element, or of neighbours at once, in threads that take part."""
        assign, width = lanes.assign, lanes.width
        if not is_async and width == 1 and not self._has_share(lanes):
            plain = Assign(assign.number, assign.target, assign.op, assign.value, assign.span)
            super()._assign(out, plain)
            return
        target = assign.target
        assert isinstance(target, Access)
        condition, source = lanes.source
        kind = vector(spelled(self.locals[target.array]), width)
        if is_async:
            self._begin(out, target, source, condition, f"sizeof({kind})", takes_part)
            return
        value = self._vector(source, f"const {kind}", width)
        if condition is not None:
            own = "0" if is_integer_type(kind) else "0.0"
            zero = own if width == 1 else f"make_{kind}({', '.join(['0.0'] * width)})"
            value = f"{self.expr(condition)} ? {value} : {zero}"
        out.line(f"{self._vector(target, kind, width)} = {value};")

    def _begin(
        self,
        out: Writer,
        target: Access,
        source: Access,
        condition: Expr | None,
        size: str,
        takes_part: Expr | None,
    ) -> None:
        """Write an asynchronous copy; outside the array nothing is read and zeros are stored."""
        place, element = self._address(target), self._address(source)
        if condition is None:
            out.line(f"__pipeline_memcpy_async({place}, {element}, {size});")
            return
        if self.is_between:
            out.line(f"const bool {THERE} = {self.expr(condition)};")
            element = f"{THERE} ? {element} : {source.array}"
            given = [place, element, THERE]
            given += [] if takes_part is None else [self.expr(takes_part)]
            out.line(f"{COPY_OR_ZERO}<{size}>({', '.join(given)});")
            return
        # The intrinsic wants to know the zeros when it is compiled.
        out.line(f"if ({self.expr(condition)})")
        with out.deeper():
            out.line(f"__pipeline_memcpy_async({place}, {element}, {size});")
        out.line("else")
        with out.deeper():
            out.line(f"__pipeline_memcpy_async({place}, {source.array}, {size}, {size});")

    def _vector(self, element: Access, kind: str, width: int) -> str:
        """Return neighbours from `element` on as one value; a share is such values."""
        if width == 1 or element.array in self.dealt:
            return self._element(element)
        return f"*({kind} *){self._address(element)}"


def declare_arrays(out: Writer, body: Body) -> None:
    """Write the declarations of the arrays that a block's threads share."""
    shared, vectors = shared_arrays(body), aligned_arrays(body) | paired_arrays(body)
    dynamic, start = {array.name for array in dynamic_arrays(body)}, 0
    if dynamic:
        at = f"__align__({VECTOR_BYTES})"
        out.line(f"extern __shared__ {at} unsigned char {DYNAMIC}[];")
    for array in shared:
        kind = spelled(array.type)
        if array.name in dynamic:
            assert len(array.extents) == 1
            place = f"({DYNAMIC} + {start})" if start else DYNAMIC
            out.line(f"{kind} *const {array.name} = ({kind} *){place};")
            start += shared_bytes(array)
            continue
        extents = "".join(f"[{n}]" for n in array.extents)
        at = f"__align__({VECTOR_BYTES}) " if array.name in vectors else ""
        out.line(f"__shared__ {at}{kind} {array.name}{extents};")


def _wait(out: Writer, awaited: Await) -> None:
    """Write the wait of all threads of a block for copies."""
    out.line(f"__pipeline_wait_prior({awaited.newest});")
    out.line("__syncthreads();")


def _is_on(stmt: Stmt, level: Level) -> bool:
    return isinstance(stmt, Loop) and stmt.place is level


def _is_shared(stmt: Stmt) -> bool:
    return isinstance(stmt, LocalArray) and stmt.space is MemorySpace.SHARED


def _filled(body: Body) -> frozenset[str]:
    """Return the arrays of which statements write elements."""
    assigns = (s for s in walk_stmts(body) if isinstance(s, Assign))
    return frozenset(s.target.array for s in assigns if isinstance(s.target, Access))


def _touched(body: Body) -> frozenset[str]:
    """Return the names that statements read, and the arrays that they write."""
    assigns = [s for s in walk_stmts(body) if isinstance(s, Assign)]
    read = (names_read(source) for s in assigns for source in s.sources())
    return _filled(body).union(*read)


def arrays_in_memory(region: Region, body: Body) -> frozenset[str]:
    """Return the user's arrays of a thread that are too many elements for its registers.

    They are all or none of them.
    """
    arrays = [array for array in _local_arrays(body) if _is_users(array, region)]
    words = sum(map(shared_bytes, arrays)) // REGISTER_BYTES
    return frozenset(a.name for a in arrays) if words > MOST_OWN_REGISTERS else frozenset()


def _is_users(array: LocalArray, region: Region) -> bool:
    """Return whether the text itself declares an array, which is as the user wrote it then."""
    return array in _local_arrays(region.nest.body)


def _local_arrays(body: Body) -> tuple[LocalArray, ...]:
    return tuple(s for s in walk_stmts(body) if isinstance(s, LocalArray))


def _write_body(out: Writer) -> Callable[[ThreadDialect, Body], None]:
    """Return what writes one version of a body."""
    return lambda dialect, body: dialect.write_body(out, body)


def is_peeled(body: Body) -> bool:
    """Return whether some loop in `body` has whole tiles apart."""
    return any(isinstance(stmt, Loop) and stmt.peeled for stmt in walk_stmts(body))


def unpeeled(body: Body) -> Body:
    """Return `body` with one version of each loop."""
    return tuple(
        replace(stmt, body=unpeeled(stmt.body), peeled=()) if isinstance(stmt, Loop) else stmt
        for stmt in body
    )
