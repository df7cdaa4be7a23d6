"""The copies between host and device around a region's kernels, and the time that they take."""

from __future__ import annotations

from dataclasses import dataclass

from annotune.analysis.facts import Analysis, ArrayUse
from annotune.annotation.devices import Device
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Int
from annotune.ir.fold import fold


@dataclass(frozen=True, slots=True)
class Copies:
    """The bytes that an entry copies to the device and back, at the region's sizes."""

    to_device: int
    to_host: int

    @property
    def total(self) -> int:
        return self.to_device + self.to_host


def copies(analysis: Analysis) -> Copies | str:
    """Return what the entry of a region copies, or why that is not known."""
    to_device = to_host = 0
    for name, use in analysis.uses.items():
        array = analysis.region.arrays.get(name)
        if array is None:
            continue  # a local array stays on the device
        length = fold(analysis.shapes[name].length, analysis.region.sizes)
        if not isinstance(length, Int):
            return f"the length of {name} is not known"
        size = max(0, length.value) * element_bytes(array.element)
        to_device += size if _comes_in(use) else 0
        to_host += size if use.is_written else 0
    return Copies(to_device, to_host)


def copy_time(moved: Copies, device: Device) -> float:
    """Return the seconds that copies take over the device's link to its host, one way at a time.

    A user's pages are not pinned, so the preset's rate for pageable memory counts. Allocation on
    the device is not in it (docs/model.md).
    """
    return moved.total / (device.pageable_host_link_gb_s * 1e9)


def _comes_in(use: ArrayUse) -> bool:
    return use.is_read or not use.overwritten
