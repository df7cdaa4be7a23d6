"""Suites as they are read, and what is wrong with those that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import annotune, marked
from support.each import check_each

from annotune.diagnostics import AnnotuneError
from annotune.report.suite import LAYOUTS, MOST_WORKLOADS, load_suite, load_workloads

EXAMPLES = Path(__file__).parents[2] / "c_examples" / "workloads.yaml"
SUITES = Path(__file__).parents[2] / "annotations" / "suites"
C_TEXT = """void scale(int n, double *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        x[i] *= 2.0;
    /*@ end @*/
}
"""
WORKLOADS = """families:
  - {file: a.c, by: set, functions: {scale: [n], scale_2: [n]}, sizes: {A: [5], B: [6]}}
"""
FAMILY = "families:\n  f: {file: a.c, functions: {scale: [n]}, sizes: {A: [5]}}\n"
TABLES = "tables:\n  - layout: versions\n"
PICKED = "workloads: w.yaml\nfamilies:\n  f: {workloads: [scale]}\n"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _files() -> None:
    Path("a.c").write_text(C_TEXT)
    Path("w.yaml").write_text(WORKLOADS)


def test_a_suite_that_says_all() -> None:
    _files()
    Path("s.yaml").write_text(
        "title: All\nworkloads: w.yaml\ndevices: [k20, h200]\ntargets: openmp\nstrategy: direct\n"
        'families:\n  both: {workloads: ["scale*"], sizes: {8: B}}\n'
        "  own: {file: a.c, by: define, functions: {scale: [n]}, sizes: {tiny: [3]}}\n"
        "tables:\n  - {layout: speedups, title: T, families: [own], of: openmp, over: sequential}\n"
        "  - {layout: rates}\n"
    )
    suite = load_suite(Path("s.yaml"))
    assert (suite.title, suite.devices, suite.targets) == ("All", ("k20", "h200"), ("openmp",))
    assert suite.strategy == "direct"
    one, two = suite.tables
    assert (one.layout, one.title, one.of, one.over) == (
        "speedups",
        "T",
        ("openmp",),
        ("sequential",),
    )
    assert two.of == ("openmp",)
    assert [family.name for family in two.families] == ["both", "own"]
    found = [(w.name, dict(w.values), w.is_macro) for w in suite.workloads]
    assert found == [
        ("scale-tiny", {"n": 3}, True),
        ("scale-8", {"n": 6}, False),
        ("scale_2-8", {"n": 6}, False),
    ]
    assert [w.file for w in suite.workloads] == [Path("a.c")] * 3


def test_a_workload_of_two_families_is_one() -> None:
    _files()
    text = PICKED + '  g: {workloads: ["*"], sizes: {five: A}}\n' + TABLES
    Path("s.yaml").write_text(text)
    suite = load_suite(Path("s.yaml"))
    assert len(suite.workloads) == 3
    assert [family.labels for family in suite.tables[0].families] == [("A", "B"), ("five",)]


def test_the_workloads_of_the_examples() -> None:
    found = {work.name: work for work in load_workloads(EXAMPLES)}
    one = found["sd_t_d1_1-B"]
    assert (one.values["h1u"], one.values["h7u"], one.is_macro) == (64, 16, False)
    assert found["local_grad3-8"].is_macro
    assert one.file.is_file()


# The mistake stands in «…».
BAD = {
    "empty": ("«»", "AT081"),
    "bracket": ("families: [«»", "AT081"),
    "a list": ("«- a»\n", "AT082"),
    "unknown key": ("«familys»: {}\n", "AT083"),
    "no families": ("«tables: []»\n", "AT084"),
    "no tables": ("«" + FAMILY.rstrip("\n") + "»\n", "AT084"),
    "no such file": (FAMILY.replace("a.c", "«b.c»") + TABLES, "AT630"),
    "a folder": (FAMILY.replace("a.c", "«.»") + TABLES, "AT630"),
    "no such table of workloads": (PICKED.replace("w.yaml", "«v.yaml»") + TABLES, "AT630"),
    "no such workload": (PICKED.replace("[scale]", "[«scael»]") + TABLES, "AT631"),
    "no table of workloads": ("families: {f: {workloads: «scale»}}\n" + TABLES, "AT631"),
    "no such size": (PICKED.replace("]}", "], sizes: [A, «C»]}") + TABLES, "AT632"),
    "too many values": (FAMILY.replace("[5]", "«[5, 6]»") + TABLES, "AT633"),
    "size 0": (FAMILY.replace("[5]", "[«0»]") + TABLES, "AT082"),
    "size below 0": (FAMILY.replace("[5]", "[«-5»]") + TABLES, "AT082"),
    "size 2.5": (FAMILY.replace("[5]", "[«2.5»]") + TABLES, "AT082"),
    "size of more than an int": (FAMILY.replace("[5]", "[«3000000000»]") + TABLES, "AT082"),
    "size as a word": (FAMILY.replace("[5]", "[«large»]") + TABLES, "AT082"),
    "unknown device": ("devices: [h200, «h2000»]\n" + FAMILY + TABLES, "AT085"),
    "no such device's file": ("devices: «mine.yaml»\n" + FAMILY + TABLES, "AT630"),
    "unknown target": ("targets: «cude»\n" + FAMILY + TABLES, "AT082"),
    "unknown strategy": ("strategy: «dirct»\n" + FAMILY + TABLES, "AT082"),
    "unknown layout": (FAMILY + TABLES.replace("versions", "«version»"), "AT082"),
    "unknown family": (FAMILY + TABLES + "    families: [«g»]\n", "AT634"),
    "unknown version": (FAMILY + TABLES + "    of: «openmp_niave»\n", "AT082"),
    "target that the suite has not": (
        "targets: cuda\n" + FAMILY + TABLES + "    of: «openmp»\n",
        "AT082",
    ),
    "by": (FAMILY.replace("functions", "by: «macro», functions") + TABLES, "AT082"),
    "key of a family": (FAMILY.replace("functions", "«function»") + TABLES, "AT083"),
    "size twice": (FAMILY.replace("[5]}", "[5], «A»: [6]}") + TABLES, "AT026"),
    "family twice": (FAMILY + "  «f»: {}\n" + TABLES, "AT026"),
    "tag": ("title: «!!python/name:os.system»\n" + FAMILY + TABLES, "AT082"),
    "cycle": ("families: «&a {f: *a}»\n" + TABLES, "AT083"),
    "no such function": (FAMILY.replace("{scale:", "{«scael»:") + TABLES, "AT635"),
}


def test_a_mistake_is_told_at_its_place(tmp_path: Path) -> None:
    check_each(BAD, the_mistake_is_told, tmp_path)


def the_mistake_is_told(name: str) -> None:
    _files()
    text, code = BAD[name]
    plain, line, column = marked(text)
    Path("s.yaml").write_text(plain)
    before = sorted(path.name for path in Path().iterdir())
    done = annotune("table", "s.yaml", "--time", "1s")
    assert (done.code, done.out) == (1, ""), done.err
    head = next(row for row in done.err.split("\n") if ": error: " in row)
    assert head.endswith(f"[{code}]"), done.err
    if name != "cycle":
        assert head.startswith(f"s.yaml:{line}:{column}: "), done.err
    assert sorted(path.name for path in Path().iterdir()) == before


def test_aliases_cannot_ask_for_months_of_work() -> None:
    _files()
    sizes = ", ".join(f"s{n}: [{n + 1}]" for n in range(200))
    families = "".join(f"  f{n}: *f\n" for n in range(10))
    one = f"  f: &f {{file: a.c, functions: {{scale: [n]}}, sizes: {{{sizes}}}}}\n"
    Path("s.yaml").write_text(f"families:\n{one}{families}{TABLES}")
    with pytest.raises(AnnotuneError) as refused:
        load_suite(Path("s.yaml"))
    assert f"at most {MOST_WORKLOADS} workloads" in str(refused.value)


def test_a_missing_suite() -> None:
    done = annotune("table", "none.yaml")
    assert done.code == 1
    assert "none.yaml:1:1: error: cannot read none.yaml" in done.err


def test_the_suites_of_the_papers() -> None:
    known = {path.stem: load_suite(path) for path in sorted(SUITES.glob("*.yaml"))}
    assert known.keys() == {"kim", "magma", "thesis", "treduda"}
    thesis = known["thesis"]
    assert [wish.title.partition(":")[0] for wish in thesis.tables] == [
        "Table 5.1",
        "Figures 5.1 to 5.4",
        *("Table 5.2", "Table 5.3", "Table 5.4", "Table 5.5", "Figures 3.8 and 5.8"),
    ]
    assert len(thesis.workloads) == 3 + 27 * 3
    assert {wish.layout for suite in known.values() for wish in suite.tables} == {*LAYOUTS}
