"""Runs annotune on Orio's own files: ``python tests/corpus/run.py CHECKOUT``.

CHECKOUT is a checkout of Orio. `expected.tsv` beside this file says of each of its files what
must happen: RUN, it is tuned and every variant is right; PARSE, its annotation is read, and
what the front end refuses is named there; DIAG, it is refused for that reason, at that line;
REJECT, one line says what is not supported. Prints one row for each file, and exits with 1
when one misbehaves.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotune.annotation.perf_tuning import read_specification
from annotune.codegen.target import TARGET_NAMES
from annotune.diagnostics import AnnotuneError, Span

EXPECTED = Path(__file__).with_name("expected.tsv")
# A file that takes longer has hung: the largest needs a few seconds to check.
CHECK_LIMIT_S = 120
RUN_LIMIT_S = 600
_LIMITS = ("--budget", "2", "--time", "30s", "--jobs", "2")


@dataclass(frozen=True, slots=True)
class Row:
    """What must happen to one file. `words` must stand in the diagnostic of `code`."""

    path: str
    kind: str
    arguments: tuple[str, ...]
    code: str
    line: int | None
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened: the exit code, the diagnostics, and one line about it."""

    exit_code: int
    diagnostics: tuple[dict[str, Any], ...]
    summary: str

    @property
    def errors(self) -> list[dict[str, Any]]:
        return [d for d in self.diagnostics if d["severity"] == "error"]


def expected_rows() -> list[Row]:
    """Return the rows of `expected.tsv`."""
    with EXPECTED.open(encoding="utf-8", newline="") as stream:
        return [
            Row(
                row["path"],
                row["class"],
                tuple(shlex.split(row["arguments"])),
                row["code"],
                int(row["line"]) if row["line"] else None,
                tuple(word for word in row["words"].split("|") if word),
            )
            for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


def outcome(row: Row, checkout: Path, quick: bool) -> Outcome:
    """Return what annotune makes of a row's file."""
    path = checkout / row.path
    if not path.is_file():
        return Outcome(-1, (), "no such file in the checkout")
    if path.suffix == ".spec":
        return _spec_outcome(path)
    with tempfile.TemporaryDirectory() as folder:
        # A region without any parallel loop is explained by `check`, and refused by `emit`.
        command = ["check"] if row.kind == "PARSE" else ["emit", "-o", f"{folder}/emit"]
        arguments = [
            str(checkout / word) if before == "--spec" else word
            for before, word in zip(("", *row.arguments), row.arguments, strict=False)
        ]
        found = _called([*command, str(path), "--json", *arguments])
        if row.kind != "RUN" or quick or found.exit_code:
            return found
        tuned = ["run", "-o", f"{folder}/run", *_LIMITS, str(path), "--json", *arguments]
        done = _called(tuned)
        return Outcome(done.exit_code, (*found.diagnostics, *done.diagnostics), done.summary)


def _called(arguments: Sequence[str]) -> Outcome:
    limit = RUN_LIMIT_S if arguments[0] == "run" else CHECK_LIMIT_S
    command = [sys.executable, "-m", "annotune", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(-1, (), f"still busy after {limit} s")
    try:
        told = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        return Outcome(done.returncode, (), f"no JSON: {last}")
    found = tuple(told.get("diagnostics") or ())
    errors = [d for d in found if d["severity"] == "error"]
    if errors:
        first = errors[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return Outcome(
            done.returncode,
            found,
            f"{first['code']} line {first['line']}: {first['message']}{more}",
        )
    regions = told.get("regions", ())
    wrong = [
        f"{trial['target']}: {trial['reason'].strip().splitlines()[0]}"
        for region in regions
        for trial in region.get("trials", ())
        if trial["target"] in TARGET_NAMES and not trial["verified"]
    ]
    if wrong:
        return Outcome(done.returncode or 1, found, f"{len(wrong)} variants fail, {wrong[0]}")
    states = [f"{row['name']} {row['status']}" for one in regions for row in one.get("rows", ())]
    said = "; ".join(dict.fromkeys(states)) or f"{len(found)} remarks"
    return Outcome(done.returncode, found, f"exit {done.returncode}: {said}")


def _spec_outcome(path: Path) -> Outcome:
    """Return what becomes of a file of specifications, which no command takes alone."""
    span = Span(str(path), 1, 1)
    try:
        spec = read_specification(path, span).spec
    except AnnotuneError as error:
        return Outcome(1, tuple(map(_plain, error.diagnostics)), str(error))
    sizes = ", ".join(param.name for param in spec.input_params)
    return Outcome(0, tuple(map(_plain, spec.notes)), f"read; sizes {sizes}")


def _plain(diagnostic: Any) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "line": diagnostic.span.line,
        "message": diagnostic.message,
        "help": diagnostic.help,
    }


def complaint(row: Row, happened: Outcome) -> str:
    """Return what is wrong with an outcome, "" when it is as listed."""
    errors = happened.errors
    if happened.exit_code not in (0, 1, 3) or (happened.exit_code and not happened.diagnostics):
        return "no diagnostic"
    said = [d for d in happened.diagnostics if d["code"] == row.code]
    text = " ".join(
        " ".join([d["message"], d.get("help") or ""])
        for d in (said if row.code else happened.diagnostics)
    )
    missing = [word for word in row.words if word not in text]
    if row.code and not said:
        return f"{row.code} is not said"
    if missing:
        return f"it does not say {', '.join(missing)}"
    if row.line is not None and all(d["line"] != row.line for d in said):
        return f"{row.code} is at line {said[0]['line']}, not {row.line}"
    match row.kind:
        case "RUN":
            return "it is refused, or some variant fails" if happened.exit_code else ""
        case "PARSE":
            others = [d["code"] for d in errors if d["code"] != row.code]
            return f"it is refused with {', '.join(others)}" if others else ""
        case "DIAG":
            return "" if errors and said[0]["severity"] == "error" else "it is not refused"
        case _:
            return "" if len(errors) <= 1 else f"{len(errors)} refusals instead of one"


def main() -> int:
    """Print the table; return 1 when a row misbehaves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--quick", action="store_true", help="generate RUN files, do not run them")
    parser.add_argument("--only", default="", help="only rows whose path contains this")
    options = parser.parse_args()
    rows = [row for row in expected_rows() if options.only in row.path]
    width = max((len(row.path) for row in rows), default=0)
    bad = 0
    for row in rows:
        happened = outcome(row, options.checkout, options.quick)
        wrong = complaint(row, happened)
        bad += bool(wrong)
        verdict = f"WRONG: {wrong}" if wrong else "as listed"
        print(
            f"{row.path:{width}}  {row.kind:6}  {happened.summary[:90]:90}  {verdict}", flush=True
        )
    print(f"{len(rows) - bad} of {len(rows)} as listed")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
