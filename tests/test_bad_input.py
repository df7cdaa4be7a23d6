"""What a user may do wrong, on the whole command line: one clear report, and no file written."""

from __future__ import annotations

import os
import re
from itertools import product
from pathlib import Path

import pytest
from bad_inputs import table
from bad_inputs.case import GOOD, LOOP, Bad, Misuse, plain
from bad_inputs.usage import MISUSE
from support.cli import CLOSE, OPEN, annotune, function, marked, region
from support.each import check_each
from support.laws import in_turn

from annotune.printable import cells, printable

BAD = table()
# Warnings may stand beside the one error; a size without a value is one.
_REPORT = re.compile(
    r"^(?P<place>[^\n]*?:\d+:\d+|--[a-z]+): (?P<severity>error|warning): .*$", re.MULTILINE
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def reports(err: str) -> list[str]:
    """Return the lines that begin a diagnostic."""
    return [found[0] for found in _REPORT.finditer(err)]


def written(bad: Bad, newline: str) -> tuple[str, str]:
    """Write the files of a case; return the place of its mistake, and the marked text there."""
    place, shown = bad.place, ""
    for name, text in {"bad.c": bad.text, **bad.files}.items():
        plain_text, line, column = marked(text)
        if "«" in text:
            assert not place, f"{name} is marked, and {place} is given"
            place, shown = f"{name}:{line}:{column}", text
        content = plain_text.replace("\n", newline).encode("utf-8", "surrogateescape")
        Path(name).write_bytes(content)
    return place or "bad.c:1:1", shown


def check_report(bad: Bad, place: str, marked_text: str, err: str) -> None:
    """Assert that `err` reports the mistake, once, at its place, with the carets under it."""
    errors = [row for row in reports(err) if ": error: " in row]
    assert len(errors) == 1, err
    (head,) = errors
    assert head.startswith(f"{place}: error: "), err
    assert bad.message in head, err
    found = err.split("\n")
    at = found.index(head)
    # A compiler's words may go on below the first line; annotune's own do not.
    assert head.endswith(f" [{bad.code}]"), err
    if marked_text and "\0" not in marked_text:
        check_excerpt(marked_text, found[at + 1 : at + 3])
    helps = [row for row in found[at:] if row.startswith("  help: ")]
    assert bad.help in "".join(helps[:1]), err
    notes = [row.split(": note: ")[1] for row in found if ": note: " in row]
    assert len(notes) == bool(bad.note), err
    assert all(note.startswith(bad.note) for note in notes), err


def check_excerpt(marked_text: str, rows: list[str]) -> None:
    """Assert that `rows` are the marked line and carets under all that is marked on it."""
    text, line, column = marked(marked_text)
    whole = text.split("\n")[line - 1]
    if not text or len(whole) > 240:
        return
    assert rows[0] == f"{line:5} | {printable(whole)}"
    blank = "".join("\t" if c == "\t" else " " * cells(c) for c in whole[: column - 1])
    inside = marked_text[marked_text.index("«") + 1 : marked_text.index("»")].split("\n")[0]
    width = max(1, sum(map(cells, inside[: len(whole) - column + 1])))
    assert rows[1] == f"      | {blank}{'^' * width}"


@pytest.mark.parametrize("kind", sorted({name.partition(": ")[0] for name in BAD}))
def test_one_report_and_nothing_written(kind: str, tmp_path: Path) -> None:
    ways = (("check", "\n"), ("emit", "\r\n"))
    names = [name for name in BAD if name.startswith(f"{kind}: ")]
    cases = [(name, way) for k, name in enumerate(names) for way in in_turn(ways, k)]
    check_each(cases, one_report_and_nothing_written, tmp_path)


def one_report_and_nothing_written(case: tuple[str, tuple[str, str]]) -> None:
    name, (command, newline) = case
    bad = BAD[name]
    place, marked_text = written(bad, newline)
    before = sorted(path.name for path in Path().iterdir())
    done = annotune(bad.command or command, "bad.c", *bad.options)
    assert done.code == 1, done.err
    check_report(bad, place, marked_text, done.err)
    assert "\r" not in done.err
    assert sorted(path.name for path in Path().iterdir()) == before


def test_wrong_usage_ends_with_2() -> None:
    Path("bad.c").write_text(GOOD)

    def check(name: str) -> None:
        misuse = MISUSE[name]
        given = misuse.arguments
        done = annotune(*(("check", "bad.c", *given) if given[0][0] == "-" else given))
        assert (done.code, done.out) == (2, "")
        assert misuse.message in " ".join(done.err.split())

    check_each(MISUSE, check)


def test_the_table_is_large_and_no_case_stands_in_it_twice() -> None:
    assert len(BAD) + len(MISUSE) >= 200
    kinds = [(b.text, b.code, b.options, tuple(b.files.items()), b.command) for b in BAD.values()]
    assert len(set(kinds)) == len(kinds)
    said = [(b.code, b.message, name.partition(": ")[0]) for name, b in BAD.items()]
    often = {one for one in said if said.count(one) > 9}
    assert not often, "these are one mistake again and again"
    assert all(isinstance(one, Misuse) for one in MISUSE.values())


def test_a_note_shows_the_dependence() -> None:
    bad = BAD["legality: illegal permutation"]
    Path("bad.c").write_text(marked(bad.text)[0])
    err = annotune("check", "bad.c").err
    assert re.search(
        r"bad\.c:7:63: note: the dependence: a is carried by j \(distance 1\)\n"
        r"    7 \|   for [^\n]*\n      \| {63}\^+\n",
        err,
    ), err


UNREADABLE = {
    "none.c": "No such file or directory",
    "folder": "Is a directory",
    "user.c/below.c": "Not a directory",
    "circle.c": "Too many levels of symbolic links",
    "dangling.c": "No such file or directory",
    "/dev/zero": "Is a device",
    "huge.c": "Is larger than 64 MiB",
    "n" * 300 + ".c": "File name too long",
}


def test_no_such_file() -> None:
    Path("folder").mkdir()
    Path("user.c").write_text("int x;\n")
    Path("circle.c").symlink_to("circle.c")
    Path("dangling.c").symlink_to("nowhere.c")
    with Path("huge.c").open("wb") as file:
        os.truncate(file.fileno(), (64 << 20) + 1)

    def check(case: tuple[str, str]) -> None:
        command, name = case
        done = annotune(command, name)
        assert (done.code, done.out) == (1, "")
        assert done.err == (
            f"{name}:1:1: error: cannot read '{name}': {UNREADABLE[name]} [AT601]\n"
            "  help: check the name and its rights\n"
        )

    # Of a folder `check` takes the files.
    cases = product(("check", "emit"), UNREADABLE)
    check_each([case for case in cases if case != ("check", "folder")], check)


def test_a_line_of_a_megabyte_is_shown_in_part() -> None:
    filler = "/* " + "x" * 1_000_000 + " */"
    Path("user.c").write_text(plain(f"{LOOP} {filler} a[i] = update(b[i]); {filler}"))
    done = annotune("check", "user.c")
    assert done.code == 1
    assert len(done.err) < 4000
    column = len(f"  {LOOP} {filler} a[i] = ") + 1
    assert f"user.c:4:{column}: error: 'update' may have effects" in done.err
    row, carets = next(
        (row, carets)
        for row, carets in zip(done.err.split("\n"), done.err.split("\n")[1:], strict=False)
        if "update(" in row and carets.strip(" |").startswith("^")
    )
    assert row[carets.index("^") :].startswith("update(")
    assert row.endswith("…")


def test_the_source_is_never_overwritten() -> None:
    # user_cuda.c is a user's own name here; the output of user.c would land on it.
    Path("user.c").write_text(GOOD)
    Path("user_cuda.c").write_text(GOOD + "/* annotune reads me */\n")
    done = annotune("emit", "user.c", "--target", "cuda", "-o", ".")
    assert done.code == 1
    assert "[AT603]" in done.err
    assert Path("user_cuda.c").read_text() == GOOD + "/* annotune reads me */\n"


SERIAL = function(region("for (int i = 1; i < n; i++) a[i] = a[i-1] + b[i];"))


def test_a_size_without_a_value_is_a_warning_and_then_a_refusal() -> None:
    source = "double *restrict a, const double *restrict b, int n"
    Path("user.c").write_text(function(f"  {OPEN}\n  {LOOP} a[i] = b[i];\n  {CLOSE}", source))
    said = (
        "no value is known for 'n', on which work, grid and unrolling depend [AT221]\n"
        "    4 |   for (int i = 0; i < n; i++) a[i] = b[i];\n"
        "      |   ^^^\n"
        "  help: add 'param n = …;' to `input_params`, or give --set n=…\n"
    )
    checked = annotune("check", "user.c")
    assert checked.code == 0
    assert checked.err == f"user.c:4:3: warning: {said}"
    emitted = annotune("emit", "user.c")
    assert emitted.code == 1
    assert emitted.err == f"user.c:4:3: error: {said}"
    assert not Path("annotune-out").exists()
    assert annotune("emit", "user.c", "--set", "n=64").code == 0


def test_each_serial_loop_says_why_at_its_own_place() -> None:
    body = (
        "for (int j = 1; j < n; j++)\n    for (int i = 1; i < n; i++) a[i] = a[i-1] + a[i+1] * j;"
    )
    Path("user.c").write_text(function(region(body)))
    err = annotune("check", "user.c").err
    said = "is written in one iteration of j and read as a[i - 1] in a later one [AT301]"
    assert f"user.c:4:3: warning: no loop of this region can run in parallel: a[i] {said}" in err
    assert "user.c:5:5: note: nor can this one: a[i] is written at i and read as a[i - 1]" in err


def test_printf_is_no_rintf() -> None:
    Path("user.c").write_text(function(region(f'{LOOP} printf("%g", a[i]);')))
    err = annotune("check", "user.c").err
    assert "'printf' may have effects" in err
    assert "did you mean" not in err
    Path("user.c").write_text(function(region(f"{LOOP} a[i] = sqtr(b[i]);")))
    assert "did you mean 'sqrt'?" in annotune("check", "user.c").err


def test_a_size_without_a_value_is_not_taken_for_another_loop() -> None:
    Path("user.c").write_text(
        function(region(f"{LOOP} a[i] += b[i];").replace("param n = 64;", ""))
    )
    out = annotune("check", "user.c").out
    assert "how often i runs is not known" in out
    assert "another loop" not in out


def test_no_parallel_loop_is_a_warning_and_then_a_refusal() -> None:
    Path("user.c").write_text(SERIAL)
    said = (
        "no loop of this region can run in parallel: "
        "a[i] is written at i and read as a[i - 1] at i+1 (distance 1) [AT301]\n"
        "    4 |   for (int i = 1; i < n; i++) a[i] = a[i-1] + b[i];\n"
        "      |   ^^^\n"
        "  help: another algorithm may have a parallel loop, "
        "or a larger region with a loop around this one\n"
    )
    checked = annotune("check", "user.c")
    assert checked.code == 0
    assert f"user.c:4:3: warning: {said}" in checked.err
    assert checked.out.endswith("    no kernel: no loop may run in parallel\n\n")
    emitted = annotune("emit", "user.c", "--target", "cuda")
    assert emitted.code == 1
    assert f"user.c:4:3: error: {said}" in emitted.err
    assert not Path("annotune-out").exists()
