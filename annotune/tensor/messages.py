"""The words of the tensor language: AT701 to AT749."""

from __future__ import annotations

from annotune.diagnostics import Diagnostic, Severity, Span, Template

# The text.
UNEXPECTED_WORD = Template("AT701", "unexpected {found}", "{hint}")
NOT_CLOSED = Template("AT702", "'{bracket}' is never closed")
TOO_MUCH = Template("AT703", "{what}, at most {limit} are read", "{hint}")
UNKNOWN_OPTION = Template("AT704", "there is no option '{name}' before the sections", "{hint}")
UNKNOWN_VALUE = Template("AT704", "'{value}' is no value of '{name}'", "{hint}")
SECTION_MISSING = Template("AT705", "nothing stands under '{name}:'", "write {usage}")
SAID_TWICE = Template("AT706", "{what} is said twice", "keep one of the two")
SAID_FIRST = Template("AT706", "it is said here first", severity=Severity.NOTE)

# Names.
TAKEN_NAME = Template("AT707", "'{name}' is {first} already", "give one of the two another name")
TAKEN_HERE = Template("AT707", "'{name}' is {first} here", severity=Severity.NOTE)
UNUSABLE_NAME = Template(
    "AT708", "'{name}' cannot be a name in C: {why}", "choose another one, such as '{such}'"
)
UNDECLARED = Template("AT709", "'{name}' is not declared", "{hint}")
NO_SUCH_SIZE = Template("AT710", "there is no size '{name}'", "{hint}")

# Sizes and shapes.
BAD_SIZE = Template("AT711", "{what} is {value}, expected {wanted}", "{hint}")
WRONG_RANK = Template("AT712", "'{name}' has {order}, and {given} here", "{hint}")
DECLARED_HERE = Template("AT712", "'{name}' is declared here", severity=Severity.NOTE)
TWO_SIZES = Template("AT713", "the index '{index}' has two sizes, {first} and {second}", "{hint}")
OTHER_SIZE = Template("AT713", "its size is {length} here", severity=Severity.NOTE)
BAD_SHAPE = Template("AT714", "{what}", "{hint}")
TOO_LARGE_TENSOR = Template("AT715", "'{name}' takes {size}, more than {limit}", "{hint}")

# What is computed.
NOT_ON_THE_RIGHT = Template(
    "AT716", "the index '{index}' stands on the left, and nowhere on the right", "{hint}"
)
TWICE_ON_THE_LEFT = Template(
    "AT717",
    "the index '{index}' stands twice on the left",
    "an operation sets every element of a tensor; a diagonal can only be read",
)
READS_OUTPUT = Template("AT718", "'{name}' is set, and read {how}", "{hint}")
UNCLEAR_SUM = Template("AT719", "it is not clear what is summed over '{index}': {why}", "{hint}")
UNKNOWN_APPLIED = Template("AT720", "there is no function '{name}'", "{hint}")
WRONG_APPLIED = Template("AT721", "'{name}' takes {wanted}, and gets {given}")
NOT_SET_BEFORE = Template(
    "AT722", "the internal tensor '{name}' is read before it is set", "{hint}"
)
UNUSED_TENSOR = Template(
    "AT723", "no operation uses '{name}'", "take its declaration away", Severity.WARNING
)
NOT_AN_INDEX = Template("AT724", "expected {wanted}, found {found}", "{hint}")
CUT_TO_REAL = Template(
    "AT725",
    "'{name}' is real, and what it is set to is complex",
    "declare `{name}: (…) complex`",
)
BAD_EINSUM = Template("AT726", "this is no einsum string: {what}", "{hint}")
NO_SUCH_FORMULATION = Template(
    "AT727",
    "this program has no formulation '{name}'",
    "{hint}its formulations: {known}",
)


def said_twice(what: str, span: Span, first: Span) -> Diagnostic:
    """Return the refusal of what is said at two places."""
    return SAID_TWICE.at(span, what=what).with_note(SAID_FIRST.at(first))
