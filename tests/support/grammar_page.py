"""docs/grammar.md, made of the annotation's grammar, the tables of its names, and its commands.

The words about a production stand above it in the grammar file; those about names that the grammar
knows as names alone, and about arguments that may be left out, stand here. What lacks words makes
no page.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path

from annotune.annotation.commands import Kind, Slot
from annotune.annotation.data_block import LISTS
from annotune.annotation.expressions import FUNCTIONS, PREFIXES, TYPES
from annotune.annotation.perf_tuning import ARGUMENTS, ASSUMPTIONS, BLOCKS
from annotune.transforms.language import Form, forms
from annotune.tuning.config import DEFAULT_BUDGET, DEFAULT_SEARCH, DEFAULT_TIME_S

GRAMMAR = Path(__file__).parents[2] / "annotune/annotation/annotation.lark"
HEAD = """\
# The annotation's grammar

<!-- Made of annotune/annotation/annotation.lark and the tables of names and commands by
     `pytest --update-golden -p no:xdist tests/annotation/test_grammar_page.py`: change those. -->

Every production that annotune's parser knows, with what it means, what holds without it and an
example; then every name that has a meaning, and every command of a recipe.
[annotation.md](annotation.md) tells how to write annotations, and where they stand.

In a production `?` is "or nothing", `*` "any number of", `+` "one or more of", `|` "or". Between
tokens stand blanks, ends of lines, and comments from `#` to the end of the line.
"""
_WIDTH = 72
NOTHING_ELSE = "other names are refused, with what was probably meant"


@dataclass(frozen=True)
class Production:
    """A rule or a token of the grammar; `without` says what holds where it is not written."""

    name: str
    right: str
    section: str
    meaning: str
    without: str
    examples: tuple[str, ...]

    @property
    def shown(self) -> str:
        """Return the name without the underscore that only the parser asks for."""
        return self.name.lstrip("_")


_LINE = re.compile(
    r"^//# (?P<section>.*)|^//\| ?(?P<words>.*)"
    r"|^[?!]?(?P<name>_?[a-z_]+|[A-Z]+): (?P<right>.*(?:\n +.*)*)",
    re.MULTILINE,
)


def productions(text: str) -> tuple[Production, ...]:
    """Return the rules and tokens of a grammar with the words above each.

    Raises:
        ValueError: One lacks its meaning, what holds without it, or an example.
    """
    found: list[Production] = []
    section, words = "", list[str]()
    for line in _LINE.finditer(text):
        if line["section"] is not None:
            section = line["section"]
        elif line["words"] is not None:
            words.append(line["words"])
        else:
            parts = _parts(words)
            if missing := [part for part in ("", "without", "example") if not parts[part]]:
                lacking = missing[0] or "meaning"
                raise ValueError(f"the production {line['name']} has no words: {lacking}")
            (meaning,), (without,) = parts[""], parts["without"]
            examples = tuple(parts["example"])
            found.append(
                Production(line["name"], line["right"], section, meaning, without, examples)
            )
            words = []
    return tuple(found)


def _parts(words: Iterable[str]) -> Mapping[str, list[str]]:
    """Return the meaning, what holds without, and the examples; lines of one part are joined."""
    found: dict[str, list[str]] = {"": [], "without": [], "example": []}
    last = ""
    for line in words:
        begun = re.match(r"(without|example): (.*)", line)
        if begun:
            last = begun[1]
            found[last].append(begun[2])
        elif found[last]:
            found[last][-1] += f" {line}"
        else:
            found[last].append(line)
    return found


_TOKEN = re.compile(r'"[^"]*"|/(?:\\.|[^/])+/|-> \w+|\w+|\S|\n *')


def readable(right: str) -> str:
    """Return the right side of a production in one notation, tokens as they are written."""
    if right.startswith("/"):
        return right
    spelled, text, last = _spelled(), "", "("
    for token in _TOKEN.findall(right):
        token = {"[": "(", "]": ")?"}.get(token, token)
        if token.startswith("->"):
            continue  # what the parser calls it
        if token.isspace():
            text, last = f"{text}\n    ", "("
            continue
        is_apart = last != "(" and token not in (")", ")?", "?", "*", "+")
        text += f"{' ' * is_apart}{spelled.get(token, token.lstrip('_'))}"
        last = token
    return text


def _spelled() -> Mapping[str, str]:
    """Return the words and signs of each token that expressions.py names."""
    found: dict[str, list[str]] = {}
    for word, name in (*TYPES.items(), *PREFIXES.items()):
        # `not` is one token before a value, and the first half of another before `in`.
        found.setdefault(name, []).append(f'"{word}"')
    found["NOT_IN"] = ['"not"']
    return {
        name: words[0] if len(words) == 1 else f"({' | '.join(words)})"
        for name, words in found.items()
    }


# Of each block what it is for, and what holds without it.
_BLOCKS = {
    "input_params": ("sizes", "C or `--set` gives the sizes"),
    "performance_params": ("the axes of the search", "the rules make the space alone"),
    "search": ("how `run` searches", "the defaults below, or the command line's"),
    "build": ("flags for the compilers", "annotune's own flags"),
    "assume": ("what you vouch for", "nothing is assumed that C does not show"),
    "input_vars": ("variables that C does not declare", "C declares all"),
    "performance_counter": ("Orio's: read and not used", "nothing"),
    "validation": ("Orio's: read and not used", "nothing"),
    "performance_test_code": ("Orio's: read and not used", "nothing"),
    "cmdline_params": ("Orio's: read and not used, with a warning", "nothing"),
    "power": ("Orio's: read and not used, with a warning", "nothing"),
    "other": ("Orio's: read and not used", "nothing"),
}
_MINUTES = f"{DEFAULT_TIME_S / 60:g} minutes, shared by all regions"
_VARIANTS = f"{DEFAULT_BUDGET} of each target"
# Of each setting what it says, what holds without it, and an example.
_SETTINGS = {
    "search": {
        "algorithm": ("the search, as `--search`", f"`{DEFAULT_SEARCH}`", "'Exhaustive'"),
        "time_limit": ("minutes for the region", _MINUTES, "5"),
        "budget": ("variants to try", _VARIANTS, "100"),
        "total_runs": ("the same in Orio's word", _VARIANTS, "100"),
        "seed": ("of the random numbers", "0", "7"),
        "resume": ("Orio's; `run --resume` goes on", "nothing", "True"),
        "use_z3": ("Orio's: changes nothing", "nothing", "True"),
    },
    "build": {
        "build_command": ("words of which compilers get the flags", "none", "'gcc -O3 @CFLAGS'"),
        "libs": ("Orio's: not needed", "nothing", "'-lm'"),
    },
    "assume": {
        "disjoint": ("no two arrays overlap", "asked at run time", "True"),
        "strides": (
            "sizes in a stride are what they are called",
            "proven, or asked at run time",
            "True",
        ),
        "finite": (
            "maxima and minima meet no NaN and no zero whose sign counts",
            "they may",
            "True",
        ),
        "pure": ("functions without effects", "calls of unknown functions are refused", "['f']"),
        "extent": ("arrays with their numbers of elements", "what C tells", "['x[n]']"),
        "whole": ("elements that conditions leave out exist", "they are not touched", "True"),
    },
    "input_vars": {
        "decl_file": ("a file that declares the variables", "none", "'decl.h'"),
        "init_file": ("a file that sets their integers", "none", "'init.c'"),
    },
    "validation": {"validation_file": ("Orio's: not needed", "nothing", "'check.c'")},
    "performance_test_code": {
        "skeleton_code_file": ("Orio's: not needed", "nothing", "'main.c'"),
    },
}
# Orio's settings of its own programs and searches, which change nothing here.
_ORIO = "command options run_command prebuild_command postbuild_command postrun_command"
_WITHOUT_WORDS = frozenset([*_ORIO.split(), "batch_command", "status_command", "num_procs"])
_LISTS = {
    "enter": ("arrays that stay on the device", '"u[n], g[6*n]"'),
    "exit": ("those, and others, that the program reads afterwards", '"w[n]"'),
    "present": ("arrays that callers of the function may have left there", '"u"'),
    "calls": ("functions of other files whose block has `present`", '"ax"'),
}
_OPTIONAL = {
    "acc.cache": "no array is named for the compiler to keep near",
    "acc.clause": "annotune cuts the loops itself; `tile` has the compiler do it",
    "acc.host": "no loop stays on the host, around the kernel",
    "acc.max_blocks": "a gang for each iteration",
    "acc.num_gangs": "what the loops need",
    "acc.num_workers": "what the loops need",
    "acc.vector_length": "what the loops need",
    "both.gpus": "1",
    "contract.assign": "the rules choose",
    "contract.stage": "both inputs are staged",
    "contract.thread_z": "1",
    "cuda.host": "no loop stays on the host, around the kernel",
    "cuda.max_blocks": "a block for each iteration",
    "distribute.loop": "all their loops",
    "fuse.late": "0: where the first nest stood",
    "fuse.loop": "as many loops as agree",
    "hold.from_zero": "0: the block begins with what is in memory",
    "hold.others": "no other statements",
    "mma.steps": "4",
    "other_sizes.sizes": "`others`: all other sizes",
    "pipeline.loop": "the loop over the steps of the sum",
    "pipeline.through": "`shared`",
    "prefetch.line": "1 element",
    "spread.pair": "each thread has one point",
    "spread.threads": "as many as the rules say",
    "stage.loop": "right before the statement",
    "stage.memory": "`shared`",
    "stage.order": "the order of the array in memory",
    "stage.padding": "0",
    "stage.width": "1 element at once",
    "target.sizes": "all sizes that are tuned for",
    "team.host": "no loop stays on the host, around the kernel",
    "threads.host": "no loop stays on the host, around the kernel",
    "threads.schedule": "`static`",
    "tile.control": "the loop over tiles of `i` is `i_t`",
    "vectors.copied": "the rules choose",
    "vectors.read": "the rules choose",
}
_PLACE = "no loop is there"


def _same(there: Collection[str], told: Collection[str], what: str) -> None:
    if {*there} != {*told}:
        raise ValueError(f"{what}: no words, or no such name: {sorted({*there} ^ {*told})}")


def grammar_page(text: str) -> str:
    """Return the page for the text of a grammar."""
    parts = (
        *_of_productions(productions(text)),
        *_of_blocks(),
        *_of_settings(),
        *_of_lists(),
        *_of_functions(),
        *_of_commands(forms()),
    )
    return HEAD + "\n" + "\n".join(parts)


def _of_productions(every: Iterable[Production]) -> Iterator[str]:
    section = ""
    for one in every:
        if one.section != section:
            section = one.section
            yield f"## {section}\n"
        yield f"### {one.shown}\n"
        yield _block(f"{one.shown} = {readable(one.right)}")
        yield f"{one.meaning}\n"
        examples = ", ".join(map(_code, one.examples))
        yield f"- Without it: {one.without}.\n- Example: {examples}\n"


def _block(text: str) -> str:
    """Return a text in a block of its own, whose lines fit into a page."""
    lines = (
        textwrap.fill(
            line.replace("[, ", "[,\0"),
            _WIDTH,
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in text.splitlines()
    )
    return "\n".join(("```text", *lines, "```", "")).replace("\0", " ")


def _code(text: str) -> str:
    return f"`{text}`"


def _table(*rows: Iterable[str]) -> str:
    head, *others = (f"| {' | '.join(row)} |" for row in rows)
    columns = head.count(" | ") + 1
    return "\n".join((head, "|" + "---|" * columns, *others)) + "\n"


def _of_blocks() -> Iterator[str]:
    _same(BLOCKS, _BLOCKS, "blocks")
    rows = [
        (f"`def {name}`", ", ".join(map(_code, sorted(BLOCKS[name]))), *words)
        for name, words in _BLOCKS.items()
    ]
    yield "## Blocks\n"
    yield f"What stands after `def`; {NOTHING_ELSE}.\n"
    yield _table(("block", "statements", "meaning", "without it"), *rows)


def _of_settings() -> Iterator[str]:
    named = {**ARGUMENTS, "assume": frozenset(ASSUMPTIONS)}
    _same(named, _SETTINGS, "blocks with settings")
    yield "## Settings\n"
    yield f"What stands after `arg`, by the block; {NOTHING_ELSE}."
    yield "Those of Orio's own programs and searches are read, and change nothing.\n"
    rows = [("block", "setting", "meaning", "without it", "example")]
    for block, settings in _SETTINGS.items():
        _same(named[block] - _WITHOUT_WORDS, settings, f"settings of {block}")
        for name, (meaning, without, value) in settings.items():
            rows.append((block, _code(name), meaning, without, f"`arg {name} = {value};`"))
    yield _table(*rows)


def _of_lists() -> Iterator[str]:
    _same(LISTS, _LISTS, "lists of Data")
    rows = [(_code(n), meaning, "none", f"`{n} = {e}`") for n, (meaning, e) in _LISTS.items()]
    yield "## Lists of Data\n"
    yield f"What stands in `begin Data ( … )`; {NOTHING_ELSE}.\n"
    yield _table(("list", "names", "without it", "example"), *rows)


def _of_functions() -> Iterator[str]:
    yield "## Functions\n"
    yield _table(("function", "how it is called"), *((_code(n), u) for n, u in FUNCTIONS.items()))


# How an argument of each kind is shown.
_KINDS = {
    Kind.LOOP: '"{}"',
    Kind.LOOPS: '("{}", …)',
    Kind.ROWS: '("{}", …)',
    Kind.NAMES: '("{}", …)',
    Kind.NAME: '"{}"',
    Kind.TEXT: '"{}"',
}
_BY_NAME = {Kind.LOOPS: '{"…"}', Kind.NAMES: '{"…"}', Kind.ROWS: '{"…"}', Kind.GROUP: "(…)"}


def _written(slot: Slot) -> str:
    """Return how an argument is written, without the brackets of what may be left out."""
    if slot.by_name:
        quoted = '"…"' if slot.kind in (Kind.LOOP, Kind.NAME, Kind.TEXT) else "…"
        return f"{slot.name}={_BY_NAME.get(slot.kind, quoted)}"
    text = _KINDS.get(slot.kind, "{}").format(slot.name)
    return f"{text}, …" if slot.repeated else text


def syntax(name: str, slots: Iterable[Slot]) -> str:
    """Return a command with all its arguments; those in brackets may be left out."""
    text = ""
    for slot in slots:
        comma, written = ", " if text else "", _written(slot)
        # A line ends before what may be left out, rather than behind its comma.
        apart = " " if text else ""
        text += f"{comma}{written}" if slot.required else f"{apart}[{comma}{written}]"
    return f"{name}({text})"


def _of_commands(every: Mapping[str, Form]) -> Iterator[str]:
    own = {name: form for name, form in every.items() if form.word.name == name}
    places = {f"{name}.{place}" for name, form in own.items() for place in form.word.places}
    left_out = {
        f"{name}.{slot.name}"
        for name, form in own.items()
        for slot in form.signature.slots
        if not slot.required
    }
    _same(left_out - places, _OPTIONAL, "arguments that may be left out")
    yield "## Commands\n"
    yield "Of a recipe. What is in brackets may be left out; those with a name stand in any order."
    yield "Commands marked *exact* stand only after `target(…)`, and so do such arguments."
    yield "[Recipe](annotation.md#recipe) says more of each, and"
    yield "[primitives.md](strategies/primitives.md) what it does to a nest.\n"
    for name, form in own.items():
        exact = " *exact*" * form.word.exact
        old = f"; earlier recipes say `{form.word.old}`" if form.word.old else ""
        source = f" ({form.word.source})" if form.word.source != "annotune" else ""
        yield f"### {name} command\n"
        yield _block(syntax(name, form.signature.slots))
        yield f"{_sentence(form.word.meaning)}{source}{old}.{exact}\n"
        yield from _of_arguments(name, form)
        yield f"- Example: `{form.word.example}`\n"


def _of_arguments(name: str, form: Form) -> Iterator[str]:
    for slot in form.signature.slots:
        own = form.arguments.get(slot.name)
        words = f", one of {', '.join(map(_code, own[1].words))}" if own and own[1].words else ""
        kind = f"- `{slot.name}`: {slot.kind.value}{words}"
        if slot.required:
            yield kind
            continue
        exact = " *exact*" * (own is not None and own[1].exact)
        without = _OPTIONAL.get(f"{name}.{slot.name}", _PLACE)
        _check_default(name, form, slot)
        yield f"{kind}; without it {without}.{exact}"


def _check_default(name: str, form: Form, slot: Slot) -> None:
    """Hold what is told of a default against the field's own, where that is a word or a number.

    0 stands for nothing in fields that count, and 1 for no more than each alone.
    """
    own = form.arguments.get(slot.name)
    if own is None:
        return
    (default,) = (one.default for one in fields(form.made) if one.name == own[0])
    told = _OPTIONAL[f"{name}.{slot.name}"]
    is_telling = isinstance(default, str | StrEnum) and default
    if is_telling or (isinstance(default, int) and default > 1):
        assert str(default) in told.replace("`", "").split(":")[0], (name, slot.name, default)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
