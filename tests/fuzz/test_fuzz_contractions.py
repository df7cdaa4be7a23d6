"""Random contractions in every way of writing them: claims, and all targets executed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from support.laws import IS_THOROUGH

from .choices import Seeded
from .contractions import (
    Contraction,
    ContractionOptions,
    contraction,
    contractions,
    einsum_of,
    smaller,
)
from .examine import examine
from .execute import Builder, execute
from .slow_part import chunks

CHUNKS, QUICK = 18, 0
PER_CHUNK, EXECUTED = (12, 10) if IS_THOROUGH else (4, 5)
LEAST_ACCEPTED = 0.6


@pytest.mark.parametrize("chunk", chunks(CHUNKS, QUICK))
def test_every_claim_about_random_contractions_holds(chunk: int) -> None:
    @seed(chunk)
    @settings(
        max_examples=PER_CHUNK,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(contractions())
    def law(one: Contraction) -> None:
        found = examine(one.text(), chunk, bool(chunk % 2))
        assert not found.faults, f"{found.text}{found.faults}"
        assert not found.crashes, f"{found.text}{found.crashes[0]}"

    law()


@pytest.mark.slow
def test_random_contractions_run_as_the_original_and_as_einsum(tmp_path: Path) -> None:
    drawn = [
        contraction(Seeded("executed", k), ContractionOptions(), f"f{k}") for k in range(EXECUTED)
    ]
    ones = [examine(c.text(), k, bool(k % 2)) for k, c in enumerate(drawn)]
    ran = execute(ones, Builder(tmp_path), "contractions", races=False)
    assert not ran.faults, "\n".join(f"{f.text}{f.library}: {f.fault}" for f in ran.faults)
    accepted = Counter(c.style for c, one in zip(drawn, ones, strict=True) if not one.refused)
    assert accepted.total() >= LEAST_ACCEPTED * EXECUTED, [one.refused for one in ones]
    assert set(accepted) >= {"shaped", "expanded", "horner"}
    for target in ("cuda", "openacc", "openmp"):
        assert ran.executed[target] == accepted.total()
    assert ran.exact == accepted.total()


def test_the_comment_says_what_the_loops_compute() -> None:
    """A matrix product: the formula of the comment and numpy's own product agree."""
    one = Contraction(
        "f", {"i": (2,), "j": (3,), "k": (4,)}, "ij", ("ik", "kj"), "ijk", factor="2.0"
    )
    spec = einsum_of(one.text(), {"ni": 2, "nj": 3, "nk": 4}, {})
    assert spec["formula"] == "ik,kj->ij"
    assert [tensor[2] for tensor in spec["tensors"]] == [[2, 3], [2, 4], [4, 3]]
    assert spec["factor"] == 2.0
    a, b = np.arange(8.0).reshape(2, 4), np.arange(12.0).reshape(4, 3)
    assert np.array_equal(np.einsum(spec["formula"], a, b), a @ b)


def test_a_simpler_contraction_is_still_one() -> None:
    one = contraction(Seeded("simpler", 3), ContractionOptions(), "f")
    found = list(smaller(one))
    assert found
    for candidate in found:
        assert set("".join(candidate.inputs)) | set(candidate.output) == set(candidate.order)
