"""CHiLL's own names for loops over tiles."""

from __future__ import annotations

from annotune.annotation.commands import parse_recipe, recipe_text, with_tile_names
from annotune.annotation.grammar import Origin


def named(text: str) -> str:
    commands = parse_recipe(text, Origin.at("f.c", text)).commands
    return recipe_text(with_tile_names(commands, lambda loop: f"{loop}_of_tiles"))


def test_a_control_is_known_to_its_own_statement_only() -> None:
    found = named(
        'stm(0,("i","j"),"c") tile(0,"i",TF,"ii") cuda(0,block={"ii","i"},thread={"j"})'
        ' registers(0,"ii") unroll(1,"ii",2)'
    )
    assert found.split("\n") == [
        'tile(0, "i", TF)',
        'cuda(0, block={"i_of_tiles","i"}, thread={"j"})',
        'registers(0, "i_of_tiles")',
        'unroll(1, "ii", 2)',
    ]


def test_a_recipe_without_controls_is_as_written() -> None:
    text = 'permute(0, ("j","i"))\ntile(0, "i", 4)\nfuse(0,1)'
    assert named(text) == text
