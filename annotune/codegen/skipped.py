"""Loops that a test leaves out as a whole, where a nest is written in the order of its text.

A nest has its conditions at the statements. The user's ``if`` may have stood around a loop that
does not end where the condition is false, as an unsigned iterator below a negative size.
"""

from __future__ import annotations

from dataclasses import replace

from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Var,
    accesses,
    conjunction,
    conjuncts,
    variables,
    walk,
)
from annotune.ir.nest import Assign, LocalArray, Loop, Stmt, is_stored, walk_stmts
from annotune.transforms.tree import Body, rebuilt


def without_test(
    loop: Loop, objects: frozenset[str], asked_first: frozenset[Expr]
) -> tuple[Expr | None, Loop]:
    """Return what must hold for any statement of `loop` to run, and the loop without that test.

    The test is made of what stays as it is in the loop and is always there to be read: scalars,
    the first elements of `objects`, and what the user reads in tests that he has `asked_first`.
    There may be none.
    """
    inside = tuple(walk_stmts(loop.body))
    if not all(isinstance(stmt, Assign | Loop | LocalArray) for stmt in inside):
        return None, loop
    assigns = [stmt for stmt in inside if isinstance(stmt, Assign)]
    changed = {loop.var, *(stmt.var for stmt in inside if isinstance(stmt, Loop))}
    changed |= set(map(_written, assigns))
    tests: list[Expr] = []
    stored: dict[str, list[Expr]] = {}
    for number, assign in enumerate(assigns):
        own = _tests(assign, stored)
        tests = [test for test in (tests if number else own) if test in own]
    kept: list[Expr] = []
    for test in dict.fromkeys(tests):
        is_there = _is_asked(test, kept, asked_first) or not _may_fail_in(test, objects)
        if is_there and not _read(test) & changed:
            kept.append(test)
    if not kept:
        return None, loop
    return conjunction(kept), rebuilt(loop, body=_without(loop.body, kept))


def _tests(assign: Assign, stored: dict[str, list[Expr]]) -> list[Expr]:
    """Return what must hold for a statement to run, or to store a condition that holds.

    `stored` are those that the conditions stored before it are made of.
    """
    tests = list(conjuncts(assign.guard)) if assign.guard is not None else []
    for test in tuple(tests):
        tests += stored.get(test.name, []) if isinstance(test, Var) else []
    if is_stored(assign):
        tests += conjuncts(assign.value)
        stored[_written(assign)] = tests
    return tests


def _written(assign: Assign) -> str:
    return assign.target.array if isinstance(assign.target, Access) else assign.target.name


def _is_asked(test: Expr, kept: list[Expr], asked_first: frozenset[Expr]) -> bool:
    """Return whether the text asks a test outside all loops, where those `kept` hold.

    What it reads may be there only where those hold that the text asks before it.
    """
    for whole in asked_first:
        parts = list(conjuncts(whole))
        if test in parts and set(parts[: parts.index(test)]) <= set(kept):
            return True
    return False


def _read(test: Expr) -> frozenset[str]:
    return variables(test) | {access.array for access in accesses(test)}


def _may_fail_in(test: Expr, objects: frozenset[str]) -> bool:
    return any(_may_fail(part, objects) for part in walk(test))


def _may_fail(part: Expr, objects: frozenset[str]) -> bool:
    match part:
        case Access(array, indices):
            return array not in objects or indices != (Int(0),)
        case Binary("/" | "%"):
            return True
        case Call(function):
            return not function.startswith("(")
        case _:
            return False


def _without(body: Body, tests: list[Expr]) -> Body:
    def stripped(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop):
            return rebuilt(stmt, body=_without(stmt.body, tests))
        if isinstance(stmt, LocalArray):
            return stmt
        assert isinstance(stmt, Assign)
        if stmt.guard is None:
            # A condition is stored whatever holds.
            return stmt
        left = conjunction(test for test in conjuncts(stmt.guard) if test not in tests)
        return replace(stmt, guard=left)

    return tuple(map(stripped, body))
