/* Pointers that change places in a time loop, or at its end. */
static void jacobi(int n, int m, int steps, double *a, double *b)
{
    double *tmp;
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; param steps = 5; } ) @*/
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                b[i * m + j] = a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] - a[i * m + j + 1] + t;
        tmp = a;
        a = b;
        b = tmp;
    }
    /*@ end @*/
}

static double later(int n, int m, int steps, double *x, double *y)
{
    double (*from)[m] = (double (*)[m])x, (*to)[m] = (double (*)[m])y;
    int t;
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; param steps = 4; } ) @*/
    for (t = 1; t <= steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 1; j < m; j++)
                to[i][j] = from[i][j - 1] + t % 3;
        double (*other)[m] = to;
        to = from, from = other;
    }
    /*@ end @*/
    if (n > 0 && m > 0) {
        from[0][0] += 1000;
        to[0][m - 1] += 2000;
    }
    return t;
}

static void wave(int n, long steps, double *u, double *v, double *w)
{
    long s;
    /*@ begin PerfTuning ( def input_params { param n = 37; param steps = 7; } ) @*/
    for (s = 0; s < steps; ++s) {
        double *last = u;
        for (int i = 1; i < n - 1; i++)
            w[i] = v[i - 1] + v[i + 1] - u[i];
        u = v;
        v = w;
        w = last;
    }
    /*@ end @*/
    if (n > 2) {
        u[0] = s;
        v[0] = s + 1;
        w[0] = s + 2;
    }
}

static void heat(int n, int steps, double *u, double *v)
{
    for (int t = 0; t < steps; t++) {
        /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
        for (int i = 1; i < n - 1; i++)
            v[i] = u[i - 1] - u[i] + u[i + 1];
        double *tmp = u;
        u = v;
        v = tmp;
        for (int i = 0; i < n; i++)
            v[i] += u[i];
        /*@ end @*/
    }
    if (n > 0)
        u[0] += 100;
}

void call_jacobi(int n, int m, int steps, double *a, double *b) { jacobi(n, m, steps, a, b); }
double call_later(int n, int m, int steps, double *a, double *b) { return later(n, m, steps, a, b); }
void call_wave(int n, int steps, double *a, double *b, double *c) { wave(n, steps, a, b, c); }
void call_heat(int n, int steps, double *a, double *b) { heat(n, steps, a, b); }
