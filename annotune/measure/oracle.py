"""The original, as the measure of every variant: its results and how exact they are."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from annotune.analysis.facts import Analysis
from annotune.diagnostics import AnnotuneError, Template
from annotune.ir.region import SourceFile
from annotune.measure.compile import (
    RUNTIME_FOLDER,
    CompileJob,
    CompileResult,
    TranslationUnit,
)
from annotune.measure.inputs import (
    SPECIAL,
    ZERO_VALUES,
    Buffer,
    Inputs,
    Overlap,
    Values,
    make_inputs,
    narrowed,
    zero_inputs,
)
from annotune.measure.program import Original, nest_source, oracle_source
from annotune.measure.run import Child, Computed, RunJob, RunResult, run_checked
from annotune.measure.tolerance import Mismatch, coarsest_type, compare, shadow_of, tolerances
from annotune.measure.toolchain import Toolchains
from annotune.measure.trial import Status
from annotune.measure.values import (
    EntryArguments,
    Family,
    components,
    fixes_zeros,
    is_poison,
    signature,
)

ORACLE_DOES_NOT_COMPILE = Template(
    "AT501",
    "the original does not compile, so that nothing can be checked against it: {words}",
    help="name your compiler in CC, and pass -I and -D as you do when you build",
)
NO_C_COMPILER = Template(
    "AT502",
    "no C compiler: {words}",
    help="install gcc, or name a compiler in CC",
)

ORACLE_LIMIT_S = 600.0
"""How long the original, or a program that follows it, may run on one set of inputs."""


@dataclass(frozen=True, slots=True)
class OracleResult:
    """What the original leaves at one set of sizes, with a tolerance for every element.

    `problem` says why there is none: the original crashed or took too long there, or its own
    result is not a number; nothing can be checked at these sizes then.
    """

    inputs: Inputs
    expected: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    tolerance: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    integers: tuple[int, ...] = ()
    reals: tuple[float, ...] = ()
    real_tolerance: tuple[float, ...] = ()
    problem: str = ""


class _NoResult(Exception):
    """The original leaves nothing to compare with, and why."""


class Oracle(Original):
    """The original of one region, run: its results are kept per sizes and seed.

    `compile_s` is how long that took, in seconds.

    Raises:
        AnnotuneError: The original does not compile here.
    """

    def __init__(
        self,
        source: SourceFile,
        analysis: Analysis,
        tools: Toolchains,
        folder: Path,
        flags: tuple[str, ...] = (),
        limit_s: float = ORACLE_LIMIT_S,
    ) -> None:
        super().__init__(source, analysis, tools, folder, flags)
        self._limit_s = limit_s
        self._lock = threading.RLock()
        self._references: dict[tuple[object, ...], OracleResult] = {}
        shadow = shadow_of(self.region)
        self._is_linear = shadow.is_linear
        self._fixes_zeros = fixes_zeros(analysis)
        bodies = (shadow.magnitude, shadow.count)
        texts = [nest_source(source, self.region, body) for body in bodies]
        with ThreadPoolExecutor(1 + len(texts)) as pool:
            # The original first: what the compiler says of it is what the user is told.
            made = list(pool.map(self._built, [oracle_source(source, self.region), *texts]))
        self.library, *self._shadow_libraries = (one.path for one in made)
        self.compile_s = made[0].time_s

    def _built(self, text: str) -> CompileResult:
        if self.tools.c is None:
            problem = self.tools.problems.get("c", "")
            raise AnnotuneError.of(NO_C_COMPILER.at(self.region.span, words=problem))
        job = CompileJob((TranslationUnit(text),), "c", self.flags)
        result = self.compile(job)
        if not result.ok:
            words = result.output.strip()
            raise AnnotuneError.of(ORACLE_DOES_NOT_COMPILE.at(self.region.span, words=words))
        return result

    def reference(
        self,
        sizes: Mapping[str, int],
        seed: int,
        values: Values = Values.USUAL,
        overlap: Overlap | None = None,
        is_narrow: bool = False,
    ) -> OracleResult:
        """Return what the original leaves on the inputs that `make_inputs` makes of all this.

        With `is_narrow` arrays have no more than what the original touches of them.
        """
        key = (tuple(sorted(sizes.items())), seed, values, overlap, is_narrow)
        with self._lock:
            if key not in self._references and is_narrow:
                whole = self.reference(sizes, seed, values, overlap)
                self._references[key] = self._narrowed(whole)
            elif key not in self._references:
                folder = self.folder / f"reference-{len(self._references)}"
                inputs = make_inputs(self.analysis, sizes, seed, folder, values, overlap)
                self._references[key] = self._make_reference(inputs, folder)
            return self._references[key]

    def _narrowed(self, whole: OracleResult) -> OracleResult:
        """Return a reference with a part alone of the arrays, as the original watched touches."""
        if whole.problem:
            return whole
        source = TranslationUnit(oracle_source(self.source, self.region))
        watched = self.compile(CompileJob((source,), "c-watched", self.flags))
        folder = whole.inputs.path.parent / "watched"
        try:
            if not watched.ok:
                raise _NoResult(f"the original watched: {watched.output}")
            touched = self._run("the original watched ", watched.path, whole.inputs, folder).touched
        except _NoResult as none:
            return OracleResult(whole.inputs, problem=str(none))
        names = (buffer.name for buffer in whole.inputs.buffers)
        inputs = narrowed(whole.inputs, self.region, dict(zip(names, touched, strict=True)))
        expected, tolerance = dict(whole.expected), dict(whole.tolerance)
        for before, now in zip(whole.inputs.buffers, inputs.buffers, strict=True):
            if now.name in expected:
                first, end = now.first - before.first, now.first - before.first + now.count
                parts = tolerance[now.name].size // max(1, expected[now.name].size)
                expected[now.name] = expected[now.name][first:end]
                tolerance[now.name] = tolerance[now.name][first * parts : end * parts]
        return replace(whole, inputs=inputs, expected=expected, tolerance=tolerance)

    def _run(self, who: str, library: Path, inputs: Inputs, folder: Path) -> RunResult:
        """Return how a run of the original, or of a program that follows it, ended well.

        Raises:
            _NoResult: It did not, in words that begin with `who`.
        """
        child = Child(library, limit_s=self._limit_s)
        result = run_checked(child, RunJob(inputs), folder)
        if result.status is not Status.CORRECT:
            raise _NoResult(f"{who}{result.reason}")
        return result

    def evictor(self) -> str:
        """Return the library by which a measuring child empties the processor's caches.

        Compiled once; nothing where that cannot be done.
        """
        source = TranslationUnit((RUNTIME_FOLDER / "evict.c").read_text())
        built = self.compile(CompileJob((source,), "c"))
        return str(built.path) if built.ok else ""

    def _make_reference(self, inputs: Inputs, folder: Path) -> OracleResult:
        magnitude_library, count_library = self._shadow_libraries
        bound = "the bound on the original: "
        try:
            original = self._run("the original ", self.library, inputs, folder / "original")
            zeros = zero_inputs(inputs, self.region, folder / "zeros")
            magnitude = self._run(bound, magnitude_library, inputs, folder / "magnitude")
            count = self._run(bound, count_library, zeros, folder / "count")
            left = original.left, magnitude.left, count.left
            return self._with_tolerances(inputs, *left, folder)
        except _NoResult as none:
            return OracleResult(inputs, problem=str(none))

    def _with_tolerances(
        self,
        inputs: Inputs,
        original: Computed,
        magnitude: Computed,
        count: Computed,
        folder: Path,
    ) -> OracleResult:
        expected: dict[str, npt.NDArray[Any]] = {}
        tolerance: dict[str, npt.NDArray[Any]] = {}
        for buffer in (b for b in inputs.buffers if b.is_written):
            values = inputs.read(buffer, original.path)
            expected[buffer.name] = values
            if buffer.number.family is Family.INTEGER:
                tolerance[buffer.name] = np.broadcast_to(np.float64(0.0), values.shape)
                continue
            parts = components(values)
            bad = np.isnan(parts) & ~is_poison(values, buffer.number)
            if bad.any() and inputs.values not in SPECIAL:
                number = int(np.argmax(bad)) * values.size // parts.size + buffer.first
                raise _NoResult(f"the original leaves NaN in {buffer.name}[{number}]")
            limits = tolerances(
                parts,
                inputs.read(buffer, magnitude.path),
                inputs.read(buffer, count.path),
                coarsest_type(self.region, {buffer.name}),
                self._is_linear,
            )
            # On disk, where the page cache holds them: at the tuned sizes they are as large
            # as the arrays themselves.
            path = folder / f"tolerance-{len(expected)}.npy"
            np.save(path, limits)
            tolerance[buffer.name] = np.load(
                path, mmap_mode="r" if limits.size else None, allow_pickle=False
            )
        names = signature(self.region)
        limits = tolerances(
            np.array(original.reals[: len(inputs.reals)]),
            _absolute(names, magnitude.reals),
            _absolute(names, count.reals),
            coarsest_type(self.region, {*names.reals, *names.complexes}),
            self._is_linear,
        )
        return OracleResult(
            inputs, expected, tolerance, original.integers, original.reals, tuple(limits.tolist())
        )

    def mismatch(
        self, reference: OracleResult, computed: Computed, may_reorder: bool = False
    ) -> str:
        """Return in words where `computed` differs from the original, or nothing.

        Where a compiler `may_reorder` what is computed no zero has a sign.
        """
        values = reference.inputs.values
        has_nan = values in SPECIAL
        has_signs = self._fixes_zeros and not may_reorder and values in (*SPECIAL, *ZERO_VALUES)
        for buffer in (b for b in reference.inputs.buffers if b.is_written):
            expected = reference.expected[buffer.name]
            got = reference.inputs.read(buffer, computed.path, computed.start)
            found = compare(
                buffer.name,
                components(expected),
                components(got),
                reference.tolerance[buffer.name],
                is_poison(expected, buffer.number),
                has_nan,
                has_signs,
            )
            if found:
                return str(_counted_from(found, buffer))
        return self._scalar_mismatch(reference, computed, has_signs)

    def _scalar_mismatch(self, reference: OracleResult, computed: Computed, has_signs: bool) -> str:
        names = signature(self.region)
        for number, name in enumerate(names.integers):
            got, wanted = computed.integers[number], reference.integers[number]
            if name in names.written and got != wanted:
                return f"{name} is {got} after the region, expected {wanted}"
        for number, name in enumerate(names.slots()):
            if name not in names.written:
                continue
            found = compare(
                name,
                np.array([reference.reals[number]]),
                np.array([computed.reals[number]]),
                np.array([reference.real_tolerance[number]]),
                has_nan=reference.inputs.values in SPECIAL,
                has_signs=has_signs,
            )
            if found:
                return (
                    f"{name} is {found.got:.17g} after the region, expected "
                    f"{found.expected:.17g} within {found.tolerance:.3g}"
                )
        return ""


def _absolute(names: EntryArguments, reals: tuple[float, ...]) -> npt.NDArray[Any]:
    """Return the absolute value behind each double of a call's scalars, of both parts for two."""
    count = len(names.reals)
    pairs = np.array(reals[count : count + 2 * len(names.complexes)])
    sizes = np.hypot(pairs[::2], pairs[1::2])
    return np.concatenate([np.abs(reals[:count]), np.repeat(sizes, 2)])


def _counted_from(found: Mismatch, buffer: Buffer) -> Mismatch:
    """Return `found` with its index as C counts it: in elements, from the pointer."""
    parts = buffer.dtype.itemsize // buffer.number.component.itemsize
    return replace(
        found,
        index=found.index // parts + buffer.first,
        part=(".real", ".imag")[found.index % parts] if parts > 1 else "",
    )
