"""What the decision stage says: AT301 to AT349."""

from __future__ import annotations

from annotune.diagnostics import Severity, Template

NO_PARALLEL_LOOP = Template(
    "AT301",
    "no loop of this region can run in parallel: {reason}",
    "another algorithm may have a parallel loop, or a larger region with a loop around this one",
)
SERIAL_INSIDE = Template("AT301", "nor can this one: {reason}", severity=Severity.NOTE)
NO_PARALLEL_LOOP_WARNING = Template(
    "AT301", NO_PARALLEL_LOOP.message, NO_PARALLEL_LOOP.help, Severity.WARNING
)
EMPTY_SPACE = Template(
    "AT302",
    "the constraints leave no point of the space",
    "{what} the last ones; loosen it or add values to its parameters",
)
FUSED_DIFFERENTLY = Template(
    "AT303",
    "statements {first} and {second} are fused, but their `{command}` commands differ",
    "give `{command}` for the first of the fused statements only",
)
APART_AND_FUSED = Template(
    "AT304",
    "statements {first} and {second} are both fused and distributed",
    "keep one of the two commands",
)
NOT_FUSIBLE = Template(
    "AT305",
    "fuse: statements {first} and {second} have no loop in common that may be mapped",
    "loops that may be mapped: {one} in the first nest, {two} in the second",
)
ASKED_FOR_SERIAL = Template(
    "AT307",
    "loop '{loop}' is asked to run in parallel, and cannot: {proof}",
    "{help}",
)
CARRIED_HERE = Template("AT307", "loop '{loop}' is here", severity=Severity.NOTE)
NO_CONTRACTION = Template(
    "AT309",
    "contract: statement {statement} cannot have this tile: {reason}",
    "leave the command out, and `check` prints the tile that suits the nest, if there is one",
)
NO_MOVEMENT = Template(
    "AT310",
    "the data of statement {statement} cannot be moved so: {reason}",
    "`contract` and `registers` make the copies that `pipeline`, `vectors` and `stream` work on",
)
HINT_UNUSED = Template(
    "AT308",
    "not followed: {what} {numbers}; {why}",
    severity=Severity.NOTE,
)
