"""A point of the space as flat settings, for tables and results."""

from __future__ import annotations

from annotune.decide.acc_shapes import RECIPE
from annotune.decide.decision import Decision, Point
from annotune.decide.movement import described
from annotune.decide.placement import acc_levels
from annotune.decide.plan import Candidate
from annotune.transforms.hold import Hold
from annotune.transforms.peel import Peel
from annotune.transforms.stage import Stage

ACC_PLACES = ("gang", "worker", "vector")


def config(decision: Decision, point: Point) -> dict[str, str | int]:
    """Return a point as a flat mapping for tables and results: names to values."""
    out: dict[str, str | int] = {}
    for name, value in point.params.items():
        out[name] = value if isinstance(value, int | str) else str(value)
    for choice in decision.choices:
        prefix = f"S{choice.leader}"
        if len(choice.parts) > 1:
            out[f"{prefix}.fused"] = ",".join(map(str, choice.statements))
        step = choice.mapping
        if step is not None and step.command == "acc" and choice.shape in ("", RECIPE):
            out |= {f"{prefix}.{n}": ",".join(step.on(n)) or "-" for n in ACC_PLACES}
        elif choice.shape:
            out |= form_settings(choice)
        else:
            if choice.merges:
                out[f"{prefix}.merged"] = " ".join(map(",".join, choice.merges))
            out[f"{prefix}.block"] = ",".join(choice.blocks) or "-"
            out[f"{prefix}.thread"] = ",".join(choice.shared) or "-"
            if choice.contract is not None:
                out[f"{prefix}.tile"] = str(choice.contract)
            if choice.moves:
                out[f"{prefix}.movement"] = described(choice.moves)
            picked = point.picked.get(choice.leader)
            is_cut = picked is not None and bool(picked.origin)
            if is_cut and choice.contract is None:
                out |= {f"{prefix}.tile_{loop}": size for loop, size in choice.tiles}
            out |= _copies(choice)
        if choice.max_blocks:
            out[f"{prefix}.max_blocks"] = choice.max_blocks
        for statement, loop, factor in choice.unroll:
            out[f"S{statement}.unroll_{loop}"] = factor
    return out


def _copies(choice: Candidate) -> dict[str, str]:
    """Return what a choice copies and holds, where that is no part of a contraction's tile."""
    out = {f"S{step.statement}.peel": ",".join(step.loops) for step in choice.of(Peel)}
    if choice.contract is not None:
        return out
    for copy in choice.of(Stage):
        name = f"S{copy.statement}.stage"
        out[name] = f"{out[name]},{copy.array}" if name in out else copy.array
    out |= {f"S{step.statement}.hold": step.loop for step in choice.of(Hold)}
    return out


def form_settings(choice: Candidate) -> dict[str, str | int]:
    """Return what OpenACC makes of a choice: its shape, the loops of each level, and tiles."""
    if not choice.shape:
        return {}
    levels = acc_levels(choice)
    out: dict[str, str | int] = {"shape": choice.shape}
    for level in ACC_PLACES:
        out[level] = ",".join(name for name, place in levels.items() if place == level) or "-"
    out |= {f"tile_{loop}": size for loop, size in choice.tiles}
    return {f"S{choice.leader}.{name}": value for name, value in out.items()}
