"""Which instructions a piece of machine code consists of, by what they keep busy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from machine_code.sass import Instruction

# Multiplications with addition of one thread's registers, which are the work of a contraction.
FUSED = ("DFMA", "FFMA", "HFMA2", "DMMA")
_OTHER_REALS = ("DADD", "DMUL", "FADD", "FMUL")
# LDGSTS, the PTX's cp.async, goes from global to shared memory without registers.
_MEMORY = ("LDS", "STS", "LDG", "STG", "LDGSTS")


@dataclass(frozen=True)
class Mix:
    """Counts of instructions; loads and stores by the bytes of one thread's access.

    `fused` counts each opcode of `FUSED` that is there, `reals` other additions and
    multiplications of reals. `copies` are LDGSTS, which count as no load and no store. `local`
    are accesses to a thread's own memory, which spilled registers cause.
    """

    fused: Mapping[str, int] = field(default_factory=dict)
    reals: int = 0
    shared_loads: Mapping[int, int] = field(default_factory=dict)
    shared_stores: Mapping[int, int] = field(default_factory=dict)
    global_loads: Mapping[int, int] = field(default_factory=dict)
    global_stores: Mapping[int, int] = field(default_factory=dict)
    copies: Mapping[int, int] = field(default_factory=dict)
    barriers: int = 0
    local: int = 0
    other: int = 0

    @property
    def fused_total(self) -> int:
        return sum(self.fused.values())

    @property
    def fused_per_shared_load(self) -> float | None:
        """Return the fused operations per load from shared memory, None without such loads."""
        loads = sum(self.shared_loads.values())
        return self.fused_total / loads if loads else None


def mean_bytes(counts: Mapping[int, int]) -> float | None:
    """Return the mean bytes of one thread's access, None where there is no access."""
    total = sum(counts.values())
    return sum(width * n for width, n in counts.items()) / total if total else None


def mix_of(instructions: Iterable[Instruction]) -> Mix:
    """Return the counts of `instructions` but for those that never run: NOP, and ``@!PT``."""
    fused: Counter[str] = Counter()
    widths: dict[str, Counter[int]] = {name: Counter() for name in _MEMORY}
    reals = barriers = local = other = 0
    for one in instructions:
        name = one.name
        if name == "NOP" or one.guard == "!PT":
            continue
        if name in FUSED and not _is_move(one):
            fused[name] += 1
        elif name in _OTHER_REALS:
            reals += 1
        elif name in widths:
            widths[name][one.width_bytes] += 1
        elif name == "BAR":
            barriers += 1
        elif name in ("LDL", "STL"):
            local += 1
        else:
            other += 1
    return Mix(
        fused=dict(fused),
        reals=reals,
        shared_loads=_sorted(widths["LDS"]),
        shared_stores=_sorted(widths["STS"]),
        global_loads=_sorted(widths["LDG"]),
        global_stores=_sorted(widths["STG"]),
        copies=_sorted(widths["LDGSTS"]),
        barriers=barriers,
        local=local,
        other=other,
    )


def _sorted(counts: Counter[int]) -> Mapping[int, int]:
    return dict(sorted(counts.items()))


def _is_move(one: Instruction) -> bool:
    """Return whether an HFMA2 only moves a constant: ``HFMA2.MMA R27, -RZ, RZ, 0, 0``."""
    return one.name == "HFMA2" and "-RZ, RZ" in one.operands
