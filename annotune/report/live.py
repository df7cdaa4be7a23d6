"""How a run goes on, on a terminal's error stream: the stage, a bar, and failures by kind."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from annotune.measure.trial import Status, Trial


class LiveProgress:
    """Shows stages and trials while a run goes on; silent where nobody watches.

    A context manager: the display is taken down at its end.
    """

    def __init__(self, console: Console) -> None:
        self._is_shown = console.is_terminal
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[words]}"),
            console=console,
            transient=True,
            disable=not self._is_shown,
        )
        self._task: TaskID | None = None
        self._failed = 0
        self._best_s: float | None = None

    def __enter__(self) -> LiveProgress:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def stage(self, text: str, total: int, least_s: float = 0.0) -> None:
        """Begin a new stage of `total` trials."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._failed, self._best_s = 0, None
        self._task = self._progress.add_task(text, total=total, words="")

    def trial(self, trial: Trial) -> None:
        """Count a finished trial."""
        if self._task is None:
            return
        if trial.status is not Status.CORRECT:
            self._failed += 1
        elif trial.time_s is not None:
            self._best_s = min(self._best_s or trial.time_s, trial.time_s)
        self._progress.update(self._task, advance=1, words=self._words())

    def _words(self) -> str:
        parts = []
        if self._best_s is not None:
            parts.append(f"best {self._best_s * 1e6:.4g} us")
        if self._failed:
            parts.append(f"{self._failed} failed")
        return ", ".join(parts)
