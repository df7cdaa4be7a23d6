/* Subscripts of unsigned numbers that C computes with a sign, or as a pointer's distance. */

void casts(unsigned m, long *restrict x, const long *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param m = 8; } ) @*/
    for (unsigned u = 0; u < m; u++) {
        x[u] = d[(int)u - 1] + d[-(int)u];
        x[u + 20] = d[(int)u - (int)m] + d[(int)(u - m)];
        x[u + 40] = d[((int)u - 3) * 5] + d[(int)(u * 3 - m) - 5];
        x[u + 60] = d[(int)m - 1 - (int)u] + d[(long)u - m];
    }
    /*@ end @*/
}

void pointers(unsigned m, long *restrict x, const long *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param m = 8; } ) @*/
    for (unsigned u = 0; u < m; u++) {
        x[u] = *(d + u - 1) + (d + u)[-2];
        x[u + 20] = *(d - u) + *(d - 3 * u);
        x[u + 40] = *(d - m + u) + (d - 3 * u)[m];
        x[u + 60] = *(d + 9 - u);
    }
    /*@ end @*/
}

void integers(unsigned m, long *restrict x, const long *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param m = 8; } ) @*/
    for (unsigned u = 0; u < m; u++) {
        int below = u - m, before = (int)u - 1, back = -u;
        long far = (int)u - 4;
        x[u] = d[below] + d[below - 1] + *(d + below + u);
        x[u + 20] = d[before] + d[before * 3] + d[before + 9];
        x[u + 40] = d[back] + d[back - 1] + d[9 - back];
        x[u + 60] = d[far] + d[far * 3] + *(d + far - u);
    }
    /*@ end @*/
}

void mixtures(unsigned m, int n, long *restrict x, const long *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param m = 8; param n = 3; } ) @*/
    for (unsigned u = 0; u < m; u++) {
        x[u * 4] = d[(int)u * n + -u] + d[-u + n * (int)u + 1];
        x[u * 4 + 1] = d[(m - 1 - u) * n + (int)u * n - u] + d[m - 1 - u + (int)u * n];
        x[u * 4 + 2] = d[((int)m - u) * n + u * n - (u - (int)u * n)];
        x[u * 4 + 3] = *(d + ((int)u * n - u)) + d[n * (m - u) + (int)u * n - 1];
    }
    /*@ end @*/
}
