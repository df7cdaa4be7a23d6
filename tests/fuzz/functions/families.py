"""Names the family of a failure, as far as its words and its text tell."""

from __future__ import annotations

import re

from .source import Source

_COMPILER = (
    ("a bound declared twice in one block", r"redefinition of .\w+_(end|begin)\w*."),
    ("a constant declared twice in one block", r"redefinition of .\w+.|redeclared"),
    ("the address of a register variable", r"register variable"),
    ("thread-local data", r"threadprivate"),
    ("complex compared or converted", r"annotune_(complex|parts)|complex"),
    (
        "names equal to generated ones",
        r"conflicting declaration|shadows|was not declared|undeclared",
    ),
    ("a label before a declaration", r"label can only be part|a declaration is not a statement"),
    ("names equal to generated ones", r"expected|redeclaration|not a function|invalid type"),
)

_LIBRARY = r"(?:max|min|round|sign|fmax|fabs|sqrt|abs|floor|pow|fmin|exp)\("
_TEXTS = (
    ("thread-local data", r"__thread"),
    ("a macro changed in the function", r"#undef Q\n"),
    (
        "a function or macro with a library's name",
        rf"^(?:static |inline |extern )*(?:double|int) {_LIBRARY}|#define {_LIBRARY}",
    ),
    (
        "a bound that C computes unsigned",
        r"for \((?:size_t |unsigned long |unsigned )?\w+ = (?:MAX\(0|\(0 >)",
    ),
)


def family(source: Source, library: str, words: str, call: int) -> str:
    """Return a few words for what a failure belongs to."""
    if library == "crash":
        last = words.strip().split("\n")[-1]
        return "traceback: " + re.sub(r"'[^']*'|\d+", "#", last)[:60]
    if library == "claims":
        return "own choice refused: " + re.sub(r"'[^']*'|\d+", "#", words)[:60]
    if words.startswith("does not compile"):
        return "does not compile: " + _first(_COMPILER, words, "other words")
    if "longer than" in words or "died of -27" in words:
        return "hangs"
    if "died of -8" in words:
        return "divides by zero"
    if "died of" in words:
        return "crash: " + _of_crash(source, call)
    if "zero's sign" in words:
        return "values: the sign of a zero"
    if "(NaN)" in words or "nan" in words:
        return "values: NaN"
    return "values: " + _of_values(source)


def _first(rules: tuple[tuple[str, str], ...], words: str, otherwise: str) -> str:
    found = (name for name, rule in rules if re.search(rule, words, re.MULTILINE))
    return next(found, otherwise)


def _of_crash(source: Source, call: int) -> str:
    calls = [one for entry in source.entries for one in entry.calls]
    if 0 <= call < len(calls) and any(f.is_null for f in calls[call].arrays.values()):
        return "an array that is NULL"
    return "memory beyond what is touched"


def _of_values(source: Source) -> str:
    known = _first(_TEXTS, source.text, "")
    if known:
        return known
    return "a scalar changed between nests" if _has_stale(source.text) else "other"


def _has_stale(text: str) -> bool:
    """Whether a statement on a scalar stands between loops of one region, by its indent."""
    rows = text.split("\n")
    scalar = re.compile(r"^\s+\w+ (?:[-+*]?=|\+\+)|^\s+\w+\+\+;")
    loop = re.compile(r"^\s+for ")
    depth = [len(row) - len(row.lstrip()) for row in rows]
    return any(
        scalar.match(row) and any(loop.match(r) and depth[j] == depth[k] for j, r in near(rows, k))
        for k, row in enumerate(rows)
    )


def near(rows: list[str], place: int) -> list[tuple[int, str]]:
    return [(j, rows[j]) for j in range(max(0, place - 8), min(len(rows), place + 8))]
