"""The words of the annotation stage: AT001 to AT099."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, Span, Template

# Where an annotation stands in the C text.
UNCLOSED_BEGIN = Template(
    "AT001", "'begin {name}' is never closed", "add `/*@ end @*/` after the annotated loops"
)
END_WITHOUT_BEGIN = Template("AT002", "'end' without a 'begin' before it")
CROSSED = Template(
    "AT003",
    "'end {name}' comes before the end of '{inner}', which was begun later",
    "close the annotations in the reverse order of their begin",
)
OTHER_CLOSER = Template("AT004", "'end {name}' does not match 'begin {open}'")
OPENED_HERE = Template("AT004", "'begin {name}' is here", severity=Severity.NOTE)
UNKNOWN_BLOCK = Template("AT005", "unknown annotation '{name}'", "{hint}")
UNSUPPORTED_BLOCK = Template(
    "AT006",
    "Orio's module {name} is not supported",
    "annotune reads PerfTuning, CHiLL and Loop, and generates CUDA, OpenACC and OpenMP",
)
TEXT_AFTER = Template("AT007", "text after the ')' that closes 'begin {name} ('")
NO_PARENTHESIS = Template(
    "AT008", "'begin {name}' needs its text in parentheses", "write `begin {name} ( … )`"
)
NOT_NESTABLE = Template(
    "AT009",
    "'begin {name}' cannot stand inside 'begin {outer}'",
    "only CHiLL or Loop inside PerfTuning",
)
COMMENT_NOT_CLOSED = Template(
    "AT010", "an annotation's comment must end with '@*/'", "`*/` alone ends a plain C comment"
)
MALFORMED = Template("AT011", "this annotation is neither 'begin NAME ( … )' nor 'end'")
FORTRAN = Template(
    "AT012",
    "'{file}' is Fortran by its name, and annotune reads C",
    "translate it with f2c first, or rename it if it holds C",
)
IGNORED_BLOCK = Template(
    "AT013",
    "'begin {name}' is read, and changes nothing: {why}",
    severity=Severity.WARNING,
)
BAD_DATA = Template("AT086", "'begin Data' does not take {what}", "{hint}")
BAD_MODULE = Template("AT014", "the module {name} does not take this text: {why}")

# The text of an annotation.
UNEXPECTED = Template("AT020", "unexpected {found}", "{hint}")
UNCLOSED_BRACKET = Template("AT021", "'{bracket}' is never closed")
WRONG_BRACKET = Template("AT022", "'{bracket}' closes nothing here", "{hint}")
UNCLOSED_STRING = Template("AT023", "the string does not end on its line")
UNKNOWN_DEF = Template("AT024", "unknown block 'def {name}'", "{hint}")
MISPLACED = Template("AT025", "'{what}' does not belong in 'def {name}'", "{hint}")
DECLARED_TWICE = Template("AT026", "'{name}' is declared twice")
FIRST_DECLARED = Template("AT026", "first declared here", severity=Severity.NOTE)
NO_VALUES = Template("AT027", "parameter '{name}' has no values")
LIST_WITHOUT_BRACKETS = Template(
    "AT028", "parameter '{name}' is one value, but a list is given", "write `{name}[] = …`"
)
UNUSED_BLOCK = Template("AT030", "'def {name}' is read, but {why}", severity=Severity.NOTE)
UNUSED_WARNING = Template("AT030", "'def {name}' is read, but {why}", severity=Severity.WARNING)
UNKNOWN_ARGUMENT = Template(
    "AT031", "no stage reads '{name}' of 'def {block}'", "{hint}", Severity.WARNING
)

NO_SUCH_SPEC = Template("AT032", "there is no 'spec {name}' in {file}", "{hint}")
NO_SPEC_FILE = Template(
    "AT033",
    "cannot read {path}: {why}",
    "'import spec {name}' reads the file {name}.spec, or that of --spec, beside the C file",
)
SEVERAL_SPECS = Template(
    "AT034",
    "{file} holds several specifications, and the region does not say which",
    "write `/*@ begin PerfTuning (import spec {name};) @*/` around it; there are {names}",
)
BAD_DECLARATION = Template("AT035", "this declaration has {what}", "{hint}")
MISSING_FILE = Template("AT036", "'{name}' names a file that cannot be read: {why}", "{hint}")
UNREAD_FILE = Template(
    "AT036",
    "'{name}' names a file that cannot be read: {why}",
    "{hint}",
    Severity.WARNING,
)
BAD_PATH = Template(
    "AT037", "'{path}' is not a file beside the C file", "write a relative path without '..'"
)
WRONG_ASSUMPTION = Template("AT038", "'{name}' of 'def assume' must be {wanted}", "{hint}")
UNKNOWN_ASSUMPTION = Template("AT038", "there is no assumption '{name}'", "{hint}")
UNUSED_PARAMETER = Template(
    "AT039", "nothing depends on '{name}', so it is not searched: {why}", "", Severity.WARNING
)
UNSEARCHED = Template(
    "AT039",
    "not searched: '{names}'; no transformation that changes anything here names them",
    severity=Severity.NOTE,
)
NO_SIZES = Template("AT070", "no combination of the problem sizes fulfils constraint '{name}'")
REFUSED_FLAG = Template(
    "AT071",
    "the flag '{flag}' is not passed to a compiler",
    "flags from an annotation are limited to optimisation, -D and -I; see docs/annotation.md",
    Severity.WARNING,
)

# Expressions.
MALFORMED_NUMBER = Template("AT040", "'{text}' is not a number", "{hint}")
EXPECTED_VALUE = Template("AT041", "expected a value, found {found}")
EXPECTED_TOKEN = Template("AT042", "expected {wanted}, found {found}")
TOO_DEEP = Template("AT043", "the expression is nested more than {limit} deep")
UNKNOWN_NAME = Template("AT044", "unknown name '{name}'", "{hint}")
SEVERAL_VALUES = Template(
    "AT045", "'{name}' has several values, and one is needed here", "use it in a constraint"
)
DIVISION_BY_ZERO = Template("AT046", "division by zero")
WRONG_TYPES = Template("AT047", "'{operator}' does not apply to {types}")
TOO_LARGE = Template("AT048", "{what} is too large", "{hint}")
UNKNOWN_FUNCTION = Template("AT049", "unknown function '{name}'", "{hint}")
WRONG_CALL = Template("AT050", "{name}() does not accept {given}", "{hint}")

# Commands of a recipe.
UNKNOWN_COMMAND = Template("AT060", "unknown command '{name}'", "{hint}")
MISSING_ARGUMENT = Template("AT062", "'{name}' needs its {slot}", "write {usage}")
EXTRA_ARGUMENT = Template("AT063", "'{name}' has an argument too many", "write {usage}")
UNKNOWN_SLOT = Template("AT064", "'{name}' has no argument '{slot}'", "{hint}")
WRONG_KIND = Template("AT065", "the {slot} of '{name}' must be {wanted}", "{hint}")
LOOP_TWICE = Template("AT066", "'{name}' names loop '{loop}' twice")
ARGUMENT_TWICE = Template("AT067", "'{name}' is given its {slot} twice")
TOO_MANY_LOOPS = Template("AT068", "the {slot} of '{name}' has {count} loops, at most {most}")
STATEMENT_TWICE = Template("AT069", "'{name}' names statement {statement} twice")

# Orio's Loop module.
UNKNOWN_TRANSFORM = Template("AT072", "unknown transformation '{name}'", "{hint}")
UNSUPPORTED_TRANSFORM = Template("AT073", "Orio's transformation {name} is not supported", "{hint}")
NO_LOOP_AFTER = Template("AT074", "'transform {name}' has no loop after it")
UNUSED_TRANSFORM = Template("AT075", "'{name}' is read, but {why}", severity=Severity.NOTE)
BAD_TRANSFORM = Template("AT076", "the {slot} of '{name}' must be {wanted}")
TEXTS_DIFFER = Template(
    "AT077",
    "the loops in the annotation and those after it differ; the ones after it count",
    "make them alike, or leave one of the two out",
    Severity.WARNING,
)
TEXTS_DIFFER_HERE = Template("AT077", "the first difference is here", severity=Severity.NOTE)
NO_LOOPS = Template("AT078", "'begin {name}' has no loop, neither in it nor after it")

# Files: sidecars and devices.
UNREADABLE = Template("AT080", "cannot read {path}: {why}")
BAD_YAML = Template("AT081", "not valid YAML: {why}")
WRONG_YAML = Template("AT082", "{what} must be {wanted}", "{hint}")
UNKNOWN_KEY = Template("AT083", "unknown key '{key}'", "{hint}")
MISSING_KEY = Template("AT084", "'{key}' is missing")
UNKNOWN_DEVICE = Template("AT085", "unknown device '{name}'", "{hint}")


@contextmanager
def gathered(mistakes: list[Diagnostic]) -> Iterator[None]:
    """Put what is refused inside on a list, and go on after it."""
    try:
        yield
    except AnnotuneError as error:
        mistakes.extend(error.diagnostics)


def declared_twice(name: str, span: Span, first: Span) -> Diagnostic:
    """Return the refusal of a name that has a meaning already."""
    return DECLARED_TWICE.at(span, name=name).with_note(FIRST_DECLARED.at(first))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelt word: the nearest known one, else all of them, else ""."""
    choices = sorted(set(known))
    by_lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    if not close and len(word) == 2:
        # One wrong letter of two, UG for UF, is no match by that measure.
        close = [c for c in by_lower if len(c) == 2 and set(c) & set(word.lower())][:1]
    if close:
        return f"did you mean '{by_lower[close[0]]}'?"
    return f"known: {', '.join(choices)}" if 0 < len(choices) <= 20 else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'? `` to stand before a list of all that is known, or nothing."""
    hint = did_you_mean(word, known)
    return f"{hint} " if hint.startswith("did") else ""
