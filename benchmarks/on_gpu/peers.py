"""What libraries take on a GPU for the work of a workload: torch with cuBLAS, CuPy, cuTENSOR.

The arrays are those of the C text by their names, in double, and updated in place. A library that
has no way to say a piece of work is none for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol

import numpy as np
from cpu_workloads import Contraction, contractions
from numpy.typing import NDArray

from annotune.analysis.facts import Analysis
from annotune.measure.sizes import evaluate, known_values

Arrays = Mapping[str, Any]
Call = Callable[[], Any]

# Launches that are timed, and those before them.
RUNS, WARM_UPS = 20, 5
# Calls that are timed together take so long, and are so many at most.
TOGETHER_S, MOST_TOGETHER = 2e-3, 100
# What is written between two runs, so that no cache holds what they read.
FLUSHED_BYTES = 256 << 20
# More than caches hold.
COPIED_BYTES = 2 << 30


class NotSaid(Exception):
    """A library has no way to say a piece of work."""


class Library(Protocol):
    """A library that computes with arrays of a device, or of the host."""

    @property
    def name(self) -> str: ...

    def array(self, values: NDArray[np.float64]) -> Any:
        """Return the values as one of its arrays."""

    def einsum(self, subscripts: str, *inputs: Any) -> Any:
        """Return a product of arrays, as numpy.einsum does."""

    def accumulate(self, subscripts: str, first: Any, second: Any, output: Any, sign: int) -> None:
        """Add a contraction of two arrays to an output, or take it away."""

    def product(self, output: Any, first: Any, second: Any, alpha: float, beta: float) -> None:
        """Put ``alpha first @ second + beta output`` into an output, of many matrices each."""

    def scalar(self, first: Any, second: Any) -> Any:
        """Return the scalar product of two vectors."""

    def triad(self, output: Any, first: Any, factor: float, second: Any) -> None:
        """Put ``first + factor second`` into an output."""


class Torch:
    """PyTorch, whose products are cuBLAS's."""

    name = "torch"

    def __init__(self) -> None:
        self._torch = importlib.import_module("torch")
        if not self._torch.cuda.is_available():
            raise ImportError("torch has no GPU")

    def array(self, values: NDArray[np.float64]) -> Any:
        return self._torch.from_numpy(values).cuda()

    def einsum(self, subscripts: str, *inputs: Any) -> Any:
        return self._torch.einsum(subscripts, *inputs)

    def accumulate(self, subscripts: str, first: Any, second: Any, output: Any, sign: int) -> None:
        output.add_(self.einsum(subscripts, first, second), alpha=sign)

    def product(self, output: Any, first: Any, second: Any, alpha: float, beta: float) -> None:
        multiply = self._torch.baddbmm if output.ndim > 2 else self._torch.addmm
        multiply(output, first, second, beta=beta, alpha=alpha, out=output)

    def scalar(self, first: Any, second: Any) -> Any:
        return self._torch.dot(first, second)

    def triad(self, output: Any, first: Any, factor: float, second: Any) -> None:
        self._torch.add(first, second, alpha=factor, out=output)


class CuPy:
    """CuPy, with one kernel for what is done to each element."""

    name = "CuPy"

    def __init__(self) -> None:
        self._cupy = importlib.import_module("cupy")
        self._triad = self._cupy.ElementwiseKernel(
            "float64 b, float64 s, float64 c", "float64 a", "a = b + s * c", "triad"
        )

    def array(self, values: NDArray[np.float64]) -> Any:
        return self._cupy.asarray(values)

    def einsum(self, subscripts: str, *inputs: Any) -> Any:
        return self._cupy.einsum(subscripts, *inputs)

    def accumulate(self, subscripts: str, first: Any, second: Any, output: Any, sign: int) -> None:
        output += sign * self.einsum(subscripts, first, second)

    def product(self, output: Any, first: Any, second: Any, alpha: float, beta: float) -> None:
        raise NotSaid("the same cuBLAS as torch's")

    def scalar(self, first: Any, second: Any) -> Any:
        return self._cupy.dot(first, second)

    def triad(self, output: Any, first: Any, factor: float, second: Any) -> None:
        self._triad(first, factor, second, output)


class CuTensor(CuPy):
    """cuTENSOR, through CuPy: contractions alone, accumulated where they are computed."""

    name = "cuTENSOR"

    def __init__(self) -> None:
        super().__init__()
        self._contraction = importlib.import_module("cupyx.cutensor").contraction

    def einsum(self, subscripts: str, *inputs: Any) -> Any:
        raise NotSaid("sums of contractions")

    def accumulate(self, subscripts: str, first: Any, second: Any, output: Any, sign: int) -> None:
        inputs, result = subscripts.split("->")
        modes = inputs.split(",")
        own = (first, tuple(modes[0]), second, tuple(modes[1]))
        self._contraction(float(sign), *own, 1.0, output, tuple(result))

    def scalar(self, first: Any, second: Any) -> Any:
        raise NotSaid("no contraction")

    def triad(self, output: Any, first: Any, factor: float, second: Any) -> None:
        raise NotSaid("no contraction")


LIBRARIES: tuple[Callable[[], Library], ...] = (Torch, CuPy, CuTensor)


@dataclass(frozen=True, slots=True)
class PeerTime:
    """Seconds of a library with what it reads in a cache, and without; or why there are none."""

    library: str
    warm_s: float | None = None
    cold_s: float | None = None
    problem: str = ""


def libraries() -> Iterator[Library | PeerTime]:
    """Yield the libraries, and for those that are not here why."""
    for made in LIBRARIES:
        try:
            yield made()
        except Exception as missing:  # of a foreign library, anything
            yield PeerTime(getattr(made, "name", ""), problem=_words(missing))


def filled(analysis: Analysis) -> dict[str, NDArray[np.float64]]:
    """Return the arrays of a region, flat, with numbers in [0, 1)."""
    random = np.random.default_rng(1)
    values = known_values(analysis.region, analysis.region.sizes)
    lengths = {name: evaluate(shape.length, values) for name, shape in analysis.shapes.items()}
    return {name: random.random(length) for name, length in lengths.items()}


def call_of(
    function: str, analysis: Analysis, given: Mapping[str, NDArray[np.float64]], library: Library
) -> tuple[Call, Arrays]:
    """Return what computes a function's work with a library, and the arrays that it updates.

    Raises:
        NotSaid: The library has no way to say it.
    """
    sizes = analysis.region.sizes
    make = _BY_NAME.get(function, _contracted)
    shaped = {name: values.reshape(-1) for name, values in given.items()}
    for name, shape in _shapes(function, sizes).items():
        shaped[name] = shaped[name].reshape(shape)
    arrays = {name: library.array(values) for name, values in shaped.items()}
    try:
        parts = () if function in _BY_NAME else contractions(analysis)
    except ValueError as mistake:
        raise NotSaid(str(mistake)) from mistake
    return (lambda: make(library, arrays, sizes, parts)), arrays


Work = Callable[[Library, Arrays, Mapping[str, int], Sequence[Contraction]], Any]


def _shapes(function: str, sizes: Mapping[str, int]) -> Mapping[str, tuple[int, ...]]:
    n = sizes.get("n", 0)
    match function:
        case "ax":
            cube = (sizes["elements"], n, n, n)
            return {"w": cube, "u": cube, "g": (*cube, 6), "D": (n, n)}
        case "action_2d" | "action_3d":
            e, d, q, dims = sizes["elements"], sizes["d"], sizes["q"], int(function[-2])
            inner, points = (e, *(d,) * dims), (e, *(q,) * dims)
            return {"U": inner, "V": inner, "D": points, "B": (q, d)}
        case "interpolate":
            e, d, q = sizes["elements"], sizes["d"], sizes["q"]
            return {"U": (e, d, d, d), "V": (e, q, q, q), "B": (q, d)}
        case "gemm":
            m, k = sizes["m"], sizes["k"]
            return {"C": (m, n), "A": (m, k), "B": (k, n)}
        case "batched_gemm":
            return dict.fromkeys("CAB", (sizes["batch"], n, n))
        case "heat":
            return dict.fromkeys(("to", "from"), (n, n, n))
    return {}


def _ax(lib: Library, a: Arrays, *_: Any) -> None:
    u, g, d = a["u"], a["g"], a["D"]
    r = lib.einsum("il,ekjl->ekji", d, u)
    s = lib.einsum("jl,ekli->ekji", d, u)
    t = lib.einsum("kl,elji->ekji", d, u)
    ur = g[..., 0] * r + g[..., 1] * s + g[..., 2] * t
    us = g[..., 1] * r + g[..., 3] * s + g[..., 4] * t
    ut = g[..., 2] * r + g[..., 4] * s + g[..., 5] * t
    a["w"][...] = lib.einsum("li,ekjl->ekji", d, ur)
    lib.accumulate("lj,ekli->ekji", d, us, a["w"], 1)
    lib.accumulate("lk,elji->ekji", d, ut, a["w"], 1)


def _along_each(lib: Library, matrix: str, b: Any, v: Any) -> Any:
    """Return elements with a matrix applied in each of their directions, such as ``z*`` of B."""
    letters = "ijk"[: v.ndim - 1]
    for one in letters:
        own = matrix.replace("*", one)
        v = lib.einsum(f"{own},e{letters}->e{letters.replace(one, 'z')}", b, v)
    return v


def _action(lib: Library, a: Arrays, *_: Any) -> None:
    at_points = _along_each(lib, "z*", a["B"], a["V"]) * a["D"]
    a["U"][...] = _along_each(lib, "*z", a["B"], at_points)


def _interpolate(lib: Library, a: Arrays, *_: Any) -> None:
    a["V"][...] = _along_each(lib, "z*", a["B"], a["U"])


def _product(lib: Library, a: Arrays, *_: Any) -> None:
    lib.product(a["C"], a["A"], a["B"], ALPHA, BETA)


def _heat(lib: Library, a: Arrays, *_: Any) -> None:
    old, to = a["from"], a["to"]
    if isinstance(lib, CuTensor):
        raise NotSaid("no contraction")
    inner = old[1:-1, 1:-1, 1:-1]
    around = old[:-2, 1:-1, 1:-1] + old[2:, 1:-1, 1:-1]
    around = around + old[1:-1, :-2, 1:-1] + old[1:-1, 2:, 1:-1]
    around = around + old[1:-1, 1:-1, :-2] + old[1:-1, 1:-1, 2:]
    to[1:-1, 1:-1, 1:-1] = inner + ALPHA * (around - 6.0 * inner)


def _triad(lib: Library, a: Arrays, *_: Any) -> None:
    lib.triad(a["a"], a["b"], ALPHA, a["c"])


def _dot(lib: Library, a: Arrays, *_: Any) -> Any:
    return lib.scalar(a["a"], a["b"])


def _contracted(
    lib: Library, a: Arrays, _: Mapping[str, int], parts: Sequence[Contraction]
) -> None:
    for part in parts:
        first, second = (a[name].reshape(part.shapes[name]) for name in part.inputs)
        output = a[part.output].reshape(part.shapes[part.output])
        lib.accumulate(part.subscripts, first, second, output, part.sign)


# The scalars of products, of the triad and of the heat equation; their times do not depend on them.
ALPHA, BETA = 0.5, 0.25
_BY_NAME: Mapping[str, Work] = {
    "ax": _ax,
    "action_2d": _action,
    "action_3d": _action,
    "interpolate": _interpolate,
    "gemm": _product,
    "batched_gemm": _product,
    "heat": _heat,
    "triad": _triad,
    "dot": _dot,
}


def times(function: str, analysis: Analysis) -> Iterator[PeerTime]:
    """Yield what each library takes for a function's work, or why it has no time."""
    given = filled(analysis)
    for library in libraries():
        if isinstance(library, PeerTime):
            yield library
            continue
        try:
            call, _ = call_of(function, analysis, given, library)
            yield PeerTime(library.name, *_timed(call))
        except Exception as problem:  # of a foreign library, anything
            yield PeerTime(library.name, problem=_words(problem))


def copy_bytes_s() -> float | None:
    """Return the bytes that a copy on the GPU reads and writes in a second, None without torch."""
    try:
        torch = importlib.import_module("torch")
        given = torch.empty(COPIED_BYTES, dtype=torch.uint8, device="cuda")
        copied = torch.empty_like(given)
        warm_s, _ = _timed(lambda: copied.copy_(given))
    except Exception:  # of a foreign library, anything
        return None
    return 2 * COPIED_BYTES / warm_s


def _timed(call: Call) -> tuple[float, float]:
    """Return the seconds of a call, what it reads in a cache and not, medians between two events.

    Warm calls follow each other without a gap, so that what the host does between them does not
    count; the cold ones each follow what empties the caches.
    """
    torch = importlib.import_module("torch")
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")

    def taken_s(count: int) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            call()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) * 1e-3 / count

    first_s = min(taken_s(1) for _ in range(WARM_UPS))
    count = max(1, min(MOST_TOGETHER, round(TOGETHER_S / first_s)))
    warm = median(taken_s(count) for _ in range(RUNS))
    cold = []
    for _ in range(RUNS):
        flushed.zero_()
        cold.append(taken_s(1))
    return warm, median(cold)


def _words(problem: Exception) -> str:
    return (str(problem).splitlines() or [""])[0] or type(problem).__name__
