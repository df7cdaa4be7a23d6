"""Random nests: every claim by brute force, and the texts of all targets executed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from support.laws import IS_THOROUGH

from .choices import Seeded
from .examine import examine
from .execute import Builder, execute
from .nests import Options, nest, nests
from .program import Program
from .slow_part import chunks

CHUNKS, QUICK = 32, 1
PER_CHUNK, EXECUTED, RACED = (25, 20, 6) if IS_THOROUGH else (5, 4, 1)
LEAST_ACCEPTED = 0.6


@pytest.mark.parametrize("chunk", chunks(CHUNKS, QUICK))
def test_every_claim_about_random_nests_holds(chunk: int) -> None:
    """Kinds, dependences, transforms, plans and certificates agree with the text as run."""

    @seed(chunk)
    @settings(
        max_examples=PER_CHUNK,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(nests())
    def law(program: Program) -> None:
        one = examine(program.text(), chunk, bool(chunk % 2))
        assert not one.faults, f"{one.text}{one.faults}"
        assert not one.crashes, f"{one.text}{one.crashes[0]}"

    law()


@pytest.mark.slow
def test_texts_of_random_nests_run_as_the_original(tmp_path: Path) -> None:
    texts = [nest(Seeded("executed", k), Options(), f"f{k}").text() for k in range(EXECUTED)]
    ones = [examine(text, k, bool(k % 2)) for k, text in enumerate(texts)]
    ran = execute(ones, Builder(tmp_path), "nests", races=False)
    assert not ran.faults, "\n".join(f"{f.text}{f.library}: {f.fault}" for f in ran.faults)
    refused = Counter(one.refused for one in ones)
    assert refused[()] >= LEAST_ACCEPTED * EXECUTED, refused
    # Nothing is compared if nothing runs.
    assert ran.executed["original"] == refused[()]
    for target in ("cuda", "openacc", "openmp"):
        assert ran.executed[target] >= LEAST_ACCEPTED * EXECUTED
    assert ran.exact >= 0.8 * refused[()]
    assert ran.launched >= LEAST_ACCEPTED * EXECUTED


@pytest.mark.slow
def test_texts_of_random_nests_have_no_races(tmp_path: Path) -> None:
    texts = [nest(Seeded("raced", k), Options(), f"f{k}").text() for k in range(RACED)]
    ones = [examine(text, k, bool(k % 2)) for k, text in enumerate(texts)]
    ran = execute(ones, Builder(tmp_path), "races", races=True)
    assert not ran.faults, "\n".join(f"{f.text}{f.library}: {f.fault}" for f in ran.faults)
    for library in ("cuda-race", "openacc-race", "openmp-race"):
        assert ran.executed[library] > 0
