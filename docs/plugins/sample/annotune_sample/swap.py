"""An annotation module: ``begin Swap ( i, j )`` swaps two loops and shares the new outer one."""

from __future__ import annotations

RECIPE = """
target("openmp")
interchange(0, "OUTER", "INNER")
threads(0, core={"INNER"})
"""


def swap(text: str) -> str:
    """Return the recipe that the text of the annotation stands for."""
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(name.isidentifier() for name in names):
        raise ValueError("it names two loops, such as `i, j`")
    return RECIPE.replace("OUTER", names[0]).replace("INNER", names[1])
