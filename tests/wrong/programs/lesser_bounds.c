/* Bounds that a branch keeps from going too far, as older authors wrote a minimum. */

void back(int n, int k, int ld, double *restrict c, const double *restrict z, const double *restrict a)
{
    int i1, m, i, j, l, k1;
    double s;
    /*@ begin PerfTuning ( def input_params { param n = 30; param k = 4; param ld = 30; } ) @*/
    k1 = k - 1;
    i = n - 1;
    for (j = 2; j <= n; j++) {
        s = z[i];
        i1 = k1;
        if (j <= k1)
            i1 = j - 1;
        m = i;
        for (l = 1; l <= i1; l++) {
            ++m;
            s -= c[m] * a[i + l * ld];
        }
        c[i] = s * 0.5;
        --i;
    }
    /*@ end @*/
}

/* Both ends, each by a test of its own. */
void window(int n, int w, double *restrict y, const double *restrict x)
{
    int low, high, i, k;
    double s;
    /*@ begin PerfTuning ( def input_params { param n = 30; param w = 3; } ) @*/
    for (i = 0; i < n; i++) {
        low = i - w;
        if (low < 0)
            low = 0;
        high = i + w;
        if (high >= n)
            high = n - 1;
        s = 0.0;
        for (k = low; k <= high; k++)
            s += x[k];
        y[i] = s + low * 100.0 + high;
    }
    /*@ end @*/
}

/* Types that go round, and one that holds less. */
void types(int n, unsigned u, short s, double *restrict y, const double *restrict x)
{
    int i;
    unsigned most;
    short least;
    /*@ begin PerfTuning ( def input_params { param n = 30; param u = 7; param s = 5; } ) @*/
    for (i = 0; i < n; i++) {
        most = i - 2;
        if (most > u)
            most = u;
        least = i * 4099;
        if (least > s)
            least = s;
        y[i] = y[i] + most + least * x[i];
    }
    /*@ end @*/
}
