"""A run as values for other programs, and back: results.json, and T4 for other tuners' tools.

docs/results.md fixes the fields of results.json.

Source of T4: the results schema 1.0.0 of github.com/odgaard/TuningSchema (branch T4), as Kernel
Tuner carries it; J. Hozzová, J. O. Tørring, B. van Werkhoven et al., "FAIR Sharing of Data in
Autotuning Research", 2024, doi:10.1145/3629527.3651429.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import inspect as kinds

from annotune import plugins
from annotune.diagnostics import AnnotuneError, Diagnostic, Span, Template
from annotune.files import read_source
from annotune.frozen import dataclass
from annotune.measure.trial import LATER, NOT_WRITTEN, Final, Status, Trial
from annotune.report.verdicts import with_comparisons
from annotune.tuning.results import Reading, RegionResult, Results, Spent

SCHEMA = 1
RESULTS_FILE = "results.json"

NOT_RESULTS = Template(
    "AT610",
    "this is no results file of annotune: {problem}",
    "name a results.json that `annotune run` wrote",
)
OTHER_SCHEMA = Template(
    "AT611",
    "these results have schema {found}; this annotune reads schema {known}",
    "read them with the annotune that wrote them, {writer}, or run it again",
)
DAMAGED = Template(
    "AT612",
    "{where}: {problem}",
    "the file was changed after `annotune run` wrote it; run it again, or restore the file",
)
NO_SUCH_FOLDER = Template(
    "AT613",
    "there is no folder '{path}'",
    "name the folder that `annotune run -o DIR` wrote; the default is annotune-out/STEM",
)
NO_RESULTS = Template(
    "AT614",
    "the folder '{path}' holds no {name}",
    "`annotune run FILE.c -o {path}` writes one; `emit` and `check` do not",
)

# What a reader of the report wants to see; the report itself is among the files too.
CODE_SUFFIXES = (".c", ".cu", ".h")
# A region's fields that come first, whatever the order of the record's own.
_PLACE = ("function", "index", "line", "sizes", "sizes_checked")

Step = str | int
_SPACE = " \t\r\n"


class ResultsFile(msgspec.Struct):
    """The whole file; `annotune` is the version that wrote it."""

    schema: int
    annotune: str
    source: str
    device: str
    regions: tuple[RegionResult, ...]
    tools: Mapping[str, str]
    files: tuple[str, ...]
    commands: Mapping[str, tuple[str, ...]]
    warnings: tuple[str, ...]
    reading: Annotated[Reading, msgspec.Meta(extra=LATER)] = Reading()
    spent: Annotated[Spent, msgspec.Meta(extra=LATER)] = Spent()


def results_json(results: Results) -> dict[str, Any]:
    """Return a run as plain values for strict JSON; `Results.texts` is left out.

    A figure that is not finite becomes null; in a configuration, its name as a string.
    """
    return {
        "schema": SCHEMA,
        "annotune": results.version,
        "source": results.source,
        "device": results.device,
        "regions": [_region(plain(region)) for region in results.regions],
        "tools": dict(results.tools),
        "files": list(results.files),
        "commands": {name: list(found) for name, found in results.commands.items()},
        "warnings": list(results.warnings),
        "reading": plain(results.reading),
        "spent": plain(results.spent),
    }


def results_file(results: Results) -> str:
    """Return the text of results.json, ASCII alone, so that any program can read it."""
    return json.dumps(results_json(results), indent=2, allow_nan=False) + "\n"


def plain(value: Any, name: str = "") -> Any:
    """Return a record, the field `name` of another, as what JSON has: finite figures alone."""
    return _finite(msgspec.to_builtins(value, enc_hook=_unboxed), name)


def _unboxed(value: Any) -> Any:
    """Return the number of Python that one of numpy is."""
    return value.item()


def final_json(final: Final | None) -> dict[str, Any] | None:
    """Return the figures of the finals; None also where one of them is not finite."""
    found: dict[str, Any] | None = plain(final, "final")
    return found


def _region(region: dict[str, Any]) -> dict[str, Any]:
    """Return the plain values of a region as they are written."""
    for trial in region["trials"]:
        del trial["kernels"]
    for searched in region["searches"]:
        searched["time_s"] = searched["time_s"] or 0.0
    others = [_region(other) for other in region["by_size"]]
    return {name: region[name] for name in _PLACE} | region | {"by_size": others}


def _finite(value: Any, name: str = "") -> Any:
    """Return a plain value without floats that are not finite: null, or nothing in a list."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case list() | tuple():
            return [_finite(one) for one in value if not isinstance(one, float) or _is_finite(one)]
        case dict() if name in ("config", "facts"):
            return {key: str(one) if _finite(one) is None else one for key, one in value.items()}
        case dict() if name == "final" and not _is_finite(value):
            return None
        case dict() if name == "roofs":
            return {device: roof for device, roof in value.items() if _is_finite(roof)}
        case dict():
            return {key: _finite(one, key) for key, one in value.items()}
    return value


def _is_finite(value: Any) -> bool:
    """Return whether every float that stands in a plain value is finite."""
    match value:
        case float():
            return math.isfinite(value)
        case dict():
            return all(map(_is_finite, value.values()))
        case list() | tuple():
            return all(map(_is_finite, value))
    return True


def show_folder(folder: Path) -> Results:
    """Return the run that is in `folder`, with the texts of those of its files still there.

    Raises:
        AnnotuneError: There is no such folder, or no results.json in it that can be read.
    """
    where = Span(str(folder), 1, 1)
    if not folder.is_dir():
        raise AnnotuneError.of(NO_SUCH_FOLDER.at(where, path=folder))
    path = folder / RESULTS_FILE
    if not path.exists():
        raise AnnotuneError.of(NO_RESULTS.at(where, path=folder, name=RESULTS_FILE))
    results = read_results(path)
    texts = {name: read_source(folder / name) for name in results.files if _is_shown(folder, name)}
    return replace(results, texts=texts, folder=str(folder))


def _is_shown(folder: Path, name: str) -> bool:
    """Return whether `name` is generated code in `folder` itself.

    A results file may come from anybody: it must not bring other files into a report.
    """
    path = folder / name
    is_plain = Path(name).name == name and not path.is_symlink()
    return is_plain and path.suffix in CODE_SUFFIXES and path.is_file()


def read_results(path: Path) -> Results:
    """Return the run that `results_file` wrote to `path`; its `texts` are empty.

    Raises:
        AnnotuneError: The file cannot be read, is not ours, has another schema, or is damaged.
    """
    text = read_source(path)
    try:
        # Undecodable bytes are surrogates here; what annotune writes is ASCII.
        text.encode("utf-8")
        root = parse_strict(text)
    except json.JSONDecodeError as error:
        raise _refusal(NOT_RESULTS, path, text, error.pos, problem=error.msg) from error
    except UnicodeEncodeError as error:
        raise _refusal(NOT_RESULTS, path, text, error.start, problem="no UTF-8") from error
    except ValueError as error:
        raise _refusal(NOT_RESULTS, path, text, 0, problem=error) from error
    _refuse_foreign(path, text, root)
    mistake = first_mistake(root, kinds.type_info(ResultsFile))
    if mistake is not None:
        at = offset_of(text, mistake.path)
        values = {"where": mistake.where(), "problem": mistake.problem}
        raise _refusal(DAMAGED, path, text, at, **values)
    file = msgspec.convert(root, ResultsFile)
    named = (file.annotune, file.source, file.device)
    regions = file.regions
    if '"comparisons"' not in text:  # an earlier annotune's
        regions = tuple(
            with_comparisons(replace(one, by_size=tuple(map(with_comparisons, one.by_size))))
            for one in regions
        )
    found = Results(*named, regions, file.tools, file.files, file.warnings)
    return replace(found, commands=file.commands, reading=file.reading, spent=file.spent)


def _refuse_foreign(path: Path, text: str, root: Any) -> None:
    """Raise unless `root` has annotune's marks and the schema that this module reads."""
    if not isinstance(root, dict) or "schema" not in root or "annotune" not in root:
        problem = "it has no 'schema' and 'annotune'"
        raise _refusal(NOT_RESULTS, path, text, 0, problem=problem)
    schema = root["schema"]
    if schema != SCHEMA or not isinstance(schema, int) or isinstance(schema, bool):
        at = offset_of(text, ("schema",))
        found = json.dumps(schema)[:40]
        writer = str(root["annotune"])[:40]
        raise _refusal(OTHER_SCHEMA, path, text, at, found=found, known=SCHEMA, writer=writer)


def _refusal(template: Template, path: Path, text: str, at: int, **values: Any) -> AnnotuneError:
    """Return the error for the character `at` of the file."""
    before = text[:at]
    line = before.count("\n") + 1
    column = at - (before.rfind("\n") + 1) + 1
    found: Diagnostic = template.at(Span(str(path), line, column), **values)
    return AnnotuneError.of(found)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A value that is not what it should be; `path` leads to it from the root."""

    path: tuple[Step, ...]
    problem: str

    def where(self) -> str:
        """Return the path as people write it: ``regions[0].rows[2].time_s``."""
        steps = (f"[{s}]" if isinstance(s, int) else f".{s}" for s in self.path)
        return "".join(steps).lstrip(".") or "the whole"


def first_mistake(value: Any, kind: kinds.Type, path: tuple[Step, ...] = ()) -> Mistake | None:
    """Return what is first wrong with a value of a JSON text, None where it is of its type.

    msgspec converts what passes here. Alone it would take infinity, and fill in what is missing.
    """
    expected = _expected(kind, value)
    if expected:
        return Mistake(path, f"expected {expected}, found {_found(value)}")
    for step, inner in _parts(kind, value):
        if isinstance(value, dict) and step not in value:
            if isinstance(inner, kinds.Metadata) and inner.extra == LATER:
                continue
            return Mistake(path, f"the field '{step}' is missing")
        mistake = first_mistake(value[step], inner, (*path, step))
        if mistake is not None:
            return mistake
    return None


def _parts(kind: kinds.Type, value: Any) -> Iterator[tuple[Step, kinds.Type]]:
    """Yield the name or number of each value that stands in one of type `kind`, and its type."""
    match kind:
        case kinds.Metadata(type=inner, extra=extra) if extra == LATER:
            yield from _parts(inner, value)
        case kinds.UnionType(types):
            yield from _parts(next(one for one in types if not _expected(one, value)), value)
        case kinds.StructType(fields=fields) | kinds.DataclassType(fields=fields):
            yield from ((field.name, field.type) for field in fields if is_written(field))
        case kinds.DictType(value_type=inner):
            yield from ((name, inner) for name in value)
        case kinds.VarTupleType(item_type=inner):
            yield from ((number, inner) for number in range(len(value)))


def is_written(field: kinds.Field) -> bool:
    """Return whether a field of a record stands in its JSON."""
    return not isinstance(field.type, kinds.Metadata) or field.type.extra != NOT_WRITTEN


def _expected(kind: kinds.Type, value: Any) -> str:
    """Return what `value` should be, empty where it is that, whatever stands in it."""
    match kind:
        case kinds.Metadata(type=inner, extra=extra) if extra == LATER:
            return _expected(inner, value)
        case kinds.UnionType(types):
            return "" if not all(_expected(one, value) for one in types) else _either(types, value)
        case kinds.Metadata(extra_json_schema={"enum": names}):
            every = (*names, *plugins.names(plugins.TARGETS))
            return "" if value in every else f"one of {', '.join(every)}"
        case kinds.EnumType(known):
            return "" if _is_member(value, known) else f"one of {', '.join(map(str, known))}"
        case kinds.IntType(ge=least):
            if type(value) is not int:
                return "an integer"
            return "" if least is None or value >= least else f"an integer >= {least}"
        case kinds.FloatType(ge=least):
            is_right = _is_figure(value) and (least is None or value >= least)
            return "" if is_right else f"a finite number{'' if least is None else f' >= {least}'}"
    python, words = _KINDS[type(kind)]
    return "" if isinstance(value, python) else words


def _is_member(value: Any, known: type[Enum]) -> bool:
    """Return whether a value is one of an enumeration, by its name of today or an earlier one."""
    try:
        known(value)
    except ValueError:
        return False
    return True


# What stands for a type in Python, and in words.
_KINDS: dict[type, tuple[type, str]] = {
    kinds.StructType: (dict, "an object"),
    kinds.DataclassType: (dict, "an object"),
    kinds.DictType: (dict, "an object"),
    kinds.VarTupleType: (list, "an array"),
    kinds.StrType: (str, "a string"),
    kinds.BoolType: (bool, "true or false"),
    kinds.NoneType: (type(None), "null"),
}


def _either(types: tuple[kinds.Type, ...], value: Any) -> str:
    """Return in words which types there may be; of numbers the wider, and an object is the rule."""
    words = dict.fromkeys(_expected(one, value) for one in types)
    if "an object" in words:
        return "an object"
    narrow = {"an integer", "true or false"} if len(words) > 2 else set()
    return " or ".join(one for one in words if one not in narrow)


def parse_strict(text: str) -> Any:
    """Return the value of a JSON text, read by the letter of RFC 8259.

    Raises:
        ValueError: It is no JSON; a field is given twice; it holds NaN or Infinity.
    """
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def offset_of(text: str, path: tuple[Step, ...]) -> int:
    """Return where the value at `path` begins in `text`, which must be valid JSON."""
    decode = json.JSONDecoder().raw_decode
    at = _skip(text, 0)
    for step in path:
        at = _skip(text, at + 1)
        number = 0
        while True:
            key: Step = number
            if isinstance(step, str):
                key, end = decode(text, at)
                at = _skip(text, _skip(text, end) + 1)
            if key == step:
                break
            _, end = decode(text, at)
            # Past the comma, to the next key or element.
            at = _skip(text, _skip(text, end) + 1)
            number += 1
    return at


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _is_figure(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    # An integer too large for a float is finite, but no time or rate.
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field '{twice}' is given twice")
    return fields


def _found(value: Any) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "an array"
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"'{value[:40]}'"
    try:
        return str(value)[:40]
    except ValueError:  # an integer too long for Python to print
        return "a very long number"


T4_VERSION = "1.0.0"
# What T4 knows, and all that it knows, of how a trial ended.
T4_WORDS = frozenset({"correct", "timeout", "compile", "runtime", "correctness", "constraints"})
# A status of ours that T4 has no word for is nearest to a run that failed.
_NEAREST_T4_WORD = "runtime"
# The schema names no unit; the programs that write and read T4 take milliseconds.
_MS = 1e3


def t4_json(results: Results) -> dict[str, Any]:
    """Return every trial of a run as a T4 document, in the order they were tried.

    What T4 has no field for stands under `annotune` of each result.
    """
    return {
        "schema_version": T4_VERSION,
        "annotune": results.version,
        "metadata": {
            "autotuner": "annotune",
            "autotuner_version": results.version,
            "timeunit": "milliseconds",
        },
        "results": [
            _result(one, trial)
            for region in results.regions
            for one in region.at_each_size
            for trial in one.trials
        ],
    }


def t4_text(results: Results) -> str:
    """Return the same as a strict JSON text, ASCII alone."""
    return json.dumps(t4_json(results), indent=2, allow_nan=False) + "\n"


def t4_word(status: str) -> str:
    """Return T4's word for a status, or its nearest."""
    return status if status in T4_WORDS else _NEAREST_T4_WORD


def _result(region: RegionResult, trial: Trial) -> dict[str, Any]:
    return {
        "configuration": {name: _value(value) for name, value in trial.config.items()},
        # A model's time is never called by the name of a measured one.
        "objectives": ["predicted_time" if trial.is_predicted else "time"],
        "times": _times(trial),
        "invalidity": t4_word(trial.status),
        "correctness": int(trial.status is Status.CORRECT and trial.verified),
        "measurements": list(_measurements(trial)),
        "annotune": {
            "function": region.function,
            "index": region.index,
            "sizes": dict(region.sizes),
            "target": trial.target,
            "status": str(trial.status),
            "device": trial.device,
            "is_predicted": trial.is_predicted,
            "verified": trial.verified,
            "reused": trial.reused,
            "reason": trial.reason,
            "at_s": None if _ms(trial.at_s) is None else trial.at_s,
            "final": final_json(trial.final),
        },
    }


def _times(trial: Trial) -> dict[str, Any]:
    """Return what the trial cost, in milliseconds; what is not known is left out."""
    runs = [time for time in map(_ms, trial.times_s) if time is not None]
    times: dict[str, Any] = {"runtimes": runs}
    compilation, checks_and_runs = _ms(trial.compile_s), _ms(trial.run_s)
    if compilation is not None:
        times["compilation_time"] = compilation
    if checks_and_runs is not None:
        # All that is not the timed runs serves the check, or the way to it.
        times["validation"] = max(0.0, checks_and_runs - sum(runs))
    return times


def _measurements(trial: Trial) -> Iterator[Mapping[str, Any]]:
    predicted = _ms(trial.time_s if trial.is_predicted else trial.predicted_s)
    measured = None if trial.is_predicted else _ms(trial.time_s)
    for name, time in (("time", measured), ("predicted_time", predicted)):
        if time is not None:
            yield {"name": name, "value": time, "unit": "ms"}
    yield from _of_finals(trial)
    for name, value in trial.facts.items():
        # The schema of 1.0.0 as first published allows numbers alone.
        if not isinstance(value, str) and math.isfinite(value):
            yield {"name": name, "value": value, "unit": ""}


def _of_finals(trial: Trial) -> Iterator[Mapping[str, Any]]:
    """Yield the median of the rounds of the finals, with its interval, and the ratio to the winner.

    `time`, and the objective with it, stay those of the search, which every trial has.
    """
    final = trial.final
    if final is None or final_json(final) is None:
        return
    times = {"final_time": final.time_s, "final_low": final.low_s, "final_high": final.high_s}
    for name, time_s in times.items():
        yield {"name": name, "value": time_s * _MS, "unit": "ms"}
    yield {"name": "final_ratio", "value": final.ratio, "unit": ""}


def _ms(time_s: float | None) -> float | None:
    """Return seconds as milliseconds, None where they are no finite number."""
    time = None if time_s is None else time_s * _MS
    return time if time is not None and math.isfinite(time) else None


def _value(value: str | int | float) -> str | int | float:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
