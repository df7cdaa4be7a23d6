/* Scalars of one iteration of a serial loop, which several launches inside it use. */

void solve(int n, int lda, int nounit, double *restrict x, const double *restrict a)
{
    double t;
    /*@ begin PerfTuning ( def input_params { param n = 16; param lda = 16; param nounit = 1; } def assume { arg whole = True; } ) @*/
    for (int j = n - 1; j >= 0; j--) {
        if (x[j] != 0.0) {
            if (nounit)
                x[j] = x[j] / (a[j * lda + j] + 9.0);
            t = x[j];
            for (int i = j - 1; i >= 0; i--)
                x[i] -= t * a[j * lda + i];
        }
    }
    /*@ end @*/
}

/* The value may come from before the loop that asks, in every iteration or in none. */
void kept(int n, double *restrict x, double *restrict y, double *restrict z, const double *restrict c)
{
    double t;
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int j = 1; j < n; j++) {
        t = x[j - 1];
        for (int i = 1; i < n; i++) {
            if (c[i] > 2.0)
                t = c[i] + y[i];
            y[i] = y[i - 1] * 0.5 + t;
        }
        for (int i = 0; i < n; i++)
            z[i] += y[i] * x[j];
        x[j] = y[j] * 0.25 + z[j] * 0.125;
    }
    /*@ end @*/
}

/* As many types as a scalar may have, one of them narrower than what it is given. */
int types(int n, int m, int *restrict k, float *restrict f, const short *restrict h)
{
    short s;
    float r;
    unsigned u;
    int count = 0;
    /*@ begin PerfTuning ( def input_params { param n = 16; param m = 16; } ) @*/
    for (int j = 1; j < n; j++) {
        s = k[j - 1] * 4099;
        r = f[j - 1] * 0.1;
        u = 0;
        for (int i = 0; i < m; i++)
            u += (unsigned)h[i] * 65537u + (unsigned)s;
        for (int i = 0; i < m; i++)
            f[j * m + i] = r * h[i] + s;
        k[j] = (int)(u % 1000u) + s;
        count = count + s;
    }
    /*@ end @*/
    return count;
}

/* One name with a life in a serial loop, and others in loops that may run in parallel. */
void lives(int n, double *restrict x, double *restrict b, const double *restrict c)
{
    double t;
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int j = 1; j < n; j++) {
        t = x[j - 1] * 0.5;
        for (int i = j; i < n; i++)
            x[i] -= t * c[i];
        for (int i = 1; i < n; i++) {
            b[i] = b[i - 1] + t;
        }
        b[0] = x[j];
    }
    for (int j = 1; j < n; j++)
        for (int k = 1; k < n; k++) {
            t = c[k] + b[k];
            if (c[k] > 2.0)
                t = t * t + 1.0;
            b[k] = b[k] + t * b[0];
            b[0] = b[0] * 0.5 + t;
        }
    /*@ end @*/
}

/* Sums, maxima and a condition that pass from one launch to the next; two loops around. */
void passed(int n, int m, double *restrict a, double *restrict y, double *restrict w)
{
    double s, g;
    int is_large;
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 16; } def assume { arg finite = True; } ) @*/
    for (int j = 0; j < n; j++) {
        s = w[j] * 0.5;
        g = -1.0;
        for (int i = 0; i < m; i++)
            s += a[j * m + i] * y[i];
        for (int i = 0; i < m; i++)
            g = a[j * m + i] > g ? a[j * m + i] : g;
        is_large = s > 20.0 && g > 3.0;
        for (int i = 0; i < m; i++)
            if (is_large)
                y[i] = y[i] * 0.5 + g;
            else
                y[i] = y[i] * 0.25 + s * 0.125;
        w[j + 1] = s - g;
    }
    /*@ end @*/
}

/* A symmetric matrix: the sum of a row, and what its column adds to the rows above. */
void symmetric(int n, int lda, double alpha, double *restrict y, const double *restrict x,
               const double *restrict a)
{
    double temp1, temp2;
    /*@ begin PerfTuning ( def input_params { param n = 16; param lda = 16; } ) @*/
    for (int j = 0; j < n; j++) {
        temp1 = alpha * x[j];
        temp2 = 0.0;
        for (int i = 0; i < j; i++) {
            y[i] = y[i] + temp1 * a[i + j * lda];
            temp2 = temp2 + a[i + j * lda] * x[i];
        }
        y[j] = y[j] + temp1 * a[j + j * lda] + alpha * temp2;
    }
    /*@ end @*/
}
