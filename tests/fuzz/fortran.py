"""Random Fortran 77 through f2c: labels, steps, running indices, COMMON, complex numbers, extrema.

A routine is drawn line by line, translated, and run as random functions are (`functions`): each
call goes to an instrumented original first, which tells whether C defines it and what it touches.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from legacy_corpus import FOLDER, annotated, without_head

from .choices import Choices, Seeded
from .functions.calls import STYLES
from .functions.source import Call, Entry, Fill, Slot, Source

INTEGERS = ("n", "m", "k", "incx", "incy", "lda", "ldb")
REALS = ("al", "be")
ARRAYS = {"x": "double", "y": "double", "a": "double", "b": "double", "iv": "int"}
ARRAYS |= {"cx": "double complex", "cy": "double complex", "out": "double"}
TUNED = {"n": 12, "m": 9, "k": 7, "incx": 1, "incy": 2, "lda": 14, "ldb": 13}
COMMON_LENGTH = 40
WIDTH = 72
_LIBRARY = {
    "pow_dd": "double pow_dd(doublereal *a, doublereal *b) { return pow(*a, *b); }",
    "pow_di": "double pow_di(doublereal *a, integer *n)\n"
    "{ double r = 1; integer k = *n < 0 ? -*n : *n; while (k-- > 0) r *= *a; "
    "return *n < 0 ? 1 / r : r; }",
    "d_sign": "double d_sign(doublereal *a, doublereal *b)\n"
    "{ double x = *a >= 0 ? *a : -*a; return *b >= 0 ? x : -x; }",
    "d_imag": "double d_imag(doublecomplex *z) { return z->i; }",
    "d_cnjg": "void d_cnjg(doublecomplex *r, doublecomplex *z)\n"
    "{ double i = z->i; r->r = z->r; r->i = -i; }",
    "z_abs": "double z_abs(doublecomplex *z) { return hypot(z->r, z->i); }",
}
Lines = list[str]


@dataclass
class _Routine:
    """What is known while a routine is drawn: labels, loops around, and what is running."""

    choose: Choices
    label: int = 0
    around: list[tuple[str, int]] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    has_common: bool = False
    has_complex: bool = False
    has_integers: bool = False

    def fresh_label(self) -> int:
        self.label += 10
        return self.label

    # Values ----------------------------------------------------------------------------------

    def index(self) -> str:
        """Return a subscript of one dimension."""
        names = [name for name, _ in self.around]
        if not names:
            return self.choose.pick(("1", "N", "2"))
        one, other = self.choose.pick(names), self.choose.pick(names)
        plain = (one, one, one, f"{one}+1", f"{one}-1", f"{other}")
        odd = (f"{one}+{other}", f"2*{one}", f"N+1-{one}", f"{one}+({other}-1)*M", f"{one}+K")
        if self.running and self.choose.chance(45):
            return self.choose.pick(self.running)
        return self.choose.pick(plain if self.choose.chance(75) else odd)

    def element(self) -> str:
        """Return an element of a real array."""
        kind = self.choose.pick(("x", "y", "x", "y", "a", "b", "p"))
        if kind == "p" and self.has_common:
            return f"P({self.index()})"
        names = [name for name, _ in self.around] or ["1"]
        if kind in "ab":
            first = self.choose.pick(names)
            second = self.choose.pick(names)
            return f"{kind.upper()}({first},{second})" if self.choose.chance(80) else self.odd(kind)
        return f"{self.choose.pick('XY')}({self.index()})"

    def odd(self, array: str) -> str:
        return f"{array.upper()}({self.index()},{self.choose.pick(('1', '2', 'K'))})"

    def atom(self) -> str:
        return self.choose.pick(
            (
                *(self.element(), self.element(), self.element()),
                *("AL", "BE", "T", "2.0D0", "0.5D0", "1.0D0"),
                f"DBLE({self.around[-1][0]})" if self.around else "3.0D0",
                "CA" if self.has_common else "U",
            )
        )

    def value(self, depth: int = 0) -> str:
        """Return a real expression."""
        choose = self.choose
        if depth > 1 or choose.chance(30):
            return self.atom()
        left, right = self.value(depth + 1), self.value(depth + 1)
        kind = choose.integer(0, 19)
        match kind:
            case 0:
                return f"DMAX1({left},{right})"
            case 1:
                return f"DMIN1({left},{right})"
            case 2:
                return f"DABS({left})"
            case 3:
                return f"DSIGN({left},{right})"
            case 4:
                return f"({left})**2"
            case 5:
                return f"MAX({left},{right},{self.atom()})"
        return f"({left} {choose.pick('+-*+*')} {right})" if depth else f"{left} * {right}"

    def condition(self) -> str:
        choose = self.choose
        names = [name for name, _ in self.around]
        kinds = [
            f"{self.element()}{choose.pick(('.GT.', '.NE.', '.LT.', '.EQ.'))}0.0D0",
            "AL.NE.0.0D0",
        ]
        if names:
            one, other = choose.pick(names), choose.pick(names)
            kinds += [f"MOD({one},2).EQ.0", f"{one}.GT.3", f"{one}.NE.{other}", f"{one}.LT.N"]
        made = choose.pick(kinds)
        if choose.chance(15):
            made = f"({made}) {choose.pick(('.AND.', '.OR.'))} ({choose.pick(kinds)})"
        return made

    # Statements ------------------------------------------------------------------------------

    def statement(self, depth: int) -> Lines:
        choose = self.choose
        kind = choose.integer(0, 99)
        if kind < 30 and depth < 3:
            return self.loop(depth)
        target = self.element()
        if kind < 50:
            return [f"{target} = {target} {choose.pick('+-')} {self.value(1)}"]
        if kind < 60:
            return [f"{target} = {self.value()}"]
        if kind < 68:
            return [f"T = {self.value()}", f"{target} = {target} + T*{self.element()}"]
        if kind < 74:
            return [f"S = S {choose.pick('++-')} {self.value()}"]
        if kind < 80:
            return [f"D = {choose.pick(('MAX', 'DMIN1', 'DMAX1'))}(D,{self.value(1)})"]
        if kind < 86:
            return [f"IF ({self.condition()}) {target} = {self.value(1)}"]
        if kind < 90:
            then = self.statement(3)
            other = ["ELSE", *self.statement(3)] if choose.chance(50) else []
            return [f"IF ({self.condition()}) THEN", *then, *other, "END IF"]
        if kind < 94 and self.around:
            return [f"IF ({self.condition()}) GO TO {self.around[-1][1]}"]
        if kind < 98 and self.has_complex:
            return self.of_complex()
        if not self.has_integers:
            return [f"S = S + {self.value()}"]
        return [f"IV({self.index()}) = {choose.pick((*(n for n, _ in self.around), 'N'))} + M"]

    def of_complex(self) -> Lines:
        one, two = f"CX({self.index()})", f"CY({self.index()})"
        return self.choose.pick(
            (
                [f"{two} = {two} + CT*{one}"],
                [f"CT = {one}", f"{two} = {two} + AL*CT"],
                [f"{two} = DCONJG({one})*{two}"],
                [f"CT = CT + {one}*{two}"],
                [f"S = S + DBLE({one}) - DIMAG({two})"],
                [f"{two} = DCMPLX({self.element()},AL)"],
            )
        )

    def loop(self, depth: int) -> Lines:
        """Return a loop with its label, what runs beside it, and its body."""
        choose = self.choose
        name, label, jump = "IJL"[len(self.around)], self.fresh_label(), self.fresh_label()
        outer = [one for one, _ in self.around]
        bounds = self.bounds(outer)
        before: Lines = []
        behind: Lines = []
        is_running = choose.chance(30)
        index = choose.pick([one for one in ("IX", "IY", "KK") if one not in self.running] or [""])
        if is_running and index:
            before, behind = self.moves(index, bool(outer))
            self.running.append(index)
        self.around.append((name, jump))
        body = [row for _ in range(choose.pick((1, 1, 2, 3))) for row in self.statement(depth + 1)]
        self.around.pop()
        if is_running and index:
            self.running.remove(index)
        if behind and choose.chance(15):
            body, behind = [*behind, *body], []
        # Jumps to the end of an iteration go to what moves there.
        end = [f"@{jump} {behind[0]}" if behind else f"{jump}", f"{label}"]
        return [*before, f"DO {label} {name} = {bounds}", *body, *end]

    def moves(self, index: str, is_inside: bool) -> tuple[Lines, Lines]:
        """Return how a running index starts before a loop, and how it moves in it."""
        choose = self.choose
        step = choose.pick(("INCX", "INCY", "1", "1", "2", "M"))
        start = choose.pick(("1", "1", "0", "K"))
        before = [f"{index} = {start}"]
        if choose.chance(40) and step in ("INCX", "INCY"):
            before.append(f"IF ({step}.LT.0) {index} = 1 - (N-1)*{step}")
        if is_inside and choose.chance(40):
            before = []
        sign = choose.pick(("+", "+", "+", "-"))
        return before, [f"{index} = {index} {sign} {step}"]

    def bounds(self, outer: Sequence[str]) -> str:
        choose = self.choose
        low: list[str] = ["1", "1", "1", "2"]
        high = ["N", "N", "M", "K", "N-1"]
        if outer:
            one = choose.pick(outer)
            low += [one, f"{one}+1", f"MAX0(1,{one}-2)"]
            high += [one, f"{one}-1", f"MIN0(N,{one}+2)"]
        first, last = choose.pick(low), choose.pick(high)
        kind = choose.integer(0, 99)
        if kind < 60:
            return f"{first},{last}"
        if kind < 75:
            return f"{last},{first},-1"
        if kind < 90:
            return f"{first},{last},{choose.pick(('2', '3', '4'))}"
        return f"{first},{last},{choose.pick(('INCX', 'INCY', '-INCX'))}"

    def unrolled(self) -> Lines:
        """Return a loop by fours with its clean-up."""
        end, rest = self.fresh_label(), self.fresh_label()
        value = self.choose.pick(("Y({0}) = Y({0}) + AL*X({0})", "S = S + X({0})*Y({0})"))
        rows = ["MR = MOD(N,4)", f"DO {rest} I = 1,MR", "  " + value.format("I"), f"{rest}"]
        rows += [f"DO {end} I = MR + 1,N,4", "  " + value.format("I")]
        rows += ["  " + value.format(f"I+{k}") for k in (1, 2, 3)]
        return [*rows, f"{end}"]


def drawn(choose: Choices, name: str) -> tuple[str, bool]:
    """Return the Fortran of a random routine, and whether real numbers decide in it."""
    # What is stored in an array of integers may be *n.
    one = _Routine(choose, 0, [], [], choose.chance(35), choose.chance(25), choose.chance(4))
    if choose.chance(10):
        nest = one.unrolled()
    else:
        nest = [row for _ in range(choose.pick((1, 1, 2))) for row in one.loop(0)]
    starts = ["IX = 1", "IY = 1", "KK = 0"]
    if choose.chance(30):
        starts.append("IF (INCX.LT.0) IX = (-N+1)*INCX + 1")
    zeros = ["T = 0.0D0", "U = 2.0D0", "S = 0.0D0", "D = X(1)", "CT = (1.0D0,2.0D0)"]
    zeros += ["I = 0", "J = 0", "L = 0", "MR = 0"]
    inside = choose.integer(0, 3)
    left = ["S", "T", "D", "IX", "IY", "KK", "I", "J", "L", "DBLE(CT)", "DIMAG(CT)"]
    kept = [(k, w) for k, w in enumerate(left, 1) if choose.chance(12 if w in "JL" else 50)]
    sizes = " ".join(f"{k}={v}" for k, v in TUNED.items())
    starts = [*zeros, *starts]
    cut = len(starts) - inside
    command = f"C@ f2c{choose.pick((' -a', ''))}"
    rows = [*_head(name, one), *starts[:cut], f"C@ begin {sizes}", *starts[cut:], *nest, "C@ end"]
    rows += [f"OUT({k}) = {word}" for k, word in kept]
    text = "\n".join([command, *(line for row in rows for line in _fixed(row))])
    return text + "\n      RETURN\n      END\n", True


def _head(name: str, one: _Routine) -> Lines:
    rows = [
        f"SUBROUTINE {name.upper()}({','.join((*INTEGERS, *REALS, *ARRAYS)).upper()})",
        "INTEGER N,M,K,INCX,INCY,LDA,LDB,IV(*),I,J,L,IX,IY,KK,MR",
        "DOUBLE PRECISION AL,BE,X(*),Y(*),A(LDA,*),B(LDB,*),OUT(*),S,T,U,D",
        "COMPLEX*16 CX(*),CY(*),CT",
    ]
    if one.has_common:
        rows += [f"DOUBLE PRECISION P({COMMON_LENGTH}),CA", f"COMMON /C{name.upper()}/ P,CA"]
    return rows


def _fixed(row: str) -> Lines:
    """Return a statement in the columns of Fortran 77, continued where it is long."""
    if row.startswith("C@"):
        return [row]
    if row.strip().isdigit():
        return [f"{row.strip():>5} CONTINUE"]
    if row.startswith("@"):
        label, _, row = row[1:].partition(" ")
    else:
        label = ""
    room = WIDTH - 6
    parts, rest = [], row
    while len(rest) > room:
        cut = max(rest.rfind(mark, 1, room) for mark in ",+-*) ") + 1
        parts.append(rest[:cut])
        rest = rest[cut:]
    first, *others = [*parts, rest]
    return [f"{label:>5} {first}", *(f"     *{part}" for part in others)]


def translated(text: str) -> str:
    """Return what f2c makes of a routine, annotated.

    Raises:
        ValueError: f2c refuses it.
    """
    command = shlex.split(text.partition("\n")[0].removeprefix("C@ "))
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode or "Error" in done.stderr:
        raise ValueError(done.stderr + text)
    return annotated(without_head(done.stdout))


def numbered(seed: int, number: int) -> Source:
    """Return the routine with a number: the same in every run with the seed."""
    choose = Seeded("fortran", seed, number)
    name = f"t{number}"
    fortran, is_discrete = drawn(choose, name)
    return source(name, translated(fortran), calls(choose), is_discrete)


def source(name: str, text: str, made: Sequence[Call], is_discrete: bool = True) -> Source:
    """Return what f2c wrote as a file that is called."""
    slots = [Slot(one, "value", "int") for one in INTEGERS]
    slots += [Slot(one, "value", "double") for one in REALS]
    slots += [Slot(one, "array", type_) for one, type_ in ARRAYS.items()]
    entry = Entry(f"{name}_", tuple(slots), tuple(made))
    has_common = f"c{name}_" in text
    objects = (("P", "double", COMMON_LENGTH), ("CA", "double", 1)) if has_common else ()
    return Source(
        name,
        "#include <math.h>\n" + text,
        _harness(name, text, len(slots), has_common),
        (entry,),
        headers={"f2c.h": (FOLDER / "f2c.h").read_text()},
        objects=objects,
        discrete=is_discrete,
    )


def _harness(name: str, text: str, count: int, has_common: bool) -> str:
    rows = [
        f"#ifndef OWN_{function}\n#define OWN_{function}\n{body}\n#endif"
        for function, body in _LIBRARY.items()
        if re.search(rf"\b{function}\b", text)
    ]
    given = ", ".join(f"p[{k}]" for k in range(count))
    rows += [f"void {name}_call(int function, void **p) {{ {name}_({given}); }}"]
    rows += [f"long {name}_extent(int function, int slot, void **p) {{ return 0; }}"]
    rows += [f"long {name}_row(int function, int slot, void **p) {{ return 1; }}"]
    block = f"c{name}_"
    found = f"k ? (void *)&{block}.ca : (void *)&{block}.p" if has_common else "0"
    rows += [f"void *{name}_object(int k) {{ return {found}; }}", ""]
    return "\n".join(rows)


_SIZES: tuple[Callable[[Choices, str, int], int], ...] = (
    lambda choose, name, tuned: tuned,
    lambda choose, name, tuned: 0 if name in "nmk" else tuned,
    lambda choose, name, tuned: 1,
    lambda choose, name, tuned: choose.pick((2, 3)),
    lambda choose, name, tuned: choose.pick((3, 5, 6, 11, tuned)),
    lambda choose, name, tuned: choose.pick((33, 37)) if name in "nm" else tuned,
    lambda choose, name, tuned: choose.pick((-1, -2, 1, 3)) if name.startswith("inc") else tuned,
    lambda choose, name, tuned: choose.pick((0, 1, -3)) if name != "n" else choose.pick((4, 9)),
)


def calls(choose: Choices) -> tuple[Call, ...]:
    """Return calls at the tuned sizes, at 0, 1 and negative ones, and where rows overlap."""
    made = []
    for size in _SIZES:
        values = {name: str(size(choose, name, tuned)) for name, tuned in TUNED.items()}
        values |= {name: choose.pick(("1.0", "2.0", "0.0", "-1.0")) for name in REALS}
        style = choose.pick(STYLES) if made else "small"
        fills = {name: Fill(style, salt) for salt, name in enumerate(ARRAYS)}
        if made and choose.chance(15):
            fills["y"] = replace(fills["x"], same="x", offset=choose.pick((0, 1, -2, 5)))
        made.append(Call(values, fills))
    return tuple(made)
