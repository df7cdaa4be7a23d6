"""The runtime that emitted files share: its version, its symbols, and programs of several files."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.executed import emitted, run
from support.runtime import CUDA, SHARED, cuda_runtime

from annotune.measure.cuda_text import translate
from annotune.runtime import texts as runtime_module
from annotune.runtime.texts import (
    ACC_RUNTIME,
    CUDA_RUNTIME,
    RUNTIME_TEXTS,
    RUNTIMES,
    SharedRuntime,
    linked_sources,
    runtime_texts,
    standalone_files,
)

BOTH = pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda one: one.source)
# Of these each version has the same: a program calls one, which calls all.
WITHOUT_VERSION = {"annotune_release", "annotune_releasers"}


@BOTH
def test_the_version_is_that_of_the_texts(
    runtime: SharedRuntime, request: pytest.FixtureRequest
) -> None:
    if request.config.getoption("--update-golden"):
        place = RUNTIME_TEXTS / runtime.header
        text = place.read_text()
        line = f"#define {runtime.macro} "
        place.write_text(text.replace(line + runtime.version, line + runtime.hashed_version(), 1))
        runtime_module._runtime_text.cache_clear()
        vars(runtime).pop("version", None)
    assert runtime.version == runtime.hashed_version(), "pytest --update-golden writes it"


def defined(path: Path) -> set[str]:
    """Return the symbols that an object defines for others, as C++ spells them."""
    listed = subprocess.check_output(["nm", "--defined-only", "-gC", path], text=True)
    return {line.split(maxsplit=2)[-1] for line in listed.splitlines()}


def test_each_symbol_has_the_version() -> None:
    found = {name for name in defined(cuda_runtime()) if name.startswith("annotune_")}
    assert found >= WITHOUT_VERSION
    own = {name for name in found - WITHOUT_VERSION if not name.startswith("annotune_cpu")}
    assert len(own) > 30
    assert {name for name in own if CUDA_RUNTIME.version not in name} == set()


def test_each_symbol_of_openacc_has_the_version(tmp_path: Path) -> None:
    made = tmp_path / "runtime.o"
    words = ("gcc", "-fopenacc", "-foffload=disable", "-Wall", "-Wextra", "-Wshadow", "-Werror")
    run(*words, "-std=c99", "-c", RUNTIME_TEXTS / ACC_RUNTIME.source, "-o", made)
    own = {name for name in defined(made) if "annotune" in name}
    assert len(own) > 8
    assert {name for name in own if ACC_RUNTIME.version not in name} == set()


def test_it_is_compiled_without_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "runtime.cpp"
    source.write_text(translate(CUDA_RUNTIME.texts[CUDA_RUNTIME.source]))
    words = ("g++", "-Wall", "-Wextra", "-Wshadow", "-Werror", *CUDA, "-fsyntax-only", source)
    run(*words)


@BOTH
def test_lines_have_100_columns(runtime: SharedRuntime) -> None:
    for name, text in runtime.texts.items():
        long = [line for line in text.splitlines() if len(line) > 100 and "asm" not in line]
        assert [line for line in long if '"{%0' not in line] == [], name


ADDING = """\
void {name}(int n, double *restrict y, const double *restrict x)
{{
    /*@ begin PerfTuning ( def input_params {{ param n = 768; }} ) @*/
    for (int i = 0; i < n; i++)
        y[i] += {factor} * x[i];
    /*@ end @*/
}}
"""
MAIN = """\
#include <stdlib.h>
#ifdef __cplusplus
extern "C" {
#endif
void one(int, double *, const double *);
void two(int, double *, const double *);
void annotune_release(void);
int annotune_cpu_red_zone_violations(void);
int annotune_cpu_live_allocations(void);
#ifdef __cplusplus
}
#endif
int main(void)
{
    enum { N = 768 };
    double *y = (double *)calloc(N, 8), *x = (double *)calloc(N, 8);
    for (int i = 0; i < N; i++)
        x[i] = i % 5;
    for (int k = 1; k <= 3; k++) {
        one(N, y, x);
        two(N, y, x);
        for (int i = 0; i < N; i++)
            if (y[i] != 5.0 * k * (i % 5))
                return 1;
    }
    annotune_release();
    if (annotune_cpu_live_allocations() != 0)
        return 2;
    return annotune_cpu_red_zone_violations();
}
"""
OTHER = "0badc0de"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of two functions by their names."""
    return {
        name: emitted(tmp_path_factory.mktemp(name), ADDING.format(name=name, factor=factor)).files
        for name, factor in (("one", 2.0), ("two", 3.0))
    }


def written(folder: Path, made: Mapping[str, Mapping[str, str]]) -> Path:
    """Write files and the runtime that they need, as the CPU plays it, and return the folder."""
    folder.mkdir(exist_ok=True)
    for name, texts in made.items():
        for suffix, text in {**texts}.items():
            is_device = suffix == ".cu"
            (folder / f"{name}{suffix}").write_text(translate(text) if is_device else text)
        for other, text in runtime_texts(texts.values()).items():
            (folder / other).write_text(translate(text) if other.endswith(".cu") else text)
    return folder


def of_other_release(folder: Path) -> Path:
    """Make the files in a folder those of a release with another runtime."""
    for path in folder.iterdir():
        text = path.read_text().replace(CUDA_RUNTIME.version, OTHER)
        # Its array has another layout, and it keeps nothing of what the first has.
        text = text.replace(
            "    bool is_sent, is_fetched;\n", "    bool is_sent, is_fetched;\n    long more = 7;\n"
        )
        text = re.sub(r"(_bytes, (?:true|false), (?:true|false)),", r"\1, 7,", text)
        text = re.sub(r"(_bytes, (?:true|false), (?:true|false))\}", r"\1, 7}", text)
        path.write_text(text)
    return folder


def objects(folder: Path) -> list[Path]:
    """Return the objects of the files in a folder."""
    made = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".cu":
            words = [word for word in CUDA if word != f"-I{RUNTIME_TEXTS}"]
            run("g++", "-O0", *SHARED, *words, "-c", path, "-o", f"{path}.o")
        elif path.suffix == ".c":
            run("gcc", "-O0", *SHARED, "-c", path, "-o", f"{path}.o")
        else:
            continue
        made.append(Path(f"{path}.o"))
    return made


def ended(folder: Path, *parts: Path, language: str = "c") -> int:
    """Return how a program of some objects and `MAIN` ends."""
    (folder / f"main.{language}").write_text(MAIN)
    compiler = "gcc" if language == "c" else "g++"
    run(compiler, "-c", folder / f"main.{language}", "-o", folder / "main.o")
    run("g++", folder / "main.o", *parts, f"-Wl,-rpath,{folder}", "-o", folder / "program")
    return subprocess.run([folder / "program"], check=False).returncode


@pytest.fixture(scope="module")
def two_files(
    files: Mapping[str, Mapping[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    return objects(written(tmp_path_factory.mktemp("out"), files))


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_two_files_share_one_runtime(language: str, two_files: list[Path], tmp_path: Path) -> None:
    assert [path.name for path in two_files].count("annotune_runtime.cu.o") == 1
    assert ended(tmp_path, *two_files, language=language) == 0


def test_two_folders_with_the_same_runtime(
    files: Mapping[str, Mapping[str, str]], tmp_path: Path
) -> None:
    """A program is linked with both, as two printed commands name them."""
    folders = [written(tmp_path / name, {name: texts}) for name, texts in files.items()]
    assert ended(tmp_path, *objects(folders[0]), *objects(folders[1])) == 0


@pytest.fixture(scope="module")
def two_releases(
    files: Mapping[str, Mapping[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Path], list[Path]]:
    """Return the objects of a file and its runtime, and of another with one of another release."""
    folder = tmp_path_factory.mktemp("releases")
    first = objects(written(folder / "first", {"one": files["one"]}))
    second = of_other_release(written(folder / "second", {"two": files["two"]}))
    return first, objects(second)


@pytest.mark.parametrize("is_library", [False, True])
def test_two_releases_in_one_program(
    is_library: bool, two_releases: tuple[list[Path], list[Path]], tmp_path: Path
) -> None:
    parts = [part for release in two_releases for part in release]
    if is_library:
        library = tmp_path / "libboth.so"
        run("g++", "-shared", *parts, "-o", library)
        parts = [library]
    assert ended(tmp_path, *parts) == 0
    symbols = defined(tmp_path / ("libboth.so" if is_library else "program"))
    for version in (CUDA_RUNTIME.version, OTHER):
        assert any(version in name and "annotune_send" in name for name in symbols)


def test_two_libraries_of_two_releases(
    two_releases: tuple[list[Path], list[Path]], tmp_path: Path
) -> None:
    for name, parts in zip(("first", "second"), two_releases, strict=True):
        run("g++", "-shared", *parts, "-o", tmp_path / f"lib{name}.so")
    assert ended(tmp_path, tmp_path / "libfirst.so", tmp_path / "libsecond.so") == 0


def test_a_header_of_another_release_is_refused(
    files: Mapping[str, Mapping[str, str]], tmp_path: Path
) -> None:
    folder = written(tmp_path / "out", {"one": files["one"]})
    header = folder / CUDA_RUNTIME.header
    header.write_text(header.read_text().replace(CUDA_RUNTIME.version, OTHER))
    with pytest.raises(AssertionError, match=r"needs the annotune_runtime\.h of the annotune that"):
        objects(folder)


def test_standalone_files_share_one_runtime(
    files: Mapping[str, Mapping[str, str]], tmp_path: Path
) -> None:
    alone = {name: standalone_files(texts) for name, texts in files.items()}
    folder = written(tmp_path / "out", alone)
    assert sorted(path.name for path in folder.iterdir() if "runtime" in path.name) == []
    assert ended(tmp_path, *objects(folder)) == 0


def test_what_needs_no_runtime_names_none(tmp_path: Path) -> None:
    text = ADDING.format(name="f", factor=1.0).replace("n = 768", "n = 768; param m = 1")
    resident = emitted(tmp_path, text, resident=True).files
    assert linked_sources(resident.values()) == ()
    alone = "void f(double a[restrict 64])\n{\n/*@ begin PerfTuning () @*/\n"
    alone += "for (int i = 0; i < 64; i++) a[i] = 1.0;\n/*@ end @*/\n}\n"
    assert linked_sources(emitted(tmp_path, alone).files.values()) == (CUDA_RUNTIME.source,)


def test_a_simple_region_has_at_most_120_lines(files: Mapping[str, Mapping[str, str]]) -> None:
    assert len(files["one"][".cu"].splitlines()) <= 120


def test_every_function_of_the_source_is_known() -> None:
    """So a text that calls one of them is linked with it."""
    symbols = "\n".join(defined(cuda_runtime()))
    for name in CUDA_RUNTIME.defined:
        assert name in symbols, name
    declared = CUDA_RUNTIME.texts[CUDA_RUNTIME.header].partition("/* What is defined here.")[0]
    called = {
        *re.findall(r"^\w[\w *]*?\b(annotune_(?!data|release)\w+)\([^()]*?\);", declared, re.M)
    }
    assert {"annotune_send", "annotune_put_back", "annotune_run_in_parts"} <= called
    assert called <= CUDA_RUNTIME.defined


def test_a_version_is_part_of_what_is_asked_for(files: Mapping[str, Mapping[str, str]]) -> None:
    other = replace(CUDA_RUNTIME, macro="ANNOTUNE_RUNTIME")
    assert other.include() == CUDA_RUNTIME.include()
    assert CUDA_RUNTIME.is_included(files["one"][".cu"])
    assert not CUDA_RUNTIME.is_included(files["one"][".cu"].replace(other.version, OTHER))
