/* A product of matrices of every type: not each has an instruction that copies an element. */
#include <complex.h>

void of_int(int n, int *restrict c, const int *restrict a, const int *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i*n+j] += a[i*n+k] * b[k*n+j];
    /*@ end @*/
}

void of_long(int n, long *restrict c, const long *restrict a, const long *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i*n+j] += a[i*n+k] * b[k*n+j];
    /*@ end @*/
}

void of_unsigned(int n, unsigned long long *restrict c, const unsigned long long *restrict a, const unsigned long long *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i*n+j] += a[i*n+k] * b[k*n+j];
    /*@ end @*/
}

void of_short(int n, short *restrict c, const short *restrict a, const short *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i*n+j] += a[i*n+k] * b[k*n+j];
    /*@ end @*/
}

void of_char(int n, unsigned char *restrict c, const unsigned char *restrict a, const unsigned char *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i*n+j] += a[i*n+k] * b[k*n+j];
    /*@ end @*/
}

void of_complex(int n, float complex *restrict c, const float complex *restrict a, const float complex *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i*n+j] += a[i*n+k] * b[k*n+j];
    /*@ end @*/
}

void mixed(int n, double *restrict c, const short *restrict a, const float *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i*n+j] += a[i*n+k] * b[k*n+j];
    /*@ end @*/
}
