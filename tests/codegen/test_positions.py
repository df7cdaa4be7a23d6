"""A region is replaced by exactly one statement, so that it may stand wherever a statement may."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.laws import IS_THOROUGH
from support.resident import Built, Job

from annotune.codegen.target import load_target
from annotune.codegen.users_file import one_statement
from annotune.pipeline import Settings, emit

# R and S are regions, T is one of two nests, H host code that reads what they have written.
POSITIONS = {
    "if": "if (k > 1) R",
    "else": "if (k > 1) R else S",
    "else_alone": "if (k > 1) H else R",
    "chain": "if (k > 2) R else if (k > 1) S else R",
    "dangling": "if (k) if (k > 1) R else S",
    # C gives the 'else' to the 'if' in the first region, which is left as it is written.
    "cut": "if (k > 1) U else S H",
    "cut_chain": "if (k > 1) U else if (k > 2) S else R H",
    "for": "for (int r = 0; r < k; r++) R",
    "for_for": "for (int r = 0; r < k; r++) for (int q = 0; q < 2; q++) R H",
    "while": "int r = k; while (r-- > 0) R",
    "do": "int r = k; do R while (r-- > 0);",
    "do_in_if": "int r = k; if (k > 1) do R while (r-- > 0); else S",
    "block": "if (k > 1) { R } else { H S }",
    "case": "switch (k) { case 0: R break; case 1: S default: R }",
    "switch_alone": "switch (k) case 1: R",
    "label": "if (k > 1) goto here; S here: R",
    "label_at_end": "if (k > 1) goto here; S H here: there: R",
    "label_in_if": "if (k > 1) here: R else if (k == 1) goto here; H",
    "label_of_two": "if (k > 1) goto here; H here: T H",
    "case_of_two": "switch (k) { case 0: T break; default: there: case 1: T H }",
    # The variable of the second region is declared behind the first, which has one of its name.
    "declared_behind": "R int i; V",
    "for_label": "for (int r = 0; r < k; r++) { if (r) goto next; H next: R }",
}
HEAD = "\n/*@ begin PerfTuning ( def input_params { param n = 1024; } ) @*/\n"
REGIONS = {
    "R": f"{HEAD}for (int i = 0; i < n; i++) a[i] = 0.5 * a[i] + 1;\n/*@ end @*/\n",
    "S": f"{HEAD}for (int i = 0; i < n; i++) b[i] += a[i];\n/*@ end @*/\n",
    "V": f"{HEAD}for (i = 0; i < n; i++) b[i] += a[i];\n/*@ end @*/\n",
    "U": f"{HEAD}for (int i = 0; i < n; i++) if (a[i] > 1) a[i] -= 1;\n/*@ end @*/\n",
    "T": f"{HEAD}for (int i = 0; i < n; i++) a[i] += 2;\n"
    "for (int i = 0; i < n; i++) b[i] -= a[n - 1 - i];\n/*@ end @*/\n",
    "H": "\nfor (int z = 0; z < n; z++) b[z] -= 0.5 * a[z];\n",
}
EACH = 1 if IS_THOROUGH else 3
DATA = '/*@ begin Data ( enter = "a[n], b[n]"; exit = "a, b" ) @*/'


def program(with_data: bool = True) -> str:
    """Return a function for each position, as it is and, for one in `EACH`, in a block of Data."""
    rows = ['#pragma GCC diagnostic ignored "-Wdangling-else"']
    for number, (name, position) in enumerate(POSITIONS.items()):
        body = "".join(f" {REGIONS.get(word, word)} " for word in position.split())
        head = "(int n, int k, double *restrict a, double *restrict b)"
        rows.append(f"void f_{name}{head}\n{{\n{body}\n}}")
        if with_data and number % EACH == 0:
            rows.append(f"void f_{name}_data{head}\n{{\n{DATA}\n{body}\n/*@ end @*/\n}}")
    return "\n".join(rows)


@pytest.mark.parametrize(
    "target",
    ["cuda", "openacc", "openmp", pytest.param("openmp_target", marks=pytest.mark.slow)],
)
def test_every_position_runs_as_written(target: str, tmp_path: Path) -> None:
    # The others keep nothing on a device.
    with_data = target in ("cuda", "openacc")
    built = Built(tmp_path, target, {"program": program(with_data)})
    jobs = [
        Job(f"f_{name}{end}", (n, k), (n, n))
        for number, name in enumerate(POSITIONS)
        for end in ("", "_data")[: 1 + (with_data and number % EACH == 0)]
        for n, k in ((5, 0), (5, 1), (3, 2), (0, 3), (7, 3))
    ]
    built.outcomes(*jobs)


@pytest.mark.alike(2)
@pytest.mark.parametrize("settings", [{"resident": True}, {"both": "0.25"}], ids=str)
def test_every_position_compiles_however_data_are_used(
    settings: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "program.c"
    path.write_text(program(with_data="both" not in settings))
    targets = ("cuda", "openacc")
    made = emit(Settings(path, targets, **settings), [load_target(name) for name in targets])
    for suffix in ("_cuda.c", "_acc.c"):
        other = tmp_path / f"program{suffix}"
        other.write_text(made.files[suffix])
        flags = ("-fopenacc", "-fopenmp", "-fsyntax-only", "-std=c11", "-Werror=pedantic")
        subprocess.run(["gcc", *flags, str(other)], check=True)


@pytest.mark.parametrize(
    ("code", "is_one"),
    [
        ("{\n    a = 1;\n}", True),
        ("{\n    /* } */ s = \"}\"; c = '}'; // }\n#define X }\n}\n/* as ever */", True),
        ("{ a = 1; }\n{ b = 1; }", False),
        ("if (a) { b = 1; }", False),
        ("a = 1;", False),
        ("#pragma omp parallel\n{ }", False),
        ("{ a = 1; };", False),
        ("", False),
    ],
)
def test_what_is_no_block_is_put_into_one(code: str, is_one: bool) -> None:
    made = one_statement(code)
    assert (made == code) is is_one
    assert one_statement(made) == made
