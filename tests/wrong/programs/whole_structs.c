/* Structs that are copied, initialised and set as a whole. */
typedef struct { double x, y, z; } vec;
struct body { vec at, v; double m[2]; };
struct link { int to, weight; int seen[2]; };
struct mixed { int id; double x; float f; double y; };

void energy(int n, const struct body *restrict p, double *restrict e)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        struct body q = p[i];
        const vec v = p[i].v;
        e[i] = q.m[0] * (v.x * v.x + q.v.y * q.v.y + v.z * v.z) + q.at.x * q.m[1];
    }
    /*@ end @*/
}

void forces(int n, const struct body *restrict p, vec *restrict f)
{
    int i, j;
    vec a, d, none = {0};
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (i = 0; i < n; i++) {
        a = (vec){0.0, .5};
        if (i % 5 == 2)
            a.z = 3;
        for (j = 0; j < n; j++) {
            d.x = p[j].at.x - p[i].at.x;
            d.y = p[j].at.y - p[i].at.y;
            d.z = p[j].m[1];
            double s = p[j].m[0] / (d.x * d.x + d.y * d.y + 1);
            a.x += s * d.x;
            a.y += s * d.y;
            a.z += s * d.z;
        }
        f[i] = a;
    }
    /*@ end @*/
    f[0].x += none.x;
}

void moved(int n, vec *a, vec *b)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        vec t = b[n - 1 - i], u = {.z = t.x, .x = 2}, w;
        w = t;
        t = u;
        u = w;
        w = (vec){w.y, w.x, w.y + u.z};
        a[i] = (vec){a[i].y, a[i].x, b[i].x};
        if (i > 3)
            a[i] = u;
        else if (i > 1)
            a[i] = t;
        a[i].z += w.x - w.y + w.z;
    }
    /*@ end @*/
}

void same(int n, int by, vec *a)
{
    const vec *b = a + by;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = b[i];
    /*@ end @*/
}

void linked(int n, const struct link *restrict l, int *restrict out)
{
    /*@ begin PerfTuning (
        def input_params { param n = 37; }
        def assume { arg extent = ['l_[n * 4]']; }
    ) @*/
    for (int i = 0; i < n; i++) {
        struct link q = l[i];
        q = l[q.to];
        q = l[q.to];
        out[i] = q.weight + 100 * q.seen[1];
    }
    /*@ end @*/
}

void one_type(int n, const struct mixed *restrict p, double *restrict e)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        struct mixed q = p[i];
        e[i] = q.x - q.y;
    }
    /*@ end @*/
}
