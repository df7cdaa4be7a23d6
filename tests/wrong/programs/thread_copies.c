/* What a thread has for itself, read by it before the region. */
struct own { int n; double *x; double q[8]; };
static __thread double w[64];
static _Thread_local struct own own;
static __thread int count;

void copies(int n, double *restrict a, double *restrict x)
{
    for (int i = 0; i < 64; i++) w[i] = i;
    count = 2;
    own.n = n;
    own.x = x;
    own.q[2] = 7;
    const int k = count + 1;
    register const double u = w[5];
    double *p = w;
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < own.n; i++) a[i] += k * u * p[i % 64] + own.x[i] + own.q[2];
    /*@ end @*/
}
