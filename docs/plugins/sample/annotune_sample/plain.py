"""A target: the schedules of the CPU's cores as C without a directive, for one thread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.codegen.core_text import BodyWriter
from annotune.codegen.in_place import between_kernels, legend, region_block, write_steps
from annotune.codegen.openmp import OpenMpTarget
from annotune.codegen.target import RegionCode
from annotune.codegen.users_file import InPlaceTarget, in_users_file, without_macros
from annotune.codegen.writer import Writer
from annotune.ir.nest import Level, Loop, Stmt
from annotune.schedule.plan import Kernel, Plan
from annotune.space.openmp import CpuPoints
from annotune.space.variants import Variant
from annotune.transforms.tree import mapped


class PlainTarget(InPlaceTarget):
    """C for any compiler, in place in the user's function."""

    name = "plain"
    kind = "c"
    suffix = "_plain.c"
    is_for_cpu = True
    points = CpuPoints.of
    vocabulary = OpenMpTarget.vocabulary

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        """Return the loops of a region in the order that its schedule gives them."""
        variant = in_users_file(variant)
        code = RegionCode(region_block(variant, _write_plan))
        return without_macros(code, variant.analysis.region)


def _write_plan(out: Writer, analysis: Analysis, plan: Plan, suffix: str) -> None:
    known = frozenset(scalar.name for scalar in between_kernels(analysis, plan))

    def write(place: Writer, kernel: Kernel) -> None:
        place.line(f"/* {legend(analysis, kernel)} */")
        with place.block(""):
            body = mapped(kernel.body, _in_order)
            BodyWriter(analysis, flat=False).write(place, body, known)

    write_steps(out, analysis.region, plan.steps, write)


def _in_order(stmt: Stmt) -> Iterable[Stmt] | None:
    """Return a loop of threads or lanes as one that runs in order."""
    if not isinstance(stmt, Loop) or stmt.place is Level.SERIAL:
        return None
    body = mapped(stmt.body, _in_order)
    return (replace(stmt, place=Level.SERIAL, combines=(), body=body),)
