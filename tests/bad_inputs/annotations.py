"""Annotations that are not closed, not nested, or stand where none can stand; blocks in them."""

from __future__ import annotations

from support.cli import CLOSE, OPEN, function

from bad_inputs.case import LOOP, Bad, inputs, tuning

COPY1 = f"{LOOP} a[i] = b[i];"


def around(opener: str, closer: str = CLOSE) -> str:
    return function(f"  {opener}\n  {COPY1}\n  {closer}")


BAD = {
    # Where annotations stand.
    "unclosed": Bad(
        function(f"  «{OPEN}»\n  {COPY1}"),
        "AT001",
        "'begin PerfTuning' is never closed",
        "add `/*@ end @*/` after the annotated loops",
    ),
    "second unclosed": Bad(
        around(OPEN) + function(f"  «/*@ begin CHiLL () @*/»\n  {COPY1}").replace("f(", "g("),
        "AT001",
        "'begin CHiLL' is never closed",
    ),
    "inner closed alone": Bad(
        around(f"«{OPEN}»\n  /*@ begin CHiLL () @*/"),
        "AT001",
        "'begin PerfTuning' is never closed",
    ),
    "end alone": Bad(
        function(f"  {COPY1}\n  «/*@ end @*/»"), "AT002", "'end' without a 'begin' before it"
    ),
    "crossed": Bad(
        function(
            f"  {OPEN}\n  /*@ begin CHiLL () @*/\n  {COPY1}\n"
            "  «/*@ end PerfTuning @*/»\n  /*@ end CHiLL @*/"
        ),
        "AT003",
        "'end PerfTuning' comes before the end of 'CHiLL', which was begun later",
        "close the annotations in the reverse order of their begin",
        "'begin CHiLL' is here",
    ),
    "wrong closer": Bad(
        around(OPEN, "«/*@ end CHiLL @*/»"),
        "AT004",
        "'end CHiLL' does not match 'begin PerfTuning'",
        note="'begin PerfTuning' is here",
    ),
    "misspelt name": Bad(
        around("«/*@ begin PerfTunning () @*/»"),
        "AT005",
        "unknown annotation 'PerfTunning'",
        "did you mean 'PerfTuning'?",
    ),
    "module of Orio": Bad(around("«/*@ begin OpenCL () @*/»"), "AT006", "OpenCL"),
    "text after": Bad(around("/*@ begin PerfTuning () «fast» @*/"), "AT007", "text after the ')'"),
    "no parentheses": Bad(
        around("/*@ begin «PerfTuning» @*/"), "AT008", "needs its text in parentheses"
    ),
    "PerfTuning in CHiLL": Bad(
        around("/*@ begin CHiLL () @*/\n  «/*@ begin PerfTuning () @*/»", f"{CLOSE}\n  {CLOSE}"),
        "AT009",
        "'begin PerfTuning' cannot stand inside 'begin CHiLL'",
    ),
    "PerfTuning in itself": Bad(
        around(f"{OPEN}\n  «/*@ begin PerfTuning () @*/»", f"{CLOSE}\n  {CLOSE}"),
        "AT009",
        "'begin PerfTuning' cannot stand inside 'begin PerfTuning'",
    ),
    "comment ends early": Bad(
        around("/*@ begin PerfTuning () «*/»"), "AT010", "must end with '@*/'"
    ),
    "no name": Bad(around("«/*@ begin 3 () @*/»", ""), "AT011", "neither 'begin NAME"),
    "pragma unclosed": Bad(
        function(f"«#pragma Orio begin PerfTuning ()»\n  {COPY1}"),
        "AT001",
        "'begin PerfTuning' is never closed",
    ),
    "in a line comment": Bad(
        around(f"// {OPEN}", "").replace("// /*@ begin", "// /* begin"), "AT604", "no annotated"
    ),
    # Blocks and statements.
    "no equals sign": Bad(inputs("param n «64»;"), "AT020", "unexpected"),
    "no semicolon": Bad(inputs("param n = 64 «param» m = 3;"), "AT020", "unexpected"),
    "no name of a parameter": Bad(inputs("param «=» 64;"), "AT020", "unexpected"),
    "word outside": Bad(tuning("«please» hurry"), "AT020", "unexpected"),
    "block without a name": Bad(tuning("def «{» }"), "AT020", "unexpected"),
    "number as a name": Bad(inputs("param «1n» = 64;"), "AT020", "unexpected"),
    "foreign letter": Bad(inputs("param «ü» = 64;"), "AT020", "unexpected"),
    "bracket unclosed": Bad(
        around("/*@ begin PerfTuning «(» def input_params { param n = 64; } @*/"),
        "AT021",
        "'(' is never closed",
    ),
    "bracket too many": Bad(inputs("param n = 64; «]»"), "AT022", "']' closes nothing here"),
    "string unclosed": Bad(
        tuning("def search { arg algorithm = «'Exhaustive; }»"), "AT023", "does not end on its line"
    ),
    "unknown block": Bad(
        tuning("def «input_param» { param n = 64; }"),
        "AT024",
        "unknown block 'def input_param'",
        "did you mean 'input_params'?",
    ),
    "param in search": Bad(
        tuning("def search { «param» n = 64; }"), "AT025", "'param' does not belong in 'def search'"
    ),
    "arg among parameters": Bad(
        inputs("«arg» n = 64;"), "AT025", "'arg' does not belong in 'def input_params'"
    ),
    "parameter twice": Bad(
        inputs("param n = 64; param «n» = 32;"),
        "AT026",
        "'n' is declared twice",
        note="first declared here",
    ),
    "parameter in two blocks": Bad(
        tuning("def input_params { param n = 64; } def performance_params { param «n»[] = [1]; }"),
        "AT026",
        "'n' is declared twice",
        note="first declared here",
    ),
    "setting twice": Bad(
        tuning("def search { arg seed = 1; arg «seed» = 2; }"),
        "AT026",
        "'seed' is declared twice",
        note="first declared here",
    ),
    "no values": Bad(
        tuning("def performance_params { param «UF»[] = []; }"), "AT027", "'UF' has no values"
    ),
    "empty range": Bad(
        tuning("def performance_params { param «UF»[] = range(8, 1); }"),
        "AT027",
        "'UF' has no values",
    ),
    "list for one value": Bad(
        tuning("def performance_params { param «UF» = [1,2]; }"),
        "AT028",
        "'UF' is one value, but a list is given",
        "write `UF[] = …`",
    ),
}
