"""`import annotune`: what the commands do, from Python, by the same path and in the same words."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest
from support.cli import annotune, function, region
from support.little import tune_little

import annotune as api
from annotune.api import Options, TuneOptions
from annotune.cli import cli

ROOT = Path(__file__).parents[1]
LOOP = "for (int i = 0; i < n; i++) a[i] += b[i] * b[i];"
TEXT = function(region(LOOP, sizes="param n = 5000;"))
# What a command prints and where, and what the functions take by parameters of their own.
OF_THE_COMMAND = {"form", "as_json", "debug", "is_verbose", "is_quiet"}
OWN = {"standalone", "source", "output", "results", "is_called", "both", "gpus"}
QUICK: Any = {"target": "openmp", "budget": 1, "time": 60}


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file with one region; its folder is the current one."""
    monkeypatch.chdir(tmp_path)
    tune_little(monkeypatch)
    (tmp_path / "f.c").write_text(TEXT)
    return Path("f.c")


def test_the_import_alone_loads_nothing() -> None:
    code = (
        "import sys; before = {*sys.modules}; import annotune; dir(annotune)\n"
        "print(*({*sys.modules} - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("annotune")} == {"annotune"}
    assert {name.partition(".")[0] for name in loaded} - {"annotune"} <= sys.stdlib_module_names


def test_what_the_stub_says_is_there() -> None:
    stub = (ROOT / "annotune" / "__init__.pyi").read_text()
    names = re.findall(r"^from .* import (\w+) as \1$", stub, re.MULTILINE)
    assert sorted(names) == sorted(api.__all__)
    assert all(getattr(api, name) is not None for name in names)
    assert {*names} <= {*dir(api)}
    with pytest.raises(AttributeError, match="'tuna'"):
        api.tuna  # noqa: B018


def test_every_option_of_the_commands_is_a_keyword() -> None:
    def keywords(command: str) -> set[str]:
        left = OF_THE_COMMAND | (OWN if command == "emit" else OWN - {"both", "standalone"})
        params = (one for one in cli.commands[command].params if one.name not in left)
        names = (max(one.opts, key=len) for one in params if isinstance(one, click.Option))
        return {name.lstrip("-").replace("-", "_") for name in names}

    other = {"D": "define", "I": "include", "no_factor": "factor"}
    for command, known in (("emit", Options), ("run", TuneOptions)):
        expected = {other.get(name, name) for name in keywords(command)}
        assert expected == {*known.__annotations__} | {*Options.__annotations__}


def test_both_processors(source: Path) -> None:
    known: Any = {"target": "cuda", "set": {"n": 5120}}
    texts = [api.emit(source, both=share, **known).files[".cu"] for share in (0.5, "0.5")]
    assert texts[0] == texts[1]
    with pytest.raises(ValueError, match="'half' is no share"):
        api.emit(source, target="cuda", both="half")


def test_keywords_say_what_options_say(source: Path, capfd: pytest.CaptureFixture[str]) -> None:
    keywords: Any = {
        "target": ["openmp", "openacc"],
        "set": {"n": 4096},
        "param": {"S0.schedule": ("static", "dynamic")},
        "constraint": "S0.schedule == 'dynamic'",
        "define": {"SIZE": 7, "FLAG": ""},
        "include": Path("headers"),
        "device": "h100",
    }
    words = "--target openmp,openacc --set n=4096 --param S0.schedule=static,dynamic -D SIZE=7"
    others = "-D FLAG= -I headers --device h100 --constraint S0.schedule=='dynamic'"
    made = api.emit(source, output="ours", **keywords)
    assert capfd.readouterr() == ("", "")
    said = annotune("emit", source, "-o", "theirs", *words.split(), *others.split())
    assert {path.name for path in Path("ours").iterdir()} == {f"f{end}" for end in made.files}
    assert "schedule(dynamic" in made.files["_omp.c"]
    for end, text in made.files.items():
        assert (Path("theirs") / f"f{end}").read_text() == text == Path(f"ours/f{end}").read_text()
    assert [one.message in said.err for one in made.diagnostics] == [True] * len(made.diagnostics)


def test_nothing_is_written_where_no_folder_is_named(source: Path) -> None:
    found = api.tune(TEXT, **QUICK)
    made = api.emit(source, target="cuda")
    assert found.is_verified
    assert "__global__" in made.files[".cu"]
    assert [*Path().iterdir()] == [source]


def test_tune_is_the_command(source: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ("--target", "openmp", "--budget", "1", "--time", "60", "-o", "out", "--json")
    first = annotune("run", source, *words).json
    capfd.readouterr()
    found = api.tune(source, output="out", **QUICK)
    assert capfd.readouterr() == ("", "")
    trials = found.regions[0].trials
    assert not any(t.target == "openacc_naive" for t in trials)  # it is no part of --target
    assert [t.reused for t in trials if t.target == "openmp"] == [True]
    configs = [t["config"] for t in first["regions"][0]["trials"] if t["target"] == "openmp"]
    assert [dict(t.config) for t in trials if t.target == "openmp"] == configs
    written = json.loads(Path("out/results.json").read_text())
    assert written["regions"][0]["rows"][0]["time_s"] == found.regions[0].rows[0].time_s
    assert api.load_results("out").texts == found.texts


@pytest.mark.parametrize(
    ("text", "command", "options"),
    [
        (TEXT, "emit", {"set": {"n": 0}}),
        (TEXT, "run", {"function": "g"}),
        (TEXT.replace("+=", "+= $"), "run", {}),
        ("int no_region;\n", "emit", {}),
        (None, "check", {}),
        (TEXT, "emit", {"device": "none"}),
    ],
)
def test_a_refusal_has_the_words_of_the_command(
    source: Path, text: str | None, command: str, options: Any
) -> None:
    source.unlink() if text is None else source.write_text(text)
    words = [
        word
        for name, value in options.items()
        for word in (
            f"--{name}",
            *([f"{k}={v}" for k, v in value.items()] if name == "set" else [value]),
        )
    ]
    said = annotune(command, source, *words)
    called = {"run": api.tune, "emit": api.emit, "check": api.check}[command]
    with pytest.raises(api.AnnotuneError) as refused:
        called(source, **options)
    assert said.code == refused.value.exit_code == 1
    assert f"{refused.value}\n" == said.err


def test_check_comes_back_with_what_is_wrong(source: Path) -> None:
    text = TEXT.replace("a[i] +=", "a[i] += a[i - 1] +")
    found = api.check(text)
    source.write_text(text)
    assert found.diagnostics
    assert all(one.span.file == "source.c" for one in found.diagnostics)
    assert [d.code for d in found.diagnostics] == [d.code for d in api.check(source).diagnostics]


def test_a_refused_text_is_shown_with_its_line() -> None:
    with pytest.raises(api.AnnotuneError, match=r"source\.c:4:") as refused:
        api.emit(TEXT.replace("+=", "+= $"))
    assert LOOP.replace("+=", "+= $") in str(refused.value)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"target": "opnmp"}, ValueError, "did you mean 'openmp'"),
        ({"time": -1}, ValueError, "no positive time"),
        ({"budget": 0}, ValueError, "x>=1"),
        ({"set": {"1n": 3}}, ValueError, "is not NAME=VALUE"),
        ({"formulation": "usual"}, ValueError, "of tensor files"),
        ({"tiem": 3}, TypeError, "there is no option 'tiem'"),
    ],
)
def test_what_no_option_takes_is_wrong_use(
    source: Path, options: Any, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        api.tune(source, **options)


PROGRAM = """\
import annotune

results = annotune.tune("scale.c", target=["openmp"], time=20, set={"n": 1000}, resume=False)
first: annotune.RunResults = annotune.load_results("out")
times = [row.time_s for region in results.regions for row in region.rows]
reveal_type(times)
try:
    annotune.check("scale.c")
except annotune.AnnotuneError as refusal:
    print([one.code.lower() for one in refusal.diagnostics])
annotune.tune("scale.c", tiem=3)
annotune.emit(7)
"""


@pytest.mark.slow
def test_a_program_of_the_user_s_is_typed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    config = str(ROOT / "pyproject.toml")
    # The cache is that of `make check`.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", config, str(program)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    said = re.findall(r"program.py:(\d+): (error|note: Rev\w+)(.*)", done.stdout)
    assert [(int(line), kind) for line, kind, _ in said] == [
        (6, "note: Revealed"),
        (11, "error"),
        (12, "error"),
    ]
    assert '"list[float | None]"' in said[0][2]


def test_users_get_the_types() -> None:
    assert (ROOT / "annotune" / "py.typed").exists()


def test_the_page_s_examples_run(source: Path) -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    (text,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    Path("scale.c").write_text(text)
    known: dict[str, Any] = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        if "needs annotune[notebook]" not in example or find_spec("xarray") is not None:
            exec(example, known)
    assert Path("tuned/results.json").exists()
