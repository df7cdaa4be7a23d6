"""Einsum strings, such as ``eimk,jm->eijk``, as programs of one operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.tensor.declared import LARGEST_SIZE, bad_size
from annotune.tensor.messages import BAD_EINSUM, NO_SUCH_SIZE, UNUSABLE_NAME
from annotune.tensor.names import fresh, why_unusable
from annotune.tensor.program import (
    ElementType,
    Multiplied,
    Operation,
    Reference,
    Tensor,
    TensorProgram,
    TensorSize,
    Term,
)
from annotune.tensor.rules import refuse_mistakes

OPTION = "--einsum"
"""The name of the place at which messages about a string stand."""
# numpy's letters are as many.
_MOST_OPERANDS = 52


def einsum_program(
    text: str, sizes: Mapping[str, int], element: ElementType, name: str
) -> TensorProgram:
    """Return the program of a string as numpy.einsum takes it.

    The operands are the tensors A, B, … in this order, and the output is R. Sizes are those of the
    indices; one that is not given is a parameter of the function. Without ``->`` the output has the
    indices that stand once, in the order of the alphabet.

    Raises:
        AnnotuneError: The string is none, or a size is no size.
    """
    _refuse(text, sizes, name)
    left, _, _ = text.partition("->")
    words = list(_words(text))
    operands = words[: left.count(",") + 1]
    output = words[-1] if "->" in text else _implied(left)
    letters = frozenset(letter for word in operands for letter in word.text)
    taken = letters | {name}
    names: list[str] = []
    for number in range(len(operands)):
        names.append(fresh(_name(number), taken))
        taken |= {names[-1]}
    result = fresh("R", taken)
    lengths = {letter: fresh(f"n_{letter}", taken) for letter in sorted(letters)}
    tensors = [
        Tensor(
            result, tuple(lengths.get(one, 1) for one in output.text), element, span=output.span
        ),
        *(
            Tensor(own, tuple(lengths[one] for one in word.text), element, span=word.span)
            for own, word in zip(names, operands, strict=True)
        ),
    ]
    factors = tuple(
        Reference(own, tuple(word.text), word.span, word.spans)
        for own, word in zip(names, operands, strict=True)
    )
    value = factors[0] if len(factors) == 1 else Multiplied(factors)
    operation = Operation(
        Reference(result, tuple(output.text), output.span, output.spans), "=", (Term(value),)
    )
    declared = tuple(
        TensorSize(lengths[one], sizes.get(one), is_parameter=one not in sizes)
        for one in sorted(letters)
    )
    program = TensorProgram(name, declared, tuple(tensors), (operation,), span=_span(0, 1))
    refuse_mistakes(program)
    return program


class _Word:
    """The indices of one operand, and where they stand."""

    def __init__(self, letters: Sequence[tuple[str, int]], at: int) -> None:
        self.text = "".join(letter for letter, _ in letters)
        self.spans = tuple(_span(place, 1) for _, place in letters)
        self.span = self.spans[0] if self.spans else _span(at, 1)


def _words(text: str) -> Iterator[_Word]:
    """Yield the operands, and the output where it is said."""
    begin: list[tuple[str, int]] = []
    start = 0
    for at, letter in enumerate(text):
        if letter == "," or text.startswith("->", at):
            yield _Word(begin, start)
            begin, start = [], at
        elif letter.isalpha():
            begin.append((letter, at))
    yield _Word(begin, start)


def _implied(left: str) -> _Word:
    found = Counter(letter for letter in left if letter.isalpha())
    once = sorted(letter for letter, count in found.items() if count == 1)
    return _Word([(letter, left.index(letter)) for letter in once], 0)


def _name(number: int) -> str:
    """Return A to Z, then A1 and so on."""
    return chr(ord("A") + number % 26) + (str(number // 26) if number >= 26 else "")


def _span(at: int, length: int) -> Span:
    return Span(OPTION, 1, at + 1, length)


def _refuse(text: str, sizes: Mapping[str, int], function: str) -> None:
    found = [*_mistakes(text)]
    why = why_unusable(function)
    if why:
        where = Span("--name", 1, 1)
        found.append(UNUSABLE_NAME.at(where, name=function, why=why, such="einsum"))
    known = {letter for letter in text if letter.isalpha()}
    for name, value in sizes.items():
        where = Span("--sizes", 1, 1)
        if name not in known:
            hint = f"the indices are {', '.join(sorted(known))}"
            found.append(NO_SUCH_SIZE.at(where, name=name, hint=hint))
        elif not 0 < value <= LARGEST_SIZE:
            found.append(bad_size(where, f"the size of '{name}'", value))
    if found:
        raise AnnotuneError(tuple(found))


def _mistakes(text: str) -> Iterator[Diagnostic]:
    hint = "write the indices of each tensor, such as `ik,kj->ij`"
    at = text.find("->")
    if at >= 0:
        text = text[:at] + "  " + text[at + 2 :]
    for place, letter in enumerate(text):
        is_letter = letter.isascii() and letter.isalpha()
        if not (is_letter or letter in " ," or (letter == "\t")) or (
            letter == "," and 0 <= at < place
        ):
            where = _span(place, 1)
            what = f"character {letter!r}" if letter != "," else "',' in the output"
            if text.startswith("...", place):
                what, where = "'...'", _span(place, 3)
            yield BAD_EINSUM.at(where, what=what, hint=hint)
            return
    if not text.strip() or not any(letter.isalpha() for letter in text):
        yield BAD_EINSUM.at(_span(0, 1), what="no index", hint=hint)
    elif text.count(",") >= _MOST_OPERANDS:
        what = f"more than {_MOST_OPERANDS} operands"
        yield BAD_EINSUM.at(_span(0, 1), what=what, hint="")
