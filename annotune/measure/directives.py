"""Directives for a device, OpenACC's or OpenMP's, with a device memory of its own on this CPU.

gcc's OpenACC on the host has one memory, so wrong data clauses pass there. Here each construct
becomes a block that brings its data to ``runtime/acc_memory.c``, and in which the variables of its
clauses are others of the same name, which lead to the copies. Every line keeps its number.

    #pragma acc parallel loop copyin(a[0:n]) copyout(b[1:n])
    for (int i = 0; i < n; i++) b[i + 1] = a[i];

    { annotune_acc_begin(__LINE__); ANNOTUNE_ACC_SECTION(1, "copyin", a, 0, n) …
      { ANNOTUNE_ACC_USE_SECTION(1, 1, a) … _Pragma("acc parallel loop …")
    for (int i = 0; i < n; i++) b[i + 1] = a[i]; } annotune_acc_end(); }

What a kernel inside a data construct uses of its variables is looked up there as ``present`` would
be. A pointer or an array that no clause names does not compile, and the compiler's words say so.
Where a statement ends and which names it uses is read off its tokens alone.

gcc runs OpenACC on the host with one thread, so a missing ``reduction`` passes there too. So the
directives stay as they are, or become OpenMP's for threads with the same data sharing, which
``runtime/openmp_check.cpp`` plays, one iteration a thread.

    #pragma acc parallel loop gang collapse(2) num_gangs(64) copyin(a[0:n]) reduction(+:s)
    #pragma omp parallel for collapse(2) reduction(+:s)

A scalar without a clause is firstprivate in OpenACC and shared here. That is stricter on
purpose: emitted code names every private and every reduction.

A text with ``omp target`` has its directives read as OpenACC's with the same meaning.

    #pragma omp target teams distribute num_teams(64) map(to: a[0:n])
    #pragma acc parallel loop gang num_gangs(64) copyin(a[0:n])
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count

from annotune.frontend.read.tokens import splice
from annotune.frozen import dataclass

# A preprocessor's line counts as a blank: what it says of its statement is read elsewhere.
_TOKEN = re.compile(
    r"""
    (?P<blank>^[ \t]*\#(?:\\\r?\n|[^\n])* | //(?:\\\r?\n|[^\n])* | /\*.*?\*/ | \n | [^\S\n]+)
  | (?P<name>[A-Za-z_]\w*)
  | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | \.?\d(?:[eEpP][+-]|[\w.])*
  | -> | \+\+ | -- | <<= | >>= | [-+*/%&|^=!<>]= | && | \|\| | << | >> | .
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_CONTROL = frozenset(
    {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break"}
    | {"continue"}
)
_TYPES = frozenset(
    {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool"}
    | {"_Complex", "const", "volatile", "restrict", "register", "static", "extern", "struct"}
    | {"union", "enum", "_Atomic", "_Alignas", "typedef", "inline"}
)
_KEYWORDS = _CONTROL | _TYPES | {"sizeof", "_Alignof", "_Generic", "__typeof__", "__extension__"}
_ASSIGNS = frozenset(
    {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}
)
_STEPS = ("++", "--")


@dataclass(frozen=True, slots=True)
class CToken:
    """A token of C that starts at character `start` of its text."""

    text: str
    start: int
    is_name: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def c_tokens(text: str) -> list[CToken]:
    """Return the tokens of a C text without blanks, comments and the preprocessor's lines."""
    return [
        CToken(match.group(), match.start(), match["name"] is not None)
        for match in _TOKEN.finditer(text)
        if match["blank"] is None
    ]


def after_statement(tokens: Sequence[CToken], at: int) -> int:
    """Return the number of the token behind the statement that begins with token `at`.

    Raises:
        ValueError: The text ends inside the statement.
    """
    if at >= len(tokens):
        raise ValueError("there is no statement")
    word = tokens[at].text
    if word == "{":
        return _after_brackets(tokens, at)
    if word == "do":
        return _after_simple(tokens, after_statement(tokens, at + 1))
    if word not in ("for", "while", "if", "switch"):
        return _after_simple(tokens, at)
    at = after_statement(tokens, _after_brackets(tokens, at + 1))
    if word == "if" and at < len(tokens) and tokens[at].text == "else":
        return after_statement(tokens, at + 1)
    return at


def _after_simple(tokens: Sequence[CToken], at: int) -> int:
    while at < len(tokens) and tokens[at].text != ";":
        at = _after_brackets(tokens, at) if tokens[at].text in _CLOSING else at + 1
    if at >= len(tokens):
        raise ValueError("a statement does not end")
    return at + 1


def _after_brackets(tokens: Sequence[CToken], at: int) -> int:
    depth = 0
    for number in range(at, len(tokens)):
        text = tokens[number].text
        depth += (text in _CLOSING) - (text in _CLOSING.values())
        if depth == 0:
            return number + 1
    raise ValueError("a bracket is never closed")


def names_from_outside(tokens: Sequence[CToken]) -> dict[str, bool]:
    """Return the names that tokens use and do not declare, and whether each is assigned.

    Functions that are called, members and tags are not among them; types, macros and constants
    that are written like variables are.
    """
    own = declared(tokens)
    found: dict[str, bool] = {}
    for number, token in enumerate(tokens):
        if not token.is_name or token.text in _KEYWORDS or token.text in own:
            continue
        before = tokens[number - 1].text if number else ""
        after = tokens[number + 1].text if number + 1 < len(tokens) else ""
        if before in (".", "->", "struct", "union", "enum", "goto") or after == "(":
            continue
        if before == "(" and after == ")" and _is_called(tokens, number):
            continue
        is_assigned = after in _ASSIGNS or before in _STEPS
        found[token.text] = found.get(token.text, False) or is_assigned
    return found


def _is_called(tokens: Sequence[CToken], at: int) -> bool:
    """Return whether the name in brackets is a function's, as in ``(max)(x, y)``.

    What follows ``if (x)`` may begin with a bracket too.
    """
    follows = at + 2 < len(tokens) and tokens[at + 2].text == "("
    return follows and not (at >= 2 and (tokens[at - 2].is_name or tokens[at - 2].text == ")"))


def declared(tokens: Sequence[CToken]) -> set[str]:
    """Return the variables that statements declare, by the places where declarations stand."""
    found: set[str] = set()
    before: tuple[str, str] = ("", "{")
    for number, token in enumerate(tokens):
        starts = before[1] in ("{", "}", ";") or before == ("for", "(")
        if starts and token.is_name and token.text not in _CONTROL:
            found.update(_declarators(tokens, number))
        before = (before[1], token.text)
    return found


def _declarators(tokens: Sequence[CToken], at: int) -> list[str]:
    """Return the names that a declaration from token `at` on declares; none if it is none."""
    words: list[str] = []
    begin = at
    while at < len(tokens) and (tokens[at].is_name or tokens[at].text == "*"):
        words += [tokens[at].text] if tokens[at].is_name else []
        at += 1
    if at + 3 < len(tokens) and tokens[begin].text in _TYPES and tokens[at].text == "(":
        # double (*row)[8] = a;
        inside = tokens[at + 2]
        return [inside.text] if tokens[at + 1].text == "*" and inside.is_name else []
    if len(words) < 2 or at >= len(tokens) or tokens[at].text not in ("=", ";", "[", ","):
        return []
    found = [words[-1]]
    while at < len(tokens) and tokens[at].text != ";":
        if tokens[at].text == ",":
            at += 1
            while tokens[at].text == "*":
                at += 1
            found.append(tokens[at].text)
        else:
            at = _after_brackets(tokens, at) if tokens[at].text in _CLOSING else at + 1
    return found


_COMMENT = re.compile(r"//(?:\\\r?\n|[^\n])*|/\*.*?\*/", re.DOTALL)
# Comments and strings are matched first, so that a directive inside one is left alone.
_DIRECTIVE = re.compile(
    r"""
    //(?:\\\n|[^\n])* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
  | ^(?P<indent>[ \t]*)\#[ \t]*pragma[ \t]+(?P<word>acc|omp)\b(?P<body>(?:\\\r?\n|[^\n])*)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ROUTINE = re.compile(
    r"^[ \t]*#[ \t]*pragma[ \t]+(?:acc[ \t]+routine|omp[ \t]+(?:end[ \t]+)?declare)\b[^\n]*",
    re.MULTILINE,
)
_OMP_TARGET = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+(?:target|declare)\b", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")

# Clauses that mean the same in OpenMP.
_KEPT = frozenset({"collapse", "private", "firstprivate", "reduction", "if"})
_CHECKED = _KEPT | {"tile"}
# Clauses that place work, move data or order launches; the data are the host's here.
_DROPPED = frozenset(
    {"gang", "worker", "vector", "auto", "independent", "async", "wait", "default"}
    | {"num_gangs", "num_workers", "vector_length", "device_type", "dtype", "self"}
    | {"copy", "copyin", "copyout", "create", "no_create", "present", "deviceptr", "attach"}
    | {f"present_or_{word}" for word in ("copy", "copyin", "copyout", "create")}
    | {f"p{word}" for word in ("copy", "copyin", "copyout", "create")}
)
# Directives that change no value on a host with one memory.
_REMOVED = frozenset(
    {"cache", "data", "enter data", "exit data", "update", "wait", "init", "kernels loop"}
    | {"routine"}
)
# The longest that matches names the directive.
_NAMES = (
    *("parallel loop", "kernels loop", "serial loop", "enter data", "exit data"),
    *(
        "parallel",
        "kernels",
        "serial",
        "loop",
        "data",
        "update",
        "wait",
        "init",
        "atomic",
        "routine",
        "cache",
    ),
)


# OpenMP's directives by OpenACC's name and level.
_OMP_NAMES: Mapping[str, tuple[str, str]] = {
    "target teams distribute parallel for simd": ("parallel loop", " gang worker vector"),
    "target teams distribute parallel for": ("parallel loop", " gang worker"),
    "target teams distribute": ("parallel loop", " gang"),
    "target data": ("data", ""),
    "target": ("parallel loop", " seq"),
    "parallel for simd": ("loop", " worker vector"),
    "parallel for": ("loop", " worker"),
    "simd": ("loop", " vector"),
    "declare target": ("routine", ""),
    "end declare target": ("routine", ""),
}
_OMP_MAPS = {"to": "copyin", "from": "copyout", "tofrom": "copy", "alloc": "present"}
_OMP_SIZES = {"num_teams": "num_gangs", "thread_limit": "vector_length"}


class UnsupportedAcc(ValueError):
    """A directive or clause that has no counterpart here, with its line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a directive; `argument` stands between its parentheses, None without any."""

    name: str
    argument: str | None

    def __str__(self) -> str:
        return self.name if self.argument is None else f"{self.name}({self.argument})"


@dataclass(frozen=True, slots=True)
class AccDirective:
    """A directive of OpenACC at ``[start, end)`` of a text, whose first line is `line`.

    `name` is such as ``enter data``, `rest` what follows it on the joined lines, `text` all that
    stands behind ``#pragma``, in OpenMP's words where it is one of these. `tail` are the line ends
    inside it, which keep the lines below at their numbers.
    """

    start: int
    end: int
    line: int
    indent: str
    name: str
    rest: str
    tail: str
    text: str

    def clauses(self) -> tuple[Clause, ...]:
        """Return the clauses in their order.

        Raises:
            UnsupportedAcc: What stands there is no list of clauses.
        """
        return tuple(_clauses(self.rest, self.line))


def directives(acc_text: str) -> Iterator[AccDirective]:
    """Yield the directives of a text, those in comments and strings left out.

    Raises:
        UnsupportedAcc: A directive is not known.
    """
    language = "omp" if _OMP_TARGET.search(acc_text) else "acc"
    for match in _DIRECTIVE.finditer(acc_text):
        if match["word"] != language:
            continue
        line = acc_text.count("\n", 0, match.start()) + 1
        flat = " ".join(_COMMENT.sub(" ", re.sub(r"\\\r?\n", " ", match["body"])).split())
        said = f"{language} {flat}"
        if language == "omp":
            flat = _in_openacc(flat, line)
        name = next((n for n in _NAMES if re.match(rf"{n}\b", flat)), None)
        if name is None:
            raise UnsupportedAcc(line, f"'#pragma {said}' is not checked")
        # A continued directive keeps its lines: the rest of them is empty.
        text = match.group()
        tail = text.count("\n") * "\n" + ("\r" if text.endswith("\r") else "")
        place = match.start(), match.end(), line, match["indent"]
        yield AccDirective(*place, name, flat[len(name) :], tail, said)


def _in_openacc(flat: str, line: int) -> str:
    """Return a directive of OpenMP's in OpenACC's words, "" where it has none.

    Raises:
        UnsupportedAcc: A clause has no counterpart.
    """
    name = next((n for n in _OMP_NAMES if re.match(rf"{n}\b", flat)), None)
    if name is None:
        return ""
    found = "".join(_OMP_NAMES[name])
    for clause in _clauses(flat[len(name) :], line):
        way, _, listed = (clause.argument or "").partition(":")
        if clause.name == "map" and way.strip() in _OMP_MAPS:
            found += f" {_OMP_MAPS[way.strip()]}({listed.strip()})"
        elif clause.name in _OMP_SIZES:
            found += f" {_OMP_SIZES[clause.name]}({clause.argument})"
        elif clause.name in _KEPT:
            found += f" {clause}"
        else:
            raise UnsupportedAcc(line, f"the clause '{clause}' of '{name}' is not checked")
    return found


def without_routines(acc_text: str) -> str:
    """Return `acc_text` without ``routine``, every line at its number.

    gcc's sanitizers put tables into functions, where a routine of a device may have none; for
    the host alone a function needs no directive.
    """
    return _ROUTINE.sub("", acc_text)


def openmp_directive(directive: AccDirective) -> str:
    """Return what stands for a directive behind ``#pragma``, or "".

    Raises:
        UnsupportedAcc: A clause is not known, or the whole has no counterpart.
    """
    name, line = directive.name, directive.line
    if name == "atomic":
        return f"omp atomic{directive.rest}"
    if name in _REMOVED:
        return ""
    clauses = directive.clauses()
    for clause in clauses:
        if clause.name not in _KEPT | _DROPPED | {"seq", "tile"}:
            raise UnsupportedAcc(line, f"the clause '{clause}' of '{name}' is not checked")
    if name == "kernels":
        return ""
    if name in ("parallel", "serial", "serial loop"):
        # A bare region runs its body in every gang; emitted code never does.
        raise UnsupportedAcc(line, f"'#pragma acc {name}' is not checked, 'parallel loop' is")
    if any(clause.name == "seq" for clause in clauses):
        _refuse_lost_clauses(clauses, line)
        return ""
    kept = "".join(f" {_counterpart(clause)}" for clause in clauses if clause.name in _CHECKED)
    return f"omp parallel for{kept}"


def _counterpart(clause: Clause) -> str:
    """Return OpenMP's clause with the meaning of OpenACC's: tiled loops run in any order too."""
    if clause.name != "tile":
        return str(clause)
    return f"collapse({(clause.argument or '').count(',') + 1})"


def _refuse_lost_clauses(clauses: tuple[Clause, ...], line: int) -> None:
    """Raise when a sequential loop has a clause whose meaning would be lost."""
    for clause in clauses:
        if clause.name in ("firstprivate", "private"):
            raise UnsupportedAcc(line, f"the clause '{clause}' of a 'loop seq' is not checked")


def _clauses(text: str, line: int) -> Iterator[Clause]:
    """Yield the clauses in `text`, which commas or blanks separate."""
    at = 0
    while True:
        while at < len(text) and text[at] in " ,":
            at += 1
        if at == len(text):
            return
        word = _WORD.match(text, at)
        if word is None:
            raise UnsupportedAcc(line, f"expected a clause at '{text[at:]}'")
        at = word.end()
        opening = at + (text[at : at + 1] == " ")
        if text[opening : opening + 1] != "(":
            yield Clause(word.group(), None)
            continue
        at = _after_parenthesis(text, opening, line)
        yield Clause(word.group(), text[opening + 1 : at - 1].strip())


def _after_parenthesis(text: str, opening: int, line: int) -> int:
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at + 1
    raise UnsupportedAcc(line, f"'(' is never closed: '{text[opening:]}'")


_COMPUTE = frozenset({"parallel loop", "kernels", "kernels loop", "parallel", "serial"})
_COMPUTE_LOOPS = _COMPUTE | {"serial loop"}
_STANDING_ALONE = frozenset({"update", "enter data", "exit data"})
_ACTIONS = {
    **{word: word for word in ("copy", "copyin", "copyout", "create", "no_create", "present")},
    **{f"{p}{w}": w for p in ("p", "present_or_") for w in ("copy", "copyin", "copyout", "create")},
    **{"delete": "delete", "host": "host", "self": "host", "device": "device"},
}
# Their meaning depends on what is known only to a run time that has a device.
_NOT_CHECKED = frozenset({"if", "deviceptr", "attach", "detach"})
# Their variables have a value of their own in each gang, or are what a loop combines.
_OWN = frozenset({"private", "firstprivate", "reduction"})
_NULL = "NULL"
_UNNAMED = "OpenACC: a kernel uses the array {}, which no data clause names"
_POINTER = "OpenACC: a data clause names the pointer {} without a section"
_VARIABLE = re.compile(r"([A-Za-z_]\w*)\s*")


@dataclass(frozen=True, slots=True)
class _Mapped:
    """A variable of a data clause, by the number that its section has in the text.

    `rows` are the first element and the count of each dimension of its section; without any the
    clause names the whole object. `around` is the number that a data construct around has given
    the section, where this is the clause that a kernel in it would have; else `number` itself.
    """

    number: int
    action: str
    variable: str
    rows: tuple[tuple[str, str], ...]
    around: int

    @property
    def _word(self) -> str:
        return "SECTION" if self.rows else "OBJECT"

    @property
    def _arguments(self) -> str:
        return f"({self.number}, {self.around}, {self.variable}) "

    def brought(self) -> str:
        """Return C that brings it to the device, for the outer block of its construct."""
        if self.around != self.number:
            return f"ANNOTUNE_ACC_FIND_{self._word}{self._arguments}"
        more = self.rows[0] if self.rows else (quoted(_POINTER.format(self.variable)),)
        call = f'ANNOTUNE_ACC_{self._word}({self.number}, "{self.action}", {self.variable}, '
        return f"{self.whole_rows()}{call}{', '.join(more)}) "

    def whole_rows(self) -> str:
        """Return C that sees to it that the rows of a section are whole ones."""
        name, calls = self.variable, ""
        for depth, (first, size) in enumerate(self.rows[1:], 1):
            calls += f"ANNOTUNE_ACC_ROWS({name}, ({name}){depth * '[0]'}, {first}, {size}) "
        return calls

    def used(self) -> str:
        """Return C that declares the variable for a kernel, which works on the device's."""
        return f"ANNOTUNE_ACC_USE_{self._word}{self._arguments}"

    def put_back(self) -> str:
        """Return C that puts a scalar back to where it lies on the device."""
        return "" if self.rows else f"ANNOTUNE_ACC_PUT_BACK{self._arguments}"

    def address(self) -> str:
        """Return what follows the name in the call of a directive that stands alone."""
        if not self.rows:
            return f"ANNOTUNE_ACC_WHOLE_OF({self.variable})"
        first, size = self.rows[0]
        return f"ANNOTUNE_ACC_AT({self.variable}, {first}, {size})"

    def inside(self, number: int) -> _Mapped:
        """Return what a kernel in the construct of this clause looks up."""
        return replace(self, number=number)


@dataclass(frozen=True, slots=True)
class _Construct:
    """A directive with the statement that it stands before, ``tokens[first:behind]``."""

    directive: AccDirective
    first: int
    behind: int
    mapped: tuple[_Mapped, ...]


def sanitized(acc_text: str) -> str:
    """Return `with_memory` of a text for gcc's sanitizers, which take no routine of a device."""
    return with_memory(without_routines(acc_text))


def as_openmp_with_memory(acc_text: str) -> str:
    """Return `with_memory` of a text with OpenMP in place of OpenACC."""
    return with_memory(acc_text, is_openmp=True)


@lru_cache(maxsize=64)
def with_memory(acc_text: str, is_openmp: bool = False) -> str:
    """Return `acc_text` with its data clauses executed, every line at its number.

    The text needs ``runtime/acc_memory.h`` before it, ``acc_memory.c`` beside it, and gcc. With
    `is_openmp` the directives are OpenMP's, as `openmp_directive` makes them, and a scalar that a
    kernel assigns without a clause keeps its value on the host.

    Raises:
        UnsupportedAcc: A directive, a clause or the text behind it is not known.
    """
    tokens = c_tokens(acc_text)
    numbers = count(1)
    edits: list[tuple[int, int, int, str]] = []
    around: list[_Construct] = []
    for directive in directives(acc_text):
        around = [c for c in around if tokens[c.behind - 1].start > directive.start]
        said = _pragma(directive, is_openmp)
        if directive.name in _STANDING_ALONE:
            text = f"{{ {_alone(directive, numbers)}}}"
            edits.append(_replaced(directive, f"{said} {text}"))
        elif directive.name in _COMPUTE_LOOPS | {"data"}:
            one = _construct(directive, tokens, numbers)
            opening, closing = _block(one, around, tokens, numbers, is_openmp)
            edits.append(_replaced(directive, opening + said))
            end = tokens[one.behind - 1].end
            # What begins last ends first where both end at the same place.
            edits.append((end, end, -directive.start, closing))
            if directive.name == "data":
                around.append(one)
        elif is_openmp:
            text = openmp_directive(directive)
            edits.append(_replaced(directive, f"#pragma {text}" if text else ""))
    return splice(acc_text, [(start, end, what) for start, end, _, what in sorted(edits)])


def _replaced(directive: AccDirective, text: str) -> tuple[int, int, int, str]:
    indent = directive.indent if text else ""
    return directive.start, directive.end, 0, indent + text + directive.tail


def _pragma(directive: AccDirective, is_openmp: bool) -> str:
    """Return a directive that may stand anywhere in a line."""
    text = openmp_directive(directive) if is_openmp else directive.text
    if not text:
        return ""
    return f"_Pragma({quoted(text)})"


def quoted(text: str) -> str:
    """Return `text` as a C string; a newline or a quote in it ends no directive."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = re.sub(r"[\x00-\x1f\x7f]", lambda c: f"\\{ord(c[0]):03o}", escaped)
    return f'"{escaped}"'


def _construct(
    directive: AccDirective, tokens: Sequence[CToken], numbers: Iterator[int]
) -> _Construct:
    first = bisect_left(tokens, directive.end, key=lambda token: token.start)
    try:
        behind = after_statement(tokens, first)
    except ValueError as reason:
        said = f"'#pragma acc {directive.name}' stands before no statement: {reason}"
        raise UnsupportedAcc(directive.line, said) from reason
    return _Construct(directive, first, behind, tuple(_mapped(directive, numbers)))


def _block(
    one: _Construct,
    around: Sequence[_Construct],
    tokens: Sequence[CToken],
    numbers: Iterator[int],
    is_openmp: bool,
) -> tuple[str, str]:
    """Return what stands before a construct's directive and behind its statement."""
    begin, end = "{ annotune_acc_begin(__LINE__); ", " annotune_acc_end(); }"
    # No order is promised: gcc takes the last clause first, which this does where it is not OpenMP.
    step = 1 if is_openmp else -1
    if one.directive.name == "data":
        return begin + "".join(m.brought() for m in one.mapped[::step]), end
    used = names_from_outside(tokens[one.first : one.behind])
    named = {m.variable: m for m in one.mapped}
    for outer in (m for data in reversed(around) for m in data.mapped):
        if outer.variable in used and outer.variable not in named:
            named[outer.variable] = outer.inside(next(numbers))
    own = _own(one.directive)
    others = {n: is_set for n, is_set in used.items() if n not in named and n not in own}
    opening = begin + "".join(m.brought() for m in [*named.values()][::step])
    for name in (n for n in others if n != _NULL):
        opening += f"ANNOTUNE_ACC_NO_POINTER({name}, {quoted(_UNNAMED.format(name))}) "
    inner = "".join(m.used() for m in named.values())
    # gcc does this itself for OpenACC; of the scalars of kernels there is but one.
    if is_openmp and not one.directive.name.startswith("kernels"):
        for name in (n for n, is_set in others.items() if is_set):
            arguments = f"({next(numbers)}, {name}) "
            opening += f"ANNOTUNE_ACC_VALUE{arguments}"
            inner += f"ANNOTUNE_ACC_USE_VALUE{arguments}"
    stored = "".join(m.put_back() for m in named.values())
    return f"{opening}{{ {inner}", f" {stored}}}{end}"


def _own(directive: AccDirective) -> set[str]:
    """Return the variables of clauses that give each gang one of its own, or combine them."""
    texts = [c.argument or "" for c in directive.clauses() if c.name in _OWN]
    return {found[1] for text in texts for found in _VARIABLE.finditer(text)}


def _alone(directive: AccDirective, numbers: Iterator[int]) -> str:
    """Return the calls for a directive that stands before no statement."""
    flags = {clause.name for clause in directive.clauses() if clause.argument is None}
    calls = ""
    for one in _mapped(directive, numbers):
        where = f'"{one.variable}", {one.address()}); '
        calls += one.whole_rows()
        if directive.name == "update":
            to_device, is_optional = int(one.action == "device"), int("if_present" in flags)
            calls += f"annotune_acc_update(__LINE__, {to_device}, {is_optional}, {where}"
        elif directive.name == "enter data":
            calls += f'annotune_acc_enter_data(__LINE__, "{one.action}", {where}'
        else:
            final = int("finalize" in flags)
            calls += f'annotune_acc_exit_data(__LINE__, "{one.action}", {final}, {where}'
    return calls


def _mapped(directive: AccDirective, numbers: Iterator[int]) -> Iterator[_Mapped]:
    """Yield the variables of a directive's data clauses.

    Raises:
        UnsupportedAcc: A clause or a variable is of a form that is not checked.
    """
    for clause in directive.clauses():
        is_flag = clause.name == "self" and directive.name != "update"
        if clause.name in _NOT_CHECKED or is_flag:
            words = f"the clause '{clause}' of '{directive.name}' is not checked"
            raise UnsupportedAcc(directive.line, words)
        if clause.name in _ACTIONS:
            for part in _split(clause.argument or "", ","):
                variable, rows = _section(part.strip(), clause, directive.line)
                number = next(numbers)
                yield _Mapped(number, _ACTIONS[clause.name], variable, rows, number)


def _section(text: str, clause: Clause, line: int) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the variable of ``a[1:n][0:m]`` and the first element and the count of each row."""
    found = _VARIABLE.match(text)
    rest = text[found.end() :] if found else text
    if found is None or (rest and not rest.startswith("[")):
        raise UnsupportedAcc(line, f"'{text}' in '{clause}' is not checked")
    variable, row = found[1], found[1]
    rows: list[tuple[str, str]] = []
    while rest:
        inside, *others = _split(rest[1:], "]")
        first, *length = (part.strip() for part in _split(inside, ":"))
        # Without a length to the end of the array, without a colon one element.
        whole = f"(sizeof({row}) / sizeof({row}[0]) - ({first or 0}))"
        rows.append((first or "0", (length[0] or whole) if length else "1"))
        rest = "]".join(others).lstrip()
        row += "[0]"
    return variable, tuple(rows)


def _split(text: str, mark: str) -> list[str]:
    """Return the parts of `text` between those `mark`s that stand outside brackets.

    A colon that ends what a question mark begins is none.
    """
    parts, depth, asked, begin = [], 0, 0, 0
    for at, letter in enumerate(text):
        if letter == mark and depth == 0 and not (mark == ":" and asked):
            parts.append(text[begin:at])
            begin = at + 1
            continue
        depth += (letter in "([") - (letter in ")]")
        if depth == 0:
            asked += (letter == "?") - (letter == ":")
    return [*parts, text[begin:]]
