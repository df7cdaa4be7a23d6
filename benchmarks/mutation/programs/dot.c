double dot(int n, const double *restrict x, const double *restrict y)
{
    double s = 0.25;
    /*@ begin PerfTuning ( def input_params { param n = 300; } ) @*/
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    /*@ end @*/
    return s;
}
