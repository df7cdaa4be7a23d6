"""Records what annotune writes for a corpus of C files as hashes, and compares two records.

    python benchmarks/emitted_text.py --write before.json
    python benchmarks/emitted_text.py --compare before.json
    python benchmarks/emitted_text.py --compare before.json --only 'tests/wrong/*' --points 0

The corpus is every C text with an annotation in `c_examples`, the documentation (with the C blocks
of its pages) and the tests, and those in the folders of `--also`. For each there is one hash of
`check --json`, one of the certificates, one of each file that `emit` writes for every target, and
one of the text of each of some random points of the targets' spaces. A change that is meant to keep
the text leaves all of them as they are. The record holds no text: `--text FOLDER` also writes the
texts, so that two folders can be compared by `diff -r`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import TypeAlias

from annotune.analysis.messages import WORK_UNKNOWN
from annotune.certify.kernels import certify, certify_acc, certify_cores
from annotune.codegen.target import TARGET_NAMES, Target, load_target
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.pipeline import Settings, check, emit, recipes, spaces
from annotune.report.findings import CheckReport
from annotune.report.json_form import check_json
from annotune.space.openmp import first_plan
from annotune.space.points import first_acc_plan
from annotune.space.variants import Listing

Hashes: TypeAlias = Mapping[str, str]
ROOT = Path(__file__).parent.parent
FOLDERS = tuple(ROOT / name for name in ("c_examples", "docs", "tests"))
# Random points of one region and target: with those of all regions more than 200 of each target.
POINTS = 1
_ANNOTATION = re.compile(r"@\s*begin\b")
_BLOCK = re.compile(r"^```c\n(.*?)^```", re.MULTILINE | re.DOTALL)
SEED = 1
"""Chooses the points."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file of the corpus: its path from the project's folder, and what is asked of it."""

    path: str
    points: int
    folder: Path | None


def corpus(folders: Iterable[Path]) -> tuple[str, ...]:
    """Return the annotated C texts below folders, in order: files, and blocks of Markdown pages.

    The name of a block is ``page.md:3``, by its number on the page.
    """
    names: list[str] = []
    for folder in folders:
        for path in sorted((*folder.rglob("*.c"), *folder.rglob("*.md"))):
            name = str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
            text = path.read_text(errors="surrogateescape")
            if path.suffix == ".md":
                blocks = enumerate(_BLOCK.findall(text))
                names += (f"{name}:{n}" for n, block in blocks if _ANNOTATION.search(block))
            elif _ANNOTATION.search(text):
                names.append(name)
    return tuple(names)


def _settings_of(name: str) -> Settings:
    path, _, number = name.partition(":")
    if not number:
        return Settings(ROOT / path, TARGET_NAMES)
    block = _BLOCK.findall((ROOT / path).read_text())[int(number)]
    return Settings((ROOT / path).with_suffix(".c"), TARGET_NAMES, given=block)


def texts_of(job: Job) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of everything that annotune says of a file."""
    settings = _settings_of(job.path)
    report: CheckReport | None = None

    def checked() -> str:
        nonlocal report
        report = check(settings)
        made, _ = recipes(report, settings)
        text = json.dumps(check_json(report, made), indent=1, sort_keys=True)
        return text.replace(str(ROOT), "")

    yield "check", _attempted(checked)
    if report is None:
        return
    yield "certificates", _attempted(lambda: _certificates(report))
    yield from _emitted(settings)
    if job.points:
        yield from _of_points(settings, report, job)


def _attempted(make: Callable[[], str]) -> str:
    """Return a text, or in its place why annotune refuses to make it."""
    try:
        return make()
    except AnnotuneError as refusal:
        return _said(refusal.diagnostics)
    except Exception as mistake:  # A mistake of annotune's own is part of what is compared.
        return type(mistake).__name__


def _certificates(report: CheckReport) -> str:
    texts = []
    for one in (own for region in report.regions for own in region.by_size):
        if one.analysis is None or one.plan is None:
            continue
        if any(d.code == WORK_UNKNOWN.code for d in one.analysis.warnings):
            continue
        texts.append(certify(one.analysis, one.plan).text())
        if one.openacc is not None and one.has_kernels:
            plan = first_acc_plan(one.analysis, one.openacc)
            texts.append(certify_acc(one.analysis, plan).text())
        if one.base is not None and one.has_kernels:
            texts.append(certify_cores(one.analysis, first_plan(one.base)).text())
    return "\n".join(texts)


def _emitted(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the files of all targets, or why there are none."""
    try:
        made = emit(settings, [load_target(name) for name in TARGET_NAMES])
    except AnnotuneError as refusal:
        yield "emit", _said(refusal.diagnostics)
        return
    except Exception as mistake:  # As in `_attempted`.
        yield "emit", type(mistake).__name__
        return
    yield "emit", _said(made.diagnostics)
    for suffix, text in made.files.items():
        yield suffix, text.replace(str(ROOT), "")


def _said(diagnostics: Iterable[Diagnostic]) -> str:
    return "\n".join(f"{d.span.line}:{d.span.column}: {d.code}: {d.message}" for d in diagnostics)


def _of_points(settings: Settings, report: CheckReport, job: Job) -> Iterator[tuple[str, str]]:
    """Yield the texts of random points, the same ones each time."""
    try:
        found, _ = spaces(report, settings)
    except AnnotuneError:
        return
    for region, listings in zip(report.regions, found, strict=True):
        for name, listing in listings.items():
            place = f"{region.region.function}.{region.region.index} {name}"
            source = random.Random(f"{SEED} {job.path} {place}")
            numbers = source.sample(range(len(listing)), min(job.points, len(listing)))

            for number in sorted(numbers):
                config = json.dumps(dict(listing.configs[number]), sort_keys=True)
                text = _attempted(partial(_of_point, load_target(name), listing, number))
                yield f"{place} point {number}", f"{config}\n{text}"


def _of_point(target: Target, listing: Listing, number: int) -> str:
    code = target.region(listing.variant(number), resident=False)
    return "\n".join((*code.functions, code.device, code.helper, code.ahead, code.body))


def recorded(job: Job) -> tuple[str, Hashes, float]:
    """Return a file's hashes by the names of the texts, and the processor seconds that it took."""
    start = time.process_time()
    hashes = {}
    for name, text in texts_of(job):
        data = text.encode(errors="surrogateescape")
        hashes[name] = hashlib.sha256(data).hexdigest()[:16]
        if job.folder is not None:
            file = job.folder / job.path.lstrip("/") / name.replace(" ", "_")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    return job.path, hashes, time.process_time() - start


def record(paths: Sequence[str], points: int, jobs: int, folder: Path | None) -> dict[str, Hashes]:
    """Return the hashes of files by their paths."""
    found: dict[str, Hashes] = {}
    total_s = 0.0
    todo = [Job(path, points, folder) for path in paths]
    with ProcessPoolExecutor(jobs) as pool:
        for path, hashes, taken_s in pool.map(recorded, todo):
            found[path] = hashes
            total_s += taken_s
    count = sum(map(len, found.values()))
    print(f"{count} texts of {len(found)} files, {total_s:.0f} s of processor time")
    return found


def differences(before: Mapping[str, Hashes], now: Mapping[str, Hashes]) -> Iterator[str]:
    """Yield the texts of the files in `now` that are not what they were."""
    for path, hashes in now.items():
        old = before.get(path)
        if old is None:
            yield f"{path}: not in the record"
            continue
        names = dict.fromkeys((*old, *hashes))
        if not any("point" in name for name in hashes):
            names = {name: None for name in names if "point" not in name}
        yield from (f"{path}: {name}" for name in names if old.get(name) != hashes.get(name))


def main(words: Sequence[str]) -> int:
    """Do what the command line asks for, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", type=Path, metavar="FILE", help="write the record")
    action.add_argument("--compare", type=Path, metavar="FILE", help="compare with a record")
    parser.add_argument("--also", nargs="+", type=Path, default=[], metavar="FOLDER", help="more")
    parser.add_argument("--only", nargs="+", metavar="GLOB", help="files, by their paths")
    parser.add_argument("--points", type=int, default=POINTS, help="of each region and target")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--text", type=Path, metavar="FOLDER", help="also write the texts there")
    given = parser.parse_args(words)
    patterns = given.only or ("*",)
    paths = [
        path
        for path in corpus((*FOLDERS, *given.also))
        if any(fnmatch(path, one) for one in patterns)
    ]
    found = record(paths, given.points, given.jobs, given.text)
    if given.write is not None:
        given.write.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    different = list(differences(json.loads(given.compare.read_text()), found))
    print("\n".join(different) or "all are as they were")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
