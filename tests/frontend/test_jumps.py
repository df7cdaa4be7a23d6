"""Jumps forward inside an iteration become branches that run the same statements in order."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from c_runs import differing, function
from pycparser import c_ast, c_generator, c_parser
from source_text import CLOSE, OPEN, load_text
from support.nest_text import print_nest

from annotune.diagnostics import AnnotuneError
from annotune.frontend.read.jumps import structure
from annotune.frontend.read.syntax import walk_tree

LOOP = "for (i = 0; i < n; i++)"
# A loop's body, and its nest.
READ = {
    "continue": ("if (b[i] < 0) continue; a[i] = 1;", "(b[i] < 0) == 0 ? a[i] = 1"),
    "goto": ("if (p[i]) goto L10; a[i] = 1; L10: ;", "p[i] == 0 ? a[i] = 1"),
    "else": ("if (p[i]) goto A; a[i] = 1; goto B; A: a[i] = 2; B: ;", "a[i] = p[i] != 0 ? 2 : 1"),
    "a label alone": ("again: a[i] = 1;", "a[i] = 1"),
    "at the end": ("a[i] = 1; continue;", "a[i] = 1"),
}


def nest(body: str) -> str:
    """Return the nest of a loop over `body`, a guard before its statement."""
    head = "void f(int n, double *a, double *b, int *p)\n{\n  int i;"
    text = f"{head}\n  {OPEN}\n  {LOOP} {{ {body} }}\n"
    (region,) = load_text(f"{text}  {CLOSE}\n}}\n").regions
    return print_nest(region.nest)


@pytest.mark.parametrize("name", READ)
def test_a_jump_is_a_branch(name: str) -> None:
    body, expected = READ[name]
    test, _, statement = expected.rpartition(" ? ") if "? 2" not in expected else ("", "", expected)
    guard = f" if {test}" if test else ""
    assert nest(body).splitlines()[1].strip() == f"S0: {statement}{guard}"


BODIES = (
    f"{LOOP} {{ if (a[i] < 0) continue; a[i] = 2 * a[i]; if (b[i] != b[i]) goto L5; c[i] = a[i]; "
    "L5: f[i] = i; }",
    f"{LOOP} {{ for (j = 0; j < m; j++) {{ if (q[j] > 2) continue; a[i] += c[j]; }} "
    "if (q[i] < 0) continue; for (j = 0; j < m; j++) b[j] = i; }",
    f"{LOOP} {{ if (q[i] < 0) goto L1; if (q[i] == 0) goto L2; a[i] = 3; goto L4; "
    "L1: a[i] = 1; goto L4; L2: a[i] = 2; L4: c[i] = a[i]; }",
    f"{LOOP} {{ if (q[i] > 3) {{ q[i] = -1; goto L9; }} q[i] = 1; a[i] = q[i]; L9: b[i] = q[i]; }}",
    f"{LOOP} {{ if (q[i] > 3) continue; double t = a[i]; int w = i; b[w] = t; }}",
    f"{LOOP} {{ if (q[i] > 3) goto L1; a[i] = 1; if (q[i] < 1) continue; b[i] = 2; L1: L2: ; }}",
)


def test_regions_keep_their_meaning(tmp_path: Path) -> None:
    texts = [function(body) for body in BODIES]
    texts += [function(body, "k = 0;", "a[100] = i; a[101] = j;") for body in BODIES[:1]]
    assert differing(texts, tmp_path) == []


class Jumps:
    """Random bodies of a loop: calls of `say`, branches, labels ahead and jumps to them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def block(self, labels: tuple[str, ...], depth: int) -> str:
        """Return statements that may jump to `labels`, to the end, or to labels of their own."""
        length = self.random.randint(1, 5)
        own = tuple(f"L{self.fresh()}" for _ in range(self.random.randint(0, 2)))
        places = sorted(self.random.randint(1, length) for _ in own)
        text = ""
        for place in range(length + 1):
            here = [own[k] for k, at in enumerate(places) if at == place]
            text += "".join(f"{label}: " for label in here)
            ahead = tuple(own[k] for k, at in enumerate(places) if at > place)
            text += ";" if place == length else self.statement((*labels, *ahead), depth)
        return text

    def statement(self, labels: tuple[str, ...], depth: int) -> str:
        kind = self.random.random()
        if kind > 0.9 and depth:
            return self.switch(labels, depth)
        if kind < 0.4 or depth == 0:
            jump = self.random.random() < 0.4
            return self.jump(labels) if jump else f"say({self.fresh()});"
        then = f"{{ {self.block(labels, depth - 1)} }}" if kind < 0.7 else self.jump(labels)
        other = f" else {{ {self.block(labels, depth - 1)} }}" if self.random.random() < 0.3 else ""
        return f"if (ask({self.fresh()})) {then}{other} "

    def switch(self, labels: tuple[str, ...], depth: int) -> str:
        """Return a switch: labels of one statement, what falls through, breaks within branches."""
        values = self.random.sample(range(5), self.random.randint(1, 4))
        names = [f"case {value}" for value in values]
        if self.random.random() < 0.7:
            names.insert(self.random.randint(0, len(names)), "default")
        text = ""
        for name in names:
            text += f"{name}: "
            if self.random.random() < 0.2:
                continue
            text += self.statement(labels, depth - 1)
            if self.random.random() < 0.2:
                text += f"if (ask({self.fresh()})) break; say({self.fresh()}); "
            text += "break; " if self.random.random() < 0.8 else ""
        return f"switch (bits >> {self.fresh() % 40} & 3) {{ {text} ; }} "

    def jump(self, labels: tuple[str, ...]) -> str:
        label = self.random.choice(("", *labels))
        return f"goto {label};" if label else "continue;"

    def fresh(self) -> int:
        self.count += 1
        return self.count


MAIN = """
#include <stdio.h>
static unsigned long bits; static unsigned heard;
static void say(int k) { heard = heard * 31 + k; }
static int ask(int k) { heard = heard * 17 + k; return bits >> (k * 7 % 41) & 1; }
"""
DRAW = """int main(void) { unsigned one;
for (int k = 0; k < 200; k++) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
"""


@pytest.mark.parametrize("first", [0])
def test_random_bodies_run_the_same_statements(first: int, tmp_path: Path) -> None:
    text, calls, structured = MAIN, "", 0
    switches = branches = 0
    for seed in range(first, first + 300):
        body = f"{{ for (int i = 0; i < 3; i++) {{ {Jumps(seed).block((), 3)} }} }}"
        tree = c_parser.CParser().parse(f"void f(void) {body}")
        structure(tree.ext[0].body, ())
        jumps = (c_ast.Goto, c_ast.Continue, c_ast.Switch)
        switches += "switch" in body
        left = any(isinstance(node, c_ast.Switch) for node in walk_tree(tree))
        branches += "switch" in body and not left
        structured += not any(isinstance(node, jumps) for node in walk_tree(tree))
        text += f"static void was_{seed}(void) {body}\n"
        text += f"static void is_{seed}(void) {c_generator.CGenerator().visit(tree.ext[0].body)}\n"
        calls += f"    heard = 0; was_{seed}(); one = heard; heard = 0; is_{seed}(); "
        calls += f'if (one != heard) printf("{seed}\\n");\n'
    assert structured > 120
    assert branches > switches / 5 > 20
    text += f"{DRAW}{calls}}} }}\n"
    source, program = tmp_path / "jumps.c", tmp_path / "jumps"
    source.write_text(text)
    subprocess.run(["gcc", "-w", "-O0", source, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == ""


INTO = "/*@ begin PerfTuning (def input_params { param n = 9; }) @*/"
NEST = "for (int i = 0; i < n; i++) a[i] += 1;"
JUMPS_INTO = (
    f"if (n) goto in; {INTO} {NEST} in: {NEST} /*@ end @*/",
    f"if (n) goto in; {INTO} in: {NEST} /*@ end @*/",
    f"{INTO} in: {NEST} /*@ end @*/ if (n-- > 3) goto in;",
    f"for (int k = 0; k < 3; k++) {{ if (k == n) goto in; {INTO} {NEST} in: ; /*@ end @*/ }}",
    f"{INTO} {{ {NEST} in: {NEST} }} /*@ end @*/ if (n-- > 3) goto in;",
    f"if (n) goto in; {INTO} for (int i = 0; i < n; i++) {{ a[i] = 1; in: a[0] = 2; }} /*@ end @*/",
)


@pytest.mark.parametrize("body", JUMPS_INTO)
def test_a_jump_into_a_region_is_refused(body: str) -> None:
    with pytest.raises(AnnotuneError) as refused:
        load_text(f"void f(int n, double *restrict a) {{ {body} }}\n")
    (problem,) = refused.value.diagnostics
    assert (problem.code, problem.message) == (
        "AT131",
        "'goto in' jumps into this region from outside of it",
    )


def test_a_label_right_before_a_region_stays() -> None:
    text = f"void f(int n, double *a) {{ in: {INTO} {NEST} /*@ end @*/ if (n-- > 3) goto in; }}\n"
    assert len(load_text(text).regions) == 1
