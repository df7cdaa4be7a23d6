"""The loop nests of a C file that nobody has annotated: which can be tuned, and what they weigh.

The largest nest that can be tuned is taken; of one that cannot, those inside it. Neighbours in a
block become one region where they share arrays, so that these are copied once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log2, prod

from annotune.analysis.facts import LoopKind
from annotune.analysis.statements import value_at
from annotune.annotation.regions import AnnotationBlock
from annotune.annotation.spec import Assumptions, Parameter, Spec
from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, Span, Template
from annotune.frontend.load import load_sound
from annotune.frontend.loop_places import LoopPlace, loop_places
from annotune.init.samples import Samples
from annotune.ir.expr import Expr, accesses, variables
from annotune.ir.fold import trip_count
from annotune.ir.nest import Loop, expressions, walk_stmts
from annotune.ir.region import Region
from annotune.pipeline import Settings, annotated_places, examined
from annotune.report.findings import CheckReport, RegionReport
from annotune.schedule.messages import NO_PARALLEL_LOOP

INSIDE_DIRECTIVE = Template(
    "AT660",
    "this nest is inside '{directive}', whose threads would each run the tuned code",
    "leave it to that directive, or take the directive out and annotate the nest",
)
NO_NESTS = Template(
    "AT661",
    "there is no `for` loop in {where}",
    "`annotune init` looks for nests of `for`; name the file that has them",
)

# Iterations of a nest at assumed sizes: some 10 ms on one core, and no array beyond 128 MiB.
_ITERATIONS = 1 << 24
_LARGEST_SIZE, _LEAST_SIZE = 1 << 20, 16
# Elements between which a size that is only in subscripts, such as a stride, may put others.
_ELEMENTS = 1 << 26
_WORD_BYTES = 8

_UNSIZED: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class OpenSize:
    """A size of a region that C leaves open: the name a user gives it, and its value.

    One that `is_assumed` has been given by nobody.
    """

    name: str
    value: int
    is_assumed: bool


@dataclass(frozen=True)
class FoundNest:
    """A nest of a file, or several neighbours of one block that make one region.

    `report` is what `check` says of it at its `sizes`, None where it was not looked at, because it
    `is_annotated` already, or refused before it was analysed. `why_not` is why it is left.
    """

    loops: tuple[LoopPlace, ...]
    report: RegionReport | None = None
    sizes: tuple[OpenSize, ...] = ()
    why_not: Diagnostic | None = None
    is_annotated: bool = False
    assumptions: Assumptions = field(default_factory=Assumptions)

    @property
    def start(self) -> int:
        return self.loops[0].start

    @property
    def end(self) -> int:
        return self.loops[-1].end

    @property
    def span(self) -> Span:
        return self.loops[0].span

    @property
    def function(self) -> str:
        return self.loops[0].function

    @property
    def depth(self) -> int:
        return max(one.depth for one in self.loops)

    @property
    def is_accepted(self) -> bool:
        """Return whether an annotation can be put around it."""
        return self.why_not is None and not self.is_annotated

    @property
    def operations(self) -> int | None:
        """Return the operations and words of memory of one run; None where they are not known.

        A word is 8 bytes, and each element counts as often as it is read and written at the least.
        """
        analysis = self.report.analysis if self.report is not None else None
        if analysis is None:
            return None
        work = analysis.total
        return work.flop + (work.bytes_read + work.bytes_written) // _WORD_BYTES or None

    @property
    def spec(self) -> Spec:
        """Return what an annotation of it says."""
        params = tuple(Parameter(one.name, (one.value,)) for one in self.sizes)
        return Spec(input_params=params, span=self.span, assumptions=self.assumptions)

    @property
    def block(self) -> AnnotationBlock:
        """Return the region that it would be."""
        where = (self.start, self.end, self.start, self.end)
        return AnnotationBlock(*where, self.spec, self.span)


@dataclass(frozen=True)
class Survey:
    """The nests of a C `text`, in its order; `samples` are those of a program with that `file`."""

    file: str
    text: str
    nests: tuple[FoundNest, ...]
    samples: Samples = field(default_factory=Samples)

    @property
    def accepted(self) -> tuple[FoundNest, ...]:
        return tuple(nest for nest in self.nests if nest.is_accepted)

    def share(self, nest: FoundNest) -> float | None:
        """Return a nest's share of all operations that could be counted, each nest run once."""
        counted = sum(one.operations or 0 for one in self.nests)
        return nest.operations / counted if nest.operations and counted else None

    def measured(self, nest: FoundNest) -> float | None:
        """Return the share of the program's time that was sampled in the lines of a nest.

        None where the program has no line numbers of the file, or nothing was sampled.
        """
        if not self.samples.total:
            return None
        first = nest.span.line
        last = first + self.text.count("\n", nest.loops[0].at, nest.end)
        return self.samples.of_lines(self.file, first, last)

    def measured_around(self, nest: FoundNest) -> float | None:
        """Return the same of the function around a nest, None where it has no samples."""
        return self.samples.of_function(nest.function) if self.samples.total else None


def survey(
    settings: Settings, given: Mapping[str, int] = _UNSIZED, is_joining: bool = True
) -> Survey:
    """Return the nests of the file of the settings, with the sizes that are `given`.

    Neighbours are one region only where `is_joining`.

    Raises:
        AnnotuneError: The file cannot be read, is no C, has a wrong annotation, or no loop.
    """
    text, path = settings.text, str(settings.source)
    blocks, _, problems = annotated_places(settings, text)
    errors = [d for d in problems if d.severity is Severity.ERROR]
    if errors:
        raise AnnotuneError(tuple(errors))
    places = loop_places(text, path, settings.search)
    own = [one for one in places if settings.function in ("", one.function)]
    if not own:
        where = f"function '{settings.function}'" if settings.function else "this file"
        raise AnnotuneError.of(NO_NESTS.at(Span(path, 1, 1), where=where))
    bare = replace(settings, sizes={}, function="")
    found = _Looking(bare, text, given, blocks, is_joining).at(own)
    return Survey(settings.source.name, text, tuple(sorted(found, key=lambda one: one.start)))


def _overlaps(place: LoopPlace, block: AnnotationBlock) -> bool:
    return block.start < place.end and place.start < block.end


@dataclass
class _Looking:
    """Looks at nests, the outer ones first; `values` are sizes assumed so far, by function."""

    settings: Settings
    text: str
    given: Mapping[str, int]
    blocks: Sequence[AnnotationBlock]
    is_joining: bool
    values: dict[tuple[str, str], int] = field(default_factory=dict)

    def at(self, places: Sequence[LoopPlace]) -> list[FoundNest]:
        """Return what is found at `places`, and inside of those that are refused."""
        done = [one for place in places for one in self._at_once(place)]
        seen = {one.start for one in done}
        open_ = [place for place in places if place.start not in seen]
        split = [p for p in open_ if any(_overlaps(p, block) for block in self.blocks)]
        tried = self._tried([(place,) for place in open_ if place not in split])
        accepted = {one.start: one for one in tried if one.is_accepted}
        left = [one for one in tried if not one.is_accepted]
        inner = [p for one in (*split, *(n.loops[0] for n in left)) for p in one.inner]
        # A loop inside a macro's expansion has the place of the macro's use.
        starts = {place.start for place in places}
        inner = [place for place in inner if place.start not in starts]
        below = self.at(inner) if inner else []
        joined = self._joined(places, accepted)
        return [*done, *joined, *left, *(one for one in below if one.why_not is None)]

    def _at_once(self, place: LoopPlace) -> Iterator[FoundNest]:
        """Yield a nest of which nothing need be asked."""
        if any(block.start <= place.start and place.end <= block.end for block in self.blocks):
            yield FoundNest((place,), is_annotated=True)
        elif place.within:
            why = INSIDE_DIRECTIVE.at(place.span, directive=place.within)
            yield FoundNest((place,), why_not=why)

    def _tried(self, runs: Sequence[tuple[LoopPlace, ...]]) -> list[FoundNest]:
        """Return what `check` would say of some places, were they annotated with their sizes."""
        if not runs:
            return []
        path = str(self.settings.source)
        nests = [FoundNest(run) for run in runs]
        bare = [nest.block for nest in nests]
        loaded = load_sound(path, self.text, bare, search=self.settings.search)
        regions = {region.extent.start: region for region in loaded.source.regions}
        self._assume(regions.values())
        sized = [
            replace(n, sizes=self._sizes(regions[n.start])) if n.start in regions else n
            for n in nests
        ]
        report = examined(self.settings, self.text, [nest.block for nest in sized])
        return [judged(nest, report, nest.start) for nest in sized]

    def _assume(self, regions: Iterable[Region]) -> None:
        """Choose the sizes that nobody gives: alike in all nests of a function."""
        found: dict[tuple[str, str], int] = {}
        for region in regions:
            least, bounds = _scale(region), _in_bounds(region)
            for name in _open_sizes(region):
                key = region.function, name
                value = least if name in bounds or least**2 <= _ELEMENTS else 1
                found[key] = min(value, found.get(key, value))
                if _only_begins(region, name):
                    found[key] = 1
        self.values = {**found, **self.values}

    def _sizes(self, region: Region) -> tuple[OpenSize, ...]:
        """Return the open sizes of a region, by the names that a user gives them."""
        out: dict[str, OpenSize] = {}
        keys = {one.name: one.key for one in region.text.aliases}
        integers = {s.name for s in region.scalars.values() if s.type not in ("float", "double")}
        for name in dict.fromkeys((*_open_sizes(region), *sorted(integers & self.given.keys()))):
            key = keys.get(name, name)
            own = key if key.isidentifier() and key not in region.scalars else name
            is_given = own in self.given or name in self.given
            value = self.given.get(own, self.given.get(name))
            assumed = self.values.get((region.function, name), _LEAST_SIZE)
            out[own] = OpenSize(own, assumed if value is None else value, not is_given)
        return tuple(out.values())

    def _joins(self, place: LoopPlace) -> bool:
        return self.is_joining and place.follows

    def _joined(
        self, places: Sequence[LoopPlace], accepted: Mapping[int, FoundNest]
    ) -> list[FoundNest]:
        """Return the accepted nests, those neighbours as one that can be one region."""
        runs: list[list[FoundNest]] = []
        for place in places:
            nest = accepted.get(place.start)
            if nest is None:
                runs.append([])
            elif self._joins(place) and runs and runs[-1] and _share_arrays(runs[-1], nest):
                runs[-1].append(nest)
            else:
                runs.append([nest])
        several = [run for run in runs if len(run) > 1]
        tried = self._tried([tuple(one.loops[0] for one in run) for run in several])
        taken = {one.start: one for one in tried if one.is_accepted and _is_whole(one)}
        out: list[FoundNest] = []
        for run in runs:
            whole = taken.get(run[0].start) if len(run) > 1 else None
            out += [whole] if whole is not None else run
        return out


def judged(nest: FoundNest, report: CheckReport, start: int) -> FoundNest:
    """Return a nest with what was said of its region, which begins at `start` of the text."""
    own = next((one for one in report.regions if one.region.extent.start == start), None)
    if own is None:
        left = next((one for one in report.source.left if one.start == start), None)
        said = [d for d in report.diagnostics if left is not None and d.message == left.reason]
        if not said:
            # What is wrong is wrong with the file.
            raise AnnotuneError(report.diagnostics)
        return replace(nest, why_not=min(said, key=lambda d: _far(d.span, nest.span)))
    errors = [d for d in own.diagnostics if d.severity is Severity.ERROR]
    serial = [d for d in own.diagnostics if d.code == NO_PARALLEL_LOOP.code]
    why = next(iter((*errors, *serial)), None)
    return replace(nest, report=own, why_not=why)


def _far(span: Span, other: Span) -> tuple[bool, int]:
    """Return what is least of the diagnostic of several alike that stands in a nest."""
    return (span.line < other.line, abs(span.line - other.line))


def _open_sizes(region: Region) -> tuple[str, ...]:
    """Return the integers in bounds, subscripts and extents that C leaves open, in text order."""
    exprs: list[Expr] = []
    for stmt in walk_stmts(region.nest.body):
        own = expressions(stmt)
        exprs += own if isinstance(stmt, Loop) else ()
        exprs += [index for expr in own for access in accesses(expr) for index in access.indices]
    arrays = (region.arrays[n] for n in sorted(region.nest.arrays()) if n in region.arrays)
    exprs += [extent for array in arrays for extent in array.extents if extent is not None]
    names = {name for expr in exprs for name in variables(expr)}
    fixed = region.known_sizes.keys() | region.nest.iterators() | region.nest.written_scalars()
    open_ = (s.name for s in region.scalars.values() if s.type not in ("float", "double"))
    return tuple(name for name in open_ if name in names - fixed)


def _in_bounds(region: Region) -> frozenset[str]:
    """Return the names that decide how often loops run, or how long arrays are."""
    loops = (expr for loop in region.nest.loops() for expr in (loop.lower, loop.upper))
    extents = (extent for array in region.arrays.values() for extent in array.extents)
    exprs = (expr for expr in (*loops, *extents) if expr is not None)
    return frozenset(name for expr in exprs for name in variables(expr))


def _only_begins(region: Region, name: str) -> bool:
    """Return whether a size is where loops begin, and nothing else."""
    loops = region.nest.loops()
    begins = any(name in variables(loop.lower) for loop in loops)
    return begins and not any(name in variables(loop.upper) for loop in loops)


def _scale(region: Region) -> int:
    """Return a power of two for the open sizes, at which the nest is worth tuning."""
    least, longest = _LARGEST_SIZE, 1
    is_open = False
    for path in region.nest.paths().values():
        counts = [value_at(trip_count(loop), region.known_sizes) for loop in path]
        known = [max(1, count) for count in counts if count is not None]
        longest = max(longest, *known, 1)
        open_ = len(counts) - len(known)
        if open_:
            is_open = True
            least = min(least, 1 << int(log2(max(1, _ITERATIONS // prod(known))) / open_))
    # What is in no bound is the length of rows, of which the loops run through one.
    return max(least, _LEAST_SIZE) if is_open else 1 << (longest - 1).bit_length()


def _share_arrays(before: Sequence[FoundNest], nest: FoundNest) -> bool:
    """Return whether a nest touches an array of those before it."""
    known = {name for one in before for name in _arrays(one)}
    return bool(known & _arrays(nest))


def _arrays(nest: FoundNest) -> frozenset[str]:
    return nest.report.region.nest.arrays() if nest.report is not None else frozenset()


def _is_whole(nest: FoundNest) -> bool:
    """Return whether each loop of a joined region has iterations that run in parallel."""
    analysis = nest.report.analysis if nest.report is not None else None
    if analysis is None:
        return False
    parallel: list[bool] = []
    for facts in analysis.loops:
        is_parallel = facts.kind is not LoopKind.SERIAL
        if len(facts.path) == 1:
            parallel.append(is_parallel)
        else:
            parallel[-1] |= is_parallel
    return all(parallel)
