"""check, emit and run take a tensor file itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import annotune
from support.little import tune_little

MATVEC = """mv
define: m = 12
variables: y: (m) A: (m, n) x: (n) z: (3)
operations: y:(i) += A:(i, j) * x:(j)
"""
SIZED = MATVEC.replace("variables", "sizes: n = 9\nvariables")
OPEN = MATVEC.replace("variables", "sizes: n\nvariables")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tune_little(monkeypatch)


def files_below(folder: str) -> set[str]:
    return {str(path) for path in Path(folder).rglob("*") if path.is_file()}


def test_emit_writes_the_c_text_with_all_else() -> None:
    Path("mv.tensor").write_text(SIZED)
    done = annotune("emit", "mv.tensor", "-o", "out")
    assert done.code == 0
    names = ("mv.cu", "mv_cuda.c", "mv_acc.c", "mv_omp.c", "mv.c", "mv.h")
    names += ("annotune_runtime.h", "annotune_runtime.cu")
    assert done.out.split() == [f"out/{name}" for name in names]
    assert Path("out/mv.c").read_text() == annotune("tensor", "mv.tensor").out
    assert "mv.tensor:4:36: warning: no operation uses 'z' [AT723]" in done.err
    # Again, for all of these are annotune's own.
    assert annotune("emit", "mv.tensor", "-o", "out").code == 0


def test_check_writes_nothing_and_shows_the_c_text_of_what_it_says() -> None:
    Path("mv.tensor").write_text(OPEN)
    done = annotune("check", "mv.tensor")
    assert done.code == 0
    assert "annotune-out/mv/mv.c:8:5: mv, region 1" in done.out
    assert "j (line 11): reduction" in done.out
    assert "no value is known for 'n'" in done.err
    assert "mv.tensor:5:13: warning: no value is known for 'n'" in done.err
    assert "    5 | operations: y:(i) += A:(i, j) * x:(j)\n      |             ^" in done.err
    assert "annotune-out/mv/mv.c:10:5: note: in the C text of this operation it is here" in done.err
    assert "   10 |     for (long i = 0; i < m; i++)" in done.err
    assert files_below(".") == {"mv.tensor"}
    assert "no value" not in annotune("check", "mv.tensor", "--set", "n=9").err
    sarif = annotune("check", "mv.tensor", "--format", "sarif").json
    assert {one["ruleId"] for one in sarif["runs"][0]["results"]} == {"AT221", "AT723"}


def test_what_is_refused_of_a_nest_is_told_at_its_operation() -> None:
    text = "f\nsizes: n\nvariables: y: (n) A: (n, n) pointers x: (n)\noperations:\n  x:(i) = 2\n"
    Path("f.tensor").write_text(f"{text}  y:(i) = A:(i, j) * x:(j)\n")
    for command in ("check", "emit"):
        done = annotune(command, "f.tensor")
        assert done.code == 1
        assert "f.tensor:6:3: error: the value of" in done.err
        assert "    6 |   y:(i) = A:(i, j) * x:(j)\n      |   ^" in done.err
        assert "sum += A[i][j] * x[j];" in done.err
    found = annotune("check", "f.tensor", "--json").json["diagnostics"]
    assert [(one["file"], one["line"]) for one in found] == [("f.tensor", 6)]


@pytest.mark.parametrize("command", ["check", "emit", "run", "tensor"])
def test_a_mistake_is_told_at_its_place_and_nothing_is_written(command: str) -> None:
    Path("mv.tensor").write_text(SIZED.replace("x:(j)", "x:(k)").replace("z: (3)", "z: (0)"))
    output = () if command in ("check", "tensor") else ("-o", "out")
    done = annotune(command, "mv.tensor", *output)
    assert done.code == 1
    assert "mv.tensor:4:40: error: the size is 0, expected 1 to 2147483647 [AT711]" in done.err
    assert files_below(".") == {"mv.tensor"}
    assert not Path("out").exists()


def test_operations_stay_as_they_are_written_where_that_is_asked_for() -> None:
    text = "f define: n = 8 variables: R: (n, n) A: (n, n) B: (n, n) C: (n, n)\n"
    Path("f.tensor").write_text(text + "operations: R:(i, l) = A:(i, j) * B:(j, k) * C:(k, l)\n")
    done = annotune("emit", "f.tensor", "-o", "a")
    assert done.code == 0
    assert "malloc" in Path("a/f.c").read_text()
    assert annotune("emit", "f.tensor", "-o", "b", "--no-factor").code == 0
    assert "malloc" not in Path("b/f.c").read_text()


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"\xff\xfe\0", "AT701"), (b"f\0", "AT701"), (b"\r\n", "AT701"), (b"(" * (2 << 20), "AT703")],
)
def test_what_is_no_text(content: bytes, code: str) -> None:
    Path("x.tensor").write_bytes(content)
    done = annotune("tensor", "x.tensor")
    assert (done.code, done.out) == (1, "")
    assert f"[{code}]" in done.err


@pytest.mark.parametrize("path", ["none.tensor", ".", "/dev/zero"])
def test_what_is_no_file(path: str) -> None:
    done = annotune("tensor", path)
    assert (done.code, done.out) == (1, "")
    assert "[AT601]" in done.err


def test_lines_may_end_as_elsewhere() -> None:
    Path("mv.tensor").write_bytes(SIZED.replace("\n", "\r\n").encode())
    assert annotune("tensor", "mv.tensor").code == 0
    Path("mv.tensor").write_bytes(SIZED.replace("(m)", "(0)").replace("\n", "\r\n").encode())
    assert "mv.tensor:4:16: error: " in annotune("tensor", "mv.tensor").err


@pytest.mark.slow
def test_run_takes_a_tensor_file() -> None:
    Path("mv.tensor").write_text(SIZED)
    done = annotune("run", "mv.tensor", "-o", "out", "--budget", "2", "--target", "openmp")
    assert done.code == 0, done.err
    assert {"out/mv.c", "out/mv.h", "out/results.json"} <= files_below("out")
