"""Random functions whose regions stand wherever statements do, among host code and its names.

What varies is not the nest but its place: bodies with and without braces, labels, `switch`, what a
region declares at its top and hides, what is read after it, and blocks of Data whose arrays the
host reaches through all kinds of pointers. All numbers are small and exact, so that results are
compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..choices import Choices, Seeded
from .calls import OUT_COUNT
from .source import Call, Entry, Fill, Slot, Source
from .vocabulary import GENERATED, MACRO_VALUES

MARGIN = 4
"""Elements of a vector beyond n."""
LARGEST = 40
"""More than any n of a call and its margin."""
TUNED = {"n": 12, "m": 9}
SIZES = ((12, 9), (0, 3), (1, 1), (2, 5), (5, 0), (33, 7), (12, 2))
DEEPEST = 3
ITERATORS = ("i", "j", "k")
SCALARS = ("s", "t", "u", "w")
Lines = list[str]


@dataclass(frozen=True)
class Vector:
    """An array of `extent` elements, as C, whose name the regions use.

    `length` is that of the part that a block of Data names. One with `rows` has n times m elements.
    """

    name: str
    extent: str
    length: str
    type: str = "double"
    rows: bool = False


@dataclass
class Names:
    """The names of one block of C: what each is, the innermost last."""

    blocks: list[dict[str, str]] = field(default_factory=list)

    def kind(self, name: str) -> str:
        """Return what a name is here: ``real``, ``int``, ``array``, ``pair``, ``other`` or none."""
        return next((b[name] for b in reversed(self.blocks) if name in b), "")

    def of_kind(self, *kinds: str) -> list[str]:
        known = dict.fromkeys(name for block in self.blocks for name in block)
        return [name for name in known if self.kind(name) in kinds]

    def is_free(self, name: str) -> bool:
        """Return whether the innermost block may declare a name."""
        return name not in self.blocks[-1]


class Positions:
    """Draws one file: a function, those that it calls, and what stands around them."""

    def __init__(self, choose: Choices, name: str) -> None:
        self.choose, self.name = choose, name
        self.names = Names([{}, {}])
        self.macros: list[str] = []
        self.head: Lines = []
        self.helpers: dict[str, Lines] = {}
        self.vectors: list[Vector] = []
        self.out = 0
        self.label = 0
        # Variables of the function that count the rounds of a host loop around.
        self.counting: list[str] = []
        # Pointers that do not begin their vector, and where they stand.
        self.views: dict[str, tuple[Vector, str]] = {}
        self.keeps = choose.chance(55)
        self.features: set[str] = set()

    # The file --------------------------------------------------------------------------------

    def source(self) -> Source:
        """Return the file with its calls."""
        parameters = self._parameters()
        self._surroundings()
        begun = self._locals()
        body = self._body()
        body = [*begun, *body, *self._left()]
        head = f"void {self.name}({', '.join(parameters)})"
        helpers = [line for text in self.helpers.values() for line in text]
        lines = ["#include <string.h>", *self.head, *helpers, head, "{"]
        text = "\n".join([*lines, *("  " + line for line in body), "}", ""])
        slots = (
            *(Slot(name, "value", "int") for name in ("n", "m", "flag")),
            *(Slot(name, "array", type_) for name, type_ in ARRAYS.items()),
        )
        return Source(
            self.name,
            text,
            self._harness(len(slots)),
            (Entry(self.name, slots, _calls(self.choose)),),
            objects=((f"{self.name}_g", "double", LARGEST), (f"{self.name}_t", "double", 1)),
            features=tuple(sorted(self.features)),
            sums=False,
            discrete=True,
        )

    def _parameters(self) -> Lines:
        restrict = self.choose.pick(("restrict ", "restrict ", ""))
        self.names.blocks[1] |= dict.fromkeys(("n", "m", "flag"), "size")
        self.names.blocks[1] |= dict.fromkeys((*ARRAYS, "out_"), "pointer")
        for name in ("a", "b", "c"):
            self.vectors.append(Vector(name, f"n + {MARGIN}", "n + 1"))
        self.vectors.append(Vector("iv", f"n + {MARGIN}", "n + 1", "int"))
        self.vectors.append(Vector("d", "n * m", "n * m", rows=True))
        given = [f"{type_} *{restrict}{name}" for name, type_ in ARRAYS.items()]
        return ["int n", "int m", "int flag", *given, "double *out_"]

    def _surroundings(self) -> None:
        """Draw what stands before the function: objects, and macros early in the file."""
        choose, name = self.choose, self.name
        static = choose.pick(("static ", ""))
        self.head += [f"{static}double {name}_g[{LARGEST}];", f"static double {name}_t;"]
        self.names.blocks[0] |= {f"{name}_g": "pointer", f"{name}_t": "real"}
        if choose.chance(40):
            self.vectors.append(Vector(f"{name}_g", str(LARGEST), "n + 1"))
        if choose.chance(25):
            self._define("LENGTH", choose.pick(("n", "(n)", "(n + 0)")))
        if choose.chance(25):
            self._define("AT(x, i)", "x[(i)]")
        if choose.chance(20):
            self._define("EACH(v, e)", "for (int v = 0; v < (e); v++)")
        if choose.chance(10):
            word = choose.pick([w for w in GENERATED if w.isidentifier()])
            if not self.names.kind(word) and word not in C_WORDS:
                self._define(word, choose.pick(MACRO_VALUES))
                self.names.blocks[0][word] = "macro"

    def _define(self, head: str, value: str) -> None:
        self.head.append(f"#define {head} {value}")
        self.macros.append(head.partition("(")[0])

    def _locals(self) -> Lines:
        """Draw the declarations that begin the function, all with a value."""
        choose = self.choose
        lines = []
        for name in (*SCALARS, *ITERATORS):
            if choose.chance(45):
                lines.append(self._declared(name, choose.pick(("real", "int", "int"))))
        if choose.chance(30):
            lines += [f"double loc[{LARGEST}];"]
            lines += [f"for (int z_ = 0; z_ < {LARGEST}; z_++) loc[z_] = z_ % 3;"]
            self.names.blocks[1]["loc"] = "pointer"
            self.vectors.append(Vector("loc", str(LARGEST), "n + 1"))
        if choose.chance(35):
            self._neighbours(lines)
        for vector in list(self.vectors):
            if choose.chance(15) and not vector.rows:
                lines += self._view(vector)
        return lines

    def _neighbours(self, lines: Lines) -> None:
        """Add two arrays that are next to each other in memory, the halves of one."""
        lines += ["double *lo = e_, *hi = e_ + n;"]
        self.names.blocks[1] |= {"lo": "pointer", "hi": "pointer"}
        self.vectors += [Vector("lo", "n", "n"), Vector("hi", "n", "n")]
        self.features.add("neighbours")

    def _view(self, vector: Vector) -> Lines:
        """Add a pointer to a vector, before its first element, in its middle, or behind it."""
        name = f"{vector.name}_p".removeprefix(f"{self.name}_")
        if not self.names.is_free(name):
            return []
        self.names.blocks[1][name] = "other"
        start = self.choose.pick(("- 1", "- 1", "- m", "+ 1", "+ n"))
        self.views[name] = (vector, start)
        self.features.add("view")
        return [f"{vector.type} *{name} = {vector.name} {start};"]

    def _body(self) -> Lines:
        """Draw the statements of the function, some of them in a block of Data."""
        if not self.keeps:
            return self._items(0, self.choose.pick((2, 3, 4)), least=1)
        arrays = [v for v in self.vectors if self.choose.chance(75)] or self.vectors[:1]
        enter = ", ".join(f"{v.name}[{v.length}]" for v in arrays)
        leave = ", ".join(v.name for v in arrays)
        head = f'/*@ begin Data ( enter = "{enter}"; exit = "{leave}" ) @*/'
        before = self._items(0, self.choose.pick((0, 0, 1)))
        rounds = self.choose.pick((0, 0, 1, 2))
        count = self.choose.pick((3, 4, 5))
        if rounds:
            inside = self._block(lambda: self._items(1, count, least=1))
            inside = [f"for (int r_ = 0; r_ < {rounds}; r_++) {{", *_deeper(inside), "}"]
        else:
            inside = self._items(0, count, least=1)
        self.features.add("Data")
        return [*before, head, *inside, "/*@ end @*/"]

    def _left(self) -> Lines:
        """Return what stores all scalars that are in scope at the function's end."""
        names = [n for n in (*SCALARS, *ITERATORS) if self.names.blocks[1].get(n)]
        return [self._stored(name) for name in names if self.choose.chance(60)]

    def _stored(self, name: str) -> str:
        """Return a statement that keeps a value of a name for the comparison."""
        self.out = self.out % (OUT_COUNT - 2) + 1
        kind = self.names.kind(name)
        value = {"array": f"{name}[1]", "pair": f"{name}.y"}.get(kind, name)
        value = f"sizeof({name})" if kind == "type" else value
        return f"out_[{self.out}] += {value};"

    # Names -----------------------------------------------------------------------------------

    def _declared(self, name: str, kind: str) -> str:
        """Return a declaration with a value, and remember its name."""
        self.names.blocks[-1][name] = kind
        value = self.choose.pick(("0", "1", "2", "-1", "7"))
        match kind:
            case "real":
                return f"double {name} = {value};"
            case "int":
                return f"int {name} = {value};"
            case "array":
                return f"double {name}[3] = {{ {value}, 2, 3 }};"
            case "pair":
                return f"struct {{ double x, y; }} {name} = {{ {value}, 5 }};"
            case "type":
                return f"typedef {self.choose.pick(('float', 'double', 'short'))} {name};"
        return f"enum {{ {name} = {self.choose.pick((3, 4))} }};"

    def _declarations(self) -> Lines:
        """Draw declarations for the top of a region or a block, in its innermost scope."""
        choose, lines = self.choose, []
        for name in (*SCALARS, "w3"):
            if self.names.is_free(name) and choose.chance(22):
                kinds = (*("real",) * 6, *("int",) * 4, "type", "type", "array", "pair", "enum")
                lines.append(self._declared(name, choose.pick(kinds)))
        free = [n for n in (*SCALARS, *ITERATORS) if self.names.is_free(n)]
        if len(free) > 1 and choose.chance(15):
            first, second = free[0], free[1]
            self.names.blocks[-1] |= {first: "int", second: "int"}
            lines.append(f"int {first} = 2, {second} = {first} + 1;")
        return lines

    def _block(self, draw: Callable[[], Lines]) -> Lines:
        """Return lines that are drawn inside a scope of their own."""
        self.names.blocks.append({})
        lines = draw()
        self.names.blocks.pop()
        return lines

    # Statements ------------------------------------------------------------------------------

    def _items(self, depth: int, count: int, least: int = 0) -> Lines:
        """Draw what stands in a block; at least so many regions among it."""
        lines: Lines = []
        for number in range(count):
            if number < least or self.choose.chance(35):
                lines += self._region_item()
            else:
                lines += self._item(depth)
        return lines

    def _item(self, depth: int) -> Lines:
        """Draw a statement or declaration of a block that is no region itself."""
        kind = self.choose.integer(0, 99)
        if kind < 45 or depth >= DEEPEST:
            return self._host()
        if kind < 52:
            return self._declarations()
        if kind < 60:
            return self._labelled(depth)
        return self._control(depth)

    def _control(self, depth: int, is_alone: bool = False) -> Lines:
        """Draw a statement around others, each with braces or without.

        One that `is_alone` may not have a declaration before it.
        """
        choose = self.choose
        kind = choose.pick(("if", "else", "else", "for", "while", "do", "block", "switch", "chain"))
        if is_alone and kind in ("while", "do"):
            kind = "for"
        self.label += 1
        v = f"r{self.label}_"
        test = choose.pick(("flag", "flag > 0", "!flag", "n > m", "flag == 2", "m"))
        match kind:
            case "if":
                return [f"if ({test})", *self._body_of(depth)]
            case "else":
                return [f"if ({test})", *self._body_of(depth), "else", *self._body_of(depth)]
            case "chain":
                inner = [f"else if ({choose.pick(('n > 1', 'flag == 1'))})", *self._body_of(depth)]
                return [
                    f"if ({test})",
                    *self._body_of(depth),
                    *inner,
                    "else",
                    *self._body_of(depth),
                ]
            case "for":
                return self._for(depth, v)
            case "while":
                self.features.add("while")
                return [f"int {v} = 2;", f"while ({v}-- > 0)", *self._body_of(depth)]
            case "do":
                self.features.add("do")
                return [f"int {v} = 2;", "do", *self._body_of(depth), f"while (--{v} > 0);"]
            case "switch":
                return self._switch(depth)
        return self._block(lambda: ["{", *_deeper(self._items(depth + 1, 2)), "}"])

    def _for(self, depth: int, variable: str) -> Lines:
        """Draw a host loop, at times with a variable that the region inside hides."""
        choose = self.choose
        name = choose.pick((variable, *ITERATORS))
        last = choose.pick(("2", "flag", "m / 4"))
        if self.names.kind(name) == "int" and name not in self.counting and choose.chance(40):
            self.counting.append(name)
            lines = [f"for ({name} = 0; {name} < {last}; {name}++)", *self._body_of(depth)]
            self.counting.pop()
            return lines
        self.names.blocks.append({name: "counter"})
        lines = [f"for (int {name} = 0; {name} < {last}; {name}++)", *self._body_of(depth)]
        self.names.blocks.pop()
        return lines

    def _body_of(self, depth: int) -> Lines:
        """Draw the body of a statement: a region without braces, a block, or what ends in one."""
        choose = self.choose
        kind = choose.integer(0, 99)
        if kind < 45:
            self.features.add("without braces")
            return _deeper(self._block(self._region_statement))
        if kind < 75 or depth >= DEEPEST:
            count = choose.pick((1, 2))
            return self._block(
                lambda: [
                    "{",
                    *_deeper([*self._declarations(), *self._items(depth + 1, count)]),
                    "}",
                ]
            )
        if kind < 88:
            # An `else` behind it may come to belong to another `if`: it is C that says to which.
            return _deeper(self._block(lambda: self._control(depth + 1, is_alone=True)))
        return _deeper(self._block(self._host_statement))

    def _switch(self, depth: int) -> Lines:
        """Draw a switch whose labels stand right before regions."""
        choose = self.choose
        self.features.add("switch")
        lines = [f"switch ({choose.pick(('flag', 'm & 1', 'n > 2'))}) {{", "case 0:"]
        lines += _deeper(self._block(self._region_statement))
        lines += ["  break;"] if choose.chance(60) else []
        lines += [choose.pick(("case 1:", "case 1: case 3:"))]
        lines += _deeper(self._block(self._labelled_region))
        lines += ["  break;"] if choose.chance(60) else []
        lines += ["default:", *_deeper(self._body_of(depth))]
        return [*lines, "}"]

    def _labelled(self, depth: int) -> Lines:
        """Draw a label before a region, and a jump to it."""
        self.label += 1
        name = f"here{self.label}_"
        self.features.add("label")
        return [f"if (flag == 2) goto {name};", *self._host(), f"{name}:", *self._labelled_region()]

    def _labelled_region(self) -> Lines:
        """Draw a region behind a label: its first statement is no declaration."""
        if self.choose.chance(50):
            return self._region_statement()
        return self._marked([*self._nest(), *self._nest()])

    # Regions ---------------------------------------------------------------------------------

    def _marked(self, lines: Lines) -> Lines:
        sizes = " ".join(f"param {name} = {value};" for name, value in TUNED.items())
        head = f"/*@ begin PerfTuning ( def input_params {{ {sizes} }} ) @*/"
        return [head, *lines, "/*@ end @*/"]

    def _region_statement(self) -> Lines:
        """Draw a region that is one statement, a loop or a block."""
        if self.choose.chance(80):
            return self._marked(self._nest())
        inner = self._block(lambda: [*self._declarations(), *self._nest()])
        return self._marked(["{", *_deeper(inner), "}"])

    def _region_item(self) -> Lines:
        """Draw a region that stands in a block, which what it declares outlives."""
        lines = self._declarations() if self.choose.chance(45) else []
        before = [n for n in self.names.of_kind("real", "int") if n in " ".join(lines)]
        for _ in range(self.choose.pick((1, 1, 2))):
            lines += self._nest()
        region = self._marked(lines)
        after = [n for n in before if self.choose.chance(50)]
        kinds = self.names.of_kind("array", "pair", "enum", "type")
        after += [n for n in kinds if self.choose.chance(25)]
        return [*region, *(self._stored(name) for name in after)]

    def _head(self, variable: str, last: str) -> tuple[str, str]:
        """Return the head of a loop, and the name that its variable has."""
        choose = self.choose
        name = choose.pick((variable, *ITERATORS[:2])) if choose.chance(30) else variable
        is_own = choose.chance(55)
        if not is_own and self.names.kind(name) == "int" and name not in self.counting:
            return f"for ({name} = 0; {name} < {last}; {name}++)", name
        if "EACH" in self.macros and choose.chance(60):
            return f"EACH({name}, {last})", name
        return f"for (int {name} = 0; {name} < {last}; {name}++)", name

    def _nest(self) -> Lines:
        """Draw one loop nest over arrays and scalars in scope."""
        choose = self.choose
        matrices = [v for v in self.vectors if v.rows]
        if matrices and choose.chance(20):
            outer, i = self._head("i", "n")
            inner, j = self._head("j", "m")
            if i == j:
                inner, j = f"for (int {i}2 = 0; {i}2 < m; {i}2++)", f"{i}2"
            at = f"{matrices[0].name}[{i} * m + {j}]"
            return [outer, f"  {inner}", f"    {at} = {self._value(at)};"]
        last = "LENGTH" if "LENGTH" in self.macros and choose.chance(50) else "n"
        head, i = self._head("i", last)
        target = choose.pick([v for v in self.vectors if not v.rows])
        other = choose.pick([v for v in self.vectors if v.type == target.type and not v.rows])
        return [head, *_deeper(self._loop_body(i, target, other))]

    def _loop_body(self, i: str, target: Vector, other: Vector) -> Lines:
        """Draw what a loop does: one statement, or a block with names of its own."""
        choose = self.choose
        at, from_ = self._element(target, i), self._element(other, i)
        kind = choose.integer(0, 99)
        sums = [n for n in self.names.of_kind("real", "int") if n != i and n not in self.counting]
        if kind < 25 and sums:
            return [f"{choose.pick(sums)} += {at};"]
        if kind < 35 and target.type == "double":
            hidden = choose.pick(SCALARS)
            lines = [f"double {hidden} = {from_};", f"{at} = {hidden} + {hidden};"]
            return ["{", *_deeper(lines), "}"]
        if kind < 45:
            return [f"if ({from_} > 0)", f"  {at} = {self._value(from_)};"]
        if kind < 58 and target.type == "double" and other.extent.isdigit():
            return [f"{at} += {self._element(other, f'iv[{i}] > 0')};"]
        if kind < 65 and target is not other and target.extent != "n":
            return [f"{self._element(target, f'{i} + 1')} = {self._value(from_)};"]
        return [f"{at} = {self._value(from_)};"]

    def _element(self, vector: Vector, at: str) -> str:
        if "AT" in self.macros and self.choose.chance(50):
            return f"AT({vector.name}, {at})"
        return f"{vector.name}[{at}]"

    def _value(self, read: str) -> str:
        """Return an expression of one element and what is in scope."""
        choose = self.choose
        scalars = [n for n in self.names.of_kind("real", "int", "enum") if n not in self.counting]
        other = choose.pick([*scalars, "1", "2", "flag", "3"])
        arrays = self.names.of_kind("array")
        if arrays and choose.chance(20):
            other = f"{choose.pick(arrays)}[2]"
        return choose.pick((f"{read} + {other}", f"{read} - {other}", f"{other} - {read}", other))

    # Host code -------------------------------------------------------------------------------

    def _host(self) -> Lines:
        """Draw host code that touches arrays or scalars, as items of a block."""
        if self.choose.chance(60):
            return self._host_statement()
        scalars = [n for n in self.names.of_kind("real", "int") if n not in self.counting]
        if scalars and self.choose.chance(50):
            name = self.choose.pick(scalars)
            return [self.choose.pick((f"{name} += 1;", f"{name} = {name} + flag;"))]
        names = self.names.of_kind("real", "int", "counter", "array", "pair", "enum", "type")
        return [self._stored(self.choose.pick(names))] if names else self._host_statement()

    def _host_statement(self) -> Lines:
        """Draw one statement of host code that reaches an array."""
        choose = self.choose
        if self.views and choose.chance(40):
            name = choose.pick(list(self.views))
            return self._through_view(name, *self.views[name])
        vector = choose.pick(self.vectors)
        if vector.rows:
            return self._call("columns", f"&m, &n, {vector.name}")
        if vector.type == "int":
            return [f"if (n > 0) {vector.name}[n - 1] += 1;"]
        x = vector.name
        self.out = self.out % (OUT_COUNT - 2) + 1
        simple = (
            [f"if (n > 0) {x}[0] += 1;"],
            [f"if (n > 0) out_[{self.out}] += {x}[n - 1];"],
            [f"for (int z_ = 0; z_ < n; z_++) out_[{self.out}] += {x}[z_];"],
            [f"if (n > 1) memcpy({x} + 1, {x}, sizeof {x}[0]);"],
        )
        inline = (
            f"double *q_ = {x} - 1; for (int z_ = 1; z_ <= n; z_++) q_[z_] += 1;",
            f"double *q_ = {x} + n; for (int z_ = 1; z_ <= n; z_++) q_[-z_] += z_;",
            f"double *q_ = {x}; q_ -= m; for (int z_ = 0; z_ < n; z_++) q_[z_ + m] -= 1;",
            f"struct {{ double *v; }} q_ = {{ {x} - 1 }}; if (n > 0) q_.v[1] += 2;",
        )
        kind = choose.integer(0, 99)
        if kind < 40:
            return choose.pick(simple)
        if kind < 60:
            return ["{", *_deeper([f"{part};" for part in _split(choose.pick(inline))]), "}"]
        called = (
            ("scaled", f"&n, &flag, {x}"),
            ("shifted", f"{x} - 1, n"),
            ("added", f"&n, {x}"),
            ("middle", f"{x} + n / 2, n - n / 2"),
        )
        return self._call(*choose.pick(called))

    def _through_view(self, name: str, vector: Vector, start: str) -> Lines:
        """Return a statement that reaches a vector by a pointer that does not begin it."""
        first = {"- 1": "1", "- m": "m", "+ 1": "0", "+ n": "-1"}[start]
        return self.choose.pick(
            (
                [f"if (n > 0) {name}[{first}] += 1;"],
                [f"if (n > 0) out_[{OUT_COUNT - 1}] += {name}[{first}];"],
                [f"for (int z_ = 0; z_ < n / 2; z_++) {name}[{first}] += z_;"],
            )
        )

    def _call(self, word: str, arguments: str) -> Lines:
        """Return the call of a function that is written into the file once."""
        region = word in ("scaled", "columns") and self.choose.chance(50)
        function = f"{self.name}_{word}{'_region' if region else ''}"
        body = HELPERS[word].replace("NAME", function)
        if region:
            sizes = " ".join(f"param {name} = {value};" for name, value in HELPER_SIZES.items())
            begin = f"/*@ begin PerfTuning ( def input_params {{ {sizes} }} ) @*/"
            body = body.replace("/* begin */", begin).replace("/* end */", "/*@ end @*/")
        self.helpers.setdefault(function, body.strip("\n").split("\n"))
        self.features.add("f2c" if word in ("scaled", "columns", "added") else "called")
        return [f"{function}({arguments});"]

    # What calls it ---------------------------------------------------------------------------

    def _harness(self, count: int) -> str:
        name = self.name
        given = ", ".join(
            ["*(int *)p[0], *(int *)p[1], *(int *)p[2]"] + [f"p[{k}]" for k in range(3, count)]
        )
        lines = [f"#undef {macro}" for macro in self.macros]
        lines += [f"void {name}_call(int function, void **p) {{ {name}({given}, p[{count}]); }}"]
        lines += [f"long {name}_extent(int function, int slot, void **p)", "{"]
        lines += ["  int n = *(int *)p[0], m = *(int *)p[1];"]
        extents = {"d": "n * m", "e_": "2 * n"}
        for k, array in enumerate(ARRAYS, 3):
            extent = extents.get(array, f"n + {MARGIN}")
            lines.append(f"  if (slot == {k}) return {extent};")
        lines += ["  return 0;", "}"]
        lines += [f"long {name}_row(int function, int slot, void **p) {{ return 1; }}"]
        objects = f"k ? (void *)&{name}_t : (void *){name}_g"
        return "\n".join([*lines, f"void *{name}_object(int k) {{ return {objects}; }}", ""])


ARRAYS = {"a": "double", "b": "double", "c": "double", "iv": "int", "d": "double", "e_": "double"}
C_WORDS = frozenset({"a", "b", "c", "d", "index", "first", "last", "min", "max", "fmax", "fabs"})
"""What stands in the text, or in headers that it includes."""
HELPER_SIZES = {"i__1": 12, "m": 9, "n": 12}
HELPERS = {
    "scaled": """
static int NAME(int *n, int *flag, double *x)
{
    int i__1, i__;
    --x;
    i__1 = *n;
    /* begin */
    for (i__ = 1; i__ <= i__1; ++i__)
        x[i__] = *flag - x[i__];
    /* end */
    if (i__1 > 0)
        x[1] += 1;
    return 0;
}
""",
    "columns": """
static int NAME(int *m, int *n, double *x)
{
    int x_dim1, x_offset, i__1, i__2, i__, j;
    x_dim1 = *m;
    x_offset = 1 + x_dim1;
    x -= x_offset;
    i__1 = *n;
    i__2 = *m;
    /* begin */
    for (j = 1; j <= i__1; ++j)
        for (i__ = 1; i__ <= i__2; ++i__)
            x[i__ + j * x_dim1] += i__ - j;
    /* end */
    if (i__1 > 0 && i__2 > 0)
        x[i__2 + i__1 * x_dim1] -= 1;
    return 0;
}
""",
    "added": """
static int NAME(int *n, double *x)
{
    int i__;
    x -= 1;
    for (i__ = *n; i__ >= 1; --i__)
        x[i__] = x[i__] + x[1];
    return 0;
}
""",
    "shifted": """
static void NAME(double *v, int n)
{
    for (int i = 1; i <= n; i++)
        v[i] = v[i] + i;
}
""",
    "middle": """
static void NAME(double *v, int n)
{
    double *end = v + n;
    while (end > v)
        *--end -= 1;
}
""",
}


def _deeper(lines: Lines) -> Lines:
    return ["  " + line for line in lines]


def _split(text: str) -> Lines:
    """Return the statements of a line, but for the semicolons in the heads of loops."""
    parts, depth, last = [], 0, 0
    for k, letter in enumerate(text):
        depth += (letter in "({") - (letter in ")}")
        if letter == ";" and not depth:
            parts.append(text[last:k].strip())
            last = k + 1
    return parts


def _calls(choose: Choices) -> tuple[Call, ...]:
    """Return calls with several sizes and each value of the flag."""
    made = []
    for number, (n, m) in enumerate(SIZES):
        values = {"n": str(n), "m": str(m), "flag": str(number % 3)}
        fills = {name: Fill("small", salt) for salt, name in enumerate(ARRAYS)}
        made.append(Call(values, fills))
    flag = choose.pick("012")
    return (*made, Call({"n": "7", "m": "4", "flag": flag}, dict(made[0].arrays)))


def numbered(seed: int, number: int) -> Source:
    """Return the file with a number: the same in every run with the seed."""
    return Positions(Seeded("positions", seed, number), f"z{number}").source()
