"""Sidecars: the annotation as YAML, with places in the YAML file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotune.annotation.commands import recipe_text
from annotune.annotation.sidecar import load_sidecar
from annotune.annotation.spec import Assumptions
from annotune.diagnostics import AnnotuneError

SOUND = """\
file: sd_t_d1.c
regions:
  - function: sd_t_d1_1
    loop: p4
    input_params: {h3u: 16, h7u: h3u // 2, N: [10, 20]}
    performance_params:
      UF: [1, 2, 4]
      TX: [h3, "1"]
    constraints: {divides: h7u % UF == 0}
    search: {algorithm: Exhaustive, time_limit: 5}
    recipe: |
      permute(0, ("p5","p4"))
      unroll(0, "h7", UF)
  - function: second
    loop: on
    occurrence: 2
    recipe:
      - registers(0, "h7")
"""


def refusals(path: Path, text: str) -> list[str]:
    path.write_text(text)
    with pytest.raises(AnnotuneError) as refusal:
        load_sidecar(path)
    return [f"{d.span.line}:{d.span.column}: {d.message}" for d in refusal.value.diagnostics]


def test_sound(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(SOUND)
    first, second = load_sidecar(path)
    assert (first.file, first.function, first.loop, first.occurrence) == (
        "sd_t_d1.c",
        "sd_t_d1_1",
        "p4",
        1,
    )
    assert [(p.name, p.values) for p in first.spec.input_params] == [
        ("h3u", (16,)),
        ("h7u", (8,)),
        ("N", (10, 20)),
    ]
    assert first.spec.performance_params[1].values == ("h3", "1")
    assert str(first.spec.constraints[0].formula.span) == f"{path}:9:28"
    assert first.spec.search == {"algorithm": "Exhaustive", "time_limit": 5}
    assert [str(c.span) for c in first.spec.commands] == [f"{path}:12:7", f"{path}:13:7"]
    assert (second.loop, second.occurrence) == ("on", 2)
    assert recipe_text(second.spec.commands) == 'registers(0, "h7")'


HEAD = "file: a.c\nregions:\n  - function: f\n    loop: i\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("file: [", ["1:8: not valid YAML: expected the node content, but found '<stream end>'"]),
        ("", ["1:1: not valid YAML: the file is empty"]),
        ("- 1", ["1:1: a sidecar must be a mapping, `key: value`"]),
        ("file: a.c", ["1:1: 'regions' is missing"]),
        ("file: a.c\nregions: 3", ["2:10: 'regions' must be a list"]),
        (HEAD + "    lop: j", ["5:5: unknown key 'lop'"]),
        (HEAD + "    loop: j", ["5:5: 'loop' is declared twice"]),
        (HEAD + "    occurrence: 0", ["5:17: 'occurrence' must be a number from 1"]),
        (HEAD + "    input_params: {n: 010}", ["5:23: 'n' must be a decimal number"]),
        (
            HEAD + "    input_params: {n: !!python/name:os.system x}",
            ["5:23: 'n' must be a plain value, without a tag"],
        ),
        (
            HEAD + "    assume: {disjoint: 3}",
            ["5:14: 'disjoint' of 'def assume' must be True or False"],
        ),
        (HEAD + "    input_params: {n: 2*m}", ["5:25: unknown name 'm'"]),
        (HEAD + "    performance_params: {UF: []}", ["5:26: parameter 'UF' has no values"]),
        (HEAD + "    constraints: [UF ==]", ["5:24: expected a value, found the end"]),
        (
            HEAD + '    recipe: |\n      registers(0,"i")\n\n        cud(0)\n',
            ["8:9: unknown command 'cud'"],
        ),
        (HEAD + "    recipe: ['cud(0)', 'unrol(1)']", ["5:15: unknown command 'cud'"]),
        (HEAD + '    recipe: "cud(\\t0)"', ["5:13: unknown command 'cud'"]),
    ],
)
def test_refusal(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert refusals(tmp_path / "a.yaml", text) == expected


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(AnnotuneError, match=r"cannot read .*No such file"):
        load_sidecar(tmp_path / "none.yaml")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AnnotuneError, match="it is not UTF-8"):
        load_sidecar(tmp_path / "a.yaml")


@given(
    st.text(max_size=60)
    | st.tuples(st.integers(0, len(SOUND)), st.text(max_size=3)).map(
        lambda cut: SOUND[: cut[0]] + cut[1] + SOUND[cut[0] + 1 :]
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_file_gives_entries_or_a_refusal(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8", errors="surrogatepass")
    with suppress(AnnotuneError):
        load_sidecar(tmp_path / "a.yaml")


def test_assumptions(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(HEAD + "    assume: {disjoint: true, pure: [f], extent: 'x[n]'}")
    (entry,) = load_sidecar(path)
    assert entry.spec.assumptions == Assumptions(True, False, ("f",), {"x": ("n",)})
