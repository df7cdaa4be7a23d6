"""Random einsum strings of up to five tensors, in three targets and as numpy computes them.

Each is written in one of its formulations.

    python tests/tensor/test_random_einsum.py 10000 --seed 1000 --jobs 2

runs so many, in files of 40 functions, each with the next seed; one that fails is told of.
"""

from __future__ import annotations

import os
import random
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.laws import IS_THOROUGH
from tensor.test_called import check

from annotune.tensor.program import TensorProgram
from annotune.tensor.text import tensor_text
from annotune.tensor.translate import einsum_of, translated

IN_A_FILE = 40
# Iterations of all loops as they are written.
MOST_WORK = 100_000


def expression(drawn: random.Random) -> tuple[str, dict[str, int]]:
    """Return an einsum string and the sizes of its indices."""
    letters = drawn.sample("abcijklmnpq", drawn.randint(1, 7))
    sizes = {name: drawn.choice((1, 2, 2, 3, 4, 5, 7, 11)) for name in letters}
    while prod(sizes.values()) > MOST_WORK:
        sizes[drawn.choice(letters)] = 1
    operands = [
        "".join(drawn.choices(letters, k=drawn.choice((0, 1, 2, 2, 3, 3, 4))))
        for _ in range(drawn.randint(1, 5))
    ]
    used = sorted({name for one in operands for name in one})
    if not used:
        return expression(drawn)
    output = drawn.sample(used, drawn.randint(0, min(4, len(used))))
    return f"{','.join(operands)}->{''.join(output)}", {name: sizes[name] for name in used}


def programs(seed: int, count: int) -> Iterator[tuple[str, TensorProgram]]:
    """Yield so many strings, each with its program; some sizes are parameters with a value."""
    drawn = random.Random(seed)
    for number in range(count):
        string, sizes = expression(drawn)
        element = drawn.choice(("double", "double", "float", "complex"))
        yield string, einsum_of(string, sizes, element, f"f{number}")


def check_seed(seed: int, count: int, folder: Path) -> None:
    """Assert that so many functions in one file compute what numpy does in every target."""
    einsums = {tensor_text(program): string for string, program in programs(seed, count)}

    def c_text(program: TensorProgram) -> str:
        number = int(program.name[1:])
        every = translated(program, "job", "0", number % 3 > 0, None, None).every
        return every[number % len(every)].c.source

    check(folder, [(text, {}) for text in einsums], c_text, einsums)


def test_random_strings(tmp_path: Path) -> None:
    check_seed(1, 12 if IS_THOROUGH else 4, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_more_random_strings(seed: int, tmp_path: Path) -> None:
    check_seed(seed, IN_A_FILE, tmp_path)


def fault(seed: int) -> str:
    """Return what is wrong with the file of a seed, nothing if all is right."""
    try:
        with TemporaryDirectory() as scratch:
            check_seed(seed, IN_A_FILE, Path(scratch))
    except Exception as error:  # a traceback is a finding as well
        return f"seed {seed}: {type(error).__name__}: {error}"
    return ""


def main() -> int:
    """Run the files that the command line asks for, and return 1 if one of them is wrong."""
    asked = ArgumentParser()
    asked.add_argument("count", type=int)
    asked.add_argument("--seed", type=int, default=1000)
    asked.add_argument("--jobs", type=int, default=os.cpu_count())
    given = asked.parse_args()
    files = -(-given.count // IN_A_FILE)
    found = 0
    with ProcessPoolExecutor(given.jobs) as pool:
        for done, said in enumerate(pool.map(fault, range(given.seed, given.seed + files)), 1):
            found += bool(said)
            print(f"{done * IN_A_FILE} functions, {found} files with faults", said, flush=True)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
