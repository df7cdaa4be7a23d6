"""GNU C, C++ linkage and attributes turned into what pycparser reads, token by token."""

from __future__ import annotations

from annotune.frontend.tokens import IDENTIFIER, Tokens

_SPELLINGS = {
    "__restrict__": "restrict",
    "__restrict": "restrict",
    "__const": "const",
    "__const__": "const",
    "__inline__": "inline",
    "__inline": "inline",
    "__forceinline": "inline",
    "__volatile__": "volatile",
    "__volatile": "volatile",
    "__signed__": "signed",
    "__complex__": "_Complex",
    "__alignof__": "_Alignof",
    "__thread": "_Thread_local",
}
_DROPPED = frozenset({"__extension__", "__host__", "__device__", "__global__", "__forceinline__"})
_DROPPED_WITH_ARGUMENTS = frozenset(
    {"__attribute__", "__attribute", "__declspec", "_Pragma", "__pragma", "_Alignas", "alignas"}
)
_ASM = frozenset({"__asm__", "__asm", "asm"})
_REALS = frozenset({"double", "float"})
# What may stand before an asm statement; after anything else it names a declared symbol.
_BEFORE_STATEMENT = frozenset({";", "{", "}", ":", ")", "else", "do"})


def standard_c(tokens: Tokens, is_function: bool) -> Tokens:
    """Return the tokens of one declaration, or of a function, as ISO C spells them."""
    return _Dialect(tokens, is_function).run()


class _Dialect:
    """One pass over the tokens; what it keeps, it keeps at its place."""

    def __init__(self, tokens: Tokens, is_function: bool) -> None:
        self.tokens = tokens
        self.is_function = is_function
        self.kept: list[int] = []
        self.spelled: dict[int, str] = {}

    def run(self) -> Tokens:
        texts = self.tokens.texts
        index = self._linkage()
        while index < len(texts):
            text = texts[index]
            if text in _DROPPED:
                pass
            elif text in _DROPPED_WITH_ARGUMENTS:
                index = self._after_arguments(index)
                continue
            elif text in _ASM:
                index = self._asm(index)
                continue
            elif text == "complex" and not _REALS.isdisjoint(texts[max(0, index - 1) : index + 2]):
                # <complex.h> says so; a type of that name never stands beside another.
                self._keep(index, "_Complex")
            else:
                self._keep(index, _SPELLINGS.get(text, text))
            index += 1
        given = self.tokens
        return Tokens(
            [self.spelled.get(number, "") for number in range(len(self.kept))],
            [given.starts[i] for i in self.kept],
            [given.ends[i] for i in self.kept],
            [given.roots[i] for i in self.kept],
            [given.limits[i] for i in self.kept],
        )

    def _keep(self, index: int, text: str) -> None:
        self.spelled[len(self.kept)] = text
        self.kept.append(index)

    def _linkage(self) -> int:
        """Return where C goes on after ``extern "C" {``, or after the brace that closes one."""
        texts = self.tokens.texts
        index = 0
        while index < len(texts):
            if texts[index : index + 2] == ["extern", '"C"']:
                index += 2
                if texts[index : index + 1] == ["{"] and self.tokens.match[index] < 0:
                    index += 1
            elif texts[index] == "}" and self.tokens.match[index] < 0:
                index += 1
            else:
                break
        return index

    def _after_arguments(self, index: int) -> int:
        opener = index + 1
        while opener < len(self.tokens) and self.tokens.texts[opener] in (
            *("volatile", "__volatile__", "goto", "inline"),
        ):
            opener += 1
        if opener < len(self.tokens) and self.tokens.texts[opener] == "(":
            closer = self.tokens.match[opener]
            return closer + 1 if closer >= 0 else len(self.tokens)
        return opener

    def _asm(self, index: int) -> int:
        """Keep an asm statement as a call with what it reads and where it writes."""
        texts = self.tokens.texts
        after = self._after_arguments(index)
        is_statement = index > 0 and texts[index - 1] in _BEFORE_STATEMENT
        if not self.is_function or not is_statement or after >= len(texts):
            return after
        if "(" not in texts[index:after]:
            return after
        self._keep(index, "asm")
        self._keep(index, "(")
        opener = next(i for i in range(index, after) if texts[i] == "(")
        section = number = 0
        for at in range(opener + 1, after - 1):
            section += texts[at] == ":" and self._is_inside(at, opener)
            if not IDENTIFIER.match(texts[at]):
                continue
            if number:
                self._keep(at, ",")
            # The operands after the first colon are written, those after the second read.
            if section == 1:
                self._keep(at, "&")
            self._keep(at, texts[at])
            number += 1
        self._keep(after - 1, ")")
        return after

    def _is_inside(self, index: int, opener: int) -> bool:
        """Return whether no other parenthesis is open at `index`."""
        before = self.tokens.texts[opener + 1 : index]
        return before.count("(") == before.count(")")
