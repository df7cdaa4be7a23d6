"""Compiles variants before they are checked, several at once, so that checks find libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from annotune.measure.check import CheckPlan
from annotune.measure.compile import (
    CompileJob,
    CompileResult,
    Source,
    compile_job,
    digest_of,
    keep,
    recall,
)
from annotune.measure.harness import ENTRY
from annotune.measure.joint import alone_flags, joint_source, may_join, numbered
from annotune.measure.oracle import Oracle
from annotune.measure.variant import Variant, code_of, compile_job_of

TOGETHER = 32
"""So many variants share a compilation at most: gcc takes half a second for short ones."""

AHEAD_LIMIT_S = 10.0
"""What compiles for longer is left to its check, so that one hang does not hold up the others."""

NICENESS = 19
"""Compilers make way for what is being timed meanwhile."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A variant whose library is not there yet, and the job that makes it."""

    variant: Variant
    job: CompileJob
    digest: str


def compile_ahead(
    variants: Sequence[Variant], plan: CheckPlan, oracle: Oracle, niceness: int = NICENESS
) -> None:
    """Put what `Checker.check` of these variants by `plan` will look for into the oracle's folder.

    Variants of the same flags share a compilation. One that fails is repeated by halves, so
    that none suffers from its company; what does not compile alone is left to the check, which
    says why.
    """
    groups: dict[tuple[object, ...], list[_Wanted]] = {}
    for one in _wanted(variants, plan, oracle):
        job = one.job
        is_joint = oracle.tools.c is not None and may_join(
            job.kind, oracle.region, oracle.tools.c.version
        )
        key = (job.kind, job.optimisation) if is_joint else (one.digest,)
        groups.setdefault(key, []).append(one)
    for group in groups.values():
        size = ceil(len(group) / ceil(len(group) / TOGETHER))
        for first in range(0, len(group), size):
            _compile(group[first : first + size], oracle, niceness)


def _wanted(variants: Sequence[Variant], plan: CheckPlan, oracle: Oracle) -> Iterator[_Wanted]:
    """Yield each program once that has no library yet."""
    seen: set[str] = set()
    for variant in variants:
        limit_s = min(plan.compile_limit_s, AHEAD_LIMIT_S)
        try:
            job = compile_job_of(variant, variant.kind, oracle, limit_s, plan.arch)
        except ValueError:  # the text holds what cannot be compiled as this kind
            continue
        digest = digest_of(job, oracle.tools)
        if digest not in seen and recall(digest, oracle.folder / "compiled") is None:
            seen.add(digest)
            yield _Wanted(variant, job, digest)


def _compile(group: Sequence[_Wanted], oracle: Oracle, niceness: int) -> None:
    """Compile a group at once, or by halves where that fails."""
    folder = oracle.folder / "compiled"
    if len(group) == 1:
        compile_job(group[0].job, oracle.tools, folder, niceness)
        return
    try:
        codes = [code_of(one.variant, one.job.kind) for one in group]
        text = joint_source(oracle.source, oracle.region, codes)
    except ValueError:
        text = ""
    if text:
        job = replace(
            group[0].job,
            sources=(Source(text),),
            flags=(*group[0].job.flags, *alone_flags(len(group))),
        )
        made = compile_job(job, oracle.tools, folder, niceness)
        # Of words that make a variant invalid a joint text does not tell whose they are.
        if made.ok and not made.invalid and _has_all(made, len(group)):
            share_s = made.time_s / len(group)
            parts = [
                replace(made, digest=one.digest, entry=numbered(ENTRY, n), time_s=share_s)
                for n, one in enumerate(group)
            ]
            keep(parts, folder)
            return
    middle = len(group) // 2
    _compile(group[:middle], oracle, niceness)
    _compile(group[middle:], oracle, niceness)


def _has_all(made: CompileResult, count: int) -> bool:
    """Return whether a library has so many entries: no part swallowed the beginning of the next."""
    symbols = made.path.read_bytes()
    return all(f"{numbered(ENTRY, n)}\0".encode() in symbols for n in range(count))
