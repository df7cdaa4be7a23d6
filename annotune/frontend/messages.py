"""What the front end says when it refuses a C file, with stable codes AT101 to AT199."""

from __future__ import annotations

from annotune.diagnostics import Template

# The file.
EMPTY_FILE = Template("AT101", "the file is empty", "give a C file with an annotated loop nest")
BINARY_FILE = Template("AT102", "this is not a text file: it holds a NUL byte", "give a C source")
OPEN_COMMENT = Template("AT104", "this comment is never closed", "close it with '*/'")
SYNTAX = Template(
    "AT105",
    "not C that annotune understands: unexpected '{token}'",
    "annotune reads C11 with GNU attributes; included headers are not read",
)
UNEXPECTED_END = Template(
    "AT105",
    "not C that annotune understands: it ends too early here",
    "look for a missing '}}', ')' or ';'",
)
TOO_DEEP = Template(
    "AT107",
    "an expression or a block is nested too deeply for annotune",
    "split it with a temporary variable",
)
LONE_CONDITIONAL = Template(
    "AT106", "'#{directive}' without its '#{partner}'", "every '#if' needs one '#endif'"
)

# The place of a region.
NOT_IN_FUNCTION = Template(
    "AT110",
    "the annotated region is not inside a function",
    "put the loops and their annotation into the body of a function",
)
CUTS_STATEMENT = Template(
    "AT111",
    "the annotated region cuts a statement in two",
    "the region must hold whole statements of one block, such as a complete 'for' loop",
)
NO_NEST = Template(
    "AT112",
    "there is no loop nest in the annotated region",
    "put the opening annotation before a 'for' loop and the closing one after it",
)
LEFT_OUT = Template(
    "AT113",
    "the preprocessor leaves the annotated region out",
    "define the name that its '#if' asks for with -D",
)
DIRECTIVE_IN_REGION = Template(
    "AT114",
    "'#{directive}' inside a region is not supported yet",
    "move the directive out of the region, or annotate each alternative",
)
MACRO_IN_REGION = Template(
    "AT115",
    "function-like macro '{name}' in a region is not supported yet",
    "write its expansion in the region",
)
NO_FUNCTION = Template("AT116", "there is no function '{function}'", "the file defines: {known}")
NO_LOOP = Template(
    "AT117",
    "function '{function}' has no loop '{loop}' number {occurrence}",
    "its loops are: {known}",
)

# Names and types.
UNDECLARED = Template(
    "AT120",
    "'{name}' is not declared",
    "included headers are not read: define it with -D{name}=VALUE, or declare it in this file",
)
UNKNOWN_TYPE = Template(
    "AT121",
    "unknown type '{type}' of '{name}'",
    "included headers are not read: put the typedef into this file, or pass -D{type}=TYPE",
)
ELEMENT_TYPE = Template(
    "AT122",
    "array '{name}' has elements of type '{type}'; only double and float are supported",
)
SCALAR_TYPE = Template(
    "AT123",
    "'{name}' has type '{type}', which is not supported in a region",
    "use double, float or an integer type",
)
STRUCT_MEMBER = Template(
    "AT124",
    "struct member '{name}' in a region is not supported yet",
    "copy it to a variable before the region and use that",
)
POINTER_TO_POINTER = Template(
    "AT125",
    "'{name}' is a pointer to pointers; its rows need not be contiguous",
    "use one contiguous array, such as double {name}[n][m] or double *{name} with {name}[i*m + j]",
)
TWO_MEANINGS = Template(
    "AT126",
    "'{name}' means two different variables in this region",
    "rename one of them",
)
LOCAL_ARRAY = Template(
    "AT127",
    "array '{name}' declared inside a region is not supported yet",
    "declare it before the region, or use a scalar",
)
SIZE_CHANGES = Template(
    "AT128",
    "'{size}' changes after '{name}' is declared with it",
    "keep the sizes of arrays constant",
)
VOLATILE = Template("AT129", "'{name}' is volatile, which a region cannot keep", "copy it first")

# Statements and expressions.
CALL = Template(
    "AT130",
    "call of '{name}' in the nest is not supported yet",
    "compute it before the region, or split the nest around it",
)
CONTROL_FLOW = Template(
    "AT131",
    "'{word}' is not allowed in a region",
    "a region holds counted 'for' loops and assignments only",
)
GUARD = Template(
    "AT132",
    "a condition ('{word}') in a region is not supported yet",
    "move the condition out of the nest, or into the loop bounds",
)
OPERATOR = Template(
    "AT133",
    "operator '{op}' is not supported in a region",
    "use + - * / on reals and + - * / % on integers",
)
NESTED_ASSIGNMENT = Template(
    "AT134", "an assignment inside an expression is not supported", "give it its own statement"
)
CAST = Template(
    "AT135",
    "cast to '{type}' changes the type of its operand and is not supported yet",
    "assign the operand to a variable of that type first",
)
SUBSCRIPTS = Template(
    "AT136",
    "'{name}' has {expected} dimension(s) but {given} subscript(s) here",
    "name one element; passing or moving rows is not supported",
)
POINTER_CHANGES = Template(
    "AT137",
    "pointer arithmetic on '{name}' inside a region is not supported",
    "write the offset in the subscript",
)
LITERAL = Template(
    "AT138", "literal '{text}' is not supported in a region", "use a decimal integer or double"
)
STATEMENT = Template(
    "AT139",
    "this statement is not supported in a region",
    "a region holds counted 'for' loops and assignments only",
)

# Loops.
LOOP_START = Template(
    "AT140",
    "a loop must start with an assignment to its iterator",
    "write for (i = lower; i < upper; i++)",
)
LOOP_CONDITION = Template(
    "AT141",
    "the condition must compare iterator '{var}' with a bound",
    "write {var} < bound or {var} <= bound",
)
LOOP_STEP = Template(
    "AT142",
    "the step of loop '{var}' must be a positive constant",
    "write {var}++ or {var} += 2",
)
COUNTS_DOWN = Template(
    "AT143",
    "loop '{var}' counts down, which is not supported yet",
    "turn the loop round: for ({var} = lower; {var} < upper; {var}++)",
)
ITERATOR_CHANGES = Template(
    "AT144",
    "iterator '{var}' is modified in the body of its loop",
    "change it in the loop header only",
)
ITERATOR_REUSED = Template(
    "AT145",
    "iterator '{var}' is used by an enclosing loop already",
    "give the inner loop another iterator",
)
BOUND_CHANGES = Template(
    "AT146",
    "the bound '{name}' of loop '{var}' changes inside the loop",
    "copy the bound to a variable that stays",
)
BOUND_READS_ARRAY = Template(
    "AT147",
    "the bound of loop '{var}' reads array '{name}'",
    "copy it to an int before the region; bounds that differ per row are not supported yet",
)
ITERATOR_TYPE = Template(
    "AT148",
    "iterator '{var}' has type '{type}'",
    "use int, long or size_t",
)
NOT_INTEGER = Template(
    "AT149", "a subscript or loop bound must be an integer", "use int, long or size_t"
)

# Integers that the region computes.
NOT_SINGLE = Template(
    "AT150",
    "integer '{name}' is not a formula of the iterators here",
    "set it once, before its use and in the same loop, or write the formula in the subscript",
)
INTEGER_NEEDED = Template(
    "AT151",
    "integer '{name}', which the region sets, may be read after it",
    "compute it again after the region",
)
ITERATOR_OUTSIDE = Template(
    "AT152",
    "'{name}' is read outside of its loop",
    "use the bound of the loop instead",
)
INDIRECT = Template(
    "AT103",
    "subscript reads array '{name}': indirect accesses are not supported yet",
    "annotune needs subscripts that are formulas of the iterators",
)
INTEGER_ARRAY = Template(
    "AT153",
    "integer array '{name}' in a region is not supported yet",
    "copy the element to an int before the region",
)
