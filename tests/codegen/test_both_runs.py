"""Calls that the host and a GPU share: no bit differs, and whatever fails nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.executed import emitted
from test_transfers import DEVICE, MANAGED, PAGEABLE, PINNED, TEXT, Job, Library

N = 2048
RECIPE = '/*@ begin CHiLL ( both(0, "{share}"){more} ) @*/\n    for'
ADDED = ' add_on_host(0, "y")'


def _shared(share: str, more: str = "") -> str:
    text = TEXT.replace("for", RECIPE.format(share=share, more=more), 1).replace("768", str(N))
    return text.replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    files = emitted(tmp_path_factory.mktemp("text"), _shared("0.25")).files
    return files[".cu"], files["_cuda.c"]


@pytest.fixture(scope="module")
def library(texts: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("right"), *texts)


def test_the_host_computes_its_share(library: Library) -> None:
    kinds = [(one, two, two) for one in (PAGEABLE, PINNED) for two in (PAGEABLE, PINNED)]
    jobs = [Job(one, N, calls=2) for one in kinds]
    sent = 2 * N * 8 * 3 // 4
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)
        assert outcome.moved == [2 * sent, 2 * sent], job
        assert outcome.allocations == 0, job


def test_what_the_host_cannot_touch_is_the_devices_alone(library: Library) -> None:
    jobs = [Job((kind, PAGEABLE, PAGEABLE), N) for kind in (MANAGED, DEVICE)]
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)
        assert outcome.moved == [8 * N, 8 * N]


def test_other_sizes_are_the_devices_alone(library: Library) -> None:
    for outcome in library.outcomes(Job((PAGEABLE,) * 3, N - 1), Job((PINNED,) * 3, 1)):
        assert outcome.is_right, outcome


@pytest.mark.parametrize("more", ["", ADDED])
def test_whatever_fails_nothing_is_lost(more: str, tmp_path: Path) -> None:
    files = emitted(tmp_path, _shared("0.25", more)).files
    library = Library(tmp_path / "made", files[".cu"], files["_cuda.c"])
    for kind in (PAGEABLE, PINNED):
        jobs = library.every_failure(Job((kind, PAGEABLE, kind), N, calls=2))
        assert len(jobs) > 80
        for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
            assert outcome.is_right, (job, outcome)


def test_all_device_memory_may_be_gone(library: Library) -> None:
    jobs = [replace(Job((PAGEABLE,) * 3, N), fail_at=-k) for k in range(1, 40)]
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)


MISTAKES = {
    "an iteration is computed twice": (
        "annotune_shares shares = {0, iterations - own,",
        "annotune_shares shares = {0, iterations - own + 1,",
    ),
    "an iteration is left out": (
        "host(iterations - own, iterations);",
        "host(iterations - own + 1, iterations);",
    ),
    "the call returns before the device has done": (
        "        pthread_join(thread, NULL);",
        "        pthread_detach(thread);",
    ),
    "what has failed stays undone": (
        "host(driven.first, driven.first + driven.failed);",
        ";",
    ),
    "what has been added is added again": ("annotune_asides = driven.asides;", ";"),
    "the device gets other bytes than its share": (
        "array.bytes -= array.step * (size_t)(iterations - some);",
        ";",
    ),
    "a share begins where the first one does": (
        "(char *)array.first + array.step * (size_t)first;",
        "(char *)array.first;",
    ),
}
# They show only where a device takes more than one share.
OF_SHARES = {"a share begins where the first one does"}


@pytest.mark.parametrize("name", sorted({*MISTAKES} - OF_SHARES))
def test_a_mistake_is_found(name: str, tmp_path: Path) -> None:
    old, new = MISTAKES[name]
    files = emitted(tmp_path, _shared("0.25", ADDED)).files
    assert old in files[".cu"]
    right = Library(tmp_path / "right", files[".cu"], files["_cuda.c"])
    wrong = Library(tmp_path / "wrong", files[".cu"].replace(old, new), files["_cuda.c"])
    plain = Job((PAGEABLE,) * 3, N, calls=2)
    for jobs in ([plain], right.every_failure(plain)):
        if not all(one is not None and one.is_right for one in wrong.run(*jobs)[0]):
            return
    raise AssertionError("nobody has seen it")
