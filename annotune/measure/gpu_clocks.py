"""At which clock a GPU runs, and what slows it down: read, never changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from annotune.measure.command import run_command
from annotune.measure.gpu import FIND_LIMIT_S, Ask, Gpu, is_same_uuid

_CLOCKS = (
    "nvidia-smi",
    "--query-gpu=uuid,clocks.sm,clocks_throttle_reasons.active",
    "--format=csv,noheader,nounits",
)
_ROW = re.compile(r"^(?P<uuid>[^,\n]*), *(?P<mhz>\d+), *0x(?P<reasons>[0-9a-fA-F]+)$", re.MULTILINE)

# nvml.h, nvmlClocksThrottleReasons: those that mean less speed than asked for. An idle GPU, a
# clock that its owner has set and the clock of a display are no disturbance.
SLOWED: Mapping[int, str] = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clock of the multiprocessors in MHz, and in words what keeps it down."""

    sm_mhz: int
    slowed_by: tuple[str, ...]

    @property
    def words(self) -> str:
        """Return both for a reader."""
        return f"{', '.join(self.slowed_by) or 'nothing slows it'}, at {self.sm_mhz} MHz"


def read_clocks(gpu: Gpu, ask: Ask | None = None) -> Clocks | None:
    """Return the clocks of `gpu` now, None where nobody tells."""
    finished = (ask or (lambda: run_command(_CLOCKS, FIND_LIMIT_S)))()
    for row in _ROW.finditer(finished.output) if finished.ok else ():
        if is_same_uuid(row["uuid"], gpu):
            bits = int(row["reasons"], 16)
            return Clocks(int(row["mhz"]), tuple(w for bit, w in SLOWED.items() if bits & bit))
    return None


def clock_facts(before: Clocks | None, after: Clocks | None) -> dict[str, str | int | float]:
    """Return for a trial's facts the clocks before and after it was measured, as far as known."""
    facts: dict[str, str | int | float] = {}
    for when, clocks in (("before", before), ("after", after)):
        if clocks is not None:
            facts[f"sm_mhz_{when}"] = clocks.sm_mhz
            facts[f"slowed_{when}"] = ", ".join(clocks.slowed_by) or "no"
    return facts
