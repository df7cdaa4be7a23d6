"""The corpus of `tests/legacy`: Fortran 77, what f2c makes of it, and what is said of each routine.

A comment ``C@ begin m=512 n=512`` stands before a nest and ``C@ end`` after it; f2c keeps comments,
so that they become annotations. The first line of a file is f2c's command. `routines.tsv` says of
each routine what its mathematics allow, what annotune makes of it, and with which arguments it is
called in tests.
"""

from __future__ import annotations

import csv
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from annotune.analysis.facts import LoopKind
from annotune.diagnostics import Severity
from annotune.pipeline import Settings, check
from annotune.report.findings import RegionReport

FOLDER = Path(__file__).parents[1] / "tests" / "legacy"
TABLE = FOLDER / "routines.tsv"
NO_LOOP = "serial"
F2C = shutil.which("f2c")

_HEAD = re.compile(r"/\*  -- translated by f2c.*?\*/\n\n", re.DOTALL)
_BEGIN = re.compile(r"^\s*/\* @ begin(.*?)\*/\n", re.MULTILINE)
_END = re.compile(r"^\s*/\* @ end \*/\n", re.MULTILINE)
_BODY = "    /* Function Body */\n"
_ROUTINE = re.compile(
    r"^(?:/\* Subroutine \*/ )?(?:\w+ )+(\w+)_\(.*?^\} /\* \1_ \*/\n", re.MULTILINE | re.DOTALL
)
_FOR = re.compile(r"^\s*for \((\w+) = ")


def translated(source: Path) -> str:
    """Return what f2c makes of a Fortran file, with annotations where the file has its marks."""
    text = source.read_text()
    command = shlex.split(text.partition("\n")[0].removeprefix("C@ "))
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode or "Error" in done.stderr:
        raise ValueError(f"{source.name}: {done.stderr}")
    return annotated(without_head(done.stdout))


def without_head(text: str) -> str:
    """Return what f2c wrote without its words about versions and libraries."""
    return _HEAD.sub("", text, count=1)


def annotated(text: str) -> str:
    """Return what f2c wrote with the marks made annotations.

    A mark before the first statement stands before f2c's adjustments of parameters, which are no
    part of a nest: it moves behind them.
    """
    text = re.sub(r"^/\* @ f2c.*\n", "", text, flags=re.MULTILINE)

    def moved(found: re.Match[str]) -> str:
        routine = found.group()
        mark, body = _BEGIN.search(routine), routine.find(_BODY)
        if mark is None or body < mark.start():
            return routine
        behind = body + len(_BODY)
        between = routine[mark.end() : behind]
        return routine[: mark.start()] + between + mark.group() + routine[behind:]

    text = _ROUTINE.sub(moved, text)
    text = _BEGIN.sub(lambda m: _annotation(m.group(1)), text)
    return _END.sub("    /*@ end @*/\n", text)


def _annotation(words: str) -> str:
    params, *assumed = [part.strip() for part in words.split("|")]
    given = "".join(f"param {one.replace('=', ' = ')}; " for one in params.split())
    lines = [f"def input_params {{ {given}}}"] if given else []
    lines += [f"def assume {{ arg {one}; }}" for one in assumed]
    return f"    /*@ begin PerfTuning ( {' '.join(lines)} ) @*/\n"


@dataclass(frozen=True)
class Routine:
    """A row of the table.

    `mathematics` has a letter for each loop of the nest in the order of the text: P, its iterations
    may run at once; R, they add to the same elements; S, each needs those before. `state` is the
    same as annotune says it (``-`` for a loop of which it says nothing), or "serial" where none
    may run in parallel, or the codes of its refusal. `calls` are tests' arguments, one call after
    another.
    """

    name: str
    file: str
    mathematics: str
    state: str
    calls: str = ""
    note: str = ""

    @property
    def is_accepted(self) -> bool:
        return is_accepted(self.state)

    @property
    def may_run_parallel(self) -> bool:
        return bool({"P", "R"} & {*self.mathematics})

    def arguments(self) -> list[dict[str, list[float]]]:
        """Return what each call gives: values of each argument that is named."""
        return [
            {name: [float(v) for v in values.split(",")] for name, values in _pairs(call)}
            for call in self.calls.split(";")
        ]


def _pairs(call: str) -> Iterator[tuple[str, str]]:
    for word in call.split():
        name, _, values = word.partition("=")
        yield name, values


def is_accepted(state: str) -> bool:
    """Return whether a state is that of a region for which something is written."""
    return state != NO_LOOP and not state.startswith("AT")


def routines() -> tuple[Routine, ...]:
    """Return the rows of the table."""
    with TABLE.open(newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(Routine(**{k: v or "" for k, v in row.items()}) for row in rows)


def write_routines(rows: Iterable[Routine]) -> None:
    """Write the table."""
    names = [one.name for one in fields(Routine)]
    lines = ["\t".join(names), *("\t".join(getattr(r, n) for n in names) for r in rows)]
    TABLE.write_text("\n".join(lines) + "\n")


@dataclass(frozen=True)
class Found:
    """What annotune says of a routine now: its state, the loops in the text, and its report."""

    state: str
    loops: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    report: RegionReport | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """Return the state with the names of the loops."""
        if not is_accepted(self.state):
            return self.state
        named = zip(self.loops, self.state, strict=True)
        return ", ".join(f"{name} {letter}" for name, letter in named)


def c_routines(text: str) -> dict[str, tuple[int, str]]:
    """Return the first line and the text of each routine of a C file that f2c wrote."""
    return {
        found.group(1): (text.count("\n", 0, found.start()) + 1, found.group())
        for found in _ROUTINE.finditer(text)
    }


def selected(text: str, names: Iterable[str]) -> str:
    """Return a C file of f2c's with only these routines, and all that stands outside of any."""
    kept = {*names}
    return _ROUTINE.sub(lambda m: m.group() if m.group(1) in kept else "", text)


def nest_loops(text: str, first: int) -> dict[int, str]:
    """Return the loops of a routine's nest by their lines; the routine begins at line `first`."""
    found = {}
    is_inside = False
    for number, line in enumerate(text.split("\n"), first):
        is_inside = (is_inside or "/*@ begin" in line) and "/*@ end" not in line
        loop = _FOR.match(line)
        if is_inside and loop:
            found[number] = loop.group(1)
    return found


def found_in(file: Path, function: str = "") -> Mapping[str, Found]:
    """Return what annotune says of each routine of a C file, or of one of them."""
    text = file.read_text()
    told = check(Settings(file, function=f"{function}_" if function else ""))
    reports = {report.region.function: report for report in told.regions}
    out = {}
    for name, (first, routine) in c_routines(text).items():
        if function in ("", name):
            last = first + routine.count("\n")
            said = [d for d in told.diagnostics if first <= d.span.line <= last]
            errors = [d for d in said if d.severity is Severity.ERROR]
            loops = nest_loops(routine, first)
            report = reports.get(f"{name}_")
            messages = tuple(f"line {d.span.line}: {d.message} [{d.code}]" for d in said)
            state = ",".join(sorted({d.code for d in errors})) or _state(loops, report)
            out[name] = Found(state, tuple(loops.values()), messages, report)
    return out


def _state(loops: Mapping[int, str], report: RegionReport | None) -> str:
    if report is None or report.analysis is None or not report.has_kernels:
        return NO_LOOP
    kinds: dict[int, set[LoopKind]] = {}
    for facts in report.analysis.loops:
        kinds.setdefault(facts.loop.span.line, set()).add(facts.kind)
    return "".join(_letter(kinds.get(line, set())) for line in loops)


def _letter(kinds: set[LoopKind]) -> str:
    """Return the letter of the worst of the kinds that loops of one line have."""
    worst = max(kinds, key=list(LoopKind).index, default=None)
    return worst[0].upper() if worst else "-"


def is_worse(state: str, than: str) -> bool:
    """Return whether a state says less than another one.

    A refusal and a nest that stays as it is say the same to a user; a loop of which nothing is
    said has been taken up in others.
    """
    if not is_accepted(than):
        return False
    if not is_accepted(state):
        return True
    order = "S-RP"
    pairs = zip(state, than, strict=True)
    return any(order.index(a) < order.index(b) for a, b in pairs if "-" not in (a, b))


def is_wrong(state: str, mathematics: str) -> bool:
    """Return whether a loop is said to be more than its mathematics allow."""
    if not is_accepted(state) or not mathematics:
        return False
    order = "SRP"
    pairs = zip(state, mathematics, strict=True)
    return any(a != "-" and order.index(a) > order.index(b) for a, b in pairs)


def by_file(rows: Sequence[Routine]) -> dict[str, list[Routine]]:
    """Return rows by the names of their files."""
    out: dict[str, list[Routine]] = {}
    for row in rows:
        out.setdefault(row.file, []).append(row)
    return out
