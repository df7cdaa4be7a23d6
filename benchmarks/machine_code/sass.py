"""Machine code of a GPU (SASS) as nvdisasm prints it, read into values.

The form is that of ``nvdisasm -c FILE.cubin`` for sm_70 and later; the opcodes are those of the
CUDA Binary Utilities, Instruction Set Reference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its address in bytes, its guard such as ``!P0``, and its words.

    `target` is the address that a branch names, None for everything else.
    """

    address: int
    opcode: str
    operands: str = ""
    guard: str = ""
    target: int | None = None

    @property
    def name(self) -> str:
        """Return the opcode without its modifiers: ``LDG`` of ``LDG.E.64.CONSTANT``."""
        return self.opcode.partition(".")[0]

    @property
    def width_bytes(self) -> int:
        """Return the bytes that one thread loads or stores, four where no modifier says more."""
        modifiers = self.opcode.split(".")[1:]
        return next((_WIDTHS[m] for m in modifiers if m in _WIDTHS), 4)


_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


@dataclass(frozen=True)
class Function:
    """A kernel's instructions in the order of their addresses; `name` is the linker's."""

    name: str
    instructions: tuple[Instruction, ...]

    @cached_property
    def plain_name(self) -> str:
        """Return the name in the source of a function that stands in no namespace."""
        mangled = re.match(r"_Z(\d+)", self.name)
        if not mangled:
            return self.name
        return self.name[mangled.end() : mangled.end() + int(mangled[1])]


_SECTION = re.compile(r"^\s*\.section\s+\.text\.([^\s,]+)")
_LABEL = re.compile(r"^(\.L_\w+):")
_INSTRUCTION = re.compile(
    r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*([^;]*?)\s*;"
)
_TARGET = re.compile(r"`\((\.L_\w+)\)")
_BRANCHES = ("BRA", "UBRA", "BRX", "JMP")


def parse_sass(text: str) -> tuple[Function, ...]:
    """Return the functions in what ``nvdisasm -c`` printed, in its order."""
    functions: list[Function] = []
    name = ""
    rows: list[tuple[int, str, str, str]] = []
    labels: dict[str, int] = {}
    waiting: list[str] = []

    def finish() -> None:
        if name and rows:
            functions.append(Function(name, tuple(_resolved(rows, labels))))

    for line in text.splitlines():
        if section := _SECTION.match(line):
            finish()
            name, rows, labels, waiting = section[1], [], {}, []
        elif label := _LABEL.match(line):
            waiting.append(label[1])
        elif found := _INSTRUCTION.match(line):
            address = int(found[1], 16)
            labels |= dict.fromkeys(waiting, address)
            waiting = []
            rows.append((address, found[3], found[4], found[2] or ""))
    finish()
    return tuple(functions)


def _resolved(rows: list[tuple[int, str, str, str]], labels: dict[str, int]) -> list[Instruction]:
    """Return the instructions with the addresses that their labels stand for."""
    out = []
    for address, opcode, operands, guard in rows:
        named = _TARGET.search(operands) if opcode.split(".")[0] in _BRANCHES else None
        target = labels.get(named[1]) if named else None
        out.append(Instruction(address, opcode, operands, guard, target))
    return out
