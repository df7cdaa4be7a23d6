"""Runs pytest in copies of a checkout, each of which may hold a mutation: what fails first.

What a mutation is tried by is done part by part, in as many copies at once as there are, the
quickest part of each mutation first. Every fate is told as soon as it is known.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType

from covering_tests import CHOSEN, FAILED, HANGS_LEAST_S, Covered, files_of

HANGS = "(it hangs)"
LATER = "only later: "
"""Before what fails of the survivors' tests alone."""
CUT_OFF = "(cut off)"
"""What has not been tried before the time was over."""
# A part takes about so long; of another pytest's start that is little.
PART_S = 30.0
# So much longer than its tests took as they are that a part beyond it hangs.
HANGS_TIMES = 10
_NO_TESTS_COLLECTED = 5


@dataclass(frozen=True)
class Mutation:
    """A piece of a file, from character `start` to `end`, with another text in its place."""

    path: str
    line: int
    start: int
    end: int
    kind: str
    text: str

    @property
    def name(self) -> str:
        return (
            f"{self.path}:{self.line}:{self.start}: {self.kind}: {' '.join(self.text.split())[:60]}"
        )


@dataclass(frozen=True)
class Part:
    """Some of the tests that a mutation is tried by: those of `seconds`, or all of some files.

    `words` are pytest's, and `is_late` says that these are tests of what the others let pass.
    """

    files: tuple[str, ...]
    seconds: Mapping[str, float] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    limit_s: float = 0.0
    is_late: bool = False


def parts_of(
    tests: Sequence[str], found: Covered, survivors: str | None, limit_s: float | None
) -> list[Part]:
    """Return the parts of the tests of a mutation, then those of their files for survivors."""
    parts = []
    for some in _portions(tests, found.seconds):
        seconds = {name: found.seconds[name] for name in some}
        most_s = HANGS_LEAST_S + HANGS_TIMES * sum(seconds.values())
        parts.append(Part(tuple(files_of(some)), seconds, (), most_s))
    if survivors is not None:
        words, limit_s = tuple(shlex.split(survivors)), limit_s or float("inf")
        parts += [Part(one.files, {}, words, limit_s, True) for one in parts]
    return parts


def _portions(tests: Sequence[str], seconds: Mapping[str, float]) -> Iterator[list[str]]:
    """Yield tests in portions of `PART_S`, in their order."""
    own: list[str] = []
    for name in tests:
        own.append(name)
        if sum(seconds[one] for one in own) > PART_S:
            yield own
            own = []
    if own:
        yield own


class Trials:
    """Tries mutations by their parts until some time, and tells each fate when it changes."""

    def __init__(
        self, copies: Sequence[Path], until: float, told: Callable[[Mutation, str], None]
    ) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        for each in copies:
            self._free.put(each)
        self._jobs, self._until, self._told = len(copies), until, told
        self._lock = threading.Lock()
        self._caught: dict[Mutation, str] = {}
        self._left: dict[Mutation, int] = {}

    def run(self, parts: Mapping[Mutation, Sequence[Part]]) -> None:
        """Try all parts, the first ones of all mutations before the second ones."""
        self._left = {one: sum(not p.is_late for p in parts[one]) for one in parts}
        rows = [(p.is_late, k, m, p) for m in parts for k, p in enumerate(parts[m])]
        with ThreadPoolExecutor(self._jobs) as pool:
            order = sorted(rows, key=lambda row: row[:2])
            list(pool.map(lambda row: self._try_part(*row[2:]), order))

    def _try_part(self, one: Mutation, part: Part) -> None:
        own = self._free.get()
        try:
            if one not in self._caught and time.monotonic() < self._until:
                self._note(one, part, self._outcome(own, one, part))
        finally:
            self._free.put(own)

    def _outcome(self, own: Path, one: Mutation, part: Part) -> str:
        limit_s = min(part.limit_s, self._until - time.monotonic())
        with mutated(own, one):
            by = first_failure(own, part, limit_s)
        if by != HANGS:
            return by
        if part.is_late:
            return ""
        return HANGS if limit_s == part.limit_s else CUT_OFF

    def _note(self, one: Mutation, part: Part, by: str) -> None:
        with self._lock:
            before = self._caught.get(one, LATER)
            if by and by != CUT_OFF and before.startswith(LATER):
                self._caught[one] = f"{LATER}{by}" if part.is_late else by
                self._told(one, self._caught[one])
            if not part.is_late and not by:
                self._left[one] -= 1
                if self._left[one] == 0 and one not in self._caught:
                    self._told(one, "")


def scored(fates: Mapping[str, str], count: int) -> str:
    """Return how many mutations are caught, of all and of what is caught at all."""
    late = sum(by.startswith(LATER) for by in fates.values())
    caught = sum(map(bool, fates.values()))
    text = f"{caught - late} of {len(fates)} mutations are caught"
    if count > len(fates):
        text += f" ({count - len(fates)} more were not tried to the end)"
    share = f" ({(caught - late) / caught:.0%} of what is caught)" if caught else ""
    return f"{text}, {late} more by the tests of survivors{share}" if late else text


def first_failure(copy: Path, part: Part, limit_s: float) -> str:
    """Return what fails first of a part, or nothing; a test only where it fails twice."""
    until = time.monotonic() + limit_s
    seconds, words = dict(part.seconds), list(part.words)
    while True:
        by = _failure(copy, [*words, *part.files], seconds, until - time.monotonic())
        if "::" not in by:
            return by
        alone = {by: seconds.get(by, 0.0)}
        again = _failure(copy, [*part.words, *files_of([by])], alone, until - time.monotonic())
        if again:
            return by
        seconds.pop(by, None)
        words += ["--deselect", by]
        if part.seconds and not seconds:
            return ""


def _failure(copy: Path, words: Sequence[str], seconds: Mapping[str, float], limit_s: float) -> str:
    """Return what fails first of the tests with these seconds, or of all where there are none."""
    environ = {}
    if seconds:
        chosen = copy.parent / f"{copy.name}.chosen"
        chosen.write_text(json.dumps(seconds))
        environ[CHOSEN] = str(chosen)
    return fails(copy, words, limit_s, environ)


def fails(
    copy: Path,
    words: Sequence[str],
    limit_s: float | None,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the first test that fails in a copy, or how pytest ended, or nothing."""
    command = ["nice", "-n", "19", sys.executable, "-m", "pytest", "-x", "-q", "--tb=no"]
    failed = copy.parent / f"{copy.name}.failed"
    failed.unlink(missing_ok=True)
    folders = [copy, copy / "benchmarks", *map(Path.absolute, map(Path, _searched()))]
    own = {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONDONTWRITEBYTECODE": ""}
    with tempfile.TemporaryFile() as said:  # a pipe would wait for whoever holds it
        done = subprocess.Popen(
            [*command, "-p", "no:cacheprovider", "-p", "covering_tests", *words],
            cwd=copy,
            env={**os.environ, **own, FAILED: str(failed), **environ},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            code = done.wait(None if limit_s in (None, float("inf")) else max(limit_s or 0, 0.0))
        except subprocess.TimeoutExpired:
            return HANGS
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(done.pid, signal.SIGKILL)
            done.wait()
    if failed.exists():
        return failed.read_text().splitlines()[0]
    return f"(pytest exits with {code})" if code not in (0, _NO_TESTS_COLLECTED) else ""


def _searched() -> list[str]:
    """Return the folders that the environment has Python look for modules in."""
    return [name for name in os.environ.get("PYTHONPATH", "").split(os.pathsep) if name]


@contextlib.contextmanager
def mutated(copy: Path, one: Mutation) -> Iterator[None]:
    """Put a mutation into a copy, which is as before at the end."""
    path = copy / one.path
    before = path.read_text()
    try:
        path.write_text(before[: one.start] + one.text + before[one.end :])
        _drop_byte_code(path)
        yield
    finally:
        path.write_text(before)
        _drop_byte_code(path)


def _drop_byte_code(path: Path) -> None:
    """Remove a module's byte code: of a text of the same length and second it would be taken."""
    for file in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        file.unlink()


_MADE = shutil.ignore_patterns(
    *(".*", "__pycache__", "annotune-out", "build", "dist", "*.egg-info", "*.so", "*.o")
)


def copy_of(checkout: Path, folder: Path) -> Path:
    """Return a copy of a checkout's files, or of a folder's where git does not know them."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = ""
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        names = subprocess.run(
            words, cwd=checkout, capture_output=True, text=True, check=True
        ).stdout.rstrip("\0")
    if names:
        # What is gone and not yet committed so is in git's list.
        for name in filter(lambda name: (checkout / name).exists(), names.split("\0")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(checkout / name, folder / name)
        return folder
    shutil.copytree(checkout, folder, ignore=_MADE)
    for name in (".ci", ".github", ".gitignore", ".pre-commit-hooks.yaml"):
        if (checkout / name).is_dir():
            shutil.copytree(checkout / name, folder / name)
        elif (checkout / name).exists():
            shutil.copy(checkout / name, folder / name)
    return folder
