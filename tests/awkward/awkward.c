/* Programs that a tool may get wrong: what a name means, what has changed, how C counts. */
#include <stdio.h>
#include <stdlib.h>

static double a[400], b[400], c[400];
static int table[4] = {1, 2, 3, 4};

static void show(const char *name)
{
    printf("%s:", name);
    for (int q = 0; q < 400; q++)
        printf(" %.17g", a[q]);
    for (int q = 0; q < 100; q++)
        printf(" %.17g", b[q] + 2 * c[q]);
    printf("\n");
}

static void reset(void)
{
    unsigned seed = 1;
    for (int q = 0; q < 400; q++) {
        seed = seed * 1103515245u + 12345u;
        a[q] = (int)((seed >> 16) % 17) - 8;
        b[q] = (int)((seed >> 20) % 13) - 6;
        c[q] = (int)((seed >> 24) % 11) - 5;
    }
}

/* What a name was set to, when it is another variable of the same name. */

void inner_variable(int w, int n, double *restrict x, const double *restrict y)
{
    if (n > 1) {
        int w = n + 4;
        x[0] = w;
    }
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++)
        x[i] = w * y[i];
    /*@ end @*/
}

int width = 7;

void inner_variable_of_a_global(int n, double *restrict x, const double *restrict y)
{
    if (n > 1) {
        int width = n + 4;
        x[0] = width;
    }
    /*@ begin PerfTuning (def input_params { param width = 40; param n = 9; }) @*/
    for (int i = 0; i < width + n; i++)
        x[i] = width * y[i];
    /*@ end @*/
}

/* What has changed since. */

void narrow(void)
{
    width = 3;
}

void changed_by_a_call(int n, double *restrict x, const double *restrict y)
{
    width = n + 2;
    narrow();
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++)
        x[i] = width * y[i];
    /*@ end @*/
}

void changed_through_a_pointer(int n, int *p, double *restrict x, const double *restrict y)
{
    width = n + 2;
    *p = 5;
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++)
        x[i] = width * y[i];
    /*@ end @*/
}

void stored_in_a_table(int *n, int *p, double *restrict x, const double *restrict y)
{
    int w = *n;
    p[0] = 5;
    /*@ begin PerfTuning (def input_params { param w = 40; }) @*/
    for (int i = 0; i < w; i++)
        x[i] = w * y[i];
    /*@ end @*/
}

void counted_up(int *n, double *restrict x, const double *restrict y)
{
    int w = *n + 1;
    (*n)++;
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < w; i++)
        x[i] = w * y[i];
    /*@ end @*/
}

void changed_in_a_loop_around(int *n, double *restrict x, const double *restrict y)
{
    int w = *n + 2;
    for (int t = 0; t < 3; t++) {
        /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
        for (int i = 0; i < w; i++)
            x[i] += w * y[i];
        /*@ end @*/
        *n = 4;
    }
}

void cut_to_an_int(long big, int n, double *restrict x, const double *restrict y)
{
    int w = big;
    /*@ begin PerfTuning (def input_params { param n = 40; param big = 3; }) @*/
    for (int i = 0; i < n; i++)
        x[i + w] = y[i] + w;
    /*@ end @*/
}

/* Pointers. */

void made_from_a_restrict_pointer(int n, int k, double *restrict x)
{
    double *y = x + k;
    /*@ begin PerfTuning (def input_params { param n = 40; param k = 40; }) @*/
    for (int i = 0; i < n; i++)
        x[i] = y[i] + 1;
    /*@ end @*/
}

void perhaps_made_from_one(int n, int k, double *restrict x, double *z)
{
    double *y = k ? x - 1 : z;
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++)
        x[i] = y[i] + 1;
    /*@ end @*/
}

struct grid {
    double dx;
    unsigned u : 3;
    int s : 5;
    struct grid *next;
};

void perhaps_null(struct grid *p, int has, int n, double *restrict x, const double *restrict y)
{
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        if (has)
            x[i] = p->dx * y[i] + p->next->dx;
        else
            x[i] = y[i];
    }
    /*@ end @*/
}

void bit_fields(struct grid *p, int n, double *restrict x, const double *restrict y)
{
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        if (p->u - 5 < 0)
            x[i] = p->s * y[i];
        x[i] += p->u - 6;
    }
    /*@ end @*/
}

void element_counted_up(int n, double *restrict x, const double *restrict y)
{
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        x[i] = y[i] + table[1];
        table[0]++;
    }
    /*@ end @*/
}

/* Arrays of each iteration: the nest as written where sizes or overlaps ask for it. */

void second_loop_may_not_run(int n, double *restrict x, const double *restrict y)
{
    double t[4] = {1, 2, 3, 4};
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 4; j++)
            t[j] = y[i] + j;
        for (int j = 0; j < 4; j++)
            x[i] += t[3 - j];
    }
    for (int i = 0; i < n - 5; i++) {
        for (int j = 0; j < 4; j++)
            t[j] = y[i + 1] + j;
        for (int j = 0; j < 4; j++)
            x[i] -= t[3 - j];
    }
    /*@ end @*/
    x[399] = t[2];
}

void read_through_another_pointer(int n, double *restrict x, const double *restrict y)
{
    double t[8] = {1, 2, 3, 4};
    double *z = t + (n > 50 ? 4 : 0);
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 4; j++)
            t[j] = y[i] + j;
        for (int j = 0; j < 4; j++)
            x[i] += t[3 - j] + z[j];
    }
    /*@ end @*/
    x[399] = t[2];
}

void arrays_of_two_blocks(int n, double *restrict x, const double *restrict y)
{
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        if (y[i] > 0) {
            double t[2] = {y[i], 3};
            x[i] = t[1] * t[0];
        } else {
            double t[2];
            t[0] = 5;
            x[i] = t[0];
        }
    }
    /*@ end @*/
}

/* Types and macros. */

typedef double number;

void types_of_two_blocks(int n, double *restrict x, double *restrict y)
{
    {
        typedef int number;
        /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
        for (int i = 0; i < n; i++) {
            number t = y[i] * 0.3;
            y[i] = t;
        }
        /*@ end @*/
    }
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        number t = x[i] * 0.3;
        x[i] = t;
    }
    /*@ end @*/
}

#define THREE 1 + 2
#define TEN 10u
#define MANY 1000000000L
#define HIGH 0x80000000

void macros(int n, double *restrict x, double *restrict y, double *restrict z)
{
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        x[i * THREE] = y[i] + i * THREE;
        if (i - 5 < TEN)
            z[i] = 1;
        y[i] = (i - TEN) / 2 + (i + HIGH) * 2;
        z[i] += i * MANY;
    }
    /*@ end @*/
}

/* Unsigned arithmetic goes round, also where annotune computes with 64-bit integers. */

void unsigned_constants(int n, int k, double *restrict x, double *restrict y,
                        double *restrict z)
{
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        x[i] = y[i] + (i - 3u) / 2 + 0x80000000 * 2 + (k + 2u) * 4000000000u;
        if (k - 1u < 10)
            y[i] = 7;
        z[i] = (i > 5 ? i : 3u) - 10 + (i > 5 ? -1 : 3u) - -(i > 3 ? 2u : 1);
    }
    /*@ end @*/
}

void unsigned_beside_long(unsigned n, double *restrict x, double *restrict y, double *restrict z)
{
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (unsigned i = 0; i < n; i++) {
        x[(size_t)i * 2] = (i - 7) / 2;
        if (i - 5 < 10)
            y[i] = 1;
        z[i] = (n - 50) / 2 + i * 200000000;
    }
    /*@ end @*/
}

void unsigned_beside_int(int n, int k, unsigned u, double *restrict x, double *restrict y,
                         double *restrict z)
{
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        x[i] = (k + u) / 2;
        y[i] = k * u;
        z[i] = (k < u) + -u / 3 + (u - k) % 7 + (k / u) + (k % u);
    }
    /*@ end @*/
}

void hashes(int n, double *restrict x)
{
    static double all[100];
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        unsigned k = i * 2654435761u;
        x[i] = all[k % 100] + k % 7;
    }
    /*@ end @*/
}

void truths(int n, double *restrict x, const double *restrict y)
{
    const _Bool one = 1;
    /*@ begin PerfTuning (def input_params { param n = 40; }) @*/
    for (int i = 0; i < n; i++) {
        _Bool q = y[i] * 0.5;
        x[i] = q + one;
    }
    /*@ end @*/
}

int main(void)
{
    static const int sizes[] = {40, 0, 1, 2, 7, 60};
    for (int k = 0; k < 6; k++) {
        int n = sizes[k], m;
        struct grid second = {5, 0, 0, NULL}, first = {3, k, k - 2, &second};
#define RUN(name, ...) reset(); name(__VA_ARGS__); show(#name)
        RUN(inner_variable, 3, n, a, b);
        width = 7;
        RUN(inner_variable_of_a_global, n, a, b);
        RUN(changed_by_a_call, n, a, b);
        RUN(changed_through_a_pointer, n, &width, a, b);
        m = n;
        RUN(stored_in_a_table, &m, &m, a, b);
        m = n;
        RUN(counted_up, &m, a, b);
        m = n;
        RUN(changed_in_a_loop_around, &m, a, b);
        RUN(cut_to_an_int, k % 2 ? 3 : 4294967299L, n, a, b);
        RUN(made_from_a_restrict_pointer, n, k % 2 ? -1 : 60, a + 1);
        RUN(perhaps_made_from_one, n, k % 2, a + 1, b);
        RUN(perhaps_null, k % 2 ? &first : NULL, k % 2, n, a, b);
        RUN(bit_fields, &first, n, a, b);
        table[0] = k;
        RUN(element_counted_up, n, a, b);
        printf("%d\n", table[0]);
        RUN(second_loop_may_not_run, n, a, b);
        RUN(read_through_another_pointer, n, a, b);
        RUN(arrays_of_two_blocks, n, a, b);
        RUN(types_of_two_blocks, n, a, b);
        RUN(macros, n, a, b, c);
        RUN(unsigned_constants, n, k, a, b, c);
        RUN(unsigned_beside_long, n, a, b, c);
        RUN(unsigned_beside_int, n, -k, 5, a, b, c);
        RUN(hashes, n, a);
        RUN(truths, n, a, b);
    }
    return 0;
}
