"""`--param` and constraints over axes: those that there are, with the values that are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.cli import Outcome, annotune, function

PARAMETERS = "int n, const double *restrict a, const double *restrict b, double *restrict c"
# Axes of words, of words with commas and blanks, and of numbers.
KINDS = ("S0.block", "S0.movement", "S0.unroll_k", "S0.gang", "S0.tile_j", "S0.over", "S0.rows")
MATMUL = """\
    /*@ begin PerfTuning ( def input_params {{ param n = 64; }} {more} ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i*n + j] += a[i*n + k] * b[k*n + j];
    /*@ end @*/"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("")


def write(more: str) -> None:
    """Write the file with `more` of an annotation."""
    Path("user.c").write_text(function(MATMUL.format(more=more), PARAMETERS))


def sound(*arguments: str) -> Outcome:
    """Return the outcome of a command that succeeds."""
    done = annotune(*arguments)
    assert done.code == 0, done.err
    return done


def space(target: str, *options: str) -> Any:
    """Return what ``check --space`` says of one target."""
    done = sound("check", "user.c", "--space", "--json", "--target", target, *options)
    return done.json["regions"][0]["space"]["targets"][target]


@pytest.mark.alike(4)
@pytest.mark.parametrize(
    ("options", "said", "hint"),
    [
        (["--param", "S0.lane=8"], "'S0.lane' in the space of cuda", "did you mean 'S0.lanes'?"),
        (["--param", "S7.rows=2"], "'S7.rows'", "did you mean 'S0.rows'?"),
        (["--param", "S0_lane=8"], "'S0.lane'", "did you mean 'S0.lanes'?"),
        (
            ["--param", "S0.rows=2", "--target", "cuda"],
            "'S0.rows' in the space of cuda [",
            "openmp",
        ),
        (["--constraint", "S0.blok != 'i'"], "'S0.blok'", "did you mean 'S0.block'?"),
        (["--constraint", "S0.lanes < 9 or S0.row > 1"], "'S0.row'", "did you mean 'S0.rows'?"),
        (["--param", "flags=-O3", "--target", "openacc"], "'flags'", "openmp has it; "),
    ],
)
def test_an_axis_that_no_target_has(options: list[str], said: str, hint: str) -> None:
    done = annotune("check", "user.c", *options)
    assert done.code == 1
    assert f"{options[0]}: error: there is no axis {said}" in done.err
    assert f"help: {hint}" in done.err
    assert "[AT647]" in done.err


@pytest.mark.parametrize("command", ["emit", "run"])
def test_no_command_goes_on_without_the_axis(command: str) -> None:
    assert "[AT647]" in annotune(command, "user.c", "--param", "S0.lane=8").err
    assert not Path("annotune-out").exists()


def test_an_axis_of_one_target_may_be_named_beside_others() -> None:
    for axis in ("S0.lanes=8", "S0.tile_j=8", "S0.unroll_k=4", "S0.movement=asynchronous copies"):
        sound("check", "user.c", "--param", axis)


def test_an_annotation_is_for_all_targets() -> None:
    write("def performance_params { constraint few = (S0_rows < 8); }")
    sound("check", "user.c", "--target", "cuda")
    write("def performance_params { constraint few = (S0_lanes < 20 and S0_row < 8); }")
    done = annotune("check", "user.c", "--target", "openmp")
    assert done.err.startswith("user.c:3:"), done.err
    assert "error: there is no axis 'S0_row' in the space of cuda or openacc or openmp" in done.err
    assert "did you mean 'S0_rows'?" in done.err


def test_a_parameter_that_no_annotation_has() -> None:
    write("def performance_params { param TI[] = [2,4]; }")
    sound("check", "user.c", "--param", "TI=8")
    for given, hint in (("TJ=2", "did you mean 'TI'?"), ("n=8", "--set n=VALUE gives it")):
        done = annotune("check", "user.c", "--param", given)
        assert done.code == 1
        assert "[AT648]" in done.err
        assert hint in done.err


@pytest.mark.alike(3)
@pytest.mark.parametrize("target", ["cuda", "openacc", "openmp"])
def test_every_value_may_be_given_as_it_is_printed(target: str) -> None:
    done = sound("check", "user.c", "--space", "--target", target)
    lines = [line.strip() for line in done.out.splitlines() if line.startswith("    S0.")]
    whole = space(target)
    axes = whole["axes"]
    listed = dict(line.split(": ", 1) for line in lines if line.split(": ")[0] in axes)
    assert listed.keys() == {name for name in axes if name.startswith("S0.")}
    # The last values, each its own call, of the axes that differ in kind.
    for name, values in [(n, v) for n, v in axes.items() if n in KINDS]:
        wanted = values[-1]
        printed = f'"{wanted}"' if "," in str(wanted) else str(wanted)
        if name in listed:
            assert listed[name].endswith(printed)
        found = space(target, "--param", f"{name}={printed}")
        # An axis of one value is left out, but where some points do not have it.
        assert found["axes"].get(name, [wanted]) == [wanted]
        assert 0 < found["legal"] < whole["legal"]


def test_all_printed_values_may_be_given_together() -> None:
    whole = space("openacc")
    done = sound("check", "user.c", "--space", "--target", "openacc")
    (gangs,) = [line for line in done.out.splitlines() if line.startswith("    S0.gang: ")]
    assert '"i_t,j_t"' in gangs
    same = space("openacc", "--param", gangs.strip().replace(": ", "="))
    assert same["axes"] == whole["axes"]


def test_tiles_are_numbers_to_a_formula() -> None:
    found = space("openacc", "--constraint", "S0.tile_j <= 16")["axes"]["S0.tile_j"]
    assert found == [j for j in space("openacc")["axes"]["S0.tile_j"] if j <= 16]


@pytest.mark.alike(2)
@pytest.mark.parametrize("value", ["foo", "-8", "8.0", "1e300", "True", "08"])
def test_what_is_no_count_leaves_no_point(value: str) -> None:
    done = annotune(
        "check", "user.c", "--space", "--target", "openmp", "--param", f"S0.rows={value}"
    )
    assert done.code == 1
    assert "the constraints leave no point of the space [AT302]" in done.err
    assert "constraint 'S0.rows' removes the last ones" in done.err


@pytest.mark.parametrize(
    ("target", "formulas", "named"),
    [
        (
            "openmp",
            ["S0.rows >= 5", "S0.lanes == 0"],
            "'S0.rows >= 5' and 'S0.lanes == 0' together",
        ),
        ("cuda", ["S0.unroll_k < 9", "S0.block == 'k'"], "'S0.block == 'k'' removes"),
        ("openacc", ["S0.vector == 'k'", "S0.unroll_k < 99"], "'S0.vector == 'k'' removes"),
    ],
)
def test_constraints_that_contradict_each_other(
    target: str, formulas: list[str], named: str
) -> None:
    options = [word for formula in formulas for word in ("--constraint", formula)]
    done = annotune("check", "user.c", "--space", "--target", target, *options)
    assert done.code == 1
    assert "--constraint: error: the constraints leave no point of the space [AT302]" in done.err
    assert named in done.err
