"""Tells how many random mistakes in annotune's own code a selection of its tests finds.

    python benchmarks/test_mutations.py --seed 1 --count 30 --json all.json
    python benchmarks/test_mutations.py --again all.json tests/ir --json ir.json
    python benchmarks/test_mutations.py --compare all.json ir.json

The selection is run once as it is, to see that it passes and which lines it runs, then with each
mutation of such a line alone, up to the first failure, in a copy of the checkout and at nice 19.
What only child processes run counts as not run. With --untraced mutations are drawn from all
lines, and the selection may be run by several processes: -- -n 2 --dist worksteal. The words after
the options are given to pytest. Where --checkout names another checkout, the mutations are drawn
from its code. Two selections run other lines: to compare them give the second one the mutations of
the first with --again.

    python benchmarks/test_mutations.py --covering --seed 1 --count 40 --jobs 16 --within 570 \\
        --survivors "-m '' --hypothesis-profile=thorough" --limit 120 --json all.json

With --covering the selection is run once by as many processes as there are jobs, to see which test
runs which lines; then, with each mutation, those that run its line, the quickest first. What they
let pass is given to the --survivors: the files of these tests, run with other words of pytest's,
in parts that each take so many seconds at most. After the seconds of --within the fates that are
known by then are told; the file of --json holds them at any time.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import covering_tests
from covering_tests import COVERED
from mutated_runs import Mutation, Trials, copy_of, fails, mutated, parts_of, scored

HERE = Path(__file__).resolve().parent.parent
# So much longer than the selection takes as it is that a run beyond it hangs.
HANGS_TIMES, HANGS_LEAST_S = 10, 60
LINES_JSON = "lines_run.json"
_PLUGIN = f'''
import json, pathlib, sys, threading
ROOT = str(pathlib.Path(__file__).parent / "annotune") + "/"
RUN = {{}}

def _line(frame, event, argument):
    if event == "line":
        RUN[frame.f_code.co_filename].add(frame.f_lineno)
    return _line

def _call(frame, event, argument):
    if not frame.f_code.co_filename.startswith(ROOT):
        return None
    RUN.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
    return _line

threading.settrace(_call)
sys.settrace(_call)

def pytest_unconfigure():
    sys.settrace(None)
    lines = {{name: sorted(found) for name, found in RUN.items()}}
    pathlib.Path(__file__).with_name("{LINES_JSON}").write_text(json.dumps(lines))
'''
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
# No | becomes another operator: most stand between types.
_CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
}
_DROPPED = (ast.AugAssign, ast.Continue, ast.Raise)
_WITHOUT_VALUE = ("annotation", "returns", "decorator_list", "type_params", "bases", "keywords")


def main(words: Sequence[str]) -> int:
    """Print the fate of each mutation, then the score; return the exit code."""
    given = _parser().parse_args(words)
    if given.compare:
        print(compared(*(json.loads(path.read_text()) for path in given.compare)))
        return 0
    with tempfile.TemporaryDirectory(
        prefix="annotune-mutations-", ignore_cleanup_errors=True
    ) as scratch:
        folder = Path(scratch).resolve()
        copies = [copy_of(given.checkout, folder / str(k)) for k in range(given.jobs)]
        fates = _Fates(given.json)
        (_by_covering if given.covering else _by_all)(copies, given, fates)
    if fates.problem:
        print(f"error: without a mutation: {fates.problem}", file=sys.stderr)
        return 1
    print(scored(fates.known, fates.count))
    return 0


class _Fates:
    """What is known of the mutations, in a file too; the last word about each one counts.

    `count` is how many there are, and `problem` what is wrong without any.
    """

    def __init__(self, file: Path | None) -> None:
        self.known: dict[str, str] = {}
        self.count, self.problem = 0, ""
        self._file = file

    def tell(self, one: Mutation, by: str) -> None:
        self.known[one.name] = by
        print(f"{'caught' if by else 'survived'}: {one.name}: {by}".rstrip(": "), flush=True)
        if self._file:
            aside = self._file.with_name(f"{self._file.name}.new")
            aside.write_text(json.dumps(self.known, indent=1) + "\n")
            aside.replace(self._file)


def _by_all(copies: Sequence[Path], given: argparse.Namespace, fates: _Fates) -> None:
    """Try every mutation by all tests."""
    start, copy = time.monotonic(), copies[0]
    (copy / "lines_run.py").write_text(_PLUGIN)
    words = [*(() if given.untraced else ("-p", "lines_run")), *given.tests]
    fates.problem = fails(copy, words, given.within)
    if fates.problem:
        return
    lines = _all_lines(copy) if given.untraced else json.loads((copy / LINES_JSON).read_text())
    limit_s = HANGS_LEAST_S + HANGS_TIMES * (time.monotonic() - start)
    free: SimpleQueue[Path] = SimpleQueue()
    for each in copies:
        free.put(each)

    def tell_fate(one: Mutation) -> None:
        own = free.get()
        with mutated(own, one):
            by = fails(own, given.tests, limit_s)
        free.put(own)
        fates.tell(one, by)

    wanted = _wanted(copy, lines, given)
    fates.count = len(wanted)
    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(tell_fate, wanted))


def _by_covering(copies: Sequence[Path], given: argparse.Namespace, fates: _Fates) -> None:
    """Try every mutation by the tests that run its line."""
    start, copy = time.monotonic(), copies[0]
    folder = copy.parent / "covered"
    folder.mkdir()
    jobs = ("-n", str(given.jobs), "--dist", "worksteal", "--maxfail", "1000000")
    failed = fails(copy, [*jobs, *given.tests], given.within, {COVERED: str(folder)})
    found = covering_tests.covered(folder)
    if not found.seconds:
        fates.problem = f"no test passes: {failed}"
        return
    took_s = time.monotonic() - start
    print(f"{len(found.seconds)} tests in {took_s:.0f} s", flush=True)
    wanted = _wanted(copy, found.files(), given)
    fates.count = len(wanted)
    parts = {}
    for one in wanted:
        tests = found.tests_of(str(copy / one.path), one.line)
        parts[one] = parts_of(tests, found, given.survivors, given.limit)
    until = start + given.within if given.within else float("inf")
    Trials(copies, until, fates.tell).run(parts)


def _wanted(
    copy: Path, lines: Mapping[str, Sequence[int]], given: argparse.Namespace
) -> list[Mutation]:
    """Return the mutations that are asked for: drawn ones, or those of another result."""
    if given.again:
        return list(_again(copy, json.loads(given.again.read_text())))
    return list(drawn(copy, lines, given.seed, given.count))


def compared(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Return which mutations of both results only one of two suites catches, and the scores."""
    both = [name for name in one if name in other]
    rows = [f"only A catches: {name}" for name in both if one[name] and not other[name]]
    rows += [f"only B catches: {name}" for name in both if other[name] and not one[name]]
    rows += [f"neither catches: {name}" for name in both if not one[name] and not other[name]]
    a, b = (sum(bool(fates[name]) for name in both) for fates in (one, other))
    apart = len(one) + len(other) - 2 * len(both)
    return "\n".join([*rows, f"of {len(both)}: A {a}, B {b}; {apart} are in one result alone"])


def drawn(
    root: Path, lines: Mapping[str, Sequence[int]], seed: int, count: int
) -> Iterator[Mutation]:
    """Yield mutations of lines that were run, every kind as often as any while there are some."""
    by_kind: dict[str, list[Mutation]] = {}
    # What is run of a template is no text of Python's.
    for path, run in sorted((Path(n), run) for n, run in lines.items() if n.endswith(".py")):
        for one in mutations(str(path.relative_to(root)), path.read_text(), frozenset(run)):
            by_kind.setdefault(one.kind, []).append(one)
    choose = random.Random(seed)
    for _ in range(count):
        kinds = sorted(kind for kind in by_kind if by_kind[kind])
        if not kinds:
            return
        left = by_kind[choose.choice(kinds)]
        yield left.pop(choose.randrange(len(left)))


def _again(root: Path, names: Mapping[str, str]) -> Iterator[Mutation]:
    """Yield the mutations of these names, also of lines that were not run."""
    for path in sorted({name.partition(":")[0] for name in names}):
        text = (root / path).read_text()
        by_name = {m.name: m for m in mutations(path, text, frozenset(range(text.count("\n") + 2)))}
        yield from (by_name[name] for name in names if name in by_name)


def mutations(path: str, text: str, run: frozenset[int]) -> Iterator[Mutation]:
    """Yield every mutation of a file's statements that begin in lines `run`."""
    whole, starts = text.encode(), [0]
    for line in whole.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)

    def place(line: int, column: int) -> int:
        return len(whole[: starts[line - 1] + column].decode())

    for node, first in _run(ast.parse(text), 0):
        if first not in run:
            continue
        changes = list(_changed(node))
        if isinstance(node, ast.If | ast.While):
            node, changes = node.test, [("condition", _expression(_negated(node.test)))]
        start = place(node.lineno, node.col_offset)
        end = place(node.end_lineno or 0, node.end_col_offset or 0)
        for kind, changed in changes:
            yield Mutation(path, node.lineno, start, end, kind, changed)


def _run(node: ast.AST, first: int) -> Iterator[tuple[ast.expr | ast.stmt, int]]:
    """Yield what is run, each with its statement's line, but for patterns and f-strings."""
    for name, field in ast.iter_fields(node):
        if name in _WITHOUT_VALUE and not isinstance(node, ast.Call):
            continue
        for child in field if isinstance(field, list) else [field]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.pattern):
                continue
            line = child.lineno if isinstance(child, ast.stmt) else first
            if isinstance(child, ast.expr | ast.stmt):
                yield child, line
            yield from _run(child, line)


def _changed(node: ast.expr | ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield the kinds of mistakes that a node takes, with its text then."""
    match node:
        case ast.Compare(left, [op, *rest], right) if type(op) in _COMPARED:
            other = ast.Compare(left, [_COMPARED[type(op)](), *rest], right)
            yield "comparison", _expression(other)
        case ast.BinOp(left, op, right) if type(op) in _CALCULATED:
            if not isinstance(left, ast.Constant) or not isinstance(left.value, str):
                yield "operator", _expression(ast.BinOp(left, _CALCULATED[type(op)](), right))
        case ast.BoolOp(op, values):
            other_op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "operator", _expression(ast.BoolOp(other_op, values))
        case ast.Constant(bool() as value):
            yield "constant", str(not value)
        case ast.Constant(int() as value):
            yield "constant", f"({value + 1})"
            yield "constant", f"({value - 1})"
        case ast.UnaryOp(ast.Not(), operand):
            yield "not dropped", _expression(operand)
        case ast.IfExp(test, body, orelse):
            yield "condition", _expression(ast.IfExp(_negated(test), body, orelse))
        case ast.Call(function, [first, second, *rest], keywords):
            is_plain = not any(isinstance(e, ast.Starred) for e in (first, second))
            # isinstance turned round fails wherever it is run.
            if is_plain and not (isinstance(function, ast.Name) and function.id == "isinstance"):
                yield "swapped", _expression(ast.Call(function, [second, first, *rest], keywords))
        case ast.Return(ast.expr() as value) if not _is_none(value):
            yield "value dropped", "return None"
        case ast.Expr(value) if not isinstance(value, ast.Constant | ast.Yield | ast.YieldFrom):
            yield "statement dropped", "pass"
        case _ if isinstance(node, _DROPPED):
            yield "statement dropped", "pass"
        case _:
            pass
    yield from _of_conditions(node)


def _of_conditions(node: ast.expr | ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield a comprehension with one of its conditions negated."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        for generator in node.generators:
            for k, test in enumerate(generator.ifs):
                generator.ifs[k] = _negated(test)
                yield "condition", _expression(node)
                generator.ifs[k] = test


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _expression(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def _all_lines(copy: Path) -> dict[str, Sequence[int]]:
    """Return every line of every module, where it is not asked which ones are run."""
    modules = (copy / "annotune").rglob("*.py")
    return {str(path): range(1, path.read_text().count("\n") + 2) for path in modules}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="test_mutations.py", description="see docs/benchmarks.md")
    parser.add_argument("tests", nargs="*", help="given to pytest; nothing for all tests")
    parser.add_argument("--seed", type=int, default=1, help="which mutations are drawn")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument(
        "--untraced", action="store_true", help="draw from all lines, not from those that are run"
    )
    parser.add_argument(
        "--covering", action="store_true", help="try a mutation by the tests that run its line"
    )
    parser.add_argument("--survivors", metavar="WORDS", help="words of pytest's for what is left")
    parser.add_argument("--limit", type=float, metavar="S", help="seconds for a part of these")
    parser.add_argument("--within", type=float, metavar="S", help="seconds for all of it")
    parser.add_argument("--jobs", type=int, default=1, help="mutations that are tried at once")
    parser.add_argument("--checkout", type=Path, default=HERE, help="whose code and tests are run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each fate to FILE")
    parser.add_argument("--again", type=Path, metavar="FILE", help="the mutations of a --json")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"), help="two --json")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
