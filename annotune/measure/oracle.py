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
from annotune.ir.expr import Real, Var, accesses, variables, walk
from annotune.ir.region import Region, SourceFile
from annotune.measure.compile import CompileJob, CompileResult, Source, compile_job
from annotune.measure.elements import Family, components, is_poison
from annotune.measure.harness import Signature, nest_source, oracle_source, signature
from annotune.measure.inputs import (
    SPECIAL,
    ZERO_VALUES,
    Buffer,
    Inputs,
    Values,
    make_inputs,
    narrowed,
    zero_inputs,
)
from annotune.measure.overlaps import Overlap
from annotune.measure.run import Outcome, RunJob, TimingPlan, run_checked
from annotune.measure.shadow import shadow_of
from annotune.measure.tolerance import Mismatch, bound, capped, compare, relative_bound
from annotune.measure.toolchain import Toolchains
from annotune.measure.trial import Status
from annotune.measure.zeros import fixes_zeros

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

ORACLE_LIMIT_S = 120.0
"""How long the original, or a program that follows it, may run on one set of inputs."""


@dataclass(frozen=True, slots=True)
class Reference:
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


class Oracle:
    """The original of one region, compiled once; its results are kept per sizes and seed.

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
    ) -> None:
        self.source = source
        self.analysis = analysis
        self.region = analysis.region
        self.tools = tools
        self.folder = folder
        # A header beside the user's file is found from the scratch folder as well.
        beside = f"-iquote{Path(source.path).resolve().parent}"
        # Workers are given them all, and must look for what is compiled by the same ones.
        self.flags = flags if beside in flags else (*flags, beside)
        self._lock = threading.RLock()
        self._references: dict[tuple[object, ...], Reference] = {}
        self._watched: CompileResult | None = None
        shadow = shadow_of(self.region)
        self._is_linear = shadow.is_linear
        self._fixes_zeros = fixes_zeros(analysis)
        bodies = (shadow.magnitude, shadow.count)
        texts = [nest_source(source, self.region, body) for body in bodies]
        with ThreadPoolExecutor(1 + len(texts)) as pool:
            # The original first: what the compiler says of it is what the user is told.
            made = list(pool.map(self._compiled, [oracle_source(source, self.region), *texts]))
        self.library, *self._shadow_libraries = (one.path for one in made)
        self.compile_s = made[0].time_s

    def _compiled(self, text: str) -> CompileResult:
        if self.tools.c is None:
            problem = self.tools.problems.get("c", "")
            raise AnnotuneError.of(NO_C_COMPILER.at(self.region.span, words=problem))
        job = CompileJob((Source(text),), "c", self.flags)
        result = compile_job(job, self.tools, self.folder / "compiled")
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
    ) -> Reference:
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

    def _narrowed(self, whole: Reference) -> Reference:
        """Return a reference with a part alone of the arrays, as the original watched touches."""
        if whole.problem:
            return whole
        if self._watched is None:
            source = Source(oracle_source(self.source, self.region))
            job = CompileJob((source,), "c-watched", self.flags)
            self._watched = compile_job(job, self.tools, self.folder / "compiled")
        if not self._watched.ok:
            return Reference(whole.inputs, problem=f"the original watched: {self._watched.output}")
        folder = whole.inputs.path.parent / "watched"
        library = self._watched.path
        outcome = run_checked(RunJob(library, whole.inputs, folder, limit_s=ORACLE_LIMIT_S))
        if outcome.status is not Status.CORRECT:
            return Reference(whole.inputs, problem=f"the original watched {outcome.reason}")
        names = (buffer.name for buffer in whole.inputs.buffers)
        inputs = narrowed(whole.inputs, self.region, dict(zip(names, outcome.touched, strict=True)))
        expected, tolerance = dict(whole.expected), dict(whole.tolerance)
        for before, now in zip(whole.inputs.buffers, inputs.buffers, strict=True):
            if now.name in expected:
                first, end = now.first - before.first, now.first - before.first + now.count
                parts = tolerance[now.name].size // max(1, expected[now.name].size)
                expected[now.name] = expected[now.name][first:end]
                tolerance[now.name] = tolerance[now.name][first * parts : end * parts]
        return replace(whole, inputs=inputs, expected=expected, tolerance=tolerance)

    def run(
        self,
        inputs: Inputs,
        folder: Path,
        timing: TimingPlan | None = None,
    ) -> Outcome:
        """Return how the original ends on `inputs`, timed when `timing` is given."""
        job = RunJob(self.library, inputs, folder, limit_s=ORACLE_LIMIT_S, timing=timing)
        return run_checked(job)

    def _make_reference(self, inputs: Inputs, folder: Path) -> Reference:
        outcome = self.run(inputs, folder / "original")
        if outcome.status is not Status.CORRECT:
            return Reference(inputs, problem=f"the original {outcome.reason}")
        zeros = zero_inputs(inputs, self.region, folder / "zeros")
        shadows = [
            run_checked(RunJob(library, given, folder / name, limit_s=ORACLE_LIMIT_S))
            for name, library, given in zip(
                ("magnitude", "count"), self._shadow_libraries, (inputs, zeros), strict=True
            )
        ]
        for shadow in shadows:
            if shadow.status is not Status.CORRECT:
                return Reference(inputs, problem=f"the bound on the original: {shadow.reason}")
        return self._with_tolerances(inputs, outcome, shadows[0], shadows[1], folder)

    def _with_tolerances(
        self, inputs: Inputs, outcome: Outcome, magnitude: Outcome, count: Outcome, folder: Path
    ) -> Reference:
        expected: dict[str, npt.NDArray[Any]] = {}
        tolerance: dict[str, npt.NDArray[Any]] = {}
        for buffer in (b for b in inputs.buffers if b.is_written):
            values = inputs.read(buffer, outcome.outputs)
            expected[buffer.name] = values
            if buffer.number.family is Family.INTEGER:
                tolerance[buffer.name] = np.broadcast_to(np.float64(0.0), values.shape)
                continue
            parts = components(values)
            bad = np.isnan(parts) & ~is_poison(values, buffer.number)
            if bad.any() and inputs.values not in SPECIAL:
                number = int(np.argmax(bad)) * values.size // parts.size + buffer.first
                return Reference(
                    inputs, problem=f"the original leaves NaN in {buffer.name}[{number}]"
                )
            limits = self._tolerances(
                parts,
                inputs.read(buffer, magnitude.outputs),
                inputs.read(buffer, count.outputs),
                coarsest_type(self.region, {buffer.name}),
            )
            # On disk, where the page cache holds them: at the tuned sizes they are as large
            # as the arrays themselves.
            path = folder / f"tolerance-{len(expected)}.npy"
            np.save(path, limits)
            tolerance[buffer.name] = np.load(
                path, mmap_mode="r" if limits.size else None, allow_pickle=False
            )
        names = signature(self.region)
        limits = self._tolerances(
            np.array(outcome.reals[: len(inputs.reals)]),
            _absolute(names, magnitude.reals),
            _absolute(names, count.reals),
            coarsest_type(self.region, {*names.reals, *names.complexes}),
        )
        return Reference(
            inputs, expected, tolerance, outcome.integers, outcome.reals, tuple(limits.tolist())
        )

    def _tolerances(
        self,
        expected: npt.NDArray[Any],
        magnitude: npt.NDArray[Any],
        count: npt.NDArray[Any],
        element: str,
    ) -> npt.NDArray[Any]:
        """Return the tolerance of each component, from what the two shadow programs left.

        `element` is the coarsest type that rounds on the way to the values. Of a complex
        number the programs leave the absolute value and the count, which hold for both parts.
        """
        parts = expected.size // max(1, count.size)
        counts = count.real if parts == 1 else np.repeat(count.real, parts)
        if not self._is_linear:
            return relative_bound(expected, counts, element)
        # Elements that the region leaves alone keep their sign in the magnitude program.
        sizes = np.abs(magnitude) if parts == 1 else np.repeat(np.abs(magnitude), parts)
        return capped(bound(sizes, counts, element), expected)

    def mismatch(self, reference: Reference, outcome: Outcome, may_reorder: bool = False) -> str:
        """Return in words where `outcome` differs from the original, or nothing.

        Where a compiler `may_reorder` what is computed no zero has a sign.
        """
        values = reference.inputs.values
        has_nan = values in SPECIAL
        has_signs = self._fixes_zeros and not may_reorder and values in (*SPECIAL, *ZERO_VALUES)
        for buffer in (b for b in reference.inputs.buffers if b.is_written):
            expected = reference.expected[buffer.name]
            got = reference.inputs.read(buffer, outcome.outputs, outcome.outputs_at)
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
        return self._scalar_mismatch(reference, outcome, has_signs)

    def _scalar_mismatch(self, reference: Reference, outcome: Outcome, has_signs: bool) -> str:
        names = signature(self.region)
        for number, name in enumerate(names.integers):
            got, wanted = outcome.integers[number], reference.integers[number]
            if name in names.written and got != wanted:
                return f"{name} is {got} after the region, expected {wanted}"
        for number, name in enumerate(names.slots()):
            if name not in names.written:
                continue
            found = compare(
                name,
                np.array([reference.reals[number]]),
                np.array([outcome.reals[number]]),
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


def _absolute(names: Signature, reals: tuple[float, ...]) -> npt.NDArray[Any]:
    """Return the absolute value behind each double of a call's scalars, of both parts for two."""
    count = len(names.reals)
    pairs = np.array(reals[count : count + 2 * len(names.complexes)])
    sizes = np.hypot(pairs[::2], pairs[1::2])
    return np.concatenate([np.abs(reals[:count]), np.repeat(sizes, 2)])


def coarsest_type(region: Region, names: set[str]) -> str:
    """Return the coarsest floating type of all that flows into some arrays and scalars.

    ``float`` where any of it is stored or written as one, else ``double``: a float beside
    them in the region does not loosen the bound on doubles that never meet it.
    """
    into = set(names)
    literals: list[str] = []
    while True:
        before = len(into)
        literals = []
        for assign in region.nest.assigns():
            target = assign.target.name if isinstance(assign.target, Var) else assign.target.array
            if target not in into:
                continue
            for source in assign.sources():
                into |= {a.array for a in accesses(source)} | variables(source)
                literals += [e.text for e in walk(source) if isinstance(e, Real)]
        if len(into) == before:
            break
    types = [array.element for array in region.arrays.values() if array.name in into]
    types += [s.type for s in region.scalars.values() if s.name in into]
    is_float = any("float" in t for t in types) or any(t.lower().endswith("f") for t in literals)
    return "float" if is_float else "double"


def _counted_from(found: Mismatch, buffer: Buffer) -> Mismatch:
    """Return `found` with its index as C counts it: in elements, from the pointer."""
    parts = buffer.dtype.itemsize // buffer.number.component.itemsize
    return replace(
        found,
        index=found.index // parts + buffer.first,
        part=(".real", ".imag")[found.index % parts] if parts > 1 else "",
    )
