"""Which variables a piece of C declares, and the files that annotations name for theirs.

Orio's files leave out declarations, functions and even loops, so no C parser can read them
before what is missing has been put in: C is read lightly here, and macros are not expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from annotune.annotation.expressions import Lexeme, is_c_size
from annotune.annotation.flags import flags_at
from annotune.annotation.messages import BAD_PATH, MISSING_FILE, UNREAD_FILE
from annotune.annotation.spec import Formula, InputVariable, Spec, Value
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass

_C_TOKEN = re.compile(
    r"(?P<skip>\s+|/\*.*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*"
    r"|(?:(?<=\n)|\A)[ \t]*\#(?:\\\r?\n|/\*.*?\*/|[^\n])*)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<name>[A-Za-z_$][\w$]*)"
    r"|(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)"
    r"|(?P<op><<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|.)",
    re.DOTALL,
)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_STORAGE = frozenset(
    {"const", "volatile", "static", "extern", "register", "auto", "restrict", "inline"}
)
# Words that begin or continue a declaration's type.
TYPE_WORDS = frozenset(
    [
        *("char", "short", "int", "long", "signed", "unsigned", "float", "double", "void"),
        *("_Complex", "complex", "_Bool", "bool", "struct", "union", "enum", *_STORAGE),
        *("size_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t", "int64_t"),
        *("uint8_t", "uint16_t", "uint32_t", "uint64_t"),
        *("doublereal", "integer", "real", "logical"),
    ]
)
_NOT_TYPES = frozenset(
    [
        *("if", "else", "for", "while", "do", "switch", "case", "default"),
        *("return", "break", "continue", "goto", "sizeof"),
    ]
)
_OPENERS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Declared:
    """One declared name. `depth` counts the braces around it; a parameter's is its body's.

    `extents` and `initial` are C text; `start` is the offset of the name.
    """

    name: str
    type: str
    extents: tuple[str, ...]
    is_pointer: bool
    initial: str
    depth: int
    is_parameter: bool
    start: int


def c_tokens(text: str) -> list[Lexeme]:
    """Return the tokens of C in `text`; comments and directives are none."""
    found = []
    for match in _C_TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "skip":
            found.append(Lexeme(kind, match.group(), match.start(), match.end()))
    return found


def loop_iterators(c_text: str) -> list[str]:
    """Return the iterator of each ``for`` of C text, "" where it has none of its own."""
    stream = c_tokens(c_text)
    found = []
    for index, token in enumerate(stream):
        if token.text != "for":
            continue
        head = [t for t in stream[index + 1 : index + 6] if t.kind in ("name", "op")]
        equal = next((k for k, t in enumerate(head) if t.text == "="), 0)
        is_named = equal and head[equal - 1].kind == "name"
        found.append(head[equal - 1].text if is_named else "")
    return found


def defined_macros(text: str) -> frozenset[str]:
    """Return the names that ``#define`` gives a meaning in `text`."""
    return frozenset(_DEFINE.findall(text))


def declarations(text: str) -> Iterator[Declared]:
    """Yield what `text` declares: variables at any depth, and parameters of functions."""
    stream = c_tokens(text)
    heads = _heads(stream)
    depth, index, starts = 0, 0, True
    while index < len(stream):
        token = stream[index]
        if token.text in "{}":
            depth += 1 if token.text == "{" else -1
        if starts and token.kind == "name" and _is_type(stream, index):
            index, found = _declaration(text, stream, index, depth)
            yield from found
            starts = True
            continue
        # A `for` may declare its iterator, and a declaration never follows another head.
        starts = token.text in ("{", "}", ";", ":") or index in heads
        index += 1


def _heads(stream: list[Lexeme]) -> frozenset[int]:
    """Return the indices of the brackets of heads, such as both of ``if (x)``."""
    found: list[int] = []
    opened: list[bool] = []
    for index, token in enumerate(stream):
        if token.text == "(":
            opened.append(index > 0 and stream[index - 1].text in ("if", "for", "while", "switch"))
        elif token.text != ")" or not opened:
            continue
        else:
            if opened.pop():
                found.append(index)
            continue
        if opened[-1] and stream[index - 1].text == "for":
            found.append(index)
    return frozenset(found)


def _is_type(stream: list[Lexeme], index: int) -> bool:
    """Return whether a declaration starts at a name: ``int i``, or ``real_t *x``."""
    text = stream[index].text
    if text in TYPE_WORDS:
        return True
    if text in _NOT_TYPES or text == "typedef":
        return False
    after = index + 1
    while after < len(stream) and stream[after].text == "*":
        after += 1
    return (
        after + 1 < len(stream)
        and stream[after].kind == "name"
        and stream[after].text not in _NOT_TYPES
        and stream[after + 1].text in ("=", ";", ",", "[", "(")
    )


def _declaration(
    text: str, stream: list[Lexeme], index: int, depth: int
) -> tuple[int, list[Declared]]:
    """Return the index after the declaration at `index`, and what it declares."""
    words: list[str] = []
    while index < len(stream) and stream[index].kind == "name":
        is_last = index + 1 < len(stream) and stream[index + 1].kind != "name"
        if is_last and stream[index].text not in TYPE_WORDS and words:
            break
        words.append(stream[index].text)
        index += 1
        if words[-1] in ("struct", "union", "enum") and index < len(stream):
            words.append(stream[index].text)
            index += 1
            if index < len(stream) and stream[index].text == "{":
                index = _skip(stream, index)
    type_ = " ".join(word for word in words if word not in _STORAGE)
    found: list[Declared] = []
    while index < len(stream):
        end = _declarator_end(stream, index)
        part = stream[index:end]
        one = _declared(text, part, type_, depth, is_parameter=False)
        if one is not None:
            found.append(one)
            function = next((k for k, token in enumerate(part) if token.text in "(="), None)
            if function and part[function].text == "(":
                found += _parameters(text, part[function:], depth + 1)
        closer = stream[end].text if end < len(stream) else ""
        if closer != ",":
            # A body's brace is seen again, for the depth.
            return (end if closer in ("{", "}") else end + 1), found
        index = end + 1
    return index, found


def _declarator_end(stream: list[Lexeme], index: int) -> int:
    """Return the index of the ``, ; { }`` or ``)`` after a declarator and its initialiser."""
    has_initial = False
    while index < len(stream):
        text = stream[index].text
        has_initial = has_initial or text == "="
        if text in (",", ";", ")", "}") or (text == "{" and not has_initial):
            return index
        index = _skip(stream, index) if text in _OPENERS else index + 1
    return index


def _skip(stream: list[Lexeme], index: int) -> int:
    """Return the index after the bracket that closes the one at `index`."""
    depth = 0
    while index < len(stream):
        text = stream[index].text
        depth += 1 if text in _OPENERS else -1 if text in (")", "]", "}") else 0
        index += 1
        if depth == 0:
            break
    return index


def _parameters(text: str, part: list[Lexeme], depth: int) -> Iterator[Declared]:
    """Yield the parameters in ``(int n, double *x)``."""
    index = 1
    while index < len(part):
        end = _declarator_end(part, index)
        words = part[index:end]
        inner = next((k for k, token in enumerate(words) if token.text == "["), len(words))
        names = [k for k, token in enumerate(words[:inner]) if token.kind == "name"]
        if len(names) > 1:
            last = names[-1]
            type_ = " ".join(words[k].text for k in names[:-1] if words[k].text not in _STORAGE)
            stars = [token for token in words[:last] if token.text == "*"]
            one = _declared(text, [*stars, *words[last:]], type_, depth, is_parameter=True)
            if one is not None:
                yield one
        index = end + 1


def _declared(
    text: str, part: list[Lexeme], type_: str, depth: int, *, is_parameter: bool
) -> Declared | None:
    """Return the name that a declarator such as ``*x``, ``a[N][M]`` or ``n = 4`` declares."""
    stars = 0
    while stars < len(part) and part[stars].text in ("*", "const", "restrict", "("):
        stars += 1
    if stars >= len(part) or part[stars].kind != "name":
        return None
    name = part[stars]
    extents: list[str] = []
    index = stars + 1
    while index < len(part) and part[index].text == "[":
        end = _skip(part, index)
        extents.append(text[part[index].end : part[end - 1].start].strip())
        index = end
    initial = ""
    if index + 1 < len(part) and part[index].text == "=":
        initial = text[part[index].end : part[-1].end].strip()
    is_pointer = any(token.text == "*" for token in part[:stars])
    return Declared(
        name.text, type_, tuple(extents), is_pointer, initial, depth, is_parameter, name.start
    )


# The files are short; annotune fills arrays, times and checks in its own way, so it needs of them
# only what the C text leaves undeclared: the variables, and the sizes that the initialisation sets.
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
