"""Loops that are not counted, statements that are none, and calls of the unknown."""

from __future__ import annotations

from bad_inputs.case import GOOD, LOOP, TWO, Bad, plain, sized

POINTERS = "int n, int m, double *restrict a, const double *restrict b, const int *restrict p"
ARRAY = "int n, int m, double *restrict a, const double *restrict b, int i, int j, int k"

BAD = {
    "no start": Bad(
        plain("for (j = 0; j < 3; j++) «for» (; i < n; i++) a[i] = 0;", ARRAY),
        "AT140",
        "not known here",
    ),
    "another condition": Bad(
        plain("for (i = 0; «j < n»; i++) a[i] = 0;", ARRAY), "AT141", "compare iterator 'i'"
    ),
    "never ends": Bad(
        plain("for (int i = 0; i > «n»; i++) a[i] = 0;"), "AT143", "steps away from its bound"
    ),
    "endless": Bad(plain("«for (int i = 0;; i++)» a[i] = 0;"), "AT141", "compare iterator 'i'"),
    "own bound": Bad(
        plain("for (int i = 0; «i < n - i»; i++) a[i] = 0;"), "AT141", "compare iterator 'i'"
    ),
    "until data says so": Bad(
        plain("for (int i = 0; «b[i] > 0»; i++) a[i] = 0;"), "AT141", "compare iterator 'i'"
    ),
    "no step": Bad(plain("«for (int i = 0; i < n;)» a[i] = 0;"), "AT142", "step of loop 'i'"),
    "moving step": Bad(
        plain("for (int i = 0; i < n; «i += m») { a[i] = 0; m++; }", ARRAY.replace(", int i", "")),
        "AT142",
        "step of loop 'i'",
    ),
    "step of zero": Bad(
        plain("for (int i = 0; i < n; «i += 0») a[i] = 0;"), "AT142", "step of loop 'i'"
    ),
    "doubling": Bad(
        plain("for (int i = 1; i < n; «i *= 2») a[i] = 0;"), "AT142", "step of loop 'i'"
    ),
    "step by a call": Bad(
        plain("for (int i = 0; i < n; «i = next(i)») a[i] = 0;"), "AT142", "step of loop 'i'"
    ),
    "another step": Bad(
        plain("for (i = 0; i < n; «j++») a[i] = 0;", ARRAY), "AT142", "step of loop 'i'"
    ),
    "iterator stepped": Bad(
        plain(f"{LOOP} {{ a[i] = 1; «i»++; }}"),
        "AT144",
        "iterator 'i' is modified in the body of its loop",
        "change it in the loop header only",
    ),
    "iterator set": Bad(plain(f"{LOOP} {{ a[i] = 1; «i» = n; }}"), "AT144", "iterator 'i'"),
    "iterator reused": Bad(
        plain("for (i = 0; i < n; i++) for («i» = 0; i < m; i++) a[i] = 0;", ARRAY),
        "AT145",
        "used by an enclosing loop",
    ),
    "bound set": Bad(plain(f"{LOOP} {{ a[i] = 0; «n» = n - 1; }}"), "AT146", "bound 'n'"),
    "real iterator": Bad(
        plain("for (double «s» = 0; s < n; s++) a[0] = s;"), "AT148", "type 'double'"
    ),
    "real bound": Bad(
        plain("for (int i = 0; i < «x»; i++) a[i] = 0;", "double x, double *restrict a"),
        "AT149",
        "must be an integer",
    ),
    "bound of each row": Bad(
        plain(f"{LOOP} for (int j = 0; j < «p[i]»; j++) a[i] += b[j];", POINTERS),
        "AT147",
        "reads array 'p'",
    ),
    # Statements.
    "break": Bad(
        plain(f"{LOOP} {{ a[i] = 1; «break»; }}"), "AT131", "'break' is not allowed in a region"
    ),
    "continue": Bad(
        plain(f"{LOOP} {{ if (n > 9) a[i] = 1; else if (n > 7) «continue»; a[i] = 2; }}"),
        "AT131",
        "'continue'",
    ),
    "return": Bad(plain(f"{LOOP} {{ a[i] = 1; «return»; }}"), "AT131", "'return'"),
    "goto": Bad(
        plain(f"{LOOP} {{ again: a[i] = a[i]/2; if (a[i] > 1) «goto» again; }}"),
        "AT131",
        "'goto'",
    ),
    "while": Bad(plain(f"{LOOP} «while» (a[i] > 1) a[i] = a[i]/2;"), "AT131", "'while'"),
    "do": Bad(plain(f"{LOOP} «do» a[i] = a[i]/2; while (a[i] > 1);"), "AT131", "'do'"),
    "switch": Bad(
        plain(
            f"{LOOP} «switch» (n) {{ case 1: if (b[i] > 0) break; a[i] = 1; case 2: a[i] = 0; }}"
        ),
        "AT131",
        "'switch'",
    ),
    "value of nobody": Bad(plain(f"{LOOP} «b[i]»;"), "AT139", "this statement"),
    # Calls.
    "call": Bad(plain(f"{LOOP} a[i] = «update»(b[i]);"), "AT130", "'update' may have effects"),
    "call as a statement": Bad(
        plain(f"{LOOP} «update»(a, i);"), "AT130", "'update' may have effects"
    ),
    "call in a subscript": Bad(
        plain(f"{LOOP} a[«where»(i)] = 0;"), "AT130", "'where' may have effects"
    ),
    "call in a bound": Bad(
        plain("for (int i = 0; i < «size»(n); i++) a[i] = 0;"), "AT130", "'size' may have effects"
    ),
    "call of itself": Bad(plain(f"{LOOP} «f»(i, a, b);"), "AT130", "'f' may have effects"),
    "print": Bad(plain(f'{LOOP} «printf»("%g", b[i]);'), "AT130", "'printf' may have effects"),
    "random numbers": Bad(plain(f"{LOOP} a[i] = «rand»();"), "AT130", "'rand' may have effects"),
    "memory": Bad(plain(f"{LOOP} «free»(a);"), "AT130", "'free' may have effects"),
    "function of this file": Bad(
        sized(
            f"{LOOP} a[i] = «next»();", top="static int s;\nstatic int next(void) { return s++; }\n"
        ),
        "AT130",
        "'next' may have effects",
    ),
    "second of two regions": Bad(
        GOOD + plain(f"{LOOP} a[i] = «update»(b[i]);").replace("f(", "g("),
        "AT130",
        "'update' may have effects",
        # The first one is emitted.
        command="check",
    ),
    "deep in a nest": Bad(
        sized(f"{TWO} for (int k = 0; k < n; k++) a[(i*n + j)*n + k] = «update»(k);"),
        "AT130",
        "'update' may have effects",
    ),
}
