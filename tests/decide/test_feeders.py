"""Nests whose results the reader of an accumulated output alone needs: no array for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from codegen.test_exact_recipes import Chosen, is_made_again
from decide.recipes import decided_text
from decide.test_accumulate import trial_of
from support.regions import text_regions

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.recipes import first_variant
from annotune.codegen.target import load_target
from annotune.measure.trial import Status
from annotune.space.decision import Base
from annotune.space.space import region_space
from annotune.strategies.registry import ACCUMULATE
from annotune.transforms.distribute import Fuse, Scalarize
from annotune.transforms.permute import Permute

NESTS = """#include <stdlib.h>
double f(int n, int m, int o, const double A[restrict n][o], const double B[restrict o][m],
         const double c[restrict n], const double e[restrict m], double y[restrict n][m])
{
    double norm = 0.0;
    double (*D)[m] = malloc(n * sizeof *D);
    TYPE (*t)[m] = malloc(n * sizeof *t);
    double (*u)[m] = malloc(n * sizeof *u);
    /*@ begin PerfTuning (
        def input_params { param n = 64; param m = 64; param o = 24; } ) @*/
    NESTS
    /*@ end @*/
    LATER
    free(D);
    free(t);
    free(u);
    return norm;
}
"""
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
COLUMNS = "for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) "
SET = f"{ROWS}D[i][j] = 0.0;"
ADD = f"{ROWS}for (int k = 0; k < o; k++) D[i][j] += A[i][k] * B[k][j];"
FED = f"{ROWS}t[i][j] = 0.1 * c[i];"
MORE = f"{ROWS}t[i][j] -= c[i] * e[j];"
READ = f"{ROWS}norm += D[i][j] * (D[i][j] + t[i][j]);"
SIZES = (64, 64, 24), (1, 1, 1), (5, 7, 3), (67, 130, 13), (0, 3, 2)


def program(*nests: str, element: str = "double", later: str = "") -> str:
    text = NESTS.replace("NESTS", "\n".join(nests)).replace("TYPE", element)
    return text.replace("LATER", later)


def kernel_of(text: str) -> str:
    """Return the CUDA text of the choice that accumulates for a program."""
    (region,) = text_regions(text)
    base, target = Base.of(analyse(region), ACCUMULATE), load_target("cuda")
    variant = first_variant(target, base, region_space(base), load_device("h200"))
    return target.device_file(target.region(variant, resident=False))


def assert_fed(text: str, folder: Path, *own: str) -> str:
    """Return the CUDA text of a program, one kernel that is right and has such scalars."""
    device, trial = trial_of(text, folder, *SIZES)
    assert trial.status is Status.CORRECT, trial.reason
    # For the tuned sizes, for all others, and what combines the sums of blocks.
    assert device.count("__global__") == 2 + device.count("_last(")
    for declared in own:
        assert device.count(f" {declared};\n") == 2
        # What no kernel touches has no memory on the device.
        assert f"d_{declared.split()[-1].removesuffix('_own')} = " not in device
    return device


def test_what_only_the_reader_needs_is_in_a_scalar_of_its_type(tmp_path: Path) -> None:
    text = program(FED, SET, MORE, ADD, READ, element="float")
    kernel = assert_fed(text, tmp_path, "float t_own")
    assert "D_block[i_r][j_r] * (D_block[i_r][j_r] + t_own)" in kernel


def test_feeders_have_loops_in_other_orders_conditions_and_chains(tmp_path: Path) -> None:
    chain = f"{COLUMNS}u[i][j] = e[j] * e[j];", f"{ROWS}if (e[j] > 3.0) t[i][j] -= u[i][j];"
    read = f"{COLUMNS}if (t[i][j] > -9.0) y[i][j] = D[i][j] + t[i][j] * u[i][j];"
    assert_fed(
        program(SET, chain[0], FED, ADD, chain[1], read), tmp_path, "double t_own", "double u_own"
    )


def test_a_nest_that_reads_more_than_registers_hold_shares_nothing_between_its_rounds() -> None:
    few, many = (kernel_of(program(FED, *[MORE] * count, SET, ADD, READ)) for count in (1, 12))
    assert "annotune_anew_long(i_t + i_r)" in many
    assert "annotune_anew_long(j_t" not in many
    assert "annotune_anew_long(i_t" not in few


def test_a_recipe_says_what_is_fused_late_and_scalar() -> None:
    text = program(FED.replace(ROWS, COLUMNS), SET, MORE, ADD, READ)
    text = text.replace("= 64", "= 512").replace("= 24", "= 16")
    one = decided_text(text, ACCUMULATE)
    (found,) = one.decision.choices
    assert found.parts == ((1,), (3,), (0, 2, 4))
    assert Permute(0, ("i", "j")) in found.steps
    assert Fuse((0, 2, 4), late=True) in found.steps
    assert Scalarize(0, "t") in found.steps
    assert any("2 others compute t for it" in reason.rule for reason in found.reasons)
    (region,) = text_regions(text)
    chosen = Chosen(region)
    made = chosen.listing("cuda", 1).variant(0)
    assert "t_own" in chosen.text("cuda").device
    assert is_made_again(chosen, "cuda", made)


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("nests", "later", "why"),
    [
        ((FED.replace("t[i][j] =", "if (c[i] > 0.5) t[i][j] ="), ADD, READ), "", "not always set"),
        ((FED, ADD, READ.replace("t[i][j]", "t[i][0]")), "", "read at another element"),
        ((FED, ADD, READ), "norm += t[0][0];", "read after the region"),
        ((FED, ADD, READ, f"{ROWS}y[i][j] = t[i][j];"), "", "read by another nest after it"),
        ((FED, f"{ROWS}y[i][j] = t[i][j];", ADD, READ), "", "read by another nest before it"),
        ((FED.replace("m;", "m - 1;"), ADD, READ.replace("m;", "m - 1;")), "", "other bounds"),
        ((FED.replace("j++", "j += 2"), ADD, READ), "", "other steps"),
        ((ADD, FED.replace("c[i]", "D[i][j]"), READ), "", "reads the output"),
        ((ADD, FED.replace("c[i]", "D[i][j]"), ADD, READ), "", "reads the output half-way"),
        ((ADD, FED.replace("c[i]", "D[i][0]"), READ), "", "reads another output"),
        ((FED, f"{ROWS}for (int k = 0; k < o; k++) t[i][j] += A[i][k];", ADD, READ), "", "sums up"),
        ((f"{ROWS}t[i][j] = y[i][j];", f"{ROWS}y[i][j] = 2.0;", ADD, READ), "", "read too late"),
    ],
)
def test_others_have_kernels_of_their_own(nests: tuple[str, ...], later: str, why: str) -> None:
    one = decided_text(program(SET, *nests, later=later), ACCUMULATE)
    assert not [step for step in one.plan().steps if isinstance(step, Scalarize)], why


def test_a_statement_outside_all_loops_feeds_nobody() -> None:
    found = decided_text(program("norm = 1.0;", SET, FED, ADD, READ), ACCUMULATE).decision.choices
    assert ((1,), (3,), (2, 4)) in [one.parts for one in found]
