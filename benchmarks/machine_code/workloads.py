"""The workloads of ``c_examples/workloads.yaml``: functions at named sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from annotune.frontend.read.preprocess import HeaderSearch
from annotune.pipeline import Settings
from annotune.report.suite import load_workloads

EXAMPLES = Path(__file__).parents[2] / "c_examples"
TABLE = EXAMPLES / "workloads.yaml"


class UnknownWorkload(Exception):
    """There is no workload of a name; the message says which ones are near."""


@dataclass(frozen=True)
class Workload:
    """One function at one size; `name` is ``function-size``.

    `by` is ``set`` where an option of annotune gives the sizes, ``define`` where macros do.
    """

    name: str
    file: str
    function: str
    by: str
    sizes: Mapping[str, int]

    @property
    def size(self) -> str:
        """Return the size's own name, such as ``A`` or ``512``."""
        return self.name.removeprefix(f"{self.function}-")

    def settings(self) -> Settings:
        """Return what annotune is asked to make of the workload."""
        path = EXAMPLES / self.file
        if self.by == "set":
            return Settings(path, ("cuda",), sizes=dict(self.sizes), function=self.function)
        search = HeaderSearch(defines={name: str(value) for name, value in self.sizes.items()})
        return Settings(path, ("cuda",), search=search, function=self.function)

    def options(self) -> str:
        """Return the words that follow a command of annotune, run in ``c_examples``."""
        option = {"set": "--set", "define": "-D"}[self.by]
        sizes = [f"{option} {name}={value}" for name, value in self.sizes.items()]
        return " ".join([self.file, "--function", self.function, *sizes])


def all_workloads(path: Path = TABLE) -> tuple[Workload, ...]:
    """Return every workload of the table, in its order.

    Raises:
        AnnotuneError: A size has more or fewer values than a function has names, or the like.
    """
    return tuple(
        Workload(
            one.name,
            str(one.file.relative_to(path.parent)),
            one.function,
            "define" if one.is_macro else "set",
            one.values,
        )
        for one in load_workloads(path)
    )


def chosen(patterns: Iterable[str], known: Iterable[Workload]) -> tuple[Workload, ...]:
    """Return the workloads whose names match a pattern such as ``gemm-*``, in their order.

    Raises:
        UnknownWorkload: A pattern matches none.
    """
    every = tuple(known)
    names: set[str] = set()
    for pattern in patterns:
        matched = {w.name for w in every if fnmatchcase(w.name, pattern)}
        if not matched:
            near = get_close_matches(pattern, [w.name for w in every], 3)
            hint = f"; did you mean {', '.join(near)}?" if near else "; --list prints them all"
            raise UnknownWorkload(f"there is no workload '{pattern}'{hint}")
        names |= matched
    return tuple(w for w in every if w.name in names)
