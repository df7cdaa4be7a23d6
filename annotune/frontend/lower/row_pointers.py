"""Rows behind a pointer to pointers, as one array: ``a[i][j]`` of ``double **a`` is
``a_rows[i * a_ld + j]``.

That is so where the rows stand at equal distances, as those of one block do. Nothing in C says it,
so that the emitted text looks before the nest: it compares the addresses of all rows that the nest
may touch, and goes to the region as it was written where they are not so. What an iteration finds
at ``a[i]`` is then the same pointer as the first row's, moved by ``i * a_ld`` elements. The region
itself changes no row's pointer. Rows that overlap, as equal ones do, have a distance below their
length, which the proofs ask for like every other size.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import field

from pycparser import c_ast
from pycparser.c_parser import Coord

from annotune.frontend import messages
from annotune.frontend.lower.members import PLAIN, AliasTable
from annotune.frontend.read.syntax import (
    CHANGES,
    assigned_in,
    base_of,
    changed_by,
    extent,
    names_in,
    offset,
    pointers_in,
    replace_nodes,
    text_of,
    walk_tree,
)
from annotune.frontend.types.kinds import ELEMENTS
from annotune.frontend.types.symbols import Layer, Symbol
from annotune.frozen import dataclass
from annotune.ir.region import Alias

# The distance that a single row is said to have from the next, where no loop tells a length.
_FAR = "1048576L"


@dataclass(frozen=True, slots=True)
class _Counted:
    """A loop from `first` to `last` by 1, both as C, or one of another kind."""

    var: str
    first: str = ""
    last: str = ""
    end: c_ast.Node | None = None
    bounds: tuple[c_ast.Node, ...] = ()


@dataclass
class _TouchedRows:
    """The rows that a region touches of the pointers at one `place`: `ranges` of them, as C.

    Each is the first, the last, and the conditions under which the loops around it run at all.
    `columns` is what the length of a row may be; `seen` counts the rows that were found.
    """

    place: c_ast.Node
    symbol: Symbol
    ranges: dict[tuple[str, str, str], None] = field(default_factory=dict)
    columns: c_ast.Node | None = None
    seen: int = 0
    is_sure: bool = False


class RowPointers:
    """The pointers to pointers of a region."""

    def __init__(self, table: AliasTable, block: c_ast.Compound) -> None:
        self.table = table
        self.names = table.names
        self.changed = frozenset(assigned_in(block)) | {
            n.name for n in walk_tree(block) if isinstance(n, c_ast.Decl) and n.name
        }
        targets = (changed_by(n, CHANGES) for n in walk_tree(block))
        self.changed_members = {text_of(n) for n in targets if isinstance(n, c_ast.StructRef)}
        self.rows: dict[str, _TouchedRows] = {}
        self.tests: list[str] = []

    def replace(self, block: c_ast.Compound) -> tuple[str, ...]:
        """Put one array in the place of the rows below `block`; return what holds of them then."""
        places = [n for n in walk_tree(block) if isinstance(n, c_ast.ID | c_ast.StructRef)]
        mentioned = Counter(map(text_of, places))
        for name, place in zip(map(text_of, places), places, strict=True):
            symbol = self._pointer(place) if name not in self.rows else None
            if symbol is not None and not self._changes_rows(block, name):
                self.rows[name] = _TouchedRows(place, symbol)
        if not self.rows:
            return ()
        self._look(block, (), is_sure=True)
        self.rows = {n: rows for n, rows in self.rows.items() if rows.seen == mentioned[n]}
        made = {name: self._declare(name, rows) for name, rows in self.rows.items()}
        replace_nodes(block, lambda node: self._replacement(node, made))
        return tuple(self.tests)

    def _pointer(self, place: c_ast.Node) -> Symbol | None:
        owners = {*names_in(place.name if isinstance(place, c_ast.StructRef) else place)}
        if owners & self.changed or any(isinstance(n, c_ast.ArrayRef) for n in walk_tree(place)):
            return None
        if any(s is not None and s.special not in PLAIN for s in map(self.names.find, owners)):
            return None
        symbol = self.names.declared(place)
        if symbol is None or symbol.base not in ELEMENTS or symbol.special not in PLAIN:
            return None
        kinds = [layer.kind for layer in symbol.layers]
        return symbol if kinds in (["*", "*"], ["[]", "*"]) else None

    def _changes_rows(self, block: c_ast.Node, name: str) -> bool:
        """Return whether the region sets a row's pointer, takes its address, or may write bytes."""
        for node in walk_tree(block):
            target = changed_by(node, CHANGES)
            base = base_of(target) if target is not None else None
            if isinstance(base, c_ast.ID):
                symbol = self.names.find(base.name)
                if symbol is not None and symbol.layers and "char" in symbol.base:
                    return True
            row = target.name if isinstance(target, c_ast.ArrayRef) else target
            if isinstance(row, c_ast.ID | c_ast.StructRef) and text_of(row) == name:
                return True
        return False

    def _look(self, node: c_ast.Node, loops: tuple[_Counted, ...], is_sure: bool) -> None:
        """Note the rows below `node` with `loops` around; behind a condition none `is_sure`."""
        match node:
            case c_ast.For():
                inner = (*loops, self._counted(node))
                for part in (node.init, node.cond, node.next):
                    if part is not None:
                        self._look(part, loops, is_sure=False)
                self._look(node.stmt, inner, is_sure)
                return
            case c_ast.If() | c_ast.TernaryOp():
                self._look(node.cond, loops, is_sure)
                for part in (node.iftrue, node.iffalse):
                    if part is not None:
                        self._look(part, loops, is_sure=False)
                return
            case c_ast.BinaryOp(op="&&" | "||"):
                self._look(node.left, loops, is_sure)
                self._look(node.right, loops, is_sure=False)
                return
            case c_ast.ArrayRef(name=c_ast.ArrayRef() as row):
                touched = self._touched(row)
                if touched is not None and touched.columns is None:
                    touched.columns = _end_of(node.subscript, loops)
                self._look(row, loops, is_sure)
                self._look(node.subscript, loops, is_sure)
                return
            case c_ast.ArrayRef():
                touched = self._touched(node)
                if touched is not None:
                    self._row(touched, node.subscript, loops, is_sure)
        parts = [node.name] if isinstance(node, c_ast.StructRef) else [*node]
        for part in parts:
            self._look(part, loops, is_sure)

    def _touched(self, node: c_ast.ArrayRef) -> _TouchedRows | None:
        is_place = isinstance(node.name, c_ast.ID | c_ast.StructRef)
        return self.rows.get(text_of(node.name)) if is_place else None

    def _row(
        self, rows: _TouchedRows, number: c_ast.Node, loops: tuple[_Counted, ...], is_sure: bool
    ) -> None:
        """Note a row, where its number is a loop's iterator, moved by a constant, or stays."""
        own, by = number, ""
        is_sum = isinstance(number, c_ast.BinaryOp) and number.op in ("+", "-")
        # Behind a condition, such as ``i > 0``, the row before the first may not be there.
        if is_sum and is_sure and isinstance(number, c_ast.BinaryOp) and self._stays(number.right):
            own, by = number.left, f" {number.op} {_as_long(number.right)}"
        around = [loop for loop in loops if loop.first]
        # There a pointer that a bound is read through may be NULL, too.
        read = () if is_sure else (number, *(part for loop in around for part in loop.bounds))
        pointers = (name for node in read for part in walk_tree(node) for name in pointers_in(part))
        tests = (*pointers, *(f"{loop.first} <= {loop.last}" for loop in around))
        test = " && ".join(dict.fromkeys(tests))
        loop = next((one for one in reversed(loops) if _is_name(own, one.var)), None)
        if loop is not None and loop.first:
            rows.ranges[f"{loop.first}{by}", f"{loop.last}{by}", test] = None
        elif self._stays(number):
            text = _as_long(number)
            rows.ranges[text, text, test] = None
        else:
            return
        rows.seen += 1
        rows.is_sure |= is_sure

    def _counted(self, node: c_ast.For) -> _Counted:
        """Return a loop that counts up by 1 between values that stay, as far as it is one."""
        var = first = None
        match node.init:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)):
                var, first = name, node.init.rvalue
            case c_ast.DeclList(decls=[c_ast.Decl(name=str() as name, init=c_ast.Node() as start)]):
                var, first = name, start
        is_step = isinstance(node.next, c_ast.UnaryOp) and node.next.op in ("++", "p++")
        cond = node.cond
        if var is None or first is None:
            return _Counted("")
        if not is_step or not isinstance(cond, c_ast.BinaryOp) or not _is_name(cond.left, var):
            return _Counted(var)
        if cond.op not in ("<", "<=") or not (self._stays(first) and self._stays(cond.right)):
            return _Counted(var, end=cond.right if self._stays(cond.right) else None)
        last = _as_long(cond.right) + (" - 1" if cond.op == "<" else "")
        return _Counted(var, _as_long(first), last, cond.right, (first, cond.right))

    def _stays(self, node: c_ast.Node) -> bool:
        """Return whether an expression is made of sizes that the region leaves as they are."""
        match node:
            case c_ast.Constant():
                return True
            case c_ast.ID(name=name):
                symbol = self.names.find(name)
                is_size = symbol is None or symbol.is_integer
                return is_size and name not in self.changed
            case c_ast.StructRef():
                # One that is a loop's bound, or that a store may change, is refused if it changes.
                symbol = self.names.declared(node)
                is_kept = self.changed.isdisjoint(names_in(node.name))
                is_set = text_of(node) in self.changed_members
                return symbol is not None and symbol.is_integer and is_kept and not is_set
            case c_ast.BinaryOp(op="+" | "-" | "*"):
                return self._stays(node.left) and self._stays(node.right)
        return False

    def _declare(self, name: str, rows: _TouchedRows) -> tuple[str, str]:
        """Declare the array of the rows and their distance, and return their names."""
        table, symbol = self.table, rows.symbol
        array, distance, even = (table.fresh(f"{name} {word}") for word in ("rows", "ld", "even"))
        first, last, row = (table.fresh(f"{name} {word}") for word in ("first", "last", "row"))
        plain = symbol.base.replace("complex", "_Complex")
        const = "const " if symbol.is_const else ""
        lines = [f"long {first} = __LONG_MAX__, {last} = -__LONG_MAX__;"]
        for low, high, test in rows.ranges:
            span = f"{low} <= {high}"
            span = "" if low == high or span in test.split(" && ") else span
            way = " && ".join((*pointers_in(rows.place), name))
            tests = [t for t in (test, "" if rows.is_sure else way, span) if t]
            lines.append(f"if ({' && '.join(tests) or '1'}) {{")
            lines.append(f"  if ({low} < {first}) {first} = {low};")
            lines.append(f"  if ({high} > {last}) {last} = {high};\n}}")
        length = _FAR if rows.columns is None else _as_long(rows.columns)
        read = dict.fromkeys(p for part in walk_tree(rows.columns) for p in pointers_in(part))
        if read:
            length = f"{' && '.join(read)} ? {length} : {_FAR}"
        bytes_ = f"(long)sizeof({plain})"
        apart = f"((const char *){name}[{{0}}] - (const char *){name}[{first}])"
        lines.append(f"const long {distance} = {first} < {last} ? ")
        lines[-1] += f"{apart.format(f'{first} + 1')} / {bytes_} : {length};"
        lines.append(f"int {even} = 1;")
        lines.append(f"for (long {row} = {first}; {row} <= {last}; {row}++)")
        lines.append(
            f"  {even} &= {apart.format(row)} == ({row} - {first}) * {distance} * {bytes_};"
        )
        long = Symbol(distance, (), "long", True, "parameter", symbol.start, symbol.end)
        table.declare(Alias(distance, distance, "\n".join(lines)), long)
        start = f"{first} <= {last} ? {name}[{first}] - {first} * {distance} : 0"
        declaration = f"{const}{plain} *const {array} = {start};"
        pointer = Symbol(
            array,
            (Layer("*"),),
            symbol.base,
            is_known=True,
            storage="parameter",
            start=symbol.start,
            end=symbol.end,
            is_const=symbol.is_const,
        )
        table.declare(Alias(array, f"{name}[0]", declaration), pointer)
        if rows.columns is not None:
            # What stands in the region is yet to be changed in place.
            self.names.used.guessed[distance] = copy.deepcopy(rows.columns)
        self.tests.append(even)
        return array, distance

    def _replacement(self, node: c_ast.Node, made: dict[str, tuple[str, str]]) -> c_ast.Node | None:
        is_row = isinstance(node, c_ast.ArrayRef) and self._touched(node) is not None
        if not is_row or not isinstance(node, c_ast.ArrayRef):
            return None
        array, distance = made[text_of(node.name)]
        start, end = extent(node.name, self.names.function.file.tokens)
        place = Coord("", start, end)
        self._spell(node, array, distance)
        by = c_ast.BinaryOp("*", node.subscript, c_ast.ID(distance, place), node.coord)
        new = c_ast.BinaryOp("+", c_ast.ID(array, place), by, node.coord)
        replace_nodes(by, lambda part: self._replacement(part, made))
        return new

    def _spell(self, node: c_ast.ArrayRef, array: str, distance: str) -> None:
        """Note the pieces of text that make a row a part of the array."""
        tokens = self.names.function.file.tokens
        start, end = extent(node.name, tokens)
        name = node.name.field if isinstance(node.name, c_ast.StructRef) else node.name
        first = tokens.at(offset(name)) + 1
        last = tokens.match[first] if first < len(tokens) and tokens.texts[first] == "[" else -1
        written = self.names.function.file.clean.text[start:end]
        if "".join(written.split()) != "".join(text_of(node.name).split()) or last < 0:
            shown = {"name": text_of(node), "macro": written}
            self.table.refuse(messages.ALIAS_IN_MACRO, node, **shown)
            return
        self.table.spell(start, end, f"({array} + {distance} * ")
        self.table.spell(tokens.starts[first], tokens.ends[first], "(")
        self.table.spell(tokens.starts[last], tokens.ends[last], "))")


def _as_long(node: c_ast.Node) -> str:
    text = text_of(node)
    if isinstance(node, c_ast.Constant):
        return text
    return f"(long){text}" if text.isidentifier() else f"(long)({text})"


def _is_name(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


def _end_of(number: c_ast.Node, loops: tuple[_Counted, ...]) -> c_ast.Node | None:
    """Return the bound of the loop whose iterator a column's number is made of."""
    named = set(names_in(number))
    return next((loop.end for loop in reversed(loops) if loop.var in named), None)
