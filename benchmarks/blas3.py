"""Times the BLAS's third level: as f2c wrote it, by gcc and as tuned OpenMP, beside the textbook's.

    python benchmarks/blas3.py [dgemnn dgemnt ...] [--size 512] [--rounds 5] [--check]

For each routine of `tests/legacy/blas3.c`: the text by `gcc -O2` and by `gcc -O3 -march=native`,
the first choice of `emit` for OpenMP by the latter, and the same of the textbook's nest in
`tests/legacy/textbook/blas3.c`, where that has the routine. Every round calls all of them in
turn, on the same numbers; a figure is the least of the rounds, and what differs from the text by
`gcc -O2` has none. All extents and leading dimensions are the size. With `--check` dgemm's tuned
forms must be within 10% of the textbook's, and 20 times the text by `gcc -O2` in the geometric
mean.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean

import numpy as np
from legacy_corpus import FOLDER, c_routines, selected
from numpy.typing import NDArray

from annotune.codegen.target import load_target
from annotune.measure.machine import cpu_model, usable_cores
from annotune.measure.toolchain import Toolchains, find_toolchains
from annotune.pipeline import Settings, emit

F2C, TEXTBOOK = FOLDER / "blas3.c", FOLDER / "textbook" / "blas3.c"
O2, O3, TUNED, BOOK = "gcc -O2", "gcc -O3", "tuned", "textbook tuned"
# The forms of dgemm, of which something is promised.
GEMM = ("dgemnn", "dgemtn", "dgemnt", "dgemtt")
WITHIN, SPEEDUP = 1.1, 20.0
SCALARS = {"alpha": 1.5, "beta": 0.5}
SWITCHES = ("upper", "nounit")

Array = NDArray[np.float64]


class Built:
    """A function as a library, with its arguments and the numbers that it is given."""

    def __init__(self, library: Path, text: str, size: int) -> None:
        found = re.search(r"\b(?:int|void) (\w+)\(([^)]*)\)", text)
        assert found is not None, text
        self._function = getattr(ctypes.CDLL(str(library)), found.group(1))
        random = np.random.default_rng(1)
        # A triangle with a strong diagonal: what solves it stays small.
        self.given = {name: random.uniform(-1, 1, (size, size)) for name in "abc"}
        self.given["a"] = self.given["a"] / size + np.eye(size)
        self.arrays = {name: one.copy() for name, one in self.given.items()}
        self._arguments = [self._argument(one, size) for one in found.group(2).split(",")]

    def _argument(self, parameter: str, size: int) -> object:
        *_, name = parameter.replace("*", " ").split()
        name = name.rstrip("_")
        if name in self.arrays:
            return ctypes.c_void_p(self.arrays[name].ctypes.data)
        if name in SCALARS:
            return ctypes.byref(ctypes.c_double(SCALARS[name]))
        value = ctypes.c_int(1 if name in SWITCHES else size)
        return ctypes.byref(value) if "*" in parameter else value

    def time_s(self) -> float:
        """Return the seconds of one call on the numbers that are given."""
        for name, array in self.arrays.items():
            array[:] = self.given[name]
        start = time.perf_counter()
        self._function(*self._arguments)
        return time.perf_counter() - start


def built(name: str, size: int, tools: Toolchains, folder: Path) -> dict[str, Built]:
    """Return the forms of a routine."""
    assert tools.c is not None
    source = folder / f"{name}.c"
    source.write_text(selected(F2C.read_text(), [name]))
    fast = ("-O3", *tools.native)
    texts = {O2: (source.read_text(), ("-O2",)), O3: (source.read_text(), fast)}
    texts[TUNED] = (_tuned(source, f"{name}_", size), (*fast, "-fopenmp"))
    if f" {name}(" in TEXTBOOK.read_text():
        texts[BOOK] = (_tuned(TEXTBOOK, name, size), (*fast, "-fopenmp"))
    found = {}
    for number, (form, (text, flags)) in enumerate(texts.items()):
        path = folder / f"{name}_{number}.c"
        path.write_text(text)
        words = [*tools.c.command, *flags, f"-I{FOLDER}", "-w", "-fPIC", "-shared", str(path)]
        library = path.with_suffix(".so")
        subprocess.run([*words, "-lm", "-o", str(library)], check=True)
        function = name if form == BOOK else f"{name}_"
        head = re.search(rf"\b(?:int|void) {function}\([^)]*\)", text)
        assert head is not None
        found[form] = Built(library, head.group(), size)
    return found


def _tuned(source: Path, function: str, size: int) -> str:
    """Return the text for OpenMP of a function's region, tuned for a size."""
    sizes = dict.fromkeys(("m", "n", "k", "lda", "ldb", "ldc"), size)
    settings = Settings(source, ("openmp",), function=function, sizes=sizes)
    return emit(settings, [load_target("openmp")]).files["_omp.c"]


def measured(forms: dict[str, Built], rounds: int) -> dict[str, float]:
    """Return the seconds of each form that computes what the first does."""
    right = next(iter(forms.values()))
    right.time_s()
    terms = right.given["a"].shape[0]
    # Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2: terms of a sum
    # below 2, in another order.
    bound = 8 * terms * terms * float(np.finfo(np.float64).eps)
    for name in [*forms][1:]:
        forms[name].time_s()
        pairs = ((forms[name].arrays[one], right.arrays[one]) for one in right.arrays)
        error = max(float(np.max(np.abs(own - other))) for own, other in pairs)
        if not error <= bound:
            print(f"  {name} differs by {error:.2g}", file=sys.stderr)
            del forms[name]
    times: dict[str, list[float]] = {name: [] for name in forms}
    for number in range(rounds):
        for name in sorted(forms, reverse=bool(number % 2)):
            # Threads that slept while others ran may wake up later than a call takes.
            if name in (TUNED, BOOK):
                forms[name].time_s()
            times[name].append(forms[name].time_s())
    return {name: min(taken) for name, taken in times.items()}


def show(name: str, times: dict[str, float]) -> None:
    """Print the row of a routine."""
    cells = [f"{times[f] * 1e3:10.2f}" if f in times else f"{'-':>10}" for f in (O2, O3, TUNED)]
    cells.append(f"{times[BOOK] * 1e3:14.2f}" if BOOK in times else f"{'-':>14}")
    gain = f"{times[O2] / times[TUNED]:8.1f}" if TUNED in times else f"{'-':>8}"
    ratio = f"{times[TUNED] / times[BOOK]:10.2f}" if {TUNED, BOOK} <= times.keys() else ""
    print(f"{name:8}", *cells, gain, ratio, flush=True)


def missed(rows: dict[str, dict[str, float]]) -> list[str]:
    """Return which promises of dgemm the rows miss."""
    gemm = {name: rows[name] for name in GEMM if name in rows}
    out = [f"{n}: no tuned form is right" for n, t in gemm.items() if not {TUNED, BOOK} <= t.keys()]
    if out or not gemm:
        return out
    for name, times in gemm.items():
        if times[TUNED] > WITHIN * times[BOOK]:
            out.append(f"{name}: {times[TUNED] / times[BOOK]:.2f} of the textbook's time")
    gain = geometric_mean(times[O2] / times[TUNED] for times in gemm.values())
    print(f"geometric mean over {', '.join(gemm)}: {gain:.1f} times {O2}")
    return out if gain >= SPEEDUP else [*out, f"{gain:.1f} times {O2}, expected {SPEEDUP:g}"]


def main(words: Sequence[str]) -> int:
    """Measure what the command line asks for; return 1 where a promise is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("routines", nargs="*", help="names of routines, all if none is given")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a promise is missed")
    options = parser.parse_args(words)
    tools = find_toolchains(os.environ)
    if tools.c is None:
        sys.exit(f"nothing can be measured: {tools.problems['c']}")
    every = [*c_routines(F2C.read_text())]
    unknown = set(options.routines) - set(every)
    if unknown:
        sys.exit(f"no routine is called {min(unknown)}; there are {', '.join(every)}")
    print(f"{cpu_model()}, {usable_cores()} cores, {tools.c.version}, size {options.size}")
    print(f"{'ms':8} {O2:>10} {O3:>10} {TUNED:>10} {BOOK:>14} {'speed-up':>8} {'of textbook':>10}")
    rows = {}
    with tempfile.TemporaryDirectory(prefix="annotune-blas3-") as folder:
        for name in options.routines or every:
            try:
                forms = built(name, options.size, tools, Path(folder))
            except Exception as error:  # a routine that is refused is a row too
                print(f"{name:8} {error}", flush=True)
                continue
            rows[name] = measured(forms, options.rounds)
            show(name, rows[name])
    found = missed(rows)
    print("\n".join(found))
    return int(options.check and bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
