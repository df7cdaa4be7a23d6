"""`docs/legacy.md`: what annotune makes of each routine of the corpus, as a page."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from legacy_corpus import FOLDER, Found, Routine, by_file, is_accepted, is_wrong

from annotune.report.figures import time_text
from annotune.schedule.candidate import Candidate

PAGE = Path(__file__).parents[1] / "docs" / "legacy.md"
MEASURED = FOLDER / "measured.tsv"
_HEAD = """\
# Fortran 77, as f2c writes it

`tests/legacy` has {count} routines of Fortran 77 in the forms of the BLAS, LINPACK, LAPACK,
EISPACK, QUADPACK, FITPACK, of NWChem's triples, of nekbone, and of codes for stencils,
hydrodynamics, clouds, transforms and tables. f2c has translated each; marks in the Fortran (`C@
begin n=512`, `C@ end`) become the annotation. This page is written by `python
benchmarks/legacy.py --page`, which also tells of single routines: `python benchmarks/legacy.py
dgemnn`.

Of {parallel} routines whose mathematics have a parallel loop **{accepted} are accepted
({share:.0%})**.

A letter for each loop of the nest, in the order of the text: P, its iterations may run at once;
R, they add to the same elements, or choose among them; S, each needs those before; `-`, the loop
has been taken up in others. `mathematics` is what the algorithm allows, worked out by hand;
`found` what annotune says, or the codes of its refusal. `strategy` and `predicted` are of CUDA's
first choice on an H200, without copies. Calls of each accepted routine are compared with those of
the text that each target writes (`tests/legacy/test_legacy_routines.py`).
"""
_MEASURED = """
`original` and `tuned` are times of one run of the nest: the C as it stands, and tuned OpenMP;
measured by `python benchmarks/legacy.py --measure`.
"""
# For one routine, its search and its original.
LIMIT_S = 60


@dataclass(frozen=True)
class Times:
    """What a run measured of a routine, in seconds; empty where it has nothing."""

    name: str
    device: str
    original_s: str
    tuned_s: str

    @property
    def words(self) -> str:
        """Return the times and their quotient."""
        if not self.original_s or not self.tuned_s:
            return "- | -"
        one, two = float(self.original_s), float(self.tuned_s)
        return f"{time_text(one)} | {time_text(two)}, {one / two:.3g}x"


def measured() -> dict[str, Times]:
    """Return what has been measured, by the names of the routines."""
    if not MEASURED.exists():
        return {}
    with MEASURED.open(newline="") as stream:
        return {row["name"]: Times(**row) for row in csv.DictReader(stream, delimiter="\t")}


def measure(rows: Sequence[Routine]) -> None:
    """Tune OpenMP for accepted routines, and keep the times beside those of others."""
    times = measured()
    for row in rows:
        if row.is_accepted:
            times[row.name] = one = _measure(row)
            print(f"{row.name:8} {one.words}", flush=True)
            names = [name.name for name in fields(Times)]
            lines = ["\t".join(asdict(one)[n] for n in names) for one in times.values()]
            MEASURED.write_text("\n".join(["\t".join(names), *lines]) + "\n")


def _measure(row: Routine) -> Times:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "annotune", "run", str(FOLDER / f"{row.file}.c")]
        command += ["--function", f"{row.name}_", "--target", "openmp"]
        command += ["--time", f"{LIMIT_S}s", "-o", folder]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        results = Path(folder, "results.json")
        regions = json.loads(results.read_text())["regions"] if results.exists() else []
    found = {
        one["name"]: one
        for region in regions
        for one in region["rows"]
        if one["status"] == "measured"
    }
    device = next((one["device"] for one in found.values()), "")
    known = [found.get(name, {}).get("time_s") for name in ("sequential", "openmp")]
    return Times(row.name, device, *("" if one is None else f"{one:.4g}" for one in known))


def page(rows: Sequence[Routine], found: Mapping[str, Found]) -> str:
    """Return the page."""
    parallel = [row for row in rows if row.may_run_parallel]
    accepted = sum(is_accepted(found[row.name].state) for row in parallel)
    times = measured()
    counts = {"count": len(rows), "parallel": len(parallel), "accepted": accepted}
    text = _HEAD.format(**counts, share=accepted / len(parallel))
    if times:
        devices = ", ".join(sorted({one.device for one in times.values() if one.device}))
        text += f"{_MEASURED.rstrip()} Measured on {devices}.\n"
    for file, of in by_file(rows).items():
        text += "\n".join(["", f"## {file}", "", *_table(of, found, times), ""])
    return text


def _table(
    rows: Iterable[Routine], found: Mapping[str, Found], times: Mapping[str, Times]
) -> Iterator[str]:
    heads = ["routine", "loops", "mathematics", "found", "strategy", "predicted"]
    heads += ["original", "tuned"] if times else []
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        one = found[row.name]
        verdict = " **wrong**" if is_wrong(one.state, row.mathematics) else ""
        cells = [row.name, " ".join(one.loops), row.mathematics, one.state + verdict, *_choice(one)]
        cells += [times[row.name].words if row.name in times else "- | -"] if times else []
        yield f"| {' | '.join(cells)} |"


def _choice(found: Found) -> tuple[str, str]:
    """Return the strategies of the first choice and the predicted time."""
    report = found.report
    if report is None or report.decision is None or not is_accepted(found.state):
        return "-", "-"
    strategies = dict.fromkeys(map(_strategy, report.decision.choices))
    forecast = report.forecast(report.decision)
    predicted = "-" if forecast is None else time_text(forecast.kernels_s)
    return ", ".join(strategies), predicted


def _strategy(choice: Candidate) -> str:
    return choice.origin or "direct"
