"""What compilers say about a kernel, read from their messages into values."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """What ``ptxas -v`` says about one kernel: registers per thread, and bytes per thread or block.

    `stack_bytes`, `spill_store_bytes` and `spill_load_bytes` are per thread; `shared_bytes` is
    the static shared memory of a block.
    """

    name: str
    arch: str
    registers: int
    stack_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    shared_bytes: int = 0
    barriers: int = 0

    @property
    def plain_name(self) -> str:
        """Return the name in the source of a kernel that stands in no namespace."""
        mangled = re.match(r"_Z(\d+)", self.name)
        if not mangled:
            return self.name
        return self.name[mangled.end() : mangled.end() + int(mangled[1])]

    @property
    def spills(self) -> bool:
        return self.spill_store_bytes > 0 or self.spill_load_bytes > 0


_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")
_BARRIERS = re.compile(r"used (\d+) barriers")


def parse_ptxas(output: str) -> tuple[KernelFacts, ...]:
    """Return the facts of every kernel in the output of ``nvcc -Xptxas -v``, in its order."""
    kernels = []
    # A device function that was not inlined has a frame of its own and no "Used" line.
    for part in re.split(r"(?=ptxas info\s*: Compiling entry function)", output)[1:]:
        entry, used = _ENTRY.search(part), _USED.search(part)
        if not entry or not used:
            continue
        frame = _FRAME.search(part)
        shared = _SHARED.search(part)
        barriers = _BARRIERS.search(part)
        stack, stores, loads = map(int, frame.groups()) if frame else (0, 0, 0)
        kernels.append(
            KernelFacts(
                name=entry[1],
                arch=entry[2],
                registers=int(used[1]),
                stack_bytes=stack,
                spill_store_bytes=stores,
                spill_load_bytes=loads,
                shared_bytes=int(shared[1]) if shared else 0,
                barriers=int(barriers[1]) if barriers else 0,
            )
        )
    return tuple(kernels)


# gcc's nvptx back end (gcc/config/nvptx/nvptx.cc): it goes on with other dimensions than
# those asked for, so what would be measured is not the point that was asked for.
_GCC_IGNORES = re.compile(
    r"using '?(vector_length|num_workers|num_gangs) \((\d+)\)'?, ignoring ([^\n\[]+)"
)


def ignored_dimensions(output: str) -> str:
    """Return gcc's words when it used other OpenACC dimensions than asked for, else nothing."""
    plain = output.replace("\u2018", "'").replace("\u2019", "'")
    found = _GCC_IGNORES.search(plain)
    return found[0].strip() if found else ""


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
