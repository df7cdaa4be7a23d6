/* A header declares one size, and the function's name is a macro: neither is lacking, to be made a constant of the annotation's value. */
#include "sizes_elsewhere.h"
#define NAMED(name) made_##name
void NAMED(f)(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (int i = 0; i < n; i++) a[i] += 1;
    /*@ end @*/
}
void g(double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param rows = 8; } ) @*/
    for (int i = 0; i < rows; i++) a[i] += 2;
    /*@ end @*/
}
