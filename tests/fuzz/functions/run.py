"""Runs the texts of many random files beside their originals, and says what is wrong."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..execute import Builder, called
from .build import Gpu, Group, groups
from .emitted import Made
from .vocabulary import FAR

CHILD = Path(__file__).with_name("child.py")
CHILD_LIMIT_S = 600
CALL_LIMIT_S = 10.0
"""Processor time after which a call hangs. The original makes some 400 000 accesses at most."""

BUILDS = {
    "cuda": "cuda",
    "openacc": "openacc",
    "openacc-played": "openacc",
    "openmp": "openmp",
    "cuda-gpu": "cuda",
    "openacc-gpu": "openacc",
}
"""Each build beside the original, and the target whose text it is made of."""


@dataclass(frozen=True)
class Fault:
    """One thing that went wrong: in which file of the batch, in which build, and how.

    `call` is the number of the call, -1 where none was made.
    """

    number: int
    library: str
    words: str
    call: int = -1


@dataclass
class Ran:
    """What came of a batch: faults, and numbers by what they count."""

    faults: list[Fault] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def run(
    ones: Sequence[Made],
    builder: Builder,
    folder: Path,
    limit_s: float = CALL_LIMIT_S,
    gpu: Gpu | None = None,
) -> Ran:
    """Return what comes of calling the functions of many files in every build.

    A call that takes longer than `limit_s`, in processor time, hangs. With a `gpu` it runs them.
    """
    ran = Ran()
    for number, members in enumerate(groups(ones)):
        group = Group(ones, members, builder, folder / f"group{number}", gpu)
        libraries = group.libraries()
        for one in group.refused:
            if one.library in ("original", "exam"):
                ran.counts["set aside: gcc refuses the original"] += 1
            else:
                ran.faults.append(Fault(one.number, one.library, f"does not compile: {one.words}"))
        if "original" in libraries:
            _call(ones, libraries, group.folder, limit_s, ran)
    return ran


def jobs(one: Made, number: int, builds: Sequence[str], limit_s: float) -> list[dict[str, Any]]:
    """Return the calls of a file for `child.py`."""
    out = []
    for function, entry in enumerate(one.source.entries):
        for call in entry.calls:
            arrays = {name: asdict(fill) for name, fill in call.arrays.items()}
            out.append(
                {
                    "number": number,
                    "index": len(out),
                    "name": one.source.name,
                    "function": function,
                    "slots": [asdict(slot) for slot in entry.slots],
                    "values": dict(call.values),
                    "arrays": arrays,
                    "style": next((f["style"] for f in arrays.values()), "small"),
                    "objects": [list(o) for o in one.source.objects],
                    "targets": list(builds),
                    "sums": one.source.sums,
                    "discrete": one.source.discrete,
                    "tolerance": one.source.tolerance,
                    "rounds": one.source.rounds,
                    "zeros": not one.source.leaves_zeros_open,
                    "far": str(FAR) in one.source.text,
                    "limit_s": limit_s,
                    "repeats": "static local" in one.source.features,
                }
            )
    return out


def _call(
    ones: Sequence[Made],
    libraries: dict[str, tuple[Path, list[int]]],
    folder: Path,
    limit_s: float,
    ran: Ran,
) -> None:
    """Make all calls in a child; after a crash, go on behind the call that crashed."""
    waiting: list[dict[str, Any]] = []
    for number in libraries["original"][1]:
        builds = [b for b in BUILDS if b in libraries and number in libraries[b][1]]
        waiting += jobs(ones[number], number, builds, limit_s)
    paths = {name: str(path) for name, (path, _) in libraries.items()}
    done: set[tuple[int, str]] = set()
    faulty: set[tuple[int, str]] = set()
    while waiting:
        path = folder / "jobs.json"
        path.write_text(json.dumps({"libraries": paths, "jobs": waiting}))
        lines, ending = called(CHILD, path, folder, CHILD_LIMIT_S)
        last, current = (-1, -1), ""
        for number, index, library, fault, launches in map(json.loads, lines):
            last, current = (number, index), library if fault == "begins" else ""
            if fault == "begins":
                continue
            if library == "exam":
                ran.counts[f"calls {fault or 'made'}"] += 1
                continue
            done.add((number, library))
            ran.counts[f"calls of {library}"] += 1
            ran.counts["calls that launch kernels"] += launches > 0
            # One fault of a build is enough: the next are likely to be the same.
            if fault and (number, library) not in faulty:
                faulty.add((number, library))
                ran.faults.append(Fault(number, library, fault, index))
        if not ending:
            break
        if current in ("", "exam", "original"):
            ran.counts[f"set aside: the {current or 'child'} died"] += 1
        elif (last[0], current) not in faulty:
            faulty.add((last[0], current))
            ran.faults.append(Fault(last[0], current, ending, last[1]))
        waiting = _behind(waiting, last, current)
    for number, library in done:
        ran.counts[f"executed {library}"] += number >= 0


def _behind(
    waiting: list[dict[str, Any]], last: tuple[int, int], library: str
) -> list[dict[str, Any]]:
    """Return the calls that are left, without the build that died for the file it died of."""
    places = [(job["number"], job["index"]) for job in waiting]
    left = waiting[places.index(last) + 1 :] if last in places else []
    for job in left:
        if job["number"] == last[0]:
            job["targets"] = [t for t in job["targets"] if t != library]
    if library in ("exam", "original"):
        left = [job for job in left if job["number"] != last[0]]
    return left
