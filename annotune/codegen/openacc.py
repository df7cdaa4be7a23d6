"""The OpenACC target: directives with explicit sizes, for gcc and nvc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotune.codegen.build import GCC_OFFLOAD, CompilerUse
from annotune.codegen.data_sections import ACC_MOVES
from annotune.codegen.device_sizes import LaunchSizes
from annotune.codegen.offload import OffloadTarget
from annotune.ir.nest import Level
from annotune.runtime.texts import ACC_RUNTIME, SharedRuntime
from annotune.schedule.launch_sizes import WARP


class OpenAccWords:
    """OpenACC's directives."""

    moves = ACC_MOVES
    data = "acc data"
    alone = f"acc parallel loop seq num_gangs(1) num_workers(1) vector_length({WARP})"
    alone_is_loop = True
    keeps = True
    levels: Mapping[Level, str] = {}
    serial = "acc loop seq"
    merges_levels = False
    function = "#pragma acc routine seq\nstatic"
    # Until then each lane had an array of its own of those that are its gang's (gcc's PR 90115).
    sharing: Sequence[str] = (
        "#if defined(__GNUC__) && __GNUC__ < 12 && !defined(__clang__) && !defined(__NVCOMPILER)",
        '#error "lanes of a gang share its arrays: compile with gcc 12 or later, or nvc"',
        "#endif",
    )

    def sizes(self, sizes: LaunchSizes) -> str:
        """Return the clauses of ``parallel loop``."""
        gangs, workers = f"num_gangs({sizes.gangs})", f"num_workers({sizes.workers})"
        return f"{gangs} {workers} vector_length({sizes.vector})"

    def launch(self, places: Sequence[Level], in_order: bool) -> str:
        """Return ``parallel loop`` with the level of its loops.

        Gangs without a loop of their own share the first one, and what it combines.
        """
        gang = "" if places[0] is Level.GANG else "gang "
        return f"acc parallel loop {gang}{places[-1]}"

    def inside(self, places: Sequence[Level], outer: Sequence[Level], in_order: bool) -> str:
        """Return ``loop`` with a level, another one where lanes would lose the order inside them.

        gcc takes a loop on vectors alone for one of lanes; one on workers and vectors it does not.
        """
        if in_order:
            return f"acc loop {places[-1]}"
        return f"acc loop {'seq' if Level.WORKER in outer else 'worker vector'}"

    def tiles(self, sizes: Sequence[int]) -> str:
        """Return the clause ``tile`` with its loop."""
        return f"acc parallel loop gang vector tile({', '.join(map(str, sizes))})"

    def cache(self, sections: str) -> str:
        """Return ``cache`` (OpenACC 3.3, section 2.10)."""
        return f"acc cache({sections})"

    def functions(self, texts: str) -> str:
        """Return the functions, each of which has its directive."""
        return texts


class OpenAccTarget(OffloadTarget):
    """C with OpenACC directives."""

    name = kind = "openacc"
    suffix = "_acc.c"
    ways = (
        CompilerUse("nvc", ("-acc=gpu", "-gpu={cc}")),
        CompilerUse("c", ("-fopenacc", *GCC_OFFLOAD)),
    )
    words = OpenAccWords()

    @property
    def runtime(self) -> SharedRuntime:
        """Return the runtime by which arrays stay on the device."""
        return ACC_RUNTIME
