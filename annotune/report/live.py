"""How a run goes on, on a terminal's error stream: the stage, a bar, the best, and failures."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from types import TracebackType

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from annotune.measure.trial import Status, Trial
from annotune.report.figures import estimated, share_text, time_text


class _Display(Progress):
    """A bar with a line of words below it, where these do not squeeze the bar."""

    words = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yield the bar and the words."""
        yield self.make_tasks_table(self.tasks)
        if self.words:
            yield Text(f"  {self.words}", no_wrap=True, overflow="ellipsis")


class LiveProgress:
    """Shows stages and trials while a run goes on; silent where nobody watches.

    A context manager: the display is taken down at its end. Trials may end in several threads.
    """

    def __init__(self, console: Console) -> None:
        self._display = _Display(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._is_unicode = console.encoding.lower().startswith("utf")
        self._lock = threading.Lock()
        self._task: TaskID | None = None
        self._failed: Counter[Status] = Counter()
        self._best: Trial | None = None
        self._least_s = 0.0

    def __enter__(self) -> LiveProgress:
        self._display.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._display.stop()

    def stage(self, text: str, total: int, least_s: float = 0.0) -> None:
        """Begin a new stage of `total` trials; `least_s` is the roofline's least time, if known."""
        with self._lock:
            if self._task is not None:
                self._display.remove_task(self._task)
            self._failed, self._best, self._least_s = Counter(), None, least_s
            self._display.words = ""
            self._task = self._display.add_task(text, total=total)

    def trial(self, trial: Trial) -> None:
        """Count a finished trial."""
        with self._lock:
            if self._task is None:
                return
            if trial.status is not Status.CORRECT:
                self._failed[trial.status] += 1
            elif trial.time_s and (self._best is None or trial.time_s < _time_s(self._best)):
                self._best = trial
            words = self._words()
            self._display.words = words if self._is_unicode else words.replace("µ", "u")
            self._display.advance(self._task)

    def _words(self) -> str:
        parts = []
        if self._best is not None:
            time = time_text(self._best.time_s)
            parts.append(f"best {estimated(time) if self._best.is_predicted else time}")
            if self._least_s:
                share = share_text(self._least_s / _time_s(self._best))
                parts.append(f"{share} of the roofline")
        if self._failed:
            each = ", ".join(f"{self._failed[s]} {s}" for s in Status if self._failed[s])
            parts.append(f"{self._failed.total()} failed: {each}")
        return "; ".join(parts)


def _time_s(trial: Trial) -> float:
    return trial.time_s or 0.0
