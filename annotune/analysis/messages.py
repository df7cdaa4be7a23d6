"""The kinds of diagnostic that the analysis gives, each with its stable code."""

from __future__ import annotations

from collections.abc import Sequence

from annotune.diagnostics import Severity, Template

NOT_AFFINE = Template(
    "AT201",
    "subscript '{subscript}' of '{array}' is not affine in {iterators}",
    "annotune needs subscripts that are sums of loop variables times sizes",
)
SCALAR_SUBSCRIPT = Template(
    "AT202",
    "subscript '{subscript}' of '{array}' uses '{name}', which the region changes",
    "write the subscript with the loop variables themselves",
)
BOUND_NOT_AFFINE = Template(
    "AT203",
    "the bound '{bound}' of loop '{loop}' is not affine in the loops around it",
    "give the loop a bound that is a sum of outer loop variables and sizes, or compute it into "
    "an int before the region",
)
BOUND_CHANGES = Template(
    "AT204",
    "the bound '{bound}' of loop '{loop}' uses '{name}', which the region changes",
    "compute the bound before the region",
)
MISSING_SIZE = Template(
    "AT205",
    "the value of {names} is needed: {reason}",
    "add 'param {example} = …;' to `input_params`, or give --set {example}=…",
)
PRIVATE_READ_AFTER = Template(
    "AT207",
    "'{name}' belongs to each iteration of {loop}, but its last value may be read after the region",
    "declare '{name}' inside the loop, or use another variable after the region",
)
UNKNOWN_EXTENT = Template(
    "AT208",
    "the length of the rows of '{array}' is not known",
    "declare '{array}' with all extents but the first",
)
UNBOUNDED = Template(
    "AT209",
    "the part of '{array}' that the region touches has no bound that annotune can write down",
    "declare '{array}' with its extents",
)
EMPTY_LOOP = Template(
    "AT210",
    "loop '{loop}' runs no iteration at these sizes",
    "give sizes for which every loop runs",
)
OVERLAP = Template(
    "AT212",
    "'{name}' and '{other}' overlap: '{name}' points to {place}, and the region writes there",
    "use one name in the region; what each loop may do can then be proven",
)
INDIRECT_WRITE = Template(
    "AT213",
    "'{array}' is written at '{subscript}', which no analysis can follow: two iterations may "
    "write one element",
    "let each iteration write a place of its own; a gather such as 'y[i] = x[{subscript}]' is "
    "accepted",
)
GATHER_EXTENT = Template(
    "AT214",
    "'{array}' is read at '{subscript}', so all of it is needed, but its length is not known",
    "declare '{array}' with its extents, or give them: "
    "def assume {{ arg extent = ['{array}[…]']; }}",
)
DIVIDES_BY_ZERO = Template(
    "AT215",
    "'{expression}' divides by '{divisor}', which is 0",
    "give sizes for which every divisor is other than 0",
)
ASSUMED_DISJOINT = Template(
    "AT220",
    "the pointers {names} are assumed not to overlap",
    "declare them 'restrict' if they never overlap, or say so: "
    "def assume {{ arg disjoint = True; }}; the emitted code checks it at run time",
    Severity.WARNING,
)
OTHERWISE_CALLED = (
    "the annotation's 'param {given}' is unused, since C tells capitals from small letters: "
    "did you mean 'param {size}'? Else "
)
WORK_UNKNOWN = Template(
    "AT221",
    "no value is known for {names}, on which work, grid and unrolling depend",
    "{hint}add 'param {example} = …;' to `input_params`, or give --set {example}=…",
    Severity.WARNING,
)
FOR_THESE_SIZES = Template(
    "AT222",
    "proven for {sizes} only: {reason}",
    "declare '{array}' with its extents, let the loop bounds be its row lengths, or say that "
    "these sizes are meant: def assume {{ arg strides = True; }}",
    Severity.WARNING,
)
DECLARED_FOR_THESE_SIZES = Template(
    "AT222",
    "proven for {sizes} only: {reason}",
    "let the loop bounds be the extents of '{array}', or say that these sizes are meant: "
    "def assume {{ arg strides = True; }}",
    Severity.WARNING,
)
ASSUMED_IN_RANGE = Template(
    "AT223",
    "'{subscript}' is assumed to stay inside '{array}'",
    "say so: def assume {{ arg extent = ['{array}{extents}']; }}",
    Severity.WARNING,
)
LOOKED_FOR = Template(
    "AT224",
    "the elements of '{array}' that '{condition}' may leave out need not exist: which are there is "
    "looked for before each copy to a device",
    "give the length, def assume {{ arg extent = ['{array}[…]']; }}, or say that they exist, "
    "arg whole = True; then nothing is looked for",
    Severity.WARNING,
)
UNSEEN = Template(
    "AT225",
    "which elements of '{array}' exist depends on '{condition}', which the region itself computes: "
    "nothing can be copied to a device before it runs",
    "say that they exist: def assume {{ arg whole = True; }}; or give the length, arg extent = "
    "['{array}[…]']; or leave out what copies: --target openmp, or --data resident",
    Severity.WARNING,
)

INDICES_AWAY = Template(
    "AT226",
    "the host reads the indices in '{array}' before the nest, and they are on the device",
    "give what they point into a length, def assume {{ arg extent = ['…[…]']; }}, or leave out "
    "--data resident",
)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
