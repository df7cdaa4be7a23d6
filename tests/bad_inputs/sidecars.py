"""YAML beside a sound C file: what is no YAML, no sidecar, or binds to nothing."""

from __future__ import annotations

from support.cli import OPEN

from bad_inputs.case import GOOD, Bad

USER = "void f(int n, double *restrict a)\n{\n  for (int i = 0; i < n; i++) a[i] = 1;\n}\n"
HEAD = "file: bad.c\nregions:\n  - function: f\n    loop: i\n"
GIVEN = ("--annotation", "side.yaml")


def side(text: str, code: str, message: str, help: str = "", note: str = "", c: str = USER) -> Bad:
    return Bad(c, code, message, help, note, options=GIVEN, files={"side.yaml": text})


BAD = {
    "missing": Bad(USER, "AT080", "cannot read side.yaml", options=GIVEN, place="side.yaml:1:1"),
    "empty": side("«»", "AT081", "the file is empty"),
    "not UTF-8": side("«»\udcff", "AT080", "it is not UTF-8"),
    "control character": side("file: «\x01»", "AT081", "not valid YAML"),
    "bracket open": side("file: [«»", "AT081", "not valid YAML"),
    "tab": side("file: bad.c\nregions:\n«\t»- function: f\n", "AT081", "not valid YAML"),
    "nested without end": side("«»" + "[" * 5000, "AT081", "nested too deeply"),
    "tag of Python": side(
        'file: bad.c\nregions: «!!python/object/apply:os.system ["touch hit"]»\n',
        "AT082",
        "'regions' must be a plain value",
    ),
    "tag in a value": side(
        HEAD + "    input_params:\n      n: «!!python/name:os.system»\n",
        "AT082",
        "'n' must be a plain value",
    ),
    "not a mapping": side("«- file»\n", "AT082", "a sidecar must be a mapping"),
    "regions as a word": side("file: bad.c\nregions: «all»\n", "AT082", "'regions' must be a list"),
    "region as a word": side("file: bad.c\nregions:\n  - «f»\n", "AT082", "a region must be"),
    "occurrence 0": side(HEAD + "    occurrence: «0»\n", "AT082", "'occurrence' must be a number"),
    "octal": side(
        HEAD + "    input_params:\n      n: «010»\n", "AT082", "'n' must be a decimal number"
    ),
    "sum of sixties": side(
        HEAD + "    input_params:\n      n: «1:30»\n", "AT082", "'n' must be a decimal number"
    ),
    "unknown key": side("«fil»: bad.c\n", "AT083", "unknown key 'fil'", "did you mean 'file'?"),
    "unknown key of a region": side(
        HEAD + "    «occurence»: 1\n",
        "AT083",
        "unknown key 'occurence'",
        "did you mean 'occurrence'?",
    ),
    "key twice": side(
        HEAD + "    «loop»: j\n", "AT026", "'loop' is declared twice", note="first declared here"
    ),
    "no file": side("«regions: []»\n", "AT084", "'file' is missing"),
    "no loop": side("file: bad.c\nregions:\n  - «function: f»\n", "AT084", "'loop' is missing"),
    "no such function": side(
        HEAD.replace(": f", ": g"), "AT116", "there is no function 'g'", "the file defines: f"
    ),
    "no such loop": Bad(
        USER.replace(" f(", " «f»("),
        "AT117",
        "function 'f' has no loop 'k'",
        options=GIVEN,
        files={"side.yaml": HEAD.replace("loop: i", "loop: k")},
    ),
    "misspelt function": side(
        HEAD.replace(": f", ": kernl"),
        "AT116",
        "there is no function 'kernl'",
        "did you mean 'kernel'? the file defines: kernel",
        c=USER.replace(" f(", " kernel("),
    ),
    "no third loop": Bad(
        USER.replace(" f(", " «f»("),
        "AT117",
        "has no loop 'i' number 3",
        options=GIVEN,
        files={"side.yaml": HEAD + "    occurrence: 3\n"},
    ),
    "another file": side(
        HEAD.replace("bad.c", "other.c").replace(": f\n", ": «f»\n"),
        "AT643",
        "the sidecar is for 'other.c', not for 'bad.c'",
    ),
    "file above": side(
        HEAD.replace("bad.c", "../../etc/passwd").replace(": f\n", ": «f»\n"),
        "AT643",
        "the sidecar is for '../../etc/passwd', not for 'bad.c'",
    ),
    "annotated twice": side(
        HEAD.replace(": f\n", ": «f»\n"), "AT644", "this nest is annotated twice", c=GOOD
    ),
    "bad expression": side(
        HEAD + '    input_params:\n      n: "4 * «»"\n', "AT041", "expected a value"
    ),
    "bad constraint": side(
        HEAD + "    constraints:\n      c: «n »>\n".replace("«n »>", "n >«»"), "AT041", "a value"
    ),
    "code in a value": side(
        HEAD + "    input_params:\n      n: «__import__('os')»\n", "AT049", "'__import__'"
    ),
    "no values": side(
        HEAD + "    performance_params:\n      «UF»: []\n", "AT027", "'UF' has no values"
    ),
    "command": side(
        HEAD + '    recipe: |\n      «permut(0, ("i"))»\n',
        "AT060",
        "unknown command 'permut'",
        "did you mean 'permute'?",
    ),
    "loop of a command": side(
        HEAD + '    recipe: |\n      «cuda(0, thread={"j"})»\n', "AT251", "has no loop 'j'"
    ),
    "other annotation unclosed": Bad(
        USER.replace("{\n", f"{{\n  «{OPEN}»\n", 1),
        "AT001",
        "never closed",
        options=GIVEN,
        files={"side.yaml": HEAD},
    ),
}
