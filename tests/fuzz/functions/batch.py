"""A batch of random files of whole functions: made, emitted, run, and what failed kept."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from annotune.measure.compile import RUNTIME_FOLDER

from ..choices import Seeded
from ..execute import Builder
from .build import Gpu, prepared
from .draw import drawn
from .emitted import Made, emitted
from .families import family
from .run import Fault, run
from .shrink import kept, shrunk
from .source import Source

RANDOM_EVERY = 3
"""Of so many files one is at a random point of each target's space."""

SHRINK_S = 60.0

DRAWING = ("draw.py", "heads.py", "nests.py", "positions.py", "scope.py")
"""Modules that make nothing but the text of a file."""


@dataclass
class Outcome:
    """What came of a batch: numbers by what they count, and failures in words.

    `digests` are, for each file that is right, those of all that was built and called, and of what
    builds, calls and compares; empty for the others.
    """

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)


def numbered(seed: int, number: int) -> Source:
    """Return the file with a number: the same in every run with the seed."""
    return drawn(Seeded("functions", seed, number), f"q{number}")


def point(number: int) -> int | None:
    """Return the seed of the point of a file, None where it is the first choice."""
    return number if number % RANDOM_EVERY == RANDOM_EVERY - 1 else None


def outcome(
    seed: int,
    numbers: Sequence[int],
    folder: Path,
    shrink: int,
    gpu: Gpu | None = None,
    before: Sequence[str] = (),
    draw: Callable[[int, int], Source] = numbered,
) -> Outcome:
    """Return what comes of some files, which are built in `folder`, also for a `gpu`.

    `draw` makes the file of a seed with a number.

    Each that fails is written to `found` beside it; `shrink` of them are cut down first. Those
    with the digests of `before` are not built again.
    """
    out = Outcome()
    folder.mkdir(parents=True, exist_ok=True)
    builder = prepared(folder.parent / "runtime")
    texts = folder / "emitted"
    texts.mkdir(exist_ok=True)
    ones = [emitted(draw(seed, k), texts, point(k)) for k in numbers]
    faults: list[Fault] = []
    for place, one in enumerate(ones):
        out.counts["analysed"] += 1
        out.counts["accepted"] += bool(one.files)
        out.counts.update(one.told)
        out.counts.update(f"refused {code}" for code in one.refused)
        faults += [Fault(place, "crash", words) for words in one.crashes]
        faults += [Fault(place, "claims", words) for words in one.faults]
    digests = [_digest(one, texts) for one in ones]
    known = [k for k, digest in enumerate(digests) if digest in before]
    out.counts["files taken over"] = len(known)
    built = [k for k, one in enumerate(ones) if one.files and k not in known]
    ran = run([ones[k] for k in built], builder, folder / "batch", gpu=gpu)
    out.counts.update(ran.counts)
    faults += [Fault(built[f.number], f.library, f.words, f.call) for f in ran.faults]
    wrong = {fault.number for fault in faults}
    out.counts["wrong"] += len(wrong)
    out.digests = ["" if k in wrong else digest for k, digest in enumerate(digests)]
    _keep(out, faults, [one.source for one in ones], (seed, numbers), builder, folder, shrink)
    shutil.rmtree(folder / "batch", ignore_errors=True)
    shutil.rmtree(texts, ignore_errors=True)
    return out


def _digest(one: Made, folder: Path) -> str:
    """Return a digest of a file and its texts, and of the code that judges them.

    The texts name the `folder` in which they are compiled.
    """
    made = repr((one.source, sorted(one.files.items()), one.crashes, one.faults))
    made = made.replace(str(folder), "")
    return sha256((_judges() + made).encode()).hexdigest()


@cache
def _judges() -> str:
    """Return a digest of the code that builds, calls and compares, not of what draws the files."""
    found = sha256()
    for folder in (Path(__file__).parents[1], RUNTIME_FOLDER):
        for path in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".c", ".h")):
            is_judge = path.parent.name != "found" and not path.name.startswith("test_")
            if is_judge and path.name not in DRAWING:
                found.update(path.read_bytes())
    return found.hexdigest()


def _keep(
    out: Outcome,
    faults: Sequence[Fault],
    sources: Sequence[Source],
    numbered_by: tuple[int, Sequence[int]],
    builder: Builder,
    folder: Path,
    shrink: int,
) -> None:
    """Write each failing file once per family, and tell of it."""
    seed, numbers = numbered_by
    seen: set[tuple[int, str]] = set()
    cut = 0
    for fault in faults:
        number, source = numbers[fault.number], sources[fault.number]
        name = family(source, fault.library, fault.words, fault.call)
        if (number, name) in seen:
            continue
        seen.add((number, name))
        out.counts[f"family: {name}"] += 1
        words = fault.words.strip()[-300 if fault.library == "crash" else 0 :][:300]
        source = replace(
            source, point=point(number), fault=f"{fault.library} {fault.call}: {words}"
        )
        if cut < shrink:
            cut += 1
            source = shrunk(source, fault, builder, folder, SHRINK_S)
        path = kept(source, folder.parent / "found", f"{seed}_{fault.library}")
        out.failures.append(f"{number} ({fault.library}): {name}: {words} [{path}]")
