"""The library by which a measuring child empties the caches of the processor."""

from __future__ import annotations

from pathlib import Path

from annotune.measure.compile import CompileJob, Source, compile_job
from annotune.measure.oracle import Oracle

_TEXT = (Path(__file__).parent / "runtime" / "evict.c").read_text()


def evictor(oracle: Oracle) -> str:
    """Return the path of the library, compiled once, or nothing where that cannot be done."""
    built = compile_job(CompileJob((Source(_TEXT),), "c"), oracle.tools, oracle.folder / "compiled")
    return str(built.path) if built.ok else ""
