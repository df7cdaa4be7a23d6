"""What results.json holds of the finals, written and read."""

from __future__ import annotations

import math
from typing import Any

from annotune.measure.trial import Final, Verdict
from annotune.report.json_reader import Node


def final_json(final: Final | None) -> dict[str, Any] | None:
    """Return the figures of the finals; None also where one of them is not finite."""
    if final is None:
        return None
    figures = {
        "time_s": final.time_s,
        "low_s": final.low_s,
        "high_s": final.high_s,
        "ratio": final.ratio,
        "ratio_low": final.ratio_low,
        "ratio_high": final.ratio_high,
    }
    if not all(map(math.isfinite, (*figures.values(), *final.times_s))):
        return None
    return {"verdict": str(final.verdict), **figures, "times_s": list(final.times_s)}


def read_final(node: Node) -> Final:
    """Return the figures that `final_json` wrote."""
    return Final(
        verdict=node["verdict"].one_of(Verdict, iter(Verdict)),
        time_s=node["time_s"].figure(),
        low_s=node["low_s"].figure(),
        high_s=node["high_s"].figure(),
        ratio=node["ratio"].figure(),
        ratio_low=node["ratio_low"].figure(),
        ratio_high=node["ratio_high"].figure(),
        times_s=node["times_s"].items(Node.figure),
    )
