"""What a user asked for on the command line, as one frozen value per command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotune.annotation.spec import Value

# Those of `annotune.codegen.target`, `annotune.strategies.registry` and
# `annotune.tune.search.names`,
# for which no help waits.
DEFAULT_TARGETS = ("cuda", "openacc", "openmp")
TARGET_NAMES = (*DEFAULT_TARGETS, "openmp_target")
# Those of which each has the shapes of OpenACC.
ACC_SHAPED = frozenset({"openacc", "openmp_target"})
STRATEGY_NAMES = ("auto", "direct", "two-level", "gemm", "stencil", "elementwise", "reduction")
SEARCH_NAMES = (
    *("auto", "exhaustive", "random", "gp", "rf"),
    *("tpe", "cma-es", "genetic", "annealing", "simplex"),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Options that `check`, `emit` and `run` share.

    `sizes` are ``--set NAME=VALUE`` and win over the annotation; `defines` are ``-D``, `include`
    the folders of ``-I``. `compiler` are the words that start the C compiler, asked for what the
    system's headers say when a region needs to know; none where there is no compiler.
    `function` restricts the work to one function, empty for all. `resident` is
    ``--data resident``. `strategy` is one of `STRATEGY_NAMES`. `sidecar` is a
    YAML annotation, None to look for one. `specification` is the file of ``--spec``, for regions
    without a PerfTuning of their own. `params` are ``--param NAME=VALUES`` and `constraints`
    ``--constraint FORMULA``, both over parameters of the annotation and axes of the space.
    """

    source: Path
    targets: tuple[str, ...] = DEFAULT_TARGETS
    strategy: str = "auto"
    sizes: Mapping[str, Value] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)
    function: str = ""
    arch: str = ""
    device: str = "h200"
    resident: bool = False
    sidecar: Path | None = None
    include: tuple[str, ...] = ()
    compiler: tuple[str, ...] = ()
    specification: Path | None = None
    params: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()

    @property
    def integers(self) -> dict[str, int]:
        """Return those of `sizes` that are integers; True and False are none."""
        return {k: v for k, v in self.sizes.items() if type(v) is int}
