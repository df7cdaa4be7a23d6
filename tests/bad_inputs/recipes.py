"""Commands that are misspelt or have the wrong arguments, whatever the nest."""

from __future__ import annotations

from bad_inputs.case import Bad, with_recipe

BAD = {
    "unknown command": Bad(
        with_recipe('«permut(0, ("j","i"))»'),
        "AT060",
        "unknown command 'permut'",
        "did you mean 'permute'?",
    ),
    "not a command": Bad(with_recipe("i «=» 4"), "AT020", "unexpected"),
    "call without parentheses": Bad(with_recipe("permut«e»"), "AT020", "unexpected"),
    "unsupported": Bad(with_recipe('«vectorize(0, "j")»'), "AT061", "'vectorize'"),
    "loop missing": Bad(with_recipe("«registers(0)»"), "AT062", "'registers' needs its loop"),
    "factor missing": Bad(
        with_recipe('«unroll(0, "j")»'),
        "AT062",
        "'unroll' needs its factor",
        'write `unroll(0, "h7", UF)`',
    ),
    "nothing given": Bad(
        with_recipe("«distribute()»"), "AT062", "'distribute' needs its statement"
    ),
    "fuse of one": Bad(with_recipe("«fuse(0)»"), "AT062", "'fuse' needs"),
    "too many": Bad(
        with_recipe('registers(0, "j", «4»)'), "AT063", "'registers' has an argument too many"
    ),
    "unknown slot": Bad(
        with_recipe('cuda(0, «blocks={"i"}»)'),
        "AT064",
        "'cuda' has no argument 'blocks'",
        "did you mean 'block'?",
    ),
    "statement as a word": Bad(
        with_recipe('permute(«"0"», ("j","i"))'), "AT065", "the statement of 'permute' must be"
    ),
    "negative statement": Bad(
        with_recipe('registers(«-1», "j")'), "AT065", "the statement of 'registers' must be"
    ),
    "half a statement": Bad(
        with_recipe('unroll(«0.5», "j", 2)'), "AT065", "the statement of 'unroll' must be"
    ),
    "loops as a number": Bad(
        with_recipe("permute(0, «5»)"), "AT065", "the order of 'permute' must be"
    ),
    "loop as a number": Bad(
        with_recipe("registers(0, «7»)"), "AT065", "the loop of 'registers' must be"
    ),
    "number among loops": Bad(
        with_recipe('cuda(0, «block={"i", 4}»)'), "AT065", "the block of 'cuda' must be"
    ),
    "factor 0": Bad(
        with_recipe('unroll(0, "j", «0»)'),
        "AT065",
        "the factor of 'unroll' must be a number from 1, or a parameter",
        'write `unroll(0, "h7", UF)`',
    ),
    "factor as a word": Bad(
        with_recipe('tile(0, "j", «"four"»)'), "AT065", "the factor of 'tile' must be"
    ),
    "loop in two places": Bad(
        with_recipe('cuda(0, block={"i"}, «thread={"i"}»)'), "AT066", "names loop 'i' twice"
    ),
    "argument twice": Bad(
        with_recipe('cuda(0, block={"i"}, «block={"j"}»)'), "AT067", "is given its block twice"
    ),
    "three loops of registers": Bad(
        with_recipe(
            'contract(0, thread={"i","j"}, «register={"i","j","k"}», sum="j", thread_x=16, '
            "thread_y=8, register_x=8, register_y=8, step=16)"
        ),
        "AT068",
        "the register of 'contract' has 3 loops, at most 2",
    ),
    "statement twice": Bad(
        with_recipe("distribute(0, «0»)"), "AT069", "'distribute' names statement 0 twice"
    ),
    "loop without quotes": Bad(
        with_recipe("registers(0, «j»)"), "AT044", "unknown name 'j'", 'a loop\'s name is "j"'
    ),
    "misspelt parameter": Bad(
        with_recipe('unroll(0, "j", «UG»)').replace(
            "n = 64; }", "n = 64; } def performance_params { param UF[] = [1,2]; }"
        ),
        "AT044",
        "unknown name 'UG'",
        "did you mean 'UF'?",
    ),
    "empty constraints": Bad(
        with_recipe(
            'unroll(0, "j", UF)',
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += b[i*n + j];",
        )
        .replace(
            "n = 64; }",
            "n = 64; } def performance_params { param UF[] = [2,4]; constraint c = (UF > 8); }",
        )
        .replace("constraint c", "constraint «c»"),
        "AT302",
        "the constraints leave no point of the space",
        "constraint 'c' removes the last ones",
    ),
}
