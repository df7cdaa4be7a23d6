/* Structs as variables of an iteration, and members that a region changes where they are. */
typedef struct { double x, y, z; } vec;
typedef struct { double r, i; } complex16;
typedef struct { vec at; double w[3]; int k; } sample;
typedef struct { int n; double *x, *v; double dt, sum; long count; } state;

void cross(int n, double *restrict a, const vec *restrict p)
{
    vec d;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        sample s;
        d.x = p[i].y - p[0].z;
        d.y = p[i].z - p[0].x;
        d.z = d.x * d.y;
        s.at.x = d.z + 1;
        for (int k = 0; k < 3; k++)
            s.w[k] = k * s.at.x + d.y;
        s.k = i + 1;
        a[i] = s.w[0] + s.w[1] * s.w[2] + d.z + s.k;
    }
    /*@ end @*/
    d.x = 3;
    a[0] += d.x;
}

void zaxpy(int n, complex16 *restrict y, const complex16 *restrict x, const complex16 *alpha)
{
    static complex16 z__1, z__2;
    int i;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (i = 0; i < n; ++i) {
        z__2.r = alpha->r * x[i].r - alpha->i * x[i].i, z__2.i = alpha->r * x[i].i + alpha->i * x[i].r;
        z__1.r = y[i].r + z__2.r, z__1.i = y[i].i + z__2.i;
        y[i].r = z__1.r, y[i].i = z__1.i;
    }
    /*@ end @*/
}

double kept(int n, double *restrict a, const vec *restrict p)
{
    vec d, e;
    d.x = 2;
    d.y = 5;
    e.x = e.y = e.z = 1;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        d.x += p[i].x;
        e.y = a[i];
        a[i] = e.y * e.x;
    }
    /*@ end @*/
    return d.x + d.y + e.y;
}

double step(int n, double *x, double *v)
{
    state one = { n, x, v, 0.5, 1, 2 }, *s = &one;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < s->n; i++)
        s->x[i] += s->dt * s->v[i];
    /*@ end @*/
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < s->n; i++) {
        s->sum += s->x[i];
        if (s->x[i] > 0)
            s->count++;
    }
    /*@ end @*/
    return s->sum + 100 * s->count;
}

void in_itself(int n, state *s, double *x)
{
    s->x = x;
    s->v = x + 20;
    s->n = n;
    /* x may hold s->dt. */
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < s->n; i++)
        s->x[i] = s->dt * s->v[i];
    /*@ end @*/
    s->x = s->v = 0;
}

void overlapping(int n, double *x)
{
    in_itself(n, (state *)(x + 3), x + 6);
}

void counted(int n, const double *restrict a, int *restrict hits, const int *restrict m, int *misses)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; param m = 20; } ) @*/
    for (int i = 0; i < *m; i++) {
        if (a[i] > 0)
            (*hits)++;
        *misses += a[i] <= 0;
    }
    /*@ end @*/
}

union word { double d; long l; };
double pun(int n, double *restrict a, const double *restrict b)
{
    union word u, w;
    w.l = 0;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        u.d = b[i] * 2;
        a[i] = u.d + 1;
    }
    /*@ end @*/
    w.d = a[0];
    return w.l != 0;
}
