"""A YAML sidecar does for an untouched C file what comments in it would do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES
from support.cli import annotune

SOURCES = {
    "gemm/gemm.c": """\
file: gemm.c
regions:
  - function: gemm
    loop: i
    input_params: {m: 512, n: 512, k: 512}
""",
    "nekbone/local_grad3.c": """\
file: local_grad3.c
regions:
  - {function: local_grad3, loop: e}
""",
    "thesis/fig3_9a.c": """\
file: fig3_9a.c
regions:
  - function: sd_t_d1_1
    loop: p4
    input_params: {h3u: 16, h2u: 16, h1u: 16, p6u: 16, p5u: 16, p4u: 16, h7u: 16}
    performance_params: {UF0: [1, 2, 4, 8, 16]}
    recipe: |
      permute(0, ("p5", "p4", "p6", "h1", "h2", "h3", "h7"))
      cuda(0, block={"h2", "p6"}, thread={"h3", "h1"})
      registers(0, "h7")
      unroll(0, "h7", UF0)
""",
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("annotations").mkdir()


def blanked(text: str) -> str:
    """Return a C text with its annotations blanked, every line where it was."""
    return re.sub(
        r"/\*@.*?@\*/", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL
    )


def checked(*arguments: str | Path) -> Any:
    """Return the JSON of `check` without the place that differs: where the region begins."""
    done = annotune("check", *arguments, "--json")
    assert done.code == 0, done.err
    for region in done.json["regions"]:
        assert region["line"] > 1
    return [region | {"line": 0} for region in done.json["regions"]]


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", SOURCES)
def test_the_same_as_comments(name: str) -> None:
    source = EXAMPLES / name
    commented = checked(source)
    Path(source.name).write_text(blanked(source.read_text()))
    Path(f"annotations/{source.stem}.yaml").write_text(SOURCES[name])
    assert checked(source.name) == commented
    (region,) = annotune("check", source.name, "--json").json["regions"]
    assert region["line"] == region["loops"][0]["line"]


def test_emit_leaves_the_rest_alone() -> None:
    text = blanked((EXAMPLES / "gemm/gemm.c").read_text())
    Path("gemm.c").write_text(text)
    Path("spec.yaml").write_text(SOURCES["gemm/gemm.c"])
    done = annotune("emit", "gemm.c", "--annotation", "spec.yaml", "--target", "cuda", "-o", "out")
    assert done.code == 0, done.err
    before, _, _ = text.partition("for (int i")
    assert Path("out/gemm_cuda.c").read_text().startswith(before)
    assert Path("gemm.c").read_text() == text


HEAD = "file: user.c\nregions:\n  - function: f\n    loop: i\n"
USER = "void f(int n, double *restrict a)\n{\n  for (int i = 0; i < n; i++) a[i] = 1;\n}\n"
WRONG = {
    "yaml": ("file: [", "annotations/user.yaml:1:8: error: not valid YAML", "AT081"),
    "key": (HEAD + "    lop: j\n", "annotations/user.yaml:5:5: error: unknown key 'lop'", "AT083"),
    "command": (
        HEAD + '    recipe: |\n      permut(0, ("i"))\n',
        "annotations/user.yaml:6:7: error: unknown command 'permut'",
        "AT060",
    ),
    "loop of a command": (
        HEAD + '    recipe: |\n      cuda(0, thread={"j"})\n',
        "annotations/user.yaml:6:7: error: statement 0 has no loop 'j'",
        "AT251",
    ),
    "size": (
        HEAD + "    input_params: {n: 2.5}\n",
        "annotations/user.yaml:5:20: error: 'n' is 2.5 here, but it is of type 'int' in C",
        "AT641",
    ),
    "function": (
        HEAD.replace(" f\n", " g\n"),
        "user.c:1:1: error: there is no function 'g'",
        "AT116",
    ),
    "loop": (
        HEAD.replace("loop: i", "loop: k"),
        "user.c:1:6: error: function 'f' has no loop 'k' number 1",
        "AT117",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_reported_at_its_place(name: str) -> None:
    yaml, head, code = WRONG[name]
    Path("user.c").write_text(USER)
    Path("annotations/user.yaml").write_text(yaml)
    done = annotune("emit", "user.c", "--target", "cuda")
    assert done.code == 1
    rows = done.err.split("\n")
    (at,) = [k for k, row in enumerate(rows) if ": error: " in row]
    assert rows[at].startswith(head)
    assert rows[at].endswith(f"[{code}]")
    file, line, _ = head.split(":")[:3]
    shown = Path(file).read_text().split("\n")[int(line) - 1]
    assert rows[at + 1] == f"{line:>5} | {shown}"
    assert set(rows[at + 2].partition("|")[2].strip()) == {"^"}
    assert not Path("annotune-out").exists()


def test_a_sidecar_for_another_file() -> None:
    Path("user.c").write_text(USER)
    Path("other.yaml").write_text(HEAD.replace("user.c", "other.c"))
    done = annotune("check", "user.c", "--annotation", "other.yaml")
    assert done.code == 1
    head = "other.yaml:3:15: error: the sidecar is for 'other.c', not for 'user.c' [AT643]"
    assert done.err.startswith(head)


def test_a_nest_that_has_comments_too() -> None:
    text = USER.replace("  for", "  /*@ begin PerfTuning () @*/\n  for")
    Path("user.c").write_text(text.replace("= 1;", "= 1;\n  /*@ end @*/"))
    Path("annotations/user.yaml").write_text(HEAD)
    done = annotune("check", "user.c")
    assert done.code == 1
    head = "annotations/user.yaml:3:15: error: this nest is annotated twice: here and in user.c:3:3"
    assert done.err.startswith(f"{head} [AT644]\n")


def test_a_dependence_is_shown_in_its_own_file() -> None:
    line = "            A[i][j] = A[i - 1][j];"
    Path("sweep.c").write_text(
        "void sweep(int n, double A[n][n])\n{\n    for (int i = 1; i < n; i++)\n"
        f"        for (int j = 0; j < n; j++)\n{line}\n}}\n"
    )
    Path("annotations/sweep.yaml").write_text(
        "file: sweep.c\nregions:\n  - function: sweep\n    loop: i\n"
        '    input_params: {n: 9}\n    recipe: |\n      cuda(0, thread={"i"})\n'
    )
    done = annotune("check", "sweep.c")
    assert done.code == 1
    carried = "A is carried by i (distance 1)"
    assert (
        f"annotations/sweep.yaml:7:7: error: cuda: loop 'i' cannot run in parallel: {carried}"
        ' [AT258]\n    7 |       cuda(0, thread={"i"})\n'
    ) in done.err
    assert f"sweep.c:5:13: note: the dependence: {carried}\n    5 | {line}\n" in done.err
