"""Jumps forward, ``goto``, ``continue`` and those of a ``switch``, as branches.

    for (…) { if (a) goto L; S; if (b) { T; continue; } U; L: V; }

is ``for (…) { if (a) V; else { S; if (b) T; else { U; V; } } }``, were V not in it twice. As far
as each statement has one way to it, those between a jump and its label go into the branch that
does not jump. None is copied, no condition is stored, and each is reached as often and as late as
before: the two texts run the same statements in the same order. Where a statement would have to
stand in two branches, as V does here, the jumps stay, and a region refuses them.

``switch (v) { case 1: S; break; case 2: T; default: U; }`` is a block that jumps to its labels:
``if (v == 1) goto C1; else if (v == 2) goto C2; else goto D; C1: S; goto E; C2: T; D: U; E: ;``.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from functools import reduce
from typing import TypeAlias

from pycparser import c_ast
from pycparser.c_parser import Coord

from annotune.frontend.read.syntax import (
    HOLDERS,
    changed_by,
    holds_place,
    names_in,
    replace_everywhere,
    replace_nodes,
    walk_tree,
)
from annotune.frontend.read.tokens import integer
from annotune.frozen import dataclass

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
# Where ``continue`` goes: no label has an empty name.
_NEXT = ""
# Where ``break`` goes, with a number of its own for each switch: no label has a space in its name.
_BREAK = "break"
# What is not the same each time that it is computed.
_IMPURE = (c_ast.FuncCall, c_ast.Assignment)
# An int holds what is less.
_WIDE = 2**31


class _Tangled(Exception):
    """A statement would have to stand in two branches, or outside the scope of a name."""


def structure(body: c_ast.Compound, places: Collection[int]) -> None:
    """Put branches in the place of the jumps in a function's loops, and drop labels without jumps.

    The tree changes. Loops and switches around one of the `places` in the text stay: statements of
    a region there would come into one branch with others.
    """

    def branches(node: c_ast.Node) -> c_ast.Node | None:
        if not isinstance(node, c_ast.Switch) or holds_place(node, places):
            return None
        try:
            return _branches_of(node)
        except _Tangled:
            return None

    replace_everywhere(body, branches)
    for loop in reversed([node for node in walk_tree(body) if isinstance(node, _LOOPS)]):
        if not any(_jumps(loop.stmt)):
            continue
        if holds_place(loop, places):
            continue
        try:
            loop.stmt = _iteration(loop.stmt, body)
        except _Tangled:
            continue
    jumped_to = {node.name for node in walk_tree(body) if isinstance(node, c_ast.Goto)}
    _drop_labels(body, jumped_to)


def _iteration(stmt: c_ast.Node, function: c_ast.Compound) -> c_ast.Node:
    """Return a loop's body without jumps out of its statements."""
    labels = Counter(n.name for n in walk_tree(stmt) if isinstance(n, c_ast.Label))
    inside, everywhere = (
        Counter(n.name for n in walk_tree(tree) if isinstance(n, c_ast.Goto))
        for tree in (stmt, function)
    )
    if any(inside[name] != everywhere[name] for name in labels):
        raise _Tangled
    flow = _Flow(stmt, stmt.coord)
    # ``goto next`` to ``next: ;`` at the end is a ``continue``.
    flow.places |= dict.fromkeys(flow.at_end, len(flow.items))
    flow.follow()
    if any(target != _NEXT for target in flow.targets()):
        raise _Tangled
    structured = flow.block()
    _check_scopes(stmt, structured)
    return structured


def _branches_of(switch: c_ast.Switch) -> c_ast.Node:
    """Return a switch as branches; nothing in it leads further than behind it."""
    flow = _switch_flow(switch)
    flow.follow()
    if any(isinstance(arm.target, str) for arm in flow.open):
        raise _Tangled
    structured = flow.block()
    _check_scopes(switch, structured)
    return structured


@dataclass(frozen=True)
class _Labelled:
    """What a switch does from a label on, to the next one with statements, or to the end.

    `values` are the conditions of the cases that lead here, and `default` may too.
    """

    label: str
    values: tuple[c_ast.Node, ...]
    is_default: bool
    stmts: tuple[c_ast.Node, ...]

    @property
    def falls(self) -> bool:
        """Return whether the next label may come after it."""
        ends = (c_ast.Break, c_ast.Continue, c_ast.Goto)
        return not (self.stmts and isinstance(self.stmts[-1], ends))

    @property
    def leaves(self) -> bool:
        """Return whether what is behind the switch does not come after it."""
        return bool(self.stmts) and isinstance(self.stmts[-1], c_ast.Continue | c_ast.Goto)


# What falls from one into the next, the last of which ends or leaves the switch.
_Run: TypeAlias = "tuple[_Labelled, ...]"


def _switch_flow(switch: c_ast.Switch) -> _Flow:
    """Return the ways through a switch, from the choice of a label to where its breaks go."""
    if any(isinstance(node, c_ast.Label) for node in walk_tree(switch)):
        raise _Tangled  # from where it is jumped to is not looked at here
    if any(isinstance(node, _IMPURE) or changed_by(node) for node in walk_tree(switch.cond)):
        raise _Tangled
    place, end = switch.coord, f"{_BREAK} {id(switch)}"
    labelled = tuple(_parts_of_switch(switch, end))
    choice = _Choice(place).of(tuple(_falling_runs(labelled)), end)
    items: list[c_ast.Node] = [choice]
    for one in labelled:
        items.append(c_ast.Label(one.label, c_ast.EmptyStatement(place), place))
        items += (_without_break(copy.deepcopy(stmt), end) for stmt in one.stmts)
    flow = _Flow(c_ast.Compound(items, place), place)
    flow.places[end] = len(flow.items)
    return flow


def _parts_of_switch(switch: c_ast.Switch, end: str) -> Iterator[_Labelled]:
    """Yield the parts of a switch, the labels of one statement as one."""
    items = switch.stmt.block_items or [] if isinstance(switch.stmt, c_ast.Compound) else []
    cases = [item for item in items if isinstance(item, c_ast.Case | c_ast.Default)]
    labels = [*_own_labels(switch.stmt)]
    if not cases or not len(cases) == len(items) == len(labels):
        raise _Tangled
    values: tuple[c_ast.Node, ...] = ()
    is_default = False
    for number, case in enumerate(cases):
        if isinstance(case, c_ast.Case):
            values = (*values, _case_condition(switch.cond, case.expr))
        is_default |= isinstance(case, c_ast.Default)
        if case.stmts or number + 1 == len(cases):
            yield _Labelled(f"{end} {number}", values, is_default, tuple(case.stmts or ()))
            values, is_default = (), False


def _own_labels(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield the labels of a switch below its body, those inside of other statements too."""
    for child in node:
        if isinstance(child, c_ast.Case | c_ast.Default):
            yield child
        if not isinstance(child, c_ast.Switch):
            yield from _own_labels(child)


def _falling_runs(labelled: Sequence[_Labelled]) -> Iterator[_Run]:
    own: _Run = ()
    for one in labelled:
        own = (*own, one)
        if not one.falls:
            yield own
            own = ()
    if own:
        yield own


@dataclass(frozen=True)
class _Choice:
    """Makes the branches that choose a label, at a place in the text.

    Whatever meets again comes from one branch that nothing else comes from: what falls into a
    label from those before it, and what goes on behind the switch from all that does.
    """

    place: Coord | None

    def of(self, runs: Sequence[_Run], end: str) -> c_ast.Node:
        """Return the choice among all runs; without a default the others go to the `end`."""
        of_default = [run for run in runs if any(one.is_default for one in run)]
        is_leaving = bool(of_default) and of_default[0][-1].leaves
        others = [run for run in runs if run not in of_default]
        apart = [run for run in others if run[-1].leaves is not is_leaving]
        rest = [run for run in others if run not in apart]
        other = self.within(of_default[0]) if of_default else c_ast.Goto(end, self.place)
        choice = self.chain(rest, other)
        if not apart:
            return choice
        return self.branch(apart, self.chain(apart[:-1], self.within(apart[-1])), choice)

    def chain(self, runs: Sequence[_Run], other: c_ast.Node) -> c_ast.Node:
        """Return the choice among runs, and the `other` for what is of none."""
        for run in runs:
            other = self.branch([run], self.within(run), other)
        return other

    def within(self, run: _Run) -> c_ast.Node:
        """Return the choice among the labels of one run, for a value of theirs."""
        *before, last = run
        jump = c_ast.Goto(last.label, self.place)
        if not before:
            return jump
        if last.is_default:
            return self.branch([tuple(before)], self.within(tuple(before)), jump)
        return self.branch([(last,)], jump, self.within(tuple(before)))

    def branch(self, runs: Sequence[_Run], then: c_ast.Node, other: c_ast.Node) -> c_ast.Node:
        values = [copy.deepcopy(v) for run in runs for one in run for v in one.values]
        condition = reduce(lambda a, b: c_ast.BinaryOp("||", a, b, a.coord), values)
        return c_ast.If(condition, then, other, self.place)


def _case_condition(value: c_ast.Node, case: c_ast.Node) -> c_ast.Node:
    """Return the condition of a case; the value is computed anew in each.

    Raises:
        _Tangled: The case's constant may be changed where it becomes of the value's type, which a
            comparison does not do.
    """
    numbers = (integer(n.value) for n in walk_tree(case) if isinstance(n, c_ast.Constant))
    if any(number is None or number >= _WIDE for number in numbers):
        raise _Tangled
    return c_ast.BinaryOp("==", copy.deepcopy(value), copy.deepcopy(case), case.coord)


def _without_break(node: c_ast.Node, end: str) -> c_ast.Node:
    """Return a statement of a switch with a jump to its `end` for each ``break`` of it."""

    def jump(inner: c_ast.Node) -> c_ast.Node | None:
        if isinstance(inner, c_ast.Break):
            return c_ast.Goto(end, inner.coord)
        return inner if isinstance(inner, (*_LOOPS, c_ast.Switch)) else None

    items = [node]
    replace_nodes(c_ast.Compound(items), jump)
    return items[0]


def _check_scopes(before: c_ast.Node, after: c_ast.Node) -> None:
    """Raise where a declaration of a block that was taken apart may not reach the same names.

    It does where nothing else in the iteration has its name, and all that mention it stand in its
    block, then as now.
    """
    declared = Counter(n.name for n in walk_tree(before) if isinstance(n, c_ast.Decl))
    mentions = Counter(names_in(before))
    old, new = ([n for n in walk_tree(t) if isinstance(n, c_ast.Compound)] for t in (before, after))
    kept = {id(block) for block in old} & {id(block) for block in new}
    for block in (*old, *new):
        for item in () if id(block) in kept else block.block_items or ():
            name = item.name if isinstance(item, c_ast.Decl) else None
            is_alone = name is not None and declared[name] == 1
            if isinstance(item, c_ast.Typedef) or (isinstance(item, c_ast.Decl) and not is_alone):
                raise _Tangled
            if name is not None and Counter(names_in(block))[name] != mentions[name]:
                raise _Tangled


def _jumps(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield the jumps in a statement; ``continue`` of a loop in it is none."""
    if isinstance(node, c_ast.Goto | c_ast.Continue):
        yield node
    for child in node if isinstance(node, HOLDERS) else ():
        for jump in _jumps(child):
            if isinstance(jump, c_ast.Goto) or not isinstance(node, _LOOPS):
                yield jump


def _drop_labels(node: c_ast.Node, kept: Collection[str]) -> None:
    for name, child in node.children() if isinstance(node, HOLDERS) else ():
        plain = child
        while isinstance(plain, c_ast.Label) and plain.name not in kept:
            plain = plain.stmt
        if plain is not child:
            field_name, bracket, index = name.partition("[")
            if bracket:
                getattr(node, field_name)[int(index.rstrip("]"))] = plain
            else:
                setattr(node, field_name, plain)
        _drop_labels(plain, kept)


@dataclass(eq=False)
class _Arm:
    """A branch that statements are still put into, and where control is at its end.

    `target` is the statement's index in the block that is followed, or the name of a label
    outside it.
    """

    parent: _Arm | None = None
    target: int | str = 0
    stmts: list[c_ast.Node] = field(default_factory=list)

    def around(self) -> Iterator[_Arm]:
        """Yield the branch and those that it stands in, innermost first."""
        arm: _Arm | None = self
        while arm is not None:
            yield arm
            arm = arm.parent


class _Flow:
    """The ways through the statements of one block, all of which lead forward."""

    def __init__(self, stmt: c_ast.Node | None, coord: Coord | None) -> None:
        items = stmt.block_items or [] if isinstance(stmt, c_ast.Compound) else [stmt]
        self.coord = stmt.coord if stmt is not None and stmt.coord is not None else coord
        self.items: Sequence[c_ast.Node] = [item for item in items if item is not None]
        self.root = _Arm()
        self.open = [self.root]
        self.places: dict[str, int] = {}
        self.at_end: set[str] = set()
        for index, item in enumerate(self.items):
            names: set[str] = set()
            while isinstance(item, c_ast.Label):
                self.places[item.name] = index
                names.add(item.name)
                item = item.stmt
            is_empty = isinstance(item, c_ast.EmptyStatement)
            self.at_end = self.at_end | names if is_empty else set()

    def block(self) -> c_ast.Compound:
        """Return the block without its jumps; what its branches still get stands in it too."""
        return c_ast.Compound(self.root.stmts, self.coord)

    def targets(self) -> list[str]:
        """Return where the block may be left for; its end counts as that of the iteration."""
        return [arm.target if isinstance(arm.target, str) else _NEXT for arm in self.open]

    def follow(self) -> None:
        """Put each statement into the one branch that leads to it.

        Raises:
            _Tangled: Several branches do.
        """
        while waiting := [t for arm in self.open if isinstance(t := arm.target, int)]:
            at = min(waiting)
            if at == len(self.items):
                return
            arm = self._joined([arm for arm in self.open if arm.target == at])
            item = self.items[at]
            while isinstance(item, c_ast.Label):
                item = item.stmt
            arm.target = at + 1
            self._put(item, at, arm)

    def _joined(self, arms: Sequence[_Arm]) -> _Arm:
        """Return the innermost branch all of whose open ends are `arms`, as their one end."""
        if len(arms) == 1:
            return arms[0]
        for arm in arms[0].around():
            ends = [end for end in self.open if arm in end.around()]
            if len(ends) == len(arms) and all(end in arms for end in ends):
                self.open = [end for end in self.open if end not in arms] + [arm]
                return arm
        raise _Tangled

    def _put(self, item: c_ast.Node, at: int, arm: _Arm) -> None:
        match item:
            case c_ast.EmptyStatement():
                return
            case c_ast.Goto():
                arm.target = self._place(item.name, at)
                return
            case c_ast.Continue():
                arm.target = _NEXT
                return
        if not any(_jumps(item)):
            arm.stmts.append(item)
            return
        match item:
            case c_ast.If():
                then, other = _Flow(item.iftrue, item.coord), _Flow(item.iffalse, item.coord)
                self._split(arm, (then, other), at)
                arm.stmts.append(c_ast.If(item.cond, then.block(), other.block(), item.coord))
            case c_ast.Compound():
                self._put_block(_Flow(item, item.coord), at, arm)
            case c_ast.Switch():
                self._put_block(_switch_flow(item), at, arm)
            case _:
                raise _Tangled

    def _put_block(self, inner: _Flow, at: int, arm: _Arm) -> None:
        self._split(arm, (inner,), at)
        arm.stmts.append(inner.block())

    def _split(self, arm: _Arm, flows: Sequence[_Flow], at: int) -> None:
        """Go on in the ends of the blocks `flows`, which begin where a branch ended."""
        self.open.remove(arm)
        for flow in flows:
            flow.root.parent = arm
            flow.follow()
            for end in flow.open:
                is_left = isinstance(end.target, str)
                end.target = self._place(str(end.target), at) if is_left else at + 1
            self.open += flow.open

    def _place(self, label: str, at: int) -> int | str:
        """Return where a jump at a statement goes: forward in this block, or out of it."""
        place = self.places.get(label)
        if place is not None and place <= at:
            raise _Tangled
        return label if place is None else place
