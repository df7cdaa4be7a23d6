"""The text that a target writes for one region and for one file."""

from __future__ import annotations

from dataclasses import dataclass

from annotune.ir.region import Condition

TUNED_SUFFIX = "_tuned"
"""Ends the name of a kernel for the tuned sizes, where another one is there for all sizes."""


@dataclass(frozen=True, slots=True)
class RegionCode:
    """What one target writes for one region.

    `body` replaces the annotated text in the user's file, from the first annotation's opener
    to the last one's closer. `helper` is C that must stand at file scope before the
    enclosing function, empty when there is none. `device` is the region's part of ``S.cu``,
    empty for the targets that stay in C; `functions` are definitions before it, which ``S.cu``
    holds once, whatever regions call them. The text is right under `conditions` alone, beside
    those of the region.
    """

    body: str
    helper: str = ""
    device: str = ""
    functions: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
