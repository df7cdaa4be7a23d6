"""Files of failures that were found: each is kept and must pass from then on."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .contractions import Contraction
from .contractions import smaller as smaller_contractions
from .examine import Examined, examine
from .execute import Builder, Wrong, execute
from .functions.shrink import faults_of
from .functions.source import is_functions, read
from .garbage import Case, judge
from .program import Program
from .reduce import reduced, shorter, smaller

FOUND = Path(__file__).with_name("found")
SHRINK_S = 90.0
_RUN = re.compile(r"/\* point (\d+) (random|first) \*/\n")


def wrong(text: str, seed: int, is_random: bool, builder: Builder | None) -> list[Wrong]:
    """Return what is wrong with a program: its claims, and its execution with a `builder`."""
    one = examine(text, seed, is_random)
    return wrongs(one) or (executed(one, builder) if builder else [])


def wrongs(one: Examined) -> list[Wrong]:
    """Return the claims and crashes of one program as things that went wrong."""
    faults = [Wrong(one.text, "claims", fault) for fault in one.faults]
    return faults + [Wrong(one.text, "crash", words) for words in one.crashes]


def executed(one: Examined, builder: Builder) -> list[Wrong]:
    return execute([one], builder, "shrink", races=True).faults if one.made else []


def kind(fault: Wrong) -> str:
    """Return what must stay the same while a failure is cut down."""
    if fault.library == "crash":
        return "crash " + re.sub(r"\d+|'\w*'", "#", fault.fault.strip().split("\n")[-1])[:60]
    if fault.library == "claims":
        return "claims " + re.sub(r"\W.*", "", fault.fault.partition(": ")[2] or fault.fault)
    return fault.library


def shrunk(
    one: Program | Contraction, seed: int, is_random: bool, fault: Wrong, folder: Path
) -> str:
    """Return the text of the smallest program found with a failure of the same kind."""
    is_run = fault.library not in ("claims", "crash")
    builder = Builder(folder) if is_run else None
    wanted = kind(fault)

    def is_wrong(candidate: Program | Contraction) -> bool:
        found = wrong(candidate.text(), seed, is_random, builder)
        return any(kind(f) == wanted for f in found)

    if isinstance(one, Program):
        return reduced(one, smaller, is_wrong, SHRINK_S).text()
    return reduced(one, smaller_contractions, is_wrong, SHRINK_S).text()


def kept(text: str, seed: int, is_random: bool, fault: Wrong) -> Path:
    """Write a failing program to the folder of failures and return its file."""
    words = f"/* point {seed} {'random' if is_random else 'first'} */\n"
    name = re.sub(r"\W+", "_", kind(fault))[:40] + "_" + _digest(text.encode())
    path = FOUND / f"{name}.c"
    path.write_text(words + text)
    return path


def kept_garbage(one: Case, outcome: str, folder: Path) -> Path:
    """Write a damaged file, cut down, to the folder of failures and return it."""

    def source_is_wrong(data: bytes) -> bool:
        return judge(Case(one.name, data, one.sidecar), folder).outcome == outcome

    def sidecar_is_wrong(data: bytes) -> bool:
        return judge(Case(one.name, source, data), folder).outcome == outcome

    source, sidecar = one.source, one.sidecar
    if sidecar is None:
        source = reduced(source, shorter, source_is_wrong, SHRINK_S)
    else:
        sidecar = reduced(sidecar, shorter, sidecar_is_wrong, SHRINK_S)
    name = f"garbage_{outcome.replace(' ', '_')}_{_digest(source + (sidecar or b''))}"
    (FOUND / f"{name}.c").write_bytes(source)
    if sidecar is not None:
        (FOUND / f"{name}.yaml").write_bytes(sidecar)
    return FOUND / f"{name}.c"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


def replayed(path: Path) -> list[str]:
    """Return what is still wrong with a file of the folder, in words."""
    if path.name.startswith("garbage_"):
        sidecar = path.with_suffix(".yaml")
        one = Case(path.stem, path.read_bytes(), sidecar.read_bytes() if sidecar.exists() else None)
        with tempfile.TemporaryDirectory() as folder:
            verdict = judge(one, Path(folder))
        return [f"{verdict.outcome}: {verdict.words}"] if verdict.is_wrong else []
    text = path.read_text()
    if is_functions(text):
        with tempfile.TemporaryDirectory() as folder:
            faults = faults_of(read(text), Builder(Path(folder)), Path(folder))
        return [f"{one.library}: {one.words}" for one in faults]
    run = _RUN.match(text)
    seed, is_random = (int(run[1]), run[2] == "random") if run else (0, False)
    with tempfile.TemporaryDirectory() as folder:
        found: Sequence[Wrong] = wrong(_RUN.sub("", text), seed, is_random, Builder(Path(folder)))
    return [f"{one.library}: {one.fault}" for one in found]
