/* Starts and ends of loops in which C converts one integer to another's type. */
#include <stddef.h>
#define MAX(a,b) ((a) > (b) ? (a) : (b))
#define MIN(a,b) ((a) < (b) ? (a) : (b))

void of_ints(int n, int m, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; } ) @*/
    for (size_t i = MAX(0, m - n); i < (size_t)m; i++) b[i] += 1;
    /*@ end @*/
}

void goes_round(int n, int m, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; } ) @*/
    for (unsigned i = MAX(n - 4, 3u); i < m; i++) b[i] += 1;
    /*@ end @*/
}

void of_unsigned(unsigned n, int m, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; } ) @*/
    for (long i = MAX(n - 4, 3); i < m; i++) b[i] += 1;
    /*@ end @*/
}

void ends(int n, long m, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; } ) @*/
    for (long i = 0; i < MIN(m, n - 4 < 12u ? n - 4 : 12u); i++) b[i] += 1;
    /*@ end @*/
}

void of_sizes(size_t n, int m, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; } ) @*/
    for (size_t i = 0; i < MIN(n, m); i++) b[i] += 1;
    /*@ end @*/
}

void with_steps(int n, int m, double *restrict b)
{
    unsigned i;
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; } ) @*/
    for (i = MAX(0, m - n); i < m; i += 3)
        for (unsigned j = 0; j < i; j++) b[i*40 + j] += 1;
    /*@ end @*/
    b[0] += i;
}

void in_values(unsigned n, int m, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; } ) @*/
    for (int i = 0; i < m; i++) {
        if (i - 3 < n) b[i] += i - 3 > n - 4 ? 1 : 2;
        b[i] += (n - 4) / 2 + (i - 3) % 5u + MAX(i - 3, 2u);
    }
    /*@ end @*/
}

void of_shorts(unsigned char n, unsigned m, long l, double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; param l = 25; } ) @*/
    for (long i = MAX(l - m, 0); i < MIN(m, l) + n; i++) b[i] += 1;
    /*@ end @*/
}
