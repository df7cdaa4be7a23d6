"""A finished run shown again from its folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sample_run import CUDA_TEXT, RUN

from annotune.diagnostics import AnnotuneError
from annotune.files import write_files
from annotune.report.html import report_html
from annotune.report.results_json import results_file, show_folder


def written(folder: Path, files: tuple[str, ...] = RUN.files) -> Path:
    """Return a folder as `annotune run` leaves it."""
    run = replace(RUN, files=files)
    page = report_html(run)
    write_files(
        folder, {"sd_t_d2.cu": CUDA_TEXT, "results.json": results_file(run), "report.html": page}
    )
    return folder


def test_a_run_is_shown_as_it_was(tmp_path: Path) -> None:
    assert show_folder(written(tmp_path)) == replace(RUN, folder=str(tmp_path))


def test_nothing_outside_the_folder_comes_into_a_report(tmp_path: Path) -> None:
    (tmp_path / "secret.c").write_text("int secret;")
    folder = written(
        tmp_path / "out", ("../secret.c", str(tmp_path / "secret.c"), "link.c", "..", "", "gone.c")
    )
    (folder / "link.c").symlink_to(tmp_path / "secret.c")
    assert show_folder(folder).texts == {}


@pytest.mark.parametrize(
    ("name", "code"), [("gone", "AT613"), ("results.json", "AT613"), ("", "AT614")]
)
def test_what_is_not_there_is_refused(tmp_path: Path, name: str, code: str) -> None:
    if name == "results.json":
        (tmp_path / name).write_text("{}")
    folder = tmp_path / name
    with pytest.raises(AnnotuneError) as error:
        show_folder(folder)
    (found,) = error.value.diagnostics
    assert (found.code, found.span.file) == (code, str(folder))
    assert str(folder) in found.message
    assert found.help


def test_results_that_are_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "results.json").mkdir()
    with pytest.raises(AnnotuneError) as error:
        show_folder(tmp_path)
    assert error.value.diagnostics[0].code == "AT601"


def test_a_damaged_run_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path) / "results.json"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(AnnotuneError) as error:
        show_folder(tmp_path)
    assert error.value.diagnostics[0].code == "AT610"
