"""Fixtures that every test may use: golden files and the project's own examples."""

from __future__ import annotations

import gc
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from support.clean_place import CleanPlace
from support.mistakes import let_through
from support.processor_time import ProcessorTimes
from support.quicker import FOLDER, quicker, unoptimised
from support.shared_collection import SharedCollection, is_backwards

import annotune.transforms.language  # noqa: F401  # which says how recipes are read
from annotune.cli import YOUNG_OBJECTS
from annotune.measure import compile as compiling
from annotune.measure.command import Finished

# A law holds or not, however busy the machine is on which it is tried.
ANY_SPEED = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.register_profile("laws", ANY_SPEED, max_examples=10)
settings.register_profile("thorough", ANY_SPEED, max_examples=200)
settings.load_profile("laws")

# As in `annotune.cli`: hardly anything is garbage, and the collector walks all that is imported.
gc.set_threshold(YOUNG_OBJECTS, 20, 20)

let_through()

# What a test expects does not depend on a GPU of the machine that it runs on.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
# Threads that wait leave the processor to other tests.
os.environ["OMP_WAIT_POLICY"] = "passive"

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = Path(__file__).parent.parent / "c_examples"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden/")
    parser.addoption(
        "--processor-times",
        type=Path,
        metavar="FILE",
        help="append to FILE what each test takes of the processor, in seconds",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Have compilers end sooner, and optimise nothing unless the slow tests run too."""
    _quicken_compilers(config)
    config.pluginmanager.register(CleanPlace(config))
    if is_backwards(config):
        config.pluginmanager.register(SharedCollection())
    if file := config.getoption("--processor-times"):
        config.pluginmanager.register(ProcessorTimes(file.absolute()))


def _quicken_compilers(config: pytest.Config) -> None:
    """Have CUDA's header for this CPU compiled once for all processes of the session, too."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory()
        os.environ[FOLDER] = folder.name
        config.add_cleanup(folder.cleanup)
    run_command = compiling.run_command
    is_short = bool(config.option.markexpr)

    def run(command: Sequence[str], *args: Any, **kwargs: Any) -> Finished:
        return run_command(quicker(unoptimised(command) if is_short else command), *args, **kwargs)

    compiling.run_command = run


@pytest.hookimpl(tryfirst=True)  # before those that are slow are left out
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Make slow what a test marked `alike(N)` has beside one in N of its cases."""
    seen = Counter[str]()
    for item in items:
        for mark in item.iter_markers("alike"):
            name = item.nodeid.split("[")[0]
            if seen[name] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            seen[name] += 1


@dataclass(frozen=True)
class Golden:
    """Texts that were read once by a person and must stay as they are."""

    update: bool

    def check(self, name: str, text: str) -> None:
        """Compare `text` with ``tests/golden/name``, or rewrite it with --update-golden."""
        path = GOLDEN / name
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"{name} is missing: run pytest --update-golden and read it"
        assert text == path.read_text()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(bool(request.config.getoption("--update-golden")))


@pytest.fixture(scope="session")
def examples() -> Path:
    return EXAMPLES
