/* What is written, or of unknown length, and where: an array of integers says so. */

/* Rows exchanged, column by column: those of a row that stands twice keep their order. */
void swaps(long n, long k, long ld, double *a, const int *row)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; param k = 9; param ld = 40; } ) @*/
    for (long j = 0; j < n; j++)
        for (long i = 0; i < k; i++) {
            int r = row[i];
            if (r != i) {
                double t = a[i + j * ld];
                a[i + j * ld] = a[r + j * ld];
                a[r + j * ld] = t;
            }
        }
    /*@ end @*/
}

/* The columns of the array are the rows of the index, and its rows go down by twos. */
void scatter(long n, long m, long ld, double *restrict a, const double *restrict b,
             const long *restrict row)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; param m = 30; param ld = 40; } ) @*/
    for (long j = n; j > 0; j--)
        for (long i = m - 1; i >= 0; i -= 2)
            a[row[i] + (j - 1) * ld] = b[i + j] - a[j * ld - 1];
    /*@ end @*/
}

/* Columns by an index: whole columns move. */
void columns(long n, long m, long ld, double *restrict a, const double *restrict b,
             const short *restrict col)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; param m = 30; param ld = 40; } ) @*/
    for (long k = 0; k < n; k++)
        for (long i = 0; i < m; i++)
            a[i + (col[k] - 1) * ld] += b[i] * a[i + k * ld];
    /*@ end @*/
}

/* In an array with extents an index stays in its row. */
void histogram(int n, int m, int k, double h[n][m], const double *restrict x,
               const int *restrict bin)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; param m = 9; param k = 30; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            h[i][bin[j]] += x[i + j];
    /*@ end @*/
}

/* How long x is, only the index knows; where no loop runs, it is nowhere. */
void gather(long n, double *restrict y, const double *restrict x, const int *restrict at)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (long i = 0; i < n; i++)
        y[i] = 2 * x[3 * at[2 * i + 1] - 1];
    /*@ end @*/
}

/* A read behind a condition stands without it, too; the inner loop may not run at all. */
void lookups(long n, long m, double *restrict y, const double *restrict x,
             const double *restrict s, const int *restrict at)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; param m = 20; } ) @*/
    for (long i = 0; i < n; i++) {
        y[i] = x[at[i]];
        for (long j = i; j < m; j++)
            if (s[j] > 0)
                y[i] -= x[at[i] + j];
    }
    /*@ end @*/
}

/* A row of each step, read once before the loops that it moves. */
void pivots(int n, int ld, double *a, const int *piv)
{
    /*@ begin PerfTuning ( def input_params { param n = 30; param ld = 30; } ) @*/
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n - 1; k++) {
            int l = piv[k];
            a[k + j * ld] += 3 * a[l + j * ld];
            a[l + j * ld] -= 1;
        }
    /*@ end @*/
}

/* The same memory as integers and as numbers. */
void shared_swaps(long n, long k, long ld, double *a)
{
    swaps(n, k, ld, a, (const int *)(a + 1));
}
