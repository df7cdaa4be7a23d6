"""Options that a project keeps in a file: annotune.toml, or [tool.annotune] of pyproject.toml.

A setting has the name of an option, as in Python (`annotune.api.Options`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotune.api import Options, TuneOptions, words_of
from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.frozen import dataclass

NOT_TOML = Template(
    "AT679",
    "this is no TOML: {reason}",
    "correct the file, or take it away; `annotune` reads the one that is nearest to the source",
)
NO_SUCH_SETTING = Template("AT677", "there is no setting '{name}'", "{hint}settings are {known}")
WRONG_SETTING = Template(
    "AT678",
    "the setting '{name}' is refused: {reason}",
    "it takes what the option of its name takes; `annotune run --help` lists them",
)
OWN_FILE, SHARED_FILE = "annotune.toml", "pyproject.toml"
# A folder above the source may be somebody else's: nothing there names a program to run.
_COMMAND_LINE_ALONE = frozenset({"workers"})
SETTINGS = tuple(
    name
    for name in (*Options.__annotations__, *TuneOptions.__annotations__)
    if name not in _COMMAND_LINE_ALONE
)
# Those whose values are paths, which are seen from the folder of the file.
_PATHS = frozenset({"include", "annotation", "spec", "inputs"})


@dataclass(frozen=True)
class ProjectOption:
    """One setting of a file: its name, the words of a command line that say it, and its place."""

    name: str
    words: tuple[str, ...]
    place: Span

    @property
    def option(self) -> str:
        """Return the option as the command line has it."""
        first = self.words[0] if self.words else f"--{self.name.replace('_', '-')}"
        return first[:2] if not first.startswith("--") else first.partition("=")[0]


def settings_for(source: Path) -> tuple[ProjectOption, ...]:
    """Return the settings of the nearest file above a source, none where there is no file.

    Raises:
        AnnotuneError: It cannot be read, is no TOML, or has a setting that there is not.
    """
    for folder in source.absolute().parents:
        for name in (OWN_FILE, SHARED_FILE):
            path = folder / name
            found = _read(path) if path.is_file() else None
            if found is not None:
                return found
    return ()


def refused(setting: ProjectOption, reason: str) -> AnnotuneError:
    """Return the refusal of a setting that the command line would refuse."""
    return AnnotuneError.of(WRONG_SETTING.at(setting.place, name=setting.name, reason=reason))


def _read(path: Path) -> tuple[ProjectOption, ...] | None:
    """Return the settings of a file, None where it has nothing for annotune."""
    from annotune.files import read_source

    text = read_source(path)
    is_own = path.name == OWN_FILE
    if not is_own and "tool.annotune" not in text:
        return None
    import tomllib

    try:
        table: Any = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise AnnotuneError.of(NOT_TOML.at(_place_of(path, error), reason=error)) from error
    if not is_own:
        table = table.get("tool", {}).get("annotune")
    if table is None:
        return None
    return tuple(_settings(path, text, table))


def _place_of(path: Path, error: Exception) -> Span:
    found = re.search(r"at line (\d+), column (\d+)", str(error))
    return Span(_shown(path), *(map(int, found.groups()) if found else (1, 1)))


def _shown(path: Path) -> str:
    """Return a path as it is seen from the current folder, if it is below that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _settings(path: Path, text: str, table: Mapping[str, Any]) -> Iterator[ProjectOption]:
    problems = []
    for name, value in table.items():
        place = _place(path, text, name)
        if name not in SETTINGS:
            from annotune.annotation.messages import nearest

            known, hint = ", ".join(SETTINGS), nearest(name, SETTINGS)
            problems.append(NO_SUCH_SETTING.at(place, name=name, known=known, hint=hint))
            continue
        value = _from_folder(value, path.parent) if name in _PATHS else value
        if name == "device" and str(value).endswith((".yaml", ".yml")):
            value = _from_folder(value, path.parent)
        if not problems:
            yield ProjectOption(name, tuple(words_of(name, value)), place)
    if problems:
        raise AnnotuneError(tuple(problems))


def _place(path: Path, text: str, name: str) -> Span:
    """Return the place of a setting: a name may stand in other tables of the file, too."""
    section = re.search(r"^[ \t]*\[tool\.annotune\b", text, re.MULTILINE)
    start = section.start() if section and path.name == SHARED_FILE else 0
    key = rf"^[ \t]*(?:\[[\w.]*\b)?(?P<key>[\"']?{re.escape(name)}[\"']?)[ \t]*[.=\]]"
    found = re.compile(key, re.MULTILINE).search(text, start)
    if found is None:
        return Span(_shown(path), 1, 1)
    at = found.start("key")
    line = text.count("\n", 0, at) + 1
    return Span(_shown(path), line, at - text.rfind("\n", 0, at), len(found["key"]))


def _from_folder(value: Any, folder: Path) -> Any:
    """Return paths that are seen from a folder as others see them."""
    if isinstance(value, list):
        return [_from_folder(one, folder) for one in value]
    return str(folder / value) if isinstance(value, str) else value
