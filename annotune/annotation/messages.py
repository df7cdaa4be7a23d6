"""The words of the annotation stage: AT001 to AT099."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from annotune.diagnostics import Severity, Template

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
    "AT006", "'begin {name}' of Orio is not supported yet", "annotune reads PerfTuning and CHiLL"
)
TEXT_AFTER = Template("AT007", "text after the ')' that closes 'begin {name} ('")
NO_PARENTHESIS = Template(
    "AT008", "'begin {name}' needs its text in parentheses", "write `begin {name} ( … )`"
)
NOT_NESTABLE = Template(
    "AT009", "'begin {name}' cannot stand inside 'begin {outer}'", "only CHiLL inside PerfTuning"
)
COMMENT_NOT_CLOSED = Template(
    "AT010", "an annotation's comment must end with '@*/'", "`*/` alone ends a plain C comment"
)
MALFORMED = Template("AT011", "this annotation is neither 'begin NAME ( … )' nor 'end'")

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
NOT_YET = Template("AT029", "'{what}' is not supported yet")
UNUSED_BLOCK = Template("AT030", "'def {name}' is read, but {why}", severity=Severity.NOTE)
UNKNOWN_ARGUMENT = Template(
    "AT031", "no stage reads '{name}' of 'def {block}'", "{hint}", Severity.WARNING
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
UNSUPPORTED_COMMAND = Template("AT061", "'{name}' is not supported yet")
MISSING_ARGUMENT = Template("AT062", "'{name}' needs its {slot}", "write {usage}")
EXTRA_ARGUMENT = Template("AT063", "'{name}' has an argument too many", "write {usage}")
UNKNOWN_SLOT = Template("AT064", "'{name}' has no argument '{slot}'", "{hint}")
WRONG_KIND = Template("AT065", "the {slot} of '{name}' must be {wanted}", "{hint}")
LOOP_TWICE = Template("AT066", "'{name}' names loop '{loop}' twice")
ARGUMENT_TWICE = Template("AT067", "'{name}' is given its {slot} twice")
TOO_MANY_LOOPS = Template("AT068", "the {slot} of '{name}' has {count} loops, at most {most}")
STATEMENT_TWICE = Template("AT069", "'{name}' names statement {statement} twice")

# Files: sidecars and devices.
UNREADABLE = Template("AT080", "cannot read {path}: {why}")
BAD_YAML = Template("AT081", "not valid YAML: {why}")
WRONG_YAML = Template("AT082", "{what} must be {wanted}", "{hint}")
UNKNOWN_KEY = Template("AT083", "unknown key '{key}'", "{hint}")
MISSING_KEY = Template("AT084", "'{key}' is missing")
UNKNOWN_DEVICE = Template("AT085", "unknown device '{name}'", "{hint}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelt word: the nearest known one, else all of them, else ""."""
    choices = sorted(set(known))
    by_lower = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.5)
    if close:
        return f"did you mean '{by_lower[close[0]]}'?"
    return f"known: {', '.join(choices)}" if 0 < len(choices) <= 20 else ""
