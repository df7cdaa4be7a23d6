"""The host side of ``S.cu``: guards, device memory, launches, and the original nest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import plain_c
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.cuda_launch import (
    NOTHING_RUNS,
    TOO_LATE,
    WRITTEN,
    Launches,
    Version,
    write_step,
)
from annotune.codegen.cuda_parts import (
    copied,
    first_element,
    write_touched,
    written_where,
)
from annotune.codegen.cuda_stage import ROLLED
from annotune.codegen.grid import grid
from annotune.codegen.guards import (
    condition_tests,
    conjunct,
    divisor_tests,
    may_overlap,
    null_tests,
    runs_tests,
    signed,
    size_tests,
)
from annotune.codegen.looking import look_text
from annotune.codegen.names import Interface, temporaries, wrapped
from annotune.codegen.reach import reach_tests
from annotune.codegen.several_sizes import any_of
from annotune.codegen.writer import Writer
from annotune.ir.expr import Expr, Int, variables
from annotune.ir.fold import fold
from annotune.ir.region import Array


@dataclass(frozen=True)
class HostText:
    """Writes the functions around the kernels of one region.

    Each of `tuned` runs for the sizes that it fixes; `general`, where there is one, for all others;
    what none of them takes goes to the original nest. `resident` says that the pointers are
    device memory already. `held` are the arrays that stand for scalars.
    """

    analysis: Analysis
    outer: Interface
    tuned: tuple[Version, ...]
    general: Version | None
    resident: bool
    held: frozenset[str]

    @property
    def name(self) -> str:
        return self.analysis.region.label

    def text(self) -> str:
        """Return the C++ of all host functions of the region."""
        out = Writer()
        self._original(out)
        for array in self._sized():
            self._count(out, array)
        launches = self._launches
        launches.write(
            out, self._head(f"static cudaError_t {self.name}_launch", *launches.parameters)
        )
        if not self.resident:
            self._device(out)
        self._entry(out)
        return out.text()

    def _head(self, function: str, *more: str) -> str:
        return wrapped(function, [*self.outer.parameters(), *more])

    @property
    def _launches(self) -> Launches:
        return Launches(self.analysis, self.outer, self.tuned, self.general, self.resident)

    # The original nest ------------------------------------------------------------------

    def _original(self, out: Writer) -> None:
        """Write the user's nest: on the host, or as one thread where data is on the device."""
        kind = "__global__ void" if self.resident else "static void"
        out.line(
            "/* The nest as written: for sizes, overlaps and errors that the kernels leave. */"
        )
        with out.block(self._head(f"{kind} {self.name}_original")):
            rolled = ROLLED if self.resident else ""
            dialect = Dialect(self.analysis.region, objects=self.held, rolled=rolled)
            body = self.analysis.region.as_written.body
            for scalar in temporaries(self.analysis, body):
                out.line(f"{scalar.type} {scalar.name};")
            dialect.write_body(out, body)
        out.line()

    # Device memory ----------------------------------------------------------------------

    def _sized(self) -> tuple[Array, ...]:
        """Return the arrays whose elements are counted: to copy them, or to tell overlaps."""
        if not self.resident:
            return self.outer.arrays
        pairs = may_overlap(self.outer)
        return tuple(a for a in self.outer.arrays if any(a in pair for pair in pairs))

    def _count(self, out: Writer, array: Array) -> None:
        """Write the function that counts an array's elements, in 64 bits."""
        length = fold(self.analysis.shapes[array.name].length)
        out.line(f"/* Elements of {array.name} that the region touches. */")
        head = f"static long long {self.name}_{array.name}_count({_wide(self.outer, length)})"
        with out.block(head):
            out.line(f"return {plain_c(length)};")
        out.line()

    def _call_count(self, array: Array) -> str:
        length = fold(self.analysis.shapes[array.name].length)
        names = [s.name for s in self.outer.scalars if s.name in variables(length)]
        return f"{self.name}_{array.name}_count({', '.join(names)})"

    def _device(self, out: Writer) -> None:
        """Write the function that copies in, launches and copies back, freeing on all paths.

        Results reach the host's arrays only when everything else has succeeded: with more
        than one output they pass through staging memory, so that the original nest can
        still run on unspoilt arrays when a copy fails.
        """
        analysis, outer = self.analysis, self.outer
        outputs = [a for a in outer.arrays if a.name in outer.written]
        staged = outputs if len(outputs) > 1 else []
        with out.block(self._head(f"static cudaError_t {self.name}_device")):
            self._bytes(out, outer.arrays)
            out.lines(look_text(analysis, Dialect(analysis.region, objects=self.held)))
            write_touched(out, analysis, outer.arrays)
            for array in outer.arrays:
                out.line(f"{array.element} *d_{array.name} = NULL;")
            for array in staged:
                out.line(f"{array.element} *h_{array.name} = NULL;")
            out.line("cudaError_t status = cudaSuccess;")
            for array in outer.arrays:
                write_step(out, f"cudaMalloc((void **)&d_{array.name}, {array.name}_bytes)")
            for array in outer.arrays:
                use = analysis.uses[array.name]
                if use.is_read or not use.overwritten:
                    part = copied(analysis, array)
                    goal, first = part.at(f"d_{array.name}"), part.first
                    call = f"cudaMemcpy({goal}, {first}, {part.bytes}, cudaMemcpyHostToDevice)"
                    write_step(out, call, part.condition)
            write_step(out, f"{self.name}_launch({self._device_arguments()})")
            write_step(out, "cudaDeviceSynchronize()")
            for array in staged:
                with out.block("if (status == cudaSuccess)"):
                    out.line(f"h_{array.name} = ({array.element} *)malloc({array.name}_bytes);")
                    out.line(f"if (h_{array.name} == NULL)")
                    with out.deeper():
                        out.line("status = cudaErrorMemoryAllocation;")
            for array in outputs:
                part = copied(analysis, array)
                goal = part.at(f"h_{array.name}") if staged else part.first
                source = part.at(f"d_{array.name}")
                call = f"cudaMemcpy({goal}, {source}, {part.bytes}, cudaMemcpyDeviceToHost)"
                write_step(out, call, part.condition)
            if staged:
                with out.block("if (status == cudaSuccess)"):
                    for array in staged:
                        part = copied(analysis, array)
                        with written_where(out, part.condition):
                            held = part.at(f"h_{array.name}")
                            out.line(f"memcpy({part.first}, {held}, {part.bytes});")
            for array in staged:
                out.line(f"free(h_{array.name});")
            for array in outer.arrays:
                out.line(f"cudaFree(d_{array.name});")
            out.line("return status;")
        out.line()

    def _bytes(self, out: Writer, arrays: Sequence[Array]) -> None:
        """Write the size of each array's part that the region touches."""
        for array in arrays:
            size = f"sizeof({array.element}) * {self._call_count(array)}"
            out.line(f"const size_t {array.name}_bytes = {size};")

    def _device_arguments(self) -> str:
        parts = [s.name for s in self.outer.scalars]
        for array in self.outer.arrays:
            lowest = signed(fold(self.analysis.shapes[array.name].lowest), self.analysis.region)
            shift = "" if lowest == Int(0) else f" - ({plain_c(lowest)})"
            parts.append(f"d_{array.name}{shift}")
        return ", ".join(parts)

    # The entry --------------------------------------------------------------------------

    def _reach(self) -> tuple[Expr, ...]:
        """Return tests that no index goes beyond its type."""
        versions = [*self.tuned, *([self.general] if self.general is not None else [])]
        plans = [(version.steps, version.constants) for version in versions]
        sizes = self.analysis.region.sizes
        return reach_tests(self.analysis, plans, lambda kernel: grid(kernel, sizes).beyond)

    def _entry(self, out: Writer) -> None:
        region, outer = self.analysis.region, self.outer
        general, (first, *others) = self.general, self.tuned
        tested = region.constants if general is not None or others else first.constants
        tests = [*size_tests(outer, tested, {})]
        tests += any_of([one.tests for one in self.tuned]) if general is None and others else []
        tests += divisor_tests(self.analysis, tested)
        tests += [*runs_tests(self.analysis, tested), *self._reach()]
        tests += condition_tests(self.analysis, tested)
        tests += () if self.resident else null_tests(self.analysis)
        tests += self._launches.aligned_tests(*self.tuned) if general is None else []
        pairs = may_overlap(outer)
        with out.block(self._head(f'extern "C" void {region.entry}')):
            self._bytes(out, [a for a in outer.arrays if any(a in pair for pair in pairs)])
            if tests or pairs:
                out.line("bool fits = true;")
            for test in tests:
                out.line(f"fits = fits && {conjunct(test)};")
            for one, two in pairs:
                ends = ", ".join(
                    f"{first_element(self.analysis, a)}, {a.name}_bytes" for a in (one, two)
                )
                out.line(f"fits = fits && annotune_apart({ends});")
            with out.block("if (fits)" if tests or pairs else ""):
                self._attempt(out)
            if self.resident:
                self._original_there(out)
            else:
                out.line(f"{self.name}_original({outer.names()});")
        out.line()

    def _original_there(self, out: Writer) -> None:
        """Write the launch of the original nest on the device, where it must succeed."""
        out.line("/* Errors of earlier calls are not this one's. */")
        out.line("cudaGetLastError();")
        out.line(f"{self.name}_original<<<1, 1>>>({self.outer.names()});")
        out.line("const cudaError_t failure = cudaGetLastError();")
        with out.block("if (failure != cudaSuccess)"):
            self._stop(out, "failure", NOTHING_RUNS)

    def _stop(self, out: Writer, error: str, why: str) -> None:
        """Write the end of the program where no right result is left to be had."""
        words = f'"{self.analysis.region.entry}: %s; {why}\\n"'
        out.line(f"fprintf(stderr, {words}, cudaGetErrorString({error}));")
        out.line("abort();")

    def _attempt(self, out: Writer) -> None:
        """Write the call of the kernels, from which the entry returns when all has gone well.

        Else the original nest follows, but for data that kernels have changed already: on what they
        left it would compute something else.
        """
        names, runner = self.outer.names(), "launch" if self.resident else "device"
        if self.resident:
            out.line(f"bool {WRITTEN} = false;")
            names = ", ".join(filter(None, (names, f"&{WRITTEN}")))
        out.line(f"const cudaError_t status = {self.name}_{runner}({names});")
        out.line("if (status == cudaSuccess)")
        with out.deeper():
            out.line("return;")
        if self.resident:
            with out.block(f"if ({WRITTEN})"):
                out.line("/* On what the kernels left the original nest would go wrong. */")
                self._stop(out, "status", TOO_LATE)
        out.line(
            f'fprintf(stderr, "{self.analysis.region.entry}: %s; running the original nest\\n", '
            "cudaGetErrorString(status));"
        )


def _wide(outer: Interface, length: Expr) -> str:
    """Return 64-bit parameters for the scalars that a length uses."""
    used = variables(length)
    return ", ".join(f"long long {s.name}" for s in outer.scalars if s.name in used)
