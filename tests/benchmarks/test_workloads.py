"""The table of workloads: complete, and every one of them is accepted."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import static
from machine_code.workloads import (
    EXAMPLES,
    UnknownWorkload,
    Workload,
    all_workloads,
    chosen,
)

from annotune.diagnostics import AnnotuneError
from annotune.pipeline import check

EVERY = all_workloads()
MAY_OVERLAP = "AT220"
BY_NAME = {workload.name: workload for workload in EVERY}
# One of some families; the others differ in their sizes or in their subscripts alone.
USUAL = (
    *("sd_t_s1_1-B", "sd_t_d1_2-D", "sd_t_d2_9-B", "gemm-4096", "local_grad3-8"),
    *("contract_twice-p2", "add2s1-10", "batched_gemm-16", "sgemm-2048", "riemann_christoffel-64"),
)


def _marks(workload: Workload) -> tuple[pytest.MarkDecorator, ...]:
    return () if workload.name in USUAL else (pytest.mark.slow,)


@pytest.mark.alike(6)
@pytest.mark.parametrize("workload", [pytest.param(w, id=w.name, marks=_marks(w)) for w in EVERY])
def test_annotune_accepts_it_at_its_sizes(workload: Workload) -> None:
    report = check(workload.settings())
    assert not report.is_refused
    # Legacy C without `restrict` is warned about; a size that nothing uses would be too.
    assert {found.code for found in report.diagnostics} <= {MAY_OVERLAP}
    (region,) = report.regions
    assert region.has_kernels
    if workload.by == "set":
        assert region.sizes == workload.sizes
    else:
        assert dict(region.region.constants).items() >= dict(workload.sizes).items()


def test_names_are_unique_and_every_triples_kernel_has_every_size() -> None:
    elements, others = 4 * 7 + 3 * 3 + 8 + 3, 6 + 3 + 6 * 3 + 3 + 2 + 2 * 2 + 1
    assert len(BY_NAME) == len(EVERY) == 27 * 7 + 2 * 3 + elements + others
    for kind in ("s1", "d1", "d2"):
        for number in range(1, 10):
            assert {f"sd_t_{kind}_{number}-{size}" for size in "ABCDE"} <= BY_NAME.keys()


@pytest.mark.parametrize("kind", ["s1", "d1", "d2"])
def test_the_third_name_is_the_third_index_of_t3(kind: str) -> None:
    """The paper's i, which has 64 in size B, stands third in t3 under each kernel's own name."""
    text = (EXAMPLES / f"nwchem/sd_t_{kind}.c").read_text()
    heads = re.findall(r"/\* t3\[([\w,]+)\].*?\*/\s*void (\w+)\(", text)
    assert len(heads) == 9
    for indices, function in heads:
        names = [f"{index}u" for index in indices.split(",")]
        workload = BY_NAME[f"{function}-B"]
        assert list(workload.sizes)[:6] == names
        assert workload.sizes[names[2]] == 64
        assert sorted(workload.sizes.values())[:-1] == [16] * (len(workload.sizes) - 1)
        inner = BY_NAME[f"{function}-D"].sizes
        assert [inner[name] for name in names] == [16, 16, 15, 20, 20, 19]


def test_options_are_a_command_line() -> None:
    assert BY_NAME["gemm-256"].options() == (
        "gemm/gemm.c --function gemm --set m=256 --set n=256 --set k=256"
    )
    assert BY_NAME["local_grad3-12"].options().endswith("-D lx=12 -D nelt=1000")
    assert BY_NAME["gemm-256"].size == "256"


def test_patterns_choose_in_the_order_of_the_table() -> None:
    names = [w.name for w in chosen(["gemm-*", "sd_t_d2_?-A"], EVERY)]
    assert names[:2] == ["sd_t_d2_1-A", "sd_t_d2_2-A"]
    sizes = (256, 512, 1024, 1536, 2048, 4096)
    assert names[9:] == [f"gemm-{size}" for size in sizes]


def test_an_unknown_name_is_refused_with_what_is_near() -> None:
    with pytest.raises(UnknownWorkload, match=r"no workload 'gemm-512x'; did you mean gemm-512"):
        chosen(["gemm-512x"], EVERY)
    with pytest.raises(UnknownWorkload, match="--list"):
        chosen(["?"], EVERY)


def test_a_size_with_too_few_values_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "w.yaml"
    (tmp_path / "a.c").touch()
    table.write_text("families:\n- {file: a.c, by: set, functions: {f: [m, n]}, sizes: {4: [4]}}\n")
    with pytest.raises(AnnotuneError, match="size '4' has 1 values, and the function 'f' names 2"):
        all_workloads(table)


@pytest.mark.slow
def test_each_benchmark_starts_from_the_root_of_the_project(tmp_path: Path) -> None:
    """The tests import more than a user's Python does."""
    folder = Path(static.__file__).parent
    names = [path.stem for path in folder.glob("*.py")]
    words = f"import sys; sys.path[0] = {str(folder)!r}\nimport {', '.join(names)}"
    done = subprocess.run(
        [sys.executable, "-c", words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
