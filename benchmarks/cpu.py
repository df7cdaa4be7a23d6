"""Times tuned OpenMP against other ways to compute the same on this machine's cores.

    python benchmarks/cpu.py [--workloads d1_1,s1] [--rounds 7] [--json FILE] [--check]
    python benchmarks/cpu.py --check --saved FILE ...

Each kernel of `c_examples` in one process: annotune's first choice, the text as written by
`gcc -O3 -march=native` and by `gcc -O2`, the text with `omp parallel for`, numpy.einsum, and
torch.einsum where torch is installed. Every round calls all of them in turn, each once before it
is timed; a figure is the median over the rounds, in GFLOP/s. A variant that does not compute what
the original does has no figure. Bounds are this machine's stream rate and arithmetic peak,
measured by the same run.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from cpu_promises import held
from cpu_rows import (
    NAIVE,
    NO_TORCH,
    NUMPY,
    O2,
    O3,
    TORCH,
    TUNED,
    VARIANTS,
    Row,
    read_rows,
    table,
    write_rows,
)
from cpu_workloads import (
    Array,
    Contraction,
    Workload,
    contractions,
    run_einsum,
    run_gemm,
    workloads,
)

from annotune.analysis.facts import Analysis
from annotune.codegen.baseline import naive_openmp
from annotune.codegen.target import Provenance, load_target
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.measure.machine import Cpu, cpu_facts
from annotune.measure.sizes import evaluate, known_values
from annotune.measure.toolchain import Toolchains, find_toolchains
from annotune.pipeline import Settings, emit

# A call shorter than this is repeated until one round takes as long.
SHORTEST_ROUND_S = 5e-3


class Prepared:
    """A workload with its programs built, its arrays filled and the right outputs known."""

    def __init__(self, work: Workload, tools: Toolchains, folder: Path) -> None:
        self.work = work
        self.folder = folder
        defines = tuple(f"-D{name}={value}" for name, value in work.defines.items())
        target = load_target("openmp")
        search = HeaderSearch(defines=work.defines)
        settings = Settings(work.source, ("openmp",), search=search, function=work.function)
        made = emit(settings, [target])
        analysis = made.reports[0].analysis
        assert analysis is not None
        assert tools.c is not None
        self.analysis = analysis
        naive = target.files(
            made.source, [naive_openmp(made.source, analysis)], Provenance("", work.source.name)
        )
        fast = ("-O3", *tools.native)
        texts = {
            TUNED: (made.files["_omp.c"], (*fast, "-fopenmp")),
            O3: (made.text, fast),
            O2: (made.text, ("-O2",)),
            NAIVE: (naive["_omp.c"], (*fast, "-fopenmp")),
        }
        self.calls: dict[str, Callable[[], None]] = {}
        self.arrays = _filled(analysis)
        for name, (text, flags) in texts.items():
            words = (*tools.c.command, *flags, *defines)
            self.calls[name] = self._from_c(words, text, name)
        self._add_einsums()

    def _from_c(self, command: Sequence[str], text: str, name: str) -> Callable[[], None]:
        # A name of its own: the loader takes a path that it knows for the library it has.
        stem = f"{self.work.name}_{VARIANTS.index(name)}".replace(" ", "_")
        source, library = self.folder / f"{stem}.c", self.folder / f"{stem}.so"
        source.write_text(text)
        words = [*command, "-w", "-fPIC", "-shared", str(source), "-lm", "-o", str(library)]
        subprocess.run(words, check=True)
        function = getattr(ctypes.CDLL(str(library)), self.work.function)
        function.restype = None
        arguments: list[object] = []
        for argument in self.work.arguments:
            value = self.work.values.get(argument)
            if value is None:
                arguments.append(ctypes.c_void_p(self.arrays[argument].ctypes.data))
            else:
                kind = ctypes.c_int if isinstance(value, int) else ctypes.c_double
                arguments.append(kind(value))
        return lambda: function(*arguments)

    def _add_einsums(self) -> None:
        found: dict[str, Callable[..., object]] = {NUMPY: lambda *a: np.einsum(*a, optimize=True)}
        if importlib.util.find_spec("torch") is not None:
            torch = importlib.import_module("torch")

            def einsum(subscripts: str, *inputs: Array) -> Array:
                product: Array = torch.einsum(subscripts, *map(torch.from_numpy, inputs)).numpy()
                return product

            found[TORCH] = einsum
        parts: tuple[Contraction, ...] = ()
        if self.work.function != "gemm":
            parts = contractions(self.analysis)
        for name, function in found.items():
            if parts:
                self.calls[name] = lambda f=function: run_einsum(parts, self.arrays, f)
            else:
                self.calls[name] = lambda f=function: run_gemm(self.work.values, self.arrays, f)

    def outputs(self) -> dict[str, Array]:
        written = (name for name, use in self.analysis.uses.items() if use.is_written)
        return {name: self.arrays[name] for name in written}

    def problems(self) -> dict[str, str]:
        """Run every variant once from the same outputs; return what is wrong with those that
        differ from the original, and leave all outputs as they were."""
        before = {name: array.copy() for name, array in self.outputs().items()}
        self.calls[O2]()
        right = {name: array.copy() for name, array in self.outputs().items()}
        found = {}
        for variant, call in self.calls.items():
            for name, array in self.outputs().items():
                array[:] = before[name]
            call()
            for name, array in self.outputs().items():
                error = float(np.max(np.abs(array - right[name])))
                if not error <= self._tolerance():
                    found[variant] = f"{name} differs by {error:.2g}"
        return found

    def _tolerance(self) -> float:
        """Return the most that two orders of the same sum may differ by.

        Numbers lie in [0, 1), so a sum of n products and its target stays below n + 1, and each
        of its n roundings errs by half a unit of that (Higham, "Accuracy and Stability of
        Numerical Algorithms", 2002, section 4.2); two sums err twice.
        """
        terms = max(
            self.analysis.total.flop // (2 * max(a.size for a in self.outputs().values())), 1
        )
        return (terms + 2) * (terms + 1) * float(np.finfo(np.float64).eps)


def _filled(analysis: Analysis) -> dict[str, Array]:
    """Return the region's arrays with numbers in [0, 1), each on pages of its own."""
    random = np.random.default_rng(1)
    values = known_values(analysis.region, analysis.region.sizes)
    lengths = {name: evaluate(shape.length, values) for name, shape in analysis.shapes.items()}
    return {name: random.random(length) for name, length in lengths.items()}


def measured(ready: Prepared, rounds: int, cpu: Cpu) -> Row:
    """Return the figures of one workload; only variants that are right are timed."""
    problems = ready.problems()
    calls = {name: call for name, call in ready.calls.items() if name not in problems}
    if TORCH not in ready.calls:
        problems[TORCH] = NO_TORCH
    repeats = {name: _repeats(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        order = list(calls) if number % 2 == 0 else list(reversed(calls))
        for name in order:
            # Threads that slept while others ran may wake up later than a call takes.
            calls[name]()
            start = time.perf_counter()
            for _ in range(repeats[name]):
                calls[name]()
            times[name].append((time.perf_counter() - start) / repeats[name])
    total = ready.analysis.total
    moved = total.bytes_read + total.bytes_written
    return Row(
        ready.work.name,
        ready.work.group,
        {name: total.flop / median(taken) * 1e-9 for name, taken in times.items()},
        problems,
        total.flop / moved * cpu.bandwidth_bytes_s * 1e-9,
        cpu.peak_flop_s * 1e-9,
        times,
    )


def _repeats(call: Callable[[], None]) -> int:
    start = time.perf_counter()
    call()
    return max(1, round(SHORTEST_ROUND_S / (time.perf_counter() - start)))


def selected(names: str) -> tuple[Workload, ...]:
    """Return the workloads whose names begin with one of some, separated by commas."""
    wanted = [name for name in names.split(",") if name]
    found = [w for w in workloads() if not wanted or _is_one_of(w.name, wanted)]
    if not found:
        sys.exit(f"no workload is called {names}; there are {_names()}")
    return tuple(found)


def _is_one_of(name: str, wanted: Sequence[str]) -> bool:
    return any(name == one or name.startswith((f"{one}_", f"{one} ")) for one in wanted)


def _names() -> str:
    return ", ".join(work.name for work in workloads())


def main(words: Sequence[str]) -> int:
    """Measure what the command line asks for, print it, and write it where asked.

    Return 1 where what is promised is to be checked, and something of it is missed.
    """
    options = _parser().parse_args(words)
    if options.saved:
        rows = tuple(row for path in options.saved for row in read_rows(path))
    else:
        rows = _run(options)
    print(table(rows))
    if not options.check:
        return 0
    found = held(rows)
    print("\n".join(map(str, found)))
    return int(any(one.is_missed for one in found))


def _run(options: argparse.Namespace) -> tuple[Row, ...]:
    """Return the measured rows, said and written as the options want."""
    tools = find_toolchains(os.environ)
    cpu = cpu_facts(tools)
    if cpu.problem or tools.c is None:
        sys.exit(f"nothing can be measured: {cpu.problem or tools.problems['c']}")
    rows = []
    with tempfile.TemporaryDirectory(prefix="annotune-cpu-") as name:
        for work in selected(options.workloads):
            rows.append(measured(Prepared(work, tools, Path(name)), options.rounds, cpu))
            print(f"{work.name} done", file=sys.stderr)
    print(f"{cpu.model}, {cpu.cores} cores, {tools.c.version}, {platform.platform()}")
    print(
        f"stream {cpu.bandwidth_bytes_s / 1e9:.1f} GB/s, peak {cpu.peak_flop_s / 1e9:.0f} GFLOP/s"
    )
    if options.json:
        write_rows(options.json, cpu, rows)
    return tuple(rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workloads", default="", help=f"names or their beginnings: {_names()}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures and all times to this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a promise is missed")
    parser.add_argument(
        "--saved",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="measure nothing, read what --json wrote",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
