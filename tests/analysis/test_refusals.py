"""What the analysis refuses, with the words and the place."""

from __future__ import annotations

import pytest

from annotune.analysis.analyse import analyse
from annotune.diagnostics import AnnotuneError

from .regions import region

REFUSALS = {
    "a gather from an array of unknown length": (
        "for i in 0:n: y[i] += x[col[i]]",
        "AT214",
        "'x' is read at 'col[i]', so all of it is needed, but its length is not known",
    ),
    "a scatter": (
        "for i in 0:n: y[col[i]] += x[i]",
        "AT213",
        "'y' is written at 'col[i]', which no analysis can follow: two iterations may write one "
        "element",
    ),
    "a read of a product of iterators": (
        "for i in 0:n: for j in 0:n: y[i] += a[i*j]",
        "AT214",
        "'a' is read at 'i * j', so all of it is needed, but its length is not known",
    ),
    "product of iterators": (
        "for i in 0:n: for j in 0:n: a[i*j] = 1.0",
        "AT201",
        "subscript 'i * j' of 'a' is not affine in i and j",
    ),
    "square": (
        "for i in 0:n: a[i*i] = 1.0",
        "AT201",
        "subscript 'i * i' of 'a' is not affine in i",
    ),
    "half of what may be negative": (
        "for i in -3:n: a[i/2] = 1.0",
        "AT201",
        "subscript 'i / 2' of 'a' is not affine in i",
    ),
    "a quotient by an unknown size": (
        "for i in 0:n: a[i/m] = 1.0",
        "AT205",
        "the value of 'm' is needed: without it the rows of 'a' cannot be proven apart",
    ),
    "a scalar of the region": (
        "for i in 0:n\n  k = 2.0\n  a[k] = 1.0\n",
        "AT202",
        "subscript 'k' of 'a' uses 'k', which the region changes",
    ),
    "a bound that is read from memory": (
        "for i in 0:n: for j in 0:r[i]: a[j] = 1.0",
        "AT203",
        "the bound 'r[i]' of loop 'j' is not affine in the loops around it",
    ),
    "a square bound": (
        "for i in 0:n: for j in 0:i*i: a[j] = 1.0",
        "AT203",
        "the bound 'i*i' of loop 'j' is not affine in the loops around it",
    ),
    "a bound that changes": (
        "for i in 0:n\n  k = 2.0\n  for j in 0:k\n    a[j] = 1.0\n",
        "AT204",
        "the bound 'k' of loop 'j' uses 'k', which the region changes",
    ),
    "a missing row length": (
        "for i in 0:m: for j in 0:p: C[i*n + j] = 1.0",
        "AT205",
        "the value of 'n' is needed: without it the rows of 'C' cannot be proven apart",
    ),
    "rows of unknown length": (
        "for i in 0:n: for j in 0:n: a[i][j*n + i] = 1.0",
        "AT208",
        "the length of the rows of 'a' is not known",
    ),
    "a loop without iterations": (
        "for i in 4:4: a[i] = 1.0",
        "AT210",
        "loop 'i' runs no iteration at these sizes",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name: str) -> None:
    text, code, message = REFUSALS[name]
    with pytest.raises(AnnotuneError) as refused:
        analyse(region(text))
    assert [(d.code, d.message) for d in refused.value.diagnostics] == [(code, message)]


def test_a_missing_size_says_how_to_give_it() -> None:
    with pytest.raises(AnnotuneError) as refused:
        analyse(region("for i in 0:m: for j in 0:p: C[i*n + j] = 1.0"))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.help == "add 'param n = …;' to `input_params`, or give --set n=…"


def test_a_private_scalar_that_lives_on_is_refused() -> None:
    text = "for i in 0:n\n  t = a[i]\n  b[i] = t\n"
    assert analyse(region(text)).private == {"t"}
    with pytest.raises(AnnotuneError) as refused:
        analyse(region(text, read_after=["t"]))
    assert [d.code for d in refused.value.diagnostics] == ["AT207"]


def test_every_wrong_subscript_is_reported() -> None:
    with pytest.raises(AnnotuneError) as refused:
        analyse(region("for i in 0:n\n  a[i*i] = 1.0\n  b[c[i]] = x[i]\n  b[i*i] = 1.0\n"))
    assert [d.code for d in refused.value.diagnostics] == ["AT201", "AT213", "AT201"]


def test_pointers_without_restrict_are_a_warning() -> None:
    text = "for i in 0:n: a[i] = b[i] + c[i]"
    sizes = {"n": 8}
    (warning,) = analyse(region(text, sizes=sizes, restrict=False)).warnings
    assert (warning.code, warning.severity) == ("AT220", "warning")
    assert warning.message == "the pointers 'a', 'b' and 'c' are assumed not to overlap"
    assert analyse(region(text, sizes=sizes)).warnings == ()
    assert analyse(region(text, sizes=sizes, restrict=False, pointers=False)).warnings == ()


def test_work_without_sizes_is_a_warning() -> None:
    analysis = analyse(region("for i in 0:n: a[i] = 1.0"))
    assert analysis.all_sizes
    assert [w.code for w in analysis.warnings] == ["AT221"]
    assert analysis.accesses[0][0].strides == {"i": 1}
