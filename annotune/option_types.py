"""The values that options of the command line take, each checked as click reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annotune.annotation.evaluate import evaluate, free_names
from annotune.annotation.messages import did_you_mean
from annotune.annotation.spec import Value
from annotune.codegen.target import TARGET_NAMES
from annotune.decide.limits import is_axis, plain_names
from annotune.diagnostics import AnnotuneError

if TYPE_CHECKING:
    from annotune.tune.crew import Wish

# A name of C. `str.isidentifier` accepts the letters of every script, and compilers do not.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

# What stands between the commas of a list; a comma in quotes is none.
_PART = r"""\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"'\s][^,"']*)\s*"""
_WORD, _WORDS = re.compile(_PART), re.compile(rf"{_PART}(?:,{_PART})*")


class Choice(click.Choice[str]):
    """One of a few words; the nearest is offered for a misspelt one."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(words)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            self.fail(_none_of(str(value), [str(c) for c in self.choices]), param, ctx)
        return str(value)


class Targets(click.ParamType[tuple[str, ...]]):
    """A comma-separated list of targets."""

    name = "targets"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = tuple(part.strip() for part in str(value).split(",") if part.strip())
        for name in names:
            if name not in TARGET_NAMES:
                self.fail(_none_of(name, TARGET_NAMES), param, ctx)
        if not names:
            self.fail(f"name at least one of {', '.join(TARGET_NAMES)}", param, ctx)
        return tuple(dict.fromkeys(names))


class Setting(click.ParamType[tuple[str, Value]]):
    """``NAME=VALUE``: a name of C and a value of the annotation language."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Value]:
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not equals or not _NAME.match(name):
            self.fail(f"'{value}' is not NAME=VALUE", param, ctx)
        try:
            return name, evaluate(text)
        except AnnotuneError as error:
            self.fail(f"'{value}': {error}", param, ctx)


class AxisValues(click.ParamType[tuple[str, tuple[Value, ...]]]):
    """``NAME=VALUE,VALUE``: an axis of the space, or a parameter, and the values to try.

    What is no value of the annotation language is a word, such as the name of a loop. A word with
    a comma stands in quotes, as `check --space` prints it.
    """

    name = "name=values"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, tuple[Value, ...]]:
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        words = [word.strip() for word in _WORD.findall(text)] if _WORDS.fullmatch(text) else []
        is_named = _NAME.match(name) or is_axis(name)
        if not equals or not is_named or not all(words) or not words:
            self.fail(f"'{value}' is not NAME=VALUE,VALUE", param, ctx)
        return name, tuple(map(_value, words))


def _value(word: str) -> Value:
    try:
        return evaluate(word)
    except AnnotuneError:
        return word


class FormulaText(click.ParamType[str]):
    """A formula of the annotation language."""

    name = "formula"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            free_names(plain_names(str(value)))
        except AnnotuneError as error:
            self.fail(f"'{value}': {error}", param, ctx)
        return plain_names(str(value))


class Arch(click.ParamType[str]):
    """An architecture as nvcc names it."""

    name = "arch"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value and not re.fullmatch(r"sm_\d{2,3}[af]?", str(value), re.ASCII):
            self.fail(f"'{value}' is no architecture such as sm_90", param, ctx)
        return str(value)


class Duration(click.ParamType[float]):
    """Seconds, as ``90s``, ``5m`` or a plain number."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|h|)", str(value).strip())
        if found is None or not float(found[1]):
            self.fail(f"'{value}' is no positive time such as 90s or 5m", param, ctx)
        return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


class SearchName(click.ParamType[str]):
    """The name of a search, ours or Orio's."""

    name = "search"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        # numpy, which searches need, is not waited for by the other commands.
        from annotune.tune.search.names import UnknownSearch, search_name

        try:
            return search_name(str(value))
        except UnknownSearch as error:
            self.fail(str(error), param, ctx)


class Workers(click.ParamType["Wish"]):
    """``local:N``, processes of this machine, or ``parsl:CONFIG.py``, those that Parsl starts."""

    name = "workers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Wish:
        from annotune.tune.crew import Wish

        if isinstance(value, Wish):
            return value
        engine, _, what = str(value).partition(":")
        if engine == "parsl" and what:
            return Wish(config=Path(what))
        if engine != "local" or not re.fullmatch(r"[1-9]\d{0,3}", what, re.ASCII):
            what = f"'{value}' is neither local:N, such as local:4, nor parsl:FILE.py"
            self.fail(what, param, ctx)
        return Wish(int(what))


class Define(click.ParamType[tuple[str, str]]):
    """``NAME`` or ``NAME=VALUE``, as the C compiler's ``-D`` takes it."""

    name = "name[=value]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not _NAME.match(name):
            self.fail(f"'{value}' does not begin with a macro's name", param, ctx)
        if not text.isprintable():
            self.fail(f"{text!r} of '{name}' is not one line of text", param, ctx)
        return name, text if equals else "1"


def _none_of(word: str, known: Sequence[str]) -> str:
    hint = did_you_mean(word, known)
    near = f"; {hint}" if hint.startswith("did") else ""
    return f"'{word}' is none of {', '.join(known)}{near}"
