/* Loops that are serial at some sizes alone, none of which they are tuned for. */

void update(int n, int lda, int k, double *restrict a)
{
    double t;
    /*@ begin PerfTuning ( def input_params { param n = 20; param lda = 20; param k = 1; } ) @*/
    for (int j = k + 1; j < n; j++) {
        t = a[k + j * lda];
        for (int i = k + 1; i < n; i++)
            a[i + j * lda] = a[i + j * lda] - t * a[i + k * lda];
    }
    /*@ end @*/
}

void moved(int n, int m, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = a[i + m] * 0.5;
    /*@ end @*/
}

/* The other way round: tuned where neighbours do not meet because they are the same. */
void behind(int n, int m, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 0; } ) @*/
    for (int i = 0; i < n; i++)
        a[i + 40] = a[i + m + 40] * 0.5;
    /*@ end @*/
}

/* Rows that stand apart, or in each other. */
void rows(int n, int m, int d, double *restrict a, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 9; param m = 8; param d = 16; } ) @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            a[i + j * d] = a[i + j * d + m] + x[i];
    /*@ end @*/
}
