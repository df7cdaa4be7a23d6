"""Names, types, subscripts and operators that a region cannot have."""

from __future__ import annotations

from support.cli import CLOSE, OPEN

from bad_inputs.case import LOOP, Bad, plain, sized

INDIRECT = "int n, double *restrict a, const double *restrict b, const int *restrict p"
REAL = "int n, double x, double *restrict a, const double *restrict b"
MATRIX = "int n, double *restrict a, const double A[64][64]"


def whole(parameters: str, body: str, top: str = "") -> str:
    return f"{top}void f({parameters}) {{ {OPEN} {body} {CLOSE} }}\n"


BAD = {
    # Undeclared and doubly declared.
    "undeclared value": Bad(plain(f"{LOOP} a[i] = «q»;"), "AT120", "'q' is not declared", "-D"),
    "undeclared bound": Bad(
        plain("for (int i = 0; i < «N»; i++) a[i] = 0;"), "AT120", "'N' is not declared"
    ),
    "undeclared array": Bad(plain(f"{LOOP} «q»[i] = 0;"), "AT120", "'q' is not declared"),
    "hidden array": Bad(
        f"void f(int n, double *a) {{ double x[2] = {{1, 2}}; {OPEN} "
        f"{LOOP} {{ a[i] = «x»[1]; {{ double x = 1; a[i] += x; }} }} {CLOSE} }}\n",
        "AT126",
        "'x' means two",
    ),
    "hidden size": Bad(
        f"void f(int n, double «A»[n][n]) {{ {{ int n = 5; {OPEN} "
        f"for (int i = 0; i < 3; i++) A[i][i] = 1; {CLOSE} }} }}\n",
        "AT126",
        "'n' means two",
    ),
    # Types.
    "unknown type": Bad(
        plain(f"{LOOP} «v»[i] = 1;", "int n, vector_t *v"),
        "AT121",
        "unknown type 'vector_t' of 'v'",
        "put the typedef into this file, or pass -Dvector_t=TYPE",
    ),
    "long double array": Bad(
        whole("int n, long double *a", "for (int i = 0; i < n; i++) «a[i]» = 1;"),
        "AT122",
        "long double",
    ),
    "long double scalar": Bad(
        plain(f"{LOOP} a[i] = «c»;", "int n, long double c, double *restrict a"),
        "AT123",
        "long double",
    ),
    "static scalar": Bad(
        plain(f"{LOOP} {{ static double «t»; a[i] = b[i]; }}"), "AT123", "'t' has type"
    ),
    "pointer to pointers": Bad(
        whole("int n, double ***a", "for (int i = 0; i < n; i++) «a[i][0][0]» = 1;"),
        "AT125",
        "'a' is a pointer to pointers",
    ),
    "array of pointers": Bad(
        whole("int n, double **a[8]", "for (int i = 0; i < 8; i++) «a[i][0][0]» = 1;"),
        "AT125",
        "'a' is a pointer to pointers",
    ),
    "volatile": Bad(
        whole("int n, volatile double *a", "for (int i = 0; i < n; i++) «a»[i] = 1;"),
        "AT129",
        "'a' is volatile",
    ),
    "volatile scalar": Bad(
        plain(f"{LOOP} a[i] = «x»;", "int n, volatile double x, double *restrict a"),
        "AT129",
        "'x' is volatile",
    ),
    "size that changes": Bad(
        f"void f(int n, double «A»[n][n]) {{ n = 5; {OPEN} "
        f"for (int i = 0; i < 5; i++) A[i][0] = 1; {CLOSE} }}\n",
        "AT128",
        "'n' changes after 'A' is declared with it",
    ),
    # Subscripts.
    "write through an index": Bad(
        sized(f"{LOOP} «a[p[i]]» = b[i];", INDIRECT), "AT213", "'a' is written at 'p[i]'"
    ),
    "sum through an index": Bad(
        sized(f"{LOOP} «a[p[i]]» += b[i];", INDIRECT), "AT213", "'a' is written at 'p[i]'"
    ),
    "real subscript": Bad(plain(f"{LOOP} a[«x»] = 0;", REAL), "AT149", "must be an integer"),
    "row": Bad(plain(f"{LOOP} a[i] = «A[i]»;", MATRIX), "AT136", "2 dimension(s) but 1"),
    "one too many": Bad(plain(f"{LOOP} a[i] = «b[i][0]»;"), "AT136", "1 dimension(s) but 2"),
    "bare pointer": Bad(plain(f"{LOOP} a[i] = «b»;"), "AT136", "1 dimension(s) but 0"),
    "subscripted scalar": Bad(plain(f"{LOOP} a[i] = «x»[i];", REAL), "AT136", "0 dimension(s)"),
    "pointer chasing": Bad(
        whole(
            "struct s *q",
            "for (int i = 0; i < 64; i++) { «q» = q->next; }",
            "struct s { double v; struct s *next; };\n",
        ),
        "AT137",
        "'q'",
    ),
    "counter of data": Bad(
        plain(
            f"{LOOP} {{ «a[k]» = b[i]; k = i; }}",
            "int n, int k, double *restrict a, const double *restrict b",
        ),
        "AT202",
        "uses 'k', which the region changes",
    ),
    "never set": Bad(plain(f"{LOOP} {{ int o; a[«o»] = 0; }}"), "AT150", "integer 'o'"),
    # Operators and literals.
    "remainder of reals": Bad(plain(f"{LOOP} a[i] = b[i] «%» 2.0;"), "AT133", "operator '%'"),
    "shift": Bad(plain(f"{LOOP} a[i] = b[i] «<<» 1;"), "AT133", "operator '<<'"),
    "bits": Bad(plain(f"{LOOP} a[i] = b[i] «|» 1;"), "AT133", "operator '|'"),
    "complement": Bad(plain(f"{LOOP} a[i] = «~b[i]»;"), "AT133", "operator '~'"),
    "size of": Bad(plain(f"{LOOP} a[i] = «sizeof(x * 2)»;", REAL), "AT133", "how many bytes"),
    "assignment of a remainder": Bad(plain(f"{LOOP} «a[i] %= 2»;"), "AT133", "operator '%='"),
    "assignment inside": Bad(
        plain(f"{LOOP} a[i] = 1 + («a[i + n] = b[i]»);"), "AT134", "assignment"
    ),
    "increment inside": Bad(
        plain(f"{LOOP} a[«k++»] = k;", "int n, int k, double *restrict a"), "AT134", "assignment"
    ),
    "characters": Bad(plain(f"{LOOP} a[i] = «'cd'»;"), "AT138", "literal ''cd''"),
    "string": Bad(plain(f'{LOOP} a[i] = «"c"»;'), "AT138", "literal"),
    "long literal": Bad(plain(f"{LOOP} a[i] = «1.0L»;"), "AT138", "literal '1.0L'"),
    "address": Bad(plain(f"{LOOP} a[i] = «&b[i]»;"), "AT133", "operator '&'"),
}
