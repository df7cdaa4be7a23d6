"""From a C function to Python that runs it: the reading half of the reference."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from pycparser import c_ast, c_parser

from .reference import Function, Parameter

_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_REALS = ("double", "float")
_NAME = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@lru_cache(maxsize=64)
def functions(text: str) -> tuple[Function, ...]:
    """Return the functions with a region of a C text."""
    constants: dict[str, str] = {}
    lines = []
    plain = _COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
    for line in plain.split("\n"):
        define = re.match(r"\s*#\s*define\s+(\w+)\s+(-?\w+)\s*$", line)
        undefine = re.match(r"\s*#\s*undef\s+(\w+)", line)
        if define:
            constants[define[1]] = define[2]
        elif undefine:
            constants.pop(undefine[1], None)
        elif constants:
            for name, value in constants.items():
                line = re.sub(rf"\b{name}\b", value, line)
        lines.append("" if line.lstrip().startswith("#") else line)
    tree = c_parser.CParser().parse("\n".join(lines))
    objects = {d.name: d for d in tree.ext if isinstance(d, c_ast.Decl) and _is_array(d.type)}
    runs = dict(re.findall(r"/\* fuzz (\w+): (.*?) \*/", text))
    marks = _regions(text)
    rooms = dict(re.findall(r"/\* room (\w+): (.*?) \*/", text))
    found = []
    for node in tree.ext:
        if isinstance(node, c_ast.FuncDef):
            inside = [m for m in marks if m[0] >= node.coord.line]
            if node.decl.name in runs and inside:
                region = min(inside)
                found.append(
                    _Reader(node, objects, region).function(_sizes(runs[node.decl.name]), rooms)
                )
    return tuple(found)


def _regions(text: str) -> list[tuple[int, int]]:
    """Return the lines of the first opening and the last closing mark of each region."""
    found, depth, start = [], 0, 0
    for mark in re.finditer(r"/\*@\s*(begin|end)\b", text):
        line = text.count("\n", 0, mark.start()) + 1
        if mark[1] == "begin":
            start = start if depth else line
            depth += 1
        else:
            depth -= 1
            if not depth:
                found.append((start, line))
    return found


def _sizes(words: str) -> tuple[dict[str, int], ...]:
    return tuple(
        {name: int(value) for name, value in (pair.split("=") for pair in one.split())}
        for one in words.split(";")
    )


def _is_array(node: Any) -> bool:
    return isinstance(node, c_ast.ArrayDecl | c_ast.PtrDecl)


class _Reader:
    def __init__(self, node: Any, objects: Mapping[str, Any], region: tuple[int, int]) -> None:
        self.node, self.region = node, region
        self.lines: list[str] = []
        self.loops: list[int] = []
        self.down: set[int] = set()
        self.conditional: set[int] = set()
        self.mixed: set[int] = set()
        self.extents: dict[str, tuple[str, ...]] = {}
        self.types: dict[str, str] = {}
        self.scalars: dict[str, str] = {}
        self.parameters = [self._parameter(p) for p in node.decl.type.args.params if p.name]
        self.objects = [self._parameter(d) for d in objects.values()]
        self.written = {
            n.lvalue.name
            for n in _walk(node.body)
            if isinstance(n, c_ast.Assignment) and isinstance(n.lvalue, c_ast.ID)
        }
        self.iterators = {
            n.init.lvalue.name
            for n in _walk(node.body)
            if isinstance(n, c_ast.For) and isinstance(n.init, c_ast.Assignment)
        }

    def function(self, sizes: tuple[dict[str, int], ...], rooms: Mapping[str, str]) -> Function:
        self.lines = ["def body(machine, memory, given):"]
        for parameter in self.parameters:
            self.lines.append(f"  v_{parameter.name} = given[{parameter.name!r}]")
        for array in self.objects:
            self.lines.append(f"  v_{array.name} = memory[{array.name!r}]")
        self.lines += ["  p = ()", "  g = ()"]
        self.block(self.node.body, "  ", "p", "g")
        return Function(
            self.node.decl.name,
            tuple(self.parameters),
            tuple(self.objects),
            self.types,
            tuple(self.loops),
            frozenset(self.down),
            frozenset(self.conditional),
            frozenset(self.mixed),
            self.region,
            "\n".join([*self.lines, "  return None"]),
            sizes,
            rooms,
        )

    def _parameter(self, decl: Any) -> Parameter:
        extents: list[str] = []
        node = decl.type
        while isinstance(node, c_ast.ArrayDecl | c_ast.PtrDecl):
            is_shaped = isinstance(node, c_ast.ArrayDecl) and node.dim is not None
            extents.append(self.plain(node.dim) if is_shaped else "")
            node = node.type
        type_ = " ".join(node.type.names)
        if extents:
            self.extents[decl.name] = tuple(extents)
            self.types[decl.name] = type_
        else:
            self.scalars[decl.name] = type_
        return Parameter(decl.name, type_, bool(extents), tuple(extents))

    def plain(self, node: Any) -> str:
        """Return an integer formula over parameters as Python over their bare names."""
        match node:
            case c_ast.Constant():
                return str(node.value)
            case c_ast.ID():
                return str(node.name)
            case c_ast.UnaryOp(op="-"):
                return f"(-{self.plain(node.expr)})"
            case c_ast.BinaryOp():
                return f"({self.plain(node.left)} {node.op} {self.plain(node.right)})"
        raise NotImplementedError(type(node))

    # Statements ---------------------------------------------------------------------------

    def block(self, node: Any, margin: str, path: str, under: str) -> None:
        items = (node.block_items or []) if isinstance(node, c_ast.Compound) else [node]
        start = len(self.lines)
        for item in items:
            self._mark(item, margin)
            self.statement(item, margin, path, under)
        if len(self.lines) == start:
            self.lines.append(f"{margin}pass")

    def _mark(self, item: Any, margin: str) -> None:
        """Say whether what follows is the region's; only the function's own block says so."""
        if margin == "  ":
            line = item.coord.line if item.coord else 0
            inside = self.region[0] <= line <= self.region[1]
            self.lines.append(f"{margin}machine.at({inside})")

    def statement(self, node: Any, margin: str, path: str, under: str) -> None:
        match node:
            case c_ast.Compound():
                self.block(node, margin, path, under)
            case c_ast.EmptyStatement() | c_ast.Return() | None:
                pass
            case c_ast.DeclList():
                for decl in node.decls:
                    self.statement(decl, margin, path, under)
            case c_ast.Decl():
                self.declaration(node, margin, path, under)
            case c_ast.Assignment():
                self.assignment(node, margin, path, under)
            case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--"):
                one = c_ast.Constant("int", "1")
                op = "+=" if "+" in node.op else "-="
                made = c_ast.Assignment(op, node.expr, one, node.coord)
                self.assignment(made, margin, path, under)
            case c_ast.ExprList():
                for one in node.exprs:
                    self.statement(one, margin, path, under)
            case c_ast.If():
                inner = f"{under}x"
                self.lines.append(f"{margin}c = {self.value(node.cond)}")
                line = node.cond.coord.line
                inside = (n for n in _walk(node) if isinstance(n, c_ast.Assignment))
                self.conditional |= {n.coord.line for n in inside}
                if any(self.is_affine(n) for n in _walk(node.cond)):
                    self.mixed.add(line)
                self.lines.append(f"{margin}{inner} = machine.guard({line}, {path}, {under})")
                self.lines.append(f"{margin}if c:")
                self.block(node.iftrue, margin + "  ", path, inner)
                if node.iffalse is not None:
                    self.lines.append(f"{margin}else:")
                    self.block(node.iffalse, margin + "  ", path, inner)
            case c_ast.For():
                self.loop(node, margin, path, under)
            case _:
                raise NotImplementedError(type(node))

    def declaration(self, decl: Any, margin: str, path: str, under: str) -> None:
        node = decl.type
        if _is_array(node):
            # Each time anew, and without values.
            self._parameter(decl)
            self.lines.append(f"{margin}v_{decl.name} = memory[{decl.name!r}]")
            self.lines.append(f"{margin}v_{decl.name}.written.clear()")
            return
        type_ = " ".join(node.type.names)
        self.scalars[decl.name] = type_
        is_kept = type_ in _REALS or decl.name in self.written
        if is_kept and decl.name not in self.iterators:
            self.types[decl.name] = type_
        if decl.init is not None:
            target = c_ast.ID(decl.name, decl.coord)
            made = c_ast.Assignment("=", target, decl.init, decl.coord)
            self.assignment(made, margin, path, under)

    def assignment(self, node: Any, margin: str, path: str, under: str) -> None:
        target, line = node.lvalue, node.coord.line
        if isinstance(target, c_ast.ID) and target.name in self.extents:
            # a -= 1 + a_dim1: the pointer moves.
            sign = "-" if node.op == "-=" else "+"
            value = self.value(node.rvalue)
            self.lines.append(f"{margin}v_{target.name}.offset {sign}= {value}")
            return
        if isinstance(target, c_ast.ID) and target.name not in self.types:
            value = self.value(node.rvalue)
            if node.op != "=":
                value = f"v_{target.name} {node.op[0]} ({value})"
            self.lines.append(f"{margin}v_{target.name} = {value}")
            return
        store, index = self.place(target)
        value = self.value(node.rvalue)
        is_real = self.kind(target) == "real"
        if node.op != "=":
            old = f"{store}.ld({index})"
            if node.op == "/=":
                value = f"ratio({old}, {value})" if is_real else f"quotient({old}, {value})"
            else:
                value = f"{old} {node.op[0]} ({value})"
        value = f"wrap({value})" if is_real else value
        self.lines.append(f"{margin}{store}.st({index}, {value}, {line}, {path}, {under})")

    def loop(self, node: Any, margin: str, path: str, under: str) -> None:
        first = node.init.decls[0] if isinstance(node.init, c_ast.DeclList) else node.init
        var = first.name if isinstance(first, c_ast.Decl) else first.lvalue.name
        start = self.value(first.init if isinstance(first, c_ast.Decl) else first.rvalue)
        if isinstance(first, c_ast.Decl):
            self.scalars[var] = "int"
        step = self.step(node.next)
        number = -1
        if self.region[0] <= node.coord.line <= self.region[1]:
            number = len(self.loops)
            self.loops.append(node.coord.line)
            if step.startswith("-"):
                self.down.add(number)
        condition = self.value(node.cond)
        more = f"lambda v_{var}: {condition}"
        head = f"machine.order({number}, {start}, {more}, {step})"
        inner = f"{path}{len(margin) // 2}"
        self.lines.append(f"{margin}for v_{var} in {head}:")
        self.lines.append(f"{margin}  {inner} = (*{path}, ({number}, v_{var}))")
        self.block(node.stmt, margin + "  ", inner, under)

    def step(self, node: Any) -> str:
        match node:
            case c_ast.UnaryOp(op="++" | "p++"):
                return "1"
            case c_ast.UnaryOp(op="--" | "p--"):
                return "-1"
            case c_ast.Assignment(op="+="):
                return self.value(node.rvalue)
            case c_ast.Assignment(op="-="):
                return f"-({self.value(node.rvalue)})"
        raise NotImplementedError(type(node))

    # Expressions --------------------------------------------------------------------------

    def kind(self, node: Any) -> str:
        """Return ``int`` or ``real``: what C computes a value in."""
        match node:
            case c_ast.Constant():
                return "int" if node.type == "int" else "real"
            case c_ast.ID():
                known = self.types.get(node.name) or self.scalars.get(node.name, "int")
                return "real" if known in _REALS else "int"
            case c_ast.ArrayRef():
                inner = node
                while isinstance(inner, c_ast.ArrayRef):
                    inner = inner.name
                return "real" if self.types[inner.name] in _REALS else "int"
            case c_ast.BinaryOp():
                if node.op in (*_COMPARISONS, "&&", "||"):
                    return "int"
                both = {self.kind(node.left), self.kind(node.right)}
                return "real" if "real" in both else "int"
            case c_ast.UnaryOp(op="!" | "*"):
                return "int"
            case c_ast.UnaryOp():
                return self.kind(node.expr)
            case c_ast.TernaryOp():
                both = {self.kind(node.iftrue), self.kind(node.iffalse)}
                return "real" if "real" in both else "int"
            case c_ast.Cast():
                return "real" if node.to_type.type.type.names[0] in _REALS else "int"
        return "real"

    def is_affine(self, node: Any) -> bool:
        """Return whether a node is a comparison of integers."""
        is_comparison = isinstance(node, c_ast.BinaryOp) and node.op in _COMPARISONS
        return is_comparison and {self.kind(node.left), self.kind(node.right)} == {"int"}

    def place(self, node: Any) -> tuple[str, str]:
        """Return the store and the index of what is assigned."""
        if isinstance(node, c_ast.ID):
            return f"memory[{node.name!r}]", "0"
        indices = []
        while isinstance(node, c_ast.ArrayRef):
            indices.append(self.value(node.subscript))
            node = node.name
        indices.reverse()
        index = indices[0]
        for extent, inner in zip(self.extents[node.name][1:], indices[1:], strict=True):
            length = _NAME.sub(lambda m: "v_" + m[0], extent)
            index = f"({index}) * ({length}) + {inner}"
        return f"v_{node.name}", index

    def value(self, node: Any) -> str:
        match node:
            case c_ast.Constant():
                text = (
                    node.value.rstrip("fFlLuU") if node.type != "int" else node.value.rstrip("lLuU")
                )
                return text if node.type == "int" else f"real({text!r})"
            case c_ast.ID():
                if node.name in self.types and node.name not in self.extents:
                    return f"memory[{node.name!r}].ld(0)"
                return f"v_{node.name}"
            case c_ast.ArrayRef():
                store, index = self.place(node)
                return f"{store}.ld({index})"
            case c_ast.UnaryOp(op="-"):
                return f"(-{self.value(node.expr)})"
            case c_ast.UnaryOp(op="!"):
                return f"(not {self.value(node.expr)})"
            case c_ast.UnaryOp(op="+"):
                return self.value(node.expr)
            case c_ast.UnaryOp(op="*"):
                return f"v_{node.expr.name}"
            case c_ast.BinaryOp():
                return self.binary(node)
            case c_ast.TernaryOp():
                parts = (self.value(n) for n in (node.cond, node.iftrue, node.iffalse))
                condition, first, second = parts
                return f"({first} if {condition} else {second})"
            case c_ast.Cast():
                return self.value(node.expr)
            case c_ast.FuncCall():
                name = {"fabs": "absolute", "abs": "absolute"}.get(node.name.name, node.name.name)
                return f"{name}({', '.join(self.value(a) for a in node.args.exprs)})"
        raise NotImplementedError(type(node))

    def binary(self, node: Any) -> str:
        left, right = self.value(node.left), self.value(node.right)
        words = {"&&": "and", "||": "or"}
        if node.op in words:
            return f"({left} {words[node.op]} {right})"
        is_int = self.kind(node) == "int"
        if node.op == "/":
            return f"{'quotient' if is_int else 'ratio'}({left}, {right})"
        if node.op == "%":
            return f"remainder({left}, {right})"
        is_real = "real" in (self.kind(node.left), self.kind(node.right))
        if node.op in _COMPARISONS and is_real:
            return f"(wrap({left}) {node.op} wrap({right}))"
        return f"({left} {node.op} {right})"


def _walk(node: Any) -> Iterator[Any]:
    yield node
    for child in node:
        yield from _walk(child)
