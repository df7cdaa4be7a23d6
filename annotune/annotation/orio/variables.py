"""``decl static double A[M][N] = random;`` to variables, for C text that declares none.

The files that Orio's annotations name: declarations, initialisation, validation, drivers.

annotune fills arrays, times and checks in its own way, so it needs of them only what the C
text leaves undeclared: the variables, and the sizes that the initialisation sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from annotune.annotation.assume import is_c_size
from annotune.annotation.expression import ExpressionError, Token, parse_expression, tokens
from annotune.annotation.flags import flags_at
from annotune.annotation.messages import BAD_DECLARATION, BAD_PATH, MISSING_FILE, UNREAD_FILE
from annotune.annotation.orio.c_declarations import TYPE_WORDS, Declared, declarations
from annotune.annotation.spec import Formula, InputVariable, Spec, Value
from annotune.annotation.statements import Statement
from annotune.diagnostics import AnnotuneError, Diagnostic, Span

# Words about where Orio's driver puts a variable; annotune decides that itself.
_STORAGE = frozenset({"static", "dynamic", "register", "const", "managed", "in", "out", "inout"})
# The types that an annotation may name, in C's words without regard to their order.
_TYPE_WORDS = frozenset(
    [
        *("char", "short", "int", "long", "signed", "unsigned", "size_t"),
        *("float", "double", "complex", "_Complex"),
    ]
)
# What C would not take as a variable's name; the types are among `_TYPE_WORDS`.
_C_WORDS = frozenset(
    [
        *("auto", "break", "case", "const", "continue", "default", "do", "else", "enum"),
        *("extern", "for", "goto", "if", "inline", "register", "restrict", "return", "sizeof"),
        *("static", "struct", "switch", "typedef", "union", "void", "volatile", "while"),
    ]
)
_RANDOM = "random"


def input_variable(statement: Statement) -> InputVariable:
    """Return the variable of a ``decl`` statement.

    Raises:
        AnnotuneError: It has no type or no name, or its extents or its value are unsound.
    """
    try:
        return _Reader(statement, [t for t in tokens(statement.text) if t.kind != "end"]).read()
    except ExpressionError as error:
        raise error.at(statement.at) from None


class _Reader:
    """Takes the tokens of one declaration from the left."""

    def __init__(self, statement: Statement, stream: list[Token]) -> None:
        self.statement = statement
        self.stream = stream
        self.index = 0

    def read(self) -> InputVariable:
        words: list[Token] = []
        while self.index < len(self.stream) and self.stream[self.index].kind == "name":
            words.append(self.stream[self.index])
            self.index += 1
        words = [word for word in words if word.text not in _STORAGE]
        name = self.name(words)
        type_ = self.type(words[:-1])
        extents = tuple(self.extents())
        initial: Formula | tuple[Formula, ...] | None = None
        if self.is_next("="):
            self.index += 1
            initial = self.initial()
        if self.index < len(self.stream):
            raise self.wrong(f"{self.stream[self.index].shown} in an unexpected place")
        return InputVariable(name, type_, extents, initial, span=self.statement.span)

    def is_next(self, text: str) -> bool:
        return self.index < len(self.stream) and self.stream[self.index].text == text

    def wrong(self, what: str) -> AnnotuneError:
        hint = "write it like `decl static double A[M][N] = random;`"
        return AnnotuneError.of(BAD_DECLARATION.at(self.statement.span, what=what, hint=hint))

    def name(self, words: list[Token]) -> str:
        if not words or words[-1].text in _TYPE_WORDS | _C_WORDS:
            raise self.wrong("no name")
        return words[-1].text

    def type(self, words: list[Token]) -> str:
        """Return the type as C spells it, in the order written."""
        if not words:
            raise self.wrong("no type")
        for word in words:
            if word.text not in _TYPE_WORDS:
                raise self.wrong(f"an unknown type '{word.text}'")
        return " ".join(word.text for word in words)

    def extents(self) -> list[Formula]:
        found: list[Formula] = []
        while self.is_next("["):
            found.append(self.formula(self.index + 1, self.closing("]")))
            self.index += 1
        return found

    def closing(self, bracket: str) -> int:
        """Move to the bracket that closes the one here, and return its index."""
        depth = 0
        for index in range(self.index, len(self.stream)):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(
                self.stream[index].text, 0
            )
            if depth == 0:
                self.index = index
                return index
        raise self.wrong(f"a missing '{bracket}'")

    def initial(self) -> Formula | tuple[Formula, ...] | None:
        last = len(self.stream)
        if self.is_next("{"):
            first = self.index + 1
            return tuple(self.items(first, self.closing("}")))
        first, self.index = self.index, last
        is_random = [token.text for token in self.stream[first:]] == [_RANDOM]
        return None if is_random else self.formula(first, last)

    def items(self, first: int, last: int) -> list[Formula]:
        found: list[Formula] = []
        start, depth = first, 0
        for index in range(first, last):
            text = self.stream[index].text
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text, 0)
            if text == "," and depth == 0:
                found.append(self.formula(start, index))
                start = index + 1
        if start < last:
            found.append(self.formula(start, last))
        self.index = last + 1
        return found

    def formula(self, first: int, last: int) -> Formula:
        """Return tokens `first` to `last` as a formula; raises when they are none."""
        if first >= last:
            raise self.wrong("an empty value")
        start, end = self.stream[first].start, self.stream[last - 1].end
        text = self.statement.text[start:end]
        try:
            parse_expression(text)
        except ExpressionError as error:
            raise error.at(lambda a, b: self.statement.at(start + a, start + b)) from None
        return Formula(text, self.statement.at(start, end))


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
