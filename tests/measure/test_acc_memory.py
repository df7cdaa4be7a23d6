"""OpenACC's data clauses on a memory of the device's own: the right pass, each mistake stops."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from compilers import here
from cpu_builds import RUNTIME, SHARED, run
from support.python import python
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.measure.check import Checker
from annotune.measure.compile import ACC_MEMORY
from annotune.measure.directives import AccDirective, UnsupportedAcc, directives, with_memory
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.trial import Status
from annotune.space.decision import Base
from annotune.space.space import region_space

LIMIT_S = 300
N, M = 40, 6
HEAD = "(int n, int m, double *restrict a, double *restrict b, int *restrict k)\n"
COUNT = 3 * N * M

# Each calls for every element of every section; the result is in a, b and k.
PROGRAMS = {
    "sections": "for (int i = 0; i < n; i++) b[i + 1] = 2 * a[i + 2];",
    "rows": """double (*u)[m] = (double (*)[m])a, (*v)[m] = (double (*)[m])b;
    @for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) v[i][j] = u[i][j] + u[i + 1][j];""",
    "time_steps": """for (int t = 0; t < m; t++) {
      for (int i = 1; i < n - 1; i++) b[i] = 0.5 * (a[i - 1] + a[i + 1]);
      for (int i = 1; i < n - 1; i++) a[i] = b[i] + k[i];
    }""",
    "a_sum": """double s = 1;
    @for (int i = 0; i < n; i++) s += a[i] * k[i];@ b[0] = s;""",
    "objects": """@for (int i = 0; i < 40; i++) { into[i] = table[i] + k[i]; grown[i] += a[i]; }
    @memcpy(b, into, sizeof into); memcpy(a, grown, sizeof grown);""",
    "indices": "for (int i = 0; i < n; i++) { b[i] = a[i] + table[k[i]]; k[i] += 1; }",
    "the_last_value": """double last = 0;
    @for (int i = 0; i < n; i++) { b[i] += a[i]; last = a[i] * 3; }@ a[0] = last;""",
}
OBJECTS = """#include <string.h>
static const double table[40] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
    20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40};
static double into[40], grown[40];
"""
BEGIN = f"/*@ begin PerfTuning ( def input_params {{ param n = {N}; param m = {M}; }} ) @*/\n"


def user_text(name: str) -> str:
    """Return a function of the user's with its region between the marks, or around all of it."""
    body = PROGRAMS[name]
    before, nest, after = (*body.split("@"), "")[:3] if "@" in body else ("", body, "")
    return f"void {name}{HEAD}{{\n{before}\n{BEGIN}{nest}\n/*@ end @*/\n{after}\n}}\n"


@cache
def emitted(name: str) -> str:
    """Return the function with the first choice for OpenACC in the place of its region."""
    text = OBJECTS + user_text(name)
    source = text_source(text, "user.c")
    base = Base.of(analyse(source.regions[0]))
    target = load_target("openacc")
    listed = target.points(base, region_space(base), load_device("h200")).listing(1).variants()
    code = target.region(next(iter(listed)), False)
    return re.sub(r"/\*@ begin.*?end @\*/", lambda _: code.body, user_text(name), flags=re.DOTALL)


MOVES = {
    "copyin": ("create", "present", ""),
    "copyout": ("create", "copyin", "present", ""),
    "copy": ("copyin", "create", "copyout", "present", ""),
}
SECTION = re.compile(r"(\w+)\[(.*?):(.*?)\](.*)", re.DOTALL)


def changed(directive: AccDirective) -> Iterator[tuple[str, str]]:
    """Yield what is wrong, and a directive with this mistake in one variable of its clauses."""
    reduced = re.findall(r"reduction\(.*?:(\w+)\)", directive.rest)
    for clause in re.finditer(
        r"\b(copyin|copyout|copy)\(((?:[^()]|\([^()]*\))*)\)", directive.text
    ):
        variables = clause[2].split(", ")
        for variable in variables:
            name = variable.split("[")[0]
            if name == "s":  # of the nest again, which only runs for sums of -0.0
                continue
            others = ", ".join(v for v in variables if v != variable)
            rest = f"{clause[1]}({others})" if others else ""
            news = {f"{word or 'nothing'} for {clause[1]}": word for word in MOVES[clause[1]]}
            texts = {k: f"{rest} {word}({variable})" if word else rest for k, word in news.items()}
            if name in reduced:  # which brings it to the host again by itself
                texts = {k: text for k, text in texts.items() if "create" in k or "present" in k}
            if name == "last":  # which every run sets
                del texts["copyout for copy"]
            if found := SECTION.fullmatch(variable):
                _, low, count, inner = found.groups()
                for what, first, size in (
                    ("the first is missing", f"{low} + 1", f"({count}) - 1"),
                    ("the last is missing", low, f"({count}) - 1"),
                    ("shifted", f"{low} + 1", count),
                ):
                    texts[what] = f"{rest} {clause[1]}({name}[{first}:{size}]{inner})"
            for what, text in texts.items():
                yield f"{name}: {what}", directive.text.replace(clause.group(), text, 1)


def is_unnamed(what: str, text: str) -> bool:
    """Return whether a mistake leaves an array without any clause that names it."""
    variable = what.split(":")[0]
    named = rf"present\([^)]*\b{variable}\b"
    return " nothing for " in what and not re.search(named, text)


@cache
def mutants(name: str) -> dict[str, str]:
    """Return a function with each mistake in its clauses, one at a time, by what is wrong."""
    text = emitted(name)
    found: dict[str, str] = {}
    for directive in directives(text):
        for what, wrong in changed(directive):
            pragma = f"#pragma {wrong}{directive.tail}"
            found[what] = text[: directive.start] + pragma + text[directive.end :]
    return found


def compiled(
    folder: Path, name: str, text: str, is_openmp: bool
) -> subprocess.CompletedProcess[str]:
    """Return how the compiler ended that makes a library of OpenACC with its memory."""
    source = folder / f"{name}.c"
    source.write_text(with_memory(text, is_openmp))
    language = "-fopenmp" if is_openmp else "-fopenacc"
    runtime = ("-I", RUNTIME, RUNTIME / "acc_memory.c", "-o", folder / f"{name}.so")
    command = ("gcc", "-O0", *SHARED, language, "-foffload=disable", *ACC_MEMORY, "-shared", source)
    return subprocess.run([*map(str, command), *map(str, runtime)], capture_output=True, text=True)


# Forks for each function, as most of them end their process.
CHILD = """
import ctypes, json, os, sys, tempfile
import numpy as np
library = ctypes.CDLL(sys.argv[1])
N, M, COUNT, names = json.load(sys.stdin)
def call(name):
    a = ((np.arange(COUNT) * 37 % 101 + 1) / 4).astype("f8")
    b = a[::-1].copy()
    k = (np.arange(COUNT) * 11 % 31 + 1).astype("i4")
    getattr(library, name)(N, M, *(x.ctypes.data_as(ctypes.c_void_p) for x in (a, b, k)))
    assert library.annotune_acc_live_sections() == 0
    return (a.tobytes() + b.tobytes() + k.tobytes()).hex()
for name in names:
    with tempfile.TemporaryFile("w+") as words, tempfile.TemporaryFile("w+") as left:
        child = os.fork()
        if not child:
            os.dup2(words.fileno(), 2)
            left.write(call(name))
            left.flush()
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        words.seek(0), left.seek(0)
        print(json.dumps([name, status, words.read(), left.read()]), flush=True)
"""


def outcomes(library: Path, names: Sequence[str]) -> dict[str, tuple[int, str, str]]:
    """Return how each function of a library ends: its status, its words, and what it leaves."""
    done = python(
        CHILD,
        library,
        input=json.dumps([N, M, COUNT, list(names)]),
        timeout=LIMIT_S,
        env={"ACC_DEVICE_TYPE": "host", "OMP_NUM_THREADS": "2"},
    )
    done.check_returncode()
    return {name: (s, w, left) for name, s, w, left in map(json.loads, done.stdout.splitlines())}


def renamed(text: str, name: str, new: str) -> str:
    return text.replace(f"void {name}(", f"void {new}(", 1)


@pytest.mark.alike(2)
@pytest.mark.parametrize("is_openmp", [True, False], ids=["openmp", "openacc"])
def test_of_emitted_texts_the_right_ones_pass_and_each_wrong_clause_is_turned_down(
    is_openmp: bool, tmp_path: Path
) -> None:
    texts: dict[str, str] = {}
    wrong: dict[str, tuple[str, str]] = {}
    for name in PROGRAMS:
        texts[f"original_{name}"] = renamed(user_text(name), name, f"original_{name}")
        texts[name] = emitted(name)
        for number, (what, text) in enumerate(mutants(name).items()):
            if not is_unnamed(what, text):
                wrong[f"{name}_{number}"] = name, what
                texts[f"{name}_{number}"] = renamed(text, name, f"{name}_{number}")
    assert len(wrong) > 60
    made = compiled(tmp_path, "all", OBJECTS + "".join(texts.values()), is_openmp)
    # Some compilers turn down by themselves what is beyond an array whose length they know.
    beyond = r"In function \W(\w+)\W:\n[^\n]* error: high bound"
    for name in re.findall(beyond, made.stderr):
        del wrong[name], texts[name]
    if made.returncode:
        made = compiled(tmp_path, "all", OBJECTS + "".join(texts.values()), is_openmp)
    assert made.returncode == 0, made.stderr
    found = outcomes(tmp_path / "all.so", list(texts))
    for name in PROGRAMS:
        assert found[name] == (0, "", found[f"original_{name}"][2]), found[name][:2]
    passed = [one for key, one in wrong.items() if found[key] == found[f"original_{one[0]}"]]
    assert not passed


def test_an_array_that_no_clause_names_does_not_compile(tmp_path: Path) -> None:
    unnamed: dict[str, str] = {}
    texts = ""
    for name in PROGRAMS:
        dropped = [(w, text) for w, text in mutants(name).items() if is_unnamed(w, text)]
        for number, (what, text) in enumerate(dropped):
            variable = what.split(":")[0]
            if variable != "last":  # a scalar, of which the kernel then has a copy of its own
                unnamed[f"{name}_{number}"] = variable
                texts += renamed(text, name, f"{name}_{number}")
    assert len(unnamed) > 3
    made = compiled(tmp_path, "all", OBJECTS + texts, is_openmp=False)
    words = r"In function \W(\w+)\W:|failed: .*uses the array (\w+), which no data"
    found: dict[str, str] = {}
    for function, variable in re.findall(words, made.stderr):
        name = function or name
        found |= {name: variable} if variable else {}
    assert found == unnamed, made.stderr


RIGHT = {
    "updates": """double half[2] = {0.5, 0};
#pragma acc data copyin(a[0:n]) create(b[0:n]) copy(half)
{
#pragma acc parallel loop default(present)
for (int i = 0; i < n; i++) b[i] = a[i] * half[0];
#pragma acc update host(b[1:n - 1]) self(half[0])
b[1] += 1;
#pragma acc update device(b[1:1])
#pragma acc parallel loop present(b[0:n])
for (int i = 1; i < n; i++) b[i] += 1;
#pragma acc update host(b[1:n - 1])
}
b[0] = a[0] * 0.5;""",
    "enter_and_exit": """
#pragma acc enter data copyin(a[0:n]) create(b[0:n])
#pragma acc parallel loop present(a[0:n], b[0:n])
for (int i = 0; i < n; i++) b[i] = a[i] * 0.5 + (i > 0) + (i == 1);
#pragma acc exit data copyout(b[0:n]) delete(a[0:n])
""",
    # The counts: the outer region has the array, so the inner one copies nothing.
    "the_outer_region_has_it": """
#pragma acc data copy(b[0:n])
{
b[n - 1] = -7;
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n]) if_present
for (int i = 0; i < n; i++) b[i] = a[i] * 0.5 + (i > 0) + (i == 1);
if (b[n - 1] != -7) b = 0;
}""".replace(" if_present", ""),
    "a_pointer_moves": """double *p = a, *q = b;
#pragma acc data copyin(p[0:n]) copyout(q[0:n])
{ double *t = p; p = q; q = t;
#pragma acc parallel loop default(present)
for (int i = 0; i < n; i++) p[i] = q[i] * 0.5 + (i > 0) + (i == 1);
}""",
    "no_bytes": """
#pragma acc parallel loop copyin(a[0:n], k[3:n - n]) copyout(b[0:n])
for (int i = 0; i < n; i++) b[i] = a[i] * 0.5 + (i > 0) + (i == 1);""",
    "kernels": """double last = 0;
#pragma acc kernels copyin(a[:n]) copyout(b[0:n > m ? n : m])
{
#pragma acc loop independent
for (int i = 0; i < n; i++) b[i] = a[i] * 0.5 + (i > 0) + (i == 1);
last = 1;
}
if (last != 1) b[0] = 0;""",
    "a_scalar_keeps_its_value": """double t = 5;
#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n]) private(t)
for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * 0.5 + (i > 0) + (i == 1); }
#pragma acc parallel loop seq
for (int i = 0; i < 1; i++) t = 6;
if (t != 5) b[0] = 0;""",
}
SAME = "for (int i = 0; i < n; i++) b[i] = a[i] * 0.5 + (i > 0) + (i == 1);"
WRONG = {
    "present without data": (f"#pragma acc parallel loop present(a[0:n]) copy(b[0:n])\n{SAME}",
                             "'a' is not present"),
    "the data region ended": ("#pragma acc data copyin(a[0:n])\n{ m = 0; }\n#pragma acc parallel "
                              f"loop present(a[0:n]) copyout(b[0:n])\n{SAME}",
                              "'a' is not present"),
    "update of nothing": ("#pragma acc update host(a[0:n])\n;", "'a' is not present"),
    "a part is there": (f"#pragma acc data copyin(a[0:n / 2])\n{{\n#pragma acc parallel loop "
                        f"copyin(a[0:n]) copyout(b[0:n])\n{SAME}\n}}",
                        "'a' is present in part only: 320 bytes are wanted, and bytes 0 to 160"),
    "read behind": (f"#pragma acc parallel loop copyin(a[0:n - 2]) copyout(b[0:n])\n{SAME}",
                    "used 'a' behind its section, at byte 304 of 304"),
    "written before": (f"#pragma acc parallel loop copyin(a[0:n]) copyout(b[1:n - 1])\n{SAME}",
                       "wrote to 'b' before its section, at byte -8 of 312"),
    "a part of each row": ("double (*r)[m] = (double (*)[m])a;\n#pragma acc parallel loop "
                           "copy(r[0:n][0:m - 1])\nfor (int i = 0; i < n; i++) r[i][0] = 1;",
                           "'r' takes 40 bytes from byte 0 on of rows of 48"),
    "a negative length": (f"#pragma acc parallel loop copyin(a[0:m - 7]) copyout(b[0:n])\n{SAME}",
                          "'a' has -8 bytes"),
    "nothing there": ("double *none = 0;\n#pragma acc parallel loop copy(none[0:n])\n"
                      "for (int i = 0; i < n; i++) none[i] = 1;", "'none' is NULL"),
    "the update is missing": ("#pragma acc data copyin(a[0:n]) copyout(b[0:n])\n{\na[1] = 9;\n"
                              f"#pragma acc parallel loop default(present)\n{SAME}\n}}", ""),
    "the host is too early": (f"#pragma acc data copyin(a[0:n]) copy(b[0:n])\n{{\n#pragma acc "
                              f"parallel loop default(present)\n{SAME}\nb[2] += 1;\n}}\nb[3] += 0;",
                              ""),
    "what nobody wrote": ("#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n + 1])\n" + SAME,
                          ""),
}  # fmt: skip
# What is right beside the two that end with another value instead of words.
OTHERWISE = {
    "the update is missing": f"a[1] = 9;\n{SAME}",
    "the host is too early": f"{SAME}\nb[2] += 1;",
    "what nobody wrote": SAME,
}


@pytest.mark.parametrize("is_openmp", [False, True], ids=["openacc", "openmp"])
def test_directives_written_by_hand(is_openmp: bool, tmp_path: Path) -> None:
    named = {f"wrong_{number}": one for number, one in enumerate(WRONG)}
    bodies = {"same": SAME, **RIGHT, **{key: WRONG[one][0] for key, one in named.items()}}
    bodies |= {f"beside_{key}": OTHERWISE[one] for key, one in named.items() if one in OTHERWISE}
    functions = "".join(f"void {key}{HEAD}{{\n{body}\n}}\n" for key, body in bodies.items())
    made = compiled(tmp_path, "all", functions.replace("double *restrict", "double *"), is_openmp)
    assert made.returncode == 0, made.stderr
    found = outcomes(tmp_path / "all.so", list(bodies))
    for name in RIGHT:
        assert found[name] == found["same"], (name, found[name][:2])
    for key, one in named.items():
        status, words, left = found[key]
        if one in OTHERWISE:
            assert (status, words) == (0, ""), (one, words)
            assert left != found[f"beside_{key}"][2], one
        else:
            assert status != 0, one
            assert WRONG[one][1] in words


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("name", "clause", "moving"),
    [("openacc", "present(", "copy"), ("openmp_target", "map(alloc:", "map(to")],
)
def test_data_that_stay_on_the_device_are_there_only_if_the_caller_brings_them(
    name: str, clause: str, moving: str, tmp_path: Path
) -> None:
    source = text_source(OBJECTS + user_text("time_steps"), "user.c")
    base = Base.of(analyse(source.regions[0]))
    target = load_target(name)
    listed = target.points(base, region_space(base), load_device("h200")).listing(1).variants()
    code = target.region(next(iter(listed)), True)
    assert clause in code.body
    assert moving not in code.body
    checker = Checker(Oracle(source, base.analysis, here(), tmp_path))
    plan = CheckPlan(({"n": N, "m": M}, {"n": 7, "m": 1}), races=True)
    program = Program(name, target.kind, code)
    found = checker.check(program, replace(plan, resident=True))
    assert (found.status, found.reason) == (Status.CORRECT, "")
    alone = checker.check(program, plan)
    assert alone.status is Status.RUNTIME
    assert "is not present on the device" in alone.reason


def test_every_line_keeps_its_number() -> None:
    for name in PROGRAMS:
        text = emitted(name)
        made = with_memory(text)
        assert made.count("\n") == text.count("\n")
        for old, new in zip(text.splitlines(), made.splitlines(), strict=True):
            inside = old.rstrip("\\").strip()
            assert "pragma" in old or not inside or inside in new or not new.strip(), (old, new)


@pytest.mark.parametrize(
    "acc",
    [
        "parallel loop if(n > 0) copy(a[0:n])",
        "parallel loop deviceptr(a)",
        "parallel loop copy(s.a[0:n])",
        "data copy(*a)",
        "enter data attach(a)",
    ],
)
def test_refuses_what_it_would_not_execute(acc: str) -> None:
    with pytest.raises(UnsupportedAcc):
        with_memory(f"void f(int n, double *a)\n{{\n#pragma acc {acc}\nfor (;;) a[0] = 1;\n}}\n")


def test_a_directive_at_the_end_is_refused() -> None:
    with pytest.raises(UnsupportedAcc, match="stands before no statement"):
        with_memory("#pragma acc parallel loop\n")


def test_the_runtime_has_no_warnings(tmp_path: Path) -> None:
    flags = ("-Wall", "-Wextra", "-Wconversion", "-Werror", "-O2")
    run("gcc", *flags, "-c", RUNTIME / "acc_memory.c", "-o", tmp_path / "memory.o")
