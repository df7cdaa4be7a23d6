"""The mistakes that are put into a text: one token or clause changed, by kind.

A mistake that no check could find, since the program stays right, is not made where that is known
beforehand: a guard with another right way beside it is only ever weakened (a stricter one takes the
other way more often), and numbers that only place work stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotune.codegen.cuda.memory import ALLOCATE, FREE, SEND
from mutation.tokens import Token, calls, closing, parts, tokens

KINDS = (
    *("bound", "barrier", "guard", "subscript", "clause", "copy", "combine", "type", "constant"),
)
_WEAKER = {"==": (">=", "<="), "<": ("<=",), ">": (">=",)}
_OTHER = {
    **{"==": ("!=", ">=", "<="), "!=": ("==",), "<": ("<=", ">"), ">": (">=", "<")},
    **{"<=": ("<", ">="), ">=": (">", "<=")},
}
_LESSER = {"<": (">",), ">": ("<",), "<=": (">",), ">=": ("<",), "==": ("!=",), "!=": ("==",)}
_REAL = re.compile(r"(\d+\.\d*|\.\d+)([eE][-+]?\d+)?[fFlL]?")
_WHOLE = re.compile(r"(\d+)([uUlL]*)")
_TYPES = frozenset(
    ["double", "float", "int", "long", "short", "unsigned", "size_t", "bool", "char", "signed"]
)
# To 16 bits: 32 are enough for all that fits into the memory of a check. To 8 where a size past
# 16 bits would take hours already, as of a loop over a triangle's rows, columns and between them.
_NARROWER = {"double": "float", "long": "short", "int": "short", "size_t": "short"}
_NARROWEST = {**_NARROWER, "long": "signed char", "int": "signed char", "size_t": "signed char"}


@dataclass(frozen=True, slots=True)
class Edit:
    """One mistake: the characters from `start` to `end` of a text replaced by `new`."""

    kind: str
    start: int
    end: int
    new: str
    what: str

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def edits(text: str, has_long_sizes: bool = True, beside: str = "") -> list[Edit]:
    """Return every mistake that the operators make in `text`, each program once.

    What it calls may stand `beside` it. Without long sizes its loops can be run past 8 bits, and
    not past 16.
    """
    one = _Text(text, tokens(text), _NARROWER if has_long_sizes else _NARROWEST, beside)
    made = [edit for operator in _OPERATORS for edit in operator(one)]
    made = [edit for edit in made if not _is_decided(text, edit)]
    return list({(one.start, one.end, one.new): one for one in reversed(made)}.values())[::-1]


_REST = re.compile(r"const \w+ \w+_end = \w+ \+ \d+ < \w+ \? [^;]*;")


def _is_decided(text: str, edit: Edit) -> bool:
    """Return whether an edit changes the end of a rest whose full tiles have a way of their own.

    Where these are told apart by one test, ``j_t + 8 <= m``, the end is always that of the loop.
    """
    for rest in _REST.finditer(text):
        if rest.start() <= edit.start < rest.end():
            test = text.rfind("if (", 0, rest.start())
            return "&&" not in text[test : text.find(")", test)]
    return False


class _Text:
    """A text, its tokens, and what is known of the places in it."""

    def __init__(
        self, text: str, found: list[Token], narrower: Mapping[str, str], beside: str
    ) -> None:
        self.beside = beside
        self.text, self.tokens, self.narrower = text, found, narrower
        self.headers = list(_headers(found))
        self.tests = list(_tests(found))
        self.in_header = {n for first, last in self.headers for n in range(first, last)}
        self.in_brackets: dict[int, tuple[int, int]] = {}
        self.is_for_host = "__global__" not in text
        self.declared = set(_declarators(found))
        for number, token in enumerate(found):
            if token.text == "[":
                last = closing(found, number)
                self.in_brackets |= dict.fromkeys(range(number + 1, last), (number + 1, last))

    def replaced(self, kind: str, number: int, new: str) -> Edit:
        token = self.tokens[number]
        return self.edit(kind, token.start, token.end, new)

    def behind(self, kind: str, number: int, new: str) -> Edit:
        end = self.tokens[number].end
        return self.edit(kind, end, end, new)

    def range(self, kind: str, first: int, last: int, new: str) -> Edit:
        """Return an edit of the tokens from `first` up to `last`."""
        return self.edit(kind, self.tokens[first].start, self.tokens[last - 1].end, new)

    def edit(self, kind: str, start: int, end: int, new: str) -> Edit:
        # Lines keep their numbers: a barrier is known by its line.
        new += "\n" * (self.text.count("\n", start, end) - new.count("\n"))
        line = self.text.count("\n", 0, start) + 1
        start_of_line = self.text.rfind("\n", 0, start) + 1
        old = self.text[start_of_line : self._end_of_line(end)]
        changed = self.text[start_of_line:start] + new + self.text[end : self._end_of_line(end)]
        what = f"line {line}: {_short(old)}  ->  {_short(changed) or '(nothing)'}"
        return Edit(kind, start, end, new, what)

    def _end_of_line(self, place: int) -> int:
        end = self.text.find("\n", place)
        return end if end >= 0 else len(self.text)


def _short(text: str) -> str:
    return " ".join(text.split())


def _headers(found: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the tokens between the parentheses of each ``for``."""
    for opening, last in calls(found, "for"):
        yield opening + 1, last


@dataclass(frozen=True, slots=True)
class _Test:
    """The tokens of a condition, and whether another right way stands beside the block it guards.

    One that chooses the lesser of two values, ``a < b ? a : b``, chooses the same at the border.
    """

    first: int
    last: int
    has_other_way: bool
    is_choice: bool = False
    block: tuple[int, int] = (0, 0)


def _tests(found: Sequence[Token]) -> Iterator[_Test]:
    for opening, last in calls(found, "if"):
        after = last + 1
        if found[after].text == "{":
            after = closing(found, after)
        else:
            while found[after].text != ";":
                after += 1
        has_else = after + 1 < len(found) and found[after + 1].text == "else"
        returns = any(t.text == "return" for t in found[last:after])
        yield _Test(opening + 1, last, has_else or returns, block=(last + 1, after + 1))
    for number in range(len(found) - 3):
        words = [token.text for token in found[number : number + 4]]
        if words == ["fits", "=", "fits", "&&"]:
            end = number
            while found[end].text != ";":
                end += 1
            yield _Test(number + 4, end, True)
        if words[0] == "?" and found[number].kind == "sign":
            yield _Test(_start_of_test(found, number), number, False, True)


def _start_of_test(found: Sequence[Token], question: int) -> int:
    """Return the first token of the condition before a question mark."""
    number, depth = question - 1, 0
    while number >= 0:
        text = found[number].text
        depth += (text in ")]") - (text in "([")
        if depth < 0 or (depth == 0 and text in ("=", ",", ";", "return", "{", "}")):
            return number + 1
        number -= 1
    return 0


def _declarators(found: Sequence[Token]) -> Iterator[int]:
    """Yield the tokens of declarations up to a value: their extents are no subscripts."""
    starts = {0} | {n + 1 for n, t in enumerate(found) if t.text in (";", "{", "}", "(", ",")}
    for start in sorted(starts):
        if start >= len(found):
            continue
        words = {"const", "__shared__", "extern", "static"} | _TYPES
        if found[start].text not in words:
            continue
        number = start
        while number < len(found) and found[number].text not in (";", "=", ")", "{"):
            yield number
            number += 1


def _bounds(one: _Text) -> Iterator[Edit]:
    for first, last in one.headers:
        header = parts(one.tokens, first, last, ";")
        if len(header) != 3:
            continue
        start, test, step = header
        for number in range(*test):
            for new in {"<": ("<=",), "<=": ("<",), ">": (">=",)}.get(one.tokens[number].text, ()):
                if not _holds_empty(one, first, last, number):
                    yield one.replaced("bound", number, new)
        if test[1] > test[0] and not _steps_over(one, start, test, step):
            yield one.behind("bound", test[1] - 1, " - 1")
        if start[1] > start[0]:
            yield one.behind("bound", start[1] - 1, " + 1")
        if one.tokens[step[1] - 1].kind == "number" and not _steps_once(one, start, test, step):
            yield one.behind("bound", step[1] - 1, " + 1")


def _holds_empty(one: _Text, first: int, last: int, relation: int) -> bool:
    """Return whether a loop holds but one from its iterator to its bound: it is empty there."""
    words = [token.text for token in one.tokens]
    end = first + words[first:last].index(";", relation - first)
    bound = words[relation + 1 : end]
    name = words[relation - 1]
    inner = last + 1 + (words[last + 1] == "{")
    if words[inner] != "for" or words[last + 1] != "{":
        return False
    found = words[inner + 2 : closing(one.tokens, inner + 1)]
    is_same = found[2:4] == ["=", name] and found[4:7] == [";", found[1], "<"]
    body = closing(one.tokens, inner + 1) + 1
    is_alone = words[body] == "{" and words[closing(one.tokens, body) + 1] == "}"
    return is_same and found[7 : 7 + len(bound) + 1] == [*bound, ";"] and is_alone


_Range = tuple[int, int]


def _steps_over(one: _Text, start: _Range, test: _Range, step: _Range) -> bool:
    """Return whether no value of an iterator lies between a bound and one less.

    From 0 in steps of 8 there is none before ``n - n % 8``, nor before an `n` that is fixed where
    the loop stands and leaves another rest than 1.
    """
    width = _width(one, start, step)
    bound = [t.text for t in one.tokens[test[0] + 2 : test[1]]]
    if width > 1 and bound[-2:] == ["%", str(width)]:
        return bound[:-2] == [bound[0], "-", bound[0]]
    known = _fixed(one, test[0]).get(bound[0]) if len(bound) == 1 else None
    return width > 1 and known is not None and known % width != 1


def _steps_once(one: _Text, start: _Range, test: _Range, step: _Range) -> bool:
    """Return whether the first step reaches a bound, which is fixed where the loop stands."""
    bound = [t.text for t in one.tokens[test[0] + 2 : test[1]]]
    known = _fixed(one, test[0]).get(bound[0]) if len(bound) == 1 else None
    return known is not None and known <= _width(one, start, step)


def _width(one: _Text, start: _Range, step: _Range) -> int:
    """Return the step of a loop that starts at 0, 0 for another loop."""
    begins = [t.text for t in one.tokens[start[1] - 2 : start[1]]]
    return _whole(one.tokens[step[1] - 1].text) if begins == ["=", "0"] else 0


def _fixed(one: _Text, number: int) -> dict[str, int]:
    """Return the sizes that are fixed where a token stands, by its function or by a test."""
    place = one.tokens[number].start
    function = one.text[one.text.rfind("\n}", 0, place) + 1 : place]
    found = re.findall(r"\bconst int (\w+) = (\d+);", function)
    for test in one.tests:
        if test.block[0] <= number < test.block[1]:
            words = one.text[one.tokens[test.first].start : one.tokens[test.last].start]
            if "||" not in words:
                found += re.findall(r"\b(\w+) == (\d+)\b", words)
    return {name: int(digits) for name, digits in found}


_WAITS = ("__syncthreads", "__syncwarp", "__pipeline_wait_prior", "__pipeline_commit")


def _barriers(one: _Text) -> Iterator[Edit]:
    for opening, last in calls(one.tokens, *_WAITS):
        if one.tokens[last + 1].text == ";" and not _ends_only_combine(one, last + 2):
            yield one.range("barrier", opening - 1, last + 1, "")
        if last == opening + 2 and one.tokens[opening + 1].kind == "number":
            yield one.behind("barrier", opening + 1, " + 1")
    for token in one.tokens:
        if token.kind == "pragma" and re.search(r"\bomp\s+barrier\b", token.text):
            yield one.edit("barrier", token.start, token.end, "")


def _ends_only_combine(one: _Text, after: int) -> bool:
    """Return whether a barrier lets threads combine again, in a text whose kernels do so once."""
    if one.tokens[after].text != "return":
        return False
    kernels = re.split(r"__global__", one.text)[1:]
    return all(kernel.count("annotune_combined<") < 2 for kernel in kernels)


def _guards(one: _Text) -> Iterator[Edit]:
    for test in one.tests:
        table = _WEAKER if test.has_other_way else _LESSER if test.is_choice else _OTHER
        if "".join(t.text for t in one.tokens[test.first : test.last]) == "count<limit":
            # More blocks than iterations are as right, and take hours here.
            yield one.range("guard", test.first, test.last, "1")
            continue
        whole = parts(one.tokens, test.first, test.last, "&&")
        fails_later = _fails_later(one, test)
        for first, last in whole:
            if _is_redundant(one, test, first, last):
                continue
            for number in range(first, last):
                for new in table.get(one.tokens[number].text, ()):
                    # No status is less than success.
                    is_status = one.tokens[number + 1].text == "cudaSuccess"
                    if not (is_status and (new == "<=" or (new == ">=" and fails_later))):
                        yield one.replaced("guard", number, new)
            if not fails_later:
                yield one.range("guard", first, last, "1")
            if last < test.last:
                yield one.replaced("guard", last, "||")
        if not test.has_other_way:
            yield one.range("guard", test.first, test.last, "0")


def _is_redundant(one: _Text, test: _Test, first: int, last: int) -> bool:
    """Return whether a conjunct may go, since what it guards is right without it.

    That a loop runs, ``0 < n``: without it nothing is done either way. That a size is the tuned
    one, in a text that does not depend on it: what it guards has neither the number, but where it
    only places work, nor the one before it.
    """
    words = [token.text for token in one.tokens[first:last]]
    if not test.has_other_way:
        return False
    if words[0].isdigit() and words[1] == "<":
        return True
    if len(words) == 3 and words[1] == "==" and words[2].isdigit():
        number = int(words[2])
        if number < 2:
            return False
        guarded = _PLACED.sub("", _guarded(one, test))
        return not re.search(rf"\b(?:{number}|{number - 1})\b", guarded)
    return False


_PLACED = re.compile(
    r"\b(?:num_gangs|num_workers|vector_length)\(\d+\)|//[^\n]*|/\*.*?\*/", re.DOTALL
)


def _guarded(one: _Text, test: _Test) -> str:
    """Return what a test guards, with the functions that are named in it."""
    first, last = test.block
    block = one.text[one.tokens[first].start : one.tokens[last - 1].end]
    named = {token.text for token in one.tokens[first:last] if token.kind == "name"}
    every = f"{one.text}\n{one.beside}"
    bodies = (rf"\b{name}\([^;{{}}]*\)\s*\{{.*?^\}}" for name in sorted(named))
    found = (re.search(body, every, re.DOTALL | re.MULTILINE) for body in bodies)
    return "\n".join([block, *(body[0] for body in found if body)])


def _fails_later(one: _Text, test: _Test) -> bool:
    """Return whether a test of the status guards what is done before kernels are launched.

    Of a call that has failed before, ``cudaGetLastError`` tells behind the launch.
    """
    is_staged = any(token.text == ALLOCATE for token in one.tokens[slice(*test.block)])
    return is_staged and "cudaGetLastError" in one.text


def _subscripts(one: _Text) -> Iterator[Edit]:
    for first, last in sorted(set(one.in_brackets.values())):
        if first in one.declared or first == last:
            continue
        yield one.behind("subscript", last - 1, " + 1")
        yield one.behind("subscript", last - 1, " - 1")
        names = [n for n in range(first, last) if one.tokens[n].kind == "name"]
        texts = sorted({one.tokens[n].text for n in names})
        for number in names:
            others = [text for text in texts if text != one.tokens[number].text]
            if others and one.tokens[number + 1].text not in ("(", "["):
                yield one.replaced("subscript", number, others[0])
        for number in range(first + 1, last):
            new = {"+": "-", "*": "+"}.get(one.tokens[number].text)
            if new and one.in_brackets.get(number) == (first, last):
                yield one.replaced("subscript", number, new)


_CLAUSE = re.compile(
    r"\b(copyin|copyout|copy|create|private|firstprivate|lastprivate|reduction|collapse|map)"
    r"\s*\(((?:[^()]|\([^()]*\))*)\)"
)
_MOVES = {
    "copy": ("copyin", "copyout", "create"),
    "copyin": ("create", "copyout"),
    "copyout": ("create", "copyin"),
    "create": ("copyin",),
}
_OPERATIONS = {"+": "*", "*": "+", "max": "min", "min": "max"}


def _clauses(one: _Text) -> Iterator[Edit]:
    for token in one.tokens:
        if token.kind == "pragma":
            for match in _CLAUSE.finditer(token.text):
                yield from _clause(one, token, match)
            if re.search(r"\b(data|update)\b", token.text.partition("(")[0]):
                yield one.edit("clause", token.start, token.end, "")


def _clause(one: _Text, token: Token, match: re.Match[str]) -> Iterator[Edit]:
    def put(start: int, end: int, new: str) -> Edit:
        return one.edit("clause", token.start + start, token.start + end, new)

    name = match[1]
    if name == "collapse":
        yield put(match.start(2), match.end(2), str(int(match[2]) + 1))
        return
    # What is reduced is copied without being asked for.
    if not re.search(rf"reduction\([^)]*:\s*{re.escape(match[2])}\)", token.text):
        yield put(match.start(), match.end(), "")
    for other in _MOVES.get(name, ()):
        # create is not weaker than copyin, and costs only time: what is there may be copied.
        if (name, other) != ("create", "copyin"):
            yield put(match.start(1), match.end(1), other)
    if name == "reduction":
        operation = match[2].partition(":")[0].strip()
        new = _OPERATIONS.get(operation)
        if new:
            start = match.start(2)
            yield put(start, start + match[2].index(":"), new)
    for section in re.finditer(r"\[([^\[\]:]*):([^\[\]:]*)\]", match[2]):
        start = match.start(2)
        length = (start + section.start(2), start + section.end(2))
        yield put(*length, f"{section[2]} - 1")
        yield put(start + section.start(1), start + section.end(1), f"{section[1]} + 1")


def _copies(one: _Text) -> Iterator[Edit]:
    found = one.tokens
    for opening, last in calls(found, ALLOCATE):
        yield one.range("copy", opening - 1, last + 1, "cudaSuccess")
        # An allocation is rounded up by every runtime.
        yield one.behind("copy", parts(found, opening + 1, last, ",")[1][1] - 1, " / 2")
    for number, token in enumerate(found):
        is_count = token.text.endswith("_count") and number and found[number - 1].text == "long"
        if is_count:
            body = closing(found, number + 1) + 1
            if found[body].text == "{" and found[body + 1].text == "return":
                yield one.behind("copy", closing(found, body) - 2, " - 1")
        if [t.text for t in found[number : number + 6]] == _ARRAYS:
            yield from _moved(one, number + 5)
    for opening, last in calls(found, SEND):
        yield one.range("copy", opening - 1, last + 1, "cudaSuccess")
    for opening, last in calls(found, FREE):
        yield one.range("copy", opening - 1, last + 1, "")


_ARRAYS = ["annotune_array", "arrays", "[", "]", "=", "{"]


def _moved(one: _Text, opening: int) -> Iterator[Edit]:
    """Yield the mistakes in the rows that say what a call copies of each array."""
    row, end = opening + 1, closing(one.tokens, opening)
    while row < end:
        last = closing(one.tokens, row)
        _, size, _, section, *moved = parts(one.tokens, row + 1, last, ",")
        if any(one.tokens[first].text == "true" for first, _ in moved):
            yield one.behind("copy", size[1] - 1, " / 2")
            yield one.behind("copy", size[1] - 1, " - 1")
        yield one.behind("copy", section[1] - 1, " / 2")
        for first, _ in moved:
            if one.tokens[first].text == "true":
                yield one.replaced("copy", first, "false")
        row = last + 2


def _combines(one: _Text) -> Iterator[Edit]:
    for number, token in enumerate(one.tokens):
        if number in one.in_header or number in one.in_brackets:
            continue
        for new in {"+=": ("=", "-="), "-=": ("=", "+="), "*=": ("=", "+=")}.get(token.text, ()):
            if new != "=" or not _is_first_term(one, number):
                yield one.replaced("combine", number, new)
        other = {"fmax": "fmin", "fmin": "fmax", "max": "min", "min": "max"}.get(token.text)
        if other and one.tokens[number + 1].text == "(":
            yield one.replaced("combine", number, other)
        is_start = one.tokens[number - 1].text == "=" and one.tokens[number + 1].text == ";"
        if is_start and token.kind == "number" and _REAL.fullmatch(token.text):
            yield one.replaced("combine", number, "1.0" if float(token.text) == 0 else "0.0")
    found = one.tokens
    for number in range(3, len(found)):
        if _halves(one, number) and not _are_powers(one):
            yield one.range("combine", number - 3, number + 2, "count")
    for opening, last in calls(found, "of"):
        if found[opening - 2].text == "::":
            first = parts(found, opening + 1, last, ",")[0]
            inside = range(opening + 1, last)
            start = next(n for n in range(opening, 0, -1) if found[n].text in ("=", "return"))
            if inside and start:
                yield one.range(
                    "combine",
                    start + 1,
                    last + 1,
                    one.text[found[first[0]].start : found[first[1] - 1].end],
                )


def _is_first_term(one: _Text, number: int) -> bool:
    """Return whether what is added to has just begun at -0.0, to which whatever is added stays.

    No loop stands between, or one of which each thread has one iteration at the most.
    """
    name, place = one.tokens[number - 1].text, one.tokens[number].start
    start = one.text.rfind(f" {name} = -0.0", 0, place)
    between = one.text[start:place]
    loops = re.findall(r"\bfor \(", between)
    strided = re.search(r"= threadIdx\.x; \w+ < (\w+); \w+ \+= blockDim\.x\)", between)
    if start < 0 or re.search(r"^}", between, re.MULTILINE) or len(loops) > 1:
        return False
    threads = re.findall(r"__launch_bounds__\((\d+)\)", one.text[:place])
    size = _fixed(one, number).get(strided[1]) if strided else None
    return not loops or (size is not None and bool(threads) and size <= int(threads[-1]))


def _halves(one: _Text, number: int) -> bool:
    """Return whether a number is the 1 of ``(count + 1) / 2``."""
    words = [token.text for token in one.tokens[number - 3 : number + 4]]
    return words == ["(", "count", "+", "1", ")", "/", "2"]


def _are_powers(one: _Text) -> bool:
    """Return whether every block that combines has a power of two threads, which halve evenly."""
    launches = re.finditer(r"dim3 threads\((\d+), (\d+), (\d+)\);\s*(\w+)<<<", one.text)
    combining = "|".join(
        re.findall(
            r"(\w+)\([^;{}]*\) \{(?=(?:(?!^\}).)*annotune_combined<)", one.text, re.DOTALL | re.M
        )
    )
    found = [m.groups()[:3] for m in launches if re.fullmatch(combining, m[4])]
    return all((n & (n - 1)) == 0 for n in (int(x) * int(y) * int(z) for x, y, z in found))


def _types(one: _Text) -> Iterator[Edit]:
    found = one.tokens
    for number, token in enumerate(found[:-1]):
        new = one.narrower.get(token.text)
        before, after = found[number - 1].text, found[number + 1].text
        # A pointer to another type compiles nowhere, and a number with another cast is the same.
        if new is None or token.kind != "name" or after in ("*", "__restrict__", ")", "long"):
            continue
        # What holds the number of a thread, or a size that is fixed, holds little.
        if before in ("long", "unsigned") or (before == "const" and token.text != "double"):
            continue
        if _counts_to_a_number(one, number) or _is_place_of_tuned(one, number):
            continue
        yield one.replaced("type", number, new)


def _is_place_of_tuned(one: _Text, number: int) -> bool:
    """Return whether a type is that of a tile's place in a function for sizes that are fixed."""
    opening = number
    while opening and one.tokens[opening].text not in ("(", ")", ";", "{"):
        opening -= 1
    function = one.tokens[opening - 1].text if opening else ""
    return function.endswith("_tuned") and one.tokens[number + 1].text.endswith("_t")


def _counts_to_a_number(one: _Text, number: int) -> bool:
    """Return whether a type is that of a loop whose bound is a size that the function fixes."""
    if number not in one.in_header:
        return False
    first, last = next(header for header in one.headers if number in range(*header))
    bounds = [t.text for t in one.tokens[first + 2 : last] if t.kind == "name"]
    fixed = _fixed(one, number)
    return first == number and all(b in fixed for b in bounds if b != one.tokens[first + 1].text)


def _constants(one: _Text) -> Iterator[Edit]:
    for number, token in enumerate(one.tokens):
        if token.kind != "number" or number in one.in_header or number in one.in_brackets:
            continue
        if _places_work(one, number) or _asks_for_sign(one, token) or _is_far(token):
            continue
        if _REAL.fullmatch(token.text):
            yield one.replaced("constant", number, f"({token.text} + 0.5)")
        elif _WHOLE.fullmatch(token.text):
            for sign in _signs(one, number):
                if sign == "-" and _halves(one, number) and _are_powers(one):
                    continue
                if _limits_blocks(one, number, sign) or _chooses_thread(one, number):
                    continue
                yield one.replaced("constant", number, f"({token.text} {sign} 1)")


def _is_far(token: Token) -> bool:
    """Return whether a number is beyond all elements, as the one next to it is."""
    return _whole(token.text) >= 1 << 62


_SIGN = re.compile(r"(?P<zero>[^&|;=]+) == 0\.0f? && (?P<asked>1\.0f? / (?P=zero) < 0\.0f?)")


def _asks_for_sign(one: _Text, token: Token) -> bool:
    """Return whether a number stands where the sign of a zero is asked for.

    What divides by it is an infinity, and so lies on the same side of another number.
    """
    found = (match.span("asked") for match in _SIGN.finditer(one.text))
    return any(start <= token.start < end for start, end in found)


def _signs(one: _Text, number: int) -> str:
    """Return the signs of the steps that make another program of a whole number.

    Where a right way stands beside what a test guards, a test that holds less often is right.
    """
    signs = "+-" if _whole(one.tokens[number].text) else "+"
    for test in one.tests:
        if not test.first <= number < test.last or not (test.has_other_way or test.is_choice):
            continue
        words = [token.text for token in one.tokens[test.first : test.last]]
        sides = parts(one.tokens, test.first, test.last, "&&")
        first, last = next(side for side in sides if side[0] <= number < side[1])
        if _is_redundant(one, test, first, last):
            return ""
        relation = next((n for n in range(first, last) if one.tokens[n].text in _OTHER), None)
        if relation is None or one.tokens[relation].text in ("==", "!="):
            return signs
        is_less = one.tokens[relation].text in ("<", "<=")
        if not words or "-" in words or "%" in words or "/" in words:
            return ""
        # On the greater side more makes it weaker, on the lesser one less does.
        weaker = "-" if (number < relation) == is_less else "+"
        return weaker if weaker in signs else ""
    return signs


def _whole(text: str) -> int:
    found = _WHOLE.fullmatch(text)
    return int(found[1]) if found else 0


_PLACING = ("__launch_bounds__", "__attribute__", "aligned", "target", "_Alignas", "__align__")


def _places_work(one: _Text, number: int) -> bool:
    """Return whether a number only places work or data: another is as right."""
    before = [token.text for token in one.tokens[max(0, number - 12) : number]]
    if any(word in before for word in _PLACING):
        return True
    # The extent of a grid for a loop that does not run.
    if (
        before[-1:] == ["return"]
        and "annotune_extent" in one.text[: one.tokens[number].start][-200:]
    ):
        return True
    for axis, stride in (("blocks", "gridDim"), ("threads", "blockDim")):
        if axis in before and "dim3" in before:
            launch = next(n for n in range(number, len(one.tokens)) if one.tokens[n].text == "<<<")
            kernel = re.escape(one.tokens[launch - 1].text)
            body = re.search(rf"\b{kernel}\(.*?^}}", one.text, re.DOTALL | re.MULTILINE)
            return body is not None and f"+= {stride}" in body[0]
    return False


def _chooses_thread(one: _Text, number: int) -> bool:
    """Return whether a number says which of a team's threads, which hold the same, writes it."""
    words = [token.text for token in one.tokens[number - 4 : number]]
    is_thread = words[:2] == ["threadIdx", "."] and words[3:] == ["=="]
    return is_thread and "annotune_combined" in one.text


# No device has more blocks along an axis of a grid, x or the others.
_DEVICE_LIMITS = ("65535", "2147483647")


def _limits_blocks(one: _Text, number: int, sign: str) -> bool:
    """Return whether another number of blocks is as right: they stride over what is beyond it."""
    around = any(first < number < last for first, last in calls(one.tokens, "annotune_extent"))
    is_too_many = sign == "+" and one.tokens[number].text in _DEVICE_LIMITS
    strides = re.search(r"\+= [^;)]*gridDim", one.text) is not None
    return around and strides and not is_too_many


_OPERATORS: Sequence[Callable[[_Text], Iterator[Edit]]] = (
    *(_bounds, _barriers, _guards, _subscripts, _clauses, _copies, _combines, _types, _constants),
)
