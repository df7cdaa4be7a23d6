"""What annotune does for programs in Python, and for the command line, which prints it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from annotune.diagnostics import AnnotuneError

# What the stages need is imported when they are called: importing annotune takes no time.

if TYPE_CHECKING:
    from annotune.annotation.spec import Value
    from annotune.compiled import CompiledFunction
    from annotune.pipeline import RunReport, Settings
    from annotune.rebuild import Earlier
    from annotune.report.findings import CheckReport, Emission
    from annotune.report.views import RunResults
    from annotune.tuning.bench import Listener, Request
    from annotune.tuning.config import Stop
    from annotune.tuning.results import Results
    from annotune.verify import Verified

GIVEN = Path("source.c")
"""The name that a text without a file has in diagnostics, and in names of files."""

# Short options have longer names here.
_SHORT = {"define": "-D", "include": "-I"}
# What switches off what is on, by the value that says so.
_FLAGS = {
    "factor": {False: "--no-factor"},
    "resume": {True: "--resume", False: "--fresh"},
    "standalone": {True: "--standalone"},
}


class Options(TypedDict, total=False):
    """The keywords of `check`, `emit` and `tune`: options of the commands, with their defaults.

    A keyword is the long name of its option; `define` is ``-D`` and `include` ``-I``.
    """

    target: str | Sequence[str]
    strategy: str
    set: Mapping[str, float | str]
    param: Mapping[str, Sequence[Value]]
    constraint: str | Sequence[str]
    define: Mapping[str, object]
    include: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    function: str
    arch: str
    device: str | os.PathLike[str]
    data: Literal["host", "resident"]
    annotation: str | os.PathLike[str]
    spec: str | os.PathLike[str]
    factor: bool
    formulation: str


class TuneOptions(Options, total=False):
    """The keywords of `tune` alone; times are in seconds, or texts such as ``"5m"``."""

    search: str
    budget: int
    time: float | str
    original_time: float | str
    seed: int
    cache: Literal["cold", "warm"]
    jobs: int
    inputs: str | os.PathLike[str]
    workers: str
    both: float | str
    resume: bool
    standalone: bool


def check(source: str | os.PathLike[str], **options: Unpack[Options]) -> CheckReport:
    """Return everything that can be said of a source without a compiler, as ``annotune check``.

    `source` is a path, or a C text of more than one line. What the options say is in
    `annotune.api.Options`.

    Raises:
        AnnotuneError: It cannot be read or is no C text. What is wrong with its regions is in the
            `diagnostics` of what comes back, and `is_refused` says whether any is an error.
        ValueError: An option has a value that the command refuses.
    """
    from annotune import pipeline

    with _as_told(source, options) as (settings, _):
        return pipeline.check(settings)


def emit(
    source: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str] | None = None,
    results: str | os.PathLike[str] | None = None,
    interfaces: bool = False,
    both: float | str = "",
    gpus: int = 1,
    standalone: bool = False,
    **options: Unpack[Options],
) -> Emission:
    """Return the first choice for every target as texts, as ``annotune emit``; nothing is run.

    With `results`, a results.json or the folder that has one, they are what that run found. With
    `interfaces` there are those of the functions for Fortran, C and C++, too. The files of
    what comes back are also in the folder `output`, where one is named. `both` is the share of the
    host's in calls of CUDA, or ``"counter"``, and `gpus` how many GPUs share the rest. `standalone`
    files have the runtime in them.

    Raises:
        AnnotuneError: No region is left, the results are not of this source as it is, or the folder
            cannot be written.
        ValueError: An option has a value that the command refuses.
    """
    from annotune.rebuild import Earlier

    folder, earlier = None if output is None else Path(output), None
    if results is not None:
        with _telling({}):
            earlier = Earlier.read(Path(results))
    is_every = earlier is not None and earlier.has_formulations
    told = {**options, "gpus": gpus, "standalone": standalone}
    told |= {"both": both} if both != "" else {}
    with _as_told(source, told, folder, is_every=is_every, is_emission=True) as (settings, _):
        if earlier is not None and "target" in options:
            earlier = replace(earlier, targets=settings.targets)
        return emitted(settings, folder, earlier, interfaces)[0]


def tune(
    source: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str] | None = None,
    listener: Listener | None = None,
    **options: Unpack[TuneOptions],
) -> RunResults:
    """Return a source's regions tuned, as ``annotune run``: checked, measured, and the best kept.

    Its files, results.json and report.html are also in the folder `output`, where one is named, as
    are the trials, which the next call reuses. `listener` is told of stages and trials. What the
    options say is in `annotune.api.Options` and `annotune.api.TuneOptions`.

    Raises:
        AnnotuneError: The source is refused, the original cannot be compiled, or the folder cannot
            be written. Where no variant was verified, `is_verified` of what comes back says so.
        ValueError: An option has a value that the command refuses.
    """
    from dataclasses import replace

    from annotune.options import config_of
    from annotune.report.views import RunResults
    from annotune.tuning.bench import Request

    begun = time.monotonic()
    folder = None if output is None else Path(output)
    with _as_told(source, options, folder, is_run=True) as (settings, said):
        config = config_of(said, max(1, len(os.sched_getaffinity(0))), begun)
        request = Request(config, os.environ, listener, folder, is_fresh=not said["resume"])
        found, _ = tuned(settings, request)
    return RunResults.of(replace(found.results, folder=str(folder or "")))


def load_results(folder: str | os.PathLike[str]) -> RunResults:
    """Return what `tune` or ``annotune run`` has written to a folder, with its files' texts.

    Raises:
        AnnotuneError: There is no such folder, or no results.json in it that can be read.
    """
    from annotune.report.results_json import show_folder
    from annotune.report.views import RunResults

    with _telling({}):
        return RunResults.of(show_folder(Path(folder)))


def compile(
    made: Results | Emission, target: str = "openmp", region: int | str | None = None
) -> CompiledFunction:
    """Return a function of a target's file, built here, to be called on arrays of NumPy's.

    `made` is what `tune`, `load_results` or `emit` gave. `region` is the name of the function, or
    the number of one of its regions in `made`, from 0; it may be left out where all regions are in
    one function. Of CUDA, what is made for resident data takes arrays on a GPU; other texts take
    arrays of both memories there, and run on this processor where there is no GPU.

    Raises:
        AnnotuneError: The target has no file, the function takes something else than numbers and
            arrays of these, or nothing here compiles it.
        ValueError: There is no such target or region.
    """
    from annotune import kernels

    with _telling({}):
        return kernels.compiled(made, target, region, os.environ)


def emitted(
    settings: Settings,
    folder: Path | None,
    earlier: Earlier | None = None,
    is_called: bool = False,
) -> tuple[Emission, tuple[Path, ...]]:
    """Return what the settings' source becomes, and its files, written to the folder if any.

    With the results of an `earlier` run it becomes what that found. Where it `is_called` from
    another language, there are interfaces of its functions too.

    Raises:
        AnnotuneError: No region is left, the results are of another source, or the folder cannot be
            written.
    """
    from annotune import pipeline
    from annotune.codegen.target import load_target
    from annotune.files import with_runtime_files, write_files

    if earlier is None:
        made = pipeline.emit(settings, [load_target(name) for name in settings.targets])
    else:
        settings = earlier.read_as(settings)
        made = earlier.emission(settings)
    if is_called:
        from annotune.interfaces import with_interfaces

        made = with_interfaces(made, settings)
    files = {**made.files, **settings.made_of_tensors}
    named = {settings.source.stem + end: text for end, text in files.items()}
    named = with_runtime_files(str(settings.source), named, made.runtime)
    return made, write_files(folder, named) if folder is not None else ()


def tuned(settings: Settings, request: Request) -> tuple[RunReport, tuple[Path, ...]]:
    """Return what a run finds of the settings' source, and its files, in the folder if any.

    Raises:
        AnnotuneError: The source is refused, the original cannot be compiled, a disk is full, or
            the folder cannot be written or is another run's.
    """
    from dataclasses import replace

    from annotune import formulated
    from annotune.files import held_folder, prepared_folder, with_runtime_files, write_files
    from annotune.report.html import report_html
    from annotune.report.results_json import RESULTS_FILE, results_file
    from annotune.runtime.texts import runtime_texts
    from annotune.tuning.config import over_words
    from annotune.tuning.results import Spent

    config, folder = request.config, request.folder
    with ExitStack() as held:
        if folder is not None:
            held.enter_context(prepared_folder(folder))
            held.enter_context(held_folder(folder))
        found = formulated.run(settings, request)
        late = over_words(config, time.monotonic())
        warnings = (*found.results.warnings, *late)
        spent, reading = Spent(**config.ledger.seconds()), found.results.reading
        if folder is not None:
            reading = replace(reading, place=os.path.relpath(settings.source, folder))
        results = replace(found.results, warnings=warnings, spent=spent, reading=reading)
        found = replace(found, results=results)
        if folder is None:
            return found, ()
        reports = {RESULTS_FILE: results_file(results), "report.html": report_html(results)}
        files = {settings.source.stem + e: t for e, t in settings.made_of_tensors.items()}
        runtime = runtime_texts(results.texts.values())
        files = with_runtime_files(str(settings.source), {**files, **results.texts}, runtime)
        return found, write_files(folder, {**files, **reports})


def verified(
    folder: Path,
    source: Path | None = None,
    listener: Listener | None = None,
    stop: Stop | None = None,
) -> tuple[Verified, tuple[Path, ...]]:
    """Return what the checks find for which a run had no time, and the files that they change.

    The `source` is by default where it was when it was tuned. What is wrong is no longer in a file.

    Raises:
        AnnotuneError: There are no results in the folder, or not of the source as it is.
    """
    from dataclasses import replace

    from annotune import verify
    from annotune.files import held_folder, write_files
    from annotune.options import config_of
    from annotune.rebuild import Earlier
    from annotune.report.html import report_html
    from annotune.report.results_json import RESULTS_FILE, results_file, show_folder
    from annotune.tuning.bench import Request
    from annotune.tuning.config import NEVER

    show_folder(folder)
    earlier = Earlier.read(folder)
    place = verify.source_of(earlier.results, folder) if source is None else source
    with held_folder(folder), _as_told(place, {}, folder, is_run=True) as (settings, said):
        settings = earlier.read_as(settings)
        config = config_of(said, max(1, len(os.sched_getaffinity(0))), time.monotonic())
        request = Request(config, os.environ, listener, folder, stop=stop or NEVER)
        found = verify.verified(earlier, settings, request)
        results = found.results
        reports = {RESULTS_FILE: results_file(results), "report.html": report_html(results)}
        changed = {n: text for n, text in found.files.items() if n in results.files}
        for name in found.gone:
            (folder / name).unlink(missing_ok=True)
        written = write_files(folder, {**changed, **reports})
    return replace(found, results=results), written


@contextmanager
def _as_told(
    source: str | os.PathLike[str],
    options: Mapping[str, Any],
    folder: Path | None = None,
    is_run: bool = False,
    is_every: bool = False,
    is_emission: bool = False,
) -> Iterator[tuple[Settings, Mapping[str, Any]]]:
    """Give the settings that keywords come to, and all that these say, by the options' names.

    What is refused is told as the command line does.

    Raises:
        ValueError: A keyword has a value that the command refuses.
        TypeError: There is no such keyword.
    """
    import click

    from annotune.options import both, common, for_a_run, parsed, settings_of, standalone

    text = source if isinstance(source, str) and "\n" in source else None
    place = os.fspath(source if text is None else GIVEN)
    known = {**Options.__annotations__, **(TuneOptions.__annotations__ if is_run else {})}
    own = {"both", "gpus", "standalone"} if is_emission else set[str]()
    if unknown := [name for name in options if name not in {*known, *own}]:
        raise TypeError(f"there is no option '{unknown[0]}'; there are {', '.join(known)}")
    words = [word for name, value in options.items() for word in words_of(name, value)]
    try:
        further: tuple[Any, ...] = (standalone, both) if is_emission else ()
        further = (standalone, for_a_run) if is_run else further
        said = parsed([*words, "--", place], common, *further)
        with _telling({}):
            settings = settings_of(said, os.environ, folder, is_run or is_every)
    except click.UsageError as error:
        raise ValueError(error.format_message()) from None
    settings = replace(settings, given=text)
    with _telling(settings.texts):
        yield settings, said


@contextmanager
def _telling(texts: Mapping[str, str]) -> Iterator[None]:
    """Give a refusal inside the ``with`` the lines by which the command line tells it."""
    from annotune.files import shown

    try:
        yield
    except AnnotuneError as error:
        error.lines = "\n".join(shown(one, texts) for one in error.diagnostics)
        raise


def words_of(name: str, value: Any) -> list[str]:
    """Return the words of a command line that say what a keyword says."""
    if name in _FLAGS:
        word = _FLAGS[name].get(bool(value))
        return [word] if word is not None else []
    option = _SHORT.get(name, f"--{name.replace('_', '-')}=")
    if isinstance(value, Mapping):
        write = str if name == "define" else _literal
        return [f"{option}{key}={write(one)}" for key, one in value.items()]
    if isinstance(value, str | os.PathLike) or not isinstance(value, Sequence):
        return [f"{option}{os.fspath(value) if isinstance(value, os.PathLike) else value}"]
    if name == "target":
        return [f"{option}{','.join(value)}"]
    return [word for one in value for word in words_of(name, one)]


def _literal(value: Any) -> str:
    """Return a value, or several, as the command line takes them."""
    if isinstance(value, str):
        return repr(value)
    return ",".join(map(_literal, value)) if isinstance(value, Sequence) else str(value)
