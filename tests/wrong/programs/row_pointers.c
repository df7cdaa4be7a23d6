/* Pointers to pointers: rows of one block, far apart, one row twice, backwards, counted from 1. */
static void multiply(int n, int m, double **a, double **b, double **c)
{
    int i, j, k;
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            for (k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
    /*@ end @*/
}

static void smooth(int n, int m, float *const *u, float **v)
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 1; i < n - 1; i++) {
        const float *up = u[i - 1], *down = u[i + 1];
        for (int j = 0; j < m; j++)
            v[i][j] = up[j] + down[j] - 2 * u[i][j];
    }
    /*@ end @*/
}

static void from_one(int n, int m, double **a)
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            a[i][j] = a[i][j] / (i + j);
    /*@ end @*/
}

/* kind: 0 a block, 1 far apart, 2 backwards, 3 one row twice, 4 uneven, 5 all the same */
static int place(int kind, int i, int n, int m)
{
    switch (kind) {
    case 0: return i * m;
    case 1: return i * (m + 3);
    case 2: return (n - 1 - i) * m;
    case 3: return (i == 1 ? 0 : i) * m;
    case 4: return i * m + i * i;
    }
    return 0;
}

void multiplied(int kind, int n, int m, double *a, double *b, double *c)
{
    double *ra[40], *rb[40], *rc[40];
    for (int i = 0; i < n; i++) {
        ra[i] = a + place(kind, i, n, n);
        rb[i] = b + place(kind, i, n, m);
        rc[i] = c + place(kind, i, n, m);
    }
    multiply(n, m, ra, rb, rc);
}

void smoothed(int kind, int n, int m, float *u, float *v)
{
    float *ru[40], *rv[40];
    for (int i = 0; i < n; i++) {
        ru[i] = u + place(kind, i, n, m);
        rv[i] = v + place(kind, i, n, m);
    }
    smooth(n, m, ru, rv);
}

void counted(int kind, int n, int m, double *a)
{
    double *ra[40];
    for (int i = 0; i < n; i++)
        ra[i] = a + place(kind, i, n, m) - 1;
    from_one(n, m, n > 0 ? ra - 1 : 0);
}

void local_rows(int n, int m, double *block)
{
    double *rows[40];
    for (int i = 0; i < n; i++)
        rows[i] = block + i * m;
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            rows[i][j] *= 2;
    /*@ end @*/
}
