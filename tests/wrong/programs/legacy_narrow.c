/* Iterators of less bits than an int. */

int shorts(int n, int m, double *restrict a, const double *restrict b)
{
    short i;
    unsigned short j;
    /*@ begin PerfTuning ( def input_params { param n = 8; param m = 4; } ) @*/
    for (i = 0; i < n; i++)
        for (j = 0; j <= m; ++j)
            a[i * (m + 1) + j] = b[j] + i - j / 2;
    /*@ end @*/
    return i;
}

int chars(int n, double *restrict a, const double *restrict b)
{
    signed char c;
    int k = 3;
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (c = n; c > 0; c--)
        a[k++] = b[c] * c;
    /*@ end @*/
    return 1000 * k + c;
}

/* 256 of a byte is 0, and 40000 of a short is below 0. */
int starts(int n, double *restrict a, const double *restrict b)
{
    unsigned char u;
    short s;
    /*@ begin PerfTuning ( def input_params { param n = 3; } ) @*/
    for (u = n; u < 20; u++)
        a[u] += b[u];
    for (s = n; s <= 6; s++)
        a[s + 26000] += 2;
    /*@ end @*/
    return u + 1000 * s;
}
