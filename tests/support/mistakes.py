"""annotune's own mistakes, which a test must see: they end it, rather than one region.

The command line turns such a mistake into a diagnostic, so that other regions go on. A test, or a
fuzzer, that takes a refusal for an answer would take that for one, too.
"""

from __future__ import annotations

from typing import NoReturn

from annotune import diagnostics
from annotune.diagnostics import AnnotuneError, Span

REPORTED = diagnostics.internal_error
"""What the command line does of a mistake; the tests of just that put it back."""


def let_through() -> None:
    """Have mistakes of annotune's own raised as they are, in this process."""
    diagnostics.internal_error = _raised


def _raised(error: Exception, span: Span) -> NoReturn:
    raise error


def is_mistake(refusal: AnnotuneError) -> bool:
    """Return whether a refusal is a mistake of annotune's own."""
    return any(one.code == diagnostics.INTERNAL.code for one in refusal.diagnostics)
