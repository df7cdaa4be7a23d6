/* An integer that moves by a number below 0, of which a part is computed in 32 bits. */
long steps(int n, long p, unsigned sum, double *restrict w)
{
    unsigned long one = 1;
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            p -= (sum + one);
        w[i] *= 3;
    }
    /*@ end @*/
    return p;
}
