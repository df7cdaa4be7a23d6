"""Machine code read from recorded output of ``nvdisasm -c``, and its hottest part.

The excerpts in ``sass/`` are kernels of this project for sm_90 by nvcc 13.0: two that annotune
emitted (`sd_t_d1_1`, `matrix_sum`), and the two whose sources lie beside them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from machine_code.hot import Part, hottest, parts
from machine_code.mix import Mix, mean_bytes, mix_of
from machine_code.sass import Function, Instruction, parse_sass

SASS = Path(__file__).parent / "sass"


def recorded(name: str) -> Function:
    (function,) = parse_sass((SASS / f"{name}.sass").read_text())
    return function


def hot(name: str) -> Part:
    found = hottest(recorded(name))
    assert found is not None
    return found


# Reading -----------------------------------------------------------------------------------


def test_every_instruction_is_read() -> None:
    for path in SASS.glob("*.sass"):
        text = path.read_text()
        (function,) = parse_sass(text)
        assert len(function.instructions) == text.count("/*"), path
        addresses = [one.address for one in function.instructions]
        assert addresses == list(range(0, 16 * len(addresses), 16)), path


def test_words_guards_and_targets() -> None:
    code = {one.address: one for one in recorded("tile").instructions}
    assert code[0x0] == Instruction(0x0, "LDC", "R1, c[0x0][0x28]")
    assert code[0x1D0] == Instruction(0x1D0, "LDG.E.64", "R26, desc[UR8][R26.64]", "!P0")
    assert code[0x4F0] == Instruction(0x4F0, "BRA", "`(.L_x_1)", "!P1", 0x1A0)
    assert code[0x90].target == 0x500
    assert code[0x550].target == 0x550
    assert code[0x4E0].name == "BAR"


@pytest.mark.parametrize(
    ("opcode", "width"),
    [
        ("LDG.E", 4),
        ("LDG.E.64.CONSTANT", 8),
        ("LDG.E.128.CONSTANT", 16),
        ("LDGSTS.E.BYPASS.LTC128B.128", 16),
        ("LDS", 4),
        ("LDS.U.64", 8),
        ("STS.U8", 1),
        ("LDG.E.S16", 2),
    ],
)
def test_the_width_of_an_access(opcode: str, width: int) -> None:
    assert Instruction(0, opcode).width_bytes == width


def test_names_in_the_source() -> None:
    assert recorded("sd_t_d1_1").plain_name == "sd_t_d1_1_1_s0_tuned"
    assert recorded("tile").plain_name == "tile"


def test_two_kernels_of_one_file_keep_their_labels_apart() -> None:
    both = (SASS / "tile.sass").read_text() + (SASS / "matrix_sum.sass").read_text()
    assert [function.name for function in parse_sass(both)] == [
        "tile",
        "_Z21matrix_sum_1_s0_tunedPKdS0_S0_Pd",
    ]
    assert parse_sass(both)[0] == recorded("tile")


def test_what_is_no_machine_code_has_no_functions() -> None:
    assert parse_sass("") == ()
    assert parse_sass("nvdisasm fatal: nothing to do\n") == ()


# The hottest part ----------------------------------------------------------------------------


def test_the_inner_of_two_loops() -> None:
    found = hot("sd_t_d1_1")
    assert found.title == "loop at depth 2, 0x01e0-0x0c50"
    # Four iterations of p4, of 16 products each: the first of them is a DMUL.
    assert found.mix.fused == {"DFMA": 60}
    assert found.mix.reals == 8
    assert found.mix.global_loads == {8: 68}
    assert found.mix.global_stores == {8: 4}
    assert found.mix.shared_loads == {}
    assert found.mix.fused_per_shared_load is None


def test_the_only_loop() -> None:
    found = hot("matrix_sum")
    assert (found.first, found.last, found.depth) == (0x180, 0x510, 1)
    assert found.mix == Mix({"DFMA": 15}, reals=2, global_loads={8: 32}, other=9)
    assert mean_bytes(found.mix.global_loads) == 8.0
    assert mean_bytes(found.mix.global_stores) is None


def test_a_loop_with_barriers_is_one_part() -> None:
    found = hot("tile")
    assert (found.first, found.last, found.depth) == (0x1A0, 0x4F0, 1)
    assert found.mix.fused == {"DFMA": 16}
    assert found.mix.shared_loads == {8: 24}
    assert found.mix.shared_stores == {8: 2}
    assert found.mix.global_loads == {8: 2}
    assert found.mix.barriers == 2
    assert found.mix.fused_per_shared_load == pytest.approx(16 / 24)


def test_straight_code_is_cut_at_barriers() -> None:
    found = hot("stages")
    assert found.title == "straight code, 0x0270-0x03f0"
    assert found.mix.fused == {"DFMA": 3}
    assert found.mix.shared_loads == {8: 3}
    assert found.mix.global_stores == {8: 1}
    everything = mix_of(recorded("stages").instructions)
    assert everything.copies == {16: 2}
    assert everything.shared_loads == {8: 3, 16: 2}, "an LDS guarded by !PT never runs"


def test_parts_share_out_all_instructions() -> None:
    for path in SASS.glob("*.sass"):
        function = recorded(path.stem)
        every = mix_of(function.instructions)
        pieces = [part.mix for part in parts(function)]
        assert sum(mix.fused_total for mix in pieces) == every.fused_total
        assert sum(mix.other for mix in pieces) == every.other
        for kind in ("global_loads", "shared_loads", "shared_stores", "copies"):
            whole = getattr(every, kind)
            assert sum(sum(getattr(mix, kind).values()) for mix in pieces) == sum(whole.values())


def _code(*rows: str) -> Function:
    """Return a function of one opcode per row; ``BRA 0`` leads to the row of that number."""
    out = []
    for number, row in enumerate(rows):
        opcode, _, goal = row.partition(" ")
        out.append(Instruction(16 * number, opcode, target=16 * int(goal) if goal else None))
    return Function("f", tuple(out))


def test_depth_weighs_more_than_a_longer_outer_body() -> None:
    function = _code("DFMA", "DFMA", "DFMA", "DFMA", "BRA 1", "BRA 0", "EXIT")
    found = hottest(function)
    assert found is not None
    assert (found.first, found.depth, found.mix.fused_total) == (16, 2, 3)


def test_an_inner_loop_that_only_loads_is_not_the_hottest() -> None:
    function = _code("LDG", "STS", "BRA 0", "BAR", *["DFMA"] * 32, "BRA 0", "EXIT")
    found = hottest(function)
    assert found is not None
    # Both branches lead back to the start: they are one loop.
    assert (found.depth, found.mix.fused_total, found.mix.barriers) == (1, 32, 1)
    apart = _code("MOV", "LDG", "STS", "BRA 1", "BAR", *["DFMA"] * 32, "BRA 0", "EXIT")
    outer = hottest(apart)
    assert outer is not None
    assert (outer.depth, outer.mix.fused_total, outer.mix.global_loads) == (1, 32, {})


def test_unrolled_code_beats_a_short_loop_beside_it() -> None:
    function = _code("DFMA", "BRA 0", *["DFMA"] * 64, "EXIT")
    found = hottest(function)
    assert found is not None
    assert (found.depth, found.mix.fused_total) == (0, 64)


def test_a_kernel_without_products_has_its_sums_and_one_without_reals_nothing() -> None:
    sums = hottest(_code("LDG", "DADD", "STG", "EXIT"))
    assert sums is not None
    assert sums.mix.reals == 1
    assert hottest(_code("LDG", "STG", "EXIT")) is None
