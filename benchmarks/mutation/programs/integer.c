void integer(int n, int m, const int *restrict a, const unsigned char *restrict b,
             long *restrict sums, unsigned *restrict bits)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; param m = 21; } ) @*/
    for (int i = 0; i < n; i++) {
        long s = sums[i];
        for (int j = 0; j < m; j++)
            s += (long)a[i * m + j] * b[j] % 7;
        sums[i] = s;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            bits[i * m + j] = bits[i * m + j] * 3u + b[j] / 2;
    /*@ end @*/
}
