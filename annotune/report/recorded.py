"""What a program has recorded of its regions, for people."""

from __future__ import annotations

from collections.abc import Iterator

from annotune.measure.capture.records import AtSizes, RecordedRegion, Records
from annotune.report.figures import count_text, time_text

# So many sizes of a region are listed.
SHOWN = 8


def records_lines(records: Records) -> Iterator[str]:
    """Yield what each region took of the time, at which sizes, and what is kept of its calls."""
    for region in sorted(records.regions, key=lambda one: -one.time_s):
        share = region.time_s / records.program_s if records.program_s else 0.0
        yield (
            f"{region.function}, region {region.index}: {_times(region.calls, 'call')}, "
            f"{time_text(region.time_s)}, {share:.0%} of the program"
        )
        yield from _sizes(region)
    processes = _times(records.processes, "process")
    yield f"{count_text(records.size_bytes, 'B')} of arrays from {processes} in {records.folder}"


def _sizes(region: RecordedRegion) -> Iterator[str]:
    for at in region.at[:SHOWN]:
        yield f"  {_words(at)}"
    rest = region.at[SHOWN:]
    if rest:
        yield f"  and at {_times(len(rest), 'further set')} of sizes"
    if region.others:
        yield f"  {_times(region.others, 'call')} at further sizes were counted alone"


def _words(at: AtSizes) -> str:
    sizes = ", ".join(f"{name}={value}" for name, value in at.sizes.items()) or "any size"
    beyond = f", {at.beyond_bound} did not fit into --max-bytes" if at.beyond_bound else ""
    failed = f", {at.failed} could not be read or written" if at.failed else ""
    kept = f"{len(at.kept)} kept{beyond}{failed}"
    return f"{sizes}: {_times(at.calls, 'call')}, {time_text(at.time_s)}, {kept}"


def _times(count: int, what: str) -> str:
    """Return a count of things: ``1 call``, ``3 calls``, ``2 processes``."""
    plural = "es" if what.endswith("s") else "s"
    return f"{count} {what}{'' if count == 1 else plural}"
