"""``begin PerfTuning ( … )`` and files of specifications, ``spec NAME { def … }``, to a Spec."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from itertools import islice, product
from pathlib import Path

from lark import Token, Tree

from annotune.annotation.expressions import (
    DEPTH,
    ExpressionError,
    Lexeme,
    at_commas,
    evaluate_node,
    free_names,
    holds,
    is_c_size,
    lexemes,
    parse_expression,
    placed,
    substitute,
)
from annotune.annotation.flags import check_flags, without_unused_flags
from annotune.annotation.grammar import Origin, Parsed, parse_tree
from annotune.annotation.messages import (
    BAD_DECLARATION,
    LIST_WITHOUT_BRACKETS,
    MISPLACED,
    NO_SIZES,
    NO_SPEC_FILE,
    NO_SUCH_SPEC,
    NO_VALUES,
    SEVERAL_SPECS,
    SEVERAL_VALUES,
    UNKNOWN_ARGUMENT,
    UNKNOWN_ASSUMPTION,
    UNKNOWN_DEF,
    UNKNOWN_NAME,
    UNUSED_BLOCK,
    UNUSED_WARNING,
    WRONG_ASSUMPTION,
    declared_twice,
    did_you_mean,
    gathered,
)
from annotune.annotation.orio.declarations import declared_in_files
from annotune.annotation.spec import (
    Assumptions,
    Constraint,
    Formula,
    InputVariable,
    Parameter,
    Spec,
    Value,
)
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass

# Which statements stand in which block; the names are Orio's, but for `assume`. Orio's older
# files declare variables in input_params.
BLOCKS: Mapping[str, frozenset[str]] = {
    "input_params": frozenset({"let", "param", "constraint", "decl"}),
    "performance_params": frozenset({"let", "param", "constraint"}),
    "search": frozenset({"let", "arg"}),
    "build": frozenset({"let", "arg"}),
    "assume": frozenset({"let", "arg"}),
    "performance_counter": frozenset({"let", "arg"}),
    "input_vars": frozenset({"let", "arg", "decl"}),
    "validation": frozenset({"let", "arg"}),
    "performance_test_code": frozenset({"let", "arg"}),
    "cmdline_params": frozenset({"let", "option"}),
    "power": frozenset({"let", "arg"}),
    "other": frozenset({"let", "arg"}),
}
# Blocks that annotune has no use for, and why.
_UNUSED: Mapping[str, str] = {
    "performance_counter": "annotune times in its own way",
    "validation": "every variant is checked against the original C",
    "performance_test_code": "annotune writes its own test code",
    "other": "nothing is known of it",
}
# Those whose absence a user would notice.
_WARNED: Mapping[str, str] = {
    "cmdline_params": "its options are not tried: annotune runs no program of the user's",
    "power": "power is not measured",
}


@dataclass(frozen=True, slots=True)
class TuningStatement:
    """One statement of a block, such as ``param NAME[] = text``; `origin` is that of the text."""

    kind: str
    block: str
    name: str
    text: str
    origin: Origin
    span: Span
    is_list: bool = False


@dataclass(slots=True)
class Blocks:
    """What the blocks of one text say and import, and what is wrong or to be noted in them."""

    statements: list[TuningStatement] = field(default_factory=list)
    imports: list[tuple[str, Span]] = field(default_factory=list)
    mistakes: list[Diagnostic] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)


def blocks_of(tree: Parsed, text: str, origin: Origin) -> Blocks:
    """Return what all blocks say; a block or statement out of place is a mistake."""
    found = Blocks()
    for child in tree.children:
        if not isinstance(child, Tree):
            continue  # the name of a spec
        if child.data == "let":
            found.statements.append(_statement(child, "", text, origin))
        elif child.data == "import":
            name, span = _name(child, origin)
            found.imports.append((name, span))
        else:
            found.statements += _definition(child, text, origin, found)
    return found


def _name(tree: Parsed, origin: Origin) -> tuple[str, Span]:
    """Return the name with which a definition or statement begins, and its place."""
    name = tree.children[0]
    assert isinstance(name, Token)
    start = int(name.start_pos or 0)
    return str(name), origin.span(start, start + len(name))


def _definition(
    tree: Parsed, text: str, origin: Origin, found: Blocks
) -> Iterator[TuningStatement]:
    block, span = _name(tree, origin)
    if block not in BLOCKS:
        hint = did_you_mean(block, BLOCKS)
        found.mistakes.append(UNKNOWN_DEF.at(span, name=block, hint=hint))
        return
    if block in _UNUSED:
        found.notes.append(UNUSED_BLOCK.at(span, name=block, why=_UNUSED[block]))
    if block in _WARNED:
        found.notes.append(UNUSED_WARNING.at(span, name=block, why=_WARNED[block]))
    for child in tree.children[1:]:
        assert isinstance(child, Tree)
        kind = str(child.data)
        if kind not in BLOCKS[block]:
            start = child.meta.start_pos
            at = origin.span(start, start + len(kind))
            hint = f"def {block} holds: {', '.join(sorted(BLOCKS[block]))}"
            found.mistakes.append(MISPLACED.at(at, what=kind, name=block, hint=hint))
        elif kind == "decl":
            start, end = child.meta.start_pos, child.meta.end_pos
            first = start + len("decl")
            words = text[first : end - len(";")]
            yield TuningStatement(
                kind, block, "", words, origin.part(first), origin.span(start, end)
            )
        elif kind != "option":
            yield _statement(child, block, text, origin)


def _statement(tree: Parsed, block: str, text: str, origin: Origin) -> TuningStatement:
    name, span = _name(tree, origin)
    *brackets, operand = tree.children[1:]
    assert isinstance(operand, Tree)
    start, end = operand.meta.start_pos, operand.meta.end_pos
    is_list = any(bracket is not None for bracket in brackets)
    return TuningStatement(
        str(tree.data), block, name, text[start:end], origin.part(start), span, is_list
    )


# A specification is a page of text; a larger file is something else.
MAX_BYTES = 1_000_000


def _imported(name: str, span: Span, folder: Path) -> tuple[Blocks, ...]:
    """Return the parts of the specification that ``import spec NAME;`` names.

    It stands in ``NAME.spec`` in `folder`, or in any other ``.spec`` file there; Orio's own
    ptune.c imports a spec from a file of another name.

    Raises:
        AnnotuneError: There is none, or its file does not follow the grammar.
    """
    own = folder / f"{name}.spec"
    if own.is_file():
        return _SpecFile.read(own, name, span).named(name, span)
    for path in sorted(folder.glob("*.spec")):
        with suppress(AnnotuneError):  # a file of others, which nobody asked for
            file = _SpecFile.read(path, name, span)
            if name in file.specs:
                return file.named(name, span)
    raise _unread(own, name, span, "there is no such file")


def _only_specification(path: Path, span: Span) -> tuple[Blocks, ...]:
    """Return the parts of the only specification of a file, for a region at `span`."""
    file = _SpecFile.read(path, path.stem, Span(str(path), 1, 1))
    names = [*file.specs]
    if len(names) == 1 or path.stem in names:
        return file.named(names[0] if len(names) == 1 else path.stem, span)
    if not names:
        raise AnnotuneError.of(NO_SUCH_SPEC.at(span, name=path.stem, file=path, hint=""))
    listed = ", ".join(names)
    raise AnnotuneError.of(SEVERAL_SPECS.at(span, file=path, names=listed, name=names[0]))


class _SpecFile:
    """A file of specifications: its shared ``let`` statements, and each spec's tree."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.origin = Origin.at(str(path), text)
        self.specs: dict[str, Parsed] = {}
        lets: list[Parsed | Token] = []
        for child in parse_tree(text, "spec_file", self.origin).children:
            assert isinstance(child, Tree)
            if child.data == "let":
                lets.append(child)
            else:
                self.specs.setdefault(str(child.children[0]), child)
        self.shared = blocks_of(Tree("perf_tuning", lets), text, self.origin)

    @classmethod
    def read(cls, path: Path, name: str, span: Span) -> _SpecFile:
        """Return the file at `path`, or raise at `span` why it cannot be read."""
        try:
            if path.stat().st_size > MAX_BYTES:
                raise _unread(path, name, span, "it is too large")
            with path.open(encoding="utf-8", newline="") as stream:
                text = stream.read()
        except OSError as error:
            raise _unread(path, name, span, error.strerror or "") from None
        except UnicodeDecodeError:
            raise _unread(path, name, span, "it is not UTF-8") from None
        return cls(path, text)

    def named(self, name: str, span: Span) -> tuple[Blocks, ...]:
        if name not in self.specs:
            hint = did_you_mean(name, self.specs)
            raise AnnotuneError.of(NO_SUCH_SPEC.at(span, name=name, file=self.path, hint=hint))
        return (self.shared, blocks_of(self.specs[name], self.text, self.origin))


def _unread(path: Path, name: str, span: Span, why: str) -> AnnotuneError:
    return AnnotuneError.of(NO_SPEC_FILE.at(span, path=path, why=why, name=name))


ASSUMPTIONS = ("disjoint", "extent", "finite", "pure", "strides", "whole")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_EXTENT = re.compile(r"\s*([A-Za-z_]\w*)\s*((?:\[[^\[\]]+\]\s*)+)", re.ASCII)


def assumptions(arguments: Mapping[str, Value], spans: Mapping[str, Span]) -> Assumptions:
    """Return what the ``arg`` statements of ``def assume`` say; `spans` are their places.

    Raises:
        AnnotuneError: An assumption is unknown, or a name in one is no name of C.
    """
    for name in arguments:
        if name not in ASSUMPTIONS:
            hint = did_you_mean(name, ASSUMPTIONS)
            raise AnnotuneError.of(UNKNOWN_ASSUMPTION.at(spans[name], name=name, hint=hint))
    vouched = _Vouched(arguments, spans)
    return Assumptions(
        vouched.truth("disjoint"),
        vouched.truth("strides"),
        vouched.names("pure"),
        vouched.extents(),
        vouched.truth("finite"),
        vouched.truth("whole"),
    )


@dataclass(frozen=True, slots=True)
class _Vouched:
    """The arguments of ``def assume`` and their places."""

    arguments: Mapping[str, Value]
    spans: Mapping[str, Span]

    def wrong(self, name: str, wanted: str, hint: str) -> AnnotuneError:
        span = self.spans[name]
        return AnnotuneError.of(WRONG_ASSUMPTION.at(span, name=name, wanted=wanted, hint=hint))

    def truth(self, name: str) -> bool:
        value = self.arguments.get(name, False)
        if not isinstance(value, bool):
            raise self.wrong(name, "True or False", f"write `arg {name} = True;`")
        return value

    def texts(self, name: str, example: str) -> tuple[str, ...]:
        value = self.arguments.get(name, ())
        items = value if isinstance(value, tuple) else (value,)
        texts = tuple(item for item in items if isinstance(item, str))
        if len(texts) < len(items):
            raise self.wrong(name, "a list of strings", f"write `arg {name} = {example};`")
        return texts

    def names(self, name: str) -> tuple[str, ...]:
        found = self.texts(name, "['f']")
        for text in found:
            if not _NAME.fullmatch(text):
                raise self.wrong(name, "a list of functions' names", f"'{text}' is no name of C")
        return found

    def extents(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for text in self.texts("extent", "['x[n]']"):
            match = _EXTENT.fullmatch(text)
            extents = re.findall(r"\[([^\[\]]+)\]", match[2]) if match else []
            if match is None or not all(map(is_c_size, extents)):
                hint = f"'{text}' is not like 'x[n]' or 'x[n][2*m+1]'"
                raise self.wrong("extent", "a list of arrays with their extents", hint)
            found[match[1]] = tuple(extent.strip() for extent in extents)
        return found


# Words about where Orio's driver puts a variable; annotune decides that itself.
_STORAGE = frozenset({"static", "dynamic", "register", "const", "managed", "in", "out", "inout"})
# The types that an annotation may name, in C's words without regard to their order.
_TYPE_WORDS = frozenset(
    [
        *("char", "short", "int", "long", "signed", "unsigned", "size_t"),
        *("float", "double", "complex", "_Complex"),
    ]
)
# What C would not take as a variable's name; the types are among `_TYPE_WORDS`.
_C_WORDS = frozenset(
    [
        *("auto", "break", "case", "const", "continue", "default", "do", "else", "enum"),
        *("extern", "for", "goto", "if", "inline", "register", "restrict", "return", "sizeof"),
        *("static", "struct", "switch", "typedef", "union", "void", "volatile", "while"),
    ]
)


def input_variable(one: TuningStatement) -> InputVariable:
    """Return the variable of a ``decl`` statement.

    Raises:
        AnnotuneError: It has no type or no name, or its extents or its value are unsound.
    """
    with placed(one.origin.span):
        stream = deque(one for one in lexemes(one.text) if one.kind != "end")
    words: list[str] = []
    while stream and stream[0].kind == "name":
        words.append(stream.popleft().text)
    *types, name = [word for word in words if word not in _STORAGE] or [""]
    if not name or name in _TYPE_WORDS | _C_WORDS:
        raise _bad(one, "no name")
    if not types:
        raise _bad(one, "no type")
    for word in types:
        if word not in _TYPE_WORDS:
            raise _bad(one, f"an unknown type '{word}'")
    extents: list[Formula] = []
    while stream and stream[0].text == "[":
        extents.append(_formula(one, _bracketed(stream)))
    initial: Formula | tuple[Formula, ...] | None = None
    if stream and stream[0].text == "=":
        stream.popleft()
        if stream and stream[0].text == "{":
            parts = at_commas(_bracketed(stream))
            initial = tuple(_formula(one, part) for part in (parts if parts[-1] else parts[:-1]))
        else:
            value = [*stream]
            stream.clear()
            is_random = [one.text for one in value] == ["random"]
            initial = None if is_random else _formula(one, value)
    if stream:
        raise _bad(one, f"{stream[0].shown} in an unexpected place")
    return InputVariable(name, " ".join(types), tuple(extents), initial, span=one.span)


def _bad(one: TuningStatement, what: str) -> AnnotuneError:
    hint = "write it like `decl static double A[M][N] = random;`"
    return AnnotuneError.of(BAD_DECLARATION.at(one.span, what=what, hint=hint))


def _bracketed(stream: deque[Lexeme]) -> list[Lexeme]:
    """Take what stands in the brackets at the left, and return it without them."""
    found = [stream.popleft()]
    depth = 1
    while depth:
        found.append(stream.popleft())
        depth += DEPTH.get(found[-1].text, 0)
    return found[1:-1]


def _formula(one: TuningStatement, part: list[Lexeme]) -> Formula:
    """Return a part of a declaration as a formula; raises AnnotuneError when it is none."""
    if not part:
        raise _bad(one, "an empty value")
    start, end = part[0].start, part[-1].end
    with placed(one.origin.part(start).span):
        parse_expression(one.text[start:end])
    return Formula(one.text[start:end], one.origin.span(start, end))


# More combinations than this are not looked at: each costs microseconds, all of them seconds.
MAX_COMBINATIONS = 100_000
# So many problem sizes are looked at: each is tuned, and shares a run's time with the others.
MAX_SIZES = 9


def problem_sizes(spec: Spec, limit: int) -> tuple[Mapping[str, Value], ...]:
    """Return at most `limit` combinations of ``input_params``, in the order of their lists.

    All fulfil the constraints among the sizes.
    """
    return tuple(islice(_combinations(spec), limit))


def with_first_sizes(spec: Spec) -> Spec:
    """Return `spec` with the first sizes that fulfil the constraints at the lists' heads.

    Raises:
        AnnotuneError: No combination does; at the constraint that refuses the last ones.
    """
    first = next(_combinations(spec), None)
    if first is None:
        raise AnnotuneError.of(_refusal(spec))
    params = tuple(
        replace(param, values=_headed(param.values, first[param.name]))
        for param in spec.input_params
    )
    return replace(spec, input_params=params)


def _headed(values: tuple[Value, ...], head: Value) -> tuple[Value, ...]:
    at = values.index(head)
    return (head, *values[:at], *values[at + 1 :])


def _combinations(spec: Spec) -> Iterator[dict[str, Value]]:
    names = [param.name for param in spec.input_params]
    among = _among_sizes(spec.constraints, spec.input_params)
    every = product(*(param.values for param in spec.input_params))
    for values in islice(every, MAX_COMBINATIONS):
        sizes = dict(zip(names, values, strict=True))
        if all(holds(constraint.formula, sizes) for constraint in among):
            yield sizes


def _among_sizes(
    constraints: tuple[Constraint, ...], params: tuple[Parameter, ...]
) -> tuple[Constraint, ...]:
    """Return the constraints that name sizes alone, and at least one of them."""
    sizes = {param.name for param in params}
    found = []
    for constraint in constraints:
        names = set(free_names(constraint.formula))
        if names and names <= sizes:
            found.append(constraint)
    return tuple(found)


def _refusal(spec: Spec) -> Diagnostic:
    """Return the refusal at the constraint that leaves no combination of the sizes."""
    among = _among_sizes(spec.constraints, spec.input_params)
    for count, constraint in enumerate(among, 1):
        fewer = replace(spec, constraints=among[:count])
        if next(_combinations(fewer), None) is None:
            return NO_SIZES.at(constraint.span, name=constraint.name)
    raise AssertionError("no sizes are refused without a constraint")


_BUILD = "build_command prebuild_command postbuild_command postrun_command batch_command libs"
_SEARCH = "algorithm time_limit total_runs budget seed resume use_z3"
_OLD_BUILD = "command options run_command"
# The search settings of Orio's own algorithms begin with these.
_SEARCH_PREFIXES = (
    "annealing_",
    "cudacfg_",
    "exhaustive_",
    "genetic_",
    "mlsearch_",
    "msimplex_",
    "random_",
    "randomlocal_",
    "simplex_",
)
ARGUMENTS: Mapping[str, frozenset[str]] = {
    "search": frozenset(_SEARCH.split()),
    "build": frozenset([*_BUILD.split(), *_OLD_BUILD.split(), "status_command", "num_procs"]),
    "input_vars": frozenset({"decl_file", "init_file"}),
    "validation": frozenset({"validation_file"}),
    "performance_test_code": frozenset({"skeleton_code_file"}),
}
# Blocks whose arguments may name files, and all whose arguments are kept.
_WITH_FILES = ("input_vars", "validation", "performance_test_code")
_KEPT = ("search", "build", "assume", *_WITH_FILES)


@dataclass(frozen=True, slots=True)
class PerfTuning:
    """What a PerfTuning text says: its Spec, and the `let` names for the recipe in it."""

    spec: Spec
    lets: Mapping[str, Value]


@dataclass(slots=True)
class _Settled:
    """What the statements say once all names have values, and every mistake in them."""

    settings: Mapping[str, Value]
    statements: list[TuningStatement] = field(default_factory=list)
    mistakes: list[Diagnostic] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    lets: dict[str, Value] = field(default_factory=dict)
    params: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    arguments: dict[str, dict[str, Value]] = field(
        default_factory=lambda: {block: {} for block in _KEPT}
    )
    spans: dict[tuple[str, str], Span] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, Value]:
        """Return every name that has one value so far."""
        single = {name: values[0] for name, values in self.params.items() if len(values) == 1}
        return {**self.lets, **single, **self.settings}

    def evaluate(self, one: TuningStatement) -> Value:
        try:
            return evaluate_node(parse_expression(one.text), self.names)
        except ExpressionError as error:
            name = str(error.values.get("name"))
            if error.template is UNKNOWN_NAME and len(self.params.get(name, ())) > 1:
                error.template = SEVERAL_VALUES
            elif one.kind == "arg" and error.template is UNKNOWN_NAME:
                error.values["hint"] = f"a string is written '{name}', in quotes"
            raise error.at(one.origin.span) from error

    def settle(self) -> None:
        """Evaluate lets, parameters and arguments, in whatever order their names allow."""
        pending = [one for one in self.statements if one.kind in ("let", "param", "arg")]
        while pending:
            waiting: list[TuningStatement] = []
            errors: list[Diagnostic] = []
            for one in pending:
                try:
                    self.assign(one, self.evaluate(one))
                except AnnotuneError as error:
                    errors.extend(error.diagnostics)
                    waiting.append(one)
            if len(waiting) == len(pending):
                self.mistakes.extend(errors)
                return
            pending = waiting

    def assign(self, one: TuningStatement, value: Value) -> None:
        name = one.name
        if one.kind == "let":
            self.lets[name] = value
        elif one.kind == "arg":
            if one.block in self.arguments:
                self.arguments[one.block][name] = value
                self.spans[one.block, name] = one.span
        elif name in self.settings:
            self.params[name] = (self.settings[name],)
        elif isinstance(value, tuple) and not one.is_list:
            self.mistakes.append(LIST_WITHOUT_BRACKETS.at(one.span, name=name))
            self.params[name] = value
        elif value == ():
            self.mistakes.append(NO_VALUES.at(one.span, name=name))
        else:
            self.params[name] = value if isinstance(value, tuple) else (value,)

    def refuse_twice(self) -> None:
        first: dict[tuple[bool, str, str], TuningStatement] = {}
        for one in self.statements:
            if one.kind == "decl":
                continue
            # A param may carry a let's name, but not another param's.
            is_let = one.kind == "let"
            kind = "param" if is_let or one.kind == "param" else one.kind
            scope = one.block if one.kind == "arg" else kind
            key = (is_let, scope, one.name)
            earlier = first.setdefault(key, one)
            if earlier is not one:
                twice = declared_twice(one.name, one.span, earlier.span)
                self.mistakes.append(twice)

    def note_unknown(self) -> None:
        """Warn of arguments that no stage reads."""
        for one in self.statements:
            known = ARGUMENTS.get(one.block)
            if one.kind != "arg" or known is None or one.name in known:
                continue
            if one.block == "search" and one.name.startswith(_SEARCH_PREFIXES):
                continue
            hint = did_you_mean(one.name, known)
            unknown = UNKNOWN_ARGUMENT.at(one.span, name=one.name, block=one.block, hint=hint)
            self.notes.append(unknown)

    def parameters(self, block: str) -> tuple[Parameter, ...]:
        return tuple(
            Parameter(one.name, self.params[one.name], one.span)
            for one in self.statements
            if one.kind == "param" and one.block == block and one.name in self.params
        )

    @property
    def lets_alone(self) -> dict[str, Value]:
        """Return the names of `let` that are no parameters too."""
        return {name: value for name, value in self.lets.items() if name not in self.params}

    def constraints(self) -> Iterator[Constraint]:
        for one in self.statements:
            if one.kind != "constraint":
                continue
            formula = Formula(one.text, one.origin.span(0, len(one.text)))
            with gathered(self.mistakes), placed(one.origin.span):
                yield Constraint(one.name, substitute(formula, self.lets_alone), one.span)

    def variables(self) -> Iterator[InputVariable]:
        """Yield the variables of ``decl`` statements, `let` names replaced by their values."""
        seen: dict[str, InputVariable] = {}
        for one in self.statements:
            if one.kind != "decl":
                continue
            with gathered(self.mistakes):
                variable = input_variable(one)
                first = seen.setdefault(variable.name, variable)
                if first is not variable:
                    twice = declared_twice(variable.name, variable.span, first.span)
                    self.mistakes.append(twice)
                yield self.with_lets(variable)

    def with_lets(self, variable: InputVariable) -> InputVariable:
        initial = variable.initial
        if isinstance(initial, tuple):
            initial = tuple(substitute(item, self.lets_alone) for item in initial)
        elif initial is not None:
            initial = substitute(initial, self.lets_alone)
        extents = tuple(substitute(extent, self.lets_alone) for extent in variable.extents)
        return replace(variable, extents=extents, initial=initial)


def read_perf_tuning(
    text: str, origin: Origin, settings: Mapping[str, Value] | None = None
) -> PerfTuning:
    """Return what `text` says, where `settings` (``--set``) win over its parameters.

    Raises:
        AnnotuneError: With every mistake that stands alone, in the order of the text.
    """
    own = blocks_of(parse_tree(text, "perf_tuning", origin), text, origin)
    folder = Path(origin.file).parent
    parts = [own, *(part for one in own.imports for part in _imported(*one, folder))]
    return _read(parts, origin.span(0, len(text)), folder, settings or {})


def read_specification(
    path: Path, span: Span, settings: Mapping[str, Value] | None = None
) -> PerfTuning:
    """Return what the only specification of a file, ``--spec FILE``, says of a region at `span`.

    Raises:
        AnnotuneError: The file cannot be read or parsed, or holds none or several; or with every
            mistake that stands alone, in the order of the text.
    """
    return _read(_only_specification(path, span), span, path.parent, settings or {})


def _read(
    parts: Iterable[Blocks], span: Span, folder: Path, settings: Mapping[str, Value]
) -> PerfTuning:
    settled = _Settled(settings)
    for part in parts:
        settled.statements += part.statements
        settled.mistakes += part.mistakes
        settled.notes += part.notes
    settled.refuse_twice()
    settled.settle()
    settled.note_unknown()
    constraints = tuple(settled.constraints())
    variables = tuple(settled.variables())
    spec = Spec(
        settled.parameters("input_params"),
        settled.parameters("performance_params"),
        constraints,
        settled.arguments["search"],
        settled.arguments["build"],
        span=span,
    )
    with gathered(settled.mistakes):
        places = {arg: at for (block, arg), at in settled.spans.items() if block == "assume"}
        spec = replace(spec, assumptions=assumptions(settled.arguments["assume"], places))
        spec = with_first_sizes(spec)
        files = {block: settled.arguments[block] for block in _WITH_FILES}
        more, notes = declared_in_files(files, settled.spans, folder, spec)
        variables += tuple(one for one in more if one.name not in {v.name for v in variables})
        settled.notes += notes
    if settled.mistakes:
        raise AnnotuneError.of(*sorted(settled.mistakes, key=lambda mistake: mistake.span))
    settled.notes += check_flags(spec, settled.spans.get(("build", "build_command"), span))
    kept, warnings = without_unused_flags(spec)
    notes = tuple(sorted((*settled.notes, *warnings), key=lambda note: note.span))
    spec = replace(spec, performance_params=kept, input_vars=variables, notes=notes)
    return PerfTuning(spec, settled.lets)
