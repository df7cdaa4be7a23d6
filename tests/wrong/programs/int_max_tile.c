void f(int n, signed char *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000; } ) @*/
    for (int i = 0; i < n; i++) a[i] += 1;
    /*@ end @*/
}
