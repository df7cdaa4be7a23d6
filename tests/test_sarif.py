"""``--format sarif``: the structure of the standard, the places, the rules of the catalogue.

Source: OASIS Standard, "SARIF Version 2.1.0": the required properties of 3.13, 3.14, 3.18,
3.19, 3.27, 3.28, 3.30 and 3.49.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cli import CLOSE, OPEN, annotune, function, region

from annotune.diagnostics import Diagnostic, Severity, Span, page_of
from annotune.report.json_form import file_uri, sarif_log, utf16_units


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


LOOP = "for (int i = 0; i < n; i++)"
TWO = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
GOOD = function(region(f"{LOOP} a[i] = b[i];"))
SKEWED = (
    "for (int i = 1; i < n; i++) for (int j = 0; j < n - 1; j++)"
    " a[i*n + j] = a[(i-1)*n + j+1] + b[i];"
)


def sarif(*arguments: str, code: int) -> dict[str, Any]:
    done = annotune(*arguments, "--format", "sarif")
    assert done.code == code, done.err
    log: dict[str, Any] = done.json
    check_structure(log, code)
    return log


def check_structure(log: dict[str, Any], code: int) -> None:
    """Assert what the standard requires of the objects that annotune writes."""
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert set(run) == {"tool", "columnKind", "invocations", "results"}
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    assert run["invocations"] == [{"executionSuccessful": code == 0, "exitCode": code}]
    driver = run["tool"]["driver"]
    assert driver["name"] == "annotune"
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(rules) == len(set(rules))
    for rule in driver["rules"]:
        page = page_of(rule["id"])
        assert page is not None
        assert rule["shortDescription"] == {"text": page.title}
        assert rule["help"]["markdown"] == page.text
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        for place in (*result["locations"], *result.get("relatedLocations", ())):
            check_place(place)


def check_place(place: dict[str, Any]) -> None:
    if "physicalLocation" not in place:
        (logical,) = place["logicalLocations"]
        assert logical["fullyQualifiedName"].startswith("--")
        return
    physical = place["physicalLocation"]
    assert physical["artifactLocation"]["uri"].isascii()
    found = physical.get("region")
    if found is not None:
        assert set(found) == {"startLine", "startColumn", "endLine", "endColumn"}
        assert found["startLine"] == found["endLine"] >= 1
        assert found["endColumn"] > found["startColumn"] >= 1


def result(log: dict[str, Any]) -> dict[str, Any]:
    (found,) = log["runs"][0]["results"]
    assert isinstance(found, dict)
    return found


def marked_text(log: dict[str, Any], text: str) -> str:
    """Return what the only result's region covers, counted as an editor would."""
    found = result(log)["locations"][0]["physicalLocation"]["region"]
    line = text.replace("\r", "").split("\n")[found["startLine"] - 1].encode("utf-16-le")
    return line[2 * found["startColumn"] - 2 : 2 * found["endColumn"] - 2].decode("utf-16-le")


@pytest.mark.parametrize("command", ["check", "emit"])
def test_a_sound_file_has_no_results(command: str) -> None:
    Path("user.c").write_text(GOOD)
    assert sarif(command, "user.c", code=0)["runs"][0]["results"] == []


@pytest.mark.parametrize("command", ["check", "emit", "run"])
def test_a_refusal(command: str) -> None:
    Path("user.c").write_text(function(region(f"{LOOP} a[i] = update(b[i]);")))
    found = result(sarif(command, "user.c", code=1))
    assert (found["ruleId"], found["level"]) == ("AT130", "error")
    assert found["message"]["text"].startswith("'update' may have effects")
    assert "\nhelp: " in found["message"]["text"]
    (place,) = found["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "user.c"}


def test_a_note_is_a_related_location() -> None:
    Path("user.c").write_text(function(region(SKEWED, 'permute(0, ("j","i"))')))
    found = result(sarif("check", "user.c", code=1))
    (note,) = found["relatedLocations"]
    assert note["id"] == 0
    assert note["message"]["text"] == "the dependence: a is carried by j (distance 1)"
    assert note["physicalLocation"]["region"]["startLine"] == 7


def test_several_results_share_a_rule() -> None:
    Path("user.c").write_text(function(region(f"{LOOP} {{ a[i] = g(i); a[i] = h(i); }}")))
    (run,) = sarif("check", "user.c", code=1)["runs"]
    assert [r["ruleIndex"] for r in run["results"]] == [0, 0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["AT130"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_columns_are_utf16_code_units(newline: str) -> None:
    # One letter beyond the first plane is two units, a tab and a combining accent are one.
    text = function(
        f"  {OPEN}\n\t{LOOP} /* 😀 é e\u0301 漢 */ a[i] = update(b[i]);\n  {CLOSE}"
    ).replace("\n", newline)
    Path("user.c").write_text(text, encoding="utf-8", newline="")
    assert marked_text(sarif("check", "user.c", code=1), text) == "update"


def test_a_byte_order_mark_is_no_column() -> None:
    text = "\ufeffvoid f(void) { /*@ begin PerfTuning () @*/ }\n"
    Path("user.c").write_text(text, encoding="utf-8")
    found = sarif("check", "user.c", code=1)
    assert marked_text(found, text[1:]) == "/*@ begin PerfTuning () @*/"


def test_a_file_as_a_whole_has_no_region() -> None:
    found = result(sarif("check", "none.c", code=1))
    (place,) = found["locations"]
    assert place == {"physicalLocation": {"artifactLocation": {"uri": "none.c"}}}


def test_an_option_is_a_place_without_a_file() -> None:
    Path("user.c").write_text(GOOD)
    found = result(sarif("check", "user.c", "--set", "N=4", code=0))
    assert (found["ruleId"], found["level"]) == ("AT642", "warning")
    assert found["locations"] == [{"logicalLocations": [{"fullyQualifiedName": "--set"}]}]


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("src/a b.c", "src/a%20b.c"),
        ("/tmp/ü.c", "file:///tmp/%C3%BC.c"),
        ("a:b?#%.c", "a%3Ab%3F%23%25.c"),
        ("bad\udcff.c", "bad%FF.c"),
    ],
)
def test_a_file_is_named_by_its_uri(name: str, uri: str) -> None:
    assert file_uri(name) == uri


def test_json_and_format_json_are_the_same() -> None:
    Path("user.c").write_text(GOOD)
    assert annotune("check", "user.c", "--json").out == (
        annotune("check", "user.c", "--format", "json").out
    )


def test_text_is_what_is_printed_without_a_format() -> None:
    Path("user.c").write_text(GOOD)
    assert annotune("check", "user.c", "--format", "text") == annotune("check", "user.c")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--json", "--format", "sarif"], "--json and --format sarif exclude each other"),
        (["--format", "sarfi"], "'sarfi' is none of text, json, sarif; did you mean 'sarif'?"),
    ],
)
def test_wrong_formats(options: list[str], said: str) -> None:
    done = annotune("check", "user.c", *options)
    assert done.code == 2
    assert said in done.err


places = st.builds(
    Span,
    st.sampled_from(["a.c", "none.c", "--set"]),
    st.integers(1, 5),
    st.integers(1, 12),
    st.integers(1, 12),
)
diagnostics = st.builds(
    Diagnostic, st.sampled_from(["AT101", "AT130"]), st.text(min_size=1), places, st.text(),
    st.sampled_from(Severity),
)  # fmt: skip


@given(found=st.lists(diagnostics), text=st.text(), code=st.sampled_from([0, 1, 3]))
def test_any_diagnostic_makes_a_sound_log(found: list[Diagnostic], text: str, code: int) -> None:
    log = sarif_log(found, {"a.c": text}, code)
    check_structure(log, code)
    assert json.loads(json.dumps(log)) == log
    assert len(log["runs"][0]["results"]) == len(found)


@given(text=st.text())
def test_utf16_units_are_those_of_the_encoding(text: str) -> None:
    assert utf16_units(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2
