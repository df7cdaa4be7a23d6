"""A frozen record of ours is one of the library's, for whoever makes, shows or compares it."""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any

import pytest
from support.modules import MODULES, PACKAGE, nodes

from annotune import frozen
from annotune.frozen import dataclass

Decorator = Callable[..., Any]
LIBRARYS: Decorator = dataclasses.dataclass


def classes(dataclass: Decorator) -> tuple[type[Any], ...]:
    """Return records of every form that there is, made by one of the two decorators."""

    @dataclass(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    @dataclass(frozen=True, slots=True)
    class One:
        """One field."""

        value: Any

    @dataclass(frozen=True, slots=True)
    class Several:
        """Every form of a field."""

        first: int
        shown: int = 2
        listed: list[int] = field(default_factory=list, hash=False)
        hidden: int = field(default=3, repr=False)
        aside: int = field(default=4, compare=False)
        named: int = field(default=5, kw_only=True)

    @dataclass(frozen=True)
    class Checked:
        """Without slots, and looked at when it is made."""

        count: int

        def __post_init__(self) -> None:
            if self.count < 0:
                raise ValueError(f"count is {self.count}")

    @dataclass(frozen=True)
    class Heir(Checked):
        """With fields of its own."""

        name: str = "heir"

    @dataclass(frozen=True, slots=True)
    class Own:
        """With methods of its own, one of them for what Python makes none for."""

        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and abs(other.value) == abs(self.value)

        def __hash__(self) -> int:
            return hash(abs(self.value))

        def __repr__(self) -> str:
            return f"own {self.value}"

    return Empty, One, Several, Checked, Heir, Own


CASES: tuple[tuple[int, tuple[object, ...], dict[str, object]], ...] = (
    (0, (), {}),
    (1, (7,), {}),
    (1, (float("nan"),), {}),
    (2, (1,), {}),
    (2, (1, 2, [3]), {"named": 6, "hidden": 8}),
    (3, (2,), {}),
    (4, (2, "n"), {}),
    (5, (-4,), {}),
)
OURS, THEIRS = classes(dataclass), classes(LIBRARYS)


@pytest.mark.parametrize(("which", "values", "named"), CASES)
def test_values_are_shown_and_compared_as_the_librarys(
    which: int, values: tuple[object, ...], named: dict[str, object]
) -> None:
    ours, theirs = (made[which](*values, **named) for made in (OURS, THEIRS))
    assert repr(ours) == repr(theirs)
    assert hash(ours) == hash(theirs)
    assert ours == copy.copy(ours)
    assert ours != theirs
    assert ours.__match_args__ == theirs.__match_args__
    assert [one.name for one in fields(ours)] == [one.name for one in fields(theirs)]


def test_what_is_not_compared_makes_no_difference() -> None:
    several = OURS[2]
    assert several(1) == several(1, aside=9)
    assert several(1) != several(1, hidden=9)
    assert several(1) != several(1, 2, [1])
    assert hash(several(1)) == hash(several(1, 2, [1])) == hash(several(1, aside=9))
    assert OURS[5](4) == OURS[5](-4)
    assert several(1).listed is not several(1).listed


@pytest.mark.parametrize("made", [*OURS, *THEIRS])
def test_nothing_is_set_or_deleted(made: type[Any]) -> None:
    one = made(*range(len([f for f in fields(made) if f.default is dataclasses.MISSING][:1])))
    for name in [f.name for f in fields(made)]:
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, 1)
        with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(one, name)


def test_what_is_made_is_looked_at() -> None:
    with pytest.raises(ValueError, match="count is -1"):
        replace(OURS[4](1), count=-1)
    for made in (OURS[2], THEIRS[2]):
        with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'first'"):
            made()
        with pytest.raises(TypeError, match=r"takes from 2 to 6 positional arguments"):
            made(1, 2, [], 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Kept:
    """One that pickle finds by its name."""

    first: int
    second: tuple[int, ...] = ()


def test_a_record_is_pickled_and_copied() -> None:
    one = Kept(1, (2, 3))
    assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)
    assert replace(one, first=4) == Kept(4, (2, 3))


def test_one_kind_inherits_from_the_other() -> None:
    for base, decorator in ((Kept, LIBRARYS), (THEIRS[3], dataclass)):

        @decorator(frozen=True)
        class Further(base):  # type: ignore[misc, valid-type]
            third: int = 9

        one = Further(1)
        assert one == Further(1, third=9) != Further(2)
        assert hash(one) == hash(Further(1))
        with pytest.raises(FrozenInstanceError):
            one.third = 1


def test_the_first_record_of_a_shape_needs_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    run = builtins.exec

    def counted(text: str, *spaces: Any) -> None:
        texts.append(text)
        run(text, *spaces)

    def made(*names: str) -> Any:
        plain = type("Made", (), {"__annotations__": dict.fromkeys(names, int)})
        return dataclass(frozen=True, slots=True)(plain)

    monkeypatch.setattr(builtins, "exec", counted)
    frozen._code.cache_clear()
    first, second, longer = made("a", "b"), made("left", "right"), made("a", "b", "c")
    assert not texts
    assert first(1, 2) == first(1, b=2) != first(1, 3)
    assert second(1, right=2) == second(1, 2)
    assert str(inspect.signature(second)) == "(left, right)"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'right'"):
        second(1)
    assert len(texts) == 1
    assert longer(1, 2, 3).c == 3
    assert len(texts) == 2


def test_every_frozen_record_is_such_a_one() -> None:
    # A certificate is verified by a module that needs nothing else of annotune.
    for path in {*MODULES} - {PACKAGE / "certify" / "certificate.py", PACKAGE / "frozen.py"}:
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module == "dataclasses":
                taken = {alias.name for alias in node.names}
                frozen = "dataclass(frozen=True" in path.read_text()
                assert not (frozen and "dataclass" in taken), path


def test_a_record_that_is_hashed_once_is_like_any_other() -> None:
    asked: list[int] = []

    class Key:
        def __hash__(self) -> int:
            asked.append(1)
            return 7

    @dataclass(frozen=True, slots=True)
    class Kept(frozen.HashedOnce):
        key: Key
        aside: int = field(default=0, compare=False)

    one = Kept(Key())
    assert {hash(one), hash(one), hash(replace(one, aside=1))} == {hash((one.key,))}
    assert len(asked) == 3
    assert copy.copy(one) == one
    assert one in {replace(one, aside=2)}
    with pytest.raises(FrozenInstanceError):
        one.aside = 1  # type: ignore[misc]
