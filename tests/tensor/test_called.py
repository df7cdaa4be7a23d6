"""What targets make of tensor files computes what numpy does, in every form that a tensor has."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from wrong.called import LIMIT_S, THREADS, Program

from annotune.tensor.fuse import fusions
from annotune.tensor.minimise import minimised
from annotune.tensor.program import TensorProgram
from annotune.tensor.read import read_program
from annotune.tensor.translate import translated
from annotune.tensor.write import written

CHILD = Path(__file__).with_name("called.py")
Job = tuple[str, Mapping[str, int]]
NO_STRINGS: Mapping[str, str] = {}


def as_made(program: TensorProgram) -> str:
    """Return the C text that `annotune tensor` writes."""
    return translated(program, "job", "0", True, None).c.source


def check(
    folder: Path,
    jobs: Sequence[Job],
    c_text: Callable[[TensorProgram], str] = as_made,
    einsums: Mapping[str, str] = NO_STRINGS,
) -> None:
    """Assert that the functions of tensor files, all in one C file, compute what numpy does.

    A file may be called with several sizes. `einsums` are strings of files that say the same.
    """
    texts: dict[str, str] = {}
    for text, _ in jobs:
        program = read_program("job", text)
        made = c_text(program)
        # Each has macros of its own.
        names = "".join(f"#undef {n.name}\n" for n in program.sizes if not n.is_parameter)
        texts[program.name] = made + names
    source = folder / "c" / "all.c"
    source.parent.mkdir()
    source.write_text("".join(texts.values()))
    built = Program(folder, source)
    assert len(built.emission.reports) == len(texts)
    request = {
        "libraries": {name: str(path) for name, path in built.libraries.items()},
        "jobs": [
            {"text": text, "sizes": dict(sizes)}
            | ({"einsum": einsums[text]} if text in einsums else {})
            for text, sizes in jobs
        ],
    }
    child = subprocess.run(
        [sys.executable, CHILD],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "OMP_NUM_THREADS": THREADS, "ACC_DEVICE_TYPE": "host"},
    )
    assert child.returncode == 0, child.stderr[-2000:]
    *faults, count = child.stdout.splitlines()
    assert not faults, "\n".join(faults[:40])
    assert int(count) >= len(jobs) * 2 * len(built.libraries)


FORMS: Mapping[str, Sequence[Job]] = {
    "layouts": [
        (
            "f1 sizes: m = 17 n = 5 k = 3 ld = 19 variables: C: (m, n) column leading ld"
            " A: (m, k) B: (k, n) column leading 4 alpha: () beta: ()"
            " operations: C:(i, j) = alpha * A:(i, l) * B:(l, j) + beta * C:(i, j)",
            sizes,
        )
        for sizes in ({}, {"m": 1, "n": 1, "k": 1, "ld": 1}, {"m": 33, "n": 4, "k": 2, "ld": 33})
    ]
    + [
        (
            "f2 access: multidimensional pattern: strided define: n = 7 sizes: nb = 5 ld = 9"
            " variables: R: (nb, n, n) A: (n, n) leading ld B: (nb, n, n) column s: ()"
            " operations: R:(b, i, j) -= A:(i, k) * B:(b, k, j) s += A:(i, i) - B:(b, i, i)",
            sizes,
        )
        for sizes in ({}, {"nb": 1}, {"nb": 34, "ld": 7})
    ],
    "pointers": [
        (
            "f3 define: n = 6 sizes: nb = 8 variables: R: (nb, n, n) pointers"
            " A: (nb, n, n) pointers column B: (n, n)"
            " operations: R:(b, i, j) += A:(b, i, k) * B:(k, j)",
            sizes,
        )
        for sizes in ({}, {"nb": 1}, {"nb": 3})
    ],
    "types": [
        (
            "f4 define: n = 9 variables: z: (n) complex a: () complex A: (n, n) complex"
            " x: (n) w: (n) float"
            " operations: z:(i) = a * conj(A:(i, j)) - A:(j, i) * x:(j)"
            " w:(i) += 2 * w:(i) * x:(i) - fabs(x:(i))"
            " x:(i) = exp(x:(i)) + fmax(w:(i), 0.5)",
            {},
        ),
        (
            "f5 type: float define: n = 9 variables: x: (n) A: (n, n) s: () t: (n) internal"
            " d: () internal operations: t:(i) = A:(i, j) * x:(j) - A:(j, i) d = t:(i) * x:(i)"
            " x:(i) = d * (t:(i) - 1) * x:(i) s = -d",
            {},
        ),
    ],
    "orders": [
        (
            "f6 sizes: n_i = 6 n_j = 3 n_k = 4 n_l = 5 n_m = 6 n_n = 3"
            " variables: d: 3 A: 2 B: 2 C: 2 u: 3"
            " operations: d:(i, j, k) += A:(k, l) * B:(j, m) * C:(i, n) * u:(l, m, n)",
            {f"n_{x}": n for x, n in zip("ijklmn", sizes, strict=True)},
        )
        for sizes in ((5, 3, 4, 2, 3, 5), (1, 1, 1, 1, 1, 1), (2, 9, 3, 3, 8, 1))
    ],
}


@pytest.mark.alike(4)
@pytest.mark.parametrize("form", FORMS)
def test_targets_compute_what_numpy_does(form: str, tmp_path: Path) -> None:
    check(tmp_path, FORMS[form])


@pytest.mark.slow
def test_operations_in_common_loops_compute_what_numpy_does(tmp_path: Path) -> None:
    def fused(program: TensorProgram) -> str:
        every = fusions(minimised(program).program)
        return written(every[int(program.name[-1])], "job", "0").source

    element = (
        "el{} {} define: n = 4 m = 3 sizes: ne = 5 variables: d: (ne, n, n, n) A: (n, m)"
        " B: (n, m) column C: (n, m) u: (ne, m, m, m) pointers"
        " operations: d:(e, i, j, k) -= A:(k, l) * B:(j, p) * C:(i, q) * u:(e, l, p, q)"
    )
    forms = ("", "access: multidimensional pattern: strided memory: column")
    texts = [element.format(number, form) for number, form in enumerate(forms)]
    check(tmp_path, [(text, sizes) for text in texts for sizes in ({}, {"ne": 1})], fused)


@pytest.mark.slow
def test_the_figures_compute_what_numpy_does(examples: Path, tmp_path: Path) -> None:
    """At awkward sizes, in the form of their files."""
    lengths = {"sd_t_d1_1": (3, 2, 5, 2, 3, 1, 4), "local_grad3": (5, 5, 5, 7)}
    jobs: list[Job] = []
    for name, values in lengths.items():
        text = (examples / "tensor" / f"{name}.tensor").read_text()
        every = iter(values)
        text = re.sub(r"(?<= = )\d+", lambda _, left=every: str(next(left)), text)
        jobs.append((text, {}))
    check(tmp_path, jobs)
