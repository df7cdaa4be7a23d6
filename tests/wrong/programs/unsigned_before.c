/* Arrays that a pointer into their middle is given of, with an unsigned distance to their start. */
void before(unsigned n, const double *restrict u, double *restrict v)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (long i = 0; i < n; i++)
        v[i] = 2 * u[i - n];
    /*@ end @*/
}
