"""Private scalars whose last value is wanted: a copy per iteration, and one write of the last.

A scalar that the region writes and that is private to no loop stays as it is: targets keep it
in memory (`annotune.codegen.in_place.lasting`, `annotune.codegen.cuda_view`). A scalar that is
private to a loop and read after the region is rewritten: the private copy gets a new name, and a
statement guarded by "this is the last iteration" writes the user's variable.
"""
