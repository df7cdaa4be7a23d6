"""A point of the space as flat settings, for tables and results."""

from __future__ import annotations

from annotune.decide.decision import Decision, Point


def config(decision: Decision, point: Point) -> dict[str, str | int]:
    """Return a point as a flat mapping for tables and results: names to values."""
    out: dict[str, str | int] = {}
    for name, value in point.params.items():
        out[name] = value if isinstance(value, int | str) else str(value)
    for choice in decision.choices:
        prefix = f"S{choice.leader}"
        if len(choice.parts) > 1:
            out[f"{prefix}.fused"] = ",".join(map(str, choice.statements))
        if choice.acc is not None:
            for level in ("gang", "worker", "vector"):
                out[f"{prefix}.{level}"] = ",".join(getattr(choice.acc, level)) or "-"
        else:
            out[f"{prefix}.block"] = ",".join(choice.blocks) or "-"
            out[f"{prefix}.thread"] = ",".join(choice.shared) or "-"
            if choice.contract is not None:
                out[f"{prefix}.tile"] = str(choice.contract)
            if choice.leader in point.launches:
                out |= {f"{prefix}.tile_{loop}": size for loop, size in choice.tiles}
        if choice.max_blocks:
            out[f"{prefix}.max_blocks"] = choice.max_blocks
        for statement, loop, factor in choice.unroll:
            out[f"S{statement}.unroll_{loop}"] = factor
    return out
