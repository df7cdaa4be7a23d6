"""What annotune makes of a random file: the texts of the targets, or codes of refusal."""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotune.codegen.target import DEFAULT_TARGETS, RegionCode, load_target
from annotune.diagnostics import NOWHERE, AnnotuneError, Severity
from annotune.pipeline import Settings, emit
from annotune.runtime.texts import cuda_head, standalone_files
from annotune.space.variants import Listing, Variant

from ..examine import LISTED, OnePoint, random_point
from .source import Source, placed

PROJECT = Path(__file__).parents[3]

BEGIN, END = "/*@ begin", "/*@ end"


@dataclass
class Made:
    """What came of one file.

    `source` has no annotation any more where a region is refused; `refused` are the codes, one
    or more for each such region. `crashes` are tracebacks, `faults` refusals of annotune's own
    choice. `files` holds, per target, texts by suffix; `told` counts regions.
    """

    source: Source
    refused: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    told: Counter[str] = field(default_factory=Counter)


class _Chosen:
    """A target that takes a random point where it has a generator, and keeps its texts."""

    def __init__(self, name: str, source: random.Random | None) -> None:
        self.target, self.source = load_target(name), source
        self.codes: list[RegionCode] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.target, name)

    def points(self, base: Any, space: Any, device: Any) -> _Points:
        return _Points(self, base, space, device)

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        code = self.target.region(variant, resident)
        self.codes.append(code)
        return code


@dataclass
class _Points:
    """The points of a region for a target, or a random one of them."""

    chosen: _Chosen
    base: Any
    space: Any
    device: Any

    def listing(self, limit: int) -> Listing:
        target, source = self.chosen.target, self.chosen.source
        if source is None:
            return target.points(self.base, self.space, self.device).listing(limit)
        point = random_point(self.space, source)
        most = LISTED if target.name == "openmp" else 1
        own = target.points(self.base, OnePoint.of(self.space, point), self.device)
        found = own.listing(most)
        variant = found.variant(source.randrange(len(found)))
        return Listing((variant.config,), (None,), lambda number: variant)


def emitted(source: Source, folder: Path, point: int | None) -> Made:
    """Return what annotune makes of a file, which is put into `folder` with its headers.

    `point` is the seed of random points of the targets' spaces, taken where they are legal; None
    is for the first choice. Of several regions those that are refused lose their annotation.
    """
    made = Made(source)
    made.told["regions"] = source.text.count(BEGIN)
    while BEGIN in made.source.text:
        path = placed(made.source, folder)
        try:
            _emit(made, path, None if point is None else random.Random(point))
        except AnnotuneError as refusal:
            if point is not None:
                made.told.update(f"point refused {d.code}" for d in refusal.diagnostics)
                point = None
                continue
            errors = [d for d in refusal.diagnostics if d.severity == Severity.ERROR]
            own = [d for d in errors if d.span == NOWHERE]
            made.faults += [f"own choice is refused: {d.code} {d.message}" for d in own]
            made.refused += dict.fromkeys(d.code for d in errors)
            made.source = without_annotations(made.source, [d.span.line for d in errors])
        except Exception:
            # What is found may become a file of the project's, for which no folder of ours is one.
            made.crashes.append(traceback.format_exc().replace(f"{PROJECT}/", ""))
            return made
        else:
            break
    made.told["regions accepted"] = made.source.text.count(BEGIN)
    return made


def _emit(made: Made, path: Path, source: random.Random | None) -> None:
    targets = [_Chosen(name, source) for name in DEFAULT_TARGETS]
    found = emit(Settings(path, DEFAULT_TARGETS), targets)  # type: ignore[arg-type]  # it has all
    for target in targets:
        suffixes = {"cuda": ("_cuda.c",), "openacc": ("_acc.c",), "openmp": ("_omp.c",)}
        name = target.target.name
        if not found.files.keys() >= {*suffixes[name]}:
            # This target has nothing for any region; the others are written.
            made.told[f"nothing for {name}"] += 1
            continue
        # The runtime of CUDA is compiled once for all batches.
        made.files[name] = standalone_files({s: found.files[s] for s in suffixes[name]})
        if name == "cuda":
            # A block of Data that cannot be followed leaves nothing there, and the file is right.
            made.told["with arrays that stay"] += "annotune_data_begin();" in found.files["_cuda.c"]
            functions = dict.fromkeys(f for code in target.codes for f in code.functions)
            made.files[name][".cu"] = "\n".join([*functions, *(c.device for c in target.codes)])


def annotations(rows: Sequence[str]) -> list[tuple[int, int]]:
    """Return the rows of each annotation's begin and end, of those inside others first."""
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    for number, row in enumerate(rows):
        if BEGIN in row:
            opened.append(number)
        if END in row and opened:
            spans.append((opened.pop(), number))
    return spans


def without_annotations(source: Source, lines: Sequence[int]) -> Source:
    """Return the file without the annotations around some lines, all if it has none there.

    Of annotations inside others, as regions in a block of Data are, the innermost goes.
    """
    rows = source.text.split("\n")
    spans = annotations(rows)
    around = [[(b, e) for b, e in spans if b <= line - 1 <= e] for line in lines]
    hit = {max(found) for found in around if found}
    for begin, end in hit or spans:
        rows[begin] = rows[end] = ""
    return source.with_text("\n".join(rows))


def device_text(ones: Sequence[Mapping[str, str]]) -> str:
    """Return one ``.cu`` for many files: one head, and what each of them has."""
    devices = [one[".cu"] for one in ones]
    return "\n".join([cuda_head("\n".join(devices)), *devices])
