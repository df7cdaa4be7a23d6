/* Integers that loops of other types move: what they are stays of their own type. */
#include <stddef.h>

void by_an_unsigned_long(int t, unsigned n, const double *restrict v, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (unsigned long i = 0; i < n; i++) {
        w[i] = v[i] + t;
        t++;
    }
    /*@ end @*/
}

void in_two_loops(int t, unsigned n, const double *restrict v, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (int i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            w[i * n + j] = v[j] * t;
            t -= 3;
        }
    /*@ end @*/
    w[0] = t;
}

void times_an_unsigned(int t, long n, const unsigned *restrict v, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (long i = 0; i < n; i++) {
        w[i] = v[i] * t;
        t += 2;
    }
    /*@ end @*/
}

void a_long_by_an_unsigned(long t, unsigned n, const double *restrict v, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (unsigned i = 0; i < n; i++) {
        w[i] = v[i] + t;
        t -= 5;
    }
    /*@ end @*/
}
