"""The original, as the measure of every variant: its results and how exact they are."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field, replace
from math import inf
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from annotune.analysis.facts import Analysis
from annotune.codegen.build import USUAL
from annotune.diagnostics import AnnotuneError, Template
from annotune.frozen import dataclass
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
    bits,
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
class Asked:
    """What inputs a reference is made on; see `make_inputs`.

    With `is_narrow` arrays have no more than what the original touches of them.
    """

    sizes: tuple[tuple[str, int], ...]
    seed: int
    values: Values = Values.USUAL
    overlap: Overlap | None = None
    is_narrow: bool = False


@dataclass(frozen=True, slots=True)
class OracleResult:
    """What the original leaves at one set of sizes.

    `problem` says why there is none: the original crashed or took too long there, or its own
    result is not a number; nothing can be checked at these sizes then. That run took `took_s`
    seconds: infinitely many where it was ended, 0 where nobody knows.
    """

    asked: Asked
    inputs: Inputs
    expected: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    integers: tuple[int, ...] = ()
    reals: tuple[float, ...] = ()
    problem: str = ""
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a right result may lie from a reference, for every element and scalar."""

    arrays: Mapping[str, npt.NDArray[Any]]
    reals: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Followers:
    """The libraries of the two programs of a `Shadow`, and whether their bound is linear."""

    magnitude: Path
    count: Path
    is_linear: bool


class NothingToCompare(Exception):
    """The original leaves nothing to compare with, and why."""


K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Once(Generic[K, T]):
    """What is made when it is first asked for: each once, and those of several keys at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[K, Future[T]] = {}

    def of(self, key: K, make: Callable[[], T]) -> T:
        """Return what `make` makes, or has made, for `key`; after a failure it is tried again."""
        with self._lock:
            known = self._made.get(key)
            future = known or self._made.setdefault(key, Future())
        if known is None:
            try:
                future.set_result(make())
            except BaseException as error:
                with self._lock:
                    del self._made[key]
                future.set_exception(error)
        return future.result()


class Oracle(Original):
    """The original of one region, run: its results are kept per inputs.

    How exact these are is asked where a result has other bits alone: to know it takes two runs of
    programs like the original. What it leaves in arrays that nobody reads afterwards
    (`Array.is_scratch`) is compared with nothing. `compile_s` is how long the original took to
    compile, in seconds.

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
        self._references: Once[Asked, OracleResult] = Once()
        self._tolerances: Once[Asked, Tolerance] = Once()
        self._numbers = itertools.count()
        self._followers: Once[bool, Followers] = Once()
        self._fixes_zeros = fixes_zeros(analysis)
        with ThreadPoolExecutor(1) as pool:
            # The original first: what the compiler says of it is what the user is told.
            following = pool.submit(self._following, False)
            # As it is timed: where it takes long its one run is also its time.
            made = self._built(oracle_source(source, self.region), (USUAL,))
            following.result()
        self.library = made.path
        self.compile_s = made.time_s

    def _following(self, is_shared: bool) -> Followers:
        """Return the programs that follow the original; its arrays share memory if `is_shared`."""
        return self._followers.of(is_shared, lambda: self._made_to_follow(is_shared))

    def _made_to_follow(self, is_shared: bool) -> Followers:
        shadow = shadow_of(self.region, is_shared)
        bodies = (shadow.magnitude, shadow.count)
        with ThreadPoolExecutor(len(bodies)) as pool:
            texts = (nest_source(self.source, self.region, body) for body in bodies)
            magnitude, count = pool.map(lambda text: self._built(text, ()).path, texts)
        return Followers(magnitude, count, shadow.is_linear)

    def _built(self, text: str, optimisation: tuple[str, ...]) -> CompileResult:
        if self.tools.c is None:
            problem = self.tools.problems.get("c", "")
            raise AnnotuneError.of(NO_C_COMPILER.at(self.region.span, words=problem))
        unit = TranslationUnit(text)
        job = CompileJob((unit,), "c", self.flags_of("c"), optimisation=optimisation)
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
        asked = Asked(tuple(sorted(sizes.items())), seed, values, overlap, is_narrow)
        return self._references.of(asked, lambda: self._referred(asked))

    def _referred(self, asked: Asked) -> OracleResult:
        if asked.is_narrow:
            return self._narrowed(asked, self._whole(asked))
        folder = self.folder / f"reference-{next(self._numbers)}"
        sizes = dict(asked.sizes)
        inputs = make_inputs(self.analysis, sizes, asked.seed, folder, asked.values, asked.overlap)
        ran = self._ran(self.library, inputs, folder / "original")
        took_s = inf if ran.status is Status.TIMEOUT else ran.took_s
        if ran.status is not Status.CORRECT:
            return OracleResult(asked, inputs, problem=f"the original {ran.reason}", took_s=took_s)
        try:
            expected = self._expected(inputs, ran.left)
        except NothingToCompare as none:
            return OracleResult(asked, inputs, problem=str(none), took_s=took_s)
        scalars = (ran.left.integers, ran.left.reals)
        return OracleResult(asked, inputs, expected, *scalars, took_s=took_s)

    def _whole(self, asked: Asked) -> OracleResult:
        """Return the reference with all of the arrays."""
        whole = replace(asked, is_narrow=False)
        return self._references.of(whole, lambda: self._referred(whole))

    def _narrowed(self, asked: Asked, whole: OracleResult) -> OracleResult:
        """Return a reference with a part alone of the arrays, as the original watched touches."""
        if whole.problem:
            return replace(whole, asked=asked)
        source = TranslationUnit(oracle_source(self.source, self.region))
        watched = self.compile(CompileJob((source,), "c-watched", self.flags_of("c-watched")))
        folder = whole.inputs.path.parent / "watched"
        try:
            if not watched.ok:
                raise NothingToCompare(f"the original watched: {watched.output}")
            touched = self._run("the original watched ", watched.path, whole.inputs, folder).touched
        except NothingToCompare as none:
            return OracleResult(asked, whole.inputs, problem=str(none))
        names = (buffer.name for buffer in whole.inputs.buffers)
        inputs = narrowed(whole.inputs, self.region, dict(zip(names, touched, strict=True)))
        expected = dict(whole.expected)
        for name, first, end in _kept(whole.inputs, inputs):
            if name in expected:
                expected[name] = expected[name][first:end]
        return replace(whole, asked=asked, inputs=inputs, expected=expected)

    def tolerance(self, reference: OracleResult) -> Tolerance:
        """Return how far a right result may lie from a reference, which has no problem.

        Raises:
            NothingToCompare: The programs that tell it do not end well.
        """
        return self._tolerances.of(reference.asked, lambda: self._tolerated(reference))

    def _tolerated(self, reference: OracleResult) -> Tolerance:
        asked = reference.asked
        if not asked.is_narrow:
            return self._measured(reference)
        whole = self._whole(asked)
        found = self.tolerance(whole)
        arrays = dict(found.arrays)
        for name, first, end in _kept(whole.inputs, reference.inputs):
            if name in arrays:
                parts = arrays[name].size // max(1, whole.expected[name].size)
                arrays[name] = arrays[name][first * parts : end * parts]
        return replace(found, arrays=arrays)

    def _measured(self, reference: OracleResult) -> Tolerance:
        inputs, folder = reference.inputs, reference.inputs.path.parent
        following = self._following(reference.asked.overlap is not None)
        bound = "the bound on the original: "
        zeros = zero_inputs(inputs, self.region, folder / "zeros")
        runs = (
            (following.magnitude, inputs, folder / "magnitude"),
            (following.count, zeros, folder / "count"),
        )
        with ThreadPoolExecutor(len(runs)) as pool:
            # What fails first in this order is what the user is told.
            magnitude, count = pool.map(lambda run: self._run(bound, *run).left, runs)
        arrays = self._array_tolerances(reference, magnitude, count, following.is_linear)
        names = signature(self.region)
        limits = tolerances(
            np.array(reference.reals[: len(inputs.reals)]),
            _absolute(names, magnitude.reals),
            _absolute(names, count.reals),
            coarsest_type(self.region, {*names.reals, *names.complexes}),
            following.is_linear,
        )
        return Tolerance(arrays, tuple(limits.tolist()))

    def _run(self, who: str, library: Path, inputs: Inputs, folder: Path) -> RunResult:
        """Return how a run of the original, or of a program that follows it, ended well.

        Raises:
            NothingToCompare: It did not, in words that begin with `who`.
        """
        result = self._ran(library, inputs, folder)
        if result.status is not Status.CORRECT:
            raise NothingToCompare(f"{who}{result.reason}")
        return result

    def _ran(self, library: Path, inputs: Inputs, folder: Path) -> RunResult:
        return run_checked(Child(library, limit_s=self._limit_s), RunJob(inputs), folder)

    def evictor(self) -> str:
        """Return the library by which a measuring child empties the processor's caches.

        Compiled once; nothing where that cannot be done.
        """
        source = TranslationUnit((RUNTIME_FOLDER / "evict.c").read_text())
        built = self.compile(CompileJob((source,), "c"))
        return str(built.path) if built.ok else ""

    def _expected(self, inputs: Inputs, original: Computed) -> dict[str, npt.NDArray[Any]]:
        """Return what the original has left of each written array.

        Raises:
            NothingToCompare: Some of it is not a number.
        """
        expected: dict[str, npt.NDArray[Any]] = {}
        for buffer in self._compared(inputs):
            values = inputs.read(buffer, original.path)
            expected[buffer.name] = values
            if buffer.number.family is Family.INTEGER or _may_have_nan(inputs):
                continue
            parts = components(values)
            bad = np.isnan(parts) & ~is_poison(values, buffer.number)
            if bad.any():
                number = int(np.argmax(bad)) * values.size // parts.size + buffer.first
                raise NothingToCompare(f"the original leaves NaN in {buffer.name}[{number}]")
        return expected

    def _compared(self, inputs: Inputs) -> Iterator[Buffer]:
        """Yield the arrays whose values count after the region."""
        arrays = self.region.arrays
        return (b for b in inputs.buffers if b.is_written and not arrays[b.name].is_scratch)

    def _array_tolerances(
        self, reference: OracleResult, magnitude: Computed, count: Computed, is_linear: bool
    ) -> dict[str, npt.NDArray[Any]]:
        inputs, found = reference.inputs, dict[str, npt.NDArray[Any]]()
        for buffer in self._compared(inputs):
            values = reference.expected[buffer.name]
            if buffer.number.family is Family.INTEGER:
                found[buffer.name] = np.broadcast_to(np.float64(0.0), values.shape)
                continue
            limits = tolerances(
                components(values),
                inputs.read(buffer, magnitude.path),
                inputs.read(buffer, count.path),
                coarsest_type(self.region, {buffer.name}),
                is_linear,
            )
            # On disk, where the page cache holds them: at the tuned sizes they are as large
            # as the arrays themselves.
            path = inputs.path.parent / f"tolerance-{len(found)}.npy"
            np.save(path, limits)
            found[buffer.name] = np.load(
                path, mmap_mode="r" if limits.size else None, allow_pickle=False
            )
        return found

    def mismatch(
        self, reference: OracleResult, computed: Computed, may_reorder: bool = False
    ) -> str:
        """Return in words where `computed` differs from the original, or nothing.

        Where a compiler `may_reorder` what is computed no zero has a sign. What has the bits of the
        original is right, whatever the tolerance.

        Raises:
            NothingToCompare: It differs in bits, and how far it may is not known.
        """
        values = reference.inputs.values
        has_nan = _may_have_nan(reference.inputs)
        has_signs = self._fixes_zeros and not may_reorder and values in (*SPECIAL, *ZERO_VALUES)
        for buffer in self._compared(reference.inputs):
            expected = reference.expected[buffer.name]
            got = reference.inputs.read(buffer, computed.path, computed.start)
            if np.array_equal(bits(expected), bits(got)):
                continue
            found = compare(
                buffer.name,
                components(expected),
                components(got),
                self.tolerance(reference).arrays[buffer.name],
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
            expected, left = (np.array([one.reals[number]]) for one in (reference, computed))
            if np.array_equal(bits(expected), bits(left)):
                continue
            found = compare(
                name,
                expected,
                left,
                np.array([self.tolerance(reference).reals[number]]),
                has_nan=_may_have_nan(reference.inputs),
                has_signs=has_signs,
            )
            if found:
                return (
                    f"{name} is {found.got:.17g} after the region, expected "
                    f"{found.expected:.17g} within {found.tolerance:.3g}"
                )
        return ""


def _may_have_nan(inputs: Inputs) -> bool:
    """Return whether NaN may be a right result of a run on `inputs`."""
    return inputs.values in SPECIAL or inputs.is_recorded


def _kept(whole: Inputs, part: Inputs) -> Iterator[tuple[str, int, int]]:
    """Yield which elements of each array of `whole` are in `part`, from the first to the last."""
    for before, now in zip(whole.buffers, part.buffers, strict=True):
        first = now.first - before.first
        yield now.name, first, first + now.count


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
