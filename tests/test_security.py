"""What an annotation, a sidecar, a results file or a file's name can never do: run code."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.cli import CLOSE, OPEN, annotune, function, region
from support.modules import MODULES, PACKAGE, nodes

from annotune.annotation.flags import flags_of
from annotune.codegen.target import Provenance
from annotune.diagnostics import Diagnostic, Span
from annotune.measure.directives import quoted
from annotune.printable import in_comment, printable

# Calls that run a text or start a shell, and modules that do it for their users.
_FORBIDDEN_NAMES = frozenset({"eval", "exec", "compile", "__import__", "input", "breakpoint"})
_FORBIDDEN_CALLS = re.compile(
    r"os\.(system|popen|exec\w+|spawn\w+|startfile)|subprocess\.(getoutput|getstatusoutput)"
    r"|yaml\.(load|load_all|full_load|unsafe_load)\w*|tempfile\.mktemp|asyncio\.create_subprocess_shell"
    r"|pty\.spawn|code\.interact"
)
_FORBIDDEN_MODULES = frozenset(
    {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "runpy", "pty"}
)
_STARTS_PROCESS = re.compile(r"subprocess\.(Popen|run|call|check_call|check_output)")
# Modules that load a module by name: from tables of names in the code, never from input.
_MAY_IMPORT_BY_NAME = frozenset(
    {
        "__init__.py",
        "annotation/commands.py",
        "codegen/target.py",
        "transforms/language.py",
        "tuning/search/names.py",
    }
)
# Writes what makes a record, of the names of its fields, as Python's own `dataclass` does.
_MAY_RUN_A_TEXT = "frozen.py"
# Unpacks what its own workers have packed, as Pebble and Parsl do with what they bring.
_MAY_UNPICKLE = ("pickle", "tuning/workers.py")
# Runs the configuration of workers that the command line names.
_MAY_RUN_A_FILE = "tuning/workers.py"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def dangers(module: Iterable[ast.AST], name: str = "") -> list[str]:
    """Return what a module does that none of annotune's may, with the line."""
    found: list[str] = []
    for node in module:
        at = getattr(node, "lineno", 0)
        match node:
            case ast.Import() | ast.ImportFrom():
                modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                found += [
                    f"{at}: import {m}"
                    for m in modules
                    if m.split(".")[0] in _FORBIDDEN_MODULES and (m, name) != _MAY_UNPICKLE
                ]
                if isinstance(node, ast.ImportFrom) and node.module in ("os", "subprocess", "yaml"):
                    # From these, everything is called by its whole name, so that it is seen below.
                    found.append(f"{at}: from {node.module} import …")
            case ast.Call():
                found += [f"{at}: {why}" for why in _call(node, name)]
    return found


def _call(node: ast.Call, name: str) -> list[str]:
    called = ast.unparse(node.func)
    given = {word.arg: word.value for word in node.keywords if word.arg}
    found: list[str] = []
    if isinstance(node.func, ast.Name) and node.func.id in _FORBIDDEN_NAMES:
        found += [] if (called, name) == ("exec", _MAY_RUN_A_TEXT) else [called]
    if _FORBIDDEN_CALLS.fullmatch(called):
        found.append(called)
    if called.endswith("import_module") and name not in _MAY_IMPORT_BY_NAME:
        found.append(called)
    if called.endswith(("exec_module", "load_module")) and name != _MAY_RUN_A_FILE:
        found.append(called)
    if "shell" in given and ast.unparse(given["shell"]) != "False":
        found.append("shell=")
    if _STARTS_PROCESS.fullmatch(called) and not _is_list(node.args[0] if node.args else None):
        found.append(f"{called} without an argument list")
    is_load = called in ("np.load", "numpy.load")
    if is_load and ast.unparse(given.get("allow_pickle", ast.Constant(None))) != "False":
        found.append(f"{called} without allow_pickle=False")
    return found


def _is_list(argument: ast.expr | None) -> bool:
    """Return whether an argument is a list as written: ``[…]`` or ``list(…)``."""
    is_call = isinstance(argument, ast.Call) and ast.unparse(argument.func) == "list"
    return is_call or isinstance(argument, ast.List)


def test_no_module_runs_a_text_or_a_shell() -> None:
    found = {_name(path): dangers(nodes(path), _name(path)) for path in MODULES}
    assert not {name: why for name, why in found.items() if why}


DANGEROUS = (
    "eval('1')",
    "exec(text)",
    "compile(text, '', 'exec')",
    "__import__(name)",
    "import pickle",
    "from marshal import loads",
    "from os import system",
    "os.system('ls')",
    "os.execv(path, words)",
    "yaml.load(text, Loader=yaml.Loader)",
    "yaml.unsafe_load(text)",
    "subprocess.run('ls', shell=True)",
    "subprocess.Popen(command)",
    "subprocess.getoutput('ls')",
    "np.load(path)",
    "np.load(path, allow_pickle=True)",
    "importlib.import_module(name)",
    "spec.loader.exec_module(module)",
)


def test_the_scan_sees_each_danger() -> None:
    assert [text for text in DANGEROUS if not dangers(ast.walk(ast.parse(text)))] == []


def test_yaml_is_composed_and_never_constructed() -> None:
    calls = {
        ast.unparse(node.func)
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("yaml.")
    }
    assert calls == {"yaml.compose"}


# Names of files that a shell, a compiler or a terminal would obey.
NAMES = (
    "a;touch hit;.c",
    "$(touch hit).c",
    "`touch hit`.c",
    "a|touch hit.c",
    "-o hit.c",
    "a b'c\"d.c",
    "a\ntouch hit\n.c",
    "a*b?[c].c",
    "\x1b[31mred\x1b[0m.c",
    "@hit.c",
    "é漢\u202e.c",
)
LOOP = "for (int i = 0; i < n; i++)"
GOOD = function(
    region(f"{LOOP} a[i] = b[i];"), "int n, double *restrict a, const double *restrict b"
)


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_file_name_is_only_a_name(name: str) -> None:
    Path(name).write_text(GOOD)
    done = annotune("emit", f"./{name}", "-o", "out")
    assert done.code == 0, done.err
    made = {path.name for path in Path("out").iterdir()}
    stem = name.removesuffix(".c")
    own = {stem + end for end in (".cu", "_acc.c", "_cuda.c", "_omp.c")}
    assert made == own | {"annotune_runtime.h", "annotune_runtime.cu"}
    for path in Path("out").glob("*_omp.c"):
        built = subprocess.run(
            ["gcc", "-fsyntax-only", "-fopenmp", "-Wall", "-Werror", f"./{path}"],
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert built.returncode == 0, built.stderr
    assert sorted(path.name for path in Path().iterdir()) == sorted({name, "out"})


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_file_name_is_only_a_name_in_a_run(name: str) -> None:
    Path(name).write_text(GOOD)
    options = ("--target", "openmp", "--budget", "1", "--time", "9s", "-o", "out")
    done = annotune("run", f"./{name}", *options)
    assert done.code == 0, done.err
    assert sorted(path.name for path in Path().iterdir()) == sorted({name, "out"})


@pytest.mark.parametrize("name", ["\x1b[31mred.c", "a\nb.c", "\u202egnp.c", "bad\udcff.c"])
def test_a_report_shows_a_name_and_never_obeys_it(name: str) -> None:
    shown = Diagnostic("AT601", f"cannot read '{name}'", Span(name, 1, 1), name).render("")
    assert not set("\x1b\u202e\udcff") & set(shown)
    assert shown.split("\n")[0].endswith("[AT601]") or name == "a\nb.c"


def test_a_line_of_the_source_cannot_steer_the_terminal() -> None:
    Path("user.c").write_text(function(region(f"{LOOP} a[i] = /* \x1b[2J\x07 */ update(i);")))
    done = annotune("check", "user.c")
    assert done.code == 1
    assert "update" in done.err
    assert not set("\x1b\x07") & set(done.err)


@pytest.mark.parametrize("text", ["*/ int evil; /*", "a\nb", "*/*/", "/*/ x", "\x1b", "\udcff"])
def test_nothing_ends_the_comment_of_a_generated_file(text: str) -> None:
    comment = Provenance("1.0", text, (text, f"  {text}")).comment()
    assert comment.startswith("/*\n")
    assert comment.endswith("\n */\n")
    inside = comment[2:-4]
    assert "*/" not in inside
    assert "/*" not in inside
    assert len(comment.split("\n")) == 6


def test_a_path_is_one_c_string() -> None:
    assert quoted('a"b\\c\nd.c') == '"a\\"b\\\\c\\012d.c"'
    assert printable("\x9b31m") == "\ufffd31m"
    assert in_comment("a*/b") == "a* /b"


SIDE = "file: user.c\nregions:\n  - function: f\n    loop: i\n"
USER = "void f(int n, double *restrict a)\n{\n  for (int i = 0; i < n; i++) a[i] = 1;\n}\n"
ATTACKS = {
    "tag": SIDE + "    input_params: !!python/object/apply:os.system ['touch hit']\n",
    "tag of a scalar": SIDE + "    input_params:\n      n: !!python/name:os.system\n",
    "new object": SIDE + "    search: !!python/object/new:subprocess.Popen [['touch', 'hit']]\n",
    "expression": SIDE + "    input_params:\n      n: __import__('os').system('touch hit')\n",
    "import": SIDE + "    input_params:\n      n: \"__import__('os')\"\n",
    "other file": SIDE.replace("user.c", "../../etc/passwd"),
    "absolute file": SIDE.replace("user.c", "/etc/passwd"),
    "bomb": "a: &a [x]\n" + "".join(
        f"{chr(98 + k)}: &{chr(98 + k)} [{', '.join(['*' + chr(97 + k)] * 9)}]\n" for k in range(20)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_sidecar_is_refused(name: str) -> None:
    Path("user.c").write_text(USER)
    Path("side.yaml").write_text(ATTACKS[name])
    done = annotune("check", "user.c", "--annotation", "side.yaml")
    assert done.code == 1
    assert "passwd:" not in done.err + done.out
    assert sorted(path.name for path in Path().iterdir()) == ["side.yaml", "user.c"]


@pytest.mark.parametrize(
    "value",
    [
        "__import__('os').system('touch hit')",
        "(lambda: 1)()",
        "().__class__.__bases__[0]",
        "open('hit', 'w')",
        "[c for c in ().__class__]",
        "'%c' % 99999999999",
        "9**9**9**9",
        "'a' * 10**12",
        "f'{1}'",
    ],
)
def test_an_expression_never_runs_code(value: str) -> None:
    opener = f"/*@ begin PerfTuning (def input_params {{ param n = {value}; }}) @*/"
    Path("user.c").write_text(function(f"  {opener}\n  {LOOP} a[i] = b[i];\n  {CLOSE}"))
    done = annotune("check", "user.c")
    assert done.code == 1
    assert not Path("hit").exists()


REFUSED_FLAGS = (
    *("-fplugin=./evil.so", "-fplugin-arg-x-y", "-specs=evil.specs", "-B.", "-B/tmp/evil"),
    *("-wrapper sh,-c,id", "@file", "-o user.c", "-include /etc/passwd", "-imacros x"),
    *(
        "-Wl,-rpath,/tmp",
        "-Wa,-x",
        "-Wp,-MD,hit",
        "-Xlinker -x",
        "-dumpdir /tmp/",
        "-save-temps",
    ),
    *("-fdump-tree-all", "-fprofile-use=/tmp/x", "-MF hit", "-x assembler", "evil.o", "; id"),
    *(
        "$(id)",
        "`id`",
        "| id",
        "&& id",
        "-Xcompiler -o,hit",
        "--compiler-bindir /tmp",
        "-ccbin sh",
    ),
    *("-fuse-ld=/tmp/ld", "--options-file x", "-run", "-DX='a b'", "-DX=$(id)", "-fsanitize=x"),
)


def test_a_flag_of_an_annotation_reaches_a_compiler_only_from_the_list() -> None:
    found = {flag: flags_of(f"gcc -O3 {flag}") for flag in REFUSED_FLAGS}
    assert {flag for flag, one in found.items() if not {*one.host, *one.nvcc} <= {"-O3"}} == set()


@pytest.mark.parametrize("flag", ["-O2", "-march=native", "-ffast-math", "-DN=4", "-std=c99"])
def test_a_harmless_flag_passes(flag: str) -> None:
    assert flags_of(f"gcc {flag}").host == (flag,)


def test_results_of_a_stranger_bring_no_file_and_no_script(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "secret.c").write_text("int secret;\n")
    (folder / "link.c").symlink_to(tmp_path / "secret.c")
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    value = {
        "schema": 1, "annotune": evil, "source": evil, "device": evil, "regions": [],
        "tools": {evil: evil}, "files": ["../secret.c", "/etc/passwd", "link.c", evil],
        "warnings": [evil], "commands": {"openmp": [evil]},
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(value))
    done = annotune("report", folder, "--html", tmp_path / "page.html")
    assert done.code == 0, done.err
    page = (tmp_path / "page.html").read_text()
    assert "int secret" not in page
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("<script") == 1


def test_c_text_in_a_report_is_escaped(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    evil = '/* </pre><script>alert(1)</script> */ char *s = "<b onload=x>";\n#define <i>\n'
    (folder / "x.c").write_text(evil)
    value = {
        "schema": 1, "annotune": "1", "source": "x.c", "device": "", "regions": [],
        "tools": {}, "files": ["x.c"], "commands": {}, "warnings": [],
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(value))
    assert annotune("report", folder, "--html", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "<b onload" not in page
    assert "<i>" not in page


def test_a_link_in_the_place_of_an_output_is_not_followed() -> None:
    Path("user.c").write_text(GOOD)
    Path("out").mkdir()
    Path("victim.c").write_text("int mine;\n")
    Path("out/user_omp.c").symlink_to("../victim.c")
    done = annotune("emit", "user.c", "--target", "openmp", "-o", "out")
    assert "[AT603]" in done.err
    assert Path("victim.c").read_text() == "int mine;\n"


def test_an_annotation_in_the_text_has_no_way_to_another_file() -> None:
    Path("user.c").write_text(
        function(
            "  /*@ begin PerfTuning (\n    import spec ../../../etc/passwd;\n  ) @*/\n"
            f"  {LOOP} a[i] = b[i];\n  {CLOSE}"
        )
    )
    done = annotune("check", "user.c")
    assert done.code == 1
    assert "root:" not in done.err + done.out


def test_the_smallest_annotation_still_works() -> None:
    Path("user.c").write_text(function(f"  {OPEN}\n  {LOOP} a[i] = b[i];\n  {CLOSE}"))
    assert annotune("check", "user.c").code == 0
