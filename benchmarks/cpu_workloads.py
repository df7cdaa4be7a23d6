"""The contractions and element kernels that `cpu.py` times, and each as einsum writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotune.analysis.facts import AccessFacts, Analysis
from annotune.ir.expr import Int
from annotune.ir.fold import fold, trip_count

ROOT = Path(__file__).parent.parent
TRIPLES_EXTENT = 16
GEMM_EXTENT = 512
# Elements of 1000 points in 100 MB of arrays, more than the caches hold.
GRADIENT_POINTS = 3_000_000

Array = NDArray[np.float64]
Einsum = Callable[..., Any]
Values = Mapping[str, int | float]


@dataclass(frozen=True, slots=True)
class Workload:
    """One function of `c_examples`: its arguments in the order of C, and what the numbers are.

    `group` is the row of the geometric means that it counts for. `defines` are ``-D`` of
    every build, `values` the scalar arguments.
    """

    name: str
    group: str
    source: Path
    function: str
    arguments: tuple[str, ...]
    values: Values
    defines: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contraction:
    """``output op= first * second`` over named dimensions, each array row-major."""

    output: str
    sign: int
    subscripts: str
    inputs: tuple[str, str]
    shapes: Mapping[str, tuple[int, ...]]


def workloads() -> tuple[Workload, ...]:
    """Return all of them: triples, singles, gemm, and local_grad3 with three operators."""
    out = [_triples(kind, number) for kind in ("d1", "d2", "s1") for number in range(1, 10)]
    sizes = dict.fromkeys("mnk", GEMM_EXTENT)
    gemm = ROOT / "c_examples/gemm/gemm.c"
    names = ("m", "n", "k", "alpha", "beta", "C", "A", "B")
    out.append(Workload("gemm", "gemm", gemm, "gemm", names, {**sizes, "alpha": 0.5, "beta": 0.25}))
    return (*out, *(_gradient(points) for points in (8, 10, 12)))


def _triples(kind: str, number: int) -> Workload:
    scalars = ["h3u", "h2u", "h1u", "p6u", "p5u", "p4u"]
    scalars += {"d1": ["h7u"], "d2": ["p7u"], "s1": []}[kind]
    arrays = ("t3", "t1" if kind == "s1" else "t2", "v2")
    source = ROOT / f"c_examples/nwchem/sd_t_{kind}.c"
    function = f"sd_t_{kind}_{number}"
    sizes = dict.fromkeys(scalars, TRIPLES_EXTENT)
    group = "s1" if kind == "s1" else "d1, d2"
    return Workload(f"{kind}_{number}", group, source, function, (*scalars, *arrays), sizes)


def _gradient(points: int) -> Workload:
    source = ROOT / "c_examples/nekbone/local_grad3.c"
    elements = GRADIENT_POINTS // points**3
    return Workload(
        f"local_grad3 lx={points}",
        f"local_grad3 lx={points}",
        source,
        "local_grad3",
        ("Ut", "Us", "Ur", "D", "U", "Dt"),
        {},
        {"lx": str(points), "nelt": str(elements)},
    )


def contractions(analysis: Analysis) -> tuple[Contraction, ...]:
    """Return the nest's statements as contractions, dimensions by falling stride.

    Raises:
        ValueError: A statement is none, such as one with a third factor.
    """
    return tuple(_contraction(analysis, n) for n in analysis.paths)


def _contraction(analysis: Analysis, statement: int) -> Contraction:
    assign = next(a for a in analysis.region.nest.assigns() if a.number == statement)
    facts = analysis.accesses[statement]
    output = next(f for f in facts if f.is_write)
    inputs = [f for f in facts if f.access != output.access]
    if assign.op not in ("+=", "-=") or len(inputs) != 2:
        raise ValueError(f"statement {statement} is no contraction of two arrays")
    loops = analysis.paths[statement]
    trips = {x.var: fold(trip_count(x), analysis.region.sizes) for x in loops}
    letters = {x.var: chr(ord("a") + k) for k, x in enumerate(loops)}

    def dimensions(access: AccessFacts) -> list[str]:
        moving = {name: stride for name, stride in access.strides.items() if stride}
        return sorted(moving, key=lambda name: -moving[name])

    def text(access: AccessFacts) -> str:
        return "".join(letters[name] for name in dimensions(access))

    def shape(access: AccessFacts) -> tuple[int, ...]:
        counts = (trips[name] for name in dimensions(access))
        return tuple(count.value for count in counts if isinstance(count, Int))

    return Contraction(
        output.access.array,
        -1 if assign.op == "-=" else 1,
        f"{text(inputs[0])},{text(inputs[1])}->{text(output)}",
        (inputs[0].access.array, inputs[1].access.array),
        {f.access.array: shape(f) for f in (output, *inputs)},
    )


def run_einsum(parts: Sequence[Contraction], arrays: Mapping[str, Array], einsum: Einsum) -> None:
    """Add each contraction to its output, in place, with numpy's `einsum` or one like it."""
    for part in parts:
        first, second = (arrays[name].reshape(part.shapes[name]) for name in part.inputs)
        product = einsum(part.subscripts, first, second)
        output = arrays[part.output].reshape(part.shapes[part.output])
        if part.sign < 0:
            output -= product
        else:
            output += product


def run_gemm(values: Values, arrays: Mapping[str, Array], einsum: Einsum) -> None:
    """Compute gemm.c's ``C = alpha A B + beta C`` with `einsum`."""
    m, n, k = (int(values[name]) for name in "mnk")
    product = einsum("il,lj->ij", arrays["A"].reshape(m, k), arrays["B"].reshape(k, n))
    output = arrays["C"].reshape(m, n)
    output *= values["beta"]
    output += values["alpha"] * product
