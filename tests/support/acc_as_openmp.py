"""OpenACC's text with OpenMP's directives for threads, its data in one memory with the host."""

from __future__ import annotations

from annotune.measure.directives import directives, openmp_directive


def as_openmp(acc_text: str) -> str:
    """Return `acc_text` with OpenMP in place of OpenACC, every line at its number.

    ``parallel loop`` and a ``loop`` inside it become (nested) ``parallel for``; ``loop
    seq``, ``kernels``, ``cache`` and data constructs disappear, their lines stay; ``tile(8, 32)``
    becomes ``collapse(2)``.

    Raises:
        UnsupportedAcc: A directive or a clause is not known.
    """
    parts: list[str] = []
    at = 0
    for found in directives(acc_text):
        text = openmp_directive(found)
        parts += [acc_text[at : found.start], found.indent + f"#pragma {text}" if text else ""]
        parts.append(found.tail)
        at = found.end
    return "".join((*parts, acc_text[at:]))
