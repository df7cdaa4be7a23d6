"""Several problem sizes from the annotation to the files, by check, emit and --set."""

from __future__ import annotations

from pathlib import Path

from annotune import pipeline
from annotune.codegen.target import load_target
from annotune.pipeline import Settings
from annotune.report.findings import HOLDS, CheckReport, certificate_text, region_text
from annotune.report.json_form import check_json, emit_json

TEXT = """\
void f(int n, int m, double *restrict y, const double *restrict x)
{{
    /*@ begin PerfTuning ( def input_params {{ {params} }} ) @*/{recipe}
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i*m + j] += x[j*n + i];
    /*@ end @*/
}}
"""


def source(folder: Path, params: str, recipe: str = "") -> Path:
    """Return a file whose region has these sizes."""
    path = folder / "user.c"
    path.write_text(TEXT.format(params=params, recipe=recipe))
    return path


def checked(folder: Path, params: str, recipe: str = "", **sizes: int) -> CheckReport:
    """Return what `check` finds in it, with `sizes` as ``--set`` gives them."""
    return pipeline.check(Settings(source(folder, params, recipe), sizes=sizes))


def tuned_for(report: CheckReport) -> list[dict[str, int]]:
    """Return the sizes that the only region is tuned for."""
    (region,) = report.regions
    return [one.sizes for one in region.by_size]


def codes(report: CheckReport) -> list[str]:
    return [d.code for d in report.diagnostics]


LISTS = "param n[] = [6,10]; param m[] = [4,9];"
EACH = [{"n": n, "m": m} for n in (6, 10) for m in (4, 9)]


def test_check_says_what_it_will_be_tuned_for(tmp_path: Path) -> None:
    report = checked(tmp_path, LISTS)
    assert tuned_for(report) == EACH
    assert codes(report) == []
    said = region_text(report.regions[0])
    assert (
        "tuned for each of n=6, m=4; n=6, m=9; n=10, m=4; n=10, m=9; "
        "shown for the first, --set chooses another\n" in said
    )
    assert check_json(report, [{}])["regions"][0]["tuned_for"] == EACH
    alone = checked(tmp_path, "param n = 6; param m = 4;")
    assert tuned_for(alone) == EACH[:1]
    assert "tuned for each" not in region_text(alone.regions[0])


def test_set_picks_one(tmp_path: Path) -> None:
    assert tuned_for(checked(tmp_path, LISTS, n=10)) == EACH[2:]
    assert tuned_for(checked(tmp_path, LISTS, n=10, m=9)) == EACH[3:]
    assert tuned_for(checked(tmp_path, LISTS, n=7, m=9)) == [{"n": 7, "m": 9}]


def test_a_constraint_chooses_among_them(tmp_path: Path) -> None:
    report = checked(tmp_path, f"{LISTS} constraint wide = (m > n); ")
    assert tuned_for(report) == [{"n": 6, "m": 9}]


def test_a_size_that_a_recipe_cannot_have_is_left_to_the_general_kernels(tmp_path: Path) -> None:
    recipe = """
    /*@ begin CHiLL (
        cuda(0, thread={"i"})
        unroll(0, "j", 8)
    ) @*/"""
    text = TEXT.replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/").format(
        params="param n = 6; param m[] = [16,20];", recipe=recipe
    )
    path = tmp_path / "user.c"
    path.write_text(text)
    report = pipeline.check(Settings(path, ("cuda",)))
    assert tuned_for(report) == [{"n": 6, "m": 16}]
    (warning,) = [d for d in report.diagnostics if d.code == "AT608"]
    assert warning.message.startswith("not tuned for n=6, m=20: ")
    made = pipeline.emit(Settings(path, ("cuda",)), [load_target("cuda")]).files[".cu"]
    assert "m == 16" in made
    assert "m == 20" not in made


def test_more_sizes_than_are_tuned_for_are_told(tmp_path: Path) -> None:
    lists = "param n[] = [6,7,8,9]; param m[] = [1,2,3];"
    report = checked(tmp_path, lists)
    assert len(tuned_for(report)) == 9
    assert codes(report) == ["AT609"]
    assert codes(checked(tmp_path, lists.replace(",9", ""))) == []


def test_each_size_has_its_certificates(tmp_path: Path) -> None:
    report = checked(tmp_path, "param n[] = [6,10]; param m = 4;")
    text = certificate_text(report.regions[0])
    # CUDA's, OpenACC's and OpenMP's.
    assert text.count(f"certificate {HOLDS}") == 2 * 3
    assert text.count("sizes: m=4, n=10") + text.count("sizes: n=10, m=4") == 3


def test_emit_tells_the_plan_of_each_size(tmp_path: Path) -> None:
    path = source(tmp_path, "param n[] = [6,10]; param m = 4;")
    made = pipeline.emit(Settings(path, ("cuda",)), [load_target("cuda")])
    (found,) = emit_json([], made.reports, made.variants, made.diagnostics)["regions"]
    assert [one["sizes"] for one in found["by_size"]] == [{"n": 6, "m": 4}, {"n": 10, "m": 4}]
    assert found["by_size"][0]["plan"] == found["plan"]
    text = made.files[".cu"]
    for n in (6, 10):
        assert f" * f, region 1: tuned for n={n}, m=4, valid for all sizes; " in text
    assert text.count(" us predicted for h200\n") == 2
    assert " * f, region 1: for all other sizes the first one's general kernels\n" in text


def test_kernels_on_resident_data_test_how_each_size_needs_it_aligned(tmp_path: Path) -> None:
    settings = Settings(source(tmp_path, LISTS), ("cuda",), resident=True)
    text = pipeline.emit(settings, [load_target("cuda")]).files[".cu"]
    assert [f"n == {n} && m == {m}" in text for n in (6, 10) for m in (4, 9)] == [True] * 4
