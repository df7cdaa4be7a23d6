"""`annotune init`: shows the nests of a file, asks, and puts annotations around those agreed to."""

from __future__ import annotations

import difflib
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from annotune.analysis.facts import LoopFacts, LoopKind
from annotune.analysis.messages import ASSUMED_DISJOINT, FOR_THESE_SIZES, GATHER_EXTENT
from annotune.annotation.messages import did_you_mean
from annotune.annotation.perf_tuning import assumptions
from annotune.diagnostics import Diagnostic, Severity, Span, Template
from annotune.files import replace_source, write_new
from annotune.frontend.read.tokens import WORD
from annotune.frozen import dataclass
from annotune.init.inserted import annotated, checked, checked_sidecar, sidecar_text
from annotune.init.samples import sampled
from annotune.init.survey import FoundNest, Survey, survey
from annotune.pipeline import Settings
from annotune.printable import printable
from annotune.report.figures import estimated, share_text

NOTHING_TO_ANNOTATE = Template(
    "AT664",
    "no nest of {where} can be annotated",
    "each nest above has its reason; `annotune explain ATnnn` says more about one",
)
UNUSED_SIZE = Template(
    "AT665",
    "no nest has a size '{name}', which --size gives",
    "{hint}",
    Severity.WARNING,
)
DIRECTIVE_BEFORE = Template(
    "AT666",
    "a directive stands before this nest, where a sidecar leaves it",
    "leave out --sidecar: an annotation takes the directive in, and replaces it",
)
NOT_PROFILED = Template(
    "AT670",
    "the program could not be sampled: {reason}; shares are estimated alone",
    "install perf, or build the program with -pg for gprof; `-g` lets perf tell the lines",
    Severity.WARNING,
)
_WIDTH = 100
_NO_END = "\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class InitWish:
    """How `init` is asked for: the options that are its own.

    `sizes` are those of ``--size``. `is_asking` says that somebody is there to answer, `is_dry`
    that nothing is to be written, `is_quiet` that nothing is to be printed. `program` is run for
    samples of it, where it has words. `extents` are arrays with theirs, such as ``x[n]``.
    """

    sizes: Mapping[str, int]
    output: Path | None = None
    is_sidecar: bool = False
    is_asking: bool = False
    is_dry: bool = False
    is_quiet: bool = False
    program: tuple[str, ...] = ()
    extents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InitDone:
    """What `init` ends with: the nests, what there is to tell, and the file it has written, if any.

    `ran` are the words that `annotune run` takes next, `difference` is what would be written.
    """

    found: Survey
    diagnostics: tuple[Diagnostic, ...]
    written: Path | None = None
    ran: str = ""
    difference: str = ""

    @property
    def is_refused(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self.diagnostics)


def init(settings: Settings, wish: InitWish, environ: Mapping[str, str]) -> InitDone:
    """List the nests of the file of the settings, ask, and annotate.

    Raises:
        AnnotuneError: The file is refused as a whole, or cannot be written.
    """
    found = _found(settings, wish)
    problems = list(_unused_sizes(wish.sizes, found))
    if wish.program:
        samples = sampled(wish.program, environ)
        found = replace(found, samples=samples)
        if samples.reason:
            problems.append(NOT_PROFILED.at(Span("--profile", 1, 1), reason=samples.reason))
    _say(wish, *listing(settings.source, found))
    if not found.accepted:
        if not any(nest.is_annotated for nest in found.nests):
            where = printable(settings.source.name)
            at = Span(str(settings.source), 1, 1)
            problems.append(NOTHING_TO_ANNOTATE.at(at, where=where))
        return InitDone(found, tuple(problems))
    chosen = tuple(_agreed(found)) if wish.is_asking else found.accepted
    kept, left = _checked(settings, found.text, chosen, wish.is_sidecar)
    _say(wish, *(f"left after all: {_heading(nest)}: {_reason(nest)}" for nest in left))
    # With the places and proofs of the text as it was.
    after = {nest.start: nest.why_not for nest in left}
    nests = (replace(one, why_not=after.get(one.start, one.why_not)) for one in found.nests)
    found = replace(found, nests=tuple(nests))
    if not kept:
        return InitDone(found, tuple(problems))
    written, difference = _write(settings, found.text, kept, wish)
    return InitDone(found, tuple(problems), written, _next(settings, written, wish), difference)


def _say(wish: InitWish, *lines: str) -> None:
    """Print lines, but where a difference stands alone on standard output, for `patch`."""
    for line in () if wish.is_quiet else lines:
        click.echo(line, err=wish.is_dry)


def _found(settings: Settings, wish: InitWish) -> Survey:
    """Return the nests, once the user has been asked for lengths that some need."""
    lengths: dict[str, str] = {}
    while True:
        extents = _extents((*wish.extents, *(text for text in lengths.values() if text)))
        found = survey(settings, wish.sizes, not wish.is_sidecar, extents)
        if wish.is_sidecar:
            found = replace(found, nests=tuple(map(_as_sidecar, found.nests)))
        asked = dict(_lengths(found, lengths)) if wish.is_asking else {}
        lengths |= asked
        if not any(asked.values()):
            return found


def _extents(texts: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return arrays with their extents of texts such as ``x[n]``, as an annotation reads them."""
    return assumptions({"extent": texts}, {"extent": Span("--extent", 1, 1)}).extents


def _lengths(found: Survey, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the arrays whose length nests lack, each with its extent, empty where nobody says."""
    asked = set(known)
    for nest in found.nests:
        if nest.report is None or nest.why_not is None or nest.why_not.code != GATHER_EXTENT.code:
            continue
        # The message names the array first.
        arrays = nest.report.region.arrays
        name = next(word for word in WORD.findall(nest.why_not.message) if word in arrays)
        if name not in asked:
            asked.add(name)
            click.echo(f"{_heading(nest)}: {printable(nest.why_not.message)}")
            words = f"  how many elements has '{name}', in C? Enter leaves the nest"
            length = click.prompt(words, default="", show_default=False)
            yield name, f"{name}[{length}]" if length else ""


def _next(settings: Settings, written: Path | None, wish: InitWish) -> str:
    """Return what `annotune run` is given next, as words of a shell."""
    words = [str(settings.source if wish.is_sidecar else written)]
    if wish.is_sidecar and wish.output is not None:
        words += ["--annotation", str(written)]
    folders = [Path(folder) for folder in settings.search.include]
    source = settings.source.absolute().parent
    if not wish.is_sidecar and written is not None and written.absolute().parent != source:
        # Where its own headers are, it is no longer.
        folders.append(source)
    shown = (f"-I{_from_here(folder)}" for folder in folders)
    return shlex.join([*words, *shown, *settings.defines])


def _from_here(folder: Path) -> Path:
    """Return a folder as one names it from where one is."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _as_sidecar(nest: FoundNest) -> FoundNest:
    """Return a nest as far as a sidecar can speak of it."""
    if nest.is_accepted and nest.start != nest.loops[0].at:
        return replace(nest, why_not=DIRECTIVE_BEFORE.at(nest.span))
    return nest


def _unused_sizes(sizes: Mapping[str, int], found: Survey) -> Iterator[Diagnostic]:
    known = {size.name for nest in found.nests for size in nest.sizes}
    ranges = (one.range or () for nest in found.nests for one in nest.around)
    known |= {word for texts in ranges for text in texts for word in WORD.findall(text)}
    for name in sizes:
        if name not in known:
            hint = did_you_mean(name, known)
            yield UNUSED_SIZE.at(Span("--size", 1, 1), name=name, hint=hint)


def listing(source: Path, found: Survey) -> Iterator[str]:
    """Yield the nests of a file as lines: share of the work, place, and what is proven of each."""
    count = len(found.nests)
    yield f"{printable(source.name)}: {count} loop {'nest' if count == 1 else 'nests'}"
    shares = [_shares(found, nest) for nest in found.nests]
    width = max(map(len, shares), default=0)
    for nest, share in zip(found.nests, shares, strict=True):
        words = f"{_heading(nest)}, depth {nest.depth}: {_state(nest)}"
        below = " " * (width + 4)
        yield from _wrapped(words, f"{share:>{width}}  ", below)
        for line in _proofs(nest):
            yield from _wrapped(line, below, below)
        if nest.sizes:
            yield from _wrapped(f"at {_sizes_text(nest)}", below, below)
        outer = found.uncounted(nest) if found.share(nest) is not None else None
        if outer is not None:
            words = f"counted once in the loop of line {outer.span.line}, whose length is not known"
            yield from _wrapped(words, below, below)
    if any(shares):
        yield from textwrap.wrap(_legend(found), _WIDTH)


def _shares(found: Survey, nest: FoundNest) -> str:
    """Return a nest's share as it was measured, and as it is estimated."""
    share, measured = found.share(nest), found.measured(nest)
    if measured is None and (around := found.measured_around(nest)) is not None:
        measured_text = f"<= {share_text(around)}"
    else:
        measured_text = share_text(measured) if measured is not None else ""
    return " ".join(filter(None, (measured_text, estimated(share_text(share)) if share else "")))


def _legend(found: Survey) -> str:
    """Return what the shares are of."""
    counted = (
        "(~ ) estimated: of the operations and words of memory of one call of each function at "
        "these sizes"
    )
    samples = found.samples
    if not samples.total:
        return counted
    at_most = "; <= is that of the whole function, for the program has no line numbers (-g)"
    is_whole = any(file == found.file for file, _ in samples.by_line)
    return (
        f"measured by {samples.profiler}: of {samples.total} samples of the program"
        f"{'' if is_whole else at_most}; {counted}"
    )


def _wrapped(text: str, before: str, below: str) -> list[str]:
    """Return a text as lines of a terminal, with what stands before its first and its others."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=before, subsequent_indent=below, break_on_hyphens=False
    )


def _heading(nest: FoundNest) -> str:
    lines = ", ".join(str(one.span.line) for one in nest.loops)
    word = "line" if len(nest.loops) == 1 else "lines"
    return f"{printable(nest.function)}, {word} {lines}"


def _state(nest: FoundNest) -> str:
    if nest.is_annotated:
        return "annotated already"
    if nest.why_not is not None:
        return f"left: {_reason(nest)}"
    return _kinds(nest)


def _reason(nest: FoundNest) -> str:
    assert nest.why_not is not None
    return f"{printable(nest.why_not.message)} [{nest.why_not.code}]"


def _facts(nest: FoundNest) -> Sequence[LoopFacts]:
    analysis = nest.report.analysis if nest.report is not None else None
    return analysis.loops if analysis is not None else ()


def _kinds(nest: FoundNest) -> str:
    """Return the loops by what is proven of them: ``i, j parallel; k reduction``."""
    said = []
    for kind in LoopKind:
        names = dict.fromkeys(facts.name for facts in _facts(nest) if facts.kind is kind)
        if names:
            said.append(f"{', '.join(names)} {kind}")
    return "; ".join(said)


def _proofs(nest: FoundNest) -> Iterator[str]:
    """Yield why loops of an accepted nest are serial."""
    for facts in _facts(nest) if nest.is_accepted else ():
        if facts.kind is LoopKind.SERIAL:
            yield f"{facts.name} (line {facts.loop.span.line}): {facts.proof}"


def _sizes_text(nest: FoundNest) -> str:
    return ", ".join(
        f"{one.name} = {one.value}{' (assumed)' if one.is_assumed else ''}" for one in nest.sizes
    )


def _agreed(found: Survey) -> Iterator[FoundNest]:
    """Yield the nests that the user wants annotated, with the sizes and facts that they give."""
    known: dict[tuple[str, str], int] = {}
    for nest in found.accepted:
        shown = _shares(found, nest)
        words = f"annotate {_heading(nest)}{f', {shown}' if shown else ''}?"
        if click.confirm(words, default=True):
            yield _with_facts(_with_sizes(nest, known))


def _with_sizes(nest: FoundNest, known: dict[tuple[str, str], int]) -> FoundNest:
    """Return a nest with the sizes that the user gives; `known` are those of their functions."""
    sizes = []
    for one in nest.sizes:
        key = nest.function, one.name
        if one.is_assumed and key not in known:
            asked = f"  {one.name}, a size of your runs; Enter assumes"
            known[key] = click.prompt(asked, default=one.value, type=click.IntRange())
        value = known.get(key, one.value)
        sizes.append(replace(one, value=value, is_assumed=one.is_assumed and value == one.value))
    return replace(nest, sizes=tuple(sizes))


def _with_facts(nest: FoundNest) -> FoundNest:
    """Return a nest with what the user vouches for, of that which annotune assumes otherwise."""
    assumed = nest.assumptions
    for warning in nest.report.diagnostics if nest.report is not None else ():
        if warning.code == ASSUMED_DISJOINT.code:
            click.echo(f"  {printable(warning.message)}")
            is_so = click.confirm("  do they never overlap?", default=False)
            assumed = replace(assumed, disjoint=is_so)
        elif warning.code == FOR_THESE_SIZES.code:
            click.echo(f"  {printable(warning.message)}")
            is_so = click.confirm("  are sizes in strides what their names say?", default=False)
            assumed = replace(assumed, strides=is_so)
    return replace(nest, assumptions=assumed)


def _checked(
    settings: Settings, text: str, chosen: Sequence[FoundNest], is_sidecar: bool
) -> tuple[tuple[FoundNest, ...], tuple[FoundNest, ...]]:
    """Return the nests that `check` accepts when all of them are annotated, and the others."""
    look = checked_sidecar if is_sidecar else checked
    left: list[FoundNest] = []
    while chosen:
        found = look(settings, text, chosen)
        left += [nest for nest in found if not nest.is_accepted]
        if all(nest.is_accepted for nest in found):
            return found, tuple(left)
        chosen = tuple(nest for nest in found if nest.is_accepted)
    return (), tuple(left)


def _write(
    settings: Settings, text: str, nests: Sequence[FoundNest], wish: InitWish
) -> tuple[Path | None, str]:
    """Write what was agreed to, and return the file; or return the difference, which is shown."""
    source = settings.source
    if wish.is_sidecar:
        made, before = sidecar_text(source.name, nests), ""
        path = wish.output or source.parent / "annotations" / f"{source.stem}.yaml"
    else:
        made, before = annotated(text, nests)[0], text
        path = wish.output or source
    if wish.is_dry:
        shown = _difference(source if before else path, path, before, made)
        if not wish.is_quiet:
            click.echo(shown.encode("utf-8", "surrogateescape"), nl=False)
        return None, shown
    if before and wish.output is None:
        replace_source(path, before, made)
    else:
        write_new(path, made)
    return path, ""


def _difference(old: Path, new: Path, before: str, after: str) -> str:
    """Return a unified difference that `patch` takes, newlines as they are in the texts."""
    name = str(old) if before else "/dev/null"
    lines = difflib.unified_diff(_lines(before), _lines(after), name, str(new))
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in lines)


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; a form feed ends none."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])
