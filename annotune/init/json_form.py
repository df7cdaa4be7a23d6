"""What `init` says to other programs: docs/init.md tells of each field."""

from __future__ import annotations

import shlex
from typing import Any

from msgspec import Struct, to_builtins

from annotune import __version__
from annotune.init.command import InitDone
from annotune.init.survey import FoundNest, Survey
from annotune.report.json_form import (
    SCHEMA,
    DiagnosticJson,
    LoopJson,
    diagnostic_records,
    loop_records,
)


class SizeJson(Struct):
    name: str
    value: int
    is_assumed: bool


class NestJson(Struct):
    function: str
    lines: list[int]
    depth: int
    state: str
    loops: list[LoopJson]
    sizes: list[SizeJson]
    share: float | None
    sampled: float | None
    reason: DiagnosticJson | None


class InitJson(Struct):
    schema: int
    annotune: str
    source: str
    nests: list[NestJson]
    profiler: str
    written: str | None
    difference: str
    next: list[str]
    diagnostics: list[DiagnosticJson]


def init_json(source: str, done: InitDone) -> dict[str, Any]:
    """Return what `init` has found and done as plain values for strict JSON."""
    found = done.found
    record = InitJson(
        SCHEMA,
        __version__,
        source,
        [_nest(found, nest) for nest in found.nests],
        found.samples.profiler if found.samples.total else "",
        None if done.written is None else str(done.written),
        done.difference,
        ["annotune", "run", *shlex.split(done.ran)] if done.written else [],
        diagnostic_records(done.diagnostics),
    )
    plain: dict[str, Any] = to_builtins(record)
    return plain


def _nest(found: Survey, nest: FoundNest) -> NestJson:
    reasons = diagnostic_records([nest.why_not] if nest.why_not is not None else [])
    state = "annotated" if nest.is_annotated else "left" if reasons else "accepted"
    return NestJson(
        nest.function,
        [one.span.line for one in nest.loops],
        nest.depth,
        state,
        loop_records(nest.report) if nest.report is not None else [],
        [SizeJson(one.name, one.value, one.is_assumed) for one in nest.sizes],
        found.share(nest),
        found.measured(nest),
        next(iter(reasons), None),
    )
