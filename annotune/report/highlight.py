"""Generated C and CUDA as marked-up text: comments, strings, directives, keywords."""

from __future__ import annotations

import re

from markupsafe import Markup

from annotune.printable import printable

_KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while template typename nullptr bool "
    "__global__ __device__ __host__ __shared__ __restrict__ __syncthreads __launch_bounds__ "
    "blockIdx threadIdx blockDim gridDim size_t"
)

# Classes are one letter: a page holds thousands of these.
_TOKEN = re.compile(
    r"(?P<c>/\*.*?(?:\*/|\Z)|//[^\n]*)"
    r"|(?P<s>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<p>^[ \t]*\#(?:\\\n|[^\n])*)"
    rf"|(?P<k>\b(?:{_KEYWORDS.replace(' ', '|')})\b)"
    r"|(?P<n>\b(?:0[xX]\w*|\d[\w.]*(?:(?<=[eE])[+-]\d\w*)?))",
    re.DOTALL | re.MULTILINE,
)


def highlight(text: str) -> Markup:
    """Return C text, escaped, its tokens in ``<span class=…>``; every character is kept.

    Unprintable characters are replaced as `printable` does, and carriage returns dropped.
    """
    text = printable(text.replace("\r\n", "\n"))
    parts: list[Markup] = []
    done = 0
    for found in _TOKEN.finditer(text):
        parts.append(Markup.escape(text[done : found.start()]))
        kind = found.lastgroup
        assert kind is not None
        parts.append(Markup('<span class="{}">{}</span>').format(kind, found.group()))
        done = found.end()
    parts.append(Markup.escape(text[done:]))
    return Markup("").join(parts)
