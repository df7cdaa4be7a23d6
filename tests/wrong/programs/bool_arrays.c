/* Arrays of _Bool: what is stored is 0 or 1, whatever it was. */
#include <stdbool.h>

void masked(int n, const bool *mask, double *restrict u, const double *restrict f)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++)
        if (mask[i] && !mask[n - 1 - i])
            u[i] += 0.5 * f[i];
        else
            u[i] = mask[i] ? -f[i] : f[i];
    /*@ end @*/
}

void set(int n, bool *restrict a, _Bool *restrict b, bool *restrict c, bool *restrict d, const double *restrict x, const int *restrict k)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        a[i] = x[i] > 3;
        b[i] = 256 * k[i];
        c[i] = 0.25 * x[i];
        d[i] = !a[i] == b[i] + c[i];
        b[i] -= c[i];
        c[i] *= k[i] - 1;
        d[i] += k[i] - 3;
        a[i] = a[i] + b[i] - 2;
    }
    /*@ end @*/
}

int counted(int n, const _Bool *m, const int *k)
{
    int s = 0;
    _Bool all = 1, any = 0;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        s += m[i] - 3 * !m[i];
        all = all && m[i];
        any += k[i] - 3;
    }
    /*@ end @*/
    return s + 1000 * all + 10000 * any;
}

void grown(int n, int m, bool out[n][m], const bool in[n][m])
{
    /*@ begin PerfTuning ( def input_params { param n = 9; param m = 11; } ) @*/
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            out[i][j] = in[i][j] || in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1] > 2;
    /*@ end @*/
}

struct site { bool wet, dry; bool near[6]; };

void sites(int n, struct site *restrict s, const int *restrict k)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        const bool *near = s[i].near;
        s[i].wet = k[i] * 4 - 4;
        s[i].dry = near[1] != near[2] * 2;
    }
    /*@ end @*/
}
