/* Integers that an iteration leaves for the next one, and the lesser of two by an if. */
int norm(int n, double *restrict y, const double *restrict x)
{
    int i, j, k;
    double s = 0;
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    k = 1;
    for (i = 1; i <= n; i++) {
        for (j = k; j <= n; j++)
            s += x[i + j * 20];
        k = i;
    }
    /*@ end @*/
    y[0] = s;
    return k;
}
int backwards(int n, double *restrict y, const double *restrict x)
{
    int i, j, k;
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    k = n;
    for (i = n; i > 0; i -= 2) {
        for (j = 0; j < k; j++)
            y[i * 20 + j] = x[i + j];
        k = i - 1;
    }
    /*@ end @*/
    return k;
}
int twice(int n, double *restrict y, const double *restrict x)
{
    int i, j, k;
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    k = 3;
    for (i = 2; i <= n; i++) {
        for (j = k; j < 2 * n; j++)
            y[i * (2 * n) + j] = x[i + j];
        k = 2 * i;
    }
    /*@ end @*/
    return k;
}
int band(int n, int w, double *restrict y, const double *restrict x)
{
    int i, l, m;
    /*@ begin PerfTuning ( def input_params { param n = 12; param w = 3; } ) @*/
    for (i = 1; i <= n; i++) {
        m = w;
        if (i <= w)
            m = i - 1;
        for (l = 1; l <= m; l++)
            y[i] += x[i - l] * l;
    }
    /*@ end @*/
    return 0;
}
int ends(int n, int w, double *restrict y, const double *restrict x)
{
    int i, l, m, f;
    /*@ begin PerfTuning ( def input_params { param n = 12; param w = 3; } ) @*/
    for (i = 0; i < n; i++) {
        m = i + w;
        if (m >= n)
            m = n - 1;
        f = i - w;
        if (f < 0)
            f = 0;
        for (l = f; l <= m; l++)
            y[i] += x[l];
    }
    /*@ end @*/
    return 0;
}
