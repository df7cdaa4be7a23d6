"""The OpenMP offloading target: ``target`` directives with explicit sizes, for gcc and clang.

Teams are gangs, the threads of a team are workers and vectors, and SIMD lanes are vectors too: gcc
runs a thread as a warp and its lanes as that warp's, clang a thread as one of the device's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotune.codegen.build import GCC_OFFLOAD, CompilerUse
from annotune.codegen.device_sizes import LaunchSizes
from annotune.codegen.offload import OffloadTarget
from annotune.ir.nest import Level


class OpenMpTargetWords:
    """OpenMP's directives for devices."""

    # What is there already is mapped without a copy: gcc 12 does not know OpenMP 5.1's `present`.
    moves: Mapping[str, str] = {
        "present": "map(alloc: ",
        "copyin": "map(to: ",
        "copy": "map(tofrom: ",
        "copyout": "map(from: ",
    }
    data = "omp target data"
    alone = "omp target"
    keeps = False
    alone_is_loop = False
    levels: Mapping[Level, str] = {
        Level.GANG: "teams",
        Level.WORKER: "threads",
        Level.VECTOR: "threads and lanes",
    }
    serial = ""
    merges_levels = True
    sharing: Sequence[str] = ()
    function = "static"

    def sizes(self, sizes: LaunchSizes) -> str:
        """Return the clauses of ``teams``: as many threads as a gang has lanes, at the most."""
        return f"num_teams({sizes.gangs}) thread_limit({sizes.workers * sizes.vector})"

    def launch(self, places: Sequence[Level], in_order: bool) -> str:
        """Return ``target teams distribute``, for loops of threads with these."""
        threads = "" if places[0] is Level.GANG else f" {_threads(places, in_order)}"
        return f"omp target teams distribute{threads}"

    def inside(self, places: Sequence[Level], outer: Sequence[Level], in_order: bool) -> str:
        """Return the threads of a team, or the lanes of one where `outer` has the threads."""
        if Level.WORKER not in outer:
            return f"omp {_threads(places, in_order)}"
        return "omp simd" if in_order else ""

    def tiles(self, sizes: Sequence[int]) -> str:
        """Return nothing: the loops over tiles are written out (gcc 12 knows no ``tile``)."""
        return ""

    def cache(self, sections: str) -> str:
        """Return nothing: OpenMP has no such directive."""
        return ""

    def functions(self, texts: str) -> str:
        """Return functions as those of the device too."""
        return f"#pragma omp declare target\n{texts}#pragma omp end declare target\n"


def _threads(places: Sequence[Level], in_order: bool) -> str:
    """Return the directive for loops on a team's threads, and their lanes where there are some."""
    return "parallel for simd" if Level.VECTOR in places and in_order else "parallel for"


class OpenMpOffloadTarget(OffloadTarget):
    """C with OpenMP directives for devices."""

    name = kind = "openmp_target"
    suffix = "_omp_target.c"
    ways = (
        CompilerUse("nvc", ("-mp=gpu", "-gpu={cc}")),
        CompilerUse("c", ("-fopenmp", *GCC_OFFLOAD)),
    )
    words = OpenMpTargetWords()
