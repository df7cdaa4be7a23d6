"""Every workload of the papers, for every target: what is emitted computes what numpy computes.

A file is emitted for sizes that are real in each direction of an element or of a matrix, and small
in what there are many of; called at these, where the tuned kernels run, and at awkward ones.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.python import python
from support.regions import EXAMPLES
from workload_references import REFERENCES, SHAPES
from wrong.called import LIMIT_S, THREADS, Program

from annotune.tensor.translate import read_program, translated

CHILD = Path(__file__).with_name("workload_child.py")
Sizes = Mapping[str, int]

# The sizes for which each file is emitted, and others.
FILES: Mapping[str, tuple[Sizes, ...]] = {
    "fem/mass_action.c": (
        {"elements": 20, "d": 5, "q": 6},
        {"elements": 7, "d": 5, "q": 6},
        {"elements": 3, "d": 2, "q": 3},
        {"elements": 2, "d": 6, "q": 5},
        {"elements": 2, "d": 3, "q": 8},
        {"elements": 0, "d": 5, "q": 6},
        {"elements": 1, "d": 1, "q": 1},
    ),
    "fem/interpolation.c": (
        {"elements": 20, "d": 8, "q": 8},
        {"elements": 7, "d": 8, "q": 8},
        {"elements": 3, "d": 4, "q": 6},
        {"elements": 2, "d": 6, "q": 3},
        {"elements": 0, "d": 8, "q": 8},
        {"elements": 1, "d": 1, "q": 1},
    ),
    "fem/mass_assembly.c": (
        {"elements": 20, "d": 3, "q": 4},
        {"elements": 7, "d": 3, "q": 4},
        {"elements": 3, "d": 2, "q": 3},
        {"elements": 2, "d": 4, "q": 3},
        {"elements": 2, "d": 2, "q": 5},
        {"elements": 0, "d": 3, "q": 4},
        {"elements": 1, "d": 1, "q": 1},
    ),
    "fem/kernels.c": (
        {"ni": 30, "nj": 5, "nk": 6, "nl": 1, "ns": 5},
        {"ni": 5, "nj": 4, "nk": 17, "nl": 6, "ns": 6},
        {"ni": 3, "nj": 2, "nk": 4, "nl": 5, "ns": 7},
        {"ni": 1, "nj": 6, "nk": 9, "nl": 11, "ns": 1},
        {"ni": 2, "nj": 3, "nk": 0, "nl": 2, "ns": 2},
    ),
    "gemm/batched.c": (
        {"batch": 40, "n": 8},
        {"batch": 9, "n": 8},
        {"batch": 3, "n": 17},
        {"batch": 5, "n": 1},
        {"batch": 0, "n": 4},
    ),
    "gemm/sgemm.c": (
        {"m": 64, "n": 64, "k": 64, "lda": 64, "ldb": 64, "ldc": 64},
        {"m": 33, "n": 17, "k": 19, "lda": 37, "ldb": 19, "ldc": 40},
        {"m": 2, "n": 3, "k": 5, "lda": 2, "ldb": 7, "ldc": 3},
        {"m": 70, "n": 1, "k": 0, "lda": 70, "ldb": 1, "ldc": 70},
    ),
    "nekbone/ax.c": (
        {"n": 8, "elements": 12},
        {"n": 8, "elements": 5},
        {"n": 3, "elements": 4},
        {"n": 9, "elements": 2},
        {"n": 1, "elements": 3},
        {"n": 8, "elements": 0},
    ),
    "nekbone/cg.c": ({"n": 1000}, {"n": 1}, {"n": 0}, {"n": 4097}),
    "stencil/poisson.c": ({"n": 40}, {"n": 3}, {"n": 2}, {"n": 13}, {"n": 35}),
    "treduda/tensors.c": (
        {"m": 64, "n": 16, "k": 32},
        {"m": 17, "n": 5, "k": 19},
        {"m": 2, "n": 3, "k": 0},
        {"m": 1, "n": 1, "k": 1},
    ),
}
# Tensor files have functions of the same names, and the same sizes.
TENSORS = {
    "riemann_christoffel": "treduda/tensors.c",
    "assembly_2d": "fem/mass_assembly.c",
    "assembly_3d": "fem/mass_assembly.c",
    "action_2d": "fem/mass_action.c",
    "action_3d": "fem/mass_action.c",
    "matrix_product": "treduda/tensors.c",
    "matrix_sum": "treduda/tensors.c",
    "nekbone_ax": "nekbone/ax.c",
    "sgemm": "gemm/sgemm.c",
}
_PROTOTYPE = re.compile(r"^(void|double) (\w+)\(([^)]*)\)\n\{", re.MULTILINE)
_PARAMETER = re.compile(
    r"(?:const )?(int|long|float|double) (\*restrict |\*)?(\w+)((?:\[[^]]*\])*)$"
)


def jobs(text: str, sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Yield a call of each function of a C text."""
    for returns, function, listed in _PROTOTYPE.findall(text):
        parameters = []
        for one in listed.split(","):
            found = _PARAMETER.match(" ".join(one.split()))
            assert found is not None, one
            type_, star, name, brackets = found.groups()
            extents = re.findall(r"\[(?:restrict )?(\w+)\]", brackets) or None
            given = SHAPES[function][name] if star else extents
            parameters.append((name, type_, given))
        yield {
            "function": function,
            "parameters": parameters,
            "sizes": dict(sizes),
            "returns": returns,
        }


def check(
    folder: Path,
    source: Path,
    every: tuple[Sizes, ...],
    function: str = "",
    flags: tuple[str, ...] = (),
    orders: tuple[int, ...] = (0, 1, 2),
) -> None:
    """Assert that a file's functions, or one, compute what numpy does in all targets."""
    text = source.read_text()
    program = Program(folder, source, flags=flags, sizes=dict(every[0]), function=function)
    calls = [job for sizes in every for job in jobs(text, sizes)]
    calls = [job for job in calls if function in ("", job["function"])]
    request = {
        "libraries": {name: str(path) for name, path in program.libraries.items()},
        "jobs": calls,
        "orders": orders,
    }
    child = python(
        CHILD,
        input=json.dumps(request),
        timeout=LIMIT_S,
        env={**os.environ, "OMP_NUM_THREADS": THREADS, "ACC_DEVICE_TYPE": "host"},
    )
    assert child.returncode == 0, child.stderr[-2000:]
    *lines, count = child.stdout.splitlines()
    told = [line for line in lines if line.startswith("# ")]
    faults = [line for line in lines if line not in told]
    assert not faults, "\n".join(faults[:20])
    assert len(told) == len(calls)
    assert int(count) >= len(calls) * (3 + len(orders))


def test_every_workload_has_a_reference() -> None:
    there = {name for file in FILES for _, name, _ in _PROTOTYPE.findall(_text(file))}
    assert there | {"gemm"} | TENSORS.keys() == REFERENCES.keys()


def _text(file: str) -> str:
    return (EXAMPLES / file).read_text()


def test_a_target_computes_what_numpy_does(tmp_path: Path) -> None:
    check(tmp_path, EXAMPLES / "fem/mass_assembly.c", FILES["fem/mass_assembly.c"], "assembly_2d")


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_each_target_computes_what_numpy_does(file: str, tmp_path: Path) -> None:
    check(tmp_path, EXAMPLES / file, FILES[file])


def c_text(name: str, is_factored: bool = True) -> str:
    """Return the C text of a tensor file."""
    text = _text(f"tensor/{name}.tensor")
    return translated(read_program(f"{name}.tensor", text), name, "0", is_factored, None).c.source


@pytest.mark.slow
@pytest.mark.alike(len(TENSORS) * 2)
@pytest.mark.parametrize("is_factored", [True, False])
@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_file_computes_what_numpy_does(
    name: str, is_factored: bool, tmp_path: Path
) -> None:
    source = tmp_path / "c" / f"{name}.c"
    source.parent.mkdir()
    source.write_text(c_text(name, is_factored))
    check(tmp_path, source, FILES[TENSORS[name]])


# The products of the papers take minutes on one core, where CUDA's threads are run one by one.
LONGEST = {"treduda/tensors.c": 512}


def own_sizes(file: str) -> Iterator[tuple[str, Sizes]]:
    """Yield the functions of a file with the sizes that it is tuned for, the longest cut."""
    text, most = _text(file), LONGEST.get(file, sys.maxsize)
    starts = [found.start() for found in _PROTOTYPE.finditer(text)]
    for start, end in zip(starts, (*starts[1:], len(text)), strict=True):
        found = re.findall(r"param (\w+) = (\d+);", text[start:end])
        yield (
            _PROTOTYPE.findall(text[start:end])[0][1],
            {name: min(int(n), most) for name, n in found},
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "function", "sizes"),
    [pytest.param(f, n, sizes, id=n) for f in FILES for n, sizes in own_sizes(f)],
)
def test_each_target_does_so_at_the_sizes_of_the_file(
    file: str, function: str, sizes: Sizes, tmp_path: Path
) -> None:
    check(tmp_path, EXAMPLES / file, (sizes,), function, ("-O2",), (0,))
