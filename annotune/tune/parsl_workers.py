"""Workers on a cluster, which Parsl starts and reaches as a file of the user's says.

The only module that imports Parsl, which is imported when it is used, and the only one that runs a
file: the configuration is the user's own Python, named on the command line.
"""

from __future__ import annotations

import importlib.util
import math
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.tune.workers import Job, perform, watched

BAD_CONFIG = Template(
    "AT618",
    "'{path}' configures no workers: {reason}",
    "{hint}",
)
_WHAT = (
    "the file assigns a parsl.Config, or a function that returns one, to `config`; "
    "annotations/clusters/ has examples"
)

T = TypeVar("T")


class ParslWorkers:
    """The workers that `config`, a parsl.Config, describes."""

    def __init__(self, config: Any) -> None:
        from parsl.app.python import PythonApp
        from parsl.dataflow.dflow import DataFlowKernel
        from parsl.executors.high_throughput.errors import ManagerLost, WorkerLost

        self.slots = slots_of(config)
        self._deaths = (ManagerLost, WorkerLost)
        self._kernel = DataFlowKernel(config)
        self._app = PythonApp(perform, data_flow_kernel=self._kernel)  # type: ignore[no-untyped-call]  # Parsl's

    def submit(self, job: Job[T], timeout_s: float) -> Future[T]:
        """Have a job done wherever Parsl sends it."""
        return watched(self._app(job, timeout_s), self._deaths)

    def close(self) -> None:
        """Give back what the cluster has lent."""
        self._kernel.cleanup()


def parsl_workers(path: Path) -> ParslWorkers:
    """Return the workers that the file at `path` describes, which is run as Python.

    Raises:
        AnnotuneError: Parsl is not installed, or the file describes no workers.
    """
    if importlib.util.find_spec("parsl") is None:
        raise _bad(path, "Parsl is not installed", "pip install 'annotune[cluster]'")
    config = read_config(path)
    try:
        return ParslWorkers(config)
    except Exception as error:
        raise _bad(path, f"Parsl cannot start them: {_words(error)}") from error


def read_config(path: Path) -> Any:
    """Return the parsl.Config of the file at `path`, which is run as Python.

    Raises:
        AnnotuneError: It cannot be read or run, or has no such value.
    """
    from parsl.config import Config

    if not path.is_file():
        raise _bad(path, "there is no such file")
    spec = importlib.util.spec_from_file_location("annotune_workers", path.absolute())
    if spec is None or spec.loader is None:
        raise _bad(path, "its name does not end with .py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        config = getattr(module, "config", None)
        config = config() if callable(config) and not isinstance(config, Config) else config
    except Exception as error:
        raise _bad(path, _words(error)) from error
    if not isinstance(config, Config):
        raise _bad(path, f"its `config` is {type(config).__name__} and no parsl.Config")
    return config


def slots_of(config: Any) -> int:
    """Return how many jobs the workers of a parsl.Config do at once.

    Raises:
        ValueError: It does not say.
    """
    return sum(_workers_of(executor) for executor in config.executors)


def _workers_of(executor: Any) -> int:
    """Return how many jobs an executor runs at once when all that it may ask for is there.

    Raises:
        ValueError: The file leaves that to the nodes.
    """
    if hasattr(executor, "max_threads"):
        return int(executor.max_threads)
    # Parsl itself takes one for the answer where nothing tells.
    is_told = math.isfinite(getattr(executor, "max_workers_per_node", 1))
    if not is_told and not getattr(executor, "available_accelerators", ()):
        raise ValueError(f"'{executor.label}' has neither max_workers_per_node nor GPUs")
    provider = executor.provider
    return int(provider.max_blocks * provider.nodes_per_block * executor.workers_per_node)


def _words(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}".rstrip(": ")


def _bad(path: Path, reason: str, hint: str = _WHAT) -> AnnotuneError:
    where = Span(str(path), 1, 1)
    return AnnotuneError.of(BAD_CONFIG.at(where, path=path, reason=reason, hint=hint))
