"""What a function's tree says whatever the region: worked out once, not for each region again.

The trees of functions stay as they are once they are parsed: what becomes of a region is a copy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, TypeVar

from pycparser import c_ast

from annotune.frontend.read.syntax import CHANGES, addresses, changed_by
from annotune.frozen import dataclass
from annotune.ir.identity import once_for_each

Loop: TypeAlias = c_ast.For | c_ast.While | c_ast.DoWhile
Node = TypeVar("Node", bound=c_ast.Node)
_JUMPS = (c_ast.Goto, c_ast.Label, c_ast.Switch)
# A file's functions are read one after the other, each on a few rungs and with copies of it.
MOST_FUNCTIONS = 8
MOST_STATEMENTS = 1 << 14


@dataclass(frozen=True)
class FunctionIndex:
    """The nodes of a function's body by their kinds, and where each stands in the text.

    `nodes` are in the order of `walk_tree`; `parents` has the index there of what holds each.
    """

    nodes: Sequence[c_ast.Node]
    parents: Sequence[int]

    @cached_property
    def _by_kind(self) -> Mapping[type, Sequence[c_ast.Node]]:
        found: defaultdict[type, list[c_ast.Node]] = defaultdict(list)
        for node in self.nodes:
            found[type(node)].append(node)
        return found

    def of_kind(self, kind: type[Node]) -> Iterator[Node]:
        """Yield the nodes of a kind, in the order of the text."""
        return (node for node in self._by_kind.get(kind, ()) if isinstance(node, kind))

    @cached_property
    def extents(self) -> Mapping[int, tuple[int, int]]:
        """Return the offsets of the first and the last token of each node, by its identity.

        As `start_of` and `last_of`, those of what the parser saw. Some nodes have none.
        """
        firsts: list[int | None] = [n.coord.line if n.coord else None for n in self.nodes]
        lasts = list(firsts)
        # What is in a node follows it.
        for index in range(len(self.nodes) - 1, 0, -1):
            first, last, parent = firsts[index], lasts[index], self.parents[index]
            if first is None or last is None:
                continue
            outer_first, outer_last = firsts[parent], lasts[parent]
            firsts[parent] = first if outer_first is None else min(first, outer_first)
            lasts[parent] = last if outer_last is None else max(last, outer_last)
        places = zip(self.nodes, firsts, lasts, strict=True)
        return {
            id(node): (first, last)
            for node, first, last in places
            if first is not None and last is not None
        }

    @cached_property
    def has_jumps(self) -> bool:
        """Whether the function may leave out statements that its text shows."""
        return any(kind in self._by_kind for kind in _JUMPS)

    @cached_property
    def loops(self) -> Sequence[tuple[Loop, int, int]]:
        """The loops, each with its first and its last token."""
        found = [n for n in self.nodes if isinstance(n, Loop)]
        return [(loop, *self.extents[id(loop)]) for loop in found]

    @cached_property
    def _index_by_identity(self) -> Mapping[int, int]:
        return {id(node): place for place, node in enumerate(self.nodes)}

    def parent_of(self, node: c_ast.Node) -> c_ast.Node:
        """Return what holds one of the function's nodes; of the whole body itself."""
        return self.nodes[self.parents[self._index_by_identity[id(node)]]]

    def loops_around(self, node: c_ast.Node) -> Iterator[Loop]:
        """Yield the loops around one of the function's nodes."""
        place = self._index_by_identity[id(node)]
        while place:
            place = self.parents[place]
            around = self.nodes[place]
            if isinstance(around, Loop):
                yield around

    def outer_loops(self) -> Iterator[Loop]:
        """Yield the loops with at most one loop around them."""
        for loop, _, _ in self.loops:
            if sum(1 for _ in self.loops_around(loop)) < 2:
                yield loop

    @cached_property
    def declarations(self) -> Mapping[str, Sequence[c_ast.Decl]]:
        """The declarations of each name, of members and parameters too."""
        found: defaultdict[str, list[c_ast.Decl]] = defaultdict(list)
        for decl in self.of_kind(c_ast.Decl):
            if decl.name:
                found[decl.name].append(decl)
        return found

    @cached_property
    def addresses(self) -> Sequence[tuple[str, c_ast.Node]]:
        """The names whose address the function takes with ``&``, and where."""
        return tuple(addresses(self.nodes[0]))

    @cached_property
    def addressed(self) -> frozenset[str]:
        """The names whose address the function takes with ``&``."""
        return frozenset(name for name, _ in self.addresses)

    @cached_property
    def given_away(self) -> frozenset[str]:
        """Those of the names whose address goes somewhere else than to a call."""
        calls = (call.args for call in self.of_kind(c_ast.FuncCall))
        given = {id(argument) for args in calls if args is not None for argument in args.exprs}
        return frozenset(name for name, node in self.addresses if id(node) not in given)


@once_for_each(MOST_FUNCTIONS)
def index_of(body: c_ast.Node) -> FunctionIndex:
    """Return what is known of a function's body."""
    nodes: list[c_ast.Node] = []
    parents: list[int] = []
    waiting = [(body, 0)]
    while waiting:
        node, parent = waiting.pop()
        own = len(nodes)
        nodes.append(node)
        parents.append(parent)
        waiting += [(child, own) for child in node][::-1]
    return FunctionIndex(nodes, parents)


@once_for_each(MOST_FUNCTIONS)
def changes_of(body: c_ast.Node) -> Mapping[str, Sequence[c_ast.Node]]:
    """Return what changes each variable of a function, or takes its address."""
    found: defaultdict[str, list[c_ast.Node]] = defaultdict(list)
    for node in index_of(body).nodes:
        target = changed_by(node, CHANGES)
        if isinstance(target, c_ast.ID):
            found[target.name].append(node)
    return found
