"""Map: its refusals, a golden, and the law."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.nests import LAW, accepted, analysed, assert_law, combined, nests, refused
from support.regions import nest_analysis, text_of

from annotune.diagnostics import Span
from annotune.ir.nest import Level
from annotune.transforms.map import Map
from annotune.transforms.tile import Tile
from annotune.transforms.transform import Context

COMMAND = Span("t.c", 77, 3, 9)
X, Y = Level.THREAD_X, Level.BLOCK_X


def test_an_unknown_loop() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0")
    refusal = refused(Map(0, (("k", X),), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT251", COMMAND)


def test_loops_of_two_bands() -> None:
    one = nest_analysis("for i in 0:n\n  a[i] = 1.0\n  for j in 0:n\n    b[i*n + j] = 1.0\n")
    refusal = refused(Map(1, (("i", Y), ("j", X)), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT252", COMMAND)
    assert refusal.message == "cuda: loops i, j of statement 1 are not one perfect nest"


def test_a_bound_that_another_loop_sets() -> None:
    one = nest_analysis("for i in 0:n: for j in 0:i+1: a[i*n + j] = 1.0")
    for levels in ({"j": X}, {"i": Y, "j": X}):
        refusal = refused(Map(0, tuple(levels.items()), span=COMMAND), one.region.nest.body, one)
        assert (refusal.code, refusal.span) == ("AT254", COMMAND)
        assert refusal.message == "cuda: the bounds of 'j' use 'i', which must stay outside it"
    assert Map(0, (("i", X),)).why_not(one.region.nest.body, Context(one)) is None


def test_a_host_loop_whose_bound_a_loop_inside_it_sets() -> None:
    text = "for i in 0:4\n  for j in 0:4 - i\n    for k in 0:4\n      S0: a[j*9 + k] = b[i]\n"
    one = nest_analysis(text)
    refusal = refused(Map(0, (("k", X),), host=("j",), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT254", COMMAND)


def test_a_recurrence_on_threads() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:n: c[i] = a[k] - c[i]")
    refusal = refused(Map(0, (("i", Y), ("k", X)), span=COMMAND), one.region.nest.body, one)
    assert (refusal.code, refusal.span) == ("AT258", COMMAND)
    assert refusal.message == (
        "cuda: loop 'k' cannot run in parallel: c is carried by k (distance 1 and more)"
    )
    assert refusal.help == "loops that may be mapped here: i"
    (note,) = refusal.notes
    assert (note.code, note.span.line) == ("AT267", 3)


def test_a_reduction_on_threads_is_combined() -> None:
    one = nest_analysis("for i in 0:n: for k in 0:n: c[i] += a[k]")
    body = Map(0, (("i", Y), ("k", X))).apply(one.region.nest.body, Context(one))
    assert "for k in 0:n @thread.x combines + c\n" in text_of(body)
    # Threads combine what a whole block has.
    both = Map(0, (("i", Level.THREAD_Y), ("k", X)))
    assert refused(both, one.region.nest.body, one).code == "AT258"


def test_two_kernels_of_a_temporary_are_one() -> None:
    one = nest_analysis("for i in 0:n\n  s = a[i]\n  b[i] = s\n")
    assert Map(0, (("i", X),)).why_not(one.region.nest.body, Context(one)) is None


def test_the_advice_is_about_the_statements_own_loops() -> None:
    # Both nests have a loop i; only the second one's is parallel.
    one = nest_analysis(
        "for i in 0:n: c[0] = a[i] - c[0]\nfor i in 0:n: for k in 0:n: b[i] = a[k] - b[i]"
    )
    refusal = refused(Map(1, (("k", X),), span=COMMAND), one.region.nest.body, one)
    assert refusal.help == "loops that may be mapped here: i"
    assert refused(Map(0, (("i", X),)), one.region.nest.body, one).help.endswith("here: none")


def test_puts_placed_loops_outside_and_host_loops_around_them() -> None:
    one = nest_analysis(
        "for t in 0:3: for k in 0:n: for i in 0:n: for j in 0:n: a[i*n + j] += b[t*n + k]"
    )
    mapping = Map(0, (("j", Y), ("i", X)), host=("t",))
    body = one.region.nest.body
    assert mapping.why_not(body, Context(one)) is None
    assert text_of(mapping.apply(body, Context(one))) == (
        "for t in 0:3\n  for j in 0:n @block.x\n    for i in 0:n @thread.x\n"
        "      for k in 0:n\n        S0: a[i * n + j] += b[t * n + k]\n"
    )


def test_tiles_may_be_blocks_of_their_loops_threads() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0")
    body = Tile(0, "i", 4).apply(one.region.nest.body, Context(one))
    mapping = Map(0, (("i_t", Y), ("i", X)))
    assert mapping.why_not(body, Context(one)) is None
    assert refused(Map(0, (("i", X),)), body, one).code == "AT254"


def test_tiles_stand_around_their_loop_on_whichever_axes() -> None:
    one = nest_analysis("for i in 0:n: a[i] = 1.0")
    body = Tile(0, "i", 4).apply(one.region.nest.body, Context(one))
    mapping = Map(0, (("i", X), ("i_t", Level.THREAD_Y)))
    assert mapping.why_not(body, Context(one)) is None
    assert text_of(mapping.apply(body, Context(one))) == (
        "for i_t in 0:n step 4 @thread.y tile_of i\n  for i in i_t:min(i_t + 4, n) @thread.x\n"
        "    S0: a[i] = 1.0\n"
    )


LEVELS = (Level.BLOCK_X, Level.BLOCK_Y, Level.THREAD_X)


@LAW
@given(text=nests(), order=st.permutations("ijk"), placed=st.integers(1, 3), host=st.booleans())
def test_a_legal_mapping_keeps_the_result(
    text: str, order: list[str], placed: int, host: bool
) -> None:
    one = analysed(text)
    for statement in {0, max(one.paths)}:
        names = [loop.var for loop in one.paths[statement]]
        outer = tuple(names[:1]) if host and len(names) > 1 else ()
        chosen = [n for n in order if n in names and n not in outer][:placed]
        mapping = Map(statement, tuple(zip(chosen, LEVELS, strict=False)), outer)
        assert_law(combined(accepted(mapping, one.region.nest.body, one), one), one)


@LAW
@given(text=nests(sums=True, perfect=True), size=st.integers(1, 4), loop=st.sampled_from("ij"))
def test_a_legal_mapping_of_tiles_keeps_the_result(text: str, size: int, loop: str) -> None:
    one = analysed(text)
    body = accepted(Tile(0, loop, size), one.region.nest.body, one)
    for levels in ({f"{loop}_t": Y, loop: X}, {loop: X, f"{loop}_t": Y}, {f"{loop}_t": X}):
        assert_law(combined(accepted(Map(0, tuple(levels.items())), body, one), one), one)
