"""The loop nests of a C file that nobody has annotated: which can be tuned, and what they weigh.

The largest nest that can be tuned is taken; of one that cannot, those inside it. Neighbours in a
block become one region where they share arrays, so that these are copied once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import prod

from annotune.analysis.facts import LoopKind
from annotune.analysis.messages import EMPTY_LOOP
from annotune.annotation.regions import AnnotationBlock
from annotune.annotation.spec import Assumptions, Parameter, Spec
from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, Span, Template
from annotune.frontend.load import load_sound
from annotune.frontend.loop_places import LoopPlace, loop_places
from annotune.frontend.read.ladder import Ladder, ladder_of
from annotune.frontend.types.symbols import REALS
from annotune.frozen import dataclass
from annotune.init.assumed import LEAST_SIZE, assumed_sizes, open_sizes
from annotune.init.samples import Samples
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

_WORD_BYTES = 8

_UNSIZED: Mapping[str, int] = {}
_NO_EXTENTS: Mapping[str, tuple[str, ...]] = {}
_NOTHING: Mapping[int, tuple[LoopPlace, ...]] = {}


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

    `around` are the loops of the function that it stands in, the outermost first. `report` is what
    `check` says of it at its `sizes`, None where it was not looked at, because it `is_annotated`
    already, or refused before it was analysed. `why_not` is why it is left.
    """

    loops: tuple[LoopPlace, ...]
    around: tuple[LoopPlace, ...] = ()
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
    """The nests of a C `text`, in its order, with the sizes that were `given`.

    `samples` are those of a program with that `file`.
    """

    file: str
    text: str
    nests: tuple[FoundNest, ...]
    given: Mapping[str, int] = field(default_factory=dict)
    samples: Samples = field(default_factory=Samples)

    @property
    def accepted(self) -> tuple[FoundNest, ...]:
        return tuple(nest for nest in self.nests if nest.is_accepted)

    def operations(self, nest: FoundNest) -> int | None:
        """Return the operations of a nest in one call of its function, None where not known.

        Loops around it count as often as they run, those of unknown length once.
        """
        if nest.operations is None:
            return None
        sizes = self._values(nest)
        counts = (loop.trip_count(sizes) for loop in nest.around)
        return nest.operations * prod(1 if count is None else count for count in counts)

    def uncounted(self, nest: FoundNest) -> LoopPlace | None:
        """Return the first loop around a nest whose length is not known, None without any."""
        sizes = self._values(nest)
        return next((one for one in nest.around if one.trip_count(sizes) is None), None)

    def _values(self, nest: FoundNest) -> dict[str, int]:
        """Return the sizes of the function around a nest, as far as they are given or assumed."""
        return {**self._sizes_of.get(nest.function, {}), **self.given}

    @cached_property
    def _sizes_of(self) -> Mapping[str, Mapping[str, int]]:
        """Return the sizes of the nests of each function."""
        found: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for one in self.nests:
            found[one.function] |= {size.name: size.value for size in one.sizes}
        return found

    def share(self, nest: FoundNest) -> float | None:
        """Return a nest's share of all operations that could be counted, each function called once.

        A nest that is left has none where those in it have.
        """
        own = self._counted.get(nest.loops)
        counted = self._operations_of_leaves
        return own / counted if own and counted else None

    @cached_property
    def _operations_of_leaves(self) -> int:
        return sum(self._counted.values())

    @cached_property
    def _counted(self) -> Mapping[tuple[LoopPlace, ...], int]:
        """Return the operations of the nests that hold no others, by their loops."""
        holding = {loop for one in self.nests for loop in one.around}
        leaves = (one for one in self.nests if one.loops[0] not in holding)
        return {one.loops: self.operations(one) or 0 for one in leaves}

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
    settings: Settings,
    given: Mapping[str, int] = _UNSIZED,
    is_joining: bool = True,
    extents: Mapping[str, tuple[str, ...]] = _NO_EXTENTS,
) -> Survey:
    """Return the nests of the file of the settings, with the sizes that are `given`.

    Neighbours are one region only where `is_joining`. `extents` are those of arrays whose length C
    does not say, as in `Assumptions`.

    Raises:
        AnnotuneError: The file cannot be read, is no C, has a wrong annotation, or no loop.
    """
    text, path = settings.text, str(settings.source)
    blocks, _, problems = annotated_places(settings, text)
    errors = [d for d in problems if d.severity is Severity.ERROR]
    if errors:
        raise AnnotuneError(tuple(errors))
    ladder = ladder_of(path, text, settings.search)
    places = loop_places(ladder.first.file)
    own = [one for one in places if settings.function in ("", one.function)]
    if not own:
        where = f"function '{settings.function}'" if settings.function else "this file"
        raise AnnotuneError.of(NO_NESTS.at(Span(path, 1, 1), where=where))
    bare = replace(settings, sizes={}, function="")
    found = _Looking(bare, ladder, given, blocks, is_joining, extents).at(own)
    nests = tuple(sorted(found, key=lambda one: (one.start, -one.end)))
    return Survey(settings.source.name, text, nests, given)


def _overlaps(place: LoopPlace, block: AnnotationBlock) -> bool:
    return block.start < place.end and place.start < block.end


@dataclass
class _Looking:
    """Looks at nests, the outer ones first; `values` are sizes assumed so far, by function."""

    settings: Settings
    ladder: Ladder
    given: Mapping[str, int]
    blocks: Sequence[AnnotationBlock]
    is_joining: bool
    extents: Mapping[str, tuple[str, ...]]
    values: dict[tuple[str, str], int] = field(default_factory=dict)

    def at(
        self, places: Sequence[LoopPlace], around: Mapping[int, tuple[LoopPlace, ...]] = _NOTHING
    ) -> list[FoundNest]:
        """Return what is found at `places`, and inside of those that are refused.

        `around` has for the start of a place the loops that it stands in.
        """
        done = [one for place in places for one in self._at_once(place)]
        seen = {one.start for one in done}
        open_ = [place for place in places if place.start not in seen]
        split = [p for p in open_ if any(_overlaps(p, block) for block in self.blocks)]
        tried = self._tried(
            [FoundNest((p,), around.get(p.start, ())) for p in open_ if p not in split]
        )
        accepted = {one.start: one for one in tried if one.is_accepted}
        left = [one for one in tried if not one.is_accepted]
        # A loop inside a macro's expansion has the place of the macro's use.
        starts = {place.start for place in places}
        outer = [*split, *(nest.loops[0] for nest in left)]
        inner = [(p, one) for one in outer for p in one.inner if p.start not in starts]
        under = {p.start: (*around.get(one.start, ()), one) for p, one in inner}
        below = self.at([p for p, _ in inner], under) if inner else []
        found = [*done, *self._joined(places, accepted), *left]
        own = [replace(one, around=around.get(one.start, ())) for one in found]
        return [*own, *(one for one in below if one.why_not is None)]

    def _at_once(self, place: LoopPlace) -> Iterator[FoundNest]:
        """Yield a nest of which nothing need be asked."""
        if any(block.start <= place.start and place.end <= block.end for block in self.blocks):
            yield FoundNest((place,), is_annotated=True)
        elif place.within:
            why = INSIDE_DIRECTIVE.at(place.span, directive=place.within)
            yield FoundNest((place,), why_not=why)

    def _tried(self, nests: Sequence[FoundNest]) -> list[FoundNest]:
        """Return what `check` would say of nests, were they annotated with their sizes."""
        if not nests:
            return []
        path = str(self.settings.source)
        vouched = Assumptions(extents=self.extents)
        bare = [replace(nest, assumptions=vouched).block for nest in nests]
        search, ladder = self.settings.search, self.ladder
        loaded = load_sound(path, self.text, bare, search=search, ladder=ladder)
        regions = {region.extent.start: region for region in loaded.source.regions}
        self._assume(regions, nests)
        sized = [self._sized(n, regions[n.start]) if n.start in regions else n for n in nests]
        report = self._examined(sized)
        return [self._filled(judged(nest, report, nest.span)) for nest in sized]

    @property
    def text(self) -> str:
        return self.ladder.source.text

    def _examined(self, nests: Sequence[FoundNest]) -> CheckReport:
        blocks = [nest.block for nest in nests]
        return examined(self.settings, self.text, blocks, ladder=self.ladder)

    def _sized(self, nest: FoundNest, region: Region) -> FoundNest:
        """Return a nest with its sizes, and the extents that are given of its arrays."""
        own = {array: one for array, one in self.extents.items() if array in region.arrays}
        assumed = replace(nest.assumptions, extents=own)
        return replace(nest, sizes=self._sizes(region), assumptions=assumed)

    def _filled(self, nest: FoundNest) -> FoundNest:
        """Return a nest at assumed sizes at which each loop runs, if equal ones leave one empty."""
        if nest.why_not is None or nest.why_not.code != EMPTY_LOOP.code:
            return nest
        for one in (one for one in nest.sizes if one.is_assumed and one.value > 1):
            sizes = tuple(replace(s, value=1) if s is one else s for s in nest.sizes)
            other = replace(nest, sizes=sizes, why_not=None)
            report = self._examined([other])
            found = judged(other, report, other.span)
            if found.why_not is None or found.why_not.code != EMPTY_LOOP.code:
                return found
        return nest

    def _assume(self, regions: Mapping[int, Region], nests: Sequence[FoundNest]) -> None:
        """Choose the sizes that nobody gives: alike in all nests of a function."""
        found: dict[tuple[str, str], int] = {}
        for nest in nests:
            region = regions.get(nest.start)
            if region is None:
                continue
            known = {s.name: s.value for s in self._sizes(region) if not s.is_assumed}
            known |= {name: v for (f, name), v in self.values.items() if f == region.function}
            for name, value in assumed_sizes(region, known, nest.around).items():
                key = region.function, name
                found[key] = min(value, found.get(key, value))
        self.values = {**found, **self.values}

    def _sizes(self, region: Region) -> tuple[OpenSize, ...]:
        """Return the open sizes of a region, by the names that a user gives them."""
        out: dict[str, OpenSize] = {}
        keys = {one.name: one.key for one in region.text.aliases}
        integers = {s.name for s in region.scalars.values() if s.type not in REALS}
        for name in dict.fromkeys((*open_sizes(region), *sorted(integers & self.given.keys()))):
            key = keys.get(name, name)
            own = key if key.isidentifier() and key not in region.scalars else name
            is_given = own in self.given or name in self.given
            value = self.given.get(own, self.given.get(name))
            assumed = self.values.get((region.function, name), LEAST_SIZE)
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
        tried = self._tried(
            [FoundNest(tuple(one.loops[0] for one in run), run[0].around) for run in several]
        )
        taken = {one.start: one for one in tried if one.is_accepted and _is_whole(one)}
        out: list[FoundNest] = []
        for run in runs:
            whole = taken.get(run[0].start) if len(run) > 1 else None
            out += [whole] if whole is not None else run
        return out


def judged(nest: FoundNest, report: CheckReport, place: Span) -> FoundNest:
    """Return a nest with what was said of its region, whose annotation begins at `place`."""
    own = next((one for one in report.regions if one.region.span == place), None)
    if own is None:
        left = next((one for one in report.source.left if one.span == place), None)
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
