"""What annotune makes of the Fortran of `tests/legacy`, as f2c writes it in C.

python benchmarks/legacy.py                    a line for each routine
python benchmarks/legacy.py dgemnn dsymvu      the same for these, with all that `check` says
python benchmarks/legacy.py --make [FILE…]     the .c files anew, by f2c
python benchmarks/legacy.py --update           routines.tsv with what is found now
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

import legacy_page
from legacy_corpus import (
    FOLDER,
    Found,
    Routine,
    by_file,
    c_routines,
    found_in,
    is_accepted,
    is_worse,
    is_wrong,
    routines,
    translated,
    write_routines,
)


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="routines, or files with --make")
    parser.add_argument("--make", action="store_true", help="translate the Fortran again")
    parser.add_argument("--update", action="store_true", help="write the states into the table")
    parser.add_argument("--page", action="store_true", help="write docs/legacy.md")
    parser.add_argument("--measure", action="store_true", help="tune OpenMP and keep the times")
    options = parser.parse_args()
    if options.make:
        return make(options.names)
    rows = [row for row in routines() if not options.names or row.name in options.names]
    unknown = {*options.names} - {row.name for row in rows}
    if unknown:
        parser.error(f"no such routine: {', '.join(sorted(unknown))}")
    if options.measure:
        legacy_page.measure(rows)
        return 0
    found = {}
    for file, of in by_file(rows).items():
        for name in [row.name for row in of] if options.names else [""]:
            found.update(found_in(FOLDER / f"{file}.c", name))
    bad = sum(_show(row, found[row.name], bool(options.names)) for row in rows)
    accepted = sum(is_accepted(found[row.name].state) for row in rows)
    parallel = sum(row.may_run_parallel for row in rows)
    print(f"{accepted} accepted of {len(rows)}, {parallel} of which have a parallel loop")
    if options.update:
        states = {name: one.state for name, one in found.items()}
        write_routines(replace(r, state=states.get(r.name, r.state)) for r in routines())
    if (options.update or options.page) and not options.names:
        legacy_page.PAGE.write_text(legacy_page.page(routines(), found))
    return int(bad > 0)


def _show(row: Routine, found: Found, with_messages: bool) -> bool:
    """Print what is found of a routine; return whether it is wrong, or less than the table has."""
    verdict = ""
    if is_wrong(found.state, row.mathematics):
        verdict = f"WRONG: the mathematics are {row.mathematics}"
    elif is_worse(found.state, row.state):
        verdict = f"worse than {row.state}"
    elif found.state != row.state:
        verdict = f"was {row.state}"
    elif is_accepted(found.state) and found.state != row.mathematics:
        verdict = f"could be {row.mathematics}"
    print(f"{row.file + '.' + row.name:18} {found.shown:40} {verdict}")
    for message in found.messages if with_messages else ():
        print(f"    {message}")
    return verdict.startswith(("WRONG", "worse"))


def make(files: Sequence[str]) -> int:
    """Translate Fortran files, all by default, and give new routines a row of the table."""
    sources = [FOLDER / f"{name}.f" for name in files] or sorted(FOLDER.glob("*.f"))
    rows = list(routines())
    for source in sources:
        text = translated(source)
        source.with_suffix(".c").write_text(text)
        known = {row.name for row in rows}
        rows += [
            Routine(name, source.stem, "", "AT000")
            for name in c_routines(text)
            if name not in known
        ]
    write_routines(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
