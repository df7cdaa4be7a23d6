"""The files that Orio's annotations name: declarations, initialisation, validation, drivers.

annotune fills arrays, times and checks in its own way, so it needs of them only what the C
text leaves undeclared: the variables, and the sizes that the initialisation sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from annotune.annotation.assume import is_c_size
from annotune.annotation.c_declarations import TYPE_WORDS, Declared, declarations
from annotune.annotation.flags import flags_at
from annotune.annotation.messages import BAD_PATH, MISSING_FILE, UNREAD_FILE
from annotune.annotation.spec import Formula, InputVariable, Spec, Value
from annotune.diagnostics import AnnotuneError, Diagnostic, Span

# These files are short; a larger one is something else.
MAX_BYTES = 1_000_000
_INTEGERS = frozenset(["char", "short", "int", "long", "signed", "unsigned", "size_t"])
# A missing file of declarations leaves names without a type; without the others nothing lacks.
_HELP: Mapping[str, str] = {
    "decl_file": "the variables' types stand in it",
    "init_file": "annotune fills the arrays itself; say with def input_vars what is undeclared",
    "validation_file": "not needed: every variant is checked against the original C",
    "skeleton_code_file": "not needed: annotune writes its own test code",
}
_CONDITION = re.compile(r"[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b[ \t]*(\w*)")


def declared_in_files(
    arguments: Mapping[str, Mapping[str, Value]],
    spans: Mapping[tuple[str, str], Span],
    folder: Path,
    spec: Spec,
) -> tuple[tuple[InputVariable, ...], tuple[Diagnostic, ...]]:
    """Return the variables that the files of `arguments` declare, and what is to be noted.

    `arguments` are those of the blocks that name files, `spans` their places.

    Raises:
        AnnotuneError: A path leaves the folder, or a file of declarations cannot be read.
    """
    variables: dict[str, InputVariable] = {}
    notes: list[Diagnostic] = []
    for block, found in arguments.items():
        for name, value in found.items():
            if name not in _HELP:
                continue
            span = spans[block, name]
            path = _path(value, folder, span)
            text = _read(path)
            if isinstance(text, str):
                if name in ("decl_file", "init_file"):
                    for one in _variables(text, spec, span):
                        variables.setdefault(one.name, one)
                continue
            template = MISSING_FILE if name == "decl_file" else UNREAD_FILE
            unread = template.at(span, name=name, why=f"{path}: {text[0]}", hint=_HELP[name])
            if name == "decl_file":
                raise AnnotuneError.of(unread)
            notes.append(unread)
    return tuple(variables.values()), tuple(notes)


def _path(value: Value, folder: Path, span: Span) -> Path:
    """Return the file that an annotation names, which must stand in the C file's folder."""
    parts = PurePosixPath(str(value)).parts
    sound = isinstance(value, str) and value.isprintable() and "\\" not in value
    if not parts or not sound or parts[0] == "/" or ".." in parts:
        raise AnnotuneError.of(BAD_PATH.at(span, path=value))
    return folder / str(value)


def _read(path: Path) -> str | tuple[str]:
    """Return a file's text, or in a tuple why there is none."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return ("it is too large",)
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return (error.strerror or "it cannot be read",)


def _variables(text: str, spec: Spec, span: Span) -> Iterator[InputVariable]:
    """Yield the file-scope variables of `text`, integers with the value that it sets."""
    defined = {flag[2:].partition("=")[0] for flag in flags_at(spec, {}).host if flag[:2] == "-D"}
    chosen = _chosen(text, defined | {param.name for param in spec.input_params})
    for one in declarations(chosen):
        is_function = re.match(r"\s*\(", chosen[one.start + len(one.name) :])
        if one.depth or one.is_parameter or is_function or not _is_plain(one.type):
            continue
        if not all(map(is_c_size, one.extents)):
            continue
        extents = tuple(Formula(extent) for extent in one.extents)
        initial = None if one.extents or one.is_pointer else _set_to(one, chosen)
        yield InputVariable(one.name, one.type, extents, initial, one.is_pointer, span)


def _is_plain(type_: str) -> bool:
    return all(word in TYPE_WORDS for word in type_.split()) and "void" not in type_.split()


def _set_to(one: Declared, text: str) -> Formula | None:
    """Return what an integer is declared as or set to, such as N for ``n = N;``."""
    if not set(one.type.split()) & _INTEGERS:
        return None
    found = re.findall(rf"(?<![\w.>\]])\b{re.escape(one.name)}\s*=(?!=)\s*([^;,{{}}]+);", text)
    values = [value.strip() for value in (found or [one.initial]) if value.strip()]
    return Formula(values[0]) if len(set(values)) == 1 and is_c_size(values[0]) else None


def _chosen(text: str, defined: set[str]) -> str:
    """Return `text` with the lines blanked that ``#ifdef NAME`` leaves out.

    A condition other than ``#ifdef`` and ``#ifndef`` counts as false.
    """
    kept: list[str] = []
    state: list[bool] = []
    for line in text.split("\n"):
        match = _CONDITION.match(line)
        if match is None:
            kept.append(line if all(state) else "")
            continue
        kept.append("")
        word, name = match[1], match[2]
        if word.startswith("if"):
            state.append(word != "if" and (name in defined) == (word == "ifdef"))
        elif word == "else" and state:
            state[-1] = not state[-1]
        elif word == "endif" and state:
            state.pop()
    return "\n".join(kept)
