"""Files and folders that are not there, not ours, or no files."""

from __future__ import annotations

from bad_inputs.case import GOOD, Bad

SMALL = ("--target", "openmp", "-o")

BAD = {
    "output below a file": Bad(
        GOOD,
        "AT602",
        "cannot write in 'bad.c/below'",
        "choose another folder with -o DIR",
        options=(*SMALL, "bad.c/below"),
        command="emit",
        place="bad.c/below:1:1",
    ),
    "output on a file": Bad(
        GOOD,
        "AT602",
        "cannot write in 'bad.c'",
        options=(*SMALL, "bad.c"),
        command="emit",
        place="bad.c:1:1",
    ),
    "a file of the user's": Bad(
        GOOD,
        "AT603",
        "'./bad_omp.c' exists and was not written by annotune".replace("./", ""),
        options=(*SMALL, "."),
        files={"bad_omp.c": "int mine;\n"},
        command="emit",
        place="bad_omp.c:1:1",
    ),
    "run's folder": Bad(
        GOOD,
        "AT602",
        "cannot write in 'bad.c'",
        options=(*SMALL, "bad.c"),
        command="run",
        place="bad.c:1:1",
    ),
}
