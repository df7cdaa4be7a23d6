"""Run in a process of its own: calls what targets made of tensor files, and compares with numpy.

    python called.py < {"libraries": {"cuda": PATH, …}, "jobs": [{"text": …, "sizes": {…}}, …]}

What a program computes is evaluated here from its values, without the C text. Numbers are small
integers, so that sums are exact in any order; functions are compared up to rounding.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from annotune.tensor.program import (
    Added,
    Applied,
    ElementType,
    Memory,
    Multiplied,
    Number,
    Reference,
    Tensor,
    TensorExpr,
    TensorProgram,
    Term,
)
from annotune.tensor.read import read_program

# Elements before and behind each array, which no call may touch.
ZONE = 32
TYPES = {
    ElementType.FLOAT: np.float32,
    ElementType.DOUBLE: np.float64,
    ElementType.COMPLEX: np.complex128,
}
FUNCTIONS = {"fabs": "absolute", "pow": "power", "fmin": "minimum", "fmax": "maximum"}
Values = Mapping[str, Any]


class Given:
    """A tensor in memory: `logical` are its elements by their indices, views of `memory`."""

    def __init__(self, program: TensorProgram, tensor: Tensor, sizes: Mapping[str, int], seed: int):
        def numbers(lengths: Any) -> list[int]:
            return [n if isinstance(n, int) else sizes.get(n, program.value(n)) for n in lengths]

        self.tensor = tensor
        room, lengths = numbers(tensor.room), numbers(tensor.lengths)
        rows = room[0] if tensor.is_pointers else 1
        inside = room[tensor.is_pointers :]
        count = int(np.prod(inside))
        # Arrays behind pointers lie one by one, or in another order and apart.
        order = np.random.default_rng(seed).permutation(rows) if seed % 2 else np.arange(rows)
        apart = count + 3 * (seed % 2)
        drawn = np.random.default_rng(seed).integers(-3, 4, rows * apart + 2 * ZONE)
        self.memory = drawn.astype(TYPES[tensor.element])
        if tensor.element is ElementType.COMPLEX:
            self.memory = self.memory + 1j * np.roll(drawn, 7)
        self.starts = [ZONE + int(row) * apart for row in order]
        self.cuts = tuple(slice(n) for n in lengths[tensor.is_pointers :])
        self.inside, self.count = inside, count

    def elements(self, memory: Any) -> Any:
        """Return the elements of a tensor in `memory`, by its indices."""
        rows = []
        for start in self.starts:
            flat = memory[start : start + self.count]
            by_rows = self.tensor.memory is Memory.ROW
            rows.append(flat.reshape(self.inside, order="C" if by_rows else "F")[self.cuts])
        return np.stack(rows) if self.tensor.is_pointers else rows[0]

    def with_elements(self, values: Any) -> Any:
        """Return the memory with other elements in it."""
        made = self.memory.copy()
        every = values if self.tensor.is_pointers else [values]
        for start, value in zip(self.starts, every, strict=True):
            order = "C" if self.tensor.memory is Memory.ROW else "F"
            whole = made[start : start + self.count].reshape(self.inside, order=order).copy(order)
            whole[self.cuts] = value
            made[start : start + self.count] = whole.ravel(order)
        return made


def evaluated(program: TensorProgram, held: dict[str, Any]) -> dict[str, Any]:
    """Return what tensors hold after the operations, each computed as its text says."""
    for operation in program.operations:
        output = operation.output
        lengths: dict[str, int] = {}
        for one in (output, *operation.reads()):
            if one.tensor in held:
                lengths |= dict(zip(one.indices, held[one.tensor].shape, strict=True))
        for index, length in program.lengths(operation).items():
            lengths.setdefault(index, length if isinstance(length, int) else SIZES[length])
        total: Any = 0
        for term in operation.terms:
            axes = (*output.indices, *operation.summed(term))
            value = _value(term.value, axes, held)
            whole = np.broadcast_to(value, [lengths[name] for name in axes])
            value = whole.sum(axis=tuple(range(len(output.indices), len(axes))))
            total = total - value if term.is_subtracted else total + value
        before = held.get(output.tensor, 0)
        made = {"=": total, "+=": before + total, "-=": before - total}[operation.assign]
        kind = TYPES[program.tensor(output.tensor).element]
        held[output.tensor] = np.asarray(made).astype(kind)
    return held


SIZES: dict[str, int] = {}


def _value(expr: TensorExpr, axes: tuple[str, ...], held: Values) -> Any:
    match expr:
        case Number(text):
            return float(text)
        case Reference(tensor, own):
            kept = [name for name in axes if name in own]
            ids = [axes.index(name) for name in own]
            found = np.einsum(held[tensor], ids, [axes.index(name) for name in kept])
            return found.reshape(
                [n if a in own else 1 for a, n in _with_lengths(axes, kept, found)]
            )
        case Multiplied(factors):
            value: Any = 1
            for factor in factors:
                value = value * _value(factor, axes, held)
            return value
        case Added(terms):
            return sum(_signed(term, axes, held) for term in terms)
        case Applied(function, arguments):
            known = getattr(np, FUNCTIONS.get(function, function))
            return known(*(_value(one, axes, held) for one in arguments))


def _with_lengths(axes: tuple[str, ...], kept: list[str], found: Any) -> list[tuple[str, int]]:
    lengths = dict(zip(kept, found.shape, strict=True))
    return [(name, lengths.get(name, 1)) for name in axes]


def _signed(term: Term, axes: tuple[str, ...], held: Values) -> Any:
    value = _value(term.value, axes, held)
    return -value if term.is_subtracted else value


def faults(library: Any, job: Mapping[str, Any], seed: int) -> list[str]:
    """Return what a call leaves otherwise than numpy."""
    program = read_program("job", job["text"])
    sizes = job["sizes"]
    SIZES.clear()
    SIZES.update({n.name: sizes.get(n.name, n.value) for n in program.sizes})
    arguments: list[Any] = [
        ctypes.c_long(sizes.get(n.name, n.value)) for n in program.sizes if n.is_parameter
    ]
    arrays: dict[str, Given] = {}
    held: dict[str, Any] = {}
    pointers = []
    for number, tensor in enumerate(program.tensors):
        if tensor.is_internal:
            continue
        one = arrays[tensor.name] = Given(program, tensor, SIZES, seed + number)
        held[tensor.name] = one.elements(one.memory).copy()
        if not tensor.order and tensor.name not in program.outputs:
            value = complex(held[tensor.name])
            if tensor.element is ElementType.COMPLEX:
                arguments += [ctypes.c_double(value.real), ctypes.c_double(value.imag)]
            else:
                kind = ctypes.c_float if tensor.element is ElementType.FLOAT else ctypes.c_double
                arguments.append(kind(value.real))
            continue
        at = [one.memory.ctypes.data + start * one.memory.itemsize for start in one.starts]
        if tensor.is_pointers:
            pointers.append((ctypes.c_void_p * max(1, len(at)))(*at))
            arguments.append(pointers[-1])
        else:
            arguments.append(ctypes.c_void_p(at[0]))
    wanted = evaluated(program, dict(held))
    if "einsum" in job:
        output, *operands = held
        expected = np.einsum(job["einsum"], *(held[name] for name in operands))
        assert np.array_equal(wanted[output], expected), job
    right = {n: a.with_elements(wanted[n]) for n, a in arrays.items()}
    getattr(library, program.name)(*arguments)
    found = []
    for name, one in arrays.items():
        size = max(1.0, float(np.abs(right[name]).max()))
        allowed = float(np.finfo(right[name].dtype).eps) * 64 * size
        places = np.flatnonzero(~(np.abs(one.memory - right[name]) <= allowed))
        if len(places):
            at = places[0]
            found.append(f"{name}: {one.memory[at]} at {at}, not {right[name][at]}; {len(places)}")
    return found


def main() -> None:
    """Print a line for each fault, and at last how many calls there were."""
    given = json.load(sys.stdin)
    calls = 0
    for name, path in given["libraries"].items():
        library = ctypes.CDLL(path)
        is_cuda = hasattr(library, "annotune_cpu_set_order")
        for order in (0, 1, 2) if is_cuda else (0,):
            for number, job in enumerate(given["jobs"]):
                for seed in (2 * number, 2 * number + 1):
                    if is_cuda:
                        library.annotune_cpu_reset()
                        library.annotune_cpu_set_order(order)
                    for fault in faults(library, job, seed):
                        print(f"{name}, order {order}, {job['sizes']}: {fault}\n{job['text']}")
                    calls += 1
    print(calls)


if __name__ == "__main__":
    main()
