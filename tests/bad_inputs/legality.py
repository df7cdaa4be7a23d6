"""Commands that the nest does not allow, and nests about which nothing can be proven."""

from __future__ import annotations

from support.cli import CLOSE, OPEN, function, region

from bad_inputs.case import COPY, LOOP, SKEWED, SUM, TWO, Bad, plain, sized, with_recipe

PAIR = f"{LOOP} a[i] = b[i]; {LOOP} c[i] = b[i];"
ABC = "int n, double *restrict a, double *restrict c, const double *restrict b"

BAD = {
    "no such statement": Bad(
        with_recipe('«registers(3, "i")»'),
        "AT250",
        "there is no statement 3 in this region",
        "the last one here is 0",
    ),
    "unknown loop": Bad(
        with_recipe('«permute(0, ("j","k"))»'),
        "AT251",
        "statement 0 has no loop 'k'",
        "its loops are, outermost first: i, j",
    ),
    "misspelt loop": Bad(
        with_recipe(
            '«registers(0, "colum")»',
            "for (int row = 0; row < n; row++) for (int column = 0; column < n; column++)"
            " a[row] += b[row*n + column];",
        ),
        "AT251",
        "statement 0 has no loop 'colum'",
        "did you mean 'column'? its loops are, outermost first: row, column",
    ),
    "loop of another statement": Bad(
        with_recipe('«cuda(1, thread={"j"})»', f"{TWO} a[i*n+j] = 0; {LOOP} c[i] = b[i];", ABC),
        "AT251",
        "statement 1 has no loop 'j'",
    ),
    "imperfect nest": Bad(
        with_recipe(
            '«permute(1, ("j","i"))»',
            "for (int i = 1; i < n; i++) { a[i] = c[(i-1)*n];"
            " for (int j = 0; j < n; j++) c[i*n + j] = a[i]; }",
            ABC,
        ),
        "AT252",
        "loops j, i of statement 1 are not one perfect nest",
    ),
    "illegal permutation": Bad(
        with_recipe('«permute(0, ("j","i"))»', SKEWED),
        "AT253",
        "permute: loop 'j' would break the order that 'a' needs: a is carried by j (distance 1)",
        "the text's order is (i, j)",
        "the dependence: a is carried by j (distance 1)",
    ),
    "triangle turned": Bad(
        with_recipe(
            '«permute(0, ("j","i"))»',
            f"{LOOP} for (int j = 0; j <= i; j++) a[i*n + j] = b[j];",
        ),
        "AT254",
        "the bounds of 'j' use 'i', which must stay outside it",
    ),
    "nothing to fuse": Bad(
        with_recipe(
            "«fuse(0,1)»", f"{LOOP} a[i] = b[i]; for (int j = 0; j < n; j++) c[j] = b[j];", ABC
        ),
        "AT256",
        "statements 0 and 1 have no outer loop in common",
    ),
    "bounds differ": Bad(
        with_recipe(
            "«fuse(0,1)»", f"{LOOP} a[i] = b[i]; for (int i = 0; i < n - 1; i++) c[i] = b[i];", ABC
        ),
        "AT256",
        "statements 0 and 1",
        "loops fuse when name, bounds and step are equal",
    ),
    "illegal mapping": Bad(
        with_recipe(
            '«cuda(0, block={"i"}, thread={"j"})»',
            f"{LOOP} for (int j = 1; j < n; j++) a[i*n + j] = a[i*n + j-1] + b[j];",
        ),
        "AT258",
        "cuda: loop 'j' cannot run in parallel",
        note="the dependence: ",
    ),
    "illegal gang": Bad(
        with_recipe(
            '«acc(0, gang={"j"})»',
            f"{LOOP} for (int j = 1; j < n; j++) a[i*n + j] = a[i*n + j-1] + b[j];",
        ),
        "AT258",
        "loop 'j' cannot run in parallel",
        note="the dependence: ",
    ),
    "register that moves": Bad(
        with_recipe('cuda(0, block={"i"})\n    «registers(0, "j")»', COPY),
        "AT259",
        "the target of statement 0 changes with 'j'",
    ),
    "stale register": Bad(
        with_recipe(
            'cuda(0, block={"i"})\n    «registers(0, "j")»',
            f"{TWO} a[i] = a[i] + a[i + n*j + n];",
            "int n, double *restrict a",
        ),
        "AT260",
        "is also used as",
    ),
    "factor": Bad(
        with_recipe('cuda(0, block={"i"})\n    «unroll(0, "j", 5)»', SUM),
        "AT262",
        "unroll: factor 5 does not divide the 64 iterations of loop 'j'",
        "use one of 1, 2, 4, 8, 16, 32, 64",
    ),
    "outer loop unrolled": Bad(
        with_recipe(
            'cuda(0, thread={"k"})\n    «unroll(0, "i", 2)»',
            f"for (int k = 0; k < n; k++) {TWO} a[k] += b[(k*n + i)*n + j];",
        ),
        "AT263",
        "loop 'i' holds other loops",
    ),
    "block unrolled": Bad(
        with_recipe('cuda(0, block={"i"})\n    «unroll(0, "i", 2)»', SUM),
        "AT264",
        "loop 'i' is mapped to",
    ),
    "tiled twice": Bad(
        with_recipe('«tile(0, "j", 4)»\n    tile(0, "j", 2)', SUM), "AT265", "already tiled"
    ),
    "dealt out twice": Bad(
        with_recipe('«cyclic(0, "i", 4)»\n    cyclic(0, "i", 2)', SUM),
        "AT286",
        "is distributed already",
    ),
    "order of a cyclic distribution": Bad(
        with_recipe('«cyclic(0, "i", 4)»', f"{LOOP} a[i + 1] = a[i] * b[i];"),
        "AT253",
        "loop 'i_w'",
        note="the dependence: a is carried by i_w (distance 1)",
    ),
    "name of workers": Bad(
        with_recipe(
            '«cyclic(0, "i", 4)»',
            "for (int i = 0; i < i_w; i++) a[i] = 0;",
            "int i_w, double *restrict a",
        ).replace("param n", "param i_w"),
        "AT268",
        "the workers of 'i' need the name 'i_w'",
    ),
    "name of tiles": Bad(
        with_recipe(
            '«tile(0, "i", 4)»',
            "for (int i = 0; i < i_t; i++) a[i] = 0;",
            "int i_t, double *restrict a",
        ).replace("param n", "param i_t"),
        "AT268",
        "the name 'i_t', which the region uses",
    ),
    "register of an empty loop": Bad(
        with_recipe(
            'cuda(0, thread={"i"})\n    «registers(0, "j")»',
            f"{LOOP} for (int j = 0; j < i; j++) a[i] += b[j];",
        ),
        "AT270",
        "'j' may run no iteration",
    ),
    "fused differently": Bad(
        with_recipe(
            'fuse(0,1)\n    cuda(0, block={"i"}, thread={"j"})\n'
            '    «cuda(1, block={"j"}, thread={"i"})»',
            f"{COPY} {TWO} c[i*n + j] = b[i*n + j];",
            ABC,
        ),
        "AT303",
        "statements 0 and 1 are fused, but their `cuda` commands differ",
    ),
    "fused and apart": Bad(
        with_recipe("fuse(0,1)\n    «distribute(0,1)»", PAIR, ABC),
        "AT304",
        "both fused and distributed",
    ),
    "fused over a dependence": Bad(
        with_recipe(
            "«fuse(0,1)»",
            f"{LOOP} a[i] = b[i]; {LOOP} c[i] = a[n - 1 - i];",
            ABC,
        ),
        "AT253",
        "fuse: loop 'i' would break the order that 'a' needs",
        note="the dependence: ",
    ),
    "vector of 48": Bad(
        with_recipe('«acc(0, gang={"i"}, vector={"j"}, vector_length=48)»'),
        "AT306",
        "vectors of 48 cannot be launched",
    ),
    "cache of what is written": Bad(
        with_recipe('«acc(0, gang={"i"}, vector={"j"}, cache={"a"})»'),
        "AT330",
        "a gang does not read one box of 'a' again and again",
        "leave `cache` or `clause` out",
    ),
    "no such clause": Bad(
        with_recipe('«acc(0, gang={"i"}, vector={"j"}, clause="collapse")»'),
        "AT330",
        "there is no clause 'collapse', only 'tile'",
    ),
    "clause without tiles": Bad(
        with_recipe('«acc(0, gang={"i"}, vector={"j"}, clause="tile")»'),
        "AT330",
        'needs the vector\'s loops in tiles, and these as gangs: gang={"j_t"}',
    ),
    # What the analysis cannot prove.
    "missing size": Bad(
        function(
            f"  {OPEN}\n  for (int i = 0; i < m; i++) for (int j = 0; j < p; j++)"
            f" «c[i*n + j]» = 1;\n  {CLOSE}",
            "int m, int p, int n, double *restrict c",
        ),
        "AT205",
        "the value of 'n' is needed: without it the rows of 'c' cannot be proven apart",
        "add 'param n = …;' to `input_params`, or give --set n=…",
    ),
    "square": Bad(
        plain(f"{LOOP} «a[i*i]» = 1;"),
        "AT201",
        "subscript 'i * i' of 'a' is not affine in i",
        "sums of loop variables times sizes",
    ),
    "product": Bad(
        sized(f"{TWO} «a[i*j]» = 1;"), "AT201", "'i * j' of 'a' is not affine in i and j"
    ),
    "square bound": Bad(
        sized(f"{LOOP} «for» (int j = 0; j < i*i; j++) a[j] = 0;"), "AT203", "is not affine"
    ),
    "empty loop": Bad(
        function(region(f"«for» {LOOP[4:]} a[i] = b[i];", sizes="param n = 0;")),
        "AT210",
        "loop 'i' runs no iteration at these sizes",
        "give sizes for which every loop runs",
    ),
    "overlap": Bad(
        plain(f"{LOOP} c[i] = a[i];", "int n, double *a", "double *«c» = a + 1;"),
        "AT212",
        "'c' and 'a' overlap: 'c' points to a + 1, and the region writes there",
        "use one name in the region",
    ),
    "overlap of three": Bad(
        plain(f"{LOOP} e[i] = a[i];", "int n, double *a", "double *c = a, *«e»;\n  e = &c[3];"),
        "AT212",
        "'e' and 'a' overlap: 'e' points to a + 3, and the region writes there",
        "use one name in the region",
    ),
}
