"""Annotations in a YAML file of their own, for sources that must not be touched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import yaml

from annotune.annotation.commands import Recipe, parse_recipe
from annotune.annotation.expressions import evaluate_node, parse_expression, placed
from annotune.annotation.messages import NO_VALUES, gathered
from annotune.annotation.perf_tuning import assumptions
from annotune.annotation.regions import with_recipe
from annotune.annotation.spec import Assumptions, Constraint, Formula, Parameter, Spec, Value
from annotune.annotation.yaml_nodes import YamlFile, read_yaml
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass

_FILE_KEYS = ("file", "regions")
_REGION_KEYS = (
    "function",
    "loop",
    "occurrence",
    "input_params",
    "performance_params",
    "constraints",
    "search",
    "build",
    "assume",
    "recipe",
)


@dataclass(frozen=True, slots=True)
class SidecarEntry:
    """One region of a sidecar: the C file as written there, and the loop nest it binds to.

    `loop` is the iterator of the nest's outermost loop, `occurrence` counts such nests of
    `function` from 1.
    """

    file: str
    function: str
    loop: str
    occurrence: int
    spec: Spec
    span: Span


def load_sidecar(
    path: Path, settings: Mapping[str, Value] | None = None
) -> tuple[SidecarEntry, ...]:
    """Return the regions of a sidecar; `settings` (``--set``) replace their parameters.

    Raises:
        AnnotuneError: With the mistakes of each region, at their places in the YAML file.
    """
    yaml_file = read_yaml(Path(path))
    entries = yaml_file.mapping(yaml_file.root, "a sidecar", _FILE_KEYS)
    source = yaml_file.word(yaml_file.required(entries, "file", yaml_file.root), "'file'")
    regions = yaml_file.required(entries, "regions", yaml_file.root)
    found: list[SidecarEntry] = []
    mistakes: list[Diagnostic] = []
    for node in yaml_file.sequence(regions, "'regions'"):
        with gathered(mistakes):
            found.append(_Region(yaml_file, node, settings or {}).entry(source))
    if mistakes:
        raise AnnotuneError.of(*mistakes)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Region:
    """Reads one item of ``regions:``."""

    yaml_file: YamlFile
    node: yaml.Node
    settings: Mapping[str, Value]

    def entry(self, source: str) -> SidecarEntry:
        file = self.yaml_file
        entries = file.mapping(self.node, "a region", _REGION_KEYS)
        nodes = {key: value for key, (_, value) in entries.items()}
        function = file.word(file.required(entries, "function", self.node), "'function'")
        loop = file.word(file.required(entries, "loop", self.node), "'loop'")
        span = file.span(file.required(entries, "function", self.node))
        return SidecarEntry(source, function, loop, self.occurrence(nodes), self.spec(nodes), span)

    def occurrence(self, nodes: Mapping[str, yaml.Node]) -> int:
        if "occurrence" not in nodes:
            return 1
        value = self.yaml_file.value(nodes["occurrence"], "'occurrence'")
        if type(value) is not int or value < 1:
            self.yaml_file.wrong(nodes["occurrence"], "'occurrence'", "a number from 1")
        return value

    def spec(self, nodes: Mapping[str, yaml.Node]) -> Spec:
        names = dict(self.settings)
        inputs = self.parameters(nodes.get("input_params"), names)
        performance = self.parameters(nodes.get("performance_params"), names)
        spec = Spec(
            inputs,
            performance,
            self.constraints(nodes.get("constraints")),
            self.values(nodes.get("search"), "search"),
            self.values(nodes.get("build"), "build"),
            span=self.yaml_file.span(nodes["function"]),
            assumptions=self.assumptions(nodes.get("assume")),
        )
        recipe = self.recipe(nodes["recipe"]) if "recipe" in nodes else Recipe()
        return replace(with_recipe(spec, recipe), span=spec.span)

    def parameters(self, node: yaml.Node | None, names: dict[str, Value]) -> tuple[Parameter, ...]:
        """Return the parameters of a mapping, each added to `names` when it is one value."""
        if node is None:
            return ()
        found: list[Parameter] = []
        for name, (key, value) in self.yaml_file.mapping(node, "the parameters").items():
            values = self.parameter(name, value, names)
            if name in self.settings:
                values = (self.settings[name],)
            if not values:
                self.yaml_file.refuse(key, NO_VALUES, name=name)
            if len(values) == 1:
                names[name] = values[0]
            found.append(Parameter(name, values, self.yaml_file.span(key)))
        return tuple(found)

    def parameter(
        self, name: str, node: yaml.Node, names: Mapping[str, Value]
    ) -> tuple[Value, ...]:
        """Return a parameter's values: a list's items, or what an expression gives."""
        value = self.yaml_file.value(node, f"'{name}'")
        if isinstance(value, str):
            assert isinstance(node, yaml.ScalarNode)
            origin = self.yaml_file.origin(node)
            with placed(origin.span):
                value = evaluate_node(parse_expression(value), names)
        return value if isinstance(value, tuple) else (value,)

    def constraints(self, node: yaml.Node | None) -> tuple[Constraint, ...]:
        """Return the constraints of ``name: formula`` pairs, or of a list of formulas."""
        if node is None:
            return ()
        file = self.yaml_file
        if isinstance(node, yaml.SequenceNode):
            pairs = [(f"constraint_{at}", item, item) for at, item in enumerate(node.value, 1)]
        else:
            entries = file.mapping(node, "the constraints")
            pairs = [(name, key, value) for name, (key, value) in entries.items()]
        return tuple(self.constraint(name, key, value) for name, key, value in pairs)

    def constraint(self, name: str, key: yaml.Node, node: yaml.Node) -> Constraint:
        file = self.yaml_file
        text = file.word(node, f"constraint '{name}'")
        assert isinstance(node, yaml.ScalarNode)
        origin = file.origin(node)
        with placed(origin.span):
            parse_expression(text)
        return Constraint(name, Formula(text, origin.span(0, len(text))), file.span(key))

    def values(self, node: yaml.Node | None, what: str) -> dict[str, Value]:
        if node is None:
            return {}
        entries = self.yaml_file.mapping(node, f"'{what}'")
        return {key: self.yaml_file.value(node, f"'{key}'") for key, (_, node) in entries.items()}

    def assumptions(self, node: yaml.Node | None) -> Assumptions:
        if node is None:
            return Assumptions()
        entries = self.yaml_file.mapping(node, "'assume'")
        spans = {key: self.yaml_file.span(name) for key, (name, _) in entries.items()}
        return assumptions(self.values(node, "assume"), spans)

    def recipe(self, node: yaml.Node) -> Recipe:
        """Return the recipe of one text, or of a list with one text for each command."""
        file = self.yaml_file
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        recipe = Recipe()
        for part in nodes:
            text = file.word(part, "a command")
            assert isinstance(part, yaml.ScalarNode)
            more = parse_recipe(text, file.origin(part))
            recipe = Recipe(
                (*recipe.commands, *more.commands),
                (*recipe.performance_params, *more.performance_params),
            )
        return recipe
