"""The command line: parse, call, print. Nothing else prints, and nothing else exits."""

from __future__ import annotations

import gc
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import click

from annotune import __version__
from annotune.diagnostics import NOWHERE, AnnotuneError, Diagnostic, internal_errors_at
from annotune.options import (
    both,
    common,
    complete_codes,
    config_of,
    config_of_table,
    default_folder,
    for_a_capture,
    for_a_run,
    for_a_table,
    for_check,
    for_diff,
    for_init,
    for_tensors,
    output_folder,
    settings_of,
    settings_of_capture,
    settings_of_init,
    settings_of_suite,
    standalone,
    translated_of,
)

if TYPE_CHECKING:
    from annotune.codegen.build import BuildCommand
    from annotune.config_file import ProjectOption
    from annotune.ir.region import Region
    from annotune.pipeline import RunReport
    from annotune.rebuild import Earlier
    from annotune.report.findings import CheckReport, MeasuredOriginal
    from annotune.tensor.translate import Translated
    from annotune.tuning.results import Results

    Builds: TypeAlias = Mapping[str, Sequence[BuildCommand]]

Texts: TypeAlias = Mapping[str, str]
"""What diagnostics point into that is in no file, by its name."""

# Each command imports what it needs, so that none waits for what another one needs.

# So many new objects make the collector look among them; Python's own number is 700.
YOUNG_OBJECTS = 200_000
# The first lines of diagnostics, and the carets below lines of a source.
_HEAD = re.compile(
    r"^(?P<place>(?:[^ \n].*?:\d+:\d+: |--\S+: )?)(?P<severity>error|warning|note):", re.MULTILINE
)
_CARETS = re.compile(r"(?<=^      \|)[ \t…]*\^+$", re.MULTILINE)
ENDING = "ending after the trials that run now; once more ends at once"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
def cli() -> None:
    """Turn annotated C loop nests into tuned, checked CUDA, OpenACC and OpenMP."""


class _Configured(click.Command):
    """A command on a source, whose options a file of the project may give (docs/build.md)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line behind the settings of the project, so that it wins."""
        ctx.meta[_GIVEN] = tuple(args)
        try:
            given = self.make_parser(ctx).parse_args(list(args))[0]
        except click.UsageError:
            given = {}  # which is told below
        several = given.get("sources")
        source = several[0] if isinstance(several, tuple) and several else given.get("source")
        if not isinstance(source, str):
            return super().parse_args(ctx, args)
        form = "json" if given.get("as_json") else str(given.get("form") or "text")
        with _refusals(form, bool(given.get("debug"))):
            found = self._settings(source)
        own = {option: one for one in self.params for option in (*one.opts, *one.secondary_opts)}
        ctx.meta[_CONFIGURED] = [
            (one, own[one.option].name in given and not own[one.option].multiple) for one in found
        ]
        return super().parse_args(ctx, [*(word for one in found for word in one.words), *args])

    def _settings(self, source: str) -> list[ProjectOption]:
        """Return the settings of the project that are options of this command.

        Raises:
            AnnotuneError: One of them is refused.
        """
        from annotune.config_file import refused, settings_for

        known = {option for one in self.params for option in (*one.opts, *one.secondary_opts)}
        found = [one for one in settings_for(Path(source)) if one.option in known]
        for one in found:
            alone = click.Context(self, info_name="annotune")
            try:
                super().parse_args(alone, [*one.words, "--", source])
            except click.UsageError as error:
                raise refused(one, error.format_message()) from error
        return found


_CONFIGURED, _GIVEN = "annotune.settings", "annotune.given"


def _show_settings() -> None:
    """Print the options that the project's file has given, and those that it has not."""
    for one, is_overridden in click.get_current_context().meta.get(_CONFIGURED, ()):
        note = "; the command line says otherwise" if is_overridden else ""
        for word in one.words:
            click.echo(f"{one.place.file}:{one.place.line}: {word}{note}", err=True)


@cli.command(cls=_Configured)
@for_check
@click.option("--certificate", is_flag=True, help="Print the proof that the plan is right.")
@click.option("--space", is_flag=True, help="Print every target's points and axes.")
def check(
    sources: tuple[Path, ...], certificate: bool, space: bool, debug: bool, **options: Any
) -> None:
    """Parse each SOURCE, analyse it and explain it; no compiler is needed.

    Of a folder these are the files with annotations, and - is the standard input. The exit code is
    that of the worst.
    """
    from annotune.files import sources_of

    form = _form(options)
    if form == "json" and (len(sources) > 1 or os.path.isdir(sources[0])):
        raise click.UsageError("--format json is of one file; --format sarif is of several")
    problems: list[Diagnostic] = []
    code = 0
    with _refusals(form, debug) as texts:
        for source in sources_of(sources):
            own = {**options, "source": source}
            try:
                found, is_refused = _checked(own, form, texts, certificate, space)
            except AnnotuneError as refusal:
                if debug or form == "json":
                    raise
                _show(refusal.diagnostics, texts)
                found, is_refused = refusal.diagnostics, True
            problems += found
            code = max(code, int(is_refused))
        if form == "sarif":
            _print_sarif(tuple(dict.fromkeys(problems)), code, texts)
    sys.exit(code)


def _checked(
    options: Mapping[str, Any], form: str, texts: dict[str, str], certificate: bool, space: bool
) -> tuple[Sequence[Diagnostic], bool]:
    """Print what `check` finds in a file; return its diagnostics and whether it is refused."""
    from dataclasses import replace

    from annotune import pipeline
    from annotune.files import STANDARD_INPUT
    from annotune.report.findings import certificate_text, data_lines, region_text, space_lines

    settings = settings_of(options, os.environ)
    if settings.source == STANDARD_INPUT:
        settings = replace(settings, given=_standard_input())
    texts |= settings.texts
    report = pipeline.check(settings)
    found, failed = pipeline.spaces(report, settings) if space else ([], ())
    made: Sequence[Mapping[str, str]] = [{} for _ in report.regions]
    if form == "json" or (form == "text" and "cuda" not in settings.targets):
        made, mistaken = pipeline.recipes(report, settings)
        failed = (*failed, *mistaken)
    if form == "json":
        from annotune.report.json_form import check_json

        _print_json(check_json(report, made, found))
    elif form == "text":
        before = _measured_before(settings.source)
        told = [
            partial(region_text, one, before(one.region), settings.targets, own)
            for one, own in zip(report.regions, made, strict=True)
        ]
        failed = (*failed, *_print_each(report, told))
        for line in data_lines(report.source):
            click.echo(line)
    _show((*report.diagnostics, *failed), texts)
    if space and form == "text":
        click.echo("\n".join(space_lines(report, found)))
    if certificate and form == "text":
        unproven = _print_each(report, [partial(certificate_text, r) for r in report.regions])
        _show(unproven, texts)
        failed = (*failed, *unproven)
    return (*report.diagnostics, *failed), report.is_refused or bool(failed)


def _print_each(report: CheckReport, texts: Sequence[Callable[[], str]]) -> tuple[Diagnostic, ...]:
    """Print a text of each region; return annotune's own mistakes in making them."""
    failed: list[Diagnostic] = []
    for one, text in zip(report.regions, texts, strict=True):
        try:
            with internal_errors_at(one.region.span):
                click.echo(text())
        except AnnotuneError as mistake:
            failed += mistake.diagnostics
    return tuple(failed)


def _standard_input() -> str:
    """Return the standard input as a source is read: bytes and newlines stay what they are."""
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def _measured_before(source: Path) -> Callable[[Region], MeasuredOriginal | None]:
    """Return what tells the original's time of a region where an earlier run has measured it."""
    folder = default_folder(source)
    if not folder.is_dir():
        return lambda region: None
    from annotune.report.findings import MeasuredOriginal
    from annotune.report.results_json import RESULTS_FILE, read_results

    try:
        known = read_results(folder / RESULTS_FILE).regions
    except AnnotuneError:
        known = ()

    def of(region: Region) -> MeasuredOriginal | None:
        place = region.function, region.index, dict(region.sizes)
        for one in (size for each in known for size in each.at_each_size):
            row = next((row for row in one.rows if row.name == "sequential"), None)
            is_same = (one.function, one.index, dict(one.sizes)) == place
            if is_same and row is not None and row.time_s is not None:
                return MeasuredOriginal(row.time_s, row.device)
        return None

    return of


@cli.command(cls=_Configured)
@common
@output_folder
@standalone
@both
@click.option(
    "--from",
    "results",
    type=click.Path(path_type=Path),
    help="Write what a run found, by its results.json or folder, without tuning or measuring.",
)
@click.option(
    "--interfaces",
    "is_called",
    is_flag=True,
    help="Write a module of Fortran and a header of the functions, to call them from elsewhere.",
)
def emit(
    output: Path | None, results: Path | None, is_called: bool, debug: bool, **options: Any
) -> None:
    """Write SOURCE for every target, by the decision algorithm's first choice or a run's."""
    from annotune.api import emitted

    form, folder = _form(options), output or default_folder(options["source"])
    with _refusals(form, debug) as texts:
        earlier = None if results is None else _earlier(results)
        is_every = earlier is not None and earlier.has_formulations
        settings = settings_of(options, os.environ, folder, is_every)
        texts |= settings.texts
        made, written = emitted(settings, folder, earlier, is_called)
        if form == "json":
            from annotune.report.json_form import emit_json

            names = [str(path) for path in written]
            said = _commands(made.builds, folder)
            _print_json(emit_json(names, made.reports, made.variants, made.diagnostics, said))
        elif form == "sarif":
            _print_sarif(made.diagnostics, 0, texts)
        else:
            for path in written:
                click.echo(path)
        _show(made.diagnostics, texts)
        # Standard output has the files alone, one to a line.
        _show_commands(made.builds, folder, err=True)


def _earlier(path: Path) -> Earlier:
    """Return the results of an earlier run, with the targets that the command line names."""
    from click.core import ParameterSource

    from annotune.rebuild import Earlier

    context = click.get_current_context()
    is_named = context.get_parameter_source("targets") is not ParameterSource.DEFAULT
    return Earlier.read(path, context.params["targets"] if is_named else None)


@cli.command(cls=_Configured)
@common
@output_folder
@standalone
@for_a_run
def run(output: Path | None, resume: bool, debug: bool, **options: Any) -> None:
    """Tune SOURCE: generate, compile, check, measure, and write the best.

    Ctrl-C ends the search: the best so far is checked and written. A second one ends the run at
    once. What was measured is kept in either case, and the next run goes on from there.
    """
    from rich.console import Console

    from annotune.api import tuned
    from annotune.report.terminal import LiveProgress
    from annotune.tuning.bench import Request
    from annotune.tuning.config import SIGNALLED, interrupts

    form, folder = _form(options), output or default_folder(options["source"])
    # The time that a run is given is that of the whole command.
    begun = click.get_current_context().obj or time.monotonic()
    config = config_of(options, max(1, len(os.sched_getaffinity(0))), begun)
    if options["is_verbose"]:
        _show_settings()
    with _refusals(form, debug) as texts:
        settings = settings_of(options, os.environ, folder, is_every=True)
        texts |= settings.texts
        screen = Console(stderr=True)
        stopped = interrupts(lambda: screen.print(ENDING), screen.show_cursor)
        end_s = None if config.time_s is None else begun + config.time_s
        with stopped as stop, LiveProgress(screen, end_s, options["is_quiet"]) as progress:
            request = Request(config, os.environ, progress, folder, not resume, stop)
            found, written = tuned(settings, request)
        _show_run(found, form, written, folder, texts, options["is_verbose"])
    if stop.signal:
        sys.exit(SIGNALLED + stop.signal)
    if not found.results.is_verified:
        sys.exit(3)


@cli.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    help="The file that was tuned. [default: where it was then]",
)
@click.option("-q", "--quiet", "is_quiet", is_flag=True, help="Show no progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of a refusal.")
def verify(folder: Path, source: Path | None, is_quiet: bool, debug: bool) -> None:
    """Finish the checks of the run in DIR that ran out of time; nothing is tuned anew.

    It takes as long as it takes: the whole original is run where a sample of it was compared. What
    is found wrong is taken out of the files.
    """
    from rich.console import Console

    from annotune.api import verified
    from annotune.report.terminal import LiveProgress
    from annotune.tuning.config import SIGNALLED, interrupts

    with _refusals("text", debug):
        screen = Console(stderr=True)
        stopped = interrupts(lambda: screen.print(ENDING), screen.show_cursor)
        with stopped as stop, LiveProgress(screen, None, is_quiet) as progress:
            found, written = verified(folder, source, progress, stop)
        for line in found.said or ("nothing was left to be checked",):
            _echo(f"{line}\n")
        for path in written:
            click.echo(path)
    if stop.signal:
        sys.exit(SIGNALLED + stop.signal)
    if not found.is_right:
        sys.exit(3)


@cli.command()
@for_a_capture
def capture(output: Path | None, debug: bool, **options: Any) -> None:
    """Record what the regions of SOURCE are called with by PROGRAM, a command with arguments.

    PROGRAM is built of the file that this writes, in place of SOURCE: by the command of --build,
    or by you. `annotune run SOURCE --inputs DIR` then tunes on the records.
    """
    import shlex

    from annotune.files import prepared_folder, write_files
    from annotune.measure.capture import recording
    from annotune.measure.capture.instrumented import Recording
    from annotune.pipeline import instrumented, records_of
    from annotune.report.recorded import records_lines

    build, program = options["build"], options["program"]
    if build is not None and recording.FILE not in build:
        raise click.UsageError("--build has no {file}, where the recorded text of SOURCE goes")
    settings = settings_of_capture(options, os.environ)
    source = settings.source
    with _refusals("text", debug) as texts:
        folder = output or default_folder(source) / "inputs"
        how = Recording(folder, options["max_bytes"], options["calls"])
        made = instrumented(settings, how)
        with prepared_folder(folder):
            (path,) = write_files(folder, {source.name: made.text})
        _show(made.warnings, texts)
        if build is not None:
            recording.build(build, path, source, os.environ)
        if not program:
            click.echo(path)
            return
        if not options["is_added"]:
            recording.forget(folder, source.stem)
        ended = recording.record(program, how, source, os.environ)
        records, _ = records_of(made.source, folder)
    for line in records_lines(records):
        _echo(f"{line}\n")
    if ended:
        click.echo(f"the program ended with {ended}; what it did until then is recorded", err=True)
    words = (str(source), "--inputs", str(folder), *_read_by(options))
    _echo(f"next: annotune run {shlex.join(words)}\n")


def _read_by(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options by which `capture` has read a source, as `run` takes them."""
    yield from (f"-I{folder}" for folder in options["include"])
    yield from (f"-D{name}={value}" for name, value in options["defines"])
    named = {"--function": "function", "--annotation": "sidecar", "--spec": "specification"}
    for option, name in named.items():
        if options[name]:
            yield from (option, str(options[name]))


@cli.command()
@click.argument("suite", type=click.Path(path_type=Path))
@output_folder
@for_a_table
def table(
    suite: Path, output: Path | None, resume: bool, as_json: bool, debug: bool, **options: Any
) -> None:
    """Run the workloads of SUITE, a YAML file, and print the tables of papers of them.

    What has been run is kept, and not run again. Ctrl-C ends the runs: the tables are made of what
    there is, and the same command goes on from there.
    """
    from rich.console import Console

    from annotune.files import held_folder, prepared_folder, write_files
    from annotune.report.layouts import tables_of
    from annotune.report.suite import load_suite
    from annotune.report.table_page import tables_html
    from annotune.report.table_text import tables_csv, tables_json, tables_latex, tables_text
    from annotune.report.terminal import LiveProgress
    from annotune.suites import SuiteRun
    from annotune.tuning.config import SIGNALLED, interrupts

    begun = click.get_current_context().obj or time.monotonic()
    config = config_of_table(options, max(1, len(os.sched_getaffinity(0))), begun)
    with _refusals("json" if as_json else "text", debug):
        asked = load_suite(suite)
        base = settings_of_suite(asked, os.environ)
        folder = output or default_folder(suite)
        screen = Console(stderr=True)
        stopped = interrupts(lambda: screen.print(ENDING), screen.show_cursor)
        with prepared_folder(folder), held_folder(folder), stopped as stop:
            with LiveProgress(screen) as progress:
                own = (asked, base, config, os.environ, folder, options["time_s"])
                cores = config.compilers
                results = SuiteRun(*own, progress, stop, not resume, cores).results()
            found = tables_of(asked, results, __version__)
            forms = {
                ".txt": tables_text,
                ".html": tables_html,
                ".csv": tables_csv,
                ".tex": tables_latex,
            }
            texts = {f"{suite.stem}{end}": form(found) for end, form in forms.items()}
            written = write_files(folder, texts)
        if as_json:
            _print_json(tables_json(found))
        else:
            _echo(tables_text(found))
            for path in written:
                click.echo(path)
    if stop.signal:
        sys.exit(SIGNALLED + stop.signal)


@cli.command()
@for_init
def init(is_agreed: bool, is_dry: bool, as_json: bool, debug: bool, **options: Any) -> None:
    """Find the loop nests of SOURCE, weigh them, and annotate those you agree to.

    Without --yes it asks of each on a terminal; elsewhere it shows the difference and writes
    nothing.
    """
    from annotune.init.command import InitWish
    from annotune.init.command import init as begin

    is_told = is_agreed or is_dry or as_json
    is_answered = sys.stdin.isatty() and sys.stdout.isatty() and not is_told
    sizes = {name: value for given in options["sizes"] for name, value in given.items()}
    wish = InitWish(
        sizes,
        options["output"],
        options["is_sidecar"],
        is_answered,
        is_dry or not (is_agreed or is_answered),
        as_json,
        options["program"] or (),
        options["extents"],
    )
    with _refusals("json" if as_json else "text", debug) as texts:
        done = begin(settings_of_init(options, os.environ), wish, os.environ)
        if as_json:
            from annotune.init.json_form import init_json

            _print_json(init_json(str(options["source"]), done))
        _show(done.diagnostics, texts)
        if done.written is not None and not as_json:
            click.echo(f"wrote {done.written}; next: annotune run {done.ran}")
    if done.is_refused:
        sys.exit(1)


@cli.command()
@for_tensors
def tensor(output: Path | None, as_json: bool, debug: bool, **options: Any) -> None:
    """Write SOURCE, a tensor file, or --einsum as annotated C."""
    from annotune.files import write_files
    from annotune.tensor.translate import file_text

    source, einsum = options["source"], options["einsum"]
    if (source is None) == (einsum is None):
        raise click.UsageError("give a tensor file, or --einsum")
    given = [name for name in ("sizes", "element", "name") if options[name] is not None]
    if einsum is None and given:
        raise click.UsageError("--sizes, --type and --name are those of --einsum")
    if output is not None and output.suffix == ".h":
        raise click.UsageError("-o names the C file; the header gets the same name")
    if options["is_listing"] and (output is not None or options["formulation"] is not None):
        raise click.UsageError("--formulations lists them; -o and --formulation write one")
    with _refusals("json" if as_json else "text", debug) as texts:
        if einsum is not None:
            texts["--einsum"] = einsum
        if options["is_listing"]:
            _list_formulations(translated_of(options, is_every=True), as_json)
            return
        made = translated_of(options)
        if output is not None and output.suffix == ".tensor":
            files = {output.name: file_text(made.program, __version__)}
        elif output is not None:
            files = {output.name: made.c.source, output.with_suffix(".h").name: made.c.header}
        else:
            files = {}
        written = write_files(output.parent, files) if output is not None else ()
        if as_json:
            from annotune.report.json_form import tensor_json

            _print_json(tensor_json(made, written))
        else:
            click.echo("\n".join(map(str, written)) or made.c.source.rstrip("\n"))
            click.echo(made.summary, err=True)
        _show(made.diagnostics, texts)


def _list_formulations(made: Translated, as_json: bool) -> None:
    """Print a program's formulations, and what each takes."""
    if as_json:
        from annotune.report.json_form import formulations_json

        _print_json(formulations_json(made))
        return
    for one in made.every:
        click.echo(f"{one.formulation.name}: {one.formulation.words}")
        click.echo(f"    {one.cost}")


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), help="Write the page to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print results.json.")
@click.option(
    "--t4",
    metavar="[PATH]",
    is_flag=False,
    flag_value="-",
    help="Print the trials in T4's format, or write them to this file.",
)
@click.option(
    "--debug", is_flag=True, help="Show tracebacks, of a refusal or a mistake of annotune's."
)
def report(folder: Path, html: Path | None, as_json: bool, t4: str | None, debug: bool) -> None:
    """Show the finished run in FOLDER again."""
    import shlex

    from annotune.printable import one_line
    from annotune.report.answer import NextSteps, answer_texts, closing_texts
    from annotune.report.results_json import results_json, show_folder

    forms = {"--html": html is not None, "--json": as_json, "--t4": t4 is not None}
    asked = [name for name, is_asked in forms.items() if is_asked]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} exclude each other")
    with _refusals("json" if as_json else "text", debug):
        results = show_folder(folder)
        if t4 is not None:
            from annotune.report.results_json import t4_text

            _write(None if t4 == "-" else Path(t4), t4_text(results))
        elif as_json:
            _print_json(results_json(results))
        elif html is not None:
            from annotune.report.html import report_html

            _write(html, report_html(results))
        else:
            _show_results(results)
            if results.commands:
                click.echo("Compiled and linked in this folder by")
            for text in (one for found in results.commands.values() for one in found):
                click.echo(f"  {one_line(text)}")
            steps = NextSteps(
                {
                    name: [f"cd {shlex.quote(str(folder))} && {one_line(one)}" for one in found]
                    for name, found in results.commands.items()
                },
                shlex.join(("annotune", "run", results.source, "-o", str(folder))),
                shlex.join(("annotune", "report", str(folder), "--html", "report.html")),
                shlex.join(("annotune", "verify", str(folder))),
            )
            for line in (*answer_texts(results), *closing_texts(results, steps)):
                _echo(f"{one_line(line)}\n")


@cli.command()
@for_diff
def diff(before: Path, after: Path, limit: float | None, as_json: bool, debug: bool) -> None:
    """Compare the runs in BEFORE and AFTER: folders, or files results.json.

    What changed around them is said first. Figures of unlike machines or sizes are not compared.
    """
    from annotune.report.difference import difference, difference_json, difference_lines

    with _refusals("json" if as_json else "text", debug) as texts:
        found = difference(before, after)
        slower = found.slower(limit) if limit is not None else ()
        if as_json:
            _print_json(difference_json(found, slower))
        else:
            _echo("".join(f"{line}\n" for line in difference_lines(found)))
        texts[str(after)] = ""
        _show(slower, texts)
        if slower:
            sys.exit(1)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> None:
    """Say which compilers, devices and packages are here, and what each gap costs."""
    from rich.console import Console

    from annotune.measure.machine import examine
    from annotune.report.terminal import doctor_json, doctor_table

    found = examine(os.environ)
    if as_json:
        _print_json(doctor_json(found))
    else:
        Console().print(doctor_table(found))
    if not found.is_usable:
        sys.exit(1)


@cli.command(name="build-dir")
def build_dir() -> None:
    """Print the folder of annotune.mk, for Make, and of the package annotune, for CMake."""
    click.echo(Path(__file__).parent / "integration")


@cli.command()
@click.argument("code", default="", shell_complete=complete_codes)
def explain(code: str) -> None:
    """Print the page about CODE, such as AT253; without CODE, list them all."""
    from annotune.diagnostics import NO_SUCH_CODE, nearest_page, page_of, pages

    if not code:
        for page in pages():
            click.echo(f"{page.code}  {page.title}")
        return
    with _refusals("text", debug=False):
        found = page_of(code)
        if found is None:
            hint = f"{nearest_page(code)}`annotune explain` lists all codes"
            raise AnnotuneError.of(NO_SUCH_CODE.at(NOWHERE, code=code, hint=hint))
        click.echo(found.text, nl=False)


def _show_run(
    found: RunReport,
    form: str,
    written: Iterable[Path],
    folder: Path,
    texts: Texts,
    is_verbose: bool,
) -> None:
    """Print what a run found, in the format asked for, and the files that it wrote."""
    import shlex
    from dataclasses import replace

    from annotune.report.answer import NextSteps, answer_texts, closing_texts
    from annotune.report.results_json import results_json

    results = found.results
    if form == "json":
        _print_json(results_json(results))
    elif form == "sarif":
        _print_sarif(found.diagnostics, 0 if results.is_verified else 3, texts)
    else:
        # Those that have a place have just been shown there.
        _show(found.diagnostics, texts)
        shown = {diagnostic.message for diagnostic in found.diagnostics}
        others = tuple(words for words in results.warnings if words not in shown)
        _show_results(replace(results, warnings=others), is_short=not is_verbose)
        for path in written:
            click.echo(path)
        if is_verbose:
            _show_commands(found.builds, folder)
        again = shlex.join(("annotune", "run", *click.get_current_context().meta[_GIVEN]))
        show = shlex.join(("annotune", "report", str(folder)))
        check = shlex.join(("annotune", "verify", str(folder)))
        steps = NextSteps(_commands(found.builds, folder), again, show, check)
        for line in (*answer_texts(results), *closing_texts(results, steps)):
            _echo(f"{line}\n")


def _commands(builds: Builds, folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the commands that make programs of the files in `folder`, by target."""
    return {name: tuple(one.text(str(folder)) for one in found) for name, found in builds.items()}


def _show_commands(builds: Builds, folder: Path, err: bool = False) -> None:
    """Print the commands that make programs of the files in `folder`."""
    from annotune.codegen.build import headline

    texts = [text for found in _commands(builds, folder).values() for text in found]
    if texts:
        click.echo(headline(texts), err=err)
    for text in texts:
        click.echo(f"  {text}", err=err)


def _write(path: Path | None, text: str) -> None:
    """Write a text to a file and print its name, or print the text."""
    from annotune.files import write_files

    if path is None:
        click.echo(text, nl=False)
    else:
        (written,) = write_files(path.parent, {path.name: text})
        click.echo(written)


def _form(options: dict[str, Any]) -> str:
    """Return the format of standard output; ``--json`` is ``--format json``."""
    if options["as_json"] and options["form"] not in (None, "json"):
        raise click.UsageError(f"--json and --format {options['form']} exclude each other")
    return "json" if options["as_json"] else options["form"] or "text"


class _refusals:  # used like a function, as a context manager
    """Turns a refusal into diagnostics and its exit code; `debug` lets it through."""

    def __init__(self, form: str, debug: bool) -> None:
        self._form, self._debug = form, debug
        self._texts: dict[str, str] = {}

    def __enter__(self) -> dict[str, str]:
        """Return where to put the texts that are in no file."""
        return self._texts

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, AnnotuneError) or self._debug:
            return
        if self._form == "json":
            from annotune.report.json_form import refusal_json

            _print_json(refusal_json(error.diagnostics))
        elif self._form == "sarif":
            _print_sarif(error.diagnostics, error.exit_code, self._texts)
        _show(error.diagnostics, self._texts)
        sys.exit(error.exit_code)


def _show(diagnostics: Iterable[Diagnostic], texts: Texts) -> None:
    """Print diagnostics to stderr, each with the line of its file if that is a text."""
    from annotune.files import shown

    context = click.get_current_context(silent=True)
    is_debugging = context is not None and bool(context.params.get("debug"))
    for diagnostic in diagnostics:
        text = shown(diagnostic, texts)
        # click takes colours out where the output is no terminal.
        click.echo(text if os.environ.get("NO_COLOR") else _coloured(text), err=True)
        if is_debugging and diagnostic.trace:
            click.echo(diagnostic.trace, nl=False, err=True)


def _coloured(text: str) -> str:
    """Return a rendered diagnostic with the colours of a terminal: of severities and carets."""
    severities = {"error": "red", "warning": "yellow", "note": "cyan"}

    def head(found: re.Match[str]) -> str:
        word = found["severity"]
        return f"{found['place']}{click.style(f'{word}:', fg=severities[word], bold=True)}"

    text = _HEAD.sub(head, text)
    return _CARETS.sub(lambda found: click.style(found[0], fg="green", bold=True), text)


def _show_results(results: Results, is_short: bool = False) -> None:
    """Print the final table: laid out for the terminal, or plain for a pipe; or what is short."""
    from rich.console import Console

    from annotune.report.terminal import (
        SHORT_WIDTH,
        ResultsTable,
        ShortTable,
        results_text,
        short_text,
    )

    console = Console()
    if console.is_terminal:
        width = min(console.width, SHORT_WIDTH) if is_short else None
        console.print((ShortTable if is_short else ResultsTable)(results), width=width)
    else:
        is_ascii = not (sys.stdout.encoding or "").lower().startswith("utf")
        text = (short_text if is_short else results_text)(results, is_ascii=is_ascii)
        click.echo(text, nl=False)


def _echo(text: str) -> None:
    """Print a text, with escapes where the output cannot hold it."""
    encoding = sys.stdout.encoding or "ascii"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), nl=False)


def _print_sarif(diagnostics: Sequence[Diagnostic], exit_code: int, texts: Texts) -> None:
    from annotune.files import text_of
    from annotune.report.json_form import sarif_log

    every = [place for d in diagnostics for place in (d, *d.notes)]
    own = {place.span.file: text_of(place, texts) for place in every}
    _print_json(sarif_log(diagnostics, own, exit_code))


def _print_json(value: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps(value, indent=2))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; the entry point of the package."""
    begun = time.monotonic()
    given = sys.argv[1:] if arguments is None else list(arguments)
    # Hardly anything is garbage here: the collector would walk what was imported, again and again.
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)
    _open_what_is_closed()
    try:
        cli(args=given, prog_name="annotune", obj=begun)
    except (OSError, MemoryError) as error:
        if "--debug" in given:
            raise
        _end_without_output(error)
    finally:
        if given[:1] not in (["run"], ["table"]):
            # Nor at the end; what a run holds, such as its children, is let go in order.
            gc.freeze()


def _open_what_is_closed() -> None:
    """Take the null device for a standard file that is closed, as after ``>&-``.

    Else the next file that is opened would get its number, and what is printed.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _end_without_output(error: OSError | MemoryError) -> NoReturn:
    """Say what the machine lacks, such as room where the output goes, and end with 1."""
    said = "out of memory"
    if isinstance(error, OSError):
        named = f"'{error.filename}': " if error.filename is not None else ""
        said = f"{named}{error.strerror or error}"
    with suppress(OSError):
        click.echo(f"error: {said}", err=True)
    # What the output could not take is in its buffer still, and would be tried again at the end.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(1)
