"""The grids that an OpenACC text asks for, and those that a compiler chooses for a GPU.

Compilers do not always take the grid that they are given (Rivera 2014, section 5.5), so what a
text asks for is told beside what was chosen. gcc writes its sizes into the PTX, nvc into its
messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annotune.codegen.several_sizes import TUNED_SUFFIX
from annotune.frozen import dataclass
from annotune.measure.compile import CompileJob, CompileResult, compile_job
from annotune.measure.toolchain import Toolchains


@dataclass(frozen=True, slots=True)
class LoopFeedback:
    """What nvc says it did with the loop on one line: ``gang, vector(128)`` and its notes."""

    function: str
    line: int
    mapping: str = ""
    notes: tuple[str, ...] = ()


_NVC_FUNCTION = re.compile(r"^(\w+):$")
_NVC_LINE = re.compile(r"^\s+(\d+), (.+)$")
_NVC_MAPPING = re.compile(r"^\s+(\d+), #pragma acc loop (.+?)\s*(?:/\*.*\*/)?$")


def parse_nvc_feedback(output: str) -> tuple[LoopFeedback, ...]:
    """Return what ``nvc -Minfo=accel`` says, one value per source line, in its order.

    Written after the samples in NVIDIA's HPC compilers guide; not run against nvc.
    """
    function = ""
    mappings: dict[tuple[str, int], str] = {}
    notes: dict[tuple[str, int], list[str]] = {}
    place: tuple[str, int] | None = None
    for text in output.splitlines():
        if named := _NVC_FUNCTION.match(text):
            function, place = named[1], None
        elif mapped := _NVC_MAPPING.match(text):
            place = function, int(mapped[1])
            mappings[place] = mapped[2]
            notes.setdefault(place, [])
        elif noted := _NVC_LINE.match(text):
            place = function, int(noted[1])
            notes.setdefault(place, []).append(noted[2].strip())
        elif place and text.startswith("  ") and text.strip():
            notes[place].append(text.strip())
    return tuple(
        LoopFeedback(name, line, mappings.get((name, line), ""), tuple(said))
        for (name, line), said in notes.items()
    )


# Sizes of a launch are 16 bits wide in libgomp's tables: 65536 arrives as 0.
_DIMENSION_LIMIT = 65536
# Launches that are told one by one; of more, the first.
MOST_LAUNCHES = 6


@dataclass(frozen=True, slots=True)
class GangGrid:
    """Gangs, workers of a gang and lanes of a vector; None for what is settled at the launch."""

    gangs: int | None = None
    workers: int | None = None
    vector: int | None = None

    def __str__(self) -> str:
        return " x ".join("?" if n is None else str(n) for n in self.sizes)

    @property
    def sizes(self) -> tuple[int | None, int | None, int | None]:
        return (self.gangs, self.workers, self.vector)


def grids_text(grids: Sequence[GangGrid]) -> str:
    """Return the grids of several launches, in their order: ``4096 x 1 x 256; 64 x 4 x 32``."""
    shown = "; ".join(map(str, grids[:MOST_LAUNCHES]))
    left = len(grids) - MOST_LAUNCHES
    return f"{shown}; {left} more" if left > 0 else shown


_LAUNCH = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+acc[ \t]+(?:parallel|kernels|serial)\b(.*)$", re.M)


def asked_grids(acc_text: str) -> tuple[GangGrid, ...]:
    """Return the grid that each launch of an OpenACC text asks for, in its order."""
    joined = re.sub(r"\\\r?\n", " ", acc_text)
    return tuple(
        GangGrid(
            *(_clause(found[1], name) for name in ("num_gangs", "num_workers", "vector_length"))
        )
        for found in _LAUNCH.finditer(joined)
    )


def asked_text(acc_text: str) -> str:
    """Return in words what the launches of an OpenACC text ask for."""
    found = asked_grids(acc_text)
    if all(grid == GangGrid() for grid in found):
        return "nothing, the grid is the compiler's choice"
    return grids_text(found)


_CUDA_LAUNCH = re.compile(
    r"\bdim3 blocks\(([^;]*)\);\s*const dim3 threads\(([^;]*)\);\s*(\w+)<<<blocks, threads"
)


def launched_text(cuda_text: str) -> tuple[str, str]:
    """Return the blocks and the threads of each of a CUDA text's launches, in words.

    Where it has kernels for the tuned sizes, they are those. An axis whose length is worked out at
    the launch is a question mark.
    """
    found = _CUDA_LAUNCH.findall(cuda_text)
    tuned = [launch for launch in found if launch[2].endswith(TUNED_SUFFIX)] or found
    blocks, threads = ("; ".join(_axes(launch[n]) for launch in tuned) for n in (0, 1))
    return blocks, threads


def _axes(extents: str) -> str:
    """Return the lengths of a grid's axes, those at the end that are 1 left out."""
    every = re.split(r",\s*(?![^()]*\))", extents)
    shown = [text if text.isdigit() else "?" for text in every]
    while len(shown) > 1 and shown[-1] == "1":
        shown.pop()
    return " x ".join(shown)


def _clause(clauses: str, name: str) -> int | None:
    found = re.search(rf"\b{name}\s*\(\s*(\d+)\s*\)", clauses)
    return int(found[1]) if found else None


_FUNC_MAP = re.compile(
    r'^//:FUNC_MAP "(?P<name>[^"$]+)\$_omp_fn\$(?P<number>\d+)"'
    r"(?:, (0[xX][0-9a-fA-F]+|\d+), (0[xX][0-9a-fA-F]+|\d+), (0[xX][0-9a-fA-F]+|\d+))?",
    re.M,
)


def parse_func_map(ptx: str, function: str = "") -> tuple[GangGrid, ...]:
    """Return the grids in gcc's PTX, in the order of the launches of `function`, or of all.

    gcc leaves a line ``//:FUNC_MAP "f$_omp_fn$0", 0x1000, 0x1, 0x100`` for each; 0 is settled by
    libgomp at the launch, as is what does not fit into its tables.
    """
    found = []
    for match in _FUNC_MAP.finditer(ptx):
        if function and match["name"] != function:
            continue
        sizes = [int(text, 0) % _DIMENSION_LIMIT if text else 0 for text in match.groups()[2:]]
        found.append((match["name"], int(match["number"]), GangGrid(*(n or None for n in sizes))))
    # The last function comes first in the file.
    return tuple(grid for _, _, grid in sorted(found, key=lambda one: one[:2]))


_LEVEL = re.compile(r"\b(gang|worker|vector)(?:\((\d+)\))?")


def grids_of_feedback(feedback: Sequence[LoopFeedback], function: str = "") -> tuple[GangGrid, ...]:
    """Return the grids in what nvc says, one for each kernel that it generated for `function`.

    ``gang(4096), vector(256)`` on one line or on several; a level without a number is settled at
    the launch.
    """
    found: list[GangGrid] = []
    for loop in feedback:
        if function and loop.function != function:
            continue
        starts = any("Generating" in note and "GPU code" in note for note in loop.notes)
        levels = {name: int(n) if n else None for name, n in _LEVEL.findall(loop.mapping)}
        if starts or (
            "gang" in levels and (not found or found[-1] != GangGrid(workers=1, vector=1))
        ):
            found.append(GangGrid(workers=1, vector=1))
        if found and levels:
            found[-1] = _with(found[-1], levels)
    return tuple(found)


def _with(grid: GangGrid, levels: Mapping[str, int | None]) -> GangGrid:
    changed = {"gang": "gangs", "worker": "workers", "vector": "vector"}
    return replace(grid, **{changed[name]: size for name, size in levels.items()})


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a compiler made of a text: its grids, or why they are not known.

    `invalid` are its words when it took other sizes than those asked for.
    """

    grids: tuple[GangGrid, ...] = ()
    compiler: str = ""
    reason: str = ""
    invalid: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"not available because {self.reason}"
        return f"{grids_text(self.grids)} ({self.compiler})"


def chosen_grids(job: CompileJob, function: str, tools: Toolchains, folder: Path) -> Chosen:
    """Return the grids that a compiler for the GPU chooses for `function` in the text of `job`."""
    if "nvptx-none" in tools.offload:
        built = compile_job(replace(job, kind="openacc-nvptx"), tools, folder)
        texts = (path.read_text(errors="replace") for path in _ptx(built))
        return _chosen(built, parse_func_map("\n".join(texts), function), "gcc")
    if tools.nvc is not None:
        built = compile_job(replace(job, kind="openacc-nvc"), tools, folder)
        feedback = parse_nvc_feedback(built.output)
        return _chosen(built, grids_of_feedback(feedback, function), "nvc")
    return Chosen(
        reason="no compiler here makes OpenACC code for a GPU: gcc has no nvptx-none, "
        "and there is no nvc"
    )


def _ptx(built: CompileResult) -> list[Path]:
    return sorted(built.path.parent.glob("*.mkoffload.s")) if built.ok else []


def _chosen(built: CompileResult, grids: tuple[GangGrid, ...], compiler: str) -> Chosen:
    if built.invalid:
        return Chosen(grids, compiler, invalid=built.invalid)
    if not built.ok:
        words = built.output.strip().splitlines()
        telling = next((line for line in words if "error" in line), words[0] if words else "")
        return Chosen(reason=f"{compiler} does not compile it for a GPU: {telling.strip()}")
    if not grids:
        return Chosen(reason=f"{compiler} has left no sizes")
    return Chosen(grids, compiler)
