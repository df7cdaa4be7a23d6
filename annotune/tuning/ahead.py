"""What of a run needs no clock, done before: first choices compiled, and proved on this processor.

The run finds the proofs in its store and the libraries where they lie. Several such may be made at
once, which nothing that is timed bears.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotune.codegen.baseline import naive_openacc, naive_openmp
from annotune.codegen.recipes import listing_of
from annotune.codegen.target import RegionCode, Target
from annotune.diagnostics import AnnotuneError
from annotune.measure.check import grids_of
from annotune.measure.compile import COMPILE_LIMIT_S, KINDS
from annotune.measure.oracle import Oracle
from annotune.measure.program import Program, compile_ahead
from annotune.space.variants import Listing
from annotune.tuning.bench import program_of
from annotune.tuning.proving import unfinished_words
from annotune.tuning.region_run import ON_GPU, RegionRun, Tuned, original, untuned
from annotune.tuning.results import FIRST_ALONE
from annotune.tuning.tuner import original_program, predicted, prove

# What rows say that nobody sees: the run has rows of its own.
ONLY_AHEAD = "it was only made ready"


def prove_first(run: RegionRun, targets: Sequence[Target], proves: bool = True) -> Tuned:
    """Compile what a run measures in any case, and if it `proves` the first choice of each target.

    The warnings name the proofs for which there was no time. What fails here fails in the run,
    which says so.
    """
    bench = run.bench
    oracle, stop = bench.checker.oracle, bench.session.stop
    forms = [*_as_written(run)]
    compile_ahead(forms, oracle, COMPILE_LIMIT_S, niceness=0)
    for program in forms:
        _look_ahead(program, oracle)
    unfinished: list[str] = []
    for target in targets:
        if stop.is_set:
            break
        try:
            found = listing_of(target, run.base, run.space, run.device, FIRST_ALONE, True)
            unfinished += _made_ready(run, target, found, proves)
        except AnnotuneError:
            continue
    region, work = run.analysis.region, run.analysis.total
    return replace(untuned(region, work, ONLY_AHEAD), warnings=tuple(unfinished))


def _look_ahead(program: Program, oracle: Oracle) -> None:
    """Have OpenACC's compiler tell the grid that the check of a program on a GPU asks it for."""
    if KINDS[program.kind].is_on_gpu and not program.device_text:
        grids_of(program, oracle, COMPILE_LIMIT_S)


def _as_written(run: RegionRun) -> Iterator[Program]:
    """Yield the original in the forms that a run measures."""
    forms: list[tuple[str, str, dict[str, RegionCode]]] = [
        ("sequential", "c", dict(original(run))),
        ("openmp_naive", "openmp", {"parallel for": naive_openmp(run.source, run.analysis)}),
    ]
    if run.on_gpu("openacc") is not None:
        naive = dict(naive_openacc(run.source, run.analysis))
        forms.append(("openacc_naive", ON_GPU["openacc"], naive))
    for name, kind, codes in forms:
        for label, code in codes.items():
            yield original_program(name, kind, label, code)


def _made_ready(run: RegionRun, target: Target, found: Listing, proves: bool) -> tuple[str, ...]:
    """Compile the first choice of a target as it is measured, and have it stand its proofs.

    Returned are warnings of those for which there was no time.
    """
    bench, gpu = run.bench, run.on_gpu(target.name)
    oracle = bench.checker.oracle
    variant = found.variant(0)
    code = target.region(variant, resident=False)
    kind, arch = (target.kind, "") if gpu is None else (ON_GPU[target.name], gpu.arch)
    own, arch = program_of(target, kind, variant, code), arch if code.device else ""
    compile_ahead([own], oracle, COMPILE_LIMIT_S, arch, niceness=0)
    _look_ahead(own, oracle)
    if not proves:
        return ()
    if run.is_measured(target):
        stood, _ = prove(bench, program_of(target, target.kind, variant, code))
        return tuple(unfinished_words(target.name, stood))
    wanted = replace(run.wanted, budget=FIRST_ALONE)
    device = run.device.vendor_name
    return predicted(bench, target, target.kind, found, wanted, device).proved().warnings
