"""Printed lines without what differs from one machine, and from one run, to the next."""

from __future__ import annotations

import re

_FIGURE = r"\(?~?\d[\d.]*( ± <?[\d.]+)?( ?(s|[mµn]s|[kMG]?(flop|B))\b|%|x\b)?\)?"


def masked(line: str) -> str:
    """Return a line without its figures, and without the device that they are of."""
    line = re.sub(r"(measured on|predicted for) .*", r"\1", line)
    return " ".join(re.sub(_FIGURE, "#", line).split())
