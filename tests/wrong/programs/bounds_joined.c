/* Loops that several comparisons end, each made in a type of its own. */
#include <stddef.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))

void up_to_an_int(int l, int m, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (unsigned k = 0; k <= l && k < 6; k++) w[k] *= 2;
    /*@ end @*/
}

void as_sizes(int l, int m, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (size_t k = 0; k < l && k < m && k < 8u; k++) w[k] += k;
    /*@ end @*/
}

void of_a_cast(int l, int m, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (long k = 0; k < (unsigned)l && k < 6 && (size_t)m > k; k++) w[k] += 3;
    /*@ end @*/
}

void of_longs(long l, signed char m, double *restrict w)
{
    unsigned k;
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (k = 0; k < l && k < m && k < 12; k += 2) w[k] *= 2;
    /*@ end @*/
    w[20] = k;
}

void until_met(int l, int m, double *restrict w)
{
    int k;
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (k = 2; k != l && k < 8; k++) w[k] *= 2;
    /*@ end @*/
    w[20] = k;
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (k = 12; k != l && k > 4; k--) w[k] += 1;
    /*@ end @*/
    w[21] = k;
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (unsigned u = 0; u != l && u < 8; u++) w[u] += 5;
    /*@ end @*/
}

void less_of_two(int l, int m, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (unsigned k = 0; k < MIN(l, 6u); k++) w[k] *= 2;
    /*@ end @*/
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (size_t k = 0; k < MIN(MIN(l, m), (size_t)6); k++) w[k] += 2;
    /*@ end @*/
}

void in_guards(int l, unsigned m, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (int k = 0; k < 16; k++)
        if (k < l && k < m && k - 3 < 5u && (size_t)k - 2 < l) w[k] *= 2;
    /*@ end @*/
}

void under_another(int l, int m, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (int i = 0; i < 5; i++)
        for (unsigned k = 0; k < i && k < l && m > k; k++) w[k + 6*i] *= 2;
    /*@ end @*/
}
