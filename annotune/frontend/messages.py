"""What the front end says when it refuses a C file, with stable codes AT101 to AT199."""

from __future__ import annotations

from annotune.diagnostics import Severity, Template

# The file.
EMPTY_FILE = Template("AT101", "the file is empty", "give a C file with an annotated loop nest")
BINARY_FILE = Template("AT102", "this is not a text file: it holds a NUL byte", "give a C source")
OPEN_COMMENT = Template("AT104", "this comment is never closed", "close it with '*/'")
SYNTAX = Template(
    "AT105",
    "not C that annotune understands: unexpected '{token}'",
    "annotune reads C11 with GNU attributes",
)
MISSING_SEMICOLON = Template("AT105", "a ';' is missing behind '{token}'", "end the statement")
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
MACRO_EXPLODES = Template(
    "AT108", "macro '{name}' expands without end", "shorten what it expands to"
)
MACRO_ARGUMENTS = Template(
    "AT109",
    "macro '{name}' takes {expected} argument(s), but {given} are given here",
    "call it as its '#define' says",
)
UNREAD_HEADER = Template(
    "AT115",
    "'{name}' is included inside function '{function}', and was not read: {reason}",
    "name its folder with -I",
)
DEFINE_IN_REGION = Template(
    "AT118",
    "'#{directive} {name}' inside a region is needed after it",
    "move the directive out of the region",
)
NOT_READ = Template(
    "AT119",
    "'{name}' was not read: {reason}",
    severity=Severity.NOTE,
)
DECIDED_ALONE = Template(
    "AT119",
    "'#if' about '{name}' is decided without a header that may define it",
    "define it with -D, or name the header's folder with -I",
    severity=Severity.WARNING,
)
F2C_FROM_TABLE = Template(
    "AT119",
    "'f2c.h' is not found: its integers are taken for int, which emitted C does not test",
    "name its folder with -I",
    severity=Severity.WARNING,
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
CUTS_BY_DATA = Template(
    "AT111",
    "this block of Data cuts a statement in two",
    "begin and end it between whole statements of one block",
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
    "'#{directive}' inside a region is not supported",
    "move the directive out of the region",
)
NO_FUNCTION = Template(
    "AT116", "there is no function '{function}'", "{hint}the file defines: {known}"
)
NO_LOOP = Template(
    "AT117",
    "function '{function}' has no loop '{loop}' number {occurrence}",
    "{hint}its loops are: {known}",
)

# Names and types.
UNDECLARED = Template(
    "AT120",
    "'{name}' is not declared",
    "declare it in this file or in a header, whose folder -I names, or define it with -D",
)
UNKNOWN_TYPE = Template(
    "AT121",
    "unknown type '{type}' of '{name}'",
    "give the header's folder with -I, put the typedef into this file, or pass -D{type}=TYPE",
)
ELEMENT_TYPE = Template(
    "AT122",
    "array '{name}' has elements of type '{type}', which no target can compute with",
    "use double, float, an integer type or double complex",
)
SCALAR_TYPE = Template(
    "AT123",
    "'{name}' has type '{type}', which is not supported in a region",
    "use double, float or an integer type",
)
STRUCT_MEMBER = Template(
    "AT124",
    "'{name}' is no member that annotune can give a name of its own",
    "its struct must be declared in this file or an included one and may stand in no array; "
    "copy it to a variable before the region and use that",
)
MIXED_MEMBERS = Template(
    "AT124",
    "the region uses members of '{name}' of type '{one}' and of type '{other}', which no single "
    "array of numbers holds",
    "copy the members of one type to an array of their own before the region",
)
POINTER_TO_POINTER = Template(
    "AT125",
    "'{name}' is a pointer to pointers, and its rows are not known before the region",
    "use one contiguous array, such as double {name}[n][m] or double *{name} with {name}[i*m + j]",
)
TWO_MEANINGS = Template(
    "AT126",
    "'{name}' means two different variables in this region",
    "rename one of them",
)
LOCAL_ARRAY = Template(
    "AT127",
    "array '{name}' is not one of a single iteration, with extents that C fixes",
    "declare it inside a loop of the region with constant extents, or before the region",
)
SIZE_CHANGES = Template(
    "AT128",
    "'{size}' changes after '{name}' is declared with it",
    "keep the sizes of arrays constant",
)
VOLATILE = Template("AT129", "'{name}' is volatile, which a region cannot keep", "copy it first")
ATOMIC = Template(
    "AT129", "'{name}' is atomic, and no kernel keeps the order of its accesses", "copy it first"
)
THREAD_LOCAL = Template(
    "AT129",
    "'{name}' is another object in each thread, and a kernel runs on several",
    "before the region, copy its value into a local variable, or its address into a pointer",
)
# By the words of `symbols.SPECIAL`.
SPECIAL = {"volatile": VOLATILE, "_Atomic": ATOMIC, "_Thread_local": THREAD_LOCAL}

# Statements and expressions.
CALL = Template(
    "AT130",
    "'{name}' may have effects: it is no function that annotune knows",
    "{hint}if it has none, say so: def assume {{ arg pure = ['{name}']; }}",
)
OWN_FUNCTION = Template(
    "AT167",
    "'{name}' is not the function that annotune knows under this name: {reason}",
    "{help}",
)
ARGUMENTS = Template(
    "AT156",
    "'{name}' takes {expected} argument(s), but {given} are given here",
    "call it as its header declares it",
)
CLASS_OF_INTEGER = Template(
    "AT156",
    "'{name}' asks for a double or a float, and this is of type '{type}'",
    "leave it out, or give it a real",
)
CLASS_AS_NUMBER = Template(
    "AT133",
    "'{name}' is not 0 where it holds, and C leaves open which number it is",
    "use it as a condition: {name}(x) ? 1 : 0",
)
UNKNOWN_SIZE = Template(
    "AT133",
    "how many bytes '{text}' is, is not known before the program runs",
    "compute it in an integer variable before the region",
)
RETURNS = Template(
    "AT157",
    "'{name}' returns '{type}', which a nest cannot compute with",
    "list only functions that return a number under 'arg pure'",
)
CONTROL_FLOW = Template(
    "AT131",
    "'{word}' is not allowed in a region",
    "a region holds counted 'for' loops, 'if' and assignments only",
)
JUMPED_INTO = Template(
    "AT131",
    "'goto {name}' jumps into this region from outside of it",
    "put the label right before the region, or behind its end",
)
UNCOUNTED = Template(
    "AT131",
    "nothing shows how often this '{word}' runs, so that it is not allowed in a region",
    "count its iterations, while (k < n) {{ ...; k++; }}, or annotate the 'for' loops inside of it",
)
OPERATOR = Template(
    "AT133",
    "operator '{op}' is not supported in a region",
    "use + - * / and comparisons, on integers also %, & | ^ ~ and shifts by a constant",
)
NESTED_ASSIGNMENT = Template(
    "AT134", "an assignment inside an expression is not supported", "give it its own statement"
)
CAST = Template(
    "AT135",
    "a cast to '{type}' is not supported in a region",
    "cast to a number type, or leave the cast out",
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
    "AT138",
    "literal '{text}' is not supported in a region",
    "use an integer, a character of ASCII or a double",
)
STATEMENT = Template(
    "AT139",
    "this statement is not supported in a region",
    "a region holds counted 'for' loops, 'if' and assignments only",
)

# Loops.
LOOP_START = Template(
    "AT140",
    "a loop must start with an assignment to its iterator",
    "write for (i = lower; i < upper; i++)",
)
LOOP_GOES_ON = Template(
    "AT140",
    "loop '{var}' starts from a value of '{var}' that is not known here",
    "write the value into the loop: for ({var} = first; {var} < n; {var}++)",
)
LOOP_CONDITION = Template(
    "AT141",
    "the condition must compare iterator '{var}' with a bound",
    "write {var} < bound, {var} <= bound or several of them joined by &&",
)
LOOP_STEP = Template(
    "AT142",
    "the step of loop '{var}' must be a size with a sign, or a constant other than 0",
    "write {var}++, {var}-- or {var} += 2",
)
NEVER_ENDS = Template(
    "AT143",
    "loop '{var}' steps away from its bound, or may step over it",
    "count up to {var} < bound or down to {var} > bound",
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

UNSIGNED_START = Template(
    "AT159",
    "loop '{var}' compares as '{type}', where a negative number is a large one, and nothing shows "
    "that it starts at 0 or above",
    "compare with a signed bound, such as (int)n, or start at 0",
)
UNSIGNED_BOUND = Template(
    "AT159",
    "loop '{var}' compares as '{type}' with a bound that is below 0 as a signed number",
    "write the bound as the number that is meant",
)

UNSIGNED_MEETING = Template(
    "AT159",
    "loop '{var}' compares as '{type}' with a bound that may be below 0 as a signed number",
    "give the bound a signed type",
)

# Integers that the region computes.
NOT_SINGLE = Template(
    "AT150",
    "integer '{name}' has no value here",
    "set it before this use",
)
INTEGER_NEEDED = Template(
    "AT151",
    "'{name}' may be read after the region, and no formula gives its value there",
    "set it again after the region, or use another variable in it",
)
ITERATOR_OUTSIDE = Template(
    "AT152",
    "'{name}' is read outside of its loop",
    "use the bound of the loop instead",
)
ALIAS_CHANGES = Template(
    "AT154",
    "'{name}' changes inside the region",
    "compute it in a variable of its own, and assign that after the region",
)
ALIAS_IN_MACRO = Template(
    "AT155",
    "'{name}' comes out of the macro in '{macro}'",
    "write it out in the region, or copy it to a variable before the region",
)
MAY_BE_ELEMENT = Template(
    "AT158",
    "'{name}' may also be an element of '{array}', and the region writes there",
    "copy it to a variable before the region and use that, or say in the annotation that no two "
    "arrays overlap: def assume {{ arg disjoint = True; }}",
)
DECLARED_TOO_LATE = Template(
    "AT168",
    "'{name}' is used after the region, and its declaration cannot move in front of it: {why}",
    "declare it before the region",
)
FOR_A_LOOP = Template(
    "AT176",
    "'{directive}' is for the loop behind it, and a block takes the place of this region",
    "take it away, or begin the annotation before it, so that it is replaced",
)
SHARED_AROUND = Template(
    "AT177",
    "'{directive}' shares work among threads that start outside of the region",
    "let the region be run by one thread, without this directive: annotune starts threads itself",
)

# Arrays that stay on the device.
NOT_KEPT = Template(
    "AT160",
    "'{name}' cannot stay on the device: {why}",
    "'begin Data' names arrays, and pointers to their first elements, declared before it",
)
NO_EXTENT = Template(
    "AT161",
    "how many elements '{name}' has is not known here",
    'say it in the list: "{name}[n]", where n is what C has for it',
)
UNCLEAR_TOUCH = Template(
    "AT162",
    "this may touch an array that is on the device, and nothing can be copied before it: {why}",
    "{hint}",
)
LEAVES_DATA = Template(
    "AT163",
    "'{word}' leaves, or enters, a block of Data in its middle",
    "end the block before it, or go on behind its end",
)
CALLED_ASIDE = Template(
    "AT164",
    "arrays come back to the host for the call of '{name}', for it may touch them",
    'define it in this file, or give it a block of Data and name it here: calls = "{name}"',
    Severity.WARNING,
)
ALL_COPIED_HERE = Template(
    "AT165",
    "all arrays come back to the host for this statement: {why}",
    "take what it needs into variables, or put it into a region, if it runs often",
    Severity.WARNING,
)
COPIED_HERE = Template(
    "AT165",
    "'{name}' comes back to the host for this statement",
    "put the statement into a region, or behind the block, if it runs often",
    Severity.WARNING,
)
BLOCK_LEFT = Template(
    "AT166",
    "the arrays of this block do not stay on the device, and its regions copy theirs each time",
    "mend what is said of it",
    Severity.WARNING,
)
NOTHING_STAYS = Template(
    "AT166",
    "no array of this file stays on the device between regions, which copy theirs each time",
    "mend what is said of its blocks of Data",
    Severity.WARNING,
)
