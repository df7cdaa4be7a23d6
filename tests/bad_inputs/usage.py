"""Options and presets that are misspelt: a refusal where the words are the user's own."""

from __future__ import annotations

from support.cli import OPEN, function

from bad_inputs.case import GOOD, LOOP, Bad, Misuse

BAD = {
    "no region in the function": Bad(
        GOOD,
        "AT605",
        "no annotated region stands in a function 'ff'",
        "did you mean 'f'?",
        options=("--function", "ff"),
        place="bad.c:1:1",
    ),
    "function without a region": Bad(
        "int g(void) { return 1; }\n" + GOOD,
        "AT605",
        "in a function 'g'",
        "functions with regions: f",
        options=("--function", "g"),
        place="bad.c:1:1",
    ),
    "unknown device": Bad(
        GOOD,
        "AT085",
        "unknown device 'h2000'",
        "did you mean 'h200'?",
        options=("--device", "h2000"),
        place="--device",
    ),
    "device that is no file": Bad(
        GOOD,
        "AT080",
        "cannot read none.yaml",
        options=("--device", "./none.yaml"),
        place="none.yaml:1:1",
    ),
    "device with unknown keys": Bad(
        GOOD,
        "AT083",
        "unknown key 'colour'",
        options=("--device", "./mine.yaml"),
        files={"mine.yaml": "«colour»: green\n"},
    ),
    "size by --set": Bad(
        function(f"  {OPEN}\n  «for» {LOOP[4:]} a[i] = b[i];\n  /*@ end @*/"),
        "AT210",
        "loop 'i' runs no iteration",
        options=("--set", "n=0"),
    ),
    "computed on the device": Bad(
        function(
            "  double s = 0;\n  /*@ begin PerfTuning (def input_params { param n = 64; }) @*/\n"
            f"  {LOOP} s += b[i];\n  {LOOP} a[i] = s;\n  /*@ end @*/\n  a[0] = s;"
        )
        .replace("/*@ begin", "«/*@ begin")
        .replace("; }) @*/", "; }) @*/»"),
        "AT401",
        "'s' is computed in this region",
        options=("--data", "resident", "--target", "cuda"),
        command="emit",
    ),
    "allocated on the host": Bad(
        "#include <stdlib.h>\n"
        + function(
            "  double *«t» = malloc(n * sizeof *t);\n"
            "  /*@ begin PerfTuning (def input_params { param n = 64; }) @*/\n"
            f"  {LOOP} t[i] = b[i];\n  {LOOP} a[i] = t[n - 1 - i];\n  /*@ end @*/\n  free(t);"
        ),
        "AT403",
        "'t' is memory of the host",
        options=("--data", "resident", "--target", "cuda"),
        command="emit",
    ),
    "declared on the host": Bad(
        function(
            "  double «t»[64];\n  /*@ begin PerfTuning (def input_params { param n = 64; }) @*/\n"
            f"  {LOOP} t[i] = b[i];\n  {LOOP} a[i] = t[n - 1 - i];\n  /*@ end @*/\n  a[0] += t[0];"
        ),
        "AT403",
        "'t' is memory of the host",
        options=("--data", "resident", "--target", "cuda"),
        command="emit",
    ),
}

# What click refuses, after `annotune check bad.c` where the first word is an option.
MISUSE = {
    "no command": Misuse(("chek", "bad.c"), "Did you mean 'check'?"),
    "no file": Misuse(("check",), "Missing argument 'SOURCE...'"),
    "two files": Misuse(("emit", "bad.c", "more.c"), "unexpected extra argument"),
    "unknown option": Misuse(("--nothing",), "No such option"),
    "misspelt option": Misuse(("--targt", "cuda"), "'--target'"),
    "size without a value": Misuse(("--set", "n"), "'n' is not NAME=VALUE"),
    "size without a name": Misuse(("--set", "=3"), "'=3' is not NAME=VALUE"),
    "number as a name": Misuse(("--set", "1n=3"), "'1n=3' is not NAME=VALUE"),
    "foreign name": Misuse(("--set", "é=3"), "'é=3' is not NAME=VALUE"),
    "empty value": Misuse(("--set", "n="), "'n=': expected a value, found the end"),
    "code as a value": Misuse(("--set", "n=__import__('os')"), "unknown function '__import__'"),
    "target": Misuse(
        ("--target", "cuba"), "'cuba' is none of cuda, openacc, openmp, openmp_target; did you mean"
    ),
    "no target": Misuse(("--target", ","), "name at least one of cuda, openacc, openmp"),
    "architecture": Misuse(("--arch", "hopper"), "'hopper' is no architecture such as sm_90"),
    "architecture with a flag": Misuse(("--arch", "sm_90 -o x"), "is no architecture"),
    "data": Misuse(("--data", "hosts"), "'hosts' is none of host, resident; did you mean 'host'?"),
    "strategy": Misuse(("--strategy", "diret"), "did you mean 'direct'?"),
    "format": Misuse(("--format", "xml"), "'xml' is none of text, json, sarif"),
    "two formats": Misuse(("--json", "--format", "sarif"), "exclude each other"),
    "macro": Misuse(("-D", "1"), "'1' does not begin with a macro's name"),
    "macro with a flag": Misuse(("-D", "-o=x"), "does not begin with a macro's name"),
    "macro of two lines": Misuse(("-D", "A=1\n#include <x>"), "is not one line of text"),
    "no folder": Misuse(("report",), "Missing argument 'FOLDER'"),
    "two forms of a report": Misuse(("report", ".", "--html", "x", "--json"), "exclude each other"),
    "T4 and a page": Misuse(("report", ".", "--html", "x", "--t4"), "exclude each other"),
    "budget": Misuse(("run", "bad.c", "--budget", "0"), "0 is not in the range"),
    "no time": Misuse(("run", "bad.c", "--time", "0s"), "'0s' is no positive time"),
    "strange time": Misuse(("run", "bad.c", "--time", "2 weeks"), "is no positive time"),
    "search": Misuse(("run", "bad.c", "--search", "exaustive"), "did you mean 'exhaustive'?"),
    "search as code": Misuse(("run", "bad.c", "--search", "os.system"), "there is no search"),
    "negative seed": Misuse(("run", "bad.c", "--seed", "-1"), "-1 is not in the range"),
    "cache": Misuse(("run", "bad.c", "--cache", "cool"), "did you mean 'cold'?"),
    "no workers": Misuse(("run", "bad.c", "--workers", "local:0"), "is neither local:N"),
    "strange workers": Misuse(("run", "bad.c", "--workers", "remote:4"), "is neither local:N"),
    "no jobs": Misuse(("run", "bad.c", "--jobs", "-1"), "-1 is not in the range"),
}
