"""The launches of a region's kernels, for the sizes that the host's text is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import plain_c
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.cuda_copies import VECTOR_BYTES
from annotune.codegen.cuda_kernel import KernelText
from annotune.codegen.cuda_team import Partial
from annotune.codegen.cuda_types import cuda_type
from annotune.codegen.grid import BLOCKS, COMBINING_BLOCKS, wide
from annotune.codegen.guards import joined, signed
from annotune.codegen.in_place import write_branches
from annotune.codegen.names import Interface
from annotune.codegen.reach import WIDE
from annotune.codegen.writer import Writer
from annotune.ir.expr import Binary, Call, Expr, Int, Var
from annotune.ir.fold import fold
from annotune.schedule.plan import HostLoop, Kernel, Step

WRITTEN = "has_written"
"""In the text, whether a kernel has been launched on data that stay: there is no way back."""

# How an entry ends the program where data stay on the device and no right result is to be had.
TOO_LATE = "kernels have changed the data already, stopping"
NOTHING_RUNS = "the original nest cannot run either, stopping"


@dataclass(frozen=True)
class Version:
    """One set of kernels for a region: the steps, and each kernel's text by its name.

    `tests` hold at the sizes in `constants`, of which C leaves some open.
    """

    steps: tuple[Step, ...]
    texts: Mapping[str, KernelText]
    constants: Mapping[str, int]
    tests: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Launches:
    """Writes the launches of one region.

    Each of `tuned` runs for the sizes that it fixes; `general`, where there is one, for all others.
    Of `resident` data nothing is left as it was once a kernel has run, so each launch is asked for
    its error before the next one.
    """

    analysis: Analysis
    outer: Interface
    tuned: tuple[Version, ...]
    general: Version | None
    resident: bool

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return what the function takes beside what the entry is given."""
        return (f"bool *{WRITTEN}",) if self.resident else ()

    def write(self, out: Writer, head: str) -> None:
        """Write the body of the function behind `head`."""
        scratch = self._scratch()
        # One kernel may serve several sizes.
        asking = {t.name: t for t in self._texts() if t.shared_bytes}
        may_fail = bool(scratch or asking) or self.resident
        with out.block(head):
            for name, kind in scratch.items():
                out.line(f"{kind} *{name} = NULL;")
            if self.resident:
                out.line(
                    "/* An error of earlier calls is not to pass for one of these launches. */"
                )
                out.line("cudaError_t status = cudaGetLastError();")
            elif may_fail:
                out.line("cudaError_t status = cudaSuccess;")
            for text in asking.values():
                limit = "cudaFuncAttributeMaxDynamicSharedMemorySize"
                write_step(out, f"cudaFuncSetAttribute({text.name}, {limit}, {text.shared_bytes})")
            for name, kind in scratch.items():
                size = f"{COMBINING_BLOCKS} * sizeof({kind})"
                write_step(out, f"cudaMalloc((void **)&{name}, {size})")
            with out.block("if (status == cudaSuccess)") if may_fail else nullcontext():
                self._versions(out)
                if may_fail and not self.resident:
                    out.line("status = cudaGetLastError();")
            for name in scratch:
                out.line(f"cudaFree({name});")
            out.line(f"return {'status' if may_fail else 'cudaGetLastError()'};")
        out.line()

    def aligned_tests(self, *versions: Version) -> list[Expr]:
        """Return tests that arrays start where the vectors of tuned kernels may.

        What `cudaMalloc` returns does; a pointer of the user's may stand in the middle.
        """
        texts = (text for version in versions for text in version.texts.values())
        names = {name for text in texts for name in text.aligned}
        arrays = [a.name for a in self.outer.arrays if a.name in names and self.resident]
        places = [Binary("%", Call("(size_t)", (Var(name),)), Int(VECTOR_BYTES)) for name in arrays]
        return [Binary("==", place, Int(0)) for place in places]

    def _scratch(self) -> dict[str, str]:
        """Return the arrays for what blocks leave to be combined, with their types.

        The same ones serve for the tuned sizes and for all others.
        """
        texts = self._texts()
        return {_scratch_name(text, p): cuda_type(p.type) for text in texts for p in text.partials}

    def _texts(self) -> list[KernelText]:
        versions = [*self.tuned, *([self.general] if self.general is not None else [])]
        return [text for version in versions for text in version.texts.values()]

    def _versions(self, out: Writer) -> None:
        """Write the launches for each of the tuned sizes, and those for all others."""
        general, (first, *others) = self.general, self.tuned
        if others:
            self._for_each_size(out)
            return
        tests = joined([*first.tests, *self.aligned_tests(first)])
        if general is None or not tests:
            self._steps(out, first, first.steps)
            return
        with out.block(f"if ({tests})", "} else {"):
            self._steps(out, first, first.steps)
        with out.deeper():
            self._steps(out, general, general.steps)
        out.line("}")

    def _for_each_size(self, out: Writer) -> None:
        """Write the launches for several sizes, those that come out alike as one."""

        def text(version: Version) -> str:
            part = Writer()
            self._steps(part, version, version.steps)
            return part.text()

        rest = "" if self.general is None else text(self.general)
        branches: dict[str, list[Sequence[Expr]]] = {}
        for version in self.tuned:
            aligned = self.aligned_tests(version) if self.general is not None else []
            branches.setdefault(text(version), []).append((*version.tests, *aligned))
        branches.pop(rest, None)
        write_branches(out, branches, rest)

    def _steps(self, out: Writer, version: Version, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case Kernel():
                    self._launch_one(out, version.texts[step.name])
                case HostLoop(loop, inner):
                    dialect = Dialect(self.analysis.region)
                    with out.block(dialect.loop_head(loop)):
                        self._steps(out, version, inner)

    def _launch_one(self, out: Writer, text: KernelText) -> None:
        """Write one launch; a grid axis longer than the device allows is cut and strided."""
        extents = []
        dialect = Dialect(self.analysis.region)
        for level in BLOCKS:
            trip = text.grid.trips.get(level)
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
        arguments = ", ".join([*_names(text), *scratch])
        with out.block(""):
            out.line(f"const dim3 blocks({', '.join(extents)});")
            out.line(f"const dim3 threads({threads});")
            asked = f", {text.shared_bytes}" if text.shared_bytes else ""
            self._call(out, f"{text.name}<<<blocks, threads{asked}>>>({arguments});")
            if text.last is not None:
                count = "(int)(blocks.x * blocks.y * blocks.z)"
                arguments = ", ".join([*_names(text.last), *scratch, count])
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


def _names(text: KernelText) -> list[str]:
    """Return the arguments of a launch, scalars first."""
    return [s.name for s in text.scalars] + [a.name for a in text.arrays]


def _scratch_name(text: KernelText, partial: Partial) -> str:
    """Return the host's name for what the blocks of a kernel leave of `partial`."""
    return f"{text.kernel.name}_{partial.name}"


def write_step(out: Writer, call: str, condition: str = "") -> None:
    """Write one CUDA call that runs only while nothing has failed, and where `condition` holds."""
    also = f" && {condition}" if condition else ""
    out.line(f"if (status == cudaSuccess{also})")
    with out.deeper():
        out.line(f"status = {call};")
