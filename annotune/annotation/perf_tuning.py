"""The problem sizes of an annotation, the first of which the analysis starts from.

The text of ``begin PerfTuning ( … )``, with the specifications it imports, to a Spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product
from pathlib import Path

from annotune.annotation.assume import assumptions
from annotune.annotation.evaluate import evaluate_node, free_names, holds, substitute
from annotune.annotation.expression import ExpressionError, parse_expression
from annotune.annotation.flags import check_flags, without_unused_flags
from annotune.annotation.grammar import Origin, parse_tree
from annotune.annotation.messages import (
    LIST_WITHOUT_BRACKETS,
    NO_SIZES,
    NO_VALUES,
    SEVERAL_VALUES,
    UNKNOWN_ARGUMENT,
    UNKNOWN_NAME,
    declared_twice,
    did_you_mean,
)
from annotune.annotation.orio.variables import declared_in_files, input_variable
from annotune.annotation.spec import (
    Constraint,
    Formula,
    InputVariable,
    Parameter,
    Spec,
    Value,
)
from annotune.annotation.statements import Statement, Statements, imported, statements_of
from annotune.diagnostics import AnnotuneError, Diagnostic, Span

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
_KEPT = ("search", "build", "assume", "input_vars", "validation", "performance_test_code")


@dataclass(frozen=True, slots=True)
class PerfTuning:
    """What a PerfTuning text says: its Spec, and the `let` names for the recipe in it."""

    spec: Spec
    lets: Mapping[str, Value]


@dataclass(slots=True)
class _Reader:
    """Gathers what the statements say, and every mistake in them."""

    settings: Mapping[str, Value]
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

    def evaluate(self, statement: Statement) -> Value:
        try:
            return evaluate_node(parse_expression(statement.text), self.names)
        except ExpressionError as error:
            name = str(error.values.get("name"))
            if error.template is UNKNOWN_NAME and len(self.params.get(name, ())) > 1:
                error.template = SEVERAL_VALUES
            elif statement.kind == "arg" and error.template is UNKNOWN_NAME:
                error.values["hint"] = f"a string is written '{name}', in quotes"
            raise error.at(statement.at) from error

    def settle(self, statements: list[Statement]) -> None:
        """Evaluate lets, parameters and arguments, in whatever order their names allow."""
        pending = statements
        while pending:
            waiting: list[Statement] = []
            errors: list[Diagnostic] = []
            for statement in pending:
                try:
                    self.assign(statement, self.evaluate(statement))
                except AnnotuneError as error:
                    errors.extend(error.diagnostics)
                    waiting.append(statement)
            if len(waiting) == len(pending):
                self.mistakes.extend(errors)
                return
            pending = waiting

    def assign(self, statement: Statement, value: Value) -> None:
        name = statement.name
        if statement.kind == "let":
            self.lets[name] = value
        elif statement.kind == "arg":
            if statement.block in self.arguments:
                self.arguments[statement.block][name] = value
                self.spans[statement.block, name] = statement.span
        elif name in self.settings:
            self.params[name] = (self.settings[name],)
        elif isinstance(value, tuple) and not statement.is_list:
            self.mistakes.append(LIST_WITHOUT_BRACKETS.at(statement.span, name=name))
            self.params[name] = value
        elif value == ():
            self.mistakes.append(NO_VALUES.at(statement.span, name=name))
        else:
            self.params[name] = value if isinstance(value, tuple) else (value,)

    def refuse_twice(self, statements: Iterable[Statement]) -> None:
        first: dict[tuple[bool, str, str], Statement] = {}
        for statement in statements:
            if statement.kind == "decl":
                continue
            # A param may carry a let's name, but not another param's.
            is_let = statement.kind == "let"
            kind = "param" if is_let or statement.kind == "param" else statement.kind
            scope = statement.block if statement.kind == "arg" else kind
            key = (is_let, scope, statement.name)
            earlier = first.setdefault(key, statement)
            if earlier is not statement:
                twice = declared_twice(statement.name, statement.span, earlier.span)
                self.mistakes.append(twice)

    def note_unknown(self, statement: Statement) -> None:
        known = ARGUMENTS.get(statement.block)
        if statement.kind != "arg" or known is None or statement.name in known:
            return
        if statement.block == "search" and statement.name.startswith(_SEARCH_PREFIXES):
            return
        hint = did_you_mean(statement.name, known)
        self.notes.append(
            UNKNOWN_ARGUMENT.at(
                statement.span, name=statement.name, block=statement.block, hint=hint
            )
        )

    def block(self, name: str) -> dict[str, Span]:
        """Return the places of a block's arguments by their names."""
        return {arg: span for (block, arg), span in self.spans.items() if block == name}


def read_perf_tuning(
    text: str, origin: Origin, settings: Mapping[str, Value] | None = None
) -> PerfTuning:
    """Return what `text` says, where `settings` (``--set``) win over its parameters.

    Raises:
        AnnotuneError: With every mistake that stands alone, in the order of the text.
    """
    own = statements_of(parse_tree(text, "perf_tuning", origin), text, origin)
    folder = Path(origin.file).parent
    parts = [own, *(part for one in own.imports for part in imported(one, folder))]
    return _read(parts, origin.span(0, len(text)), folder, settings or {})


def read_specification(
    parts: list[Statements], span: Span, folder: Path, settings: Mapping[str, Value] | None = None
) -> PerfTuning:
    """Return what a specification of ``--spec FILE`` says of a region at `span`.

    Raises:
        AnnotuneError: With every mistake that stands alone, in the order of the text.
    """
    return _read(parts, span, folder, settings or {})


def _read(
    parts: list[Statements], span: Span, folder: Path, settings: Mapping[str, Value]
) -> PerfTuning:
    statements = [statement for part in parts for statement in part.statements]
    reader = _Reader(settings)
    for part in parts:
        reader.mistakes += part.mistakes
        reader.notes += part.notes
    reader.refuse_twice(statements)
    reader.settle([one for one in statements if one.kind in ("let", "param", "arg")])
    for statement in statements:
        reader.note_unknown(statement)
    constraints = tuple(_constraints(statements, reader))
    variables = tuple(_variables(statements, reader))
    spec = Spec(
        _parameters(statements, "input_params", reader),
        _parameters(statements, "performance_params", reader),
        constraints,
        reader.arguments["search"],
        reader.arguments["build"],
        span=span,
    )
    try:
        vouched = assumptions(reader.arguments["assume"], reader.block("assume"))
        spec = replace(spec, assumptions=vouched)
        spec = with_first_sizes(spec)
        files = {block: reader.arguments[block] for block in ("input_vars", "validation")}
        files["performance_test_code"] = reader.arguments["performance_test_code"]
        more, notes = declared_in_files(files, reader.spans, folder, spec)
        variables += tuple(one for one in more if one.name not in {v.name for v in variables})
        reader.notes += notes
    except AnnotuneError as error:
        reader.mistakes.extend(error.diagnostics)
    if reader.mistakes:
        raise AnnotuneError.of(*sorted(reader.mistakes, key=lambda mistake: mistake.span))
    reader.notes += check_flags(spec, reader.spans.get(("build", "build_command"), span))
    kept, warnings = without_unused_flags(spec)
    notes = (*reader.notes, *warnings)
    spec = replace(
        spec,
        performance_params=kept,
        input_vars=variables,
        notes=tuple(sorted(notes, key=lambda note: note.span)),
    )
    return PerfTuning(spec, reader.lets)


def _parameters(statements: list[Statement], block: str, reader: _Reader) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(one.name, reader.params[one.name], one.span)
        for one in statements
        if one.kind == "param" and one.block == block and one.name in reader.params
    )


def _constraints(statements: list[Statement], reader: _Reader) -> Iterator[Constraint]:
    for one in statements:
        if one.kind != "constraint":
            continue
        span = one.at(0, len(one.text))
        lets = {name: value for name, value in reader.lets.items() if name not in reader.params}
        try:
            yield Constraint(one.name, substitute(Formula(one.text, span), lets), one.span)
        except ExpressionError as error:
            reader.mistakes.extend(error.at(one.at).diagnostics)


def _variables(statements: list[Statement], reader: _Reader) -> Iterator[InputVariable]:
    """Yield the variables of ``decl`` statements, `let` names replaced by their values."""
    seen: dict[str, InputVariable] = {}
    lets = {name: value for name, value in reader.lets.items() if name not in reader.params}
    for one in statements:
        if one.kind != "decl":
            continue
        try:
            variable = input_variable(one)
        except AnnotuneError as error:
            reader.mistakes.extend(error.diagnostics)
            continue
        first = seen.setdefault(variable.name, variable)
        if first is not variable:
            reader.mistakes.append(declared_twice(variable.name, variable.span, first.span))
        initial = variable.initial
        if isinstance(initial, tuple):
            initial = tuple(substitute(item, lets) for item in initial)
        elif initial is not None:
            initial = substitute(initial, lets)
        extents = tuple(substitute(extent, lets) for extent in variable.extents)
        yield replace(variable, extents=extents, initial=initial)
