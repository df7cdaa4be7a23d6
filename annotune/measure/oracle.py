"""The original, as the measure of every variant: its results and how exact they are."""

from __future__ import annotations

import itertools
import shutil
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
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
    shaken_inputs,
    zero_inputs,
)
from annotune.measure.parts.sample import Part, Sample, sample_of, work_of
from annotune.measure.program import Original, nest_source, oracle_source
from annotune.measure.run import Child, Computed, RunJob, RunResult, run_in_one_child
from annotune.measure.tolerance import (
    Mismatch,
    coarsest_type,
    compare,
    shadow_of,
    tolerances,
    widened,
)
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

    With `is_narrow` arrays have no more than what the original touches of them. With a `sample` its
    iterations alone are run.
    """

    sizes: tuple[tuple[str, int], ...]
    seed: int
    values: Values = Values.USUAL
    overlap: Overlap | None = None
    is_narrow: bool = False
    sample: Sample | None = None


@dataclass(frozen=True, slots=True)
class OracleResult:
    """What the original leaves at one set of sizes.

    `problem` says why there is none: the original crashed or took too long there, or its own
    result is not a number; nothing can be checked at these sizes then. That run took `took_s`
    seconds: infinitely many where it was ended, 0 where nobody knows. Of a sample `expected` has
    the elements alone that it has changed, whose places are in `places`.
    """

    asked: Asked
    inputs: Inputs
    expected: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    integers: tuple[int, ...] = ()
    reals: tuple[float, ...] = ()
    problem: str = ""
    took_s: float = 0.0
    places: Mapping[str, npt.NDArray[np.intp]] = field(default_factory=dict)

    def of_sample(self, buffer: Buffer, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the values of an array that are compared: all of them, or those of a sample."""
        return values[self.places[buffer.name]] if self.asked.sample is not None else values


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


SCATTERED = 8
# So often are inputs moved by their last bits: all that cancels out each time is seen as exact.
SHAKES = 2
"""How many times as long an assignment of a sample may take: neighbours share cached data."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the original takes: `each_s` an assignment, as so many `runs` of a part of it tell.

    A whole run of the original may take `whole_s`, and that of a sample `sample_s`; on other values
    than the usual ones a whole one may take no longer than that.
    """

    each_s: float
    runs: int
    whole_s: float
    sample_s: float

    def limit_s(self, values: Values) -> float:
        """Return the seconds that a whole run may take."""
        return self.whole_s if values is Values.USUAL else self.sample_s


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
        self._shaken: Once[Asked, Mapping[str, npt.NDArray[Any]]] = Once()
        self._numbers = itertools.count()
        self._followers: Once[tuple[bool, Part | None], Followers] = Once()
        self._inputs: Once[Asked, Inputs] = Once()
        self._samples: Once[tuple[tuple[str, int], ...], Sample | None] = Once()
        self.pace: Pace | None = None
        self._fixes_zeros = fixes_zeros(analysis)
        with ThreadPoolExecutor(1) as pool:
            # The original first: what the compiler says of it is what the user is told.
            following = pool.submit(self._following, False)
            # As it is timed: where it takes long its one run is also its time.
            made = self._built(oracle_source(source, self.region), (USUAL,))
            following.result()
        self.library = made.path
        self.compile_s = made.time_s

    def _following(self, is_shared: bool, part: Part | None = None) -> Followers:
        """Return the programs that follow the original; its arrays share memory if `is_shared`."""
        make = partial(self._made_to_follow, is_shared, part)
        return self._followers.of((is_shared, part), make)

    def _made_to_follow(self, is_shared: bool, part: Part | None) -> Followers:
        shadow = shadow_of(self.region, is_shared, part)
        bodies = (shadow.magnitude, shadow.count)
        with ThreadPoolExecutor(len(bodies)) as pool:
            texts = (nest_source(self.source, self.region, body) for body in bodies)
            magnitude, count = pool.map(lambda text: self._built(text, ()).path, texts)
        return Followers(magnitude, count, shadow.is_linear)

    def _partial(self, part: Part | None) -> Path:
        """Return the library that runs a part of the nest, that of the original for all of it."""
        if part is None:
            return self.library
        body = shadow_of(self.region, part=part).values
        return self._built(nest_source(self.source, self.region, body), (USUAL,)).path

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
        is_whole = overlap is not None or is_narrow
        sample = None if is_whole else self.sample(sizes, values)
        asked = Asked(tuple(sorted(sizes.items())), seed, values, overlap, is_narrow, sample)
        return self._references.of(asked, lambda: self._referred(asked))

    def sample(self, sizes: Mapping[str, int], values: Values = Values.USUAL) -> Sample | None:
        """Return the sample of its iterations in whose place the whole original would take long.

        None where all are run: there is time for them, or no sample is small enough.
        """
        pace = self.pace
        if pace is None or self.expected_s(sizes) <= pace.limit_s(values):
            return None
        most = pace.sample_s / (SCATTERED * pace.each_s)
        key = tuple(sorted(sizes.items()))
        return self._samples.of(key, lambda: sample_of(self.analysis, sizes, most))

    def expected_s(self, sizes: Mapping[str, int]) -> float:
        """Return the seconds that the original is expected to take, 0 where its pace is unknown."""
        if self.pace is None:
            return 0.0
        return self.pace.each_s * work_of(self.analysis, sizes)

    def took_s(self, sizes: Mapping[str, int], seed: int, part: Part) -> float:
        """Return the seconds of a run of a part of the original, 0 where it does not end well.

        Raises:
            ValueError: C has no such arrays at these sizes.
        """
        inputs = self._inputs_of(Asked(tuple(sorted(sizes.items())), seed))
        with self._one_run(self._partial(part), inputs) as ran:
            return ran.took_s if ran.status is Status.CORRECT else 0.0

    def _inputs_of(self, asked: Asked) -> Inputs:
        """Return the inputs that are asked for; those of a sample are those of the whole."""
        asked = replace(asked, is_narrow=False, sample=None)
        return self._inputs.of(asked, lambda: self._made_inputs(asked))

    def _made_inputs(self, asked: Asked) -> Inputs:
        folder, sizes = self.folder / f"inputs-{next(self._numbers)}", dict(asked.sizes)
        return make_inputs(self.analysis, sizes, asked.seed, folder, asked.values, asked.overlap)

    def _referred(self, asked: Asked) -> OracleResult:
        if asked.is_narrow:
            return self._narrowed(asked, self._whole(asked))
        inputs = self._inputs_of(asked)
        with self._one_run(self._partial(asked.sample), inputs) as ran:
            took_s = inf if ran.status is Status.TIMEOUT else ran.took_s
            problem = f"the original {ran.reason}"
            if ran.status is Status.CORRECT:
                try:
                    return self._expected(asked, inputs, ran)
                except NothingToCompare as none:
                    problem = str(none)
            return OracleResult(asked, inputs, problem=problem, took_s=took_s)

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
        try:
            if not watched.ok:
                raise NothingToCompare(f"the original watched: {watched.output}")
            touched = self._run(
                "the original watched ", watched.path, whole.inputs, lambda ran: ran.touched
            )
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

    def _tolerance_by_last_bits(
        self, reference: OracleResult, name: str
    ) -> npt.NDArray[Any] | None:
        """Return the tolerance of an array where the original itself depends on the last bits.

        None where sums of products alone make the array: no bound on them is an estimate.

        Raises:
            NothingToCompare: The original does not end well.
        """
        asked = reference.asked
        if self._following(asked.overlap is not None, asked.sample).is_linear:
            return None
        whole = self._whole(asked) if asked.is_narrow else reference
        moved = self._shaken.of(whole.asked, lambda: self._moved_by_last_bits(whole))[name]
        if asked.is_narrow:
            parts = moved.size // max(1, whole.expected[name].size)
            first, end = next(
                (first * parts, end * parts)
                for kept, first, end in _kept(whole.inputs, reference.inputs)
                if kept == name
            )
            moved = moved[first:end]
        limits = self.tolerance(reference).arrays[name]
        return widened(limits, moved, components(reference.expected[name]))

    def _moved_by_last_bits(self, reference: OracleResult) -> Mapping[str, npt.NDArray[Any]]:
        """Return how far each result is at most from what inputs a few last bits away give."""
        library, who = self._partial(reference.asked.sample), "the original on shaken inputs: "
        found = dict[str, npt.NDArray[Any]]()
        for number in range(SHAKES):
            folder = self.folder / f"shaken-{next(self._numbers)}"
            inputs = shaken_inputs(reference.inputs, folder, number)
            left = self._run(who, library, inputs, partial(self._left_in, reference, folder))
            for buffer in self._compared(inputs):
                expected = components(reference.expected[buffer.name])
                with np.errstate(invalid="ignore", over="ignore"):
                    apart = np.abs(components(left[buffer.name]).astype(np.float64) - expected)
                apart = np.where(np.isfinite(apart), apart, 0.0)
                found[buffer.name] = np.maximum(apart, found.get(buffer.name, 0.0))
        return found

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
        asked, inputs = reference.asked, reference.inputs
        following = self._following(asked.overlap is not None, asked.sample)
        bound = "the bound on the original: "
        folder = self.folder / f"bound-{next(self._numbers)}"
        zeros = zero_inputs(inputs, self.region, folder / "zeros")
        runs = ((following.magnitude, inputs), (following.count, zeros))

        def left_by(number: int) -> tuple[Mapping[str, npt.NDArray[Any]], tuple[float, ...]]:
            kept = partial(self._left_in, reference, folder / str(number))
            return self._run(bound, *runs[number], lambda ran: (kept(ran), ran.left.reals))

        with ThreadPoolExecutor(len(runs)) as pool:
            # What fails first in this order is what the user is told.
            magnitude, count = pool.map(left_by, range(len(runs)))
        bounds = (magnitude[0], count[0])
        arrays = self._array_tolerances(reference, *bounds, following.is_linear, folder)
        names = signature(self.region)
        limits = tolerances(
            np.array(reference.reals[: len(inputs.reals)]),
            _absolute(names, magnitude[1]),
            _absolute(names, count[1]),
            coarsest_type(self.region, {*names.reals, *names.complexes}),
            following.is_linear,
        )
        return Tolerance(arrays, tuple(limits.tolist()))

    def _left_in(
        self, reference: OracleResult, folder: Path, ran: RunResult
    ) -> dict[str, npt.NDArray[Any]]:
        """Return what a program that follows the original leaves where there is a comparison.

        Of whole arrays that is in a file of `folder`: memory need not hold them.
        """
        inputs = reference.inputs
        if reference.asked.sample is None:
            path = _kept_outputs(ran, folder)
            return {b.name: inputs.read(b, path) for b in self._compared(inputs)}
        left = ran.left
        each = ((b, inputs.read(b, left.path, left.start)) for b in self._compared(inputs))
        return {buffer.name: reference.of_sample(buffer, values) for buffer, values in each}

    def _run(self, who: str, library: Path, inputs: Inputs, read: Callable[[RunResult], T]) -> T:
        """Return what is `read` of a run of the original, or of a program that follows it.

        Raises:
            NothingToCompare: It did not end well, in words that begin with `who`.
        """
        with self._one_run(library, inputs) as ran:
            if ran.status is not Status.CORRECT:
                raise NothingToCompare(f"{who}{ran.reason}")
            return read(ran)

    @contextmanager
    def _one_run(self, library: Path, inputs: Inputs) -> Iterator[RunResult]:
        """Give how a run ended; what it has left is gone afterwards."""
        child = Child(library, limit_s=self._limit_s)
        with run_in_one_child(child, [RunJob(inputs)]) as (ran,):
            yield ran

    def evictor(self) -> str:
        """Return the library by which a measuring child empties caches, and makes short calls.

        Compiled once; nothing where that cannot be done.
        """
        source = TranslationUnit((RUNTIME_FOLDER / "evict.c").read_text())
        built = self.compile(CompileJob((source,), "c"))
        return str(built.path) if built.ok else ""

    def _expected(self, asked: Asked, inputs: Inputs, ran: RunResult) -> OracleResult:
        """Return what a run of the original has left.

        Raises:
            NothingToCompare: Some of it is not a number.
        """
        expected, places = dict[str, npt.NDArray[Any]](), dict[str, npt.NDArray[np.intp]]()
        left, path = ran.left, None
        if asked.sample is None:
            path = _kept_outputs(ran, self.folder / f"reference-{next(self._numbers)}")
        for buffer in self._compared(inputs):
            if path is None:
                values = inputs.read(buffer, left.path, left.start)
                numbers = places[buffer.name] = _changed(values, inputs.read(buffer))
                values = values[numbers]
            else:
                values, numbers = inputs.read(buffer, path), None
            expected[buffer.name] = values
            if buffer.number.family is not Family.INTEGER and not _may_have_nan(inputs):
                _refuse_nan(buffer, values, numbers)
        scalars = (left.integers, left.reals)
        return OracleResult(asked, inputs, expected, *scalars, "", ran.took_s, places)

    def _compared(self, inputs: Inputs) -> Iterator[Buffer]:
        """Yield the arrays whose values count after the region."""
        arrays = self.region.arrays
        return (b for b in inputs.buffers if b.is_written and not arrays[b.name].is_scratch)

    def _array_tolerances(
        self,
        reference: OracleResult,
        magnitude: Mapping[str, npt.NDArray[Any]],
        count: Mapping[str, npt.NDArray[Any]],
        is_linear: bool,
        folder: Path,
    ) -> dict[str, npt.NDArray[Any]]:
        inputs, found = reference.inputs, dict[str, npt.NDArray[Any]]()
        for buffer in self._compared(inputs):
            values = reference.expected[buffer.name]
            if buffer.number.family is Family.INTEGER:
                found[buffer.name] = np.broadcast_to(np.float64(0.0), values.shape)
                continue
            limits = tolerances(
                components(values),
                magnitude[buffer.name],
                count[buffer.name],
                coarsest_type(self.region, {buffer.name}),
                is_linear,
            )
            # On disk, where the page cache holds them: at the tuned sizes they are as large
            # as the arrays themselves.
            path = folder / f"tolerance-{len(found)}.npy"
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
            got = reference.of_sample(buffer, got)
            if np.array_equal(bits(expected), bits(got)):
                continue
            within = partial(
                compare,
                buffer.name,
                components(expected),
                components(got),
                untouched=is_poison(expected, buffer.number),
                has_nan=has_nan,
                has_signs=has_signs,
            )
            found = within(self.tolerance(reference).arrays[buffer.name])
            if found and buffer.number.family is not Family.INTEGER:
                wider = self._tolerance_by_last_bits(reference, buffer.name)
                found = found if wider is None else within(wider)
            if found:
                return str(_counted_from(found, buffer, reference.places.get(buffer.name)))
        if reference.asked.sample is not None:
            return ""  # what a sample leaves in scalars is not what the whole does
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


def _kept_outputs(ran: RunResult, folder: Path) -> Path:
    """Return a file in `folder` with what a run has left."""
    assert not ran.left.start
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "output.run"
    shutil.copyfile(ran.left.path, path)
    return path


def _changed(left: npt.NDArray[Any], before: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the places of the elements that a run has changed, by their bits."""
    differs = bits(left) != bits(before)
    return np.flatnonzero(differs.reshape(left.size, -1).any(axis=1))


def _refuse_nan(
    buffer: Buffer, values: npt.NDArray[Any], numbers: npt.NDArray[np.intp] | None
) -> None:
    """Refuse results that are not numbers; `numbers` are their places where some are left out.

    Raises:
        NothingToCompare: There are such.
    """
    parts = components(values)
    bad = np.isnan(parts) & ~is_poison(values, buffer.number)
    if bad.any():
        number = int(np.argmax(bad)) * values.size // parts.size
        place = (number if numbers is None else int(numbers[number])) + buffer.first
        raise NothingToCompare(f"the original leaves NaN in {buffer.name}[{place}]")


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


def _counted_from(found: Mismatch, buffer: Buffer, places: npt.NDArray[np.intp] | None) -> Mismatch:
    """Return `found` with its index as C counts it: in elements, from the pointer."""
    parts = buffer.dtype.itemsize // buffer.number.component.itemsize
    number = found.index // parts
    return replace(
        found,
        index=(number if places is None else int(places[number])) + buffer.first,
        part=(".real", ".imag")[found.index % parts] if parts > 1 else "",
    )
