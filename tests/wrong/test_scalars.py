"""Scalars of every kind, beside and inside kernels, and what C computes with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.codegen.target import load_target
from annotune.diagnostics import Severity
from annotune.pipeline import Settings, check, emit
from annotune.report.findings import certificate_text
from wrong.called import PROGRAMS, Array, Call, Program

COMPLEX_VALUES = (0, 0, 1, 1, 2, 3, 0)
# Below, at, and above what the programs are tuned for, and where nothing runs.
SIZES = (0, 1, 5, 16, 33)


STALE_SHORT = (
    Call("p177", m, 12, 20, 15, Array("u2", 400), Array("u2", 400), Array("i4", 40), Array("f8", 2))
    for m in (0, 1, 5, 7)
)
CALLS: dict[str, tuple[Call, ...]] = {
    "stale_scalar_int.c": tuple(Call("f", n, 12, 15, Array("i4", 400)) for n in (0, 1, 6, 9)),
    "stale_scalar_product.c": tuple(
        Call("f", n, ns, *(Array("f8", 33 * 33, seed=k) for k in range(3)))
        for n, ns in ((0, 2), (1, 1), (32, 0), (32, 2), (32, 5), (33, 3))
    ),
    "stale_scalar_short.c": tuple(STALE_SHORT),
    "thread_copies.c": tuple(
        Call("copies", n, *(Array("f8", 128, seed=k) for k in range(2))) for n in (0, 1, 100, 120)
    ),
    "traceback_band.c": tuple(Call("f", n, Array("f8", 40)) for n in SIZES),
    "traceback_first_value.c": tuple(Call("f", n, Array("f8", 40)) for n in SIZES),
    "traceback_flag_from_pointer.c": tuple(
        Call("f", n, *(Array("f8", 40, seed=k) for k in range(2)), Array("f8", 1, (x,)))
        for n in SIZES
        for x in (-1, 1)
    ),
    "traceback_violations.c": tuple(
        Call(
            *("q5136", nx, 12, Array("u4", 64), Array("i1", nx * 12), Array("i4", nx * 12)),
            *(Array("f8", 1), Array("f8", 2)),
        )
        for nx in (0, 1, 3, 9, 12)
    ),
    "counted_by_others.c": tuple(
        Call(name, t, n, Array("u4" if name == "times_an_unsigned" else "f8", 9), Array("f8", 81))
        for name in (
            *("by_an_unsigned_long", "in_two_loops"),
            *("times_an_unsigned", "a_long_by_an_unsigned"),
        )
        for t in (-9, 0, 7)
        for n in (0, 1, 8, 9)
    ),
    "counted_unsigned.c": (
        *(
            Call(
                "halved", Array("i4", 1, (n,)), Array("f8", 72), Array("u4", 12, (3, 9, 2**32 - 1))
            )
            for n in (0, 1, 7, 8)
        ),
        *(
            Call("by_chars", n, m, ("u1", 3), Array("f8", 81), Array("f8", 9, (1.5, -2, 4)))
            for n in (0, 1, 8, 9)
            for m in (0, 1, 8)
        ),
        *(
            Call("from_one", n, ("i1", s), Array("f8", 9), Array("f8", 9), returns="i4")
            for n in (0, 1, 8, 9)
            for s in (-3, 5)
        ),
        *(
            Call("of_ints", n, m, step, Array("u8", 81))
            for n in (0, 8, 9)
            for m in (0, 9)
            for step in (-8, 3)
        ),
        *(
            Call("of_shorts", n, 9, ("i2", step), *(Array(t, 9) for t in ("i8", "u8", "u4")))
            for n in (0, 1, 2, 8, 11)
            for step in (-7, 40)
        ),
        *(
            Call("last_one", n, first, 9, Array("f8", 100), Array("f8", 12))
            for n in (0, 1, 8, 9)
            for first in (0, 1, 4, 10)
        ),
        *(
            Call("down", n, 9, most, *(Array("f8", 20, seed=k) for k in range(3)))
            for n in (0, 1, 2, 3, 8, 9)
            for most in (0, 1, 2, 8, 9)
        ),
        *(
            Call("down_by", first, m, ("i2", -4000), Array("f8", 70_001), Array("f8", 70_001))
            for first in (-1, 0, 8, 70_000)
            for m in (0, 9, 11)
        ),
        *(
            Call("ends", ("u1", m), n, ("u2", k), Array("f8", 20), Array("f8", 6), returns="f8")
            for m in (0, 1, 2, 3, 9)
            for n in (-9, 0, 8)
            for k in (0, 1, 20)
        ),
        Call("squared", 70_000, 4, Array("f8", 70_004), Array("f8", 70_000)),
        *(
            Call("many_steps", 70_000, m, step, Array("f8", 12))
            for m in (1, 9, 12)
            for step in (-40_000, 2)
        ),
    ),
    "own_types.c": tuple(
        Call(
            *("own", n, Array("i4", 12, (70_000, -70_000, 5)), Array("u4", 12, (7, 4_000_000_000))),
            *(Array("i8", 24), Array("f8", 48)),
        )
        for n in (0, 1, 8, 12)
    ),
    "sum_looked_at.c": tuple(
        Call(name, n, *(Array("f8", size, seed=k) for k, size in enumerate((625, 25, 15625))))
        for name in ("looked_at", "stored")
        for n in (0, 1, 8, 24, 25)
    ),
    "quotient_starts.c": tuple(
        Call(name, n, Array("f8", 40), Array("f8", 40, seed=1))
        for n in SIZES
        for name in ("halves", "remainders")
    ),
}


COMPLEX = tuple(
    call
    for n in (0, 1, 63, 64, 100)
    for c, d in [(Array("c16", 100, COMPLEX_VALUES), Array("c8", 100, COMPLEX_VALUES, seed=1))]
    for x, y, k in [(Array("f8", 100, seed=2), Array("f4", 100, seed=3), Array("i4", 100))]
    for call in (
        Call("compared", n, c, d, k),
        Call("converted", n, c, d, x, y, k, Array("u1", 100)),
        Call("chosen", n, c, d, x),
        Call("assigned", n, c, d, x, ("f4", 0.1), 3, Array("c16", 2, seed=4)),
        Call("summed", n, c, d, Array("c16", 3, seed=5)),
    )
)
TYPED = {
    **{"of_int": "i4 i4 i4", "of_long": "i8 i8 i8", "of_unsigned": "u8 u8 u8"},
    **{"of_short": "i2 i2 i2", "of_char": "u1 u1 u1", "of_complex": "c8 c8 c8"},
    "mixed": "f8 i2 f4",
}
CALLS |= {
    "unsigned_start_max.c": tuple(
        Call("f", n, Array("f8", 40)) for n in (0, 1, 2, 3, 4, 5, 20, 33)
    ),
    "bounds_of_types.c": tuple(
        Call(name, n, m, *([25] if name == "of_shorts" else []), Array("f8", 2000))
        for n in (0, 1, 3, 4, 5, 20, 33)
        for m in (1, 2, 6, 30, 37)
        for name in (
            *("of_ints", "goes_round", "of_unsigned", "ends", "of_sizes", "with_steps"),
            *("in_values", "of_shorts"),
        )
        # What the C text leaves undefined is not called.
        if not (name == "of_ints" and n > m)
    ),
    "products_by_type.c": tuple(
        Call(name, n, *(Array(kind, 70 * 70, seed=k) for k, kind in enumerate(kinds.split())))
        for n in (0, 1, 17, 64, 70)
        for name, kinds in TYPED.items()
    ),
    "complex_values.c": COMPLEX,
    "ty_cplx5.c": tuple(
        Call("ty_cplx5", n, *(Array("c16", 100, (0, 1), seed=k) for k in range(2)))
        for n in (0, 1, 64, 100)
    ),
    "complex_ne_int.c": tuple(Call("f", n, Array("c16", 100, (0, 1))) for n in (0, 1, 64, 100)),
    "complex_gemm_refused.c": tuple(
        Call("f", n, *(Array("c16", 70 * 70, seed=k) for k in range(3))) for n in (0, 1, 17, 64, 70)
    ),
}


BELOW_ZERO = (-9, -1, 0, 1, 9, -100, 7, 3)
CALLS["unasked_scalars.c"] = tuple(
    Call("unasked", n, 7, Array("f8", 40), Array("i4", 40)) for n in (1, 6, 9)
)
CALLS["mixed_values.c"] = (
    *(
        Call("widened", ("u4", m), Array("u8", 40), Array("u1", 8, (200, 0, 255, 1)))
        for m in (0, 3, 8, 2**32 - 1)
    ),
    *(
        Call("divided", ("u4", m), *(Array(t, 8, BELOW_ZERO) for t in ("i4", "i8", "i2")))
        for m in (0, 3, 8)
    ),
)
CALLS["wide_products.c"] = (
    *(
        Call(name, ("u4", m), Array("u8", 8))
        for name in ("thrice", "square", "share", "quotient")
        for m in (0, 3, 1_500_000_000, 2**32 - 6)
    ),
    *(Call("spread", ("u1", c), Array("u8", 8)) for c in (0, 5, 130, 255)),
    Call("spread_all", Array("u1", 8, (255, 0, 128, 200, 1)), Array("u8", 8)),
)
COUNTS = (("u4", 0), ("u4", 1), ("u4", 3), ("u4", 8), ("u4", 19))
CALLS["signed_subscripts.c"] = (
    *(
        Call(name, m, Array("i8", 80), Array("i8", 300, offset=150))
        for name in ("casts", "pointers", "integers")
        for m in COUNTS
    ),
    *(
        Call("mixtures", m, ("i4", n), Array("i8", 80), Array("i8", 300, offset=150))
        for m in COUNTS
        for n in (1, 3, 5)
    ),
)
CALLS["signed_counters.c"] = tuple(
    Call(name, m, ("i4", n), Array("f8", 400, offset=200), Array("f8", 400, offset=200))
    for name in ("along", "from", "trips", "bounds", "moved")
    for m in COUNTS
    for n in (0, 8, 11, -2)
)
CALLS["choices_by_type.c"] = (
    *(Call("of_ints", n, Array("f8", 4), Array("f8", 12)) for n in (0, 1, 4, 8, 12)),
    *(
        Call(name, n, ("u4", m), Array("f8", 4), Array("f4", 12))
        for name in ("of_unsigned", "of_both")
        for n in (0, 1, 8, 12)
        for m in (0, 2, 5, 2**32 - 1)
    ),
    *(
        Call("of_longs", 12, m, ("i4", k), Array("f8", 4), Array("f4", 12))
        for m in (0, 2**53 - 5)
        for k in (0, 2**24 - 5)
    ),
    *(
        Call("of_shorts", 12, ("u2", m), Array("i2", 12, BELOW_ZERO), Array("f8", 4), floats)
        for m in (0, 5, 2**16 - 1)
        for floats in [Array("f4", 12)]
    ),
    *(
        Call("nested", n, ("u4", m), Array("f8", 4), Array("f8", 12))
        for n in (0, 1, 8, 12)
        for m in (0, 5, 2**32 - 1)
    ),
    *(
        Call("columns", n, ("u4", m), Array("f8", 144), Array("f8", 12))
        for n in (0, 1, 8, 12)
        for m in (0, 5, 2**32 - 1)
    ),
    *(
        Call("extrema", n, ("u4", m), Array("u4", 12, values), Array("i8", 2), Array("f8", 2))
        for n in (0, 1, 8, 12)
        for m in (0, 5)
        for values in [(3, 0, 7, 2**32 - 1, 1), (3, 5, 7)]
    ),
)


@pytest.mark.alike(21)
@pytest.mark.parametrize("name", CALLS)
def test_calls_leave_what_the_original_leaves(name: str, tmp_path: Path) -> None:
    Program(tmp_path, PROGRAMS / name).check(*CALLS[name])


def test_tiles_from_an_extremum_may_be_asked_for(tmp_path: Path) -> None:
    name = "traceback_violations.c"
    program = Program(tmp_path, PROGRAMS / name, ("cuda",), params={"S0.block": ("e_t",)})
    program.check(*CALLS[name])


def doubles(*counts: int) -> list[Array]:
    return [Array("f8", count, seed=seed) for seed, count in enumerate(counts)]


@pytest.mark.parametrize(
    "name",
    [
        *("quotient_starts.c", "bounds_of_types.c", "unsigned_before.c"),
        pytest.param("products_of_ints.c", marks=pytest.mark.slow),
    ],
)
def test_proofs_know_how_c_rounds_and_converts_a_bound(name: str) -> None:
    for region in check(Settings(PROGRAMS / name)).regions:
        text = certificate_text(region)
        assert text.count("certificate holds") == 3, (region.region.function, text)


def test_a_scalar_that_changes_between_kernels_is_no_constant(tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / "changing_scalars.c")
    square = 33 * 33
    program.check(
        *(
            call
            for n in SIZES
            for ns in (0, 1, 3)
            for call in (
                Call("product", n, ns, *(Array("i4", square, seed=k) for k in range(3))),
                Call("of_the_file", n, ns, *doubles(square, square, square)),
                Call("in_conditions", n, ns, *(Array("i8", square, seed=k) for k in range(2))),
                Call(
                    "summed", n, ns, *(Array("i4", square, seed=k) for k in range(2)), returns="i8"
                ),
                Call("at_depth", n, ns, Array("f4", square), Array("f4", 33), Array("i8", 3)),
            )
        )
    )


def test_memory_that_is_not_plain_is_refused_where_it_is_read() -> None:
    found = check(Settings(PROGRAMS / "special_memory.c"))
    refused = [d for d in found.diagnostics if d.severity is Severity.ERROR]
    text = (PROGRAMS / "special_memory.c").read_text().splitlines()
    read = [text[d.span.line - 1][d.span.column - 1 :].split("[")[0] for d in refused]
    names = [name.split(";")[0].split(" ")[0] for name in read]
    assert names == ["w", "fac", "tn", "tp", "s", "at", "a", "vp", "vi", "vs.n", "k"]
    assert {d.code for d in refused} == {"AT124", "AT129"}


@pytest.mark.parametrize(("name", "line"), [("tls_scalar.c", 6), ("thread_local.c", 8)])
def test_data_of_each_thread_are_refused(name: str, line: int) -> None:
    found = check(Settings(PROGRAMS / name)).diagnostics
    assert [d.span.line for d in found if d.code == "AT129"] == [line]


@pytest.mark.slow
def test_arrays_of_bool(tmp_path: Path) -> None:
    every = ("cuda", "openacc", "openmp", "openmp_target")
    program = Program(tmp_path, PROGRAMS / "bool_arrays.c", every)
    some = [tuple((k * k + k // step) % 2 for k in range(400)) for step in (3, 5, 7, 11)]
    a, b, c, d = (Array("u1", 400, values) for values in some)
    x, k = Array("f8", 400), Array("i4", 400, (0, 3, 1, 2, -1, 256))
    calls = [
        call
        for n in (-1, 0, 1, 5, 37)
        for call in (
            Call("masked", ("i4", n), a, x, Array("f8", 400, seed=1)),
            Call("set", ("i4", n), a, b, c, d, x, k),
            Call("counted", ("i4", n), a, k, returns="i4"),
            Call("counted", ("i4", n), Array("u1", 40, (1,) * 40), k, returns="i4"),
            Call("grown", ("i4", n), ("i4", 9), a, b),
            Call("sites", ("i4", n), Array("u1", 400, some[0]), k),
        )
    ]
    program.check(*calls)


def test_operators_on_bits(tmp_path: Path) -> None:
    every = ("cuda", "openacc", "openmp", "openmp_target")
    program = Program(tmp_path, PROGRAMS / "bit_operators.c", every)
    extremes = (-1, -(2**31), 2**31 - 1, -8, 7, 0, 5, 12, -13)
    b, c = Array("i4", 40, extremes), Array("i4", 40, extremes[::-1])
    u = Array("u4", 40, (2**32 - 1, 2**31, 0, 1, 511, 520, 64, 128))
    d = Array("i2", 40, (-1, -(2**15), 2**15 - 1, 4, 8, 12))
    x = Array("f8", 80)
    calls = [
        call
        for n in (-1, 0, 1, 5, 37)
        for call in (
            Call("ints", ("i4", n), Array("i4", 160), b, c),
            Call("mixed", ("i4", n), Array("i8", 40), u, c, d, Array("u1", 40)),
            Call("reduced", ("i4", n), b, returns="i8"),
        )
    ]
    powers = [Call("subscripts", ("i4", n), x, Array("f8", 40)) for n in (0, 1, 2, 8, 32)]
    program.check(*calls, *powers)


STATIC = """\
void counted(int n, int *restrict b)
{
  static int calls = -1;
  /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
  for (int k = 0; k < n; ++k)
    b[k] += calls;
  /*@ end @*/
  calls = calls + 1;
}
"""


@pytest.mark.parametrize(
    ("text", "term"), [(STATIC, "calls"), (STATIC.replace("static ", ""), "-1")]
)
def test_a_static_variable_has_its_first_value_in_the_first_call_alone(
    text: str, term: str, tmp_path: Path
) -> None:
    source = tmp_path / "counted.c"
    source.write_text(text)
    made = emit(Settings(source, ("openmp",)), [load_target("openmp")])
    assert f"b[k] += {term};" in made.files["_omp.c"]
