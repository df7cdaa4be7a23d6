"""Compiles variants before they are checked, so that the check finds their libraries made."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from annotune.measure.check import CheckPlan
from annotune.measure.compile import compile_job
from annotune.measure.oracle import Oracle
from annotune.measure.variant import Variant, compile_job_of


def compile_ahead(variants: Sequence[Variant], plan: CheckPlan, oracle: Oracle) -> None:
    """Put what `Checker.check` of these variants by `plan` will look for into the oracle's folder.

    What does not compile is left to the check, which says why.
    """
    for variant in variants:
        with suppress(ValueError):  # the text holds what cannot be compiled as this kind
            job = compile_job_of(variant, variant.kind, oracle, plan.compile_limit_s, plan.arch)
            compile_job(job, oracle.tools, oracle.folder / "compiled")
