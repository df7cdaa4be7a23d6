"""OpenACC's directives, and OpenMP's for a device in their words, as OpenMP's for threads.

gcc runs OpenACC on the host with one thread, so a missing ``reduction`` passes there. The
text from here is compiled as OpenMP instead and played by ``runtime/openmp_check.cpp``,
one iteration a thread.

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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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


def as_openmp(acc_text: str) -> str:
    """Return `acc_text` with OpenMP in place of OpenACC, every line at its number.

    ``parallel loop`` and a ``loop`` inside it become (nested) ``parallel for``; ``loop
    seq``, ``kernels``, ``cache`` and data constructs disappear, their lines stay; ``tile(8, 32)``
    becomes ``collapse(2)``.

    Raises:
        UnsupportedAcc: A directive or a clause is not known.
    """
    parts: list[str] = []
    at = 0
    for found in directives(acc_text):
        text = openmp_directive(found)
        parts += [acc_text[at : found.start], found.indent + f"#pragma {text}" if text else ""]
        parts.append(found.tail)
        at = found.end
    return "".join((*parts, acc_text[at:]))


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
