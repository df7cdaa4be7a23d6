"""What was measured on an H200 and which choice each figure is of, for tests of the model.

``measured_h200.tsv``: kernels alone, microseconds, medians where a kernel was measured more than
once; docs/hardware.md says when and how. Registers and spills are ptxas's for sm_90, empty where
they were not recorded. `size` is the extent of every loop of the triples kernels, lx of
local_grad3 with 1000 elements, and m = n = k of gemm.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from decide.recipes import Decided, decided, decided_example, example

from annotune.annotation.devices import Device
from annotune.model.predict import predict
from annotune.model.traffic import Compiled
from annotune.schedule.candidate import Candidate, ContractionTile
from annotune.schedule.units import Unit
from annotune.strategies.direct import choose, grid
from annotune.strategies.gpu_tile import choose_tile
from annotune.strategies.nests import contraction

TABLE = Path(__file__).parent / "measured_h200.tsv"
_TILE = re.compile(r"(\w+):(\d+) (\w+):(\d+) threads, (\w+):(\d+) x (\w+):(\d+) each, (\w+):(\d+)")
_ROLES = re.compile(r"(fused )?block (\w+)(?:,(\w+))? thread (\w+)(?:,(\w+))?")
_SCALARS = {"d1": "h7u", "d2": "p7u"}


@dataclass(frozen=True)
class Measured:
    """One line of the table; `compiled` is None where it was not recorded."""

    function: str
    size: int
    choice: str
    time_us: float
    compiled: Compiled | None

    @property
    def kind(self) -> str:
        """Return how its loops were mapped: ``tile`` or ``direct``."""
        return "tile" if _TILE.fullmatch(self.choice) else "direct"

    @property
    def group(self) -> str:
        return f"{self.kind} {self.function} {self.size}"

    def kernels(self) -> list[tuple[Unit, Candidate]]:
        """Return the kernels behind the figure, in order."""
        one = _decided(self.function, self.size)
        if found := _TILE.fullmatch(self.choice):
            words = found.groups()
            pairs = [(words[k], int(words[k + 1])) for k in range(0, len(words), 2)]
            (unit,) = one.base.nests("footprint", one.decision.asked)
            parts = contraction(unit)
            assert not isinstance(parts, str)
            return [(unit, choose_tile(unit, parts, ContractionTile(*pairs)))]
        if found := _ROLES.fullmatch(self.choice):
            fused, block_x, block_y, thread_x, thread_y = found.groups()
            units = one.base.nests("all" if fused else "footprint", one.decision.asked)
            threads = [name for name in (thread_x, thread_y) if name]
            blocks = [name for name in (block_x, block_y) if name]
            return [(unit, choose(unit, grid(unit, threads, blocks))) for unit in units]
        units = one.base.nests("footprint", one.decision.asked)
        return [(unit, choose(unit)) for unit in units]

    def predicted_us(self, device: Device, with_registers: bool = True) -> float:
        """Return the model's time; `with_registers` hands in what ptxas said."""
        known = self.compiled if with_registers else None
        return sum(predict(u, c, device, known).time_s for u, c in self.kernels()) * 1e6


@cache
def _decided(function: str, size: int) -> Decided:
    if function == "gemm":
        return decided_example("gemm/gemm.c", function, sizes=dict.fromkeys("mnk", size))
    if function == "local_grad3":
        defines = {"lx": str(size), "nelt": "1000"}
        return decided(example("nekbone/local_grad3.c", function, defines=defines))
    kind = function.split("_")[2]
    names = ["h3u", "h2u", "h1u", "p6u", "p5u", "p4u"]
    names += [_SCALARS[kind]] if kind in _SCALARS else []
    return decided_example(f"nwchem/sd_t_{kind}.c", function, sizes=dict.fromkeys(names, size))


def recorded() -> Iterator[Measured]:
    """Yield the lines of the table."""
    with TABLE.open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            compiled = None
            if row["registers"]:
                stores, loads = int(row["spill_store_bytes"]), int(row["spill_load_bytes"])
                compiled = Compiled(int(row["registers"]), stores, loads)
            yield Measured(
                row["function"],
                int(row["size"]),
                row["choice"],
                float(row["measured_us"]),
                compiled,
            )
