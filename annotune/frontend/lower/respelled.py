"""Whole expressions of a region's text, written anew where no change of a few words would do.

The user's text has plain names put into it where an alias stands. What comes out of a macro, such
as the struct in ``#define blk_1 blk_``, or of a call by reference that is one by value in the nest,
does not stand in the text: there all of the expression is written from the tree, which computes
the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pycparser import c_ast

from annotune.frontend.read.syntax import extent, text_of
from annotune.frontend.read.tokens import Tokens
from annotune.frozen import dataclass
from annotune.ir.region import Spelling


@dataclass(frozen=True, slots=True)
class WrittenExpression:
    """An expression that is no part of another: a child of `parent`, and its place in the text."""

    parent: c_ast.Node
    label: str
    start: int
    end: int

    def text(self) -> str:
        """Return the expression as it is now."""
        name, bracket, index = self.label.partition("[")
        child = getattr(self.parent, name)
        return text_of(child[int(index.rstrip("]"))] if bracket else child)


class WholeExpressions:
    """The expressions of a block before anything is put into it.

    `tokens` are the function's own, macros expanded. An expression that shares a macro with what
    stands around it has no text of its own.
    """

    def __init__(self, block: c_ast.Node, tokens: Tokens, source: str) -> None:
        self.tokens = tokens
        self.source = source
        self.places: list[WrittenExpression] = []
        for parent, label, node in _expressions(block):
            span = self._span(node)
            if span is not None:
                self.places.append(WrittenExpression(parent, label, *span))

    def _span(self, node: c_ast.Node) -> tuple[int, int] | None:
        """Return the text of an expression, None where a macro makes more than a part of it."""
        tokens = self.tokens
        start, end = extent(node, tokens)
        first = last = tokens.at(start)
        while last + 1 < len(tokens) and tokens.limits[last + 1] <= end:
            last += 1
        if tokens.limits[last] < end:
            return None
        opening, closing = self._of_macro(first), self._of_macro(last)
        if opening or closing:
            made = _words(Tokens.of(text_of(node)).texts)
            is_whole = made[: len(opening)] == opening
            if not is_whole or made[len(made) - len(closing) :] != closing:
                return None
        return tokens.roots[first], tokens.limits[last]

    def _of_macro(self, index: int) -> list[str]:
        """Return what the macro's use expands to that a token comes from; nothing for others."""
        tokens = self.tokens
        use = tokens.roots[index], tokens.limits[index]
        if use == (tokens.starts[index], tokens.ends[index]):
            around = [i for i in (index - 1, index + 1) if 0 <= i < len(tokens)]
            if all(tokens.roots[i] != use[0] for i in around):
                return (
                    []
                    if tokens.texts[index] == self.source[use[0] : use[1]]
                    else [tokens.texts[index]]
                )
        first = last = index
        while first > 0 and tokens.roots[first - 1] == use[0]:
            first -= 1
        while last + 1 < len(tokens) and tokens.roots[last + 1] == use[0]:
            last += 1
        return _words(tokens.texts[first : last + 1])

    def around(self, offset: int) -> WrittenExpression | None:
        """Return the expression in whose text `offset` lies, None where there is none."""
        return next((p for p in self.places if p.start <= offset < p.end), None)


def _words(texts: Iterable[str]) -> list[str]:
    """Return tokens without parentheses, which are not the same in a tree's text."""
    return [text for text in texts if text not in "()"]


def respelled(
    spellings: Sequence[Spelling], written: Sequence[WrittenExpression], source: str
) -> list[Spelling]:
    """Return `spellings` with the expressions `written` from their trees, each on as many lines."""
    kept = [s for s in spellings if not any(p.start <= s.start < p.end for p in written)]
    for start, end, place in {(p.start, p.end): (p.start, p.end, p) for p in written}.values():
        lines = "\n" * source.count("\n", start, end)
        kept.append(Spelling(start, end, f"{place.text()}{lines}"))
    return kept


def _expressions(node: c_ast.Node) -> Iterator[tuple[c_ast.Node, str, c_ast.Node]]:
    """Yield the expressions below a statement that are part of no other one."""
    for label, child in node.children():
        match child:
            case c_ast.Compound() | c_ast.If() | c_ast.For() | c_ast.DeclList() | c_ast.Label():
                yield from _expressions(child)
            case c_ast.Decl():
                if child.init is not None:
                    yield child, "init", child.init
            case c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.Typedef() | c_ast.Break():
                pass
            case c_ast.Continue() | c_ast.Goto() | c_ast.Return() | c_ast.While() | c_ast.DoWhile():
                pass
            case _:
                yield node, label, child
