"""The commands `check` and `emit` as other programs and their users see them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES, Golden
from support.cli import CLOSE, OPEN, Outcome, annotune, function, region

D1 = EXAMPLES / "nwchem/sd_t_d1.c"
GRAD = EXAMPLES / "nekbone/local_grad3.c"
GEMM = EXAMPLES / "gemm/gemm.c"
LOOP = "for (int i = 0; i < n; i++)"
COPY = function(
    region(f"{LOOP} a[i] = b[i];"), "int n, double *restrict a, const double *restrict b"
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sound(*arguments: str | Path) -> Outcome:
    """Return the outcome of a command that must succeed."""
    done = annotune(*arguments)
    assert done.code == 0, done.err
    return done


RUNTIME = ("annotune_runtime.h", "annotune_runtime.cu")


def emitted(*arguments: str | Path) -> dict[str, str]:
    """Return the files that `emit` writes, by name."""
    rows = sound("emit", *arguments, "-o", "out").out.split()
    return {Path(row).name: Path(row).read_text() for row in rows}


@pytest.mark.parametrize(
    ("name", "source", "options"),
    [
        ("sd_t_d1_1", D1, ["--function", "sd_t_d1_1"]),
        ("local_grad3", GRAD, []),
        ("gemm", GEMM, []),
    ],
)
def test_check_as_text(golden: Golden, name: str, source: Path, options: list[str]) -> None:
    done = sound("check", source, *options)
    golden.check(f"cli/check_{name}.txt", done.out.replace(f"{source.parent}/", ""))


def test_check_as_json() -> None:
    value = sound("check", D1, "--function", "sd_t_d1_1", "--json", "--strategy", "direct").json
    assert (value["schema"], value["diagnostics"]) == (1, [])
    (found,) = value["regions"]
    assert (found["function"], found["index"], found["line"]) == ("sd_t_d1_1", 1, 16)
    assert found["space"]["size"] > found["space"]["legal"] > 0
    assert found["recipe"] == (
        "UF0[] = [1,2,4,8,16];\n"
        'permute(0, ("p5","p4","p6","h1","h2","h3","h7"))\n'
        'cuda(0, block={"h2","p6"}, thread={"h3","h1"})\n'
        'registers(0, "h7")\n'
        'unroll(0, "h7", UF0)\n'
    )
    loops = [(o["name"], o["line"], o["kind"], o["private"]) for o in found["loops"]]
    names = ("p4", "p5", "p6", "h1", "h2", "h3")
    parallel = [(name, 23 + at, "parallel", []) for at, name in enumerate(names)]
    assert loops == [*parallel, ("h7", 29, "reduction", [])]


def test_diagnostics_as_json() -> None:
    done = sound("check", GEMM, "--json")
    (warning,) = done.json["diagnostics"]
    assert warning == {
        "code": "AT220",
        "severity": "warning",
        "file": str(GEMM),
        "line": 6,
        "column": 40,
        "length": 1,
        "message": "the pointers 'A', 'B' and 'C' are assumed not to overlap",
        "help": "declare them 'restrict' if they never overlap, or say so: "
        "def assume { arg disjoint = True; }; the emitted code checks it at run time",
        "notes": [],
    }
    assert "[AT220]" in done.err
    (found,) = done.json["regions"]
    kinds = [(one["name"], one["kind"], one["private"]) for one in found["loops"]]
    assert kinds == [
        ("i", "parallel", ["sum"]),
        ("j", "parallel", ["sum"]),
        ("l", "reduction", []),
    ]


def test_a_printed_recipe_can_be_pasted() -> None:
    text = GRAD.read_text()
    found = sound("check", GRAD, "--json").json["regions"][0]
    recipe = f"/*@ begin CHiLL (\n{found['recipe']}) @*/"
    Path("local_grad3.c").write_text(
        text.replace(OPEN, f"{OPEN} {recipe}").replace(CLOSE, CLOSE * 2)
    )
    again = sound("check", "local_grad3.c", "--json").json["regions"][0]
    assert again["recipe"].split("\n") == found["recipe"].split("\n")[2:]


TWO_NESTS = function(
    "    double s = 0;\n"
    + region(
        f"{LOOP} for (int j = 0; j <= i; j++) if (b[j] > 0) s += b[j] * b[i]; {LOOP} a[i] = s;"
    ),
    "int n, double *restrict a, const double *restrict b",
)


@pytest.mark.parametrize("source", [GEMM.read_text(), TWO_NESTS])
def test_a_whole_recipe_of_each_target_can_be_pasted(source: str) -> None:
    Path("user.c").write_text(source)
    recipes = sound("check", "user.c", "--json").json["regions"][0]["recipes"]
    assert list(recipes) == ["cuda", "openacc", "openmp"]
    first = emitted("user.c")
    # On the line of the annotation, for texts name lines of their source.
    pasted = "; ".join(line for one in recipes.values() for line in one.splitlines())
    _, end = re.search(r"begin PerfTuning.*?@\*/", source, re.DOTALL).span()  # type: ignore[union-attr]
    whole = f"{source[:end]} /*@ begin CHiLL ({pasted}) @*/{source[end:]}"
    Path("user.c").write_text(whole.replace(CLOSE, CLOSE * 2))
    again = emitted("user.c")
    assert [*first] == [*again]
    for name in first:
        assert _code(first[name]) == _code(again[name]), name
    assert sound("check", "user.c", "--json").json["regions"][0]["recipes"] == recipes


def _code(text: str) -> list[str]:
    """Return the lines of a text but its comments, which tell who made the choice."""
    return [line for line in text.splitlines() if not re.match(r" *(/\*| \*)", line)]


def test_check_of_one_target_says_what_is_done_for_it() -> None:
    told = sound("check", GEMM, "--target", "openmp").out
    recipe = sound("check", GEMM, "--json").json["regions"][0]["recipes"]["openmp"]
    assert "in OpenMP" in told
    assert not re.search("CUDA|OpenACC|predicted for|space: ", told)
    assert re.sub("^ +", "", told, flags=re.MULTILINE).endswith(f"every step of it\n{recipe}\n")
    both = sound("check", GEMM, "--target", "openacc,openmp").out
    assert both.count("every step of it") == 2


def test_a_users_recipe_is_printed_word_for_word() -> None:
    for name in ("fig3_9a", "fig3_9b"):
        source = EXAMPLES / f"thesis/{name}.c"
        printed = sound("check", source, "--json").json["regions"][0]["recipe"]
        written = source.read_text().split("begin CHiLL (")[1].split(") @*/")[0]
        assert re.sub(r"\s", "", printed) == re.sub(r"\s", "", written)


MIXED = (
    function(region(f"{LOOP} a[i] = b[i];") + "\n" + region(f"{LOOP} a[i] = g(i);"))
    + function(region(f"{LOOP} a[i] = b[i*i];")).replace("f(", "second(")
    + function(
        region("for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) a[j] = a[j-1];")
    ).replace("f(", "third(")
)


def test_every_region_and_loop_is_listed_in_the_order_of_the_text() -> None:
    # The second region of f is refused before it is a region, the one of `second` after.
    text = MIXED.replace("  /*@ begin", f"{region(f'{LOOP} a[i] = g(i);')}\n  /*@ begin", 1)
    Path("user.c").write_text(text)
    done = annotune("check", "user.c", "--json")
    assert done.code == 1
    listed = [(r["function"], r["index"], len(r["loops"])) for r in done.json["regions"]]
    assert listed == [("f", 2, 1), ("second", 1, 1), ("third", 1, 2)]
    (refused,) = done.json["regions"][1]["loops"]
    assert (refused["name"], refused["kind"], refused["private"]) == ("i", None, [])
    kinds = [loop["kind"] for loop in done.json["regions"][2]["loops"]]
    assert kinds == ["serial", "serial"]
    errors = [d["code"] for d in done.json["diagnostics"] if d["severity"] == "error"]
    assert errors == ["AT130", "AT130", "AT214"]


def test_a_refused_recipe_is_not_shown_as_if_it_held() -> None:
    done = annotune("check", EXAMPLES / "thesis/fig4_7.c", "--json")
    assert done.code == 1
    (found,) = done.json["regions"]
    assert (found["recipe"], found["space"], len(found["loops"])) == ("", None, 11)
    assert "no plan: the recipe is refused" in annotune("check", EXAMPLES / "thesis/fig4_7.c").out


@pytest.mark.alike(4)
@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(f"nwchem/sd_t_{k}", marks=pytest.mark.slow) for k in ("s1", "d1", "d2")),
        "gemm/gemm",
        "nekbone/local_grad3",
        "thesis/fig3_9a",
        "thesis/fig3_9b",
    ],
)
def test_the_certificates_of_the_examples_hold(name: str) -> None:
    source = EXAMPLES / f"{name}.c"
    done = sound("check", source, "--certificate")
    verdicts = re.findall(r"^certificate (.*)$", done.out, re.MULTILINE)
    # One for CUDA, one for OpenACC, one for the cores of a CPU.
    plans = 3 * source.read_text().count("begin PerfTuning (")
    assert verdicts == ["holds: every iteration once, every dependence kept, in bounds"] * plans


def test_a_certificate_needs_the_sizes() -> None:
    Path("user.c").write_text(COPY.replace("def input_params { param n = 64; }", ""))
    assert sound("check", "user.c", "--certificate").out.endswith(
        "f, region 1: give the sizes first\n\n"
    )


def test_emit_as_json() -> None:
    done = sound("emit", GRAD, "--json", "-o", "out")
    value = done.json
    suffixes = (".cu", "_cuda.c", "_acc.c", "_omp.c")
    names = [*(f"local_grad3{end}" for end in suffixes), *RUNTIME]
    assert value["files"] == [f"out/{name}" for name in names]
    assert sorted(p.name for p in Path("out").iterdir()) == sorted(names)
    (found,) = value["regions"]
    assert (found["function"], found["index"]) == ("local_grad3", 1)
    assert found["entry"] == "annotune_local_grad3_1"
    assert set(found["plan"]) == {"cuda", "openacc", "openmp"}
    assert (value["schema"], [d["code"] for d in value["diagnostics"]]) == (1, ["AT220"])


def outside(text: str) -> list[str]:
    """Return what stands between the annotated regions of a C text."""
    return re.split(r"/\*@ begin PerfTuning.*?/\*@ end @\*/", text, flags=re.DOTALL)


ODD = (
    "\f/* cut here */\r\n"
    + COPY.replace("\n", "\r\n")
    + '\t/* \udce9, and a tab */ const char *s = "/*@ begin PerfTuning () @*/" "/*@ end @*/";\n'
    + COPY.replace("f(", "g(").rstrip("\n")
)


@pytest.mark.parametrize("name", ["an example", "odd bytes"])
def test_every_byte_outside_the_regions_stays(name: str) -> None:
    Path("user.c").write_text(
        GEMM.read_text() if name == "an example" else ODD, errors="surrogateescape", newline=""
    )
    text = Path("user.c").read_bytes().decode(errors="surrogateescape")
    sound("emit", "user.c", "-o", "out")
    for end in ("_cuda.c", "_acc.c", "_omp.c"):
        made = Path(f"out/user{end}").read_bytes().decode(errors="surrogateescape")
        at = 0
        parts = [p for part in outside(text) for p in re.split(r"(?m)^(?=void )", part)]
        for part in parts:
            # Helpers may stand before a function, and the call in place of a region.
            assert part in made[at:], (end, part)
            at = made.index(part, at) + len(part)
        assert made.endswith(parts[-1])
        assert made.startswith(parts[0])


def test_emitted_text_names_no_folder() -> None:
    for source in (GRAD, GEMM):
        for name, text in emitted(source.resolve()).items():
            assert str(source.resolve().parent) not in text
            assert str(Path.cwd()) not in text
            assert f"from {source.name}" in text or name in RUNTIME


def test_emit_twice_gives_the_same_bytes_and_leaves_other_files() -> None:
    first = emitted(GRAD)
    Path("out/notes.txt").write_text("mine")
    assert emitted(GRAD) == first
    assert Path("out/notes.txt").read_text() == "mine"
    assert sorted(p.name for p in Path("out").iterdir()) == sorted([*first, "notes.txt"])


def test_the_default_folder() -> None:
    Path("user.c").write_text(COPY)
    done = sound("emit", "user.c", "--target", "cuda")
    names = "user.cu", "user_cuda.c", *RUNTIME
    assert done.out == "".join(f"annotune-out/user/{name}\n" for name in names)


def test_targets() -> None:
    Path("user.c").write_text(COPY)
    written = {"user.cu", "user_cuda.c", "user_omp.c"}
    assert {*emitted("user.c", "--target", "openmp, cuda")} == {*written, *RUNTIME}
    assert {*emitted("user.c", "--target", "openmp, cuda", "--standalone")} == written


def sizes(*options: str | Path) -> Any:
    return sound("check", *options, "--json").json["regions"][0]["sizes"]


def test_a_source_called_like_the_runtime() -> None:
    Path("annotune_runtime.c").write_text(COPY)
    done = annotune("emit", "annotune_runtime.c", "-o", "out", "--target", "cuda")
    assert done.code == 1
    assert "would have the name of the runtime, 'annotune_runtime.cu' [AT685]" in done.err
    written = emitted("annotune_runtime.c", "--target", "cuda", "--standalone")
    assert {*written} == {"annotune_runtime.cu", "annotune_runtime_cuda.c"}


def test_a_file_of_the_user_s_called_like_the_runtime_stays() -> None:
    Path("user.c").write_text(COPY)
    Path("out").mkdir()
    Path("out/annotune_runtime.h").write_text("mine\n")
    done = annotune("emit", "user.c", "-o", "out", "--target", "cuda")
    assert done.code == 1
    assert "'out/annotune_runtime.h' exists and was not written by annotune [AT603]" in done.err
    assert [path.name for path in Path("out").iterdir()] == ["annotune_runtime.h"]


def test_sizes_and_macros() -> None:
    assert sizes(GEMM) == {"m": 512, "n": 512, "k": 512}
    assert sizes(GEMM, "--set", "m=7", "--set", "k=2*3") == {"m": 7, "n": 512, "k": 6}
    assert sizes(GRAD, "-D", "lx=8", "-Dnelt=30") == {"nelt": 30, "lx": 8, "ly": 8, "lz": 8}
    assert "tuned for m=7, n=512, k=512" in emitted(GEMM, "--set", "m=7")["gemm.cu"]


def test_a_setting_that_nothing_uses() -> None:
    done = sound("check", GEMM, "--set", "M=7")
    assert done.err.startswith("--set: warning: no region uses 'M', which --set gives [AT642]\n")
    assert "help: did you mean 'm'?" in done.err
    fixed = annotune("check", GRAD, "--set", "lx=8")
    assert fixed.code == 1
    assert "'lx' is 8 here, but C fixes it to 10 [AT606]" in fixed.err


def test_function() -> None:
    text = D1.read_text()
    files = emitted(D1, "--function", "sd_t_d1_3", "--target", "cuda")
    assert "annotune_sd_t_d1_3_1" in files["sd_t_d1_cuda.c"]
    assert files["sd_t_d1_cuda.c"].count("begin PerfTuning") == text.count("begin PerfTuning") - 1
    wrong = annotune("check", D1, "--function", "sd_t_d1")
    assert wrong.code == 1
    assert "error: no annotated region stands in a function 'sd_t_d1' [AT605]\n" in wrong.err
    assert "functions with regions: sd_t_d1_1, sd_t_d1_2, " in wrong.err


def test_function_leaves_out_what_is_wrong_elsewhere() -> None:
    Path("user.c").write_text(MIXED + COPY.replace("f(", "last("))
    assert annotune("emit", "user.c", "--function", "last", "--target", "cuda").code == 0
    done = annotune("check", "user.c", "--function", "f", "--json")
    assert [(r["function"], r["index"]) for r in done.json["regions"]] == [("f", 1)]
    assert [d["code"] for d in done.json["diagnostics"] if d["severity"] == "error"] == ["AT130"]


def test_resident_data_is_not_copied() -> None:
    host = emitted(GEMM, "--data", "host")
    resident = emitted(GEMM, "--data", "resident")
    assert "annotune_call(" in host["gemm.cu"]
    assert "annotune_call(" not in resident["gemm.cu"]
    # Nothing of it is compiled: kernels need a few functions of its header.
    assert set(RUNTIME) - {*resident} == {"annotune_runtime.cu"}
    assert "present(" in resident["gemm_acc.c"]
    assert "present(" not in host["gemm_acc.c"]
    assert resident["gemm_omp.c"] == host["gemm_omp.c"]


def test_device() -> None:
    assert "predicted for a100" in emitted(GEMM, "--device", "a100")["gemm.cu"]
    for command in ("check", "emit"):
        done = annotune(command, GEMM, "--device", "h20")
        assert (done.code, done.out) == (1, "")
        assert done.err == (
            "--device: error: unknown device 'h20' [AT085]\n  help: did you mean 'h200'?\n"
        )


def test_strategy() -> None:
    plain = emitted(GEMM)["gemm.cu"]
    assert emitted(GEMM, "--strategy", "gemm")["gemm.cu"] == plain
    direct = emitted(GEMM, "--strategy", "direct")["gemm.cu"]
    assert ("__shared__" in plain, "__shared__" in direct) == (True, False)


def test_help_and_version() -> None:
    for command in ("check", "emit", "run", "report", "doctor"):
        assert sound(command, "-h").out.startswith("Usage: ")
    assert sound("--version").out.startswith("annotune, version ")
