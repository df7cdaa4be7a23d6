"""Arrays and static variables that a region declares: around its loops they are memory in front.

In a loop a static constant has the value of its declaration for ever, wherever it stands.
"""

from __future__ import annotations

import pytest

from wrong.called import Array, Call, Program

TEXT = """\
#define M 5
static const int shift[3] = {-1, 0, 1};
double smooth(int n, const double *a, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    static const double w[3] = {0.25, 0.5, 0.25};
    double tmp[100], sum = 0;
    for (int i = 1; i < n; i++) {
        double s = 0;
        for (int k = 0; k < 3; k++) s += w[k] * a[i + shift[k]];
        tmp[i] = s;
    }
    for (int i = 1; i < n; i++) b[i] = tmp[i] * 2, sum += tmp[i] > 0;
    /*@ end @*/
    return sum;
}
void inner(int n, const double *a, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 1; i < n; i++) {
        static const double w[2][3] = {{0.25, 0.5, 0.25}, {1}};
        static const int o[] = {-1, 0, 1}, two = 2;
        double s = 0;
        for (int k = 0; k < 3; k++) {
            static const float z = 0.1f;
            s += w[k & 1][k] * a[i + o[k]] + z * two;
        }
        if (s > 0) {
            static const unsigned char bits[4] = {1, 2, 4, 200};
            s += bits[i & 3];
        }
        b[i] += s;
    }
    /*@ end @*/
}
int columns(int n, int m, const double *a, double c[][M])
{
    int hits = 0;
    /*@ begin PerfTuning ( def input_params { param n = 64; param m = 5; } ) @*/
    int most = 1;
    int seen[M] = {0}, last[M];
    for (int j = 0; j < m; j++) {
        last[j] = -1;
        for (int i = 0; i < n; i++) {
            c[i][j] += seen[j] * 0.5;
            if (a[i] > most) seen[j]++, last[j] = i;
        }
    }
    for (int j = 0; j < m; j++) hits += seen[j] * 3 + last[j];
    /*@ end @*/
    return hits;
}
long counted(int n, const int *a)
{
    long r = 0;
    for (int t = 0; t < 3; t++) {
        /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
        static long total = 0;
        static int calls;
        for (int i = 0; i < n; i++) total += a[i] * (calls + 1);
        calls++;
        /*@ end @*/
        r += total;
        if (t == 2) total = calls = 0;
    }
    return r;
}
void late(int n, const double *a, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) b[i] = a[i] * 2;
    static const double edge[2] = {3.5, -1};
    double row[64];
    for (int i = 0; i < n; i++) row[i] = b[n - 1 - i];
    for (int i = 0; i < n; i++) b[i] = row[i] + edge[i % 2];
    /*@ end @*/
}
void sized(int n, const double *a, double *restrict b)
{
    if (n > 0)
    {
        /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
        double turned[n];
        for (int i = 0; i < n; i++) turned[n - 1 - i] = a[i];
        for (int i = 0; i < n; i++) b[i] -= turned[i];
        /*@ end @*/
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "made").mkdir()
    (folder / "tables.c").write_text(TEXT)
    return Program(folder / "made", folder / "tables.c", ("cuda", "openacc", "openmp"))


def test_arrays_and_statics_of_a_region(program: Program) -> None:
    a, b, numbers = Array("f8", 70), Array("f8", 70), Array("i4", 64, (3, -1, 4, 1, -5, 9))
    program.check(
        Call("smooth", 61, a, b, returns="f8"),
        Call("inner", 61, a, b),
        Call("columns", 30, 5, a, Array("f8", 200), returns="i4"),
        Call("columns", 0, 5, a, Array("f8", 200), returns="i4"),
        Call("counted", 40, numbers, returns="i8"),
        Call("counted", 7, numbers, returns="i8"),
        Call("late", 63, a, b),
        Call("sized", 50, a, b),
    )
