"""The host side of ``S.cu``: guards, device memory, launches, and the original nest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import plain_c
from annotune.codegen.c_stmt import RIGHT_OF_SUM, Dialect
from annotune.codegen.cuda.both import LAST, HostShare, is_apart, refused
from annotune.codegen.cuda.copies import VECTOR_BYTES
from annotune.codegen.cuda.cpp import cuda_type
from annotune.codegen.cuda.grid import BLOCKS, grid, wide
from annotune.codegen.cuda.in_parts import Launched, LaunchParts, launch_parts
from annotune.codegen.cuda.kernel import KernelText, Partial
from annotune.codegen.cuda.memory import (
    ADDING,
    ALL_ON_HOST,
    ALLOCATE,
    BEGUN,
    BOTH,
    CALL,
    FETCH,
    FREE,
    ON_HOST,
    PUT_BACK,
    RESIDENT,
    SEND,
    TELL,
)
from annotune.codegen.cuda.thread import ROLLED
from annotune.codegen.guards import (
    WIDE,
    condition_tests,
    conjunct,
    divisor_tests,
    divisors,
    joined,
    look_text,
    may_overlap,
    null_tests,
    reach_tests,
    runs_tests,
    signed,
)
from annotune.codegen.in_place import runs_at_all, write_branches, write_steps
from annotune.codegen.names import Interface, temporaries
from annotune.codegen.several_sizes import any_of, size_tests
from annotune.codegen.writer import Writer, wrapped
from annotune.frozen import dataclass
from annotune.ir.ctype import SIZE
from annotune.ir.expr import Binary, Cast, Expr, Int, Select, Var, accesses, variables
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, expressions, walk_stmts
from annotune.ir.region import Array
from annotune.ir.typing import in_long
from annotune.schedule.plan import Kernel, Step
from annotune.space.variants import Variant


def first_element(analysis: Analysis, array: Array) -> str:
    """Return the pointer to the first element of the section of an array."""
    lowest = signed(fold(analysis.shapes[array.name].lowest), analysis.region)
    return array.name if lowest == Int(0) else f"{array.name} + {plain_c(lowest, RIGHT_OF_SUM)}"


def write_touched(out: Writer, analysis: Analysis, arrays: Sequence[Array]) -> None:
    """Write what the call touches of each array, where that may be less than its section."""
    for array in arrays:
        touched = analysis.shapes[array.name].touched
        if touched is not None:
            out.line(f"/* Of {array.name} the call touches less than it has: */")
            for name, value in (("first", touched.first), ("touched", touched.count)):
                counted = plain_c(fold(in_long(value)))
                out.line(f"const long long {array.name}_{name} = {counted};")


WRITTEN = "has_written"
"""In the text, whether a kernel has been launched on data that stay: there is no way back."""

# How an entry ends the program where data stay on the device and no right result is to be had.
TOO_LATE = "kernels have changed the data already, stopping"
NOTHING_RUNS = "the original nest cannot run either, stopping"


# In the text, the iterations of which a part of a launch runs some.
FIRST, COUNT = "annotune_first", "annotune_count"

# What is behind the host's name for what blocks leave in the memory that stays.
_KEPT = "_kept"


@dataclass(frozen=True)
class Version:
    """One set of kernels for a region: the steps, and each kernel's text by its name.

    `tests` hold at the sizes in `constants`, of which C leaves some open. Of the arrays `added` the
    kernels compute what the host adds to them.
    """

    steps: tuple[Step, ...]
    texts: Mapping[str, KernelText]
    constants: Mapping[str, int]
    tests: tuple[Expr, ...] = ()
    added: frozenset[str] = frozenset()


def _scratch(texts: Iterable[KernelText]) -> dict[str, tuple[str, int]]:
    """Return the C type and the length of each array for what blocks leave to be combined.

    The same ones serve at all sizes.
    """
    found: dict[str, tuple[str, int]] = {}
    for text in texts:
        for partial in text.partials:
            name = _scratch_name(text, partial)
            _, count = found.get(name, ("", 0))
            found[name] = cuda_type(partial.type), max(count, text.grid.partials)
    return found


def _scratch_name(text: KernelText, partial: Partial) -> str:
    """Return the host's name for what the blocks of a kernel leave of `partial`."""
    return f"{text.kernel.name}_{partial.name}"


def write_step(out: Writer, call: str, condition: str = "") -> None:
    """Write one CUDA call that runs only while nothing has failed, and where `condition` holds."""
    also = f" && {condition}" if condition else ""
    out.line(f"if (status == cudaSuccess{also})")
    with out.deeper():
        out.line(f"status = {call};")


@dataclass(frozen=True)
class HostText:
    """Writes the functions around the kernels of one region.

    Each of `tuned` runs for the sizes that it fixes; `general`, where there is one, for all others;
    what none of them takes goes to the original nest. `resident` says that the pointers are
    device memory already. `held` are the arrays that stand for scalars. With a `share` the host
    computes some of a call.
    """

    analysis: Analysis
    outer: Interface
    tuned: tuple[Version, ...]
    general: Version | None
    resident: bool
    held: frozenset[str]
    share: HostShare | None = None

    @property
    def name(self) -> str:
        return self.analysis.region.label

    @property
    def caller(self) -> Interface:
        """Return what the entry gets: of `resident` data not what is the region's alone."""
        return self.outer.without(_names(self._own)) if self.resident else self.outer

    @property
    def _own(self) -> tuple[Array, ...]:
        """Return the arrays whose memory is the region's alone."""
        return tuple(a for a in self.outer.arrays if self.analysis.stays_on_device(a.name))

    @property
    def _on_device(self) -> Interface:
        """Return what the kernels get: the nest as written may need arrays besides.

        So it does where all kernels have the elements in registers, or in a block's memory.
        """
        texts = [text for version in self._all for text in version.texts.values()]
        every = (text for one in texts for text in (one, one.last) if text is not None)
        used = {array.name for text in every for array in text.passed.arrays}
        return self.outer.without(_names(self._own) - used)

    @property
    def _passed(self) -> Interface:
        """Return what the entry has for the kernels."""
        return self._on_device.without(_names(self._own)) if self.resident else self._on_device

    @cached_property
    def _parts(self) -> LaunchParts | None:
        """Return the parts in which a call with arrays of the host's runs, None for one alone."""
        (first, *others), region = self.tuned, self.analysis.region
        names = [step.name for step in first.steps if isinstance(step, Kernel)]
        if others or self.resident or region.is_resident or len(names) < len(first.steps):
            return None
        texts = [first.texts[name] for name in names]
        # What all blocks leave is combined once, when all of them have run.
        if any(text.partials for text in texts):
            return None
        launches = [Launched(t.name, t.kernel, t.grid, t.passed.arrays, t.aligned) for t in texts]
        fits = None if self.share is None else self._can_share
        return launch_parts(self.analysis, launches, first.constants, fits)

    def _can_share(self, parts: LaunchParts) -> bool:
        """Return whether the host can compute some of the iterations of the parts."""
        constants = self.tuned[0].constants
        return is_apart(self.analysis, parts, constants) and self._hosts_plan(parts) is not None

    def _hosts_plan(self, parts: LaunchParts) -> Variant | None:
        assert self.share is not None
        names = {t.name: t.kernel for t in self.tuned[0].texts.values()}
        return self.share.plan(parts, names)

    def shared_text(self) -> str:
        """Return the C of the host's share, empty where it has none.

        Raises:
            AnnotuneError: The host cannot compute any.
        """
        if self.share is None:
            return ""
        parts = self._parts
        is_whole = self._on_device == self.outer and not self.held
        found = self._hosts_plan(parts) if parts is not None and is_whole else None
        if found is None:
            raise refused(self.analysis)
        return self.share.text(found)

    @cached_property
    def _added(self) -> frozenset[str]:
        """Return the arrays to which the host adds what kernels have computed from nothing."""
        if self.resident or self.analysis.region.is_resident:
            return frozenset()
        return frozenset[str]().union(*(version.added for version in self._all))

    @property
    def _all(self) -> tuple[Version, ...]:
        """Return all versions, the general one last."""
        return self.tuned if self.general is None else (*self.tuned, self.general)

    def text(self) -> str:
        """Return the C++ of all host functions of the region."""
        out = Writer()
        if self.share is not None:
            out.line("/* In the user's file, for the host's share of a call. */")
            out.lines(self.share.prototype(self.outer))
        self._original(out)
        for array in self._sized():
            self._count(out, array)
        self._launch(out)
        if self._parts is not None:
            self._part(out, self._parts)
        if not self.resident:
            self._device(out)
        self._entry(out)
        return out.text()

    def _head(self, function: str, of: Interface, *more: str) -> str:
        return wrapped(function, [*of.parameters(), *more])

    # The original nest ------------------------------------------------------------------

    def _original(self, out: Writer) -> None:
        """Write the user's nest: on the host, or as one thread where data is on the device."""
        kind = "__global__ void" if self.resident else "static void"
        out.line(
            "/* The nest as written: for sizes, overlaps and errors that the kernels leave. */"
        )
        with out.block(self._head(f"{kind} {self.name}_original", self.outer)):
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
            return self._on_device.arrays
        pairs, own = may_overlap(self.outer), self._own
        return tuple(a for a in self.outer.arrays if a in own or any(a in pair for pair in pairs))

    def _count(self, out: Writer, array: Array) -> None:
        """Write the function that counts an array's elements, in 64 bits."""
        length = fold(self.analysis.shapes[array.name].length)
        out.line(f"/* Elements of {array.name} that the region touches. */")
        head = f"static long long {self.name}_{array.name}_count({_wide(self.outer, length)})"
        with out.block(head):
            out.line(f"return {_unless_divided_by_0(length, plain_c(length), '0')};")
        out.line()

    def _call_count(self, array: Array) -> str:
        length = fold(self.analysis.shapes[array.name].length)
        names = [s.name for s in self.outer.scalars if s.name in variables(length)]
        return f"{self.name}_{array.name}_count({', '.join(names)})"

    def _device(self, out: Writer) -> None:
        """Write the function that sends arrays to the device, launches, and fetches the results."""
        analysis, of = self.analysis, self._on_device
        with out.block(self._head(f"static cudaError_t {self.name}_device", of)):
            self._bytes(out, of.arrays)
            every = (e for stmt in walk_stmts(analysis.inspector) for e in expressions(stmt))
            looked = {a.array for expr in every for a in accesses(expr)}
            self._on_host(out, [array for array in of.arrays if array.name in looked], False)
            out.lines(look_text(analysis, Dialect(analysis.region, objects=self.held)))
            write_touched(out, analysis, of.arrays)
            with out.block("annotune_array arrays[] =", "};"):
                for array in of.arrays:
                    out.line(f"{{{self._moved(array)}{self._traits(array)}}},")
            if self._parts is None:
                self._whole(out, of)
            else:
                self._in_parts(out, of, self._parts)
        out.line()

    def _whole(self, out: Writer, of: Interface) -> None:
        """Write what sends all arrays, launches all kernels, and fetches all results."""
        count, end = len(of.arrays), RESIDENT if self.analysis.region.is_resident else ""
        out.line(f"cudaError_t status = {SEND}{end}(arrays, {count});")
        write_step(out, f"{self.name}_launch({self._places(out, of)})")
        fetch = f'{FETCH}{end}("{self.analysis.region.entry}", arrays, {count}, status)'
        out.line(f"return {fetch};")

    def _in_parts(self, out: Writer, of: Interface, parts: LaunchParts) -> None:
        """Write what sends and fetches arrays part by part, each launched when it has come."""
        given = "" if self.share is None else "const annotune_array *arrays, "
        with out.block(f"const auto launch = [&]({given}long {FIRST}, long {COUNT})", "};"):
            arguments = self._places(out, of)
            out.line(f"if ({COUNT} == 0)")
            with out.deeper():
                out.line(f"return {self.name}_launch({arguments});")
            out.line(f"return {self.name}_part({arguments}, {FIRST}, {COUNT});")
        tests = joined(self.tuned[0].tests) if self.general is not None else ""
        count = f"{tests} ? {parts.iterations} : 0" if tests else str(parts.iterations)
        call = f'"{self.analysis.region.entry}", arrays, {len(of.arrays)}, {count}'
        if self.share is None:
            out.line(f"return {CALL}({call}, launch);")
            return
        with out.block(f"const auto host = [&](long {FIRST}, long {LAST})", "};"):
            out.line(f"{self.share.name}({self.outer.names()}, {FIRST}, {LAST});")
        own, gpus = self.share.iterations(parts), self.share.step.gpus
        out.line(f"return {BOTH}({call}, {own}, {gpus}, launch, host);")

    def _places(self, out: Writer, of: Interface) -> str:
        """Write where arrays are on the device, and return what a launch gets."""
        for number, array in enumerate(of.arrays):
            place = f"({array.element} *)arrays[{number}].device{self._shift(array)}"
            out.line(f"{array.element} *const d_{array.name} = {place};")
        return ", ".join([*(s.name for s in of.scalars), *(f"d_{a.name}" for a in of.arrays)])

    def _moved(self, array: Array) -> str:
        """Return an array of a call as its fields: which bytes are sent, and which are fetched."""
        name, kind = array.name, array.element
        if array in self._own:
            return f"NULL, 0, 0, {name}_bytes, false, false"
        shape, use = self.analysis.shapes[name], self.analysis.uses[name]
        moved = (use.is_read or not use.overwritten, name in self._on_device.written)
        sent, fetched = (str(one).lower() for one in moved)
        if shape.touched is None:
            first, size, before = first_element(self.analysis, array), f"{name}_bytes", "0"
        else:
            lowest = fold(shape.lowest)
            shift = "" if lowest == Int(0) else f" - {plain_c(in_long(lowest), RIGHT_OF_SUM)}"
            before = (
                f"sizeof({kind}) * ({name}_first{shift})"
                if shift
                else (f"sizeof({kind}) * {name}_first")
            )
            first, size = f"{name} + {name}_first", f"sizeof({kind}) * {name}_touched"
            if shape.touched.may_be_none:
                size = f"{name}_touched > 0 ? {size} : 0"
        return f"(void *)({first}), {size}, {before}, {name}_bytes, {sent}, {fetched}"

    def _traits(self, array: Array) -> str:
        """Return more fields: what an iteration lies ahead, and whether one thread uses it.

        One thread does of a scalar that one block adds to, as that which combines what all leave.
        """
        name = array.name
        if name in self._added:
            return self._sum_traits(array)
        step = 0 if self._parts is None or array in self._own else self._parts.steps[name]
        body = self.analysis.region.nest.body
        sources = (e for s in walk_stmts(body) if isinstance(s, Assign) for e in s.sources())
        is_read = any(a.array == name for source in sources for a in accesses(source))
        texts = [text for version in self._all for text in version.texts.values()]
        users = (t.kernel for t in texts if any(a.name == name for a in t.passed.arrays))
        has_blocks = any(loop.place in BLOCKS for kernel in users for loop in kernel.placed())
        if name in self.held and not is_read and not has_blocks:
            return f", {_scaled(array, step)}, true"
        step, strip, pitch = self._ahead(array)
        if strip:
            return (
                f", {_scaled(array, step)}, false, {_scaled(array, strip)}, {_scaled(array, pitch)}"
            )
        return f", {_scaled(array, step)}" if step > 0 else ""

    def _sum_traits(self, array: Array) -> str:
        """Return more fields of an array to which the host adds what the kernels have computed."""
        fields = [_scaled(array, count) for count in self._ahead(array)]
        fields.insert(1, "false")
        return f", {', '.join(fields)}, {ADDING}<{array.element}>()"

    def _ahead(self, array: Array) -> tuple[int, int, int]:
        """Return what an iteration lies ahead, the neighbours in a strip, and between strips."""
        parts = self._parts
        if parts is None or array in self._own:
            return 0, 0, 0
        step, inner = parts.steps[array.name], parts.inner
        if inner is None:
            return step, 0, 0
        strip = inner.strips.get(array.name, 0)
        return (step // inner.count, strip, strip * inner.count) if strip else (0, 0, 0)

    def _on_host(self, out: Writer, arrays: Sequence[Array], is_written: bool) -> None:
        """Write that the host now uses arrays itself."""
        region, uses = self.analysis.region, self.analysis.uses
        arrays = [a for a in arrays if not (region.is_resident and a in self._own)]
        if arrays and region.is_resident:
            with out.block(""):
                with out.block("const annotune_array arrays[] =", "};"):
                    for array in arrays:
                        size = f"sizeof({array.element}) * {self._call_count(array)}"
                        written = str(is_written and uses[array.name].is_written).lower()
                        first = self._reached(array)
                        out.line(f"{{(void *)({first}), {size}, 0, {size}, true, {written}}},")
                out.line(f'{ON_HOST}{RESIDENT}("{region.entry}", arrays, {len(arrays)});')
        elif arrays:
            with out.block(""):
                with out.block("const void *const arrays[] =", "};"):
                    for array in arrays:
                        out.line(f"{self._some_element(array)},")
                out.line(f'{ON_HOST}("{self.analysis.region.entry}", arrays, {len(arrays)});')

    def _some_element(self, array: Array) -> str:
        """Return the pointer to an element: an array of f2c begins beside its memory."""
        name, first = array.name, self._reached(array)
        return name if first == name else f"{name} == NULL ? NULL : {first}"

    def _reached(self, array: Array) -> str:
        """Return the pointer to the first element, in a call that may reach none, too."""
        lowest = fold(self.analysis.shapes[array.name].lowest)
        return _unless_divided_by_0(lowest, first_element(self.analysis, array), array.name)

    def _bytes(self, out: Writer, arrays: Sequence[Array]) -> None:
        """Write the size of each array's part that the region touches."""
        for array in arrays:
            size = f"sizeof({array.element}) * {self._call_count(array)}"
            out.line(f"const size_t {array.name}_bytes = {size};")

    def _shift(self, array: Array) -> str:
        """Return what leads from the first element of an array's section to where it begins."""
        lowest = signed(fold(self.analysis.shapes[array.name].lowest), self.analysis.region)
        return "" if lowest == Int(0) else f" - {plain_c(lowest, RIGHT_OF_SUM)}"

    @contextmanager
    def _memory(self, out: Writer, arrays: Sequence[Array]) -> Iterator[None]:
        """Write memory of the device around what uses arrays of the region's alone by their names.

        What is written inside runs where all have been allocated.
        """
        self._bytes(out, arrays)
        for array in arrays:
            out.line(f"{array.element} *d_{array.name} = NULL;")
        for array in arrays:
            write_step(out, _allocation(f"d_{array.name}", f"{array.name}_bytes"))
        with out.block("if (status == cudaSuccess)"):
            for array in arrays:
                out.line(f"{array.element} *{array.name} = d_{array.name}{self._shift(array)};")
            yield
        for array in arrays:
            out.line(_leaving(f"d_{array.name}"))

    # Launches ---------------------------------------------------------------------------

    def _launch(self, out: Writer) -> None:
        """Write the function that launches the kernels.

        Of `resident` data nothing is left as it was once a kernel has run, so each launch is asked
        for its error before the next one, and the caller learns whether any has run.
        """
        texts = [text for version in self._all for text in version.texts.values()]
        scratch = _scratch(texts)
        # One kernel may serve several sizes.
        asking = {t.name: t for t in texts if t.shared_bytes}
        more = (f"bool *{WRITTEN}",) if self.resident else ()
        own = [a for a in self._on_device.arrays if a not in self._passed.arrays]
        head = self._head(f"static cudaError_t {self.name}_launch", self._passed, *more)
        may_fail = bool(scratch or asking) or self.resident
        if self.resident:
            self._kept(out, scratch)
        with out.block(head):
            if self.resident and scratch:
                out.line("const annotune_turn annotune_own_turn;")
            for name, (kind, _) in scratch.items():
                out.line(f"{kind} *{name} = NULL;")
            if self.resident:
                out.line(
                    "/* An error of earlier calls is not to pass for one of these launches. */"
                )
                out.line("cudaError_t status = cudaGetLastError();")
            elif may_fail:
                out.line("cudaError_t status = cudaSuccess;")
            self._ask(out, asking.values())
            for name, (kind, count) in scratch.items():
                size = f"{count} * sizeof({kind})"
                kept = f"cudaGetSymbolAddress((void **)&{name}, {name}{_KEPT})"
                made = _allocation(name, size)
                write_step(out, kept if self.resident else made)
            run = out.block("if (status == cudaSuccess)") if may_fail else nullcontext()
            with self._memory(out, own) if own else run:
                if self.analysis.region.is_resident:
                    out.line(f"{BEGUN}();")
                self._versions(out)
                if may_fail and not self.resident:
                    out.line("status = cudaGetLastError();")
            for name in () if self.resident else scratch:
                out.line(_leaving(name))
            out.line(f"return {'status' if may_fail else 'cudaGetLastError()'};")
        out.line()

    def _part(self, out: Writer, parts: LaunchParts) -> None:
        """Write the function that launches the tuned kernels for some iterations of the parts."""
        (version, *_), passed = self.tuned, self._passed
        out.line(
            f"/* The tuned kernels for some of the {parts.count} iterations on their blocks. */"
        )
        more = (f"long {FIRST}", f"long {COUNT}")
        with out.block(self._head(f"static cudaError_t {self.name}_part", passed, *more)):
            if parts.inner is not None:
                self._divided(out, passed, parts.inner.count)
            for array in passed.arrays:
                ahead = _ahead(parts, array.name)
                if ahead:
                    out.line(f"{array.name} += {ahead};")
            out.line("cudaError_t status = cudaSuccess;")
            self._ask(out, version.texts.values())
            with out.block("if (status == cudaSuccess)"):
                write_steps(
                    out,
                    Dialect(self.analysis.region),
                    version.steps,
                    lambda place, k: self._write_launch(place, version.texts[k.name], parts),
                )
                out.line("status = cudaGetLastError();")
            out.line("return status;")
        out.line()

    def _divided(self, out: Writer, passed: Interface, count: int) -> None:
        """Write one launch for each iteration of the outer loop."""
        out.line(f"const long annotune_some = {count} - {FIRST} % {count};")
        with out.block(f"if ({COUNT} > annotune_some)"):
            call = f"{self.name}_part({passed.names()}, {FIRST}"
            out.line(f"const cudaError_t begun = {call}, annotune_some);")
            rest = f"{call} + annotune_some, {COUNT} - annotune_some)"
            out.line(f"return begun == cudaSuccess ? {rest} : begun;")

    @staticmethod
    def _ask(out: Writer, texts: Iterable[KernelText]) -> None:
        """Write the calls that ask for shared memory beyond what a block has by itself."""
        for text in texts:
            if text.shared_bytes:
                limit = "cudaFuncAttributeMaxDynamicSharedMemorySize"
                write_step(out, f"cudaFuncSetAttribute({text.name}, {limit}, {text.shared_bytes})")

    @staticmethod
    def _kept(out: Writer, scratch: Mapping[str, tuple[str, int]]) -> None:
        """Write the memory of the device, there from the start, for what blocks leave.

        To allocate some would cost a call more than its kernels. Calls at the same time share it:
        each puts all its kernels into the stream before the next one.
        """
        if scratch:
            out.line("/* What blocks leave to be combined: no call allocates memory for it. */")
        for name, (kind, count) in scratch.items():
            # No complex number is constructed there before a kernel runs.
            size = f"{count} * sizeof({kind})"
            words = f"static __device__ __align__({VECTOR_BYTES}) unsigned char"
            out.line(f"{words} {name}{_KEPT}[{size}];")
        if scratch:
            out.line()

    def _aligned_tests(self, *versions: Version) -> list[Expr]:
        """Return tests that arrays start where the vectors of tuned kernels may.

        What `cudaMalloc` returns does; a pointer of the user's may stand in the middle.
        """
        texts = (text for version in versions for text in version.texts.values())
        names = {name for text in texts for name in text.aligned}
        arrays = [a.name for a in self.caller.arrays if a.name in names and self.resident]
        places = [Binary("%", Cast(SIZE, Var(name)), Int(VECTOR_BYTES)) for name in arrays]
        return [Binary("==", place, Int(0)) for place in places]

    def _versions(self, out: Writer) -> None:
        """Write the launches for each of the tuned sizes, and those for all others."""
        general, (first, *others) = self.general, self.tuned
        if others:
            self._for_each_size(out)
            return
        tests = joined([*first.tests, *self._aligned_tests(first)])
        if general is None or not tests:
            self._steps(out, first)
            return
        with out.block(f"if ({tests})", "} else {"):
            self._steps(out, first)
        with out.deeper():
            self._steps(out, general)
        out.line("}")

    def _for_each_size(self, out: Writer) -> None:
        """Write the launches for several sizes, those that come out alike as one."""

        def text(version: Version) -> str:
            part = Writer()
            self._steps(part, version)
            return part.text()

        rest = "" if self.general is None else text(self.general)
        branches: dict[str, list[Sequence[Expr]]] = {}
        for version in self.tuned:
            aligned = self._aligned_tests(version) if self.general is not None else []
            branches.setdefault(text(version), []).append((*version.tests, *aligned))
        branches.pop(rest, None)
        write_branches(out, branches, rest)

    def _steps(self, out: Writer, version: Version) -> None:
        """Write the launches of a version, with the host's loops around theirs."""

        def write(place: Writer, kernel: Kernel) -> None:
            self._write_launch(place, version.texts[kernel.name])

        write_steps(out, Dialect(self.analysis.region), version.steps, write)

    def _write_launch(
        self, out: Writer, text: KernelText, parts: LaunchParts | None = None
    ) -> None:
        """Write one launch; a grid axis longer than the device allows is cut and strided."""
        extents = []
        dialect = Dialect(self.analysis.region)
        for level in BLOCKS:
            trip = text.grid.trips.get(level)
            if parts is not None and parts.axes[text.name][0] is level:
                times = parts.axes[text.name][1]
                extents.append(f"(unsigned)({COUNT}{f' * {times}' if times > 1 else ''})")
                continue
            if trip is None:
                extents.append("1")
                continue
            known, limit = fold(trip, text.constants), text.grid.limits[level]
            if isinstance(known, Int):
                extents.append(str(min(known.value, limit)))
            else:
                loops = [x for x in text.kernel.placed() if x.place == level]
                if any(dialect.iterator_type(x) not in WIDE for x in loops):
                    limit = text.grid.most_blocks(level, max(x.step for x in loops))
                # A loop of the host may leave none to an unsigned iterator inside of it.
                wanted = signed(known, self.analysis.region)
                if level in text.grid.flat and wanted == known:
                    wanted = wide(known)
                extents.append(f"annotune_extent({plain_c(wanted)}, {limit})")
        threads = ", ".join(str(n) for n in text.grid.threads)
        scratch = [_scratch_name(text, partial) for partial in text.partials]
        arguments = ", ".join(filter(None, [text.passed.names(), *scratch]))
        with out.block(""):
            out.line(f"const dim3 blocks({', '.join(extents)});")
            out.line(f"const dim3 threads({threads});")
            asked = f", {text.shared_bytes}" if text.shared_bytes else ""
            self._call(out, f"{text.name}<<<blocks, threads{asked}>>>({arguments});")
            if text.last is not None:
                count = "(int)(blocks.x * blocks.y * blocks.z)"
                arguments = ", ".join(filter(None, [text.last.passed.names(), *scratch, count]))
                self._call(out, f"{text.last.name}<<<1, threads>>>({arguments});")

    def _call(self, out: Writer, launch: str) -> None:
        """Write one launch; of resident data only where all before it have succeeded."""
        if not self.resident:
            out.line(launch)
            return
        with out.block("if (status == cudaSuccess)"):
            out.line(launch)
            out.line("status = cudaGetLastError();")
            out.line(f"*{WRITTEN} = *{WRITTEN} || status == cudaSuccess;")

    # The entry --------------------------------------------------------------------------

    def _reach(self) -> tuple[Expr, ...]:
        """Return tests that no index goes beyond its type."""
        plans = [(version.steps, version.constants) for version in self._all]
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
        tests += self._aligned_tests(*self.tuned) if general is None else []
        pairs = may_overlap(outer)
        with out.block(self._head(f'extern "C" void {region.entry}', self.caller)):
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
            if region.is_resident and not self.resident and (tests or pairs):
                runs = runs_at_all(self.analysis, Dialect(region, objects=self.held))
                out.line(f"if (!fits && ({runs}))" if runs else "if (!fits)")
                with out.deeper():
                    out.line(f"{ALL_ON_HOST}();")
            with out.block("if (fits)" if tests or pairs else ""):
                self._attempt(out)
            if self.resident:
                self._original_there(out)
            else:
                self._on_host(out, outer.arrays, True)
                out.line(f"{self.name}_original({outer.names()});")
                if self._added:
                    out.line(f"{PUT_BACK}();")
        out.line()

    def _original_there(self, out: Writer) -> None:
        """Write the launch of the original nest on the device, where it must succeed."""
        out.line("/* Errors of earlier calls are not this one's. */")
        out.line("cudaGetLastError();")
        call = f"{self.name}_original<<<1, 1>>>({self.outer.names()});"
        if not self._own:
            out.line(call)
            out.line("const cudaError_t status = cudaGetLastError();")
        else:
            out.line("cudaError_t status = cudaSuccess;")
            with self._memory(out, self._own):
                out.line(call)
                out.line("status = cudaGetLastError();")
        with out.block("if (status != cudaSuccess)"):
            self._stop(out, "status", NOTHING_RUNS)

    def _stop(self, out: Writer, error: str, why: str) -> None:
        """Write the end of the program where no right result is left to be had."""
        words = f'"{self.analysis.region.entry}: %s; " "{why}\\n"'
        out.line(f"fprintf(stderr, {words}, cudaGetErrorString({error}));")
        out.line("abort();")

    def _attempt(self, out: Writer) -> None:
        """Write the call of the kernels, from which the entry returns when all has gone well.

        Else the original nest follows, but for data that kernels have changed already: on what they
        left it would compute something else.
        """
        names, runner = self._passed.names(), "launch" if self.resident else "device"
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
        out.line(f'{TELL}("{self.analysis.region.entry}", status);')


def _unless_divided_by_0(expr: Expr, text: str, otherwise: str) -> str:
    """Return the text of an expression that the nest need not get to, and what is there then."""
    found = () if isinstance(expr, Select) else divisors(expr, {})
    tests = " || ".join(plain_c(Binary("==", one, Int(0))) for one in found)
    return f"{tests} ? {otherwise} : {text}" if tests else text


def _allocation(pointer: str, size: str) -> str:
    return f"{ALLOCATE}((void **)&{pointer}, {size})"


def _leaving(pointer: str) -> str:
    """Return the call that leaves memory for later ones."""
    return f"{FREE}({pointer}, status);"


def _ahead(parts: LaunchParts, name: str) -> str:
    """Return how many elements an array lies ahead for the first iteration, empty for none."""
    step, inner = parts.steps.get(name, 0), parts.inner
    if inner is None:
        return f"{FIRST} * {step}" if step else ""
    both = (f"{FIRST} / {inner.count}", step), (f"{FIRST} % {inner.count}", inner.steps[name])
    return " + ".join(f"{turn} * {each}" for turn, each in both if each)


def _scaled(array: Array, count: int) -> str:
    """Return the bytes of so many elements."""
    return f"sizeof({array.element}) * {count}" if count > 0 else "0"


def _names(arrays: Sequence[Array]) -> frozenset[str]:
    return frozenset(array.name for array in arrays)


def _wide(outer: Interface, length: Expr) -> str:
    """Return 64-bit parameters for the scalars that a length uses."""
    used = variables(length)
    return ", ".join(f"long long {s.name}" for s in outer.scalars if s.name in used)
