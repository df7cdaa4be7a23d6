/* CUDA and OpenACC did not compile: they took the addresses of s, p and m */
double register_sums(int n, int m, double *restrict a, const double *restrict b)
{
    register double s = 1;
    register long p = 2, i = 7, j = 8;
    register const int two = 2;
    /*@ begin PerfTuning ( def input_params { param n = 40; param m = 9; } ) @*/
    for (i = 0; i < n; i++) {
        for (j = 0; j < m; j++) a[i] += two * b[j];
        s += a[i];
        p += j;
    }
    /*@ end @*/
    /*@ begin PerfTuning ( def input_params { param n = 40; param m = 9; } ) @*/
    for (i = 0; i < n; i++) s = a[i] > s ? a[i] : s;
    for (i = 0; i < n; i++) a[i] -= s;
    /*@ end @*/
    return s + p + 1000 * i + 100000 * j;
}
