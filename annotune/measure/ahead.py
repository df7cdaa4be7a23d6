"""Compiles variants before they are checked, several at once, so that checks find libraries.

Several variants of one region share a C text, each with an entry of its own: the user's file, its
headers, the start of the compiler and the link are then paid once. What the compiler makes of a
variant must be what it makes of it alone, or times would depend on the company: `alone_flags`, and
a test that compares the machine code, see to that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from annotune.codegen.target import RegionCode
from annotune.ir.region import Region, SourceFile
from annotune.measure.check import CheckPlan
from annotune.measure.compile import (
    KINDS,
    CompileJob,
    CompileResult,
    Source,
    compile_job,
    digest_of,
    keep,
    recall,
)
from annotune.measure.harness import ENTRY, REGION, file_head, variant_part
from annotune.measure.oracle import Oracle
from annotune.measure.variant import Variant, code_of, compile_job_of

# gcc's limits on a whole unit, gcc 12's own: how many instructions make it a large one, whose
# inlining and cloning may add no more than a share of it.
_LARGE_UNITS = {"large-unit-insns": 8_000, "ipa-cp-large-unit-insns": 16_000}

# The directives that end where they stand: after them the next part reads as if it were alone.
_HARMLESS = (
    r"(?:if|ifdef|ifndef|elif|else|endif|line|error)\b"
    r"|pragma[ \t]+(?:omp|acc|GCC[ \t]+(?:unroll|ivdep))\b"
)
_DIRECTIVE = re.compile(rf"^[ \t]*(?:#|%:)[ \t]*+(?!{_HARMLESS})", re.MULTILINE)
_NOISE = re.compile(
    r"/\*.*?\*/|//(?:\\\n|[^\n])*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*(?:#|%:)(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\S")
_NAME = re.compile(r"[A-Za-z_]\w*")
# Words of the language and of gcc: _Alignas, __attribute__.
_RESERVED = re.compile(r"_[A-Z_]")


def alone_flags(count: int) -> tuple[str, ...]:
    """Return the flags by which gcc makes of each of `count` parts what it makes of one alone.

    Equal functions of two variants must stay two, and the growth that inlining and cloning may
    cause is limited for a unit as a whole, which here is `count` times as large.
    """
    limits = (f"--param={name}={count * limit}" for name, limit in _LARGE_UNITS.items())
    return ("-fno-ipa-icf", *limits)


def may_join(kind: str, region: Region, version: str) -> bool:
    """Return whether variants of `region` may share a compilation as `kind`.

    Only C that gcc alone makes a library of; and no function of the user's that the region
    calls: several callers instead of one change what the compiler inlines.
    """
    way = KINDS[kind]
    is_plain = set(way.compilers) == {"c"} and way.native and not way.fixed_optimisation
    return is_plain and not region.functions and "clang" not in version


def joint_source(source: SourceFile, region: Region, codes: Sequence[RegionCode]) -> str:
    """Return C with the user's file once, and below it an entry for each of `codes`.

    Each part is, character by character, what stands below the file when it is compiled alone;
    macros give its functions names of their own.

    Raises:
        ValueError: One of the texts has a directive, such as a macro, that would reach the next.
    """
    user = set(_NAME.findall(source.text))
    parts = [file_head(source)]
    for number, code in enumerate(codes):
        if _DIRECTIVE.search(f"{code.helper}\n{code.body}"):
            raise ValueError("the text of a variant has a directive that lasts")
        # What the user's file has a name for is not the variant's to rename.
        names = [ENTRY, REGION, *sorted(file_scope_names(code.helper) - user)]
        parts += [f"#define {name} {numbered(name, number)}\n" for name in names]
        parts.append(variant_part(region, code))
        parts += [f"#undef {name}\n" for name in names]
    return "".join(parts)


def numbered(name: str, number: int) -> str:
    """Return what `joint_source` calls a name of file scope in its part `number`."""
    return f"{name}_{number}"


def file_scope_names(text: str) -> set[str]:
    """Return the functions, variables and types that C definitions in `text` name.

    What is overlooked here collides and fails to compile, so that each is compiled alone; what
    would be merged without a word, variables without a value, is among the names.
    """
    found: set[str] = set()
    depth = 0
    before = last = ""
    for token in _TOKEN.findall(_NOISE.sub(" ", text)):
        if not depth and _NAME.fullmatch(last):
            is_tag = token == "{" and before in ("struct", "union", "enum")
            is_own = token in "([=;," and not _RESERVED.match(last) and before not in ("", ";", "}")
            if is_tag or is_own:
                found.add(last)
        depth += (token in "({[") - (token in ")}]")
        before, last = last, token
    return found


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
