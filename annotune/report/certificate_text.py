"""What `check --certificate` prints for a region: the proofs of its plans, and their verdicts."""

from __future__ import annotations

from annotune.analysis.messages import WORK_UNKNOWN
from annotune.codegen.certify import certify
from annotune.codegen.certify_acc import certify_acc
from annotune.codegen.certify_cores import certify_cores
from annotune.codegen.openacc import first_acc_plan
from annotune.codegen.openmp import first_plan
from annotune.decide.certificate import Certificate, verify
from annotune.report.findings import RegionReport

HOLDS = "holds: every iteration once, every dependence kept, in bounds"
GANGS = "OpenACC: blocks are the iterations that gangs share, threads those of workers and lanes"
CORES = "OpenMP: blocks and threads are the iterations that threads and lanes share"


def certificate_text(report: RegionReport) -> str:
    """Return the certificates of a region's plans: CUDA's, OpenACC's, and for a CPU's cores.

    Each ends with the verdict of its checker. There are those of each problem size.
    """
    return "\n".join(map(_at_its_sizes, report.by_size))


def _at_its_sizes(report: RegionReport) -> str:
    name = f"{report.region.function}, region {report.region.index}"
    if report.analysis is None or report.plan is None:
        return f"{name}: no plan to certify\n"
    if any(d.code == WORK_UNKNOWN.code for d in report.analysis.warnings):
        return f"{name}: give the sizes first\n"
    text = _certified(certify(report.analysis, report.plan))
    if report.base is None or not report.has_kernels:
        return text
    if report.openacc is not None:
        plan = first_acc_plan(report.analysis, report.openacc)
        text += f"\n{GANGS}\n{_certified(certify_acc(report.analysis, plan))}"
    cores = certify_cores(report.analysis, first_plan(report.base))
    return f"{text}\n{CORES}\n{_certified(cores)}"


def _certified(made: Certificate) -> str:
    verdict = "\n".join(verify(made)) or HOLDS
    return f"{made.text()}certificate {verdict}\n"
