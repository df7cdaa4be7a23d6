/* Integers of a region that stand for an expression of another type: C computes in theirs. */
void own(int n, const int *restrict k, const unsigned *restrict u, long *restrict w,
         double *restrict v)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (int i = 0; i < n; i++) {
        long wide = k[i];
        unsigned plain = i;
        long from = u[i];
        unsigned long all = i;
        w[2 * i] = wide * wide;
        w[2 * i + 1] = wide << 20;
        v[4 * i] = 2 - from;
        v[4 * i + 1] = 1 - plain;
        v[4 * i + 2] = k[i] * plain;
        v[4 * i + 3] = k[i] - all;
    }
    /*@ end @*/
}
