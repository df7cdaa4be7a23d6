"""The rows of judged workloads as a table for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from machine_code.judge import KernelRow, WorkloadRow
from machine_code.mix import Mix, mean_bytes
from machine_code.shared import conflict_factor

MISSING = "-"
HEADINGS = (
    ("workload", "kernel"),
    ("", "regs"),
    ("spill", "st/ld"),
    ("shared", "bytes"),
    ("", "threads"),
    ("blocks", "per SM"),
    ("occu-", "pancy"),
    ("", "limit"),
    ("hottest", "part"),
    ("", "FMA"),
    ("other", "real"),
    ("LDS", "8/16"),
    ("", "STS"),
    ("", "LDG"),
    ("", "STG"),
    ("", "BAR"),
    ("", "other"),
    ("FMA/", "LDS"),
    ("bytes", "/LDG"),
    ("bytes", "/STG"),
    ("bank", "use/fill"),
    ("predicted", "us"),
    ("predicted", "roofline"),
)


def table(rows: Sequence[WorkloadRow]) -> str:
    """Return the table, a line per kernel; figures of a region stand with its first kernel."""
    lines = [tuple(top for top, _ in HEADINGS), tuple(below for _, below in HEADINGS)]
    notes: list[str] = []
    for row in rows:
        if row.problem:
            notes.append(f"{row.workload.name}: not available because {row.problem}")
        for number, kernel in enumerate(row.kernels):
            lines.append(_cells(row, kernel, number))
            if kernel.hot is None:
                notes.append(
                    f"{kernel.kernel}: hottest part not available because {kernel.why_not}"
                )
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    text = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([*text, *_shortened(notes)])


def _shortened(notes: Sequence[str]) -> list[str]:
    """Return the notes, one line for all kernels that lack a part for one reason."""
    reasons: dict[str, list[str]] = {}
    for note in notes:
        subject, _, reason = note.partition(": ")
        reasons.setdefault(reason, []).append(subject)
    every = {r: s if len(s) <= 3 else [f"{len(s)} kernels"] for r, s in reasons.items()}
    return [f"{', '.join(subjects)}: {reason}" for reason, subjects in every.items()]


def _cells(row: WorkloadRow, kernel: KernelRow, number: int) -> tuple[str, ...]:
    facts, held = kernel.facts, kernel.residency
    name = f"{row.workload.name} {kernel.kernel.rpartition('_')[2]}"
    use, fill = (conflict_factor(kernel.shared, filling) for filling in (False, True))
    predicted = row.predicted_s * 1e6 if row.predicted_s is not None else None
    share = row.roofline_share
    return (
        name,
        str(facts.registers),
        f"{facts.spill_store_bytes}/{facts.spill_load_bytes}",
        str(facts.shared_bytes),
        str(kernel.threads),
        str(held.blocks),
        f"{held.occupancy:.0%}",
        held.limit,
        *_part(kernel),
        MISSING if use is None and fill is None else f"{_number(use)}/{_number(fill)}",
        MISSING if number or predicted is None else f"{predicted:.1f}",
        MISSING if number or share is None else f"{share:.0%}",
    )


def _part(kernel: KernelRow) -> tuple[str, ...]:
    """Return the cells of the hottest part."""
    if kernel.hot is None:
        return (MISSING,) * 12
    mix = kernel.hot.mix
    return (
        f"loop {kernel.hot.depth}" if kernel.hot.depth else "straight",
        str(mix.fused_total),
        str(mix.reals),
        "/".join(str(mix.shared_loads.get(width, 0)) for width in (8, 16)),
        str(sum(mix.shared_stores.values())),
        str(sum(mix.global_loads.values()) + sum(mix.copies.values())),
        str(sum(mix.global_stores.values())),
        str(mix.barriers),
        str(mix.other + mix.local),
        _number(mix.fused_per_shared_load),
        _number(mean_bytes(mix.global_loads)),
        _number(mean_bytes(mix.global_stores)),
    )


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.3g}"


def json_form(rows: Sequence[WorkloadRow], device: str, tools: Mapping[str, str]) -> dict[str, Any]:
    """Return everything that is known of the rows as values for a JSON file."""
    return {
        "schema": 1,
        "predicted_for": device,
        "tools": dict(tools),
        "workloads": [_workload(row) for row in rows],
    }


def _workload(row: WorkloadRow) -> dict[str, Any]:
    return {
        "name": row.workload.name,
        "file": row.workload.file,
        "function": row.workload.function,
        "sizes": dict(row.workload.sizes),
        "predicted_s": row.predicted_s,
        "predicted_roofline_share": row.roofline_share,
        "problem": row.problem,
        "kernels": [_kernel(kernel) for kernel in row.kernels],
    }


def _kernel(kernel: KernelRow) -> dict[str, Any]:
    hot = kernel.hot
    facts = asdict(kernel.facts)
    return {
        "kernel": kernel.kernel,
        "ptxas": {name: facts[name] for name in facts if name != "name"},
        "threads": kernel.threads,
        "residency": asdict(kernel.residency),
        "shared": [
            {
                "access": one.text,
                "write": one.is_write,
                "filling": one.is_filling,
                **asdict(one.passes),
            }
            for one in kernel.shared
        ],
        "hottest": None if hot is None else {"part": hot.title, "mix": _mix(hot.mix)},
        "not_available_because": kernel.why_not,
    }


def _mix(mix: Mix) -> dict[str, Any]:
    return {
        **asdict(mix),
        "fused_per_shared_load": mix.fused_per_shared_load,
        "bytes_per_global_load": mean_bytes(mix.global_loads),
        "bytes_per_global_store": mean_bytes(mix.global_stores),
    }
