"""The certificate of an OpenACC plan: gangs share loops apart, workers and vectors meet.

For the checker the iterations that gangs share are blocks, and those of workers and lanes are the
threads of a block, whatever the sizes of the launch are.
"""

from __future__ import annotations

from annotune.analysis.facts import Analysis
from annotune.codegen.certify import certify
from annotune.codegen.certify_cores import CoreMaker
from annotune.decide.certificate import Certificate
from annotune.decide.plan import Plan
from annotune.ir.nest import Level


class AccMaker(CoreMaker):
    """Collects the relations of kernels whose loops are on gangs, workers and vectors."""

    APART = frozenset({Level.GANG})
    TOGETHER = frozenset({Level.WORKER, Level.VECTOR})


def certify_acc(analysis: Analysis, plan: Plan) -> Certificate:
    """Return the certificate of an OpenACC plan at the region's sizes."""
    return certify(analysis, plan, AccMaker)
