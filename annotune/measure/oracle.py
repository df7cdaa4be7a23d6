"""The original, as the measure of every variant: its results and how exact they are.

Source:
    Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, section 3.1:
    a computed inner product, whatever the order of summation and with or without fused
    multiply-add, differs from the exact one by at most gamma_n sum |x_i y_i|, where
    gamma_n = n u / (1 - n u) and u is the unit roundoff.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from annotune.analysis.facts import Analysis
from annotune.diagnostics import AnnotuneError, Template
from annotune.ir.expr import Real, Var, accesses, variables, walk
from annotune.ir.region import Region, SourceFile
from annotune.measure.compile import (
    RUNTIME_FOLDER,
    CompileJob,
    CompileResult,
    SourceText,
)
from annotune.measure.harness import nest_source, oracle_source
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
from annotune.measure.program import Original
from annotune.measure.run import Child, Computed, RunJob, RunResult, run_checked
from annotune.measure.shadow import shadow_of
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

Reals: TypeAlias = npt.NDArray[Any]

UNIT_ROUNDOFF = {"double": 2.0**-53, "float": 2.0**-24}
"""u of IEEE 754 binary64 and binary32 in round-to-nearest."""

CONDITION_ALLOWANCE = 2.0**10
"""By how much a division by a computed value, or a function such as ``sqrt``, may magnify an
error before the result is called wrong. A convention of annotune's, not a bound."""

LARGEST_RELATIVE = 1e-3
"""No tolerance is wider than this share of the largest result: past it nothing is checked."""


def gamma(count: Reals, unit: float) -> Reals:
    """Return Higham's gamma_n = n u / (1 - n u) for every n, infinite from n u = 1 on."""
    product = np.asarray(count, dtype=np.float64) * unit
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(product < 1.0, product / (1.0 - product), np.inf)


def bound(magnitude: Reals, count: Reals, element: str) -> Reals:
    """Return how far two computed results may differ, for each element.

    Both the original and the variant may lie gamma_n M from the exact value, which makes
    2 gamma_n M. M has itself been computed with up to n roundings, so that the true sum of
    magnitudes is up to M / (1 - gamma_n).

    Args:
        magnitude: M, the sum of the absolute values of the terms behind each element.
        count: n, the roundings on the longest chain behind each element.
        element: The coarsest type that the region computes with, ``double`` or ``float``.
    """
    if count.size and count.min() == count.max():
        count = count[:1]  # the usual case, and a third of the time for a large array
    error = gamma(count, UNIT_ROUNDOFF[element])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        share = np.where(error < 0.5, error / (1.0 - error), np.inf)
        return np.asarray(2.0 * share * np.asarray(magnitude, dtype=np.float64))


def relative_bound(expected: Reals, count: Reals, element: str) -> Reals:
    """Return the tolerance where no rigorous one is to be had cheaply, for each element.

    A region that divides by what it has computed, or calls a function, has errors in
    proportion to a condition number that M does not hold. The tolerance is then
    `CONDITION_ALLOWANCE` times 2 gamma_n of the largest result in the array, and at most
    `LARGEST_RELATIVE` of it.
    """
    finite = np.abs(expected[np.isfinite(expected)], dtype=np.float64)
    largest = float(finite.max()) if finite.size else 0.0
    share = 2.0 * CONDITION_ALLOWANCE * gamma(count, UNIT_ROUNDOFF[element])
    limited = np.minimum(np.where(np.isnan(share), LARGEST_RELATIVE, share), LARGEST_RELATIVE)
    return np.asarray(limited * largest)


def capped(tolerance: Reals, expected: Reals) -> Reals:
    """Return `tolerance` with what is not finite replaced by `LARGEST_RELATIVE` of the largest.

    A chain of products that doubles its roundings at each step has no finite bound.
    """
    finite = np.abs(expected[np.isfinite(expected)], dtype=np.float64)
    widest = LARGEST_RELATIVE * (float(finite.max()) if finite.size else 0.0)
    return np.where(np.isfinite(tolerance), tolerance, widest)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The worst element that lies outside its tolerance, and how many do.

    `index` counts elements from the array's own first one; `part` names the component of a
    complex one.
    """

    array: str
    index: int
    got: float
    expected: float
    tolerance: float
    wrong: int
    total: int
    part: str = ""

    def __str__(self) -> str:
        place = f"{self.array}[{self.index}]{self.part}"
        return (
            f"{place} is {self.got:.17g}, expected {self.expected:.17g} "
            f"within {self.tolerance:.3g}; {self.wrong} of {self.total} elements are wrong"
        )


def compare(
    array: str,
    expected: Reals,
    got: Reals,
    tolerance: Reals,
    untouched: Reals | None = None,
    has_nan: bool = False,
    has_signs: bool = False,
) -> Mismatch | None:
    """Return the worst element of `got` outside its tolerance, or None when all are inside.

    NaN equals nothing, unless the right result `has_nan`: then it must be where it is there. Zeros
    of both signs are equal, unless it `has_signs`. Integers must be equal. `untouched` marks
    elements that the original left as they were: there the very bits must have stayed, a NaN's
    payload included.
    """
    wrong, worst, worst_excess = 0, -1, -1.0
    for start in range(0, expected.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        excess = _excess(
            expected[part],
            got[part],
            tolerance[part],
            None if untouched is None else untouched[part],
            has_nan,
            has_signs,
        )
        if excess is None:
            continue
        wrong += int(np.count_nonzero(excess >= 0.0))
        largest = int(np.argmax(excess))
        if excess[largest] > worst_excess:
            worst, worst_excess = start + largest, float(excess[largest])
    if not wrong:
        return None
    return Mismatch(
        array,
        worst,
        float(got[worst]),
        float(expected[worst]),
        float(tolerance[worst]),
        wrong,
        int(expected.size),
    )


# Elements compared at a time: what numpy makes on the way stays in the L2 cache.
_CHUNK = 1 << 15


def _excess(
    expected: Reals,
    got: Reals,
    tolerance: Reals,
    untouched: Reals | None,
    has_nan: bool,
    has_signs: bool,
) -> Reals | None:
    """Return by how much each wrong element exceeds its tolerance, and -1 for right ones.

    None when all are right.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(np.subtract(got, expected, dtype=np.float64))
        right = got == expected
        if expected.dtype.kind == "f":
            right |= difference <= tolerance
            if has_nan:
                right |= np.isnan(expected) & np.isnan(got)
            if has_signs:
                are_zeros = (expected == 0.0) & (got == 0.0)
                right &= ~(are_zeros & (np.signbit(expected) != np.signbit(got)))
        if untouched is not None and untouched.any():
            bits = np.dtype(f"u{expected.dtype.itemsize}")
            right = np.where(untouched, got.view(bits) == expected.view(bits), right)
        if right.all():
            return None
        excess = np.nan_to_num(difference - tolerance, nan=np.inf, posinf=np.inf)
    # A bit that changed in an untouched NaN has no size; it is wrong all the same.
    return np.where(right, -1.0, np.maximum(excess, 0.0))


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
    ) -> None:
        super().__init__(source, analysis, tools, folder, flags)
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
        job = CompileJob((SourceText(text),), "c", self.flags)
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
        source = SourceText(oracle_source(self.source, self.region))
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
        result = run_checked(RunJob(Child(library, limit_s=ORACLE_LIMIT_S), inputs), folder)
        if result.status is not Status.CORRECT:
            raise _NoResult(f"{who}{result.reason}")
        return result

    def evictor(self) -> str:
        """Return the library by which a measuring child empties the processor's caches.

        Compiled once; nothing where that cannot be done.
        """
        source = SourceText((RUNTIME_FOLDER / "evict.c").read_text())
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
            limits = self._tolerances(
                parts,
                inputs.read(buffer, magnitude.path),
                inputs.read(buffer, count.path),
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
            np.array(original.reals[: len(inputs.reals)]),
            _absolute(names, magnitude.reals),
            _absolute(names, count.reals),
            coarsest_type(self.region, {*names.reals, *names.complexes}),
        )
        return OracleResult(
            inputs, expected, tolerance, original.integers, original.reals, tuple(limits.tolist())
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
