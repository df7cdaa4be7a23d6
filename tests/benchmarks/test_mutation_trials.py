"""What a mutation is tried by, in which order, and what is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from covering_tests import Covered
from mutated_runs import LATER, PART_S, Mutation, Trials, parts_of, scored

SECONDS = {"a.py::one": 1.0, "a.py::two": PART_S, "b.py::three": 2.0, "b.py::four": 3.0}
CODE = "def larger(a, b):\n    return a if a > b else b\n"
TESTS = """\
import pytest
from code_of import larger

def test_quick():
    assert larger(2, 1) == 2

@pytest.mark.slow
def test_slow():
    assert larger(1, 2) == 2
"""


def test_tests_come_in_parts_and_their_files_for_survivors_last() -> None:
    parts = parts_of([*SECONDS], Covered(SECONDS), "-m ''", 9.0)
    assert [[*part.seconds] for part in parts] == [
        ["a.py::one", "a.py::two"],
        ["b.py::three", "b.py::four"],
        [],
        [],
    ]
    assert [part.files for part in parts] == [("a.py",), ("b.py",)] * 2
    assert [(p.words, p.limit_s, p.is_late) for p in parts[2:]] == [(("-m", ""), 9.0, True)] * 2
    assert not any(part.is_late for part in parts_of([*SECONDS], Covered(SECONDS), None, None))


def test_the_score_tells_what_was_not_tried() -> None:
    fates = {"a": "t.py::t", "b": "", "c": f"{LATER}t.py::u"}
    assert scored(fates, 3) == (
        "1 of 3 mutations are caught, 1 more by the tests of survivors (50% of what is caught)"
    )
    assert "(2 more were not tried to the end)" in scored(fates, 5)


@pytest.mark.slow
def test_a_survivor_is_caught_later(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "code_of.py").write_text(CODE)
    (copy / "test_it.py").write_text(TESTS)
    (copy / "pytest.ini").write_text("[pytest]\naddopts = -m 'not slow'\nmarkers = slow\n")
    benchmarks = Path(__file__).parents[2] / "benchmarks"
    (copy / "benchmarks").mkdir()
    (copy / "benchmarks" / "covering_tests.py").write_text(
        (benchmarks / "covering_tests.py").read_text()
    )
    place = CODE.index("a if")
    texts = ("a", "b", "max(b, a)")
    all_three = [Mutation("code_of.py", 2, place, len(CODE) - 1, "value", t) for t in texts]
    told: dict[str, str] = {}
    found = Covered({"test_it.py::test_quick": 0.1})
    parts = {one: parts_of([*found.seconds], found, "-m ''", 60.0) for one in all_three}
    until = float("inf")
    Trials([copy], until, lambda one, by: told.update({one.text: by})).run(parts)
    assert told == {
        "a": f"{LATER}test_it.py::test_slow",
        "b": "test_it.py::test_quick",
        "max(b, a)": "",
    }
    assert (copy / "code_of.py").read_text() == CODE
