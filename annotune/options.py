"""The options of the commands, what each takes, and the settings that they come to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from annotune.diagnostics import AnnotuneError
from annotune.settings import DEFAULT_TARGETS, SEARCH_NAMES, STRATEGY_NAMES, TARGET_NAMES, Settings

if TYPE_CHECKING:
    from annotune.annotation.spec import Value
    from annotune.tune.config import Wish

# What reads formulas, and numpy, which searches need, are imported where an option is given: no
# help waits for them.

F = TypeVar("F", bound=Callable[..., Any])
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


def _arch(text: str) -> str:
    """Return an architecture as nvcc names it."""
    if text and not re.fullmatch(r"sm_\d{2,3}[af]?", text, re.ASCII):
        raise ValueError(f"'{text}' is no architecture such as sm_90")
    return text


def _duration(text: str) -> float:
    """Return seconds, from ``90s``, ``5m`` or a plain number."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h|)", text.strip())
    if found is None or not float(found[1]):
        raise ValueError(f"'{text}' is no positive time such as 90s or 5m")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def _search(text: str) -> str:
    """Return the name of a search, which may be Orio's."""
    from annotune.tune.search.names import UnknownSearch, search_name

    try:
        return search_name(text)
    except UnknownSearch as error:
        raise ValueError(str(error)) from error


def _workers(text: str) -> Wish:
    """Return ``local:N``, processes of this machine, or ``parsl:CONFIG.py``, what Parsl starts."""
    from annotune.tune.config import Wish

    engine, _, what = text.partition(":")
    if engine == "parsl" and what:
        return Wish(config=Path(what))
    if engine != "local" or not re.fullmatch(r"[1-9]\d{0,3}", what, re.ASCII):
        raise ValueError(f"'{text}' is neither local:N, such as local:4, nor parsl:FILE.py")
    return Wish(int(what))


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


def _with(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that gives a command `options`, in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


_A_PATH = click.Path(path_type=Path)

output_folder = click.option(
    "-o",
    "--output",
    type=_A_PATH,
    help="The folder to write. [default: annotune-out/NAME-OF-SOURCE]",
)

common = _with(
    click.argument("source", type=_A_PATH),
    click.option(
        "--target",
        "targets",
        type=Read("targets", _targets),
        default=",".join(DEFAULT_TARGETS),
        show_default=True,
        help="Languages to write, separated by commas; openmp_target is one more.",
    ),
    click.option(
        "--strategy",
        type=Choice(*STRATEGY_NAMES, group="annotune.strategies"),
        default="auto",
        show_default=True,
        help="How CUDA kernels are shaped.",
    ),
    click.option(
        "--set",
        "sets",
        type=Read("name=value", _setting),
        multiple=True,
        help="A size; wins over the annotation.",
    ),
    click.option(
        "--param",
        "params",
        type=Read("name=values", _axis_values),
        multiple=True,
        help="Values of an axis or a parameter, such as S0.lanes=8,16.",
    ),
    click.option(
        "--constraint",
        "constraints",
        type=Read("formula", _formula),
        multiple=True,
        help="What points must fulfil, such as 'S0.lanes > 8'.",
    ),
    click.option(
        "-D",
        "defines",
        type=Read("name[=value]", _define),
        multiple=True,
        help="A macro, as in C.",
    ),
    click.option("-I", "include", type=_A_PATH, multiple=True, help="A folder of headers."),
    click.option("--function", default="", help="Only the regions of this function."),
    click.option(
        "--arch",
        type=Read("arch", _arch),
        default="",
        help="Such as sm_90. [default: that of the device]",
    ),
    click.option(
        "--device",
        default="h200",
        show_default=True,
        help="The GPU to predict for: a name of annotations/devices/, or a YAML file.",
    ),
    click.option(
        "--data",
        type=Choice("host", "resident"),
        default="host",
        show_default=True,
        help="Whether a call copies its arrays, or finds them on the device.",
    ),
    click.option("--annotation", "sidecar", type=_A_PATH, help="A YAML file of annotations."),
    click.option(
        "-s", "--spec", "specification", type=_A_PATH, help="A specification in Orio's form."
    ),
    click.option("--format", "form", type=Choice("text", "json", "sarif"), help="What is printed."),
    click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
    click.option("--debug", is_flag=True, help="Show the traceback of a refusal."),
)
"""Gives a command the options that `check`, `emit` and `run` share."""

for_a_run = _with(
    click.option(
        "--search",
        type=Read("search", _search),
        metavar="NAME",
        help=f"{', '.join(SEARCH_NAMES)}. [default: the annotation's, else auto]",
    ),
    click.option(
        "--budget",
        type=click.IntRange(min=1),
        metavar="N",
        help="Variants per target and region, at most. [default: the annotation's, else 100]",
    ),
    click.option(
        "--time",
        "time_s",
        type=Read("duration", _duration),
        help="Of the search, such as 5m. [default: the annotation's, else 90s]",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        metavar="N",
        help="Of the search's random numbers. [default: the annotation's, else 0]",
    ),
    click.option(
        "--cache",
        type=Choice("cold", "warm"),
        default="cold",
        show_default=True,
        help="Whether timed runs find their data in caches.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Compilations at once. [default: as many as cores]",
    ),
    click.option(
        "--workers",
        type=Read("workers", _workers),
        help="local:N or parsl:CONFIG.py; docs/clusters.md tells more.",
    ),
    click.option(
        "--resume/--fresh",
        default=True,
        help="Reuse the trials kept in the folder, or begin anew. [default: resume]",
    ),
)
"""Gives a command the options of a search."""


def settings_of(options: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """Return what the shared options ask for; the environment may name the C compiler."""
    return Settings(
        options["source"],
        options["targets"],
        options["strategy"],
        dict(options["sets"]),
        dict(options["defines"]),
        options["function"],
        options["arch"],
        options["device"],
        options["data"] == "resident",
        options["sidecar"],
        # Absolute, since the original is compiled in a folder of its own.
        tuple(str(folder.absolute()) for folder in options["include"]),
        _c_compiler(environ),
        options["specification"],
        dict(options["params"]),
        tuple(options["constraints"]),
    )


def _c_compiler(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that start the C compiler: those of CC, or the first that is here."""
    import shlex
    import shutil

    try:
        named = shlex.split(environ.get("CC", ""))
    except ValueError:
        named = []
    path = environ.get("PATH")
    found = [name for name in ("gcc", "cc") if shutil.which(name, path=path)]
    return tuple(named or found[:1])
