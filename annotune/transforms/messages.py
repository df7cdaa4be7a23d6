"""What a transform says when it refuses: AT240 to AT299."""

from __future__ import annotations

from annotune.diagnostics import Severity, Template

NO_SUCH_STATEMENT = Template(
    "AT250",
    "there is no statement {statement} in this region",
    "statements are numbered from 0 in text order; the last one here is {last}",
)
NO_SUCH_LOOP = Template(
    "AT251",
    "statement {statement} has no loop '{loop}'",
    "{hint}its loops are, outermost first: {loops}",
)
NOT_ONE_BAND = Template(
    "AT252",
    "{command}: loops {loops} of statement {statement} are not one perfect nest",
    "only loops that hold nothing but the next loop may change places; "
    "`distribute` the other statements first",
)
REVERSES_DEPENDENCE = Template(
    "AT253",
    "{command}: loop '{loop}' would break the order that '{array}' needs: {text}",
    "{help}",
)
BOUND_DEPENDS = Template(
    "AT254",
    "{command}: the bounds of '{inner}' use '{outer}', which must stay outside it",
    "keep '{outer}' before '{inner}'",
)
NOT_A_PERMUTATION = Template(
    "AT255",
    "permute: ({order}) does not name each loop once",
    "name all of {loops}, in the new order",
)
LOOPS_DIFFER = Template(
    "AT256",
    "fuse: statements {first} and {second} have no {what} in common",
    "their outermost loops are '{first_loop}' and '{second_loop}'; loops fuse when name, "
    "bounds and step are equal",
)
ALREADY_PLACED = Template(
    "AT257",
    "{command}: loop '{loop}' is named twice",
    "give each loop one place",
)
PARALLEL_DEPENDENCE = Template(
    "AT258",
    "{command}: loop '{loop}' cannot run in parallel: {text}",
    "{help}",
)
NOT_INVARIANT = Template(
    "AT259",
    "registers: the target of statement {statement} changes with '{loop}'",
    "name a loop that does not stand in the subscript of the target: {loops}",
)
OTHER_ACCESS = Template(
    "AT260",
    "registers: '{array}' is also used as {other} inside '{loop}'",
    "a register copy would go stale; leave the array in memory for this loop",
)
FACTOR_TOO_SMALL = Template(
    "AT261",
    "{command}: factor {factor} of loop '{loop}' is not positive",
    "use one of {factors}",
)
FACTOR_DOES_NOT_DIVIDE = Template(
    "AT262",
    "{command}: factor {factor} does not divide the {trip} iterations of loop '{loop}'",
    "use one of {factors}",
)
NOT_INNERMOST = Template(
    "AT263",
    "unroll: loop '{loop}' holds other loops",
    "unroll the innermost loop: '{inner}'",
)
PLACED = Template(
    "AT264",
    "{command}: loop '{loop}' is mapped to {place}, so it is no loop of the thread",
    "name a loop that stays serial: {loops}",
)
ALREADY_TILED = Template(
    "AT265",
    "tile: loop '{loop}' is already tiled",
    "tile a loop once",
)
TOO_MANY_LOOPS = Template(
    "AT266",
    "{command}: {count} loops for {what}, which has {limit}",
    "name at most {limit}",
)
DEPENDENCE_NOTE = Template("AT267", "the dependence: {text}", severity=Severity.NOTE)
NAME_TAKEN = Template(
    "AT268",
    "{command}: the {what} of '{loop}' need the name '{name}', which the region uses",
    "rename '{name}', or leave '{loop}' whole",
)
NO_BLOCK = Template(
    "AT269",
    "hold: '{inner}' inside '{loop}' picks no block of a fixed size",
    "`tile` '{inner}' outside '{loop}' first, so that a block is one tile",
)
MAY_NOT_RUN = Template(
    "AT270",
    "registers: '{loop}' may run no iteration, so '{array}' need not have the element to copy",
    "the bounds of '{loop}' use '{outer}'; leave the array in memory for this loop",
)
UNSIGNED_BOUND = Template(
    "AT271",
    "unroll: loop '{loop}' counts in '{type}' between bounds that '{outer}' sets",
    "its remainder cannot be counted when it runs no iteration; use a factor that divides it, "
    "or a signed iterator",
)
NO_JOINT_BLOCK = Template(
    "AT245",
    "hold: statements {first} and {second} have no block in common: {why}",
    "hold each of them alone, or `fuse` their loops down to the block's first",
)
NO_REDUCTION = Template(
    "AT272",
    "statement {statement} is no reduction over '{loop}'",
    "sums, products, minima and maxima into one place can be combined: `s += a[k]`, "
    "`m = fmax(m, a[k])`",
)
TARGET_MOVES = Template(
    "AT273",
    "the target of statement {statement} changes with '{moving}', inside '{loop}'",
    "map the loops that stand in the subscript of the target outside '{loop}', or leave "
    "'{loop}' serial",
)
READ_ELSEWHERE = Template(
    "AT274",
    "'{loop}' also uses {other}, so the workers cannot keep partial results of {target} "
    "(statement {statement})",
    "leave '{loop}' serial, or `distribute` the other statements first",
)
ROUNDED_SUM = Template(
    "AT275",
    "statement {statement} adds reals to a value of type '{type}': each step drops a fraction, "
    "so the order of the steps matters",
    "leave the loop serial, or accumulate into a real",
)
GUARDED = Template(
    "AT276",
    "registers: statement {statement} runs under a condition, so '{array}' need not have the "
    "element to copy",
    "leave the array in memory for this loop",
)
UNEVEN_BLOCKS = Template(
    "AT277",
    "{command}: '{loop}' combines a reduction over blocks, and '{other}' is mapped beside it",
    "put '{loop}' on threads: those of one block can combine what they have",
)
TEAM_INSIDE = Template(
    "AT278",
    "{command}: threads run '{outer}' already, and cannot share '{inner}' inside it",
    "map '{outer}' to blocks, or keep '{inner}' serial in the thread",
)
ARRAY_BESIDE = Template(
    "AT279",
    "{command}: '{array}' is declared around '{loop}', and each thread would have its own",
    "keep '{loop}' serial in the thread",
)
NOT_STAGED_ARRAY = Template(
    "AT280",
    "stage: one copy cannot hold what statement {statement} reads of '{array}'",
    "stage what is read under no condition, with subscripts of loops and sizes alone; several "
    "elements must differ by constants, as x[i] and x[i + 1] do",
)
WRITTEN_IN_KERNEL = Template(
    "AT281",
    "stage: '{array}' is written in the nest of statement {statement}, so a copy would go stale",
    "`distribute` the statement that writes it, or leave '{array}' in memory",
)
NOT_STAGED_BOX = Template(
    "AT282",
    "stage: what is read of '{array}' along '{loop}' has no fixed size",
    "`tile` '{loop}' outside the loop that the copy stands before, so that a tile is copied",
)
STAGE_DIVERGES = Template(
    "AT283",
    "stage: the threads of a block do not come to '{loop}' together, and cannot fill a copy of "
    "'{array}'",
    "stage before a loop whose bounds are the same for all threads of a block",
)
STAGE_LAYOUT = Template(
    "AT284",
    "stage: the layout of the copy of '{array}' does not give each element a place of its own",
    "the order must name each of {loops}, with strides longer than what the smaller ones cover",
)
NOT_MERGED = Template(
    "AT297",
    "merge: loop '{loop}' {reason}",
    "merge untiled serial loops that step by 1, each a fixed number of times from a fixed start",
)
NOT_DECODED = Template(
    "AT297",
    "decode: loop '{loop}' {reason}",
    "`merge` makes a loop of several, whose parts can be worked out",
)
NOT_PADDED = Template(
    "AT285",
    "pad: loop '{loop}' is no tile of a thread with a known length",
    "name loops that run in a thread or on threads, and that `tile` has cut",
)
NOT_PEELED = Template(
    "AT240",
    "peel: loop '{loop}' {reason}",
    "name loops over one tile, whose start says whether it is whole",
)
PEEL_DIVERGES = Template(
    "AT241",
    "peel: the tiles of '{loop}' are a thread's own, and threads of a block that differ would "
    "wait for each other in vain in ({loops})",
    "peel tiles that belong to whole blocks",
)
NOT_CYCLIC = Template(
    "AT286",
    "cyclic: loop '{loop}' {reason}",
    "distribute a loop of the text, or the loop over one tile of it, and once",
)
CYCLIC_ALREADY = Template(
    "AT287",
    "tile: loop '{loop}' is distributed over workers",
    "`tile` '{own}' first, then distribute the loop over one tile by `cyclic`",
)
NOT_PRIVATE = Template(
    "AT290",
    "expand: '{loop}' does not own '{scalar}' of statement {statement} in a perfect nest of "
    "{loops}",
    "name a scalar that each iteration writes before it reads it, and the loops from one around "
    "that iteration down to its own, which hold nothing but each other",
)
NO_ARRAY = Template(
    "AT291",
    "expand: '{inner}' runs no fixed number of iterations, and '{scalar}' would need an element "
    "for each",
    "`tile` '{inner}' and put its tiles outside '{loop}'",
)
SETS_BOUNDS = Template(
    "AT292",
    "expand: '{scalar}' sets how often '{loop}' runs",
    "leave it a scalar",
)
NOT_PIPELINED = Template(
    "AT288",
    "pipeline: '{loop}' does not begin with all of its copies into shared memory",
    "copy inputs into shared memory at its start: `contract` does that for a contraction",
)
STAGES = Template(
    "AT289",
    "pipeline: {stages} stages through {space} memory, expected {expected}",
    "1 stage copies without registers, 2 copy one tile ahead, 4 three; registers hold one ahead",
)
NOT_AHEAD = Template(
    "AT296",
    "pipeline: '{name}' changes in the nest, so the copies of '{loop}' cannot read it ahead",
    "`distribute` the statement that writes it, or leave the loop as it is",
)
NOT_RELAYED = Template(
    "AT247",
    "relay: the copies of statement {statement} cannot begin before its loop: {why}",
    "`stage` the inputs of each statement at the start of a loop of its own, one behind the other",
)
NOT_STREAMED = Template(
    "AT293",
    "stream: statement {statement} reads or writes elements of {name} more than once",
    "hold them in registers first: `contract` and `registers` do that",
)
STAGE_WIDTH = Template(
    "AT294",
    "stage: groups of {width} elements of '{array}' along '{loop}' are not copied at once: {why}",
    "copy single elements there",
)
NO_PREFETCH = Template(
    "AT315",
    "prefetch: the next iteration of '{loop}' tells nothing of what statement {statement} "
    "updates: {why}",
    "name a loop that runs in order around the block and picks the element, or leave it out",
)
NO_WORD = Template(
    "AT295",
    "{command}: '{array}' has elements of type '{type}', which no single instruction moves",
    "leave the command out for this array",
)
TOO_MUCH_SHARED = Template(
    "AT298",
    "stage: with the copy of '{array}' a block would need {bytes} bytes of shared memory, more "
    "than {limit}",
    "stage smaller tiles, or fewer arrays",
)
NOT_OVERLAID = Template(
    "AT246",
    "overlay: the copies of statement {statement} cannot lie where those of statement {other} "
    "are: {why}",
    "`stage` the inputs of both, each inside loops that no other statement's copies are used in",
)
NOT_SCALAR = Template(
    "AT248",
    "scalarize: '{array}' stays in memory: {why}",
    "`fuse` all nests that use the array, which the function has for itself alone",
)
TOO_MANY_TOGETHER = Template(
    "AT299",
    "stage: {threads} threads would fill the copy of '{array}' together, more than the {limit} of "
    "a block",
    "`tile` the loops on threads, and map their tiles to blocks",
)
ACC_FORM = Template(
    "AT330",
    "acc: statement {statement} cannot have this form: {reason}",
    "leave `cache` or `clause` out; `check` prints the shape that OpenACC's own rules choose",
)
NOT_CACHED = Template(
    "AT330",
    "cache: a gang does not read one box of '{array}' again and again; of these it does: {known}",
    "leave the array out; `check` prints the shape that OpenACC's own rules choose",
)
NOT_OF_TARGET = Template(
    "AT331",
    "'{name}' is no step for {target}",
    "after `target` stand all steps of that target, and those of no other; `emit --json` prints "
    "such a recipe",
)
NO_SUCH_TARGET = Template("AT332", "there is no target '{name}'", "{hint}")
TARGET_TWICE = Template(
    "AT333",
    "the recipe says twice what is done for {name}",
    "leave one out, or give each the `sizes` that it is for",
)
LATE_STEP = Template(
    "AT334",
    "'{name}' stands after steps inside a thread",
    "first say which worker does what, in `tile`, `permute`, `cuda` and so on, then what it does",
)
NOT_SHARED = Template(
    "AT335",
    "share: '{array}' {reason}",
    "share an array that the nest itself declares, once `cuda` has put all loops around it on "
    "blocks",
)
TOO_MUCH_OWN_SHARED = Template(
    "AT336",
    "share: with '{array}' a block would need {bytes} bytes of shared memory, more than {limit}",
    "share fewer arrays, or leave them to a thread",
)
NOT_BATCHED = Template(
    "AT338",
    "batch: a block cannot have several iterations of '{loop}': the loop {reason}",
    "put the loop on blocks, `share` all arrays that stand in it, and `spread` the loops inside "
    "afterwards",
)
NOT_ANY_SIZE = Template(
    "AT339",
    "any_size: '{size}' cannot be left open: {reason}",
    "name a size that the function takes, of a region whose dependences are proven for all sizes",
)
NOT_ADDED = Template(
    "AT351",
    "add_on_host: '{array}' {reason}",
    "name an array to which every statement of the region that names it adds a real number",
)
NOT_BOTH = Template(
    "AT349",
    "both: '{share}' is no share of a loop",
    'write a number from 0 to 1, such as "0.25", or "counter"',
)
NOT_ALIGNED = Template(
    "AT344",
    "aligned: '{array}' {reason}",
    "name an input of the nest that a call gives from its first element on",
)
NOT_BROUGHT = Template(
    "AT340",
    "bring: '{array}' {reason}",
    "bring an input of which each iteration on blocks reads neighbours, where `spread` has given "
    "the loops inside to threads",
)
NOT_KEPT = Template(
    "AT342",
    "keep: '{array}' {reason}",
    "keep an array of which each iteration on blocks writes neighbours of its own, where `spread` "
    "has given the loops inside to threads",
)
NOT_IN_BULK = Template(
    "AT348",
    "bulk: '{array}' {reason}",
    "name an array that `bring` or `keep` copies whole, of a multiple of 16 bytes from a multiple "
    "of 16 bytes on",
)
NOT_SPREAD = Template(
    "AT337",
    "spread: the threads cannot share '{loop}': {reason}",
    "put the loops outside it on blocks, each on an axis of its own, and say in the same recipe "
    "no more than where loops run and by how much they are unrolled",
)
NO_TENSOR_CORES = Template(
    "AT345",
    "mma: the warps of a block cannot multiply in '{loop}': {why}",
    "give `contract` thread_x=4, thread_y a multiple of 8 and even registers, of a sum of doubles "
    "that it stages; or leave `mma` out",
)
ACC_SIZES = Template(
    "AT306",
    "acc: a gang of {workers} workers with vectors of {length} cannot be launched",
    "vector_length is a multiple of {warp}, and workers times vector_length at most {limit}: gcc "
    "takes other sizes with a mere warning and runs {warp}",
)
NO_SUCH_ARRAY = Template(
    "AT320",
    "stage: statement {statement} reads no array '{array}'",
    "{hint}arrays that it reads: {known}",
)
