/* Pointers that name rows: of arrays of rows, of members, of one another. */
struct cell { double pos[3]; int id; double v[3]; };
#define M 7
static double own[40][M];

void smooth(int n, int m, double a[n][m], double b[n][m])
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 1; i < n - 1; i++) {
        const double *up = b[i - 1], *here = &b[i][0], *down = b[i + 1];
        double *out = a[i];
        for (int j = 1; j < m - 1; j++)
            out[j] = up[j] + *(down + j) + here[j - 1] + here[j + 1];
    }
    /*@ end @*/
}

void statics(int n, double *x)
{
    int i, j;
    double *r;
    const double *s;
    for (i = 0; i < n; i++)
        for (j = 0; j < M; j++) own[i][j] = x[i * M + j];
    /*@ begin PerfTuning ( def input_params { param n = 17; } ) @*/
    for (i = 1; i < n; i++) {
        r = own[i];
        s = own[i - 1];
        for (j = 0; j < M; j++) r[j] += 2 * s[j];
        *r = 3;
        r = &own[i][2];
        r[1] *= 2;
        *(r + 2) -= own[i][0];
    }
    /*@ end @*/
    for (i = 0; i < n; i++)
        for (j = 0; j < M; j++) x[i * M + j] = own[i][j];
}

void deep(int l, int n, int m, double a[l][n][m], double (*b)[n][m])
{
    double (*p)[m];
    /*@ begin PerfTuning ( def input_params { param l = 4; param n = 5; param m = 9; } ) @*/
    for (int k = 0; k < l; k++) {
        p = a[k];
        double (*q)[m] = &b[k][1];
        for (int i = 0; i < n - 1; i++) {
            double *r = p[i] + 1, *s = r, *t = q[i];
            for (int j = 0; j < m - 1; j++)
                if (s[j] > 2)
                    r[j] -= t[j];
        }
    }
    /*@ end @*/
}

void members(int n, struct cell *restrict c, double *restrict e)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        double *x = c[i].pos;
        const double *v = c[i].v, *w = (c + i)->v;
        double s = 0;
        for (int k = 0; k < 3; k++) {
            x[k] += 0.5 * v[k];
            s += w[k] * w[k];
        }
        e[i] = s;
    }
    /*@ end @*/
}

void gathered(int n, int m, const int *restrict of, double a[restrict n][m], double *restrict y)
{
    /*@ begin PerfTuning (
        def input_params { param n = 17; param m = 9; }
        def assume { arg extent = ['a[n * m]']; }
    ) @*/
    for (int i = 0; i < n; i++) {
        double s = 0;
        const double *row = a[of[i]];
        for (int j = 0; j < m; j++)
            s += row[j];
        y[i] = s;
    }
    /*@ end @*/
}

void either(int n, int m, double a[n][m], double b[n][m])
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 0; i < n; i++) {
        double *r;
        if (i % 3 == 1) {
            r = a[i];
            for (int j = 0; j < m; j++) r[j] += 1;
        } else {
            r = b[i];
            for (int j = 0; j < m; j++) r[j] += a[i][j];
        }
        {
            double *r = a[i];
            if (m > 0) r[0] = 5;
        }
    }
    /*@ end @*/
}

void behind(int n, int m, double **a, double **b)
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 0; i < n; i++) {
        double *r = a[i], *s = b[i];
        for (int j = 0; j < m; j++)
            r[j] += 2 * s[j];
    }
    /*@ end @*/
}

void call_behind(int n, int m, double *x, double *y)
{
    double *a[40], *b[40];
    for (int i = 0; i < n; i++) {
        a[i] = x + i * m;
        b[i] = y + (n - 1 - i) * m;
    }
    behind(n, m, a, b);
}


struct grid { int n, m; double **u; double *f[40]; double h; };
struct box { struct grid *in, out; };

void of_grid(struct grid *g)
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 0; i < g->n; i++) {
        double *r = g->u[i];
        for (int j = 0; j < g->m; j++)
            r[j] += g->h * g->f[i][j];
    }
    /*@ end @*/
}

void of_this(struct grid g)
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 1; i < g.n; i++)
        for (int j = 0; j < g.m - 1; j++)
            g.u[i][j] = g.h * g.f[i - 1][j + 1];
    /*@ end @*/
}

void of_box(int is_on, struct box *b)
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    if (is_on)
        for (int i = 0; i < b->in->n; i++)
            for (int j = 0; j < b->in->m; j++)
                (b->out).u[i][j] -= b->in -> u [i][j] + b->out.f[0][j];
    /*@ end @*/
}

void call_grid(int kind, int n, int m, double *x, double *y)
{
    struct grid g = { n, m, 0, {0}, 0.5 };
    struct box b = { &g, g };
    double *rows[40], *others[40];
    g.u = rows;
    b.out.u = others;
    for (int i = 0; i < n; i++) {
        rows[i] = x + (kind == 1 ? i / 2 : i) * m;
        g.f[i] = (kind == 2 ? x : y) + i * (m + 1);
        b.out.f[i] = y;
        others[i] = kind == 3 ? x + (n - i) * m : y + m * (i + 1);
    }
    of_grid(&g);
    of_this(g);
    of_box(1, &b);
    b.in = 0;
    of_box(0, &b);
}

static const int turned[4][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 1, 1 }, { 0, 0, 0 } };

void by_table(int n, double *restrict y, double x[restrict n][3])
{
    /*@ begin PerfTuning ( def input_params { param n = 17; } ) @*/
    for (int i = 0; i < n; i++) {
        const int *r = turned[1];
        const double *q = x[i];
        y[i] = q[r[0]] + q[r[1]] * q[2];
    }
    /*@ end @*/
}

void beyond(int n, int m, double a[n][m], double b[n][m])
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 1; i < n; i++) {
        double *all = &a[0][0], *r = b[i];
        for (int j = 0; j < m; j++) {
            all[i * m + j] = b[i][j] + a[i - 1][j];
            r[j - m] = a[i][j] - r[j];
        }
    }
    /*@ end @*/
}
