/* Pointers that walk: by one, by rows, two at once, read later, over structs, as iterators. */
typedef struct { double x, y, z; } vec;

double scale(int n, double *a, const double *b)
{
    double *p = a;
    const double *q = b + 2;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++)
        *p++ = 2.0 * *q++;
    /*@ end @*/
    return *p + (p - a) + *q;
}

void rows(int n, int m, int ld, double *restrict a, const double *restrict x)
{
    double *p = a + 1;
    const double *q;
    int i, j;
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; param ld = 12; } ) @*/
    for (i = 0; i < n; i++) {
        q = x;
        for (j = 0; j < m; j++)
            p[j] += 3 * *q++;
        p += ld;
    }
    /*@ end @*/
}

void own(int n, int m, double *restrict c, const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 0; i < n; i++) {
        double *row = c + i * m;
        const double *from = &a[i * m], *end = from + m;
        double s = 0;
        for (const double *w = from; w < end; w++)
            s += *w;
        for (int j = 0; j < m; ++j)
            *row++ = s * from[j];
    }
    /*@ end @*/
}

double *parameter(int n, double *p, double x)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        *p = x + i;
        p += 2;
    }
    /*@ end @*/
    return p;
}

double end(int n, double *a)
{
    double *p = parameter(n, a, 1.5);
    return p - a;
}

void before(int n, double *restrict a, const double *restrict b)
{
    double *p = a;
    const double *q = b + n;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++)
        *++p = *--q + 1;
    /*@ end @*/
}

void structs(int n, vec *restrict p, const vec *restrict q)
{
    const vec *c = q;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++, c++) {
        vec *b = &p[i];
        b->x = c->y + 1;
        b->z = c->x * q[0].z;
    }
    /*@ end @*/
}

float together(int n, float *a)
{
    float *p = a, *q = a + 40;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++, p++, q--)
        *p = *q + p[1];
    /*@ end @*/
    return q - p;
}

void set_twice(int n, int m, double *restrict a, const double *restrict b)
{
    const double *q;
    double *p;
    /*@ begin PerfTuning ( def input_params { param n = 17; param m = 9; } ) @*/
    for (int i = 0; i < n; i++) {
        p = a + i;
        q = b;
        if (m > 3)
            q = b + 3;
        for (int j = 0; j < m; j++, p += n)
            *p = *q++ + j;
    }
    /*@ end @*/
}
