/* Unsigned loops that count down, from starts that their bounds may lie above. */
#include <stddef.h>

void sizes(size_t l, int m, double *w)
{
    /*@ begin PerfTuning ( def input_params { param l = 2; param m = 4; } ) @*/
    for (size_t k = 9; k > l; k--) w[k] *= 2;
    /*@ end @*/
}

void joined(size_t l, int m, double *w)
{
    /*@ begin PerfTuning ( def input_params { param l = 2; param m = 4; } ) @*/
    for (size_t k = 9; k > l && k > 3 && k > m; k--) w[k] += k;
    /*@ end @*/
}

void mixed(unsigned l, int m, double *w)
{
    int k;
    /*@ begin PerfTuning ( def input_params { param l = 2; param m = 4; } ) @*/
    for (k = 13; k >= 6 && l < k && m + 2u < k; k--) w[k] *= 3;
    /*@ end @*/
    w[20] = k;
}

void wraps(unsigned l, int m, double *w)
{
    /*@ begin PerfTuning ( def input_params { param l = 5; param m = 4; } ) @*/
    for (unsigned k = 12; k > l - 3 && (size_t)m - 1 < k; k--) w[k] = -w[k];
    /*@ end @*/
}

void longs(unsigned l, int m, double *w)
{
    long k;
    /*@ begin PerfTuning ( def input_params { param l = 2; param m = 4; } ) @*/
    for (k = 9; k > l; k -= 2) w[k] += k;
    /*@ end @*/
    w[20] = k;
}

void below_zero(unsigned l, int m, double *w)
{
    double s = 0.0;
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 4; } ) @*/
    for (long k = l; k != -3; k--) s += k;
    /*@ end @*/
    w[0] = s;
}

void triangle(unsigned l, int m, double *w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 4; } ) @*/
    for (unsigned i = 0; i < 8; i++)
        for (unsigned k = 6; k > i; k--) w[8 * (i % 5) + k] += k;
    /*@ end @*/
}

void up_to_none(size_t l, int m, double *w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; param m = 9; } ) @*/
    for (long k = 0; k < m && k <= l && k < 12; k++) w[k] *= 2;
    /*@ end @*/
}

void left_unmoved(unsigned m, double *restrict w)
{
    long k;
    /*@ begin PerfTuning ( def input_params { param m = 8; } ) @*/
    for (int i = 0; i < 8; i++) {
        unsigned count = 0;
        for (k = m - 1; k > m - 1; k--) count += 3;
        w[i] += k * 2;
    }
    /*@ end @*/
}

void wider(unsigned m, size_t l, double *restrict w)
{
    size_t k;
    /*@ begin PerfTuning ( def input_params { param m = 8; param l = 3; } ) @*/
    for (int i = 0; i < 8; i++) {
        for (k = m - 1; k > l; k--) w[k + 10] += 2;
        w[i] += k;
    }
    /*@ end @*/
}
