"""Draws a whole C file: what stands around functions, the functions, and how they are called."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..choices import Choices
from .calls import harness, random_calls
from .nests import Nests
from .scope import Array, Scope, Variable
from .source import Entry, Slot, Source
from .vocabulary import (
    BUILT_IN,
    ELEMENTS,
    GENERATED,
    ITERATORS,
    LIBRARY_FUNCTIONS,
    LIBRARY_MACROS,
    MACRO_VALUES,
    PLAIN_ARRAYS,
    PLAIN_ITERATORS,
    PLAIN_SCALARS,
    SCALARS,
    SIZES,
    is_complex,
    is_real,
    is_whole,
)

MOST_ARRAYS = 6
OBJECT_EXTENT = 44
"""Longer than the largest size of a call and all that is added to it."""

MATH_NAMES = ("fmax", "fmin", "fabs", "sqrt", "floor", "round", "abs", "pow", "exp", "y0", "j0")


@dataclass(frozen=True)
class Parameter:
    """A parameter of the drawn function: its C declaration, and the slot that feeds it.

    `extent` is C for the number of elements that the declaration gives an array, `row` for
    that of what a pointer to arrays points at; both are empty where there is none.
    """

    declaration: str
    slot: Slot
    extent: str = ""
    row: str = ""
    by_address: bool = False
    is_restrict: bool = False
    optional_for: str = ""


@dataclass
class File:
    """What the functions of one file share."""

    name: str
    choose: Choices
    prologue: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    objects: list[tuple[str, str, int]] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    scalars: list[Variable] = field(default_factory=list)
    pure: list[str] = field(default_factory=list)
    macros: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    inexact: bool = False
    has_math: bool = True
    has_header: bool = False


def drawn(choose: Choices, name: str) -> Source:
    """Return a random file of one to three functions; its own names begin with `name`."""
    file = _surroundings(File(name, choose))
    functions = [_Function(file, k) for k in range(choose.pick((1, 1, 1, 1, 1, 1, 2, 2, 3)))]
    bodies = [one.text() for one in functions]
    entries = []
    for one in functions:
        calls = random_calls(choose, one.parameters, one.tuned)
        entries.append(Entry(one.name, tuple(p.slot for p in one.parameters), calls))
    headers = {f"{name}_util.h": "\n".join([*file.header, ""])} if file.has_header else {}
    includes = ["#include <stddef.h>", "#include <complex.h>"]
    includes += ["#include <math.h>", "#include <stdlib.h>"] if file.has_math else []
    includes += [f'#include "{name}_util.h"'] if headers else []
    lines = [*includes, *file.prologue, *(line for body in bodies for line in body)]
    scopes = [one.scope for one in functions]
    return Source(
        name,
        "\n".join(lines) + "\n",
        harness(name, file, functions),
        tuple(entries),
        headers,
        tuple(file.objects),
        tuple(file.own),
        tuple(sorted(set().union(file.features, *(s.features for s in scopes)))),
        any(s.sums for s in scopes),
        any(s.discrete for s in scopes),
    )


# Around the functions ----------------------------------------------------------------------


def _surroundings(file: File) -> File:
    choose = file.choose
    file.inexact = choose.chance(18)
    file.has_header = choose.chance(20)
    file.has_math = choose.chance(75)
    if choose.chance(60):
        file.features.add("MAX")
        file.prologue += [
            "#define MAX(a, b) ((a) > (b) ? (a) : (b))",
            "#define MIN(a, b) ((a) < (b) ? (a) : (b))",
        ]
        file.macros += ["MAX", "MIN"]
    for _ in range(choose.pick((0, 0, 1, 1, 2))):
        _function_or_macro(file)
    if file.has_math and choose.chance(30):
        file.calls += [
            (n, c) for n, c in (("fabs", 1), ("fmax", 2), ("fmin", 2)) if n not in file.own
        ]
        if file.inexact:
            file.calls.append(("sqrt", 1))
    if choose.chance(22):
        _object_macro(file)
    if choose.chance(12):
        file.features.add("macro with a generated name")
        for name in dict.fromkeys((choose.pick(GENERATED), choose.pick(GENERATED[:14]))):
            if name.isidentifier() and name not in file.macros and name not in MATH_NAMES:
                file.prologue.append(f"#define {name} {choose.pick(MACRO_VALUES)}")
                file.macros.append(name)
    for _ in range(choose.pick((0, 0, 0, 1, 1, 2))):
        _object(file)
    return file


def _function_or_macro(file: File) -> None:
    """Add a function or macro of the user's, at times with a name that a library has too."""
    choose, name = file.choose, file.name
    lines = file.header if file.has_header and choose.chance(60) else file.prologue
    if choose.chance(25):
        word = choose.pick(list(LIBRARY_MACROS))
        # What the user's other macros expand to must not change with it.
        if any(word == n for n, _ in file.calls):
            return
        lines.append(f"#undef {word}")
        lines.append(LIBRARY_MACROS[word])
        file.macros.append(word)
        file.calls.append((word, LIBRARY_MACROS[word].partition(")")[0].count(",") + 1))
        file.features.add("macro with a library's name")
        return
    if choose.chance(35):
        file.has_math = False
        word = choose.pick(list(LIBRARY_FUNCTIONS))
        if word in file.own or word in file.macros:
            return
        own = word
        file.own.append(word)
        file.features.add("function with a library's name")
    else:
        word = choose.pick(list(LIBRARY_FUNCTIONS))
        own = f"{name}_{word}"
        if any(own == n for n, _ in file.calls):
            return
    definition = LIBRARY_FUNCTIONS[word].replace("NAME", own)
    kind = choose.pick(("static ", "static ", "static inline ", "", "extern"))
    if own in BUILT_IN and not kind.startswith("static"):
        # With such a name C leaves open what is called, and gcc takes the library's.
        kind = "static "
    if kind == "extern":
        lines.append(definition.partition("{")[0].strip() + ";")
        file.hidden.append(definition)
        file.features.add("hidden function")
    else:
        lines.append(kind + definition)
    file.calls.append((own, definition.partition(")")[0].count(",") + 1))
    if choose.chance(75):
        file.pure.append(own)


def _object_macro(file: File) -> None:
    choose = file.choose
    word = choose.pick(("Q", "Q", "Q", "SC", "REAL", "STEP", "NB"))
    file.macros.append(word)
    if word == "REAL":
        file.prologue.append(f"#define REAL {choose.pick(('float', 'double'))}")
        file.constants.append("(REAL)2")
        return
    value = choose.pick(("4", "2.0", "(1 + 2)", "3", "0.5f"))
    guard = choose.chance(40)
    file.prologue += [f"#ifndef {word}"] if guard else []
    file.prologue.append(f"#define {word} {value}")
    file.prologue += ["#endif"] if guard else []
    file.constants.append(word)
    file.features.add("macro")


def _object(file: File) -> None:
    """Add an array or scalar at file scope: static, visible or thread-local."""
    choose = file.choose
    name = f"{file.name}_g{len(file.objects)}"
    storage = choose.pick(("static ", "", "static ", "", "static __thread ", "__thread "))
    element = choose.pick(ELEMENTS[:26])
    if "__thread" in storage:
        file.features.add("thread-local")
    if choose.chance(45):
        file.prologue.append(f"{storage}{element} {name};")
        file.objects.append((name, element, 1))
        file.scalars.append(Variable(name, element, "", choose.chance(60)))
        return
    rank = choose.pick((1, 1, 2))
    file.prologue.append(f"{storage}{element} {name}{f'[{OBJECT_EXTENT}]' * rank};")
    file.objects.append((name, element, OBJECT_EXTENT**rank))
    file.arrays.append(Array(name, element, "object", ("",) * rank, (4,) * rank, name))


# One function ------------------------------------------------------------------------------


class _Function:
    """Draws one function of a file."""

    def __init__(self, file: File, number: int) -> None:
        self.file, self.choose = file, file.choose
        self.name = f"{file.name}_{number}"
        self.parameters: list[Parameter] = []
        self.struct: list[str] = []
        self.tuned: dict[str, int] = {}
        self.taken = {*file.macros, *(n for n, _ in file.calls), "out_", "MAX", "MIN"}
        self.taken |= set(MATH_NAMES) if file.has_math else set()
        self.has_odd_names = self.choose.chance(22)
        self.locals: list[str] = []
        self.after: list[str] = []
        self.scope = Scope(
            self.choose,
            file.inexact,
            scalars=list(file.scalars),
            constants=list(file.constants),
            calls=list(file.calls),
            has_math=file.has_math,
            features=set(file.features),
            new_array=self.new_array,
        )
        self.by_reference = self.choose.chance(10)
        self.returns = self.choose.pick(("void", "void", "void", "int", "double"))

    # Names and parameters ------------------------------------------------------------------

    def _named(self, plain: tuple[str, ...]) -> str:
        odd = self.has_odd_names and self.choose.chance(45)
        pool = (*GENERATED, f"{self.name}_1_s0", f"annotune_{self.name}_1") if odd else plain
        for _ in range(30):
            name = self.choose.pick(pool)
            if name not in self.taken:
                self.taken.add(name)
                return name
            pool = plain if not odd else pool
        name = f"{plain[0]}{len(self.taken)}"
        self.taken.add(name)
        return name

    def _sizes(self) -> None:
        choose, scope = self.choose, self.scope
        uses_struct = choose.chance(12) and not self.by_reference
        for _ in range(choose.pick((1, 1, 2, 2, 2, 3))):
            name = self._named(("n", "m", "l", "nx", "ny", "ld"))
            type_ = "int" if self.by_reference else choose.pick(SIZES)
            self.tuned[name] = choose.pick((5, 6, 7, 8, 9, 12, 16, 20))
            slot = Slot(name, "value", type_)
            if uses_struct and not self.struct:
                self.struct.append(f"{type_} {name};")
                scope.sizes[f"g_->{name}"] = type_
                self.parameters.append(Parameter("", slot))
                scope.features.add("structure")
                continue
            spelled = f"*{name}" if self.by_reference else name
            text = f"{type_} {spelled}"
            # A product with `*n` in it reads as C wants it only in parentheses.
            scope.sizes[f"({spelled})" if self.by_reference else spelled] = type_
            self.parameters.append(Parameter(text, slot, by_address=self.by_reference))
        if not choose.chance(85):
            scope.features.add("size by reference") if self.by_reference else None

    def new_array(self, sizes: tuple[str, ...]) -> Array | None:
        """Return a new array for subscripts that run over `sizes`, None if there are enough."""
        choose = self.choose
        count = sum(1 for p in self.parameters if p.slot.kind == "array")
        if count >= MOST_ARRAYS:
            return None
        objects = [a for a in self.file.arrays if len(a.sizes) == len(sizes)]
        if objects and choose.chance(35):
            one = choose.pick(objects)
            made = Array(one.name, one.element, "object", sizes, one.pads, one.name)
            self.scope.arrays.append(made)
            return made
        name = self._named(PLAIN_ARRAYS)
        known = [a.element for a in self.scope.arrays]
        element = choose.pick(known) if known and choose.chance(55) else choose.pick(ELEMENTS)
        is_const = choose.chance(18)
        plain = all(s.isidentifier() or s.isdigit() for s in sizes)
        form = choose.pick(("flat", "flat", "shaped", "shaped", "rows") if plain else ("flat",))
        form = "flat" if form == "rows" and len(sizes) < 2 else form
        made = Array(
            name,
            element,
            form,
            sizes,
            tuple(choose.pick((0, 0, 1, 2)) for _ in sizes),
            name,
            is_const,
        )
        if self.struct and form == "flat" and choose.chance(50):
            made = Array(name, element, form, sizes, made.pads, f"g_->{name}")
            self.struct.append(f"{element} *{name};")
            self.parameters.append(Parameter("", Slot(name, "array", element)))
        else:
            self._add_parameter(made)
        self.scope.arrays.append(made)
        return made

    def _add_parameter(self, array: Array) -> None:
        choose = self.choose
        is_restrict = choose.chance(55)
        word = ("const " if array.is_const else "") + array.element
        restrict = "restrict " if is_restrict else ""
        extents = [array.extent(k) for k in range(len(array.sizes))]
        extent = row = ""
        if array.form == "flat":
            text = f"{word} *{restrict}{array.name}"
        elif array.form == "rows":
            text = f"{word} (*{restrict}{array.name})" + "".join(f"[{e}]" for e in extents[1:])
        else:
            first = f"[{restrict}{extents[0]}]"
            text = f"{word} {array.name}{first}" + "".join(f"[{e}]" for e in extents[1:])
            extent = " * ".join(f"(long)({e})" for e in extents)
        if array.form != "flat":
            # Whole rows also behind those that are declared.
            row = " * ".join(f"(long)({e})" for e in extents[1:])
        slot = Slot(array.name, "array", array.element)
        self.parameters.append(Parameter(text, slot, extent, row, is_restrict=is_restrict))

    def _scalars(self) -> None:
        choose, scope = self.choose, self.scope
        for _ in range(choose.pick((0, 1, 1, 2))):
            name, type_ = self._named(PLAIN_SCALARS), choose.pick(SCALARS)
            self.parameters.append(Parameter(f"{type_} {name}", Slot(name, "value", type_)))
            scope.scalars.append(Variable(name, type_, "", choose.chance(35)))
        for _ in range(choose.pick((0, 1, 1, 2, 3))):
            self._local()

    def _local(self) -> None:
        """Declare a scalar in the function: automatic, static, register or const."""
        choose, scope = self.choose, self.scope
        name, type_ = self._named(PLAIN_SCALARS), choose.pick(SCALARS)
        value = choose.pick(("1", "0", "2", "3", "-1"))
        kind = choose.integer(0, 99)
        if kind < 10:
            self.locals.append(f"static {type_} {name} = {value};")
            scope.features.add("static local")
        elif kind < 15:
            self.locals.append(f"register {type_} {name} = {value};")
        elif kind < 23:
            size = choose.pick(list(scope.sizes))
            self.locals.append(f"const {type_} {name} = {size} + {choose.integer(0, 3)};")
            scope.scalars.append(Variable(name, type_, "", False))
            return
        elif kind < 27:
            self.locals.append(f"const long {name} = {scope.wide()};")
            scope.far.append(name)
            return
        else:
            reals = [s.word for s in scope.scalars if is_real(s.type)]
            start = choose.pick(reals) if reals and choose.chance(20) and is_real(type_) else value
            if scope.has_math and is_real(type_) and choose.chance(6):
                start = choose.pick(("-INFINITY", "NAN", "INFINITY"))
            self.locals.append(f"{type_} {name} = {start};")
        scope.scalars.append(Variable(name, type_))

    # The text ------------------------------------------------------------------------------

    def text(self) -> list[str]:
        """Return the lines of the function, and of its struct if it has one."""
        choose, scope = self.choose, self.scope
        self._sizes()
        self._scalars()
        names = [self._named(PLAIN_ITERATORS) for _ in range(choose.pick((3, 3, 4)))]
        type_ = choose.pick(ITERATORS)
        types = {n: type_ if choose.chance(80) else choose.pick(ITERATORS) for n in names}
        outside = choose.chance(50)
        nests = Nests(scope, types, outside)
        if choose.chance(40):
            self._view()
        body: list[str] = []
        for k in range(choose.pick((1, 1, 1, 1, 2, 2, 3))):
            if k and choose.chance(60):
                body += self._between(nests)
            body += self._region(nests, k)
        body += self._leave(nests)
        lines = list(self.locals)
        if outside:
            lines += [f"{t} {n} = 77;" for n, t in types.items()]
        out: list[str] = []
        if self.struct:
            out.append(f"struct {self.name}_s {{ {' '.join(self.struct)} }};")
        out += [f"{self.returns} {self.name}({', '.join(self._declared())})", "{"]
        return [*out, *("  " + line for line in [*lines, *body]), "}"]

    def _declared(self) -> list[str]:
        out = [f"struct {self.name}_s *g_"] if self.struct else []
        return [*out, *(p.declaration for p in self.parameters if p.declaration), "double *out_"]

    def _view(self) -> None:
        """Declare a pointer into an array, or an array of the function's own."""
        choose, scope = self.choose, self.scope
        size = choose.pick(list(scope.sizes))
        name = self._named(PLAIN_ARRAYS)
        if choose.chance(50) and size.isidentifier():
            element = choose.pick(("double", "float", "int"))
            z = self._named(("z", "zz", "y"))
            self.locals.append(f"{element} {name}[{size} + 4];")
            self.locals.append(f"for (int {z} = 0; {z} < {size} + 4; {z}++) {name}[{z}] = {z} % 5;")
            scope.arrays.append(Array(name, element, "object", (size,), (3,), name))
            scope.features.add("array of variable length")
            self.after.append(f"out_[K] = {name}[0];")
            return
        made = self.new_array((size,))
        if made is None or made.form != "flat" or made.spelling != made.name:
            return
        word = "const " if made.is_const else ""
        self.locals.append(
            f"{word}{made.element} *{name} = {made.name} + {choose.pick((2, 3, size))};"
        )
        scope.arrays.remove(made)
        scope.arrays.append(
            Array(name, made.element, "flat", made.sizes, (1,), name, made.is_const)
        )
        scope.features.add("pointer into an array")

    def _between(self, nests: Nests) -> list[str]:
        choose = self.choose
        if choose.chance(20):
            names = [s for s in self.scope.scalars if s.is_written and is_whole(s.type)]
            if names:
                return [f"{choose.pick(names).word}++;"]
        return nests.between([])

    def _region(self, nests: Nests, number: int) -> list[str]:
        choose, scope = self.choose, self.scope
        lines = self._optional(nests) if choose.chance(5) else nests.region()
        before: list[str] = []
        uses = any(re.search(r"\bQ\b", line) for line in lines)
        if "Q" in self.file.macros and uses and choose.chance(60):
            before = ["#undef Q", f"#define Q {choose.pick(('5', '2.5', '(3)'))}"]
            scope.features.add("macro changed in the function")
        sizes = " ".join(f"param {n} = {v};" for n, v in self.tuned.items())
        pure = ", ".join(f"'{n}'" for n in self.file.pure)
        assume = f" def assume {{ arg pure = [{pure}]; }}" if pure else ""
        head = f"/*@ begin PerfTuning ( def input_params {{ {sizes} }}{assume} ) @*/"
        region = [head, *lines, "/*@ end @*/"]
        return [*before, *self._surrounded(region, number)]

    def _surrounded(self, region: list[str], number: int) -> list[str]:
        """Return a region at one of the places where statements stand."""
        choose, kind = self.choose, self.choose.integer(0, 99)
        inner = ["  " + line for line in region]
        size = choose.pick(list(self.scope.sizes))
        if kind < 62:
            return region
        if kind < 69:
            return [f"for (int rep_ = 0; rep_ < {choose.pick((1, 2))}; rep_++) {{", *inner, "}"]
        if kind < 76:
            return [f"if ({size} > 900) out_[0] = 5;", "else {", *inner, "}"]
        if kind < 84:
            switch = f"switch ({choose.pick(('1', f'{size} > 0 ? 1 : 0', '2'))}) {{"
            word = choose.pick(("case 1:", "default:"))
            return [switch, "case 0:", "  out_[0] = 9;", "  break;", word, *inner, "  break;", "}"]
        if kind < 90:
            self.scope.features.add("label")
            return [f"if ({size} > 900) goto here{number}_;", f"here{number}_:", *region]
        if kind < 95:
            return ["do {", *inner, "} while (0);"]
        return ["{", *inner, "}"]

    def _optional(self, nests: Nests) -> list[str]:
        """Return a loop with an array that is there only while a flag is set."""
        choose, scope = self.choose, self.scope
        size = choose.pick(list(scope.sizes))
        target = self.new_array((size,))
        name, flag = self._named(PLAIN_ARRAYS), self._named(("flag", "be", "has", "beta"))
        type_ = choose.pick(("double", "int"))
        self.parameters.append(Parameter(f"{type_} {flag}", Slot(flag, "value", type_)))
        slot = Slot(name, "array", "double")
        text = f"double *{choose.pick(('', 'restrict '))}{name}"
        is_restrict = "restrict" in text
        self.parameters.append(Parameter(text, slot, is_restrict=is_restrict, optional_for=flag))
        if target is None or target.is_const:
            target = Array(name, "double", "flat", (size,), (0,), name)
        scope.features.add("optional array")
        v, word = next(iter(nests.iterators.items()))
        head = f"for ({'' if nests.outside else word + ' '}{v} = 0; {v} < {size}; {v}++) {{"
        left = target.element_at([v])
        condition = choose.pick((f"{flag} != 0", flag, f"{flag} > 0"))
        lines = [f"  if ({condition}) {left} += {flag} * {name}[{v}];"]
        if target.name != name:
            lines.insert(0, f"  {left} = {left} * 2;")
        return [head, *lines, "}"]

    def _leave(self, nests: Nests) -> list[str]:
        """Return the statements that store what the regions left in scalars."""
        choose, scope = self.choose, self.scope
        out = list(self.after)
        for one in scope.scalars:
            if one.is_written and choose.chance(80) and one not in self.file.scalars:
                part = f"creal({one.word})" if is_complex(one.type) else one.word
                out.append(f"out_[K] = {part};")
        if nests.outside:
            out += [f"out_[K] = {n};" for n in sorted(nests.used) if choose.chance(40)]
        lines = [line.replace("[K]", f"[{k + 1}]") for k, line in enumerate(out)]
        for one in scope.scalars:
            if f"static {one.type} {one.name} =" in " ".join(self.locals) and choose.chance(60):
                lines.append(f"{one.name} = {one.name} + 1;")
        if self.returns != "void":
            whole = [s.word for s in scope.scalars if is_whole(s.type)]
            lines.append(f"return {choose.pick(whole) if whole else '0'};")
        return lines
