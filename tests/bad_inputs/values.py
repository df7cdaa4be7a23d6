"""Expressions of an annotation: numbers, names, operators, functions, and attacks."""

from __future__ import annotations

from support.cli import function, region

from bad_inputs.case import LOOP, Bad, inputs, sized, tuning


def value(text: str) -> str:
    return inputs(f"param n = {text};")


def axis(text: str) -> str:
    return tuning(f"def performance_params {{ param UF[] = {text}; }}")


BAD = {
    "suffix": Bad(value("«64L»"), "AT040", "'64L' is not a number"),
    "leading zero": Bad(value("«064»"), "AT040", "'064' is not a number"),
    "half a hexadecimal": Bad(value("«0xZZ»"), "AT040", "'0xZZ' is not a number"),
    "too many digits": Bad(value("«12345678901234567890»"), "AT040", "is not a number"),
    "infinite": Bad(value("«1e999»"), "AT040", "'1e999' is not a number"),
    "operand missing": Bad(inputs("param n = 4 *« »;"), "AT041", "expected a value"),
    "operator first": Bad(value("«*» 4"), "AT041", "expected a value"),
    "nothing in parentheses": Bad(value("max(4, «,» 5)"), "AT041", "expected a value"),
    "half a choice": Bad(inputs("param n = 4 if True«;»"), "AT042", "'else'"),
    "two values": Bad(value("4 «5»"), "AT042", "found '5'"),
    "attribute": Bad(value("n«.»real"), "AT020", "'.'"),
    "subscript": Bad(value("min«[»0]"), "AT042", "found '['"),
    "lambda": Bad(value("lambda«:» 4"), "AT042", "found ':'"),
    "comprehension": Bad(axis("[1 «for» i in range(4)]"), "AT042", "found 'for'"),
    "walrus": Bad(value("(m :«=» 4)"), "AT020", "unexpected '='"),
    "backtick": Bad(value("«`»id`"), "AT020", "'`'"),
    "dollar": Bad(value("«$»(id)"), "AT020", "'$'"),
    "too deep": Bad(value("(" * 30 + "«(»" + "(" * 60 + "1" + ")" * 91), "AT043", "deep"),
    "unknown name": Bad(
        tuning("def input_params { let tile = 4; param n = 2 * «tlie»; }"),
        "AT044",
        "unknown name 'tlie'",
        "did you mean 'tile'?",
    ),
    "word without quotes": Bad(
        tuning("def search { arg algorithm = «Exhaustive»; }"),
        "AT044",
        "unknown name 'Exhaustive'",
        "a string is written 'Exhaustive', in quotes",
    ),
    "name of itself": Bad(inputs("param n = «n» + 1;"), "AT044", "unknown name 'n'"),
    "axis as a value": Bad(
        tuning("def performance_params { param A[] = [1,2]; param B[] = [«A», 8]; }"),
        "AT045",
        "'A' has several values",
    ),
    "division by zero": Bad(value("«64 / (4 - 4)»"), "AT046", "division by zero"),
    "remainder by zero": Bad(value("«64 % 0»"), "AT046", "division by zero"),
    "string in arithmetic": Bad(value("«'a' - 1»"), "AT047", "'-' does not apply"),
    "order of words and numbers": Bad(value("«'a' < 1»"), "AT047", "'<' does not apply"),
    "minus of a list": Bad(axis("«-[1]»"), "AT047", "'-' does not apply"),
    "tower of powers": Bad(value("«9 ** 9 ** 9»"), "AT048", "too large"),
    "endless range": Bad(axis("«range(0, 1000000000)»"), "AT048", "too large"),
    "endless string": Bad(value("«'ab' * 100000000»"), "AT048", "too large"),
    "import": Bad(value("«__import__('os')»"), "AT049", "unknown function '__import__'"),
    "eval": Bad(value("«eval('1')»"), "AT049", "unknown function 'eval'"),
    "misspelt function": Bad(
        axis("«rang(1, 4)»"), "AT049", "unknown function 'rang'", "did you mean 'range'?"
    ),
    "range of four": Bad(axis("«range(1, 2, 3, 4)»"), "AT050", "range() does not accept"),
    "range by zero": Bad(axis("«range(1, 4, 0)»"), "AT050", "range() does not accept"),
    "least of nothing": Bad(value("«min()»"), "AT050", "min() does not accept"),
    # Sizes that do not fit the C text.
    "fraction": Bad(
        function(region(f"{LOOP} a[i] = b[i];", sizes="param «n» = 3.5;")),
        "AT641",
        "'n' is 3.5 here, but it is of type 'int' in C",
        "give a whole number",
    ),
    "word for a size": Bad(inputs("param «n» = 'many';"), "AT641", "'n' is 'many' here"),
    "fraction by --set": Bad(
        sized(f"{LOOP} a[i] = b[i];").replace("param n", "param «n»"),
        "AT641",
        "'n' is 0.5 here",
        options=("--set", "n=0.5"),
    ),
    "fixed by #define": Bad(
        "#define N 32\n"
        + function(
            "  «/*@ begin PerfTuning (def input_params { param N = 64; }) @*/»\n"
            "  for (int i = 0; i < N; i++) a[i] = b[i];\n  /*@ end @*/"
        ),
        "AT606",
        "'N' is 64 here, but C fixes it to 32",
        "-DN=64",
    ),
    "constraint of an unknown name": Bad(
        tuning("def performance_params { param UF[] = [1,2]; constraint c = («UG» > 1); }"),
        "AT044",
        "unknown name 'UG'",
        "did you mean 'UF'?",
    ),
}
