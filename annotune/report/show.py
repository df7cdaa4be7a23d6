"""A finished run, read again from the folder it was written to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.files import read_source
from annotune.report.results_json import RESULTS_FILE, read_results
from annotune.tune.results import Results

NO_SUCH_FOLDER = Template(
    "AT613",
    "there is no folder '{path}'",
    "name the folder that `annotune run -o DIR` wrote; the default is annotune-out/STEM",
)
NO_RESULTS = Template(
    "AT614",
    "the folder '{path}' holds no {name}",
    "`annotune run FILE.c -o {path}` writes one; `emit` and `check` do not",
)

# What a reader of the report wants to see; the report itself is among the files too.
CODE_SUFFIXES = (".c", ".cu", ".h")


def show_folder(folder: Path) -> Results:
    """Return the run that is in `folder`, with the texts of those of its files still there.

    Raises:
        AnnotuneError: There is no such folder, or no results.json in it that can be read.
    """
    if not folder.is_dir():
        raise AnnotuneError.of(NO_SUCH_FOLDER.at(Span(str(folder), 1, 1), path=folder))
    path = folder / RESULTS_FILE
    if not path.exists():
        where = Span(str(folder), 1, 1)
        raise AnnotuneError.of(NO_RESULTS.at(where, path=folder, name=RESULTS_FILE))
    results = read_results(path)
    texts = {name: read_source(folder / name) for name in results.files if _is_shown(folder, name)}
    return replace(results, texts=texts)


def _is_shown(folder: Path, name: str) -> bool:
    """Return whether `name` is generated code in `folder` itself.

    A results file may come from anybody: it must not bring other files into a report.
    """
    path = folder / name
    is_plain = Path(name).name == name and not path.is_symlink()
    return is_plain and path.suffix in CODE_SUFFIXES and path.is_file()
