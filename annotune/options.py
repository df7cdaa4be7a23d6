"""The options of the commands that read a source, and the settings that they come to."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from annotune.codegen.target import TARGET_NAMES
from annotune.decide.strategies import AUTO, STRATEGY_NAMES
from annotune.option_types import (
    Arch,
    AxisValues,
    Choice,
    Define,
    Duration,
    FormulaText,
    SearchName,
    Setting,
    Targets,
    Workers,
)
from annotune.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
CACHES = ("cold", "warm")
FORMATS = ("text", "json", "sarif")
# Those of `annotune.tune.search.names`, which takes numpy, for which no help waits.
SEARCH_NAMES = (
    *("auto", "exhaustive", "random", "gp", "rf"),
    *("tpe", "cma-es", "genetic", "annealing", "simplex"),
)

output_folder = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The folder to write. [default: annotune-out/NAME-OF-SOURCE]",
)


def common(command: F) -> F:
    """Give a command the options that `check`, `emit` and `run` share."""
    source = click.Path(path_type=Path, dir_okay=True)
    options = [
        click.argument("source", type=source),
        click.option(
            "--target",
            "targets",
            type=Targets(),
            default=",".join(TARGET_NAMES),
            show_default=True,
            help="Languages to write, separated by commas.",
        ),
        click.option(
            "--strategy",
            type=Choice(STRATEGY_NAMES),
            default=AUTO,
            show_default=True,
            help="How CUDA kernels are shaped.",
        ),
        click.option(
            "--set", "sets", type=Setting(), multiple=True, help="A size; wins over the annotation."
        ),
        click.option(
            "--param",
            "params",
            type=AxisValues(),
            multiple=True,
            help="Values of an axis or a parameter, such as S0.lanes=8,16.",
        ),
        click.option(
            "--constraint",
            "constraints",
            type=FormulaText(),
            multiple=True,
            help="What points must fulfil, such as 'S0.lanes > 8'.",
        ),
        click.option("-D", "defines", type=Define(), multiple=True, help="A macro, as in C."),
        click.option("-I", "include", type=source, multiple=True, help="A folder of headers."),
        click.option("--function", default="", help="Only the regions of this function."),
        click.option(
            "--arch", type=Arch(), default="", help="Such as sm_90. [default: that of the device]"
        ),
        click.option(
            "--device",
            default="h200",
            show_default=True,
            help="The GPU to predict for: a name of annotations/devices/, or a YAML file.",
        ),
        click.option(
            "--data",
            type=Choice(("host", "resident")),
            default="host",
            show_default=True,
            help="Whether a call copies its arrays, or finds them on the device.",
        ),
        click.option("--annotation", "sidecar", type=source, help="A YAML file of annotations."),
        click.option(
            "-s", "--spec", "specification", type=source, help="A specification in Orio's form."
        ),
        click.option("--format", "form", type=Choice(FORMATS), help="What is printed."),
        click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
        click.option("--debug", is_flag=True, help="Show the traceback of a refusal."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def for_a_run(command: F) -> F:
    """Give a command the options of a search."""
    options = [
        click.option(
            "--search",
            type=SearchName(),
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
            type=Duration(),
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
            type=Choice(CACHES),
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
            type=Workers(),
            help="local:N or parsl:CONFIG.py; docs/clusters.md tells more.",
        ),
        click.option(
            "--resume/--fresh",
            default=True,
            help="Reuse the trials kept in the folder, or begin anew. [default: resume]",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def settings_of(options: Mapping[str, Any]) -> Settings:
    """Return what the shared options ask for."""
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
        _c_compiler(os.environ),
        options["specification"],
        dict(options["params"]),
        tuple(options["constraints"]),
    )


def _c_compiler(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that start the C compiler: those of CC, or the first that is here."""
    try:
        named = shlex.split(environ.get("CC", ""))
    except ValueError:
        named = []
    path = environ.get("PATH")
    found = [name for name in ("gcc", "cc") if shutil.which(name, path=path)]
    return tuple(named or found[:1])
