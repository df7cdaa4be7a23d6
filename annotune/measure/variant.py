"""The text of one variant, and the compilation that makes a library of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotune.codegen.code import RegionCode
from annotune.measure.branches import BODY, DEVICE, HELPER, declared, marked
from annotune.measure.compile import COMPILE_LIMIT_S, CompileJob, Source, digest_of
from annotune.measure.cuda_text import translate, with_small_grids
from annotune.measure.flags import KINDS, RUNTIME_FOLDER
from annotune.measure.gpu import timed_device_text
from annotune.measure.harness import quoted, variant_source
from annotune.measure.near_limits import with_near_limits
from annotune.measure.oracle import Oracle

MARKED = "-marked"
"""Ends the kinds whose texts tell which of their branches were run."""

NEAR_LIMITS = "-near-limits"
"""Ends the kinds whose texts have limits that sizes reach."""

# What a kind's C must become before the compiler takes it; imported when used.
_REWRITES: Mapping[str, str] = {
    "openacc": "annotune.measure.acc_memory:with_memory",
    "openacc-asan": "annotune.measure.acc_memory:sanitized",
    "openacc-race": "annotune.measure.acc_memory:as_openmp_with_memory",
    "openacc-ordered": "annotune.measure.acc_memory:as_openmp_with_memory",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of a region: its text, and how it is compiled.

    `kind` is out of `annotune.measure.flags.KINDS`: ``openmp``, ``openacc``, ``cuda-cpu``,
    ``c``, or ``cuda-gpu`` and ``openacc-gpu``, which need a GPU. `device` is the whole of ``S.cu``
    for a CUDA variant, empty for the others; where it is empty and `code.device` is not,
    `code.device` stands for it. `optimisation` replaces
    ``-O2`` in a tuned CPU variant, and adds flags; `nvcc` are flags for that
    compiler alone. `config` is what the trial reports.
    """

    target: str
    kind: str
    code: RegionCode
    device: str = ""
    optimisation: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()
    config: Mapping[str, str | int | float] = field(default_factory=dict)

    @property
    def device_text(self) -> str:
        return self.device or self.code.device


def compile_job_of(
    variant: Variant,
    kind: str,
    oracle: Oracle,
    limit_s: float = COMPILE_LIMIT_S,
    arch: str = "",
) -> CompileJob:
    """Return the compilation of `variant` as `kind`; ValueError when the text cannot be."""
    before = declared(HELPER) + declared(BODY) if kind.endswith(MARKED) else ""
    code = code_of(variant, kind)
    sources = [Source(before + variant_source(oracle.source, oracle.region, code))]
    sources += [Source((RUNTIME_FOLDER / name).read_text()) for name in KINDS[kind].beside]
    if variant.device_text:
        sources.append(_device_source(variant.device_text, kind, oracle))
    return CompileJob(
        tuple(sources),
        kind,
        oracle.flags,
        optimisation=variant.optimisation,
        nvcc=variant.nvcc,
        arch=arch or "sm_90",
        limit_s=limit_s,
    )


def code_of(variant: Variant, kind: str) -> RegionCode:
    """Return the C of `variant` as the compilers of `kind` take it; ValueError when they cannot."""
    code = variant.code
    if kind.endswith(MARKED):
        helper, body = marked(code.helper, HELPER), marked(code.body, BODY)
        return replace(code, helper=helper, body=body)
    if kind.endswith(NEAR_LIMITS):
        helper, body = with_near_limits(code.helper), with_near_limits(code.body)
        return replace(code, helper=helper, body=body)
    if kind not in _REWRITES:
        return code
    rewrite = _function(_REWRITES[kind])
    return replace(code, body=rewrite(code.body), helper=rewrite(code.helper))


def _device_source(text: str, kind: str, oracle: Oracle) -> Source:
    """Return ``S.cu`` for a real GPU, or as the C++ that plays it on this CPU."""
    if "nvcc" in KINDS[kind].compilers.values():
        return Source(timed_device_text(text), "cuda")
    if kind.endswith("-small"):
        text = with_small_grids(text)
    if kind.endswith(NEAR_LIMITS):
        text = with_near_limits(text)
    before = ""
    if kind.endswith(MARKED):
        before = f'extern "C" {{\n{declared(DEVICE)}}}\n'
        text = marked(text, DEVICE)
    name = f"#line 1 {quoted(Path(oracle.source.path).stem + '.cu')}\n"
    return Source(before + name + translate(text), "c++")


def _function(name: str) -> Callable[[str], str]:
    module, _, attribute = name.partition(":")
    function: Callable[[str], str] = getattr(importlib.import_module(module), attribute)
    return function


def texts_of(variant: Variant) -> Mapping[str, str]:
    """Return the texts of a variant by the arrays of marks that they may get."""
    if variant.device_text:
        # What is beside it only calls it.
        return {DEVICE: variant.device_text}
    return {HELPER: variant.code.helper, BODY: variant.code.body}


def digest_of_variant(variant: Variant, oracle: Oracle) -> str:
    """Return the hash of the program that `variant` is: equal hashes need one measurement."""
    try:
        return digest_of(compile_job_of(variant, variant.kind, oracle), oracle.tools)
    except ValueError:
        return ""
