"""What is worked out once for each object, by its identity."""

from __future__ import annotations

from annotune.ir.identity import once_for_each


def test_an_object_is_asked_about_once() -> None:
    asked: list[list[int]] = []

    @once_for_each(8)
    def total(numbers: list[int]) -> int:
        asked.append(numbers)
        return sum(numbers)

    one, equal = [1, 2], [1, 2]
    assert (total(one), total(one), total(equal)) == (3, 3, 3)
    assert [id(each) for each in asked] == [id(one), id(equal)]


def test_no_object_takes_the_place_of_another() -> None:
    @once_for_each(4)
    def first(numbers: list[int]) -> int:
        return numbers[0]

    # Each list is gone before the next one is made, which may get its identity.
    assert [first([number]) for number in range(100)] == list(range(100))
