"""Small originals with the constructs of Orio's files: each is read as its user meant it."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest
from support.regions import find_annotations

from annotune import pipeline
from annotune.annotation.flags import flags_at
from annotune.annotation.orio.complete import complete
from annotune.annotation.perf_tuning import problem_sizes
from annotune.annotation.regions import AnnotationBlock, scan_annotations
from annotune.annotation.spec import WishKind
from annotune.diagnostics import AnnotuneError
from annotune.pipeline import Settings

ORIGINALS = Path(__file__).with_name("originals")
SPEC = ORIGINALS / "external.spec"


def spec_of(name: str) -> Path | None:
    return SPEC if name == "external" else None


def region(name: str, **settings: int) -> AnnotationBlock:
    path = ORIGINALS / f"{name}.c"
    (block,) = find_annotations(path.read_text(), str(path), settings, spec_of(name))
    return block


def c_text(name: str) -> str:
    path = ORIGINALS / f"{name}.c"
    text = path.read_text()
    blocks = find_annotations(text, str(path), {}, spec_of(name))
    return complete(text, str(path), blocks).text


def notes(name: str) -> list[str]:
    """Return the codes and lines of what is said of a region."""
    return [f"{note.code} {note.span.line}" for note in region(name).spec.notes]


SOUND = ["axpy_both", "fragment", "external", "imported", "pragma", "sequence", "sizes", "lets"]


@pytest.mark.parametrize("name", SOUND)
def test_the_completed_text_is_c_with_the_lines_of_the_original(name: str) -> None:
    text = c_text(name)
    assert text.count("\n") == (ORIGINALS / f"{name}.c").read_text().count("\n")
    command = ["gcc", "-fsyntax-only", "-std=c11", "-Wall", "-Werror", "-Wno-unknown-pragmas"]
    done = subprocess.run(
        [*command, "-Wno-comment", "-x", "c", "-"],
        input=text,
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""


@pytest.mark.parametrize("name", SOUND)
def test_check_accepts_it(name: str) -> None:
    settings = Settings(ORIGINALS / f"{name}.c", specification=spec_of(name))
    report = pipeline.check(settings)
    errors = [d.message for d in report.diagnostics if d.severity == "error"]
    # What the front end may refuse of the C is no concern of the annotation.
    assert [e for e in errors if "integer array" not in e] == []


def test_an_inert_list_of_flags_is_no_axis() -> None:
    assert notes("axpy_both") == ["AT039 8"]
    spec = region("axpy_both").spec
    assert spec.performance_params == ()
    (wish,) = spec.wishes
    assert (wish.kind, wish.loop, wish.index) == (WishKind.UNROLL, "i", 0)
    assert wish.factors == (1, 2, 3, 4)


def test_a_fragment_becomes_a_function() -> None:
    assert "void fragment(int M, int N, double A[M][N], double x[N], double y[M])" in c_text(
        "fragment"
    )
    assert "double scale = 0.5; int j;" in c_text("fragment")
    assert notes("fragment") == ["AT039 5", "AT030 14", "AT036 14", "AT075 24"]
    tile, unroll = region("fragment").spec.wishes
    assert (tile.kind, tile.loop, tile.factors) == (WishKind.TILE, "i", (1, 16, 32))
    assert (unroll.kind, unroll.loop, unroll.index) == (WishKind.UNROLL, "j", 1)


def test_an_external_specification() -> None:
    spec = region("external").spec
    assert spec.input_params[0].values == (2048, 4096)
    assert [flags_at(spec, {"FLAGS": v}).host for v in spec.performance_params[0].values] == [
        ("-O2", "-O2"),
        ("-O2", "-O2", "-g"),
        ("-O2", "-O3"),
        ("-O2", "-O3", "-g"),
    ]
    warned = {note.message.split("'")[1] for note in spec.notes if note.code == "AT030"}
    assert warned == {"def power", "def cmdline_params"}


def test_an_imported_specification_with_several_sizes() -> None:
    spec = region("imported").spec
    assert problem_sizes(spec, 9) == (
        {"MV": 16, "NV": 16, "OV": 16},
        {"MV": 24, "NV": 24, "OV": 24},
    )
    assert [param.values[0] for param in spec.input_params] == [16, 16, 16]
    assert [(wish.loop, wish.index) for wish in spec.wishes] == [("i", 0), ("j", 1)]
    chosen = region("imported", MV=24, NV=24, OV=24).spec
    assert problem_sizes(chosen, 9) == ({"MV": 24, "NV": 24, "OV": 24},)


def test_every_transformation_knows_its_loop() -> None:
    spec = region("sequence").spec
    assert [(wish.kind, wish.loop, wish.index) for wish in spec.wishes] == [
        (WishKind.PARALLEL, "i", 1),
        (WishKind.PARALLEL, "i", 2),
    ]
    assert spec.wishes[0].threads == (32, 64)
    assert spec.wishes[1].blocks == (14, 28)


def test_sizes_make_what_is_missing() -> None:
    text = c_text("sizes")
    assert "{ const int ROWS = 32; const int COLS = 32; const int BANDS = 3; " in text
    assert "int shift[3] = {-ROWS, 0, ROWS}; double weight[3] = {0.25, 0.5, 0.25};" in text


def test_lets_and_a_difference() -> None:
    spec = region("lets").spec
    assert spec.input_params[0].values == (128,)
    assert spec.wishes[0].factors == (1, 2, 3)
    assert notes("lets") == ["AT013 11", "AT077 18"]
    (differs,) = [note for note in spec.notes if note.code == "AT077"]
    assert (differs.span.column, differs.notes[0].span.line) == (14, 15)


@pytest.mark.parametrize(
    ("name", "line", "code"), [("opencl", 6, "AT073"), ("polysyn", 5, "AT006")]
)
def test_one_line_of_refusal(name: str, line: int, code: str) -> None:
    path = ORIGINALS / f"{name}.c"
    found = scan_annotations(path.read_text(), str(path))
    assert found.blocks == ()
    assert [(d.span.line, d.code) for d in found.diagnostics] == [(line, code)]


def test_fortran_is_refused_by_its_name() -> None:
    with pytest.raises(AnnotuneError) as refusal:
        scan_annotations("      do 10 i = 1, n", "kernel.F90")
    assert [d.code for d in refusal.value.diagnostics] == ["AT012"]


def test_the_table_of_orio_s_files() -> None:
    text = Path(__file__).with_name("expected.tsv").read_text()
    rows = list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    kinds = [row["class"] for row in rows]
    assert [kinds.count(kind) for kind in ("RUN", "PARSE", "DIAG", "REJECT")] == [25, 11, 7, 4]
    assert len({row["path"] for row in rows}) == 47
