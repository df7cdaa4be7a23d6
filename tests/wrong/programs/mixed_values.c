/* Values in which C widens an unsigned number before it computes, or divides as one. */

void widened(unsigned m, unsigned long *restrict x, const unsigned char *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param m = 8; } ) @*/
    for (int i = 0; i < 8; i++) {
        x[i] = m - 5UL;
        x[i + 8] += 5UL - m;
        x[i + 16] = (m % 9UL) - b[i];
        x[i + 24] = 3L << 30;
        x[i + 32] = (m / 9UL) - m;
    }
    /*@ end @*/
}

void divided(unsigned m, int *restrict x, long *restrict y, short *restrict z)
{
    /*@ begin PerfTuning ( def input_params { param m = 8; } ) @*/
    for (int i = 0; i < 8; i++) {
        x[i] /= 3u;
        y[i] /= 7UL;
        z[i] = z[i] / (m + 1u);
    }
    /*@ end @*/
}
