"""Damaged files for the annotation parser, the sidecar and the C parser.

Whatever stands in a file: `check` accepts it or says why not. It never raises anything else,
takes long, or takes much memory.
"""

from __future__ import annotations

import re
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from support.mistakes import let_through

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError, Severity
from annotune.pipeline import Settings, check, emit

from .choices import Choices, Seeded
from .nests import Options, nest

# A traceback in a region is one, and no refusal.
let_through()

LIMIT_S = 5.0
LIMIT_MIB = 1024
DEEP = 10_000

_TOKEN = re.compile(
    r"/\*@|@\*/|/\*|\*/|//|\w+|\"[^\"\n]*\"|'[^'\n]*'|[-+*/%<>=!&|]=|\+\+|--|&&|\|\||\s+|.", re.S
)
ODD = (
    *(
        "\x00",
        "\x0c",
        "\x0b",
        "\x1a",
        "\r",
        "\ufeff",
        "\u2028",
        "\u00a0",
        "é",
        "变量",
        "\U0001d499",
        "\u202e",
    ),
    *(
        "\ud800",
        "\x7f",
        "`",
        "$",
        "\\",
        "\\\n",
        "??/",
        "%:",
        "@",
        "#",
        "##",
        "\t",
        "{{",
        "}}",
        "%s",
    ),
)
NUMBERS = (
    *("0", "-1", "08", "0x", "0x7fffffff", "2147483648", "9223372036854775808", "1e999", "1e"),
    *("9" * 40, "9" * 5000, "1.5", "1.", ".5", "0b1", "1'000", "1ull", "nan", "inf", "'a'"),
)
WORDS = (
    *("for", "if", "else", "while", "do", "switch", "goto", "return", "break", "int", "double"),
    *("struct", "union", "enum", "typedef", "static", "const", "volatile", "restrict", "void"),
    *("sizeof", "_Generic", "_Pragma", "__attribute__((x))", "asm", "begin", "end", "def", "arg"),
    *(
        "param",
        "let",
        "PerfTuning",
        "CHiLL",
        "Loop",
        "cuda",
        "permute",
        "unroll",
        "range",
        "lambda",
    ),
    *("import os", "__import__('os')", "None", "True", "i", "n", "A", "main", "annotune_f_1"),
)
MARKS = tuple("(){}[];,.:?=<>+-*/%&|!^~\"'")
FULL_ANNOTATION = """\
/*@ begin PerfTuning (
  def build { arg build_command = 'gcc -O2'; }
  def performance_counter { arg repetitions = 10; }
  def performance_params {
    param TX[] = ['i', 'j'];
    param UF[] = [1, 2, 4];
    constraint small = (UF <= 4);
  }
  def input_params { param n[] = [16]; param m = 8; }
  def search { arg algorithm = 'Exhaustive'; arg time_limit = 10; }
) @*/
/*@ begin CHiLL (
  cuda(0, block={'i'}, thread={TX})
  unroll(0, "j", UF)
) @*/
"""
LOOPS = """\
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] += 2.0 * x[j];
"""
SIDECAR = """\
file: f.c
regions:
  - function: f
    loop: i
    occurrence: 1
    input_params: {n: 16, m: 8}
    performance_params: {UF: [1, 2, 4]}
    constraints: {small: UF <= 4}
    recipe: |
      unroll(0, "j", UF)
"""


@dataclass(frozen=True)
class Case:
    """A file to be checked, with a sidecar or without: as bytes, since any may come."""

    name: str
    source: bytes
    sidecar: bytes | None = None


@dataclass(frozen=True)
class Verdict:
    """How a case ended: ``accepted``, ``refused``, or what is wrong."""

    outcome: str
    codes: tuple[str, ...] = ()
    words: str = ""
    time_s: float = 0.0

    @property
    def is_wrong(self) -> bool:
        return self.outcome not in ("accepted", "refused")


def case(choose: Choices, name: str) -> Case:
    """Return a random damaged file."""
    kind = choose.pick(("c", "c", "c", "annotation", "annotation", "annotation", "sidecar"))
    if kind == "sidecar":
        plain = "void f(int n, int m, double A[n][m], double *x)\n{\n" + LOOPS + "}\n"
        return Case(name, plain.encode(), _bytes(choose, damaged(choose, SIDECAR)))
    if kind == "annotation":
        opening = FULL_ANNOTATION
        if choose.chance(20):
            opening = "/*@ begin PerfTuning (def input_params { param n = 16; param m = 8; }) @*/\n"
        text = damaged(choose, opening)
        ends = "/*@ end @*/\n" * max(1, opening.count("begin"))
        head = "void f(int n, int m, double A[n][m], double *x)\n{\n"
        return Case(name, _bytes(choose, head + text + LOOPS + ends + "}\n"))
    text = nest(choose, Options(), "f").text()
    return Case(name, _bytes(choose, damaged(choose, text)))


def _bytes(choose: Choices, text: str) -> bytes:
    made = text.encode("utf-8", "surrogatepass")
    if choose.chance(4):
        at = choose.integer(0, len(made))
        made = made[:at] + choose.pick((b"\xff\xfe", b"\x80", b"\xc3", b"\x00")) + made[at:]
    if choose.chance(3):
        made = made.replace(b"\n", choose.pick((b"\r\n", b"\r", b"")))
    return made


def damaged(choose: Choices, text: str) -> str:
    """Return a text with one to a few things wrong in it."""
    for _ in range(choose.pick((1, 1, 1, 2, 2, 3, 5))):
        text = choose.pick(_DAMAGES)(choose, text)
    return text


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _at(choose: Choices, tokens: list[str]) -> int:
    return choose.integer(0, max(0, len(tokens) - 1))


def _delete(choose: Choices, text: str) -> str:
    tokens = _tokens(text)
    at = _at(choose, tokens)
    del tokens[at : at + choose.pick((1, 1, 2, 8))]
    return "".join(tokens)


def _repeat(choose: Choices, text: str) -> str:
    tokens = _tokens(text)
    at = _at(choose, tokens)
    part = tokens[at : at + choose.pick((1, 2, 10, 40))]
    tokens[at:at] = part * choose.pick((1, 1, 2, 50))
    return "".join(tokens)


def _swap(choose: Choices, text: str) -> str:
    tokens = _tokens(text)
    if len(tokens) < 2:
        return text
    a, b = _at(choose, tokens), _at(choose, tokens)
    tokens[a], tokens[b] = tokens[b], tokens[a]
    return "".join(tokens)


def _insert(choose: Choices, text: str) -> str:
    tokens = _tokens(text)
    word = choose.pick(choose.pick((ODD, NUMBERS, WORDS, MARKS)))
    tokens.insert(_at(choose, tokens), choose.pick((" {} ", "{}")).format(word))
    return "".join(tokens)


def _replace(choose: Choices, text: str) -> str:
    tokens = _tokens(text)
    wanted = choose.pick((r"\d+", r"[A-Za-z_]\w*", r"[^\w\s]+"))
    places = [k for k, t in enumerate(tokens) if re.fullmatch(wanted, t)]
    if not places:
        return text
    tokens[choose.pick(places)] = choose.pick(choose.pick((ODD, NUMBERS, WORDS, MARKS)))
    return "".join(tokens)


def _cut(choose: Choices, text: str) -> str:
    at = choose.integer(0, len(text))
    return text[:at] if choose.chance(50) else text[at:]


def _open(choose: Choices, text: str) -> str:
    """Insert the beginning of something that never ends."""
    tokens = _tokens(text)
    opener = choose.pick(
        ("/*", '"', "'", "/*@", "/*@ begin PerfTuning (", "(", "{", "[", "#if 1\n")
    )
    tokens.insert(_at(choose, tokens), opener)
    return "".join(tokens)


def _deepen(choose: Choices, text: str) -> str:
    """Nest something very deeply, its ends there or not."""
    tokens = _tokens(text)
    opener, closer = choose.pick(
        (
            *(("(", ")"), ("{", "}"), ("[", "]"), ("-", ""), ("!", ""), ("*", ""), ("((int)", ")")),
            *(("x[", "]"), ("if (1) ", ""), ("for(;;){", "}"), ("1+", ""), ("a ? ", " : 0")),
            *(("1 + (", ")"), ("not ", ""), ("/*@ begin PerfTuning () @*/", "/*@ end @*/")),
            *(("f(", ")"), ("a.", ""), ("struct {", "}"), ("- ", ""), ("{a: ", "}"), ("&a ", "")),
        )
    )
    count = choose.pick((30, 300, DEEP))
    middle = choose.pick(("", "1", "i"))
    end = closer * (count if choose.chance(70) else count // 2)
    tokens.insert(_at(choose, tokens), opener * count + middle + end)
    return "".join(tokens)


def _lengthen(choose: Choices, text: str) -> str:
    """Insert one very long line, name, string or run of blanks, or very many tokens."""
    tokens = _tokens(text)
    long = ("a", " ", "9", "\t", "\\\n", "é", "\n", "//")
    dense = ("x+", '"a" ', ";", "a,", "*", "a ", "1 ", "(", "i=0;")
    unit, most = choose.pick(((choose.pick(long), 1_000_000), (choose.pick(dense), 200_000)))
    count = choose.pick((1_000, 100_000, most))
    tokens.insert(_at(choose, tokens), unit * (count // len(unit)))
    return "".join(tokens)


def _bomb(choose: Choices, text: str) -> str:
    """Put macros before the text that grow, call each other, or are broken."""
    count = choose.pick((5, 30, 200))
    doubled = [f"#define b{k} b{k - 1} + b{k - 1}" for k in range(1, count)]
    called = [f"#define c{k}(x) c{k - 1}(x) + c{k - 1}(x)" for k in range(1, count)]
    bomb = choose.pick(
        (
            ["#define b0 1", *doubled],
            ["#define c0(x) x", *called],
            ["#define b0 b1", "#define b1 b0"],
            ["#define n n + 1", "#define i i"],
            ["#define b0(x) b0(x x)"],
            ["#define", "#define 1", "#define b0(", "#define b0(,)", "#undef"],
            ["#define b0 \\"] * 20,
            ["#if (" * 200, "#endif"],
            ["#if " + "1 ? " * 500 + "1", "#endif"],
            ["#if 1/0", "#elif", "#else", "#else", "#endif", "#endif"],
            ["#include <" + "a" * 5000 + ">", '#include "f.c"', "#include", "#include b0"],
            [f"#line {choose.pick(NUMBERS)}", "#pragma " + "x" * 9999, "#error no"],
            ["#define b0(x, ...) #x ## __VA_ARGS__", "#define n b0(a, b)"],
        )
    )
    last = [line.split()[1].split("(")[0] for line in bomb if re.match(r"#define \w", line)]
    tokens = _tokens(text)
    if last and choose.chance(80):
        use = choose.pick((last[-1], f"{last[-1]}(1)", f"{last[-1]}({last[-1]}(1))"))
        tokens.insert(_at(choose, tokens), f" {use} ")
    return "\n".join([*bomb, "".join(tokens)])


_DAMAGES: tuple[Callable[[Choices, str], str], ...] = (
    *(_delete, _delete, _repeat, _swap, _swap, _insert, _insert, _insert, _replace, _replace),
    *(_replace, _cut, _open, _open, _deepen, _lengthen, _bomb),
)


# Judging ----------------------------------------------------------------------------------


class TookTooLong(BaseException):
    """A case used more processor time than it may: no handler of `Exception` hides it."""


@contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    """Interrupt what takes longer than `limit_s` of processor time."""

    def stop(signum: int, frame: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _forget_peak() -> None:
    """Let the kernel count the most memory from here on, where it can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_mib() -> float:
    """Return the most memory that this process had since `_forget_peak`."""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
        if found:
            return int(found[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def judge(one: Case, folder: Path, limit_s: float = LIMIT_S) -> Verdict:
    """Return how `check`, and `emit` of what it accepts, end on a case."""
    source = folder / "f.c"
    source.write_bytes(one.source)
    sidecar = folder / "f.yaml" if one.sidecar is not None else None
    if sidecar is not None:
        sidecar.write_bytes(one.sidecar or b"")
    _forget_peak()
    before_mib = _peak_mib()
    start = time.process_time()
    try:
        with _limited(limit_s):
            verdict = _checked(Settings(source, sidecar=sidecar))
    except TookTooLong:
        where = traceback.format_exc().splitlines()[-12:]
        verdict = Verdict("too long", words="\n".join(where))
    except Exception:
        verdict = Verdict("traceback", words=traceback.format_exc()[-3000:])
    time_s = time.process_time() - start
    # What this process held before, such as many tests' results, is not the case's.
    grown_mib = _peak_mib() - before_mib
    if grown_mib > LIMIT_MIB and not verdict.is_wrong:
        verdict = Verdict("too much memory", words=f"{grown_mib:.0f} MiB")
    return Verdict(verdict.outcome, verdict.codes, verdict.words, time_s)


def _checked(settings: Settings) -> Verdict:
    try:
        found = check(settings)
        wrong = [d for d in found.diagnostics if d.severity == Severity.ERROR]
        for diagnostic in found.diagnostics:
            diagnostic.render(found.text)
        if not wrong:
            emit(settings, [load_target(name) for name in settings.targets])
    except AnnotuneError as refusal:
        return Verdict("refused", _codes(refusal.diagnostics))
    return Verdict("refused", _codes(wrong)) if wrong else Verdict("accepted")


def _codes(diagnostics: object) -> tuple[str, ...]:
    assert isinstance(diagnostics, list | tuple)
    return tuple(sorted({d.code for d in diagnostics}))


def numbered(seed: int, number: int) -> Case:
    """Return the case with a number of the long driver's run with a seed."""
    return case(Seeded("garbage", seed, number), f"garbage-{seed}-{number}")
