"""Tells how many mistakes in emitted texts the check of a run finds.

    python benchmarks/mutants.py
    python benchmarks/mutants.py --check --seed 2 --jobs 2
    python benchmarks/mutants.py --only dot 'gemm openmp' --kinds barrier combine
    python benchmarks/mutants.py --kinds clause --per-kind 9 --gpu gcc-12   # OpenACC on a GPU too

Each mutant is an emitted text with one mistake that the compiler takes: a bound one off, a barrier
gone, a clause weaker. It is checked as `annotune run` checks what is about to win. With --check
exits with 1 where less than 99% of those are turned down that are another program than before.
docs/benchmarks.md has the last score and what passed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from mutation.judge import Judge, Judged, chosen, judged_all, unsound
from mutation.on_gpu import gpu_table, run_on_gpu
from mutation.operators import KINDS
from mutation.subjects import Mutant, mutants_of, programs, subjects
from mutation.table import score, survivors, table

from annotune.measure.toolchain import find_toolchains

LEAST_SCORE = 0.99
PER_KIND = 1


def main(words: Sequence[str]) -> int:
    """Print the table; return the exit code."""
    given = _parser().parse_args(words)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="annotune-mutants-") as scratch:
        judges, mutants = _made(given.only, given.keep or Path(scratch))
        if not judges:
            print(f"error: no subject is named {', '.join(given.only)}", file=sys.stderr)
            return 2
        wanted = chosen(mutants, given.per_kind, given.seed)
        picked = [one for one in wanted if one[1].edit.kind in given.kinds]
        found: list[Judged] = []
        for one in judged_all(judges, picked, given.jobs):
            found.append(one)
            _progress(len(found), len(picked), one, given.verbose)
        wrong = unsound(judges, given.jobs)
        if given.gpu:
            _print_gpu(given.gpu, found, given.keep or Path(scratch), given.jobs)
    took_s = time.monotonic() - start
    print(f"{len(found)} mutants of {len(judges)} texts, seed {given.seed}, {took_s:.0f} s")
    print(table(found))
    for line in survivors(found):
        print(f"passed: {line}")
    for line in wrong:
        print(f"turned down without a mistake: {line}")
    if given.json:
        given.json.write_text(json.dumps([_row(one) for one in found], indent=1) + "\n")
    return int(bool(wrong) or (given.check and score(found) < LEAST_SCORE))


def _made(only: Sequence[str], folder: Path) -> tuple[dict[str, Judge], dict[str, list[Mutant]]]:
    """Return the judge and the mutants of each subject whose name begins with one of `only`."""
    tools = find_toolchains(os.environ)
    judges: dict[str, Judge] = {}
    mutants: dict[str, list[Mutant]] = {}
    for program in programs():
        if only and not any(word.split()[0] == program for word in only):
            continue
        for subject in subjects(program, tools, folder):
            name = f"{subject.program} {subject.target}"
            if not only or any(f"{name} ".startswith(f"{word} ") for word in only):
                judges[name] = Judge(subject)
                mutants[name] = mutants_of(subject)
    return judges, mutants


def _print_gpu(compiler: str, found: Sequence[Judged], folder: Path, jobs: int) -> None:
    """Print what a GPU makes of the mutants of OpenACC, beside what the check said of them."""
    tools = find_toolchains({**os.environ, "CC": compiler})
    ran = run_on_gpu(found, tools, folder / "gpu", jobs)
    print(gpu_table(ran))
    for one in ran:
        if one.is_missed:
            print(f"turned down on the GPU alone: {one.judged.mutant.name}: {one.words}")
        elif one.is_only_checked:
            print(f"turned down by the check alone: {one.judged.mutant.name}: {one.judged.words}")


def _row(one: Judged) -> dict[str, str]:
    mutant = one.mutant
    names = {"program": mutant.subject.program, "target": mutant.subject.target}
    edit = mutant.edit
    return {**names, "kind": edit.kind, "what": edit.what, "fate": one.fate, "words": one.words}


def _progress(done: int, count: int, one: Judged, is_verbose: bool) -> None:
    """Tell a person who waits how far it is, or each fate."""
    if is_verbose:
        words = f" ({one.words.splitlines()[0]})" if one.words else ""
        print(f"{done}/{count} {one.fate}: {one.mutant.edit.kind}: {one.mutant.name}{words}")
    elif sys.stderr.isatty():
        end = "\n" if done == count else ""
        print(f"\r\033[K{done}/{count} {one.mutant.name[:80]}", end=end, file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mutants.py", description="see docs/benchmarks.md")
    parser.add_argument("--check", action="store_true", help="exit with 1 below 99%%")
    parser.add_argument("--seed", type=int, default=1, help="which of the mutants are tried")
    parser.add_argument("--per-kind", type=int, default=PER_KIND, help="of each kind and text")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="such as 'dot openmp'"
    )
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS, metavar="KIND")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is compiled in DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every fate to FILE")
    parser.add_argument(
        "--gpu", default="", metavar="GCC", help="run those of OpenACC on a GPU by this gcc too"
    )
    parser.add_argument("--verbose", action="store_true", help="print every fate")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
