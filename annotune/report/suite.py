"""A suite: functions at named sizes, in families, and the tables to print of them; a YAML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from annotune import plugins
from annotune.annotation.devices import load_device
from annotune.annotation.messages import did_you_mean, gathered, nearest
from annotune.annotation.yaml_nodes import YamlFile, read_yaml
from annotune.codegen.target import DEFAULT_TARGETS, target_names
from annotune.diagnostics import NOWHERE, AnnotuneError, Diagnostic, Span, Template
from annotune.frozen import dataclass
from annotune.strategies.registry import AUTO, STRATEGY_NAMES
from annotune.tuning.results import ORIGINALS

NO_SUITE_FILE = Template(
    "AT630",
    "there is no file '{path}'",
    "files are looked for in the folder of the YAML file that names them",
)
NO_SUCH_WORKLOAD = Template(
    "AT631", "no workload is called '{name}'", "{hint}name functions of {table}, such as 'gemm*'"
)
NO_SUCH_SIZE = Template("AT632", "these workloads have no size '{size}'", "{hint}sizes: {known}")
OTHER_COUNT = Template(
    "AT633",
    "size '{size}' has {given} values, and the function '{function}' names {wanted}",
    "give a value for each name of a function, in their order",
)
NO_SUCH_FAMILY = Template("AT634", "there is no family '{name}'", "{hint}families: {known}")

LAYOUTS: Mapping[str, str] = {
    "versions": "Each version at each size",
    "speedups": "Speed-ups over other versions",
    "rates": "Each function at each size",
    "curve": "Each version against the size, with the bound of the roofline",
    "ablation": "Speed-ups over the original with one kind of steps after the other",
    "grids": "Grids that are asked for and chosen",
    "profile": "What a GPU's counters tell of the kernels, and the model of the same",
}
"""What a table can be, by the word for it."""

# More would be weeks of work; a chain of aliases can ask for it.
MOST_WORKLOADS = 1000
# What an int of C holds.
MOST_SIZE = 2**31 - 1

_SUITE_KEYS = ("title", "workloads", "devices", "targets", "strategy", "families", "tables")
_WORKLOADS_KEYS = ("sizes", "families")
_FUNCTIONS_KEYS = ("file", "by", "functions", "sizes")
_PICKED_KEYS = ("workloads", "sizes")
_WISH_KEYS = ("layout", "title", "families", "of", "over", "strategy")
_BY = ("set", "define")


@dataclass(frozen=True, eq=False)
class Workload:
    """A function of a file at one size.

    `label` is what tables call the size. Its `values` are for ``--set``, where `is_macro` for
    ``-D``. `span` is where the function is named.
    """

    file: Path
    function: str
    label: str
    values: Mapping[str, int]
    is_macro: bool = False
    span: Span = NOWHERE

    @property
    def name(self) -> str:
        return f"{self.function}-{self.label}"

    @property
    def key(self) -> tuple[object, ...]:
        """Return what tells it from others, whatever its size is called."""
        return (self.file, self.function, *self.values.items(), self.is_macro)


@dataclass(frozen=True, slots=True)
class WorkloadFamily:
    """Workloads of which a table has one figure for each size, their geometric mean."""

    name: str
    workloads: tuple[Workload, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Return what the sizes are called, in their order."""
        return tuple(dict.fromkeys(work.label for work in self.workloads))

    @property
    def functions(self) -> tuple[str, ...]:
        """Return the names of the functions, in their order."""
        return tuple(dict.fromkeys(work.function for work in self.workloads))


@dataclass(frozen=True, slots=True)
class TableWish:
    """A table that is asked for, of some `families`.

    It is about the versions `of`, and compares them with those `over` which they are better. First
    choices in it are those of `strategy`.
    """

    layout: str
    title: str
    families: tuple[WorkloadFamily, ...]
    of: tuple[str, ...]
    over: tuple[str, ...]
    strategy: str = AUTO


@dataclass(frozen=True)
class Suite:
    """What `annotune table` runs and prints. `devices` are names of presets, or files of some."""

    path: Path
    title: str
    devices: tuple[str, ...]
    targets: tuple[str, ...]
    strategy: str
    tables: tuple[TableWish, ...]

    @property
    def workloads(self) -> tuple[Workload, ...]:
        """Return the workloads of all tables in their order, each once."""
        families = (family for wish in self.tables for family in wish.families)
        found = {work.key: work for family in families for work in family.workloads}
        return tuple(found.values())

    def strategies(self, layout: str, work: Workload) -> tuple[str, ...]:
        """Return the strategies whose first choice for a workload the tables of a layout have."""
        own = (
            wish.strategy
            for wish in self.tables
            if wish.layout == layout
            and any(work.key == one.key for family in wish.families for one in family.workloads)
        )
        return tuple(dict.fromkeys(own))


def load_suite(path: Path) -> Suite:
    """Return the suite of a YAML file; docs/table.md tells what stands in it.

    Raises:
        AnnotuneError: With its mistakes, at their places.
    """
    file = read_yaml(path)
    nodes = _values(file, file.root, "a suite", _SUITE_KEYS)
    title = file.word(nodes["title"], "'title'") if "title" in nodes else path.stem
    targets = _words_of(file, nodes.get("targets"), "a target", target_names())
    strategy = _strategy(file, nodes, AUTO)
    devices = tuple(_device(file, node) for node in _listed(file, nodes.get("devices"), "devices"))
    families = _families(file, nodes)
    tables: list[TableWish] = []
    mistakes: list[Diagnostic] = []
    known = targets or DEFAULT_TARGETS
    for node in _listed(file, _required(file, nodes, "tables"), "tables"):
        with gathered(mistakes):
            tables.append(_wish(file, node, families, known, strategy))
    _refuse(mistakes)
    return Suite(path, title, devices or ("h200",), known, strategy, tuple(tables))


def load_workloads(path: Path) -> tuple[Workload, ...]:
    """Return the workloads of a table such as ``c_examples/workloads.yaml``, in its order.

    Raises:
        AnnotuneError: With its mistakes, at their places.
    """
    file = read_yaml(path)
    nodes = _values(file, file.root, "a table of workloads", _WORKLOADS_KEYS)
    found: list[Workload] = []
    mistakes: list[Diagnostic] = []
    for node in _listed(file, _required(file, nodes, "families"), "families"):
        with gathered(mistakes):
            found += _functions(file, _values(file, node, "a family", _FUNCTIONS_KEYS), node)
            _refuse_many(file, node, found)
    _refuse(mistakes)
    return tuple(found)


def _families(file: YamlFile, nodes: Mapping[str, yaml.Node]) -> dict[str, WorkloadFamily]:
    """Return the families of a suite by their names."""
    table = nodes.get("workloads")
    path = None if table is None else _path(file, table)
    known = () if path is None else load_workloads(path)
    found: dict[str, WorkloadFamily] = {}
    places: dict[str, Span] = {}
    mistakes: list[Diagnostic] = []
    entries = file.mapping(_required(file, nodes, "families"), "'families'")
    for name, (key, node) in entries.items():
        with gathered(mistakes):
            if "workloads" in file.mapping(node, "a family"):
                own = _picked(file, _values(file, node, "a family", _PICKED_KEYS), known, path)
            else:
                own = _functions(file, _values(file, node, "a family", _FUNCTIONS_KEYS), node)
            found[name], places[name] = WorkloadFamily(name, tuple(own)), file.span(key)
            _refuse_many(file, node, [work for f in found.values() for work in f.workloads])
    _refuse(mistakes)
    return found


def _functions(file: YamlFile, nodes: Mapping[str, yaml.Node], owner: yaml.Node) -> list[Workload]:
    """Return functions of one file at sizes that give the values of each one's names in turn."""
    path = _path(file, _required(file, nodes, "file", owner))
    is_macro = "by" in nodes and _one_of(file, nodes["by"], _BY) == "define"
    functions = file.mapping(_required(file, nodes, "functions", owner), "'functions'")
    sizes = file.mapping(_required(file, nodes, "sizes", owner), "'sizes'")
    found: list[Workload] = []
    values = {label: _counts(file, node) for label, (_, node) in sizes.items()}
    for function, (key, node) in functions.items():
        names = [file.word(one, "a size's name") for one in file.sequence(node, f"'{function}'")]
        for label, (_, place) in sizes.items():
            own = values[label]
            if len(own) != len(names):
                counts = {"given": len(own), "wanted": len(names)}
                file.refuse(place, OTHER_COUNT, size=label, function=function, **counts)
            given = dict(zip(names, own, strict=True))
            found.append(Workload(path, function, label, given, is_macro, file.span(key)))
    return found


def _picked(
    file: YamlFile,
    nodes: Mapping[str, yaml.Node],
    known: Sequence[Workload],
    path: Path | None,
) -> list[Workload]:
    """Return those of the table's workloads that are named, at some of their sizes."""
    names = list(dict.fromkeys(work.function for work in known))
    found: list[Workload] = []
    for node in _listed(file, nodes["workloads"], "workloads"):
        pattern = file.word(node, "a function")
        matched = [name for name in names if fnmatchcase(name, pattern)]
        if not matched:
            table = "the suite's `workloads`" if path is None else str(path)
            values = {"name": pattern, "hint": nearest(pattern, names), "table": table}
            file.refuse(node, NO_SUCH_WORKLOAD, **values)
        span = file.span(node)
        found += [replace(w, span=span) for w in known if w.function in matched]
    return _at_sizes(file, nodes["sizes"], found) if "sizes" in nodes else found


def _at_sizes(file: YamlFile, node: yaml.Node, found: Sequence[Workload]) -> list[Workload]:
    """Return workloads at the sizes of a list, or of a mapping that gives them other labels."""
    if isinstance(node, yaml.MappingNode):
        entries = file.mapping(node, "'sizes'")
        wanted = [(label, value) for label, (_, value) in entries.items()]
    else:
        wanted = [(file.word(one, "a size"), one) for one in file.sequence(node, "'sizes'")]
    known = list(dict.fromkeys(work.label for work in found))
    labels: dict[str, str] = {}
    for label, value in wanted:
        size = file.word(value, "a size")
        if size not in known:
            hint = nearest(size, known)
            file.refuse(value, NO_SUCH_SIZE, size=size, hint=hint, known=", ".join(known) or "none")
        labels[size] = label
    # All functions at the first size, then at the next: what a run that ends early has is whole.
    return [
        replace(work, label=label)
        for size, label in labels.items()
        for work in found
        if work.label == size
    ]


def _strategy(file: YamlFile, nodes: Mapping[str, yaml.Node], usual: str) -> str:
    known = (*STRATEGY_NAMES, *plugins.names("annotune.strategies"))
    return _one_of(file, nodes["strategy"], known) if "strategy" in nodes else usual


def _wish(
    file: YamlFile,
    node: yaml.Node,
    families: Mapping[str, WorkloadFamily],
    targets: Sequence[str],
    strategy: str,
) -> TableWish:
    nodes = _values(file, node, "a table", _WISH_KEYS)
    layout = _one_of(file, _required(file, nodes, "layout", node), LAYOUTS)
    title = file.word(nodes["title"], "'title'") if "title" in nodes else LAYOUTS[layout]
    versions = (*ORIGINALS, *targets)
    of = _words_of(file, nodes.get("of"), "of", versions)
    over = _words_of(file, nodes.get("over"), "over", versions)
    own: list[WorkloadFamily] = []
    for one in _listed(file, nodes.get("families"), "families"):
        name = file.word(one, "a family")
        if name not in families:
            known = ", ".join(families) or "none"
            hint = nearest(name, families)
            file.refuse(one, NO_SUCH_FAMILY, name=name, hint=hint, known=known)
        own.append(families[name])
    named = tuple(own or families.values())
    strategy = _strategy(file, nodes, strategy)
    return TableWish(layout, title, named, of or tuple(targets), over or ORIGINALS, strategy)


def _values(
    file: YamlFile, node: yaml.Node, what: str, known: Iterable[str]
) -> dict[str, yaml.Node]:
    """Return the values of a mapping by their keys, each of which must be `known`."""
    return {key: value for key, (_, value) in file.mapping(node, what, known).items()}


def _required(
    file: YamlFile, nodes: Mapping[str, yaml.Node], key: str, owner: yaml.Node | None = None
) -> yaml.Node:
    entries = {name: (node, node) for name, node in nodes.items()}
    return file.required(entries, key, file.root if owner is None else owner)


def _listed(file: YamlFile, node: yaml.Node | None, name: str) -> list[yaml.Node]:
    """Return the items of a list, one alone where there is no list."""
    if node is None:
        return []
    return [node] if isinstance(node, yaml.ScalarNode) else file.sequence(node, f"'{name}'")


def _words_of(
    file: YamlFile, node: yaml.Node | None, name: str, known: Sequence[str]
) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_one_of(file, one, known) for one in _listed(file, node, name)))


def _one_of(file: YamlFile, node: yaml.Node, known: Iterable[str]) -> str:
    words = tuple(known)
    word = file.word(node, "it")
    if word not in words:
        hint = did_you_mean(word, words)
        file.wrong(node, f"'{word}'", f"one of {', '.join(words)}", hint)
    return word


def _counts(file: YamlFile, node: yaml.Node) -> tuple[int, ...]:
    """Return the values of a size."""
    found: list[int] = []
    for one in file.sequence(node, "a size"):
        value = file.value(one, "an extent")
        if type(value) is not int or not 1 <= value <= MOST_SIZE:
            file.wrong(one, "an extent", f"a whole number from 1 to {MOST_SIZE}")
        found.append(value)
    return tuple(found)


def _path(file: YamlFile, node: yaml.Node) -> Path:
    """Return a file that is there, as seen from the folder of the YAML file."""
    path = Path(file.file).parent / file.word(node, "a file")
    if "\0" in str(path) or not path.is_file():
        file.refuse(node, NO_SUITE_FILE, path=path)
    return path


def _device(file: YamlFile, node: yaml.Node) -> str:
    """Return a device's name, or the path of its file."""
    word = file.word(node, "a device")
    is_file = word.endswith((".yaml", ".yml"))
    name = str(_path(file, node)) if is_file else word
    try:
        load_device(name)
    except AnnotuneError as refusal:
        if is_file:
            raise
        raise AnnotuneError(
            tuple(replace(d, span=file.span(node)) for d in refusal.diagnostics)
        ) from None
    return name


def _refuse(mistakes: Sequence[Diagnostic]) -> None:
    if mistakes:
        raise AnnotuneError.of(*mistakes)


def _refuse_many(file: YamlFile, node: yaml.Node, found: Sequence[Workload]) -> None:
    if len(found) > MOST_WORKLOADS:
        file.wrong(node, "a suite", f"of at most {MOST_WORKLOADS} workloads")
