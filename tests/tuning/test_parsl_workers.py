"""Workers that Parsl starts: what a configuration must be, and a run with one of them killed."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from support.cli import annotune
from tuning.crews import crew, one_killed, pids_of, raises_each
from tuning.seeded import FATES, bench, listing, searched, with_session

from annotune.diagnostics import AnnotuneError
from annotune.measure.toolchain import find_toolchains
from annotune.tuning import workers as parsl_workers
from annotune.tuning.config import Wish
from annotune.tuning.store import opened

TOOLS = find_toolchains(os.environ)
EXAMPLES = Path(__file__).parent.parent.parent / "annotations" / "clusters"

needs_parsl = pytest.mark.skipif(
    importlib.util.find_spec("parsl") is None, reason="Parsl is not installed"
)

LOCAL = """\
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider


def config():
    return Config(
        executors=[
            HighThroughputExecutor(
                max_workers_per_node=3,
                cores_per_worker=0.1,
                address="127.0.0.1",
                poll_period=10,
                # How often Parsl looks whether a worker has died.
                heartbeat_period=2,
                provider=LocalProvider(init_blocks=1, max_blocks=1),
            )
        ],
        run_dir={run_dir!r},
        initialize_logging=False,
    )
"""


def test_without_parsl_the_line_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(AnnotuneError, match="Parsl is not installed") as refused:
        parsl_workers.parsl_workers(tmp_path / "c.py")
    assert "pip install 'annotune[cluster]'" in refused.value.diagnostics[0].help


@needs_parsl
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "there is no such file"),
        ("config = 1", "its `config` is int and no parsl.Config"),
        ("x = 1", "its `config` is NoneType and no parsl.Config"),
        ("config = (", "SyntaxError: '\\(' was never closed"),
        ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
        (
            "from parsl.config import Config\n"
            "from parsl.executors import HighThroughputExecutor\n"
            "config = Config(executors=[HighThroughputExecutor()])",
            "has neither max_workers_per_node nor GPUs",
        ),
    ],
)
def test_a_file_that_configures_no_workers_is_refused(
    tmp_path: Path, text: str | None, reason: str
) -> None:
    path = tmp_path / "workers.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(AnnotuneError, match=reason):
        parsl_workers.parsl_workers(path)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_the_examples_are_configurations(path: Path) -> None:
    compile(path.read_text(), str(path), "exec")
    if importlib.util.find_spec("parsl") is None:
        pytest.skip("its syntax is right; Parsl, which says more, is not installed")
    config = parsl_workers.read_config(path)
    (executor,) = config.executors
    # One worker for each GPU of a node.
    assert len(executor.available_accelerators) == executor.workers_per_node
    assert parsl_workers.slots_of(config) == (
        executor.provider.max_blocks * len(executor.available_accelerators)
    )
    assert config.retries == 0


@needs_parsl
@pytest.mark.slow
@pytest.mark.skipif(not TOOLS.openmp or TOOLS.cxx is None, reason="no OpenMP")
def test_nothing_is_lost_where_one_of_the_workers_of_parsl_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its workers are found like any program, and are sent jobs that these tests define.
    tests, programs = Path(__file__).parent.parent, Path(sys.executable).parent
    monkeypatch.setenv("PYTHONPATH", str(tests), prepend=os.pathsep)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    path = tmp_path / "workers.py"
    path.write_text(LOCAL.format(run_dir=str(tmp_path / "parsl")))
    # How much memory a run may hold depends on the worker's machine.
    names = tuple(name for name in FATES if name != "memory")
    kept, scratch = tmp_path / "kept", tmp_path / "scratch"
    kept.mkdir()
    scratch.mkdir()
    with crew(Wish(config=path)) as three, opened(kept, False) as (store, _):
        assert three.slots == 3
        workers = pids_of(three)
        assert len(workers) == 3
        raises_each(three)
        own = with_session(bench(scratch, 3, store), crew=three)
        with one_killed(workers):
            outcome = searched(own, listing(names))
        found = {str(t.config["deed"]): t.status for t in outcome.trials}
        assert found == {name: FATES[name][1] for name in names}
        assert outcome.best is not None
        again = searched(own, listing(names))
        assert {t.config["deed"] for t in again.trials if not t.reused} == {"refused"}


def test_the_command_line_says_what_workers_there_are() -> None:
    for wrong in ("local:0", "local", "parsl:", "slurm:4", "4"):
        said = annotune("run", "x.c", "--workers", wrong)
        assert said.code == 2
        assert "is neither local:N, such as local:4, nor parsl:FILE.py" in said.err
