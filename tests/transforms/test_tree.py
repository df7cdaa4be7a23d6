"""Edits of a body: the loop that is meant is replaced, wherever its statements stand as well."""

from __future__ import annotations

import pytest

from annotune.ir.expr import Access, Int, Var
from annotune.ir.nest import NO_STATEMENT, Assign, Loop
from annotune.transforms.tree import replace_loop, top_of


def loop(name: str, *numbers: int) -> Loop:
    """Return a loop of one statement for each number."""
    target = Access("a", (Var(name),))
    return Loop(name, Int(0), Var("n"), tuple(Assign(n, target, "=", Int(n)) for n in numbers))


BODIES = {
    "a nest for each statement": (loop("i", 0), loop("j", 1), loop("k", 2)),
    "copies in all of them": (loop("i", NO_STATEMENT), loop("j", NO_STATEMENT), loop("k", 0)),
    "a statement in two nests": (loop("i", 0, 1), loop("j", 0), loop("k", 1)),
    "equal nests": (loop("i", 0), loop("i", 0), loop("i", 0)),
    "an inner loop": (Loop("t", Int(0), Var("m"), (loop("i", 0), loop("j", 0))), loop("k", 0)),
}


@pytest.mark.parametrize("name", BODIES)
def test_the_very_loop_is_replaced(name: str) -> None:
    body = BODIES[name]
    inner = [one for top in body for one in (top, *top.body) if isinstance(one, Loop)]
    for old in inner:
        new = loop("new", *(s.number for s in old.body if isinstance(s, Assign)))
        changed = replace_loop(body, old, (new,))
        left = [one for top in changed if isinstance(top, Loop) for one in (top, *top.body)]
        assert any(one is new for one in left)
        assert not any(one is old for one in left)
        assert sum(isinstance(one, Loop) for one in left) == len(inner) - (old.var == "t") * 2


def test_statements_are_found_after_an_edit() -> None:
    second = loop("j", 1)
    body = (loop("i", 0), second, loop("k", 2))
    changed = replace_loop(body, second, (loop("j", 3), loop("j", 1)))
    assert [top_of(changed, number) for number in (0, 3, 1, 2)] == [0, 1, 2, 3]
    last = changed[3]
    assert isinstance(last, Loop)
    changed = replace_loop(changed, last, (loop("l", 2),))
    assert [top_of(changed, number) for number in (0, 3, 1, 2)] == [0, 1, 2, 3]
