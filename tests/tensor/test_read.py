"""What is read of a tensor file, and every mistake at its place, with its code and a way out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cli import annotune, marked
from support.each import check_each

from annotune.diagnostics import AnnotuneError
from annotune.ir.functions import FUNCTIONS as IN_C
from annotune.tensor.names import FUNCTIONS, why_unusable
from annotune.tensor.program import Memory, TensorProgram
from annotune.tensor.read import read_program
from annotune.tensor.rules import remarks
from annotune.tensor.text import operation_text, tensor_text


def shaped(operations: str, tensors: str = "C: (4, 5) A: (4, 6) B: (6, 5)", head: str = "") -> str:
    """Return the file of a matrix product, or of other operations on its tensors."""
    return f"mm\n{head}variables:\n  {tensors}\noperations:\n  {operations}\n"


PRODUCT = "C:(i, j) += A:(i, k) * B:(k, j)"
LONG_NAME = "a" * 64

# The text with its mistake in marks, the code, and parts of the message and of the help.
BAD: dict[str, tuple[str, str, str, str]] = {
    # What the issue names.
    "undeclared tensor": (
        shaped("C:(i, j) += A:(i, k) * «D»:(k, j)"),
        *("AT709", "'D' is not declared", "write `D: (m, n)` under `variables:`"),
    ),
    "undeclared, misspelt": (
        shaped("out:(i, j) += A:(i, k) * «oub»:(k, j)", "out: (4, 5) A: (4, 6)"),
        *("AT709", "'oub' is not declared", "did you mean 'out'?"),
    ),
    "undeclared output": (shaped("«X»:(i, j) = A:(i, j)"), "AT709", "'X'", "X: (m, n)"),
    "undeclared number": (shaped("C:(i, j) = «beta» * C:(i, j)"), "AT709", "'beta'", "`beta: ()`"),
    "size as a number": (
        shaped("C:(i, j) = «n» * C:(i, j)", head="define: n = 4\n"),
        *("AT709", "'n' is not declared", "it is a size"),
    ),
    "undeclared index": (
        shaped("C:(i, «j») += A:(i, k) * B:(k, l)"),
        *("AT716", "'j' stands on the left, and nowhere on the right", "take it away"),
    ),
    "too few indices": (
        shaped("C:(i, j) += A:(i, k) * «B»:(k)"),
        *("AT712", "'B' has 2 dimensions, and 1 index here", "with all its indices"),
    ),
    "too many indices": (shaped("«C»:(i, j, k) += A:(i, k)"), "AT712", "3 indices", "`C:("),
    "no indices": (shaped("C:(i, j) += «A»"), "AT712", "no indices here", "`A:("),
    "indices of a number": (
        shaped("C:(i, j) = «b»:(i) * A:(i, j)", "C: (4, 5) A: (4, 5) b: ()"),
        *("AT712", "no dimensions", "it is a number: `b`"),
    ),
    "two sizes": (
        shaped("C:(i, j) += A:(i, k) * B:(«j», k)"),
        *("AT713", "the index 'j' has two sizes, 5 and 6", "of one size"),
    ),
    "two sizes by name": (
        shaped("C:(i, k) = A:(i, «k»)", "C: (m, n) A: (m, m)", "define: m = 4 n = 5\n"),
        *("AT713", "n = 5 and m = 4", ""),
    ),
    "two parameters": (
        shaped("C:(i, j) = A:(i, «j»)", "C: (m, n) A: (m, m)", head="sizes: m n = 4\n"),
        *("AT713", "n = 4 and m", ""),
    ),
    "left missing on the right": (shaped("C:(«i», j) = B:(k, j)"), "AT716", "'i'", "give 'i' to"),
    "unknown option": (
        shaped(PRODUCT, head="«memoyr»: row\n"),
        *("AT704", "no option 'memoyr'", "did you mean 'memory'?"),
    ),
    "unknown value": (
        shaped(PRODUCT, head="pattern: «stride»\n"),
        "AT704",
        "'stride'",
        "'strided'",
    ),
    "size 0": (shaped(PRODUCT, "C: («0», 5) A: (4, 6)"), "AT711", "the size is 0", ""),
    "size below 0": (shaped(PRODUCT, head="define: n = «2 - 5»\n"), "AT711", "'n' is -3", ""),
    "size overflow": (
        shaped(PRODUCT, head="define: n = «65536 * 65536»\n"),
        *("AT711", "4294967296, expected 1 to 2147483647", "ints"),
    ),
    "size of many digits": (
        shaped(PRODUCT, head=f"define: n = «{'*'.join(['999999999'] * 40)}»\n"),
        *("AT711", "far too large", ""),
    ),
    "temporary larger than memory": (
        shaped("T:(i, j) = 1", "«T»: (2000000000, 2000000000) internal"),
        *("AT715", "'T' takes 2.98e+10 GiB", ""),
    ),
    "larger than addresses": (
        shaped("C:(i, j, k) = 1", "«C»: (2000000000, 2000000000, 3)"),
        *("AT715", "of an address space", ""),
    ),
    # The text.
    "empty": ("«»", "AT701", "end of the file", "a name"),
    "only a comment": ("# nothing«x»\n", "AT701", "end of the file", "a name"),
    "NUL": ("mm\n«\0»", "AT701", "unexpected character '\\x00'", ""),
    "letters of other scripts": (shaped("«Ä»:(i) = 1"), "AT701", "'Ä'", "C's letters"),
    "homoglyph": (shaped("C:(i, «\u0458») = 1"), "AT701", "character", ""),
    "no tensors": ("mm\n«variables»:\noperations: s = 1", "AT705", "'variables:'", "`A: (m, n)`"),
    "no operations": ("mm\nvariables: A: (4)\n«operations»:", "AT705", "'operations:'", "C:(i, j)"),
    "section misspelt": (
        "mm\nvariables: A: (4)\noperation: «A»:(i) = 1",
        *("AT701", "unexpected 'A'", "'operation' is read as a name: did you mean 'operations'?"),
    ),
    "heading without a colon": ("mm\nvariables «A»: (4)", "AT701", "'A'", "':'"),
    "word misspelt": (
        shaped(PRODUCT, "C: (4, 5) colum «A»: (4, 6)"),
        *("AT701", "unexpected 'A'", "did you mean 'column'?"),
    ),
    "bracket open": (shaped("C:(i, j) = A:(i, j) * «(»B:(i, j)"), "AT702", "'(' is never", ""),
    "bracket closed twice": (shaped("C:(i, j) = A:(i, j)«)»"), "AT701", "unexpected ')'", ""),
    "division": (shaped("C:(i, j) = A:(i, j) «/» 2"), "AT701", "'/'", "0.5"),
    "assignment missing": (shaped("C:(i, j) «A»:(i, j)"), "AT701", "'A'", "'=', '+=' or '-='"),
    "factor missing": (shaped("C:(i, j) = A:(i, j) * «*» 2"), "AT701", "'*'", ""),
    "text ends": (shaped("C:(i, j) «=»").rstrip(), "AT701", "end of the file", ""),
    "deep": (
        shaped("C:(i, j) = " + "(" * 30 + "«(»1" + ")" * 31),
        "AT703",
        "31 brackets",
        "internal",
    ),
    "many terms": (
        shaped("C:(i, j) = «" + "A:(i, j) + " * 500 + "A:(i, j)»"),
        *("AT703", "501 terms", "tensors of their own"),
    ),
    "many factors": (
        shaped("C:(i, j) = «" + "2 * " * 500 + "A:(i, j)»"),
        "AT703",
        "501 factors",
        "",
    ),
    "many dimensions": (shaped(PRODUCT, "«A»: order33"), "AT703", "33 dimensions", ""),
    "huge order": (shaped(PRODUCT, "«A»: 999999999"), "AT703", "dimensions", ""),
    "many loops": (
        shaped(
            "«C»:("
            + ", ".join(f"i{n}" for n in range(20))
            + ") = A:("
            + ", ".join(f"i{n}" for n in range(20))
            + ") * B:("
            + ", ".join(f"k{n}" for n in range(20))
            + ")",
            "C: order20 A: order20 B: order20",
        ),
        *("AT703", "40 indices", ""),
    ),
    "option twice": (shaped(PRODUCT, head="memory: row\n«memory»: row\n"), "AT706", "'memory'", ""),
    "layout twice": (shaped(PRODUCT, "C: (4, 5) row «column»"), "AT706", "the memory of 'C'", ""),
    # Names.
    "tensor twice": (shaped(PRODUCT, "C: (4, 5) «C»: (4, 5)"), "AT707", "a tensor already", ""),
    "size and tensor": (shaped(PRODUCT, "«n»: (4)", "define: n = 4\n"), "AT707", "a size", ""),
    "index is a tensor": (shaped("C:(i, «A») = A:(i, A)"), "AT707", "'A' is a tensor", ""),
    "index is a size": (
        shaped("C:(«n», j) = A:(n, j)", head="define: n = 4\n"),
        *("AT707", "a size already", ""),
    ),
    "index is the function": (shaped("C:(i, «mm») = A:(i, mm)"), "AT707", "the function", ""),
    "C keyword": (shaped(PRODUCT, "«for»: (4)"), "AT708", "a word of C", "for_0"),
    "C++ keyword": (shaped("C:(i, «new») = A:(i, new)"), "AT708", "C++", "new_0"),
    "annotation keyword": (shaped(PRODUCT, head="sizes: «param» = 4\n"), "AT708", "annotation", ""),
    "function as a name": (shaped(PRODUCT, "«exp»: (4)"), "AT708", "C's library has it", ""),
    "called by the text": (shaped(PRODUCT, "«malloc»: (4)"), "AT708", "C's library has it", ""),
    "reserved": (shaped(PRODUCT, "«__A»: (4)"), "AT708", "for compilers", "'A_0'"),
    "macro of complex.h": (shaped("C:(i, «I») = A:(i, I)"), "AT708", "C has a meaning", ""),
    "main": (shaped(PRODUCT).replace("mm", "«main»"), "AT708", "C has a meaning", ""),
    "long": (shaped(PRODUCT, f"«{LONG_NAME}»: (4)"), "AT708", "more than 63 letters", ""),
    "no such size": (
        shaped(PRODUCT, "C: (nelt, «netl»)", "define: nelt = 4\n"),
        *("AT710", "'netl'", "did you mean 'nelt'?"),
    ),
    "size before its own": (shaped(PRODUCT, head="define: n = «m» m = 4\n"), "AT710", "'m'", ""),
    # Shapes.
    "real size": (shaped(PRODUCT, "C: («4.5», 5)"), "AT724", "an integer or a size", ""),
    "size of a call": (shaped(PRODUCT, head="define: n = «f»(4)\n"), "AT724", "'f'(…)", ""),
    "macro without a value": (
        shaped(PRODUCT, head="define: «n» m = 4\n"),
        "AT724",
        "a value",
        "n = 16",
    ),
    "size of a parameter": (shaped(PRODUCT, head="sizes: n define: m = «n»\n"), "AT724", "'n'", ""),
    "leading of a number": (shaped(PRODUCT, "C: () «leading» 4"), "AT714", "for 0 dimensions", ""),
    "three leading": (shaped(PRODUCT, "C: (4, 5) «leading» (4, 5, 6)"), "AT714", "3 lengths", ""),
    "small leading": (shaped(PRODUCT, "C: (4, 5) «leading» 4"), "AT711", "is 4, expected at", ""),
    "internal leading": (
        shaped(PRODUCT, "C: (4, 5) internal «leading» 8"),
        "AT714",
        "internal",
        "",
    ),
    "internal pointers": (
        shaped(PRODUCT, "«C»: (4, 5) internal pointers"),
        "AT714",
        "internal",
        "",
    ),
    "pointers to nothing": (shaped(PRODUCT, "«x»: (4) pointers"), "AT714", "no index left", ""),
    "order of nothing": (
        shaped("C:(i, j) = 1", "C: (4, 5) «x»: order2"),
        *("AT714", "nothing says how long 'x' is", "declare its sizes"),
    ),
    # What is computed.
    "twice on the left": (shaped("C:(i, «i») = A:(i, k) * B:(k, i)"), "AT717", "'i' stands", ""),
    "transposed in place": (
        shaped("C:(i, j) = «C»:(j, i)", "C: (4, 4)"),
        *("AT718", "read at other indices", "internal"),
    ),
    "own sum": (shaped("C:(i, j) += A:(i, k) * «C»:(i, j)"), "AT718", "in the sum that sets", ""),
    "sum in a part": (
        shaped("C:(i, j) = 2 * (A:(i, «k») * B:(k, j) + C:(i, j))"),
        *("AT719", "over 'k'", "multiply out"),
    ),
    "sum in a function": (
        shaped("C:(i, j) = «tanh»(A:(i, k) * B:(k, j))"),
        *("AT719", "the values of tanh, or what it is given", "a tensor of its own"),
    ),
    "many products": (
        shaped(
            "«s» = " + " * ".join(f"(x:(i{n}) + x:(j{n}))" for n in range(12)),
            "s: () x: (4)",
        ),
        *("AT703", "", ""),
    ),
    "unknown function": (shaped("C:(i, j) = «exq»(A:(i, j))"), "AT720", "'exq'", "'exp'"),
    "two arguments": (shaped("C:(i, j) = «exp»(A:(i, j), 2)"), "AT721", "1 argument", ""),
    "complex argument": (
        shaped("C:(i, j) = «exp»(A:(i, j))", "C: (4, 5) complex A: (4, 5) complex"),
        *("AT721", "real numbers, and gets complex ones", ""),
    ),
    "conj of a real": (
        shaped("C:(i, j) = «conj»(A:(i, j))", "C: (4, 5) complex A: (4, 5)"),
        *("AT721", "complex numbers", ""),
    ),
    "internal read": (
        shaped("C:(i, j) = «T»:(i, j) T:(i, j) = 1", "C: (4, 5) T: (4, 5) internal"),
        *("AT722", "'T'", "`T:(…) = …`"),
    ),
    "internal changed": (shaped("«C»:(i, j) += 1", "C: (4, 5) internal"), "AT722", "'C'", ""),
    "number as an index": (
        shaped("C:(i, «1») = A:(i, j)"),
        "AT724",
        "an index, found '1'",
        "a name",
    ),
    "moved index": (shaped("C:(i, j) = A:(i, «j + 1»)"), "AT724", "an expression", ""),
    "hexadecimal": (shaped("C:(i, j) = «0x10»"), "AT724", "'0x10'", "0.5"),
    "suffix": (shaped("C:(i, j) = «2f»"), "AT724", "'2f'", ""),
    "infinite": (shaped("C:(i, j) = «1e999»"), "AT724", "'1e999'", ""),
    "complex to real": (
        shaped("«C»:(i, j) = A:(i, j)", "C: (4, 5) A: (4, 5) complex"),
        *("AT725", "'C' is real", "complex"),
    ),
}


def test_every_mistake_is_told_at_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_each(BAD, the_mistake_is_told, tmp_path)


def the_mistake_is_told(name: str) -> None:
    shown, code, message, way_out = BAD[name]
    text, line, column = marked(shown)
    Path("bad.tensor").write_text(text)
    done = annotune("tensor", "bad.tensor", "-o", "bad.c")
    assert done.code == 1
    assert done.out == ""
    assert not Path("bad.c").exists()
    (head,) = re.findall(rf"^bad\.tensor:{line}:{column}: error: (.*) \[{code}\]$", done.err, re.M)
    assert message in head
    helps = re.findall("^  help: (.*)$", done.err, re.M)
    assert way_out in "".join(helps[:1])
    if text.strip() and "\0" not in text and len(text.split("\n")[line - 1]) < 200:
        inside = shown[shown.index("«") + 1 : shown.index("»")]
        assert re.search(rf"\| *\^{{{max(1, len(inside))}}}$", done.err, re.M), done.err


def test_all_mistakes_are_told_at_once() -> None:
    text = shaped("C:(i, j) = D:(i, j)\n  C:(i, j) = E:(i)", "C: (4, n) C: (1)")
    with pytest.raises(AnnotuneError) as refused:
        read_program("x.tensor", text)
    assert [one.code for one in refused.value.diagnostics] == ["AT710", "AT707", "AT709", "AT709"]


def test_a_file_of_a_megabyte_is_refused_and_half_of_it_is_read() -> None:
    with pytest.raises(AnnotuneError, match="characters"):
        read_program("x.tensor", shaped(PRODUCT) + "#" * (1 << 20))
    many = "\n  ".join([PRODUCT] * 400)
    assert len(read_program("x.tensor", shaped(many)).operations) == 400


def program(operations: str, tensors: str, head: str = "") -> TensorProgram:
    return read_program("x.tensor", shaped(operations, tensors, head))


def test_both_forms_of_an_element_are_one() -> None:
    assert read_program("x", shaped("C(i,j) += A(i,k)*B(k,j)")) == read_program(
        "x", shaped(PRODUCT)
    )


def test_words_of_the_language_are_names_where_nothing_else_is_meant() -> None:
    found = program(
        "row:(leading, define) = order:(leading, define) * column",
        "row: (4, 5) order: (4, 5) column: ()",
        "memory: column\n",
    )
    assert [one.name for one in found.tensors] == ["row", "order", "column"]
    assert found.tensors[0].memory is Memory.COLUMN
    assert operation_text(found.operations[0]) == (
        "row:(leading, define) = order:(leading, define) * column"
    )


def test_an_order_alone_makes_sizes_parameters() -> None:
    found = program(
        "C:(i, j) += A:(i, k) * B:(k, j)\n  D:(p, q) = C:(q, p)",
        "C: order2 A: 2 B: order 2 D: (n, 7)",
        "sizes: n = 5\n",
    )
    assert [(one.name, one.value, one.is_parameter) for one in found.sizes] == [
        ("n", 5, True),
        ("n_k", None, True),
    ]
    assert {one.name: one.lengths for one in found.tensors} == {
        "C": (7, "n"),
        "A": (7, "n_k"),
        "B": ("n_k", "n"),
        "D": ("n", 7),
    }


def test_a_size_of_an_index_may_be_declared() -> None:
    found = program("x:(i) = y:(i)", "x: 1 y: 1", "sizes: n_i = 9\n")
    assert [(one.name, one.value) for one in found.sizes] == [("n_i", 9)]


def test_sizes_are_sums_and_products_of_those_before_them() -> None:
    found = program("x:(i) = 1", "x: (b)", "define: a = 4 b = (a + 2) * 3 - a\n")
    assert found.value("b") == 14


def test_brackets_that_say_nothing_are_left_out() -> None:
    found = program("C:(i, j) = -((A:(i, j)) * (2 * 3)) - (A:(i, j) - 1)", "C: (4, 5) A: (4, 5)")
    assert operation_text(found.operations[0]) == ("C:(i, j) = -A:(i, j) * 2 * 3 - A:(i, j) + 1")


def test_each_term_has_its_own_sum() -> None:
    (one,) = program(
        "C:(i, j) = A:(i, k) * B:(k, j) + C:(i, j) + x:(i) + s * A:(i, l)",
        "C: (4, 5) A: (4, 6) B: (6, 5) x: (4) s: ()",
    ).operations
    assert [one.summed(term) for term in one.terms] == [("k",), (), (), ("l",)]


@pytest.mark.parametrize(
    "right",
    [
        "(A:(i, k) + D:(i, k)) * B:(k, j)",
        "(A:(i, k) + x:(i)) * B:(k, j)",
        "x:(i) * (B:(k, j) - 2 * B:(k, j))",
        "exp(A:(i, k)) * B:(k, j)",
        "exp(A:(i, k) * D:(i, k)) * B:(k, j)",
        "A:(i, k) * B:(k, j) + exp(C:(i, j))",
        "x:(i) * exp(B:(k, j))",
    ],
)
def test_sums_that_mean_one_thing(right: str) -> None:
    tensors = "C: (4, 5) R: (4, 5) A: (4, 6) D: (4, 6) B: (6, 5) x: (4)"
    assert program(f"R:(i, j) = {right}", tensors)


def test_what_is_declared_in_vain_is_a_warning() -> None:
    found = program(PRODUCT, "C: (4, 5) A: (4, 6) B: (6, 5) D: (3)")
    assert [(one.code, one.span.column) for one in remarks(found)] == [("AT723", 33)]


@pytest.mark.parametrize(
    "text",
    [
        shaped(PRODUCT),
        shaped(
            "t = x:(i, i) T:(i, j) = -2 * t * (x:(i, j) + 1e-3) - exp(x:(j, i))\n"
            "y:(b, i, j) -= z:(b, i, j) * T:(i, j) y:(b, i, j) += 1",
            "x: (m, m) column leading lda y: (nb, m, m) leading (lda, lda) pointers float"
            " z: (nb, m, m) t: () internal T: (m, m) internal",
            "access: multidimensional\npattern: strided\nsizes: m lda nb = 3\ndefine: k = 4\n",
        ),
        shaped("z:(i) = conj(z:(i)) * 2.5", "z: (7)", "type: complex\n"),
    ],
)
def test_a_program_written_is_read_again(text: str) -> None:
    found = read_program("x", text)
    assert read_program("y", tensor_text(found)) == found


def test_functions_are_those_that_nests_may_call() -> None:
    assert {name: len(IN_C[name].parameters) for name in FUNCTIONS} == dict(FUNCTIONS)
    assert all(why_unusable(name) for name in FUNCTIONS)
