/* Steps in the middle of expressions. */

int packed(int n, int m, double *restrict a, const double *restrict b)
{
    int i, j, k = 0, l = -1;
    /*@ begin PerfTuning ( def input_params { param n = 8; param m = 4; } ) @*/
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            a[k++] = b[++l] * 2;
    /*@ end @*/
    return 1000 * k + l;
}

int strided(int n, double *restrict a, const double *restrict b)
{
    int i, k = 2;
    short s = 5;
    /*@ begin PerfTuning ( def input_params { param n = 8; } def assume { arg extent = ['b[80]']; } ) @*/
    for (i = 0; i < n; i++) {
        double t = b[k++];
        if (b[++k] > 0)
            a[i] = t;
        else if (t < 0)
            a[i] = b[k--] + s--;
        else
            a[i] += 3;
        k = 2 * i;
    }
    /*@ end @*/
    return k;
}

/* From the last element down. */
void down(int n, double *restrict a, const double *restrict b)
{
    int i, k = n;
    unsigned u = 3;
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (i = 0; i < n; i++) {
        a[--k] += b[i];
        a[k] *= u++;
    }
    /*@ end @*/
}
