"""The options of the commands, what each takes, and the settings that they come to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click
from click.shell_completion import CompletionItem

from annotune.diagnostics import AnnotuneError

if TYPE_CHECKING:
    from annotune.annotation.spec import Value
    from annotune.pipeline import Settings
    from annotune.report.suite import Suite
    from annotune.tensor.translate import Translated
    from annotune.tuning.config import RunConfig, Wish

# What reads formulas, and numpy, which searches need, are imported where an option is given: no
# help waits for them.

# Those of `annotune.codegen.target`, `annotune.strategies.registry` and
# `annotune.tuning.search.names`.
DEFAULT_TARGETS = ("cuda", "openacc", "openmp")
TARGET_NAMES = (*DEFAULT_TARGETS, "openmp_target")
STRATEGY_NAMES = (
    *("auto", "direct", "two-level", "gemm", "accumulate", "batched"),
    *("stencil", "elementwise", "reduction", "elements"),
)
SEARCH_NAMES = (
    *("auto", "exhaustive", "random", "gp", "rf"),
    *("tpe", "cma-es", "genetic", "annealing", "simplex"),
)

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
T = TypeVar("T")

# A name of C. `str.isidentifier` accepts the letters of every script, and compilers do not.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

# What stands between the commas of a list; a comma in quotes is none.
_PART = r"""\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"'\s][^,"']*)\s*"""
_WORD, _WORDS = re.compile(_PART), re.compile(rf"{_PART}(?:,{_PART})*")


class Choice(click.Choice[str]):
    """One of a few words; the nearest is offered for a misspelt one.

    Words of other packages are those of the entry points of a `group`.
    """

    def __init__(self, *words: str, group: str = "") -> None:
        super().__init__(words)
        self._group = group

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            from annotune import plugins

            others = plugins.names(self._group) if self._group else ()
            if value not in others:
                self.fail(_none_of(str(value), [*map(str, self.choices), *others]), param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from annotune import plugins

        others = plugins.names(self._group) if self._group else ()
        return _beginning(incomplete, (*map(str, self.choices), *others))


class Read(click.ParamType[T]):
    """What `read` makes of the text of an option; a ValueError says what is wrong with it."""

    def __init__(self, name: str, read: Callable[[str], T]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> T:
        if not isinstance(value, str):
            read: T = value
            return read
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _beginning(start: str, words: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(start)]


# What a shell offers for a part of a word; each gets what click gives a `shell_complete`.


def complete_codes(_: click.Context, __: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the codes of diagnostics that begin so, in either case, with their titles."""
    from annotune.diagnostics import pages

    found = (page for page in pages() if page.code.startswith(start.upper()))
    return [CompletionItem(page.code, help=page.title) for page in found]


def _complete_searches(_: click.Context, __: click.Parameter, start: str) -> list[CompletionItem]:
    from annotune import plugins

    return _beginning(start, (*SEARCH_NAMES, *plugins.names(plugins.SEARCHES)))


def _complete_devices(_: click.Context, __: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the presets that begin so; what none does is the start of a file's name."""
    from annotune.annotation.devices import device_names

    return _beginning(start, device_names()) or [CompletionItem(start, type="file")]


def _complete_targets(_: click.Context, __: click.Parameter, start: str) -> list[CompletionItem]:
    """Return the list with each further target that its last part begins."""
    from annotune import plugins

    listed, comma, _last = start.rpartition(",")
    named = (part.strip() for part in listed.split(","))
    others = dict.fromkeys((*TARGET_NAMES, *plugins.names(plugins.TARGETS)))
    for name in named:
        others.pop(name, None)
    return _beginning(start, (f"{listed}{comma}{name}" for name in others))


def _targets(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in names:
        if name not in TARGET_NAMES:
            from annotune import plugins

            every = (*TARGET_NAMES, *plugins.names("annotune.targets"))
            if name not in every:
                raise ValueError(_none_of(name, every))
    if not names:
        raise ValueError(f"name at least one of {', '.join(TARGET_NAMES)}")
    return tuple(dict.fromkeys(names))


def _setting(text: str) -> tuple[str, Value]:
    """Return a name of C and a value of the annotation language: ``NAME=VALUE``."""
    from annotune.annotation.expressions import evaluate

    name, equals, value = text.partition("=")
    if not equals or not _NAME.match(name):
        raise ValueError(f"'{text}' is not NAME=VALUE")
    try:
        return name, evaluate(value)
    except AnnotuneError as error:
        raise ValueError(f"'{text}': {error}") from error


def _axis_values(text: str) -> tuple[str, tuple[Value, ...]]:
    """Return an axis of the space, or a parameter, and the values to try: ``NAME=VALUE,VALUE``.

    What is no value of the annotation language is a word, such as the name of a loop. A word with
    a comma stands in quotes, as `check --space` prints it.
    """
    from annotune.annotation.expressions import evaluate
    from annotune.space.limits import is_axis

    def value(word: str) -> Value:
        try:
            return evaluate(word)
        except AnnotuneError:
            return word

    name, equals, listed = text.partition("=")
    words = [word.strip() for word in _WORD.findall(listed)] if _WORDS.fullmatch(listed) else []
    is_named = _NAME.match(name) or is_axis(name)
    if not equals or not is_named or not all(words) or not words:
        raise ValueError(f"'{text}' is not NAME=VALUE,VALUE")
    return name, tuple(map(value, words))


def _formula(text: str) -> str:
    from annotune.annotation.expressions import free_names
    from annotune.space.limits import plain_names

    try:
        free_names(plain_names(text))
    except AnnotuneError as error:
        raise ValueError(f"'{text}': {error}") from error
    return plain_names(text)


def _lengths(text: str) -> dict[str, int]:
    """Return the sizes of indices: ``e=1000,i=8``."""
    found: dict[str, int] = {}
    for part in text.split(","):
        given = re.fullmatch(r"\s*([A-Za-z])\s*=\s*(-?[0-9]{1,18})\s*", part, re.ASCII)
        if given is None:
            raise ValueError(f"'{part}' is not INDEX=NUMBER")
        if given[1] in found:
            raise ValueError(f"'{given[1]}' is given twice")
        found[given[1]] = int(given[2])
    return found


def _sizes(text: str) -> dict[str, int]:
    """Return sizes by their names: ``n=512,m=64``."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not _NAME.match(name) or not re.fullmatch(r"-?[0-9]{1,18}", value):
            raise ValueError(f"'{part}' is not NAME=NUMBER")
        found[name] = int(value)
    return found


def _arch(text: str) -> str:
    """Return an architecture as nvcc names it."""
    if text and not re.fullmatch(r"sm_\d{2,3}[af]?", text, re.ASCII):
        raise ValueError(f"'{text}' is no architecture such as sm_90")
    return text


MOST_GPUS = 16


def share_of(text: str) -> str:
    """Return how both processors share a loop, as it is written.

    Raises:
        ValueError: It is no share.
    """
    from annotune.transforms.cache import is_share

    if text and not is_share(text):
        raise ValueError(f"'{text}' is no share from 0 to 1, such as 0.25, and not 'counter'")
    return text


def share_to_try(text: str) -> str:
    """Return how both processors share a loop in a run, which may try several shares.

    Raises:
        ValueError: It is no share.
    """
    from annotune.tuning.config import AUTO

    return text if text == AUTO else share_of(text)


def _duration(text: str) -> float:
    """Return seconds, from ``90s``, ``5m`` or a plain number."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h|)", text.strip())
    if found is None or not float(found[1]):
        raise ValueError(f"'{text}' is no positive time such as 90s or 5m")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def _program(text: str) -> tuple[str, ...]:
    """Return the words of a command, as a shell reads them; nothing else in it is obeyed."""
    import shlex

    words = tuple(shlex.split(text))
    if not words:
        raise ValueError("it names no program")
    return words


def _share(text: str) -> float:
    """Return a share of one: ``10%``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text.strip(), re.ASCII)
    if found is None:
        raise ValueError(f"'{text}' is no share such as 10%")
    return float(found[1]) / 100


def _search(text: str) -> str:
    """Return the name of a search, which may be Orio's."""
    from annotune.tuning.search.names import UnknownSearch, search_name

    try:
        return search_name(text)
    except UnknownSearch as error:
        raise ValueError(str(error)) from error


def _workers(text: str) -> Wish:
    """Return ``local:N``, processes of this machine, or ``parsl:CONFIG.py``, what Parsl starts."""
    from annotune.tuning.config import Wish

    engine, _, what = text.partition(":")
    if engine == "parsl" and what:
        return Wish(config=Path(what))
    if engine != "local" or not re.fullmatch(r"[1-9]\d{0,3}", what, re.ASCII):
        raise ValueError(f"'{text}' is neither local:N, such as local:4, nor parsl:FILE.py")
    return Wish(int(what))


def _size_bytes(text: str) -> int:
    """Return bytes, from ``256M``, ``2G``, ``64K`` or a plain number."""
    found = re.fullmatch(r"(\d+)\s*([KMG]?)(?:i?B)?", text.strip(), re.ASCII)
    if found is None:
        raise ValueError(f"'{text}' is no size such as 256M or 2G")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]]


def _define(text: str) -> tuple[str, str]:
    """Return a macro and its text, as the C compiler's ``-D`` takes it."""
    name, equals, value = text.partition("=")
    if not _NAME.match(name):
        raise ValueError(f"'{text}' does not begin with a macro's name")
    if not value.isprintable():
        raise ValueError(f"{value!r} of '{name}' is not one line of text")
    return name, value if equals else "1"


def _none_of(word: str, known: Sequence[str]) -> str:
    from annotune.annotation.messages import did_you_mean

    hint = did_you_mean(word, known)
    near = f"; {hint}" if hint.startswith("did") else ""
    return f"'{word}' is none of {', '.join(known)}{near}"


def _with(*options: Decorator) -> Decorator:
    """Return a decorator that gives a command `options`, in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def _option(names: str, kind: click.ParamType[Any] | None, says: str, **more: Any) -> Decorator:
    """Return an option; its default, if it has one, is shown."""
    shown = bool(more.get("default"))
    return click.option(*names.split(), type=kind, help=says, show_default=shown, **more)


_A_PATH = click.Path(path_type=Path)

output_folder = _option(
    "-o --output", _A_PATH, "The folder to write. [default: annotune-out/NAME-OF-SOURCE]"
)

standalone = click.option(
    "--standalone",
    is_flag=True,
    help="Write the runtime into each file: no other file is compiled and linked with it.",
)

both = _with(
    _option(
        "--both",
        Read("share", share_of),
        "In CUDA, let the host compute a share of the outermost parallel loop: 0.25 is a quarter; "
        "with counter both processors take iterations until none is left.",
        default="",
    ),
    _option(
        "--gpus",
        click.IntRange(1, MOST_GPUS),
        "In CUDA, let so many GPUs share the outermost parallel loop, where there are so many.",
        default=1,
    ),
)

of_tensors = _with(
    click.option(
        "--no-factor",
        "is_factored",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Compute the products of a tensor file as they are written.",
    ),
    _option(
        "--formulation",
        None,
        "Of a tensor file, that one alone: `annotune tensor FILE --formulations` lists them.",
        metavar="NAME",
    ),
)
"""Gives a command how the operations of a tensor file become nests."""

_SOURCE = click.argument("source", type=_A_PATH)
_SETS = _option(
    "--set sets",
    Read("name=value", _setting),
    "A size; wins over the annotation.",
    multiple=True,
)
_DEFINES = _option("-D defines", Read("name[=value]", _define), "A macro, as in C.", multiple=True)
_INCLUDE = _option("-I include", _A_PATH, "A folder of headers.", multiple=True)
_FUNCTION = _option("--function", None, "Only the regions of this function.", default="")
_SIDECAR = _option("--annotation sidecar", _A_PATH, "A YAML file of annotations.")
_SPECIFICATION = _option("-s --spec specification", _A_PATH, "A specification in Orio's form.")
_DEBUG = click.option(
    "--debug", is_flag=True, help="Show tracebacks, of a refusal or a mistake of annotune's."
)

_COMMON = (
    _option(
        "--target targets",
        Read("targets", _targets),
        "Languages to write, separated by commas; openmp_target is one more.",
        default=",".join(DEFAULT_TARGETS),
        shell_complete=_complete_targets,
    ),
    _option(
        "--strategy",
        Choice(*STRATEGY_NAMES, group="annotune.strategies"),
        "How CUDA kernels are shaped.",
        default="auto",
    ),
    _SETS,
    _option(
        "--param params",
        Read("name=values", _axis_values),
        "Values of an axis or a parameter, such as S0.lanes=8,16.",
        multiple=True,
    ),
    _option(
        "--constraint constraints",
        Read("formula", _formula),
        "What points must fulfil, such as 'S0.lanes > 8'.",
        multiple=True,
    ),
    _DEFINES,
    _INCLUDE,
    _FUNCTION,
    _option(
        "--arch", Read("arch", _arch), "Such as sm_90. [default: that of the device]", default=""
    ),
    _option(
        "--device",
        None,
        "The GPU to predict for: a name of annotations/devices/, or a YAML file.",
        default="h200",
        shell_complete=_complete_devices,
    ),
    _option(
        "--data",
        Choice("host", "resident"),
        "Whether a call copies its arrays, or finds them on the device.",
        default="host",
    ),
    _SIDECAR,
    _SPECIFICATION,
    of_tensors,
    _option("--format form", Choice("text", "json", "sarif"), "What is printed."),
    click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
    _DEBUG,
)
common = _with(_SOURCE, *_COMMON)
"""Gives a command the options that `check`, `emit` and `run` share."""

for_check = _with(
    click.argument("sources", type=_A_PATH, nargs=-1, required=True, metavar="SOURCE..."), *_COMMON
)
"""Gives `check` the same, for any number of files and folders."""


def parsed(words: Sequence[str], *groups: Decorator) -> dict[str, Any]:
    """Return what words of a command line say of groups of options, by the options' names.

    Raises:
        click.UsageError: They are no such options, or no values of these.
    """
    command = click.command()(_with(*groups)(lambda **options: None))
    return command.make_context("annotune", list(words)).params


_ORIGINAL_TIME = _option(
    "--original-time original_s",
    Read("duration", _duration),
    "That one run of the original may take. [default: 600s]",
    default=None,
)
_BUDGET = _option(
    "--budget",
    click.IntRange(min=1),
    "Variants per target and region, at most. [default: the annotation's, else 100]",
    metavar="N",
)
_SEED = _option(
    "--seed",
    click.IntRange(min=0),
    "Of the search's random numbers. [default: the annotation's, else 0]",
    metavar="N",
)
_JOBS = _option(
    "--jobs",
    click.IntRange(min=1),
    "Compilations at once. [default: as many as cores]",
    metavar="N",
)
_RESUME = click.option(
    "--resume/--fresh",
    default=True,
    help="Reuse the trials kept in the folder, or begin anew. [default: resume]",
)

for_tensors = _with(
    click.argument("source", type=_A_PATH, required=False),
    _option(
        "-o --output", _A_PATH, "The C file to write, with its header beside. [default: print it]"
    ),
    _option("--einsum", None, "An einsum string instead of a file, such as 'eimk,jm->eijk'."),
    _option(
        "--sizes",
        Read("sizes", _lengths),
        "Those of its indices, such as e=1000,i=8; others are parameters of the function.",
        metavar="INDEX=N,…",
    ),
    _option(
        "--type element",
        Choice("float", "double", "complex"),
        "Of its tensors. [default: double]",
    ),
    _option("--name", None, "Of its function. [default: einsum]"),
    of_tensors,
    click.option(
        "--formulations",
        "is_listing",
        is_flag=True,
        help="List the formulations of the program, and what each takes.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print what was made of it as JSON."),
    click.option(
        "--debug", is_flag=True, help="Show tracebacks, of a refusal or a mistake of annotune's."
    ),
)
"""Gives a command what makes C of tensors."""

for_a_capture = _with(
    _SOURCE,
    click.argument("program", nargs=-1, type=click.UNPROCESSED),
    _option("-o --output", _A_PATH, "The folder of records. [default: annotune-out/STEM/inputs]"),
    _option(
        "--build",
        None,
        "A shell's line that builds the program, with {file} in the place of SOURCE.",
        metavar="COMMAND",
    ),
    _option(
        "--max-bytes",
        Read("bytes", _size_bytes),
        "That the arrays of all processes may take together.",
        default="256M",
    ),
    _option(
        "--calls",
        click.IntRange(1, 64),
        "That each process keeps at each of the sizes: the first, and some later ones.",
        default=3,
        metavar="N",
    ),
    click.option(
        "--add", "is_added", is_flag=True, help="Keep the records that are in the folder, too."
    ),
    _SETS,
    _DEFINES,
    _INCLUDE,
    _FUNCTION,
    _SIDECAR,
    _SPECIFICATION,
    _DEBUG,
)
"""Gives a command what records a program."""

for_a_run = _with(
    _option(
        "--search",
        Read("search", _search),
        f"{', '.join(SEARCH_NAMES)}. [default: the annotation's, else auto]",
        metavar="NAME",
        shell_complete=_complete_searches,
    ),
    _BUDGET,
    _option(
        "--time time_s",
        Read("duration", _duration),
        "Of the whole command, such as 5m. [default: the annotation's, else 90s]",
    ),
    _ORIGINAL_TIME,
    _SEED,
    _option(
        "--cache",
        Choice("cold", "warm"),
        "Whether timed runs find their data in caches.",
        default="cold",
    ),
    _JOBS,
    _option(
        "--inputs",
        _A_PATH,
        "The records of `annotune capture`: the sizes and values of checks and timings.",
        metavar="DIR",
    ),
    _option(
        "--workers",
        Read("workers", _workers),
        "local:N or parsl:CONFIG.py; docs/clusters.md tells more.",
    ),
    _option(
        "--both",
        Read("share", share_to_try),
        "Of CUDA's calls, the host computes a share as emit's --both says; auto tries several.",
        default="",
    ),
    _RESUME,
    click.option("-v", "--verbose", "is_verbose", is_flag=True, help="Print all that was found."),
    click.option("-q", "--quiet", "is_quiet", is_flag=True, help="Show no progress."),
)
"""Gives a command the options of a search."""

for_a_table = _with(
    _option(
        "--time time_s",
        Read("duration", _duration),
        "Of the whole command, shared by its runs.",
        default="9m",
    ),
    _BUDGET,
    _ORIGINAL_TIME,
    _SEED,
    _JOBS,
    _RESUME,
    click.option("--json", "as_json", is_flag=True, help="Print the cells of the tables as JSON."),
    click.option(
        "--debug", is_flag=True, help="Show tracebacks, of a refusal or a mistake of annotune's."
    ),
)
"""Gives a command the options of a suite's runs."""


for_init = _with(
    click.argument("source", type=_A_PATH),
    _option("-o --output", _A_PATH, "The file to write; it must be new. [default: SOURCE itself]"),
    click.option(
        "--sidecar",
        "is_sidecar",
        is_flag=True,
        help="Leave SOURCE as it is: write annotations/NAME.yaml beside it.",
    ),
    _option(
        "--size sizes",
        Read("name=n", _sizes),
        "Sizes of your runs, such as n=512,m=64; others are asked for, or assumed.",
        multiple=True,
        metavar="NAME=N,…",
    ),
    _option(
        "--extent extents",
        None,
        "The length of an array that C does not tell, in C: x[n+1].",
        multiple=True,
        metavar="ARRAY[N]",
    ),
    _option(
        "--profile program",
        Read("command", _program),
        "Run this, and weigh the nests by the samples of perf, or of gprof.",
        metavar="'PROGRAM ARGUMENTS'",
    ),
    click.option("-y", "--yes", "is_agreed", is_flag=True, help="Annotate each nest that can be."),
    click.option(
        "--dry-run", "is_dry", is_flag=True, help="Show the difference, and write nothing."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the nests as JSON; asks nothing."),
    _DEFINES,
    _INCLUDE,
    _FUNCTION,
    click.option(
        "--debug", is_flag=True, help="Show tracebacks, of a refusal or a mistake of annotune's."
    ),
)
"""Gives a command the options of `init`."""


for_diff = _with(
    click.argument("before", type=_A_PATH),
    click.argument("after", type=_A_PATH),
    _option(
        "--fail-slower limit",
        Read("share", _share),
        "End with 1 where a tuned variant takes longer by more than this, or is gone.",
        metavar="PERCENT",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the difference as JSON."),
    click.option(
        "--debug", is_flag=True, help="Show tracebacks, of a refusal or a mistake of annotune's."
    ),
)
"""Gives a command what it compares two runs by."""


def default_folder(source: Path) -> Path:
    """Return the folder to write where nobody names one."""
    return Path("annotune-out") / source.stem


def settings_of(
    options: Mapping[str, Any],
    environ: Mapping[str, str],
    folder: Path | None = None,
    is_every: bool = False,
) -> Settings:
    """Return what the shared options ask for; the environment may name the compilers.

    `folder` is the one to write, if any. Of a tensor file it is the C text, which lies there: that
    of the formulation asked for; where none is and it `is_every`, that of the usual one, and all
    others are beside it.

    Raises:
        AnnotuneError: The tensor file is refused.
        click.UsageError: Options do not fit the file.
    """
    from dataclasses import replace

    from annotune.codegen.build import Project
    from annotune.frontend.read.preprocess import HeaderSearch
    from annotune.pipeline import Settings

    # Absolute, since the original is compiled in a folder of its own.
    include = tuple(str(folder.absolute()) for folder in options["include"])
    own = ("source", "targets", "strategy", "function", "arch", "device", "constraints")
    settings = Settings(
        **{name: options[name] for name in (*own, "sidecar", "specification")},
        sizes=dict(options["sets"]),
        params=dict(options["params"]),
        search=HeaderSearch(include, dict(options["defines"]), _c_compiler(environ)),
        resident=options["data"] == "resident",
        **_shared_calls(options),
        standalone=options.get("standalone", False),
        compilers=_named_compilers(environ),
        inputs=options.get("inputs"),
    )
    if settings.source.suffix == ".tensor":
        if settings.inputs is not None:
            raise click.UsageError("--inputs is of C files")
        made = translated_of(options, is_every and options["formulation"] is None)
        place = (folder or default_folder(settings.source)) / f"{settings.source.stem}.c"
        settings = replace(settings, source=place, translated=made)
    elif options["formulation"] is not None:
        raise click.UsageError("--formulation is of tensor files")
    if folder is None:
        return settings
    return replace(settings, project=Project.of(settings.folders, folder))


def _shared_calls(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return which processors share a call.

    Raises:
        click.UsageError: Some are to share it, and CUDA is not among the targets.
    """
    both, gpus = options.get("both", ""), options.get("gpus", 1)
    if (both or gpus > 1) and "cuda" not in options["targets"]:
        raise click.UsageError("--both and --gpus are of CUDA, which is not among the targets")
    return {"both": both, "gpus": gpus}


def translated_of(options: Mapping[str, Any], is_every: bool = False) -> Translated:
    """Return what a tensor file, or an einsum string, comes to: in all formulations, or one.

    Raises:
        AnnotuneError: It is refused.
    """
    import os

    from annotune import __version__
    from annotune.files import read_source
    from annotune.tensor.translate import USUAL, einsum_of, read_program, translated

    source: Path | None = options["source"]
    if source is None:
        element, name = options["element"] or "double", options["name"] or "einsum"
        program = einsum_of(options["einsum"], options["sizes"] or {}, element, name)
        origin = f"the einsum string {options['einsum']}"
    else:
        program, origin = read_program(str(source), read_source(source)), source.name
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    name = None if is_every else options["formulation"] or USUAL
    is_factored = options["is_factored"]
    return translated(program, origin, __version__, is_factored, memory_bytes, name)


def settings_of_init(options: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """Return what `init` asks of a source; the environment may name the C compiler."""
    from annotune.frontend.read.preprocess import HeaderSearch
    from annotune.pipeline import Settings

    include = tuple(str(folder.absolute()) for folder in options["include"])
    search = HeaderSearch(include, dict(options["defines"]), _c_compiler(environ))
    return Settings(options["source"], function=options["function"], search=search)


def settings_of_capture(options: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """Return how a file is read whose regions are to be recorded.

    Raises:
        click.UsageError: It is no C file.
    """
    if options["source"].suffix == ".tensor":
        raise click.UsageError("capture takes a C file, such as `annotune tensor` writes")
    unasked = {"targets": DEFAULT_TARGETS, "strategy": "auto", "arch": "", "device": "h200"}
    others = {"constraints": (), "params": (), "data": "host", "formulation": None}
    return settings_of({**unasked, **others, **options}, environ)


def config_of(options: Mapping[str, Any], cores: int, begun: float) -> RunConfig:
    """Return how a run goes by its own options, on so many cores; for `begun` see there."""
    from annotune.tuning.config import ORIGINAL_S, Ledger, RunConfig

    workers: Wish | None = options["workers"]
    at_once = workers.count if workers is not None and workers.count else cores
    own = ("search", "seed", "budget", "time_s", "workers", "both")
    return RunConfig(
        **{name: options[name] for name in own},
        compilers=options["jobs"] or cores,
        jobs=at_once,
        is_cold=options["cache"] == "cold",
        begun=begun,
        original_s=options["original_s"] or ORIGINAL_S,
        checks_naive="openacc" in options["targets"],
        ledger=Ledger(begun),
    )


def settings_of_suite(suite: Suite, environ: Mapping[str, str]) -> Settings:
    """Return what all workloads of a suite ask for; the environment may name the C compiler."""
    from annotune.frontend.read.preprocess import HeaderSearch
    from annotune.pipeline import Settings

    return Settings(
        suite.path,
        suite.targets,
        suite.strategy,
        search=HeaderSearch(compiler=_c_compiler(environ)),
        device=suite.devices[0],
        compilers=_named_compilers(environ),
    )


def config_of_table(options: Mapping[str, Any], cores: int, begun: float) -> RunConfig:
    """Return how each run of a suite goes, on so many cores; the time of all began at `begun`."""
    from annotune.tuning.config import ORIGINAL_S, RunConfig

    return RunConfig(
        seed=options["seed"],
        budget=options["budget"],
        compilers=options["jobs"] or cores,
        jobs=cores,
        original_s=options["original_s"] or ORIGINAL_S,
        begun=begun,
    )


def _named_compilers(environ: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the words that start the compilers which the environment names, by role."""
    named = {role: _words(environ, role.upper()) for role in ("nvcc", "nvc")}
    named["c"] = _words(environ, "CC")
    return {role: words for role, words in named.items() if words}


def _words(environ: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return the words of a variable of the environment, none where it is no text of a shell."""
    import shlex

    try:
        return tuple(shlex.split(environ.get(name, "")))
    except ValueError:
        return ()


def _c_compiler(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that start the C compiler: those of CC, or the first that is here."""
    import shutil

    named = _words(environ, "CC")
    path = environ.get("PATH")
    found = [name for name in ("gcc", "cc") if shutil.which(name, path=path)]
    return tuple(named or found[:1])
