"""A batch of random files of whole functions: made, emitted, run, and what failed kept."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from annotune.measure.flags import RUNTIME_FOLDER

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


@dataclass
class Outcome:
    """What came of a batch: numbers by what they count, and failures in words.

    `digest` is that of all that was built and called, and of what builds, calls and compares.
    """

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    digest: str = ""


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
    before: Outcome | None = None,
) -> Outcome:
    """Return what comes of some files, which are built in `folder`, also for a `gpu`.

    Each that fails is written to `found` beside it; `shrink` of them are cut down first. What
    came of them `before` is what comes of them where the texts are the same.
    """
    out = Outcome()
    folder.mkdir(parents=True, exist_ok=True)
    builder = prepared(folder.parent / "runtime")
    texts = folder / "emitted"
    texts.mkdir(exist_ok=True)
    ones = [emitted(numbered(seed, k), texts, point(k)) for k in numbers]
    faults: list[Fault] = []
    for place, one in enumerate(ones):
        out.counts["analysed"] += 1
        out.counts["accepted"] += bool(one.files)
        out.counts.update(one.told)
        out.counts.update(f"refused {code}" for code in one.refused)
        faults += [Fault(place, "crash", words) for words in one.crashes]
        faults += [Fault(place, "claims", words) for words in one.faults]
    out.digest = _digest(ones)
    if before is not None and before.digest == out.digest and not before.failures:
        before.counts["files taken over"] = len(numbers)
        return before
    ran = run([one for one in ones if one.files], builder, folder / "batch", gpu=gpu)
    kept_ones = [k for k, one in enumerate(ones) if one.files]
    out.counts.update(ran.counts)
    faults += [Fault(kept_ones[f.number], f.library, f.words, f.call) for f in ran.faults]
    out.counts["wrong"] += len({fault.number for fault in faults})
    _keep(out, faults, [one.source for one in ones], (seed, numbers), builder, folder, shrink)
    shutil.rmtree(folder / "batch", ignore_errors=True)
    shutil.rmtree(texts, ignore_errors=True)
    return out


def _digest(ones: Sequence[Made]) -> str:
    """Return a digest of the files and their texts, and of the code that judges them."""
    found = sha256()
    for one in ones:
        found.update(
            repr((one.source, sorted(one.files.items()), one.crashes, one.faults)).encode()
        )
    for folder in (Path(__file__).parents[1], RUNTIME_FOLDER):
        for path in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".c", ".h")):
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
        out.failures.append(f"functions {number} ({fault.library}): {name}: {words} [{path}]")
