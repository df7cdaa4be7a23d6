"""The examples as regions, and what becomes of emitted text when it is really run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pytest
from support.laws import IS_THOROUGH
from support.regions import find_annotations

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.annotation.devices import load_device
from annotune.codegen.target import RegionCode, Target
from annotune.frontend.load import load
from annotune.ir.region import SourceFile
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.toolchain import Toolchains, find_toolchains
from annotune.measure.trial import Trial
from annotune.space.decision import Base
from annotune.space.space import region_space
from annotune.space.variants import Variant

EXAMPLES = Path(__file__).parent.parent.parent / "c_examples"

# Sizes at which every edge shows: one, primes, more and less than a tile, none alike.
TRIPLES = (
    {"h3u": 2, "h2u": 3, "h1u": 4, "p6u": 5, "p5u": 6, "p4u": 7, "h7u": 3, "p7u": 3},
    {"h3u": 17, "h2u": 1, "h1u": 2, "p6u": 2, "p5u": 9, "p4u": 11, "h7u": 5, "p7u": 5},
    {"h3u": 10, "h2u": 2, "h1u": 3, "p6u": 2, "p5u": 10, "p4u": 10, "h7u": 10, "p7u": 10},
    {"h3u": 1, "h2u": 1, "h1u": 1, "p6u": 1, "p5u": 1, "p4u": 1, "h7u": 1, "p7u": 1},
)
MATRICES = ({"m": 2, "n": 3, "k": 4}, {"m": 33, "n": 17, "k": 19}, {"m": 10, "n": 10, "k": 10})
SIZES: Mapping[str, tuple[Mapping[str, int], ...]] = {
    "nwchem/sd_t_s1.c": TRIPLES,
    "nwchem/sd_t_d1.c": TRIPLES,
    "nwchem/sd_t_d2.c": TRIPLES,
    "gemm/gemm.c": MATRICES,
    "nekbone/local_grad3.c": ({},),
}
# C fixes the gradient's sizes, so its runs are long; tests/test_examples_run.py runs it small.
# So it does with the kernels of seven loops, some at these sizes.
LONG = ("nekbone/local_grad3.c", "nwchem/sd_t_d1.c", "nwchem/sd_t_d2.c", "nwchem/sd_t_s1.c")
RUNS = [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in SIZES]


def source_of(text: str, path: str = "user.c", **sizes: int) -> SourceFile:
    """Return the regions of a C text."""
    return load(path, text, find_annotations(text, path), sizes)


@lru_cache
def example(name: str) -> SourceFile:
    """Return one of the project's own examples; its path is the name alone."""
    return source_of((EXAMPLES / name).read_text(), name)


@lru_cache
def analysed(name: str) -> Analysis:
    """Return the analysis of the first region of an example."""
    return analyse(example(name).regions[0])


def analysed_text(text: str) -> Analysis:
    """Return the analysis of the first region of a C text."""
    return analyse(source_of(text).regions[0])


def variants(target: Target, analysis: Analysis, limit: int) -> list[Variant]:
    """Return the first variants of a region for a target."""
    base = Base.of(analysis)
    return list(
        target.points(base, region_space(base), load_device("h200")).listing(limit).variants()
    )


@lru_cache
def here() -> Toolchains:
    """Return the machine's own compilers."""
    return find_toolchains(os.environ)


def checked(
    source: SourceFile,
    analysis: Analysis,
    kind: str,
    codes: Mapping[str, RegionCode],
    sizes: tuple[Mapping[str, int], ...],
    folder: Path,
    races: bool = True,
) -> dict[str, Trial]:
    """Return the trial of every code: compared with the user's own nest, under a detector.

    Where time allows each is run under both.
    """
    checker = Checker(Oracle(source, analysis, here(), folder))
    found = {}
    for number, (name, code) in enumerate(codes.items()):
        has_races = races and (IS_THOROUGH or number % 2 == 0)
        sanitize = IS_THOROUGH or not has_races
        plan = CheckPlan(sizes, threads=2, sanitize=sanitize, races=has_races)
        found[name] = checker.check(Program(kind, kind, code), plan)
    return found


def warnings(text: str, flags: tuple[str, ...], folder: Path) -> str:
    """Return what gcc says of a C text with all usual warnings on."""
    path = folder / "text.c"
    path.write_text(text)
    command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", *flags, "-c", str(path)]
    done = subprocess.run(
        [*command, "-o", str(folder / "text.o")], capture_output=True, text=True, check=False
    )
    return done.stderr
