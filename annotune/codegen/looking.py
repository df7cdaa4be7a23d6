"""What the host runs before it copies, to learn which elements a call touches."""

from __future__ import annotations

from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.writer import Writer
from annotune.diagnostics import AnnotuneError, Severity


def look_text(analysis: Analysis, dialect: Dialect) -> str:
    """Return what the host runs, empty where sizes and switches alone say what is touched.

    Raises:
        AnnotuneError: The conditions have no value yet when copies are made.
    """
    if analysis.unseen:
        errors = (replace(one, severity=Severity.ERROR) for one in analysis.unseen)
        raise AnnotuneError.of(*errors)
    out = Writer()
    if analysis.look:
        out.line("/* Conditions decide which elements are touched, and no others need be there: */")
        dialect.write_body(out, analysis.look)
    return out.text()
