"""A variable that a region hides and sets has another name there, with a value if it is read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.executed import run

from annotune.codegen.target import load_target
from annotune.pipeline import Settings, emit

TEXT = """\
int g(int n, double *restrict a)
{{
    int k{value};
    /*@ begin PerfTuning ( def input_params {{ param n = 1000; }} ) @*/
    {body}
    /*@ end @*/
    return k;
}}
"""
INNER = "for (int k = 0; k < n; k++) a[k] = 2.0 * a[k];"
# What the region does, and whether the variable has a value before it.
SET = {
    "first of all": (f"k = 3; {INNER}", False),
    "of others": (f"k = n + 2; {INNER}", False),
    "behind a loop": (f"{INNER}\n    k = 5;", False),
    "of itself": (f"k = k + 1; {INNER}", True),
    "by what it has": (f"k += 2; {INNER}", True),
    "in a branch": (f"if (n > 10) k = 4;\n    {INNER}", True),
}


@pytest.mark.parametrize("name", SET)
def test_it_begins_with_a_value_where_that_is_read(name: str, tmp_path: Path) -> None:
    body, has_value = SET[name]
    source = tmp_path / "user.c"
    source.write_text(TEXT.format(body=body, value=" = 1" if has_value else ""))
    made = emit(Settings(source, ("openmp",)), [load_target("openmp")]).files["_omp.c"]
    assert ("int k_outer = k;" in made) is has_value
    assert ("int k_outer;" in made) is not has_value
    (tmp_path / "made.c").write_text(made)
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\nint g(int, double *);\nint main(void)\n{\n"
        '    double a[12] = {0};\n    printf("%d %d", g(12, a), g(1, a));\n    return 0;\n}\n'
    )
    strict = ("-O2", "-Wall", "-Werror", "-fopenmp", "-Wno-unknown-pragmas")
    printed = []
    for text in ("user", "made"):
        program = tmp_path / f"{text}.program"
        run("gcc", *strict, tmp_path / f"{text}.c", tmp_path / "main.c", "-o", program)
        printed.append(subprocess.check_output([program], text=True))
    assert printed[0] == printed[1]
