/* Members of the elements of arrays of structs: rows of numbers, with gaps where others stand. */
typedef struct { double x, y, z, m; } body;
struct cell { double pos[3]; int id; float q; double v[2][2]; body c; };
typedef struct { int n; struct cell *cells; body some[10]; } grid;

void forces(int n, double dt, body *p, const body *q)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        double fx = 0, fy = 0;
        for (int j = 0; j < n; j++) {
            double dx = q[j].x - q[i].x, dy = (q + j)->y - (*(q + i)).y;
            double d = dx * dx + dy * dy + 0.5;
            fx += q[j].m * dx / d;
            fy += q[j].m * dy / d;
        }
        p[i].x += dt * fx;
        p[i].y += dt * fy;
    }
    /*@ end @*/
}

void first(int n, body *p)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 1; i < n; i++)
        p[i].x = p->x + p[i - 1].y;
    /*@ end @*/
}

void cells(int n, struct cell *restrict p, const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            p[i].pos[k] = p[i].v[1][k / 2] * a[i] + p[i].c.y + (p[n - 1 - i].c).z;
    /*@ end @*/
}

void shift(int n, int ny, body g[ny][n])
{
    /*@ begin PerfTuning ( def input_params { param n = 37; param ny = 5; } ) @*/
    for (int j = 1; j < ny; j++)
        for (int i = 0; i < n; i++)
            g[j][i].x = g[j - 1][i].y + g[j - 1][i].x;
    /*@ end @*/
}

double inner(int n, struct cell *cells, const body *some)
{
    grid one, *g = &one;
    double s = 0;
    g->n = n;
    g->cells = cells;
    for (int i = 0; i < 10; i++)
        g->some[i] = some[i];
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 10; k++)
            s += g->cells[i].v[0][1] * g->some[k].m;
    /*@ end @*/
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++)
        g->cells[i].c.x = one.some[i % 10].m;
    /*@ end @*/
    return s;
}

struct pixel { unsigned char r, g, b; };
void grey(int n, struct pixel *p, unsigned char *restrict to)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        to[i] = (p[i].r + 2 * p[i].g + p[i].b) / 4;
        p[i].b = to[i] > 3;
    }
    /*@ end @*/
}

#define APART(i, j) (p[i].x - p[j].x)
void through_macro(int n, double *restrict a, const body *restrict p)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = APART(i, 0) * p[i].m;
    /*@ end @*/
}
