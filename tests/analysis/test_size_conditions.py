"""Conditions on sizes that proofs need: what they say, and that with them every claim is true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

import pytest
from codegen.emitted import variants
from hypothesis import assume, given
from hypothesis import strategies as st
from support.laws import tried
from support.regions import positions
from support.sizes import fulfils

from annotune.analysis.analyse import analyse
from annotune.analysis.domains import monomial_of, parameter
from annotune.analysis.facts import Analysis, LoopKind
from annotune.analysis.model import Demand
from annotune.annotation.spec import Assumptions, Spec
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Binary, Expr, Int, print_expr
from annotune.ir.fold import fold
from annotune.ir.poly import Monomial, Poly
from annotune.ir.region import Region

from .brute import Machine, carried_by
from .regions import region

Sizes = Mapping[str, int]

# The nest, the sizes of its annotation, and the conditions under which its claims hold.
NESTS: dict[str, tuple[str, dict[str, int], list[str]]] = {
    "a leading dimension": (
        "for i in 0:m: for j in 0:n: C[i*ldc + j] = 1.0",
        {"m": 3, "n": 3, "ldc": 3},
        ["ldc >= n"],
    ),
    "a product of matrices": (
        "for i in 0:m: for j in 0:n: for l in 0:2: C[i*ldc+j] += A[i*lda+l] * B[l*ldb+j]",
        {"m": 3, "n": 2, "ldc": 4, "lda": 2, "ldb": 2},
        ["ldc >= n", "lda >= 0", "ldb >= 0"],
    ),
    "rows that count from 1": (
        "for j in 1:n+1: for i in 1:m+1: c[i + j*ld] += 1.0",
        {"m": 3, "n": 3, "ld": 5},
        ["ld >= m"],
    ),
    "a halo before each row": (
        "for k in lo:hi+1: for j in lo:hi+1: a[(hi+4)*k + j - lo + 2] = 1.0",
        {"lo": 1, "hi": 4},
        ["lo >= -3"],
    ),
    "a neighbour in the row": (
        "for i in 0:m: for j in 1:n-1: a[i*ld + j] = a[i*ld + j - 1] + a[i*ld + j + 1]",
        {"m": 3, "n": 4, "ld": 4},
        ["ld >= n"],
    ),
    "a band whose inner loop has two bounds": (
        "for i in 0:n: for j in max(0, i-1):min(n, i+2): a[i*ld + j] = 1.0",
        {"n": 4, "ld": 4},
        ["ld >= n"],
    ),
    "the lower triangle": (
        "for i in 0:n: for j in 0:i+1: a[i*ld + j] = 1.0",
        {"n": 3, "ld": 3},
        ["ld >= n"],
    ),
    "a triangle without its diagonal": (
        "for i in 0:n: for j in 0:i: a[i*n + j] = 1.0",
        {"n": 4},
        ["n >= 2"],
    ),
    "two rows apart": (
        "for i in 0:m: for j in 0:n: a[i*ld + j] = a[i*ld + j + ld]",
        {"m": 3, "n": 3, "ld": 3},
        ["ld >= n"],
    ),
    "a row backwards": (
        "for i in 0:m: for j in 0:n: a[i*ld + n - 1 - j] = 1.0",
        {"m": 3, "n": 3, "ld": 3},
        ["ld >= n"],
    ),
    "two leading dimensions": (
        "for i in 0:2: for j in 0:m: for k in 0:n: a[(i*p + j)*q + k] = 1.0",
        {"m": 2, "n": 2, "p": 3, "q": 3},
        ["q >= n", "p >= m"],
    ),
    "a step": (
        "for i in 0:m: for j in 0:4 step 3: a[i*ld + j] = 1.0",
        {"m": 3, "ld": 4},
        ["ld >= 4"],
    ),
    "a read with a stride downwards": (
        "for i in 0:m: y[i] = x[i*s]",
        {"m": 3, "s": -2},
        ["s <= 0"],
    ),
    "two lengths of one array": (
        "for i in 0:m: y[i] = x[i]\nfor j in 0:n: z[j] = x[j]\n",
        {"m": 3, "n": 2},
        ["m >= n"],
    ),
    "a guard": (
        "for i in 0:m: for j in 0:n: a[i*ld + j] = 1.0 if j < p",
        {"m": 3, "n": 3, "ld": 2, "p": 2},
        ["ld >= p", "p >= 1", "n >= p"],
    ),
}


def _sizes(one: Region) -> Iterator[dict[str, int]]:
    """Yield all small sizes at which every loop with fixed bounds runs."""
    names = list(one.sizes)
    for values in product(range(-4 if len(names) < 3 else -1, 6), repeat=len(names)):
        sizes = dict(zip(names, values, strict=True))
        if _runs(one, sizes):
            yield sizes


def _runs(one: Region, sizes: Sizes) -> bool:
    for loop in one.nest.loops():
        lower, upper = fold(loop.lower, sizes), fold(loop.upper, sizes)
        if isinstance(lower, Int) and isinstance(upper, Int) and lower.value >= upper.value:
            return False
    return True


def _wrong(analysis: Analysis, sizes: Sizes) -> list[str]:
    """Return the claims on loops and sections that a run at `sizes` contradicts."""
    one, order, found = analysis.region, list(LoopKind), []
    carried = carried_by(one, sizes, analysis.private)
    for facts, place in zip(analysis.loops, positions(one.nest.body), strict=True):
        seen = carried.get(place, set())
        needed = LoopKind.PARALLEL
        if seen:
            needed = LoopKind.SERIAL if False in seen else LoopKind.REDUCTION
        if order.index(facts.kind) < order.index(needed):
            found.append(f"{facts.name} is {needed}")
    machine = Machine(one, sizes)
    touched = [seen.reads | seen.writes for seen in machine.trace().values()]
    places = frozenset[tuple[str, int]]().union(*touched)
    for name, shape in analysis.shapes.items():
        elements = {element for array, element in places if array == name}
        first = machine.value(shape.lowest, {}, set())
        end = first + machine.value(shape.length, {}, set())
        # Both ends are touched: a copy of more could leave the user's array.
        if (min(elements, default=first), max(elements, default=first - 1)) != (first, end - 1):
            found.append(f"{name} is not {first} to {end - 1}")
        wrote = {element for seen in touched for array, element in seen if array == name}
        if analysis.uses[name].overwritten and len(wrote) < end - first:
            found.append(f"{name} is not overwritten")
    return found


@pytest.mark.parametrize("name", NESTS)
def test_conditions_are_few_and_plain(name: str) -> None:
    text, sizes, expected = NESTS[name]
    analysis = analyse(region(text, sizes=sizes))
    assert analysis.all_sizes
    assert [print_expr(one) for one in analysis.conditions] == expected
    assert not analysis.warnings
    assert fulfils(analysis, sizes)


# The one with the most sizes, at all combinations of which every claim is counted out.
MANY = "a product of matrices"


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=(pytest.mark.slow,) if n == MANY else ()) for n in NESTS],
)
def test_claims_hold_exactly_where_the_conditions_do(name: str) -> None:
    text, sizes, expected = NESTS[name]
    one = region(text, sizes=sizes)
    analysis = analyse(one)
    right, edges, wrong = 0, set[str](), 0
    for at in _sizes(one):
        if fulfils(analysis, at):
            assert not _wrong(analysis, at), at
            right += 1
            edges |= {str(c) for c in analysis.conditions if _is_edge(c, at)}
        elif _wrong(analysis, at):
            wrong += 1
    assert right
    # Each condition was tried where it just holds, and without them a claim fails.
    assert len(edges) == len(expected)
    assert wrong


def _is_edge(condition: Expr, at: Sizes) -> bool:
    assert isinstance(condition, Binary)
    difference = fold(Binary("-", condition.left, condition.right), at)
    return difference == Int(0)


@st.composite
def nests(draw: st.DrawFn) -> str:
    """A nest over an array whose rows have a stride of their own."""
    bounds = ["0:n", "0:m", "1:n+1", "1:m-1", "0:min(n, m)"]
    rows = draw(st.sampled_from(bounds))
    columns = draw(st.sampled_from([*bounds, "0:i+1", "i:n", "0:n step 2"]))
    stride = draw(st.sampled_from(["ld", "ld", "(ld+2)", "(n+ld)"]))
    offset = st.sampled_from(["", " + 1", " - 1", " - n", " + ld", " - i"])
    write, read = (f"a[i*{stride} + j{draw(offset)}]" for _ in range(2))
    value = draw(st.sampled_from([read, "1.0", "x[j*ld]", "x[i*ld + j]", "y[i] + y[j]"]))
    guard = draw(st.sampled_from(["", "", "", " if j < n", " if i > 0", " if i != j"]))
    op = draw(st.sampled_from(["=", "+="]))
    return f"for i in {rows}: for j in {columns}: {write} {op} {value}{guard}"


@tried(60)
@given(text=nests(), tuned=st.tuples(*[st.integers(1, 5)] * 3))
def test_claims_hold_at_all_sizes_that_fulfil_the_conditions(
    text: str, tuned: tuple[int, int, int]
) -> None:
    one = region(text, sizes=dict(zip(("n", "m", "ld"), tuned, strict=True)))
    try:
        analysis = analyse(one)
    except AnnotuneError:
        assume(False)
    assert fulfils(analysis, one.sizes)
    for at in _sizes(one) if analysis.all_sizes else [one.sizes]:
        if fulfils(analysis, at):
            assert not _wrong(analysis, at), at


TEXT, TUNED = NESTS["a leading dimension"][:2]


def test_sizes_that_do_not_fulfil_a_condition_are_all_there_is() -> None:
    analysis = analyse(region(TEXT, sizes={**TUNED, "ldc": 2}))
    assert not analysis.all_sizes
    assert not analysis.conditions
    assert [facts.kind for facts in analysis.loops] == ["serial", "parallel"]
    assert [w.code for w in analysis.warnings] == ["AT222"]


def test_no_condition_is_made_up_for_a_size_without_a_value() -> None:
    with pytest.raises(AnnotuneError) as refused:
        analyse(region(TEXT, sizes={"m": 3, "n": 3}))
    assert [d.code for d in refused.value.diagnostics] == ["AT205"]


def test_what_a_switch_without_a_value_leaves_out_is_not_touched() -> None:
    text = "for i in 0:n\n  a[i] = x[i] if flag != 0\n"
    analysis = analyse(region(text, sizes={"n": 4}))
    assert analysis.all_sizes
    assert not analysis.conditions
    assert not analysis.warnings
    for shape in analysis.shapes.values():
        assert print_expr(shape.part.count) == "(flag != 0) ? n : 0"
    known = analyse(region(text, sizes={"n": 4, "flag": 1}))
    assert [print_expr(one) for one in known.conditions] == ["flag != 0"]
    assert not known.warnings


def test_an_assumption_keeps_the_conditions() -> None:
    one = region(TEXT, sizes=TUNED)
    assumed = replace(one, spec=Spec(assumptions=Assumptions(strides=True)))
    assert analyse(assumed).conditions == analyse(one).conditions != ()


def test_a_certificate_has_the_conditions() -> None:
    analysis = analyse(region(TEXT, sizes=TUNED))
    (variant,) = variants(load_target("cuda"), analysis, 1)
    made = certify(analysis, variant.tuned)
    assert "kernels run where ldc >= n: " in made.text()
    assert verify(made) == ()
    false = replace(made, conditions={"ldc >= n": "{ : 2 >= 3 }"})
    assert verify(false) == ("'ldc >= n' is false at these sizes: no kernel runs",)


NAMES = st.text("ab_t u/2%(", min_size=1, max_size=6)


@given(st.lists(NAMES, min_size=1, max_size=3))
def test_products_are_read_back_from_their_names_in_isl(names: list[str]) -> None:
    assert monomial_of(parameter(tuple(names))) == tuple(names)


@given(
    st.dictionaries(st.sampled_from([("m",), ("n",), ("ld",), ("m", "n")]), st.integers(-3, 3)),
    st.integers(-4, 4),
    st.booleans(),
    st.tuples(*[st.integers(-4, 4)] * 3),
)
def test_a_condition_is_written_as_it_is_proven(
    terms: dict[Monomial, int], constant: int, differs: bool, values: tuple[int, int, int]
) -> None:
    demand = Demand(Poly.of({**terms, (): constant}), differs)
    assume(demand.poly.names)
    known = dict(zip(("m", "n", "ld"), values, strict=True))
    assert fold(demand.expr({}), known) == Int(int(demand.holds(known)))
