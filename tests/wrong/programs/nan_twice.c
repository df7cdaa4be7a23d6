/* Two loops make one maximum: that an element of the second was NaN was noted and not asked. */
double nan_twice(int m, int k, double d, const double *restrict x, const double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param m = 100; param k = 100; } ) @*/
    for (int i = 0; i < m; i++)
        d = d >= x[i] ? d : x[i];
    for (int i = 0; i < k; i++)
        d = d >= y[i] ? d : y[i];
    /*@ end @*/
    return d;
}
