"""A C text from an annotated one: loops out of comments, missing names and functions put in.

Orio's files are C with holes: loops stand in comments, problem sizes and iterators are
declared nowhere, and whole kernels have no function around them. What is put in stands in the
place of an annotation's comment, so that the user's own lines keep their numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import PurePath

from annotune.annotation.data_block import DataBlock
from annotune.annotation.expressions import (
    Lexeme,
    evaluate,
    free_names,
    is_c_number,
    is_c_size,
    substitute,
)
from annotune.annotation.orio.declarations import (
    TYPE_WORDS,
    Declared,
    c_tokens,
    declarations,
    defined_macros,
    loop_iterators,
)
from annotune.annotation.regions import AnnotationBlock
from annotune.annotation.spec import Formula, InputVariable, Spec, Value
from annotune.diagnostics import AnnotuneError
from annotune.frozen import dataclass


class Missing:
    """C that declares what a text uses and does not declare: problem sizes, `decl`s, iterators.

    `parameters` are those of a function, `statements` stand before it, `names` are all names that
    they declare. With `is_function` there is a function to make, and what has no value of its own
    becomes its parameter; otherwise the text stands in one, and a parameter cannot be added.
    """

    def __init__(
        self, c_text: str, spec: Spec, declared: Collection[str], *, is_function: bool
    ) -> None:
        self.parameters: list[str] = []
        self.statements: list[str] = []
        self.names: set[str] = set()
        self.stream = c_tokens(c_text)
        self.used = dict.fromkeys(_variables(self.stream))
        self.iterators = [name for name in dict.fromkeys(loop_iterators(c_text)) if name]
        self.spec = spec
        self.declared = set(declared)
        self.is_function = is_function
        self.sizes = {param.name: param.values[0] for param in spec.input_params}
        self._declare()

    def _declare(self) -> None:
        variables = [one for one in self.spec.input_vars if self.is_missing(one.name)]
        needed = [name for one in variables for name in _names_of(one)]
        params = [*self.used, *needed]
        for param in self.spec.input_params:
            if param.name in params and param.name not in self.declared:
                self.parameter(param.name, self.sizes[param.name])
        for name in self.open_sizes() if self.is_function else ():
            self.add(self.parameters, name, f"int {name}")
        for one in variables:
            self.variable(one)
        for name in self.iterators:
            if self.is_missing(name) and name not in self.names:
                self.add(self.statements, name, f"int {name};")

    def is_missing(self, name: str) -> bool:
        return name in self.used and name not in self.declared

    def add(self, where: list[str], name: str, text: str) -> None:
        if name not in self.names:
            where.append(text)
            self.names.add(name)

    def parameter(self, name: str, value: Value) -> None:
        """Declare a problem size: a parameter of the function, or a constant in it."""
        if not isinstance(value, int | float):
            return
        type_ = "double" if isinstance(value, float) else "int"
        if self.is_function:
            self.add(self.parameters, name, f"{type_} {name}")
        else:
            number = repr(value) if isinstance(value, float) else str(int(value))
            self.add(self.statements, name, f"const {type_} {name} = {number};")

    def variable(self, one: InputVariable) -> None:
        extents = "".join(f"[{extent.text}]" for extent in one.extents)
        if not all(is_c_size(extent.text) for extent in one.extents):
            return
        if isinstance(one.initial, tuple):
            # C initialises no array whose extent is a variable.
            known = "".join(f"[{self.value(extent)}]" for extent in one.extents)
            items = ", ".join(item.text for item in one.initial)
            if not all(is_c_number(item.text) for item in one.initial):
                return
            self.add(self.statements, one.name, f"{one.type} {one.name}{known} = {{{items}}};")
        elif one.initial is not None and not one.extents and is_c_number(one.initial.text):
            text = f"{one.type} {one.name} = {one.initial.text};"
            self.add(self.statements, one.name, text)
        elif self.is_function:
            star = "*" if one.is_pointer else ""
            self.add(self.parameters, one.name, f"{one.type} {star}{one.name}{extents}")

    def value(self, extent: Formula) -> str:
        """Return an extent's number, or its text where a name in it has no number."""
        try:
            value = evaluate(extent, self.sizes)
        except AnnotuneError:
            return extent.text
        return str(value) if isinstance(value, int) else extent.text

    def open_sizes(self) -> Iterable[str]:
        """Yield the names without any declaration in bounds, extents and subscripts."""
        known = self.declared | self.names | set(self.iterators) | TYPE_WORDS
        known |= {one.name for one in self.spec.input_vars}
        for name in self.used:
            if name not in known and _is_size_only(name, self.stream):
                yield name


def _variables(stream: Sequence[Lexeme]) -> Iterable[str]:
    """Yield the names in a text but for those of members."""
    before = ""
    for token in stream:
        if token.kind == "name" and before not in ("->", "."):
            yield token.text
        before = token.text


def _is_size_only(name: str, stream: Sequence[Lexeme]) -> bool:
    """Return whether a name stands in brackets or in a head everywhere, and is no array."""
    depth = 0
    for index, token in enumerate(stream):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
        if token.text != name:
            continue
        after = stream[index + 1].text if index + 1 < len(stream) else ""
        if depth == 0 or after in ("[", "(", "=", "+=", "-=", "->", "."):
            return False
    return True


def _names_of(one: InputVariable) -> list[str]:
    formulas = [*one.extents]
    if isinstance(one.initial, tuple):
        formulas += one.initial
    elif one.initial is not None:
        formulas.append(one.initial)
    return [name for formula in formulas for name in free_names(formula)]


Edit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Completed:
    """A text that a C front end can read, and its regions at their places there.

    Lines are those of the original. Columns are too, but on a line where something was put in.
    """

    text: str
    blocks: tuple[AnnotationBlock, ...]
    kept: tuple[DataBlock, ...] = ()


def complete(
    text: str,
    file: str,
    blocks: Sequence[AnnotationBlock],
    defines: Collection[str] = (),
    kept: Sequence[DataBlock] = (),
    is_elsewhere: Callable[[str], bool] = lambda name: False,
) -> Completed:
    """Return `text` with what its regions lack; unchanged where they lack nothing.

    `defines` are the macros of ``-D``. A function that is made is named after the file. What
    `is_elsewhere`, in a header, is not lacking: a declaration here would hide that one.
    """
    if not any(_may_lack(block) for block in blocks):
        return Completed(text, tuple(blocks), tuple(kept))
    macros = frozenset(defines) | defined_macros(text)
    context = _Context(text, file, macros, blocks, is_elsewhere)
    edits: list[Edit] = []
    made = [context.region(block, edits) for block in blocks]
    return with_edits(text, made, edits, kept)


def _may_lack(block: AnnotationBlock) -> bool:
    return block.inner is not None and bool(
        block.loop_text or block.spec.wishes or block.spec.input_params or block.spec.input_vars
    )


Place = tuple[int, int, int, int]


class _Context:
    """A text with what it declares, and the functions made for it so far."""

    def __init__(
        self,
        text: str,
        file: str,
        macros: frozenset[str],
        blocks: Sequence[AnnotationBlock],
        is_elsewhere: Callable[[str], bool],
    ) -> None:
        self.text = text
        self.is_elsewhere = is_elsewhere
        self.macros = macros
        self.stem = _c_name(PurePath(file).stem)
        self.tokens = c_tokens(text)
        self.starts = [token.start for token in self.tokens]
        self.depths, self.functions = _braces(self.tokens)
        self.declared = tuple(declarations(text))
        self.groups: dict[Place, list[AnnotationBlock]] = {}
        # What `named_first` finds, by where it begins.
        self.first_places: dict[int, Mapping[str, int]] = {}
        for block in blocks:
            if block.frame is not None:
                self.groups.setdefault(block.frame, []).append(block)
        self.framed: set[Place] = set()
        self.made = 0

    def region(self, block: AnnotationBlock, edits: list[Edit]) -> AnnotationBlock:
        """Return the block, its offsets still the original ones, and add its edits."""
        if block.inner is None or block.frame is None or not _may_lack(block):
            return block
        inner, frame = block.inner, block.frame
        if block.loop_text is not None:
            start, end = block.loop_text
            opener = _blank(self.text[inner[0] : start]), _blank(self.text[end : inner[1]])
            edits.append((inner[0], inner[1], opener[0] + block.c_text + opener[1]))
            block = replace(block, body_start=start, body_end=end)
        alone = replace(block, start=inner[0], end=inner[3])
        if self.depth_at(inner[0]) == 0:
            if frame not in self.framed:
                self.framed.add(frame)
                edits += self.function(frame, inner)
            return alone
        alone, block = (self.with_extents(one, frame[0]) for one in (alone, block))
        if frame in self.framed:
            return alone
        return alone if self.declare(frame, inner, block, edits) else block

    def with_extents(self, block: AnnotationBlock, before: int) -> AnnotationBlock:
        """Return the block, knowing the extents that ``decl`` gives to pointers of the C text.

        Every name in them is declared there, or a size that becomes a constant.
        """
        spec = block.spec
        visible = self.known_names(before, block.body_end)
        own = {token.text for token in c_tokens(self.own(block))}
        constants = {
            param.name: param.values[0]
            for param in spec.input_params
            if param.name not in visible and isinstance(param.values[0], int)
        }
        extents = dict(spec.assumptions.extents)
        for one in spec.input_vars:
            formulas = [substitute(extent, constants) for extent in one.extents]
            texts = tuple(formula.text for formula in formulas)
            names = {name for formula in formulas for name in free_names(formula)}
            if one.name in own and texts and names <= visible and all(map(is_c_size, texts)):
                extents.setdefault(one.name, texts)
        assumed = replace(spec.assumptions, extents=extents)
        return replace(block, spec=replace(spec, assumptions=assumed))

    def declare(
        self, frame: Place, inner: Place, block: AnnotationBlock, edits: list[Edit]
    ) -> bool:
        """Add the edits that declare what a region in a function lacks, if it lacks anything."""

        in_function = frame != inner and self.depth_at(frame[0]) > 0
        around = self.around(frame) if in_function else self.own(block)
        first = frame[0] if in_function else inner[0]
        names = self.known_names(first, inner[2])
        lacking = Missing(around, block.spec, names, is_function=False)
        elsewhere = set(filter(self.is_elsewhere, lacking.names))
        if elsewhere:
            lacking = Missing(around, block.spec, names | elsewhere, is_function=False)
        statements = " ".join(lacking.statements)
        if not in_function:
            if not statements:
                return False
            # A block of its own: another region beside it may lack the same, and a declaration
            # cannot stand behind a label or an `else`.
            edits += [(first, first, f"{{ {statements} "), (inner[3], inner[3], " }")]
            return True
        if not statements and not self.is_redeclared(frame, inner):
            return False
        self.framed.add(frame)
        # A block of its own: the annotated text may declare the function's parameters again.
        edits += self.framing(frame, f"{{ {statements}", "}")
        return True

    def function(self, frame: Place, inner: Place) -> list[Edit]:
        """Return the edits that put a function around a region that stands in none."""

        has_frame = frame != inner
        start = frame[1] if has_frame else self.start_of_fragment(inner[0])
        end = frame[2] if has_frame else inner[2]
        group = self.groups[frame]
        own = "\n".join(block.c_text for block in group)
        around = self.text[start:end] + "\n" + own
        inside = {one.name for one in self.declared if start <= one.start < end}
        inside |= {one.name for one in declarations(own)} | self.macros
        lacking = Missing(around, group[0].spec, inside, is_function=True)
        self.made += 1
        header = self.header(lacking)
        if has_frame:
            return self.framing(frame, header, "}")
        return [(start, start, header), (inner[3], inner[3], " }")]

    def framing(self, frame: Place, opening: str, closing: str) -> list[Edit]:
        """Return the edits that put C in the place of an opener and of its closer."""
        newlines = [re.sub(r"[^\r\n]", "", self.text[a:b]) for a, b in (frame[:2], frame[2:])]
        return [
            (frame[0], frame[1], opening + newlines[0]),
            (frame[2], frame[3], closing + newlines[1]),
        ]

    def own(self, block: AnnotationBlock) -> str:
        return block.c_text or self.text[block.body_start : block.body_end]

    def around(self, frame: Place) -> str:
        """Return the C in an annotation, with that in comments."""
        texts = [self.text[frame[1] : frame[2]], *(one.c_text for one in self.groups[frame])]
        return "\n".join(texts)

    def header(self, lacking: Missing) -> str:
        name = self.stem if self.made == 1 else f"{self.stem}_{self.made}"
        taken = {one.name for one in self.declared} | self.macros | lacking.names
        while name in taken:
            name += "_"
        parameters = ", ".join(lacking.parameters) or "void"
        return " ".join([f"void {name}({parameters}) {{", *lacking.statements, ""])

    def start_of_fragment(self, before: int) -> int:
        """Return where the statements start that lead to a region outside all functions.

        They follow the last function, directive or annotation before it.
        """
        closed = self.text.rfind("@*/", 0, before)
        start = max(closed + len("@*/") if closed >= 0 else 0, self.function_start(before))
        for match in re.finditer(r"^[ \t]*#(?:\\\n|.)*", self.text[:before], re.MULTILINE):
            start = max(start, match.end())
        index = bisect_left(self.starts, start)
        first = min(self.starts[index], before) if index < len(self.starts) else before
        # On an empty line before it, what is put in shifts nothing of the user's.
        lines = self.text[:first].split("\n")
        if len(lines) > 1 and not lines[-1].strip() and not lines[-2].strip():
            at = first - len(lines[-1]) - 1
            return at - (self.text[at - 1 : at] == "\r") if at >= start else first
        return first

    def depth_at(self, offset: int) -> int:
        """Return how many braces are open before `offset`."""
        index = bisect_left(self.starts, offset)
        return self.depths[index - 1] if index else 0

    def function_start(self, offset: int) -> int:
        """Return the offset after the last complete function before `offset`."""
        index = bisect_left(self.functions, offset)
        return self.functions[index - 1] if index else 0

    def visible(self, frame_start: int, end: int) -> Iterator[Declared]:
        """Yield what may be visible at a region: declared at file scope or in its function."""
        start = self.function_start(frame_start)
        for one in self.declared:
            if (one.depth == 0 and not one.is_parameter) or start <= one.start < end:
                yield one

    def known_names(self, before: int, end: int) -> set[str]:
        """Return the names that mean something at a region of a function.

        Declarations that macros make are none to these eyes: what the function names outside of
        its annotated regions has a meaning there, whatever it is.
        """
        first = self.named_first(self.function_start(before))
        names = {one.name for one in self.visible(before, end)} | self.macros
        return names | {name for name, place in first.items() if place < before}

    def named_first(self, start: int) -> Mapping[str, int]:
        """Return where the function from `start` on first names what, outside of its regions."""
        if start not in self.first_places:
            frames = sorted((frame[0], frame[3]) for frame in self.groups if start <= frame[0])
            opened = [frame[0] for frame in frames]
            # Where a frame holds another one, its end counts.
            closed = [*accumulate((frame[1] for frame in frames), max)]
            found: dict[str, int] = {}
            after = bisect_right(self.functions, start)
            end = self.functions[after] if after < len(self.functions) else len(self.text)
            first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
            for token in self.tokens[first:last]:
                number = bisect_right(opened, token.start) - 1
                is_inside = number >= 0 and token.start < closed[number]
                if token.kind == "name" and not is_inside:
                    found.setdefault(token.text, token.start)
            self.first_places[start] = found
        return self.first_places[start]

    def is_redeclared(self, frame: Place, inner: Place) -> bool:
        """Return whether the text in `frame` declares a name of the block around it again."""
        start, depth = self.function_start(frame[0]), self.depth_at(frame[0])
        before = {d.name for d in self.declared if start <= d.start < frame[0] and d.depth == depth}
        return any(
            one.name in before and one.depth == depth
            for one in self.declared
            if frame[1] <= one.start < inner[2]
        )


def _braces(stream: Sequence[Lexeme]) -> tuple[list[int], list[int]]:
    """Return the open braces after each token, and the ends of the outermost blocks."""
    depth = 0
    depths: list[int] = []
    ends: list[int] = []
    for token in stream:
        depth = max(0, depth + {"{": 1, "}": -1}.get(token.text, 0))
        depths.append(depth)
        if token.text == "}" and depth == 0:
            ends.append(token.end)
    return depths, ends


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def _c_name(stem: str) -> str:
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)
    return name if re.match(r"[A-Za-z_]", name) else f"kernel_{name}"


def with_edits(
    text: str,
    blocks: Sequence[AnnotationBlock],
    edits: Sequence[Edit],
    kept: Sequence[DataBlock],
) -> Completed:
    """Return `text` with the edits, and the blocks where they stand then."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    shifts = [0]
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        parts += [text[at:start], new]
        at = end
        starts.append(start)
        ends.append(end)
        shifts.append(shifts[-1] + len(new) - (end - start))

    def after(offset: int) -> int:
        """Return where a place lies that follows what was put in at it."""
        return offset + shifts[bisect_right(ends, offset)]

    def before(offset: int) -> int:
        """Return where a place lies that precedes what was put in at it."""
        done = min(bisect_left(starts, offset), bisect_right(ends, offset))
        return offset + shifts[done]

    found = [
        AnnotationBlock(
            after(block.start),
            before(block.end),
            after(block.body_start),
            before(block.body_end),
            block.spec,
            block.span,
        )
        for block in blocks
    ]
    around = [
        replace(
            block,
            opener=(after(block.opener[0]), before(block.opener[1])),
            closer=(after(block.closer[0]), before(block.closer[1])),
        )
        for block in kept
    ]
    return Completed("".join([*parts, text[at:]]), tuple(found), tuple(around))
