/* Below a negative size an unsigned iterator has no end; what stands around the loops decides. */
int skipped(int n, int mx, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    if (mx > 0) {
        for (unsigned long i = 0; i < n; i++) {
            a[i] += b[i];
            for (unsigned long k = 0; k < n; k++)
                if (i >= k && mx < 9)
                    a[i] += b[k];
        }
        mx = -1;
    }
    /*@ end @*/
    return mx;
}

int changed(int n, int mx, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    if (mx > 0) {
        for (unsigned long i = 0; i < n; i++) {
            a[i] = b[i];
            mx = 3;
        }
    }
    /*@ end @*/
    return mx;
}

int in_an_array(int n, int mx, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; param mx = 1; } ) @*/
    if (mx > 0) {
        for (int j = 0; j < 4; j++)
            for (unsigned long i = 0; i < n; i += 4) {
                double pair[2];
                for (int k = 0; k < 2; k++)
                    pair[k] = b[i] + k;
                a[i + j] += pair[0] * pair[1];
            }
    }
    /*@ end @*/
    return mx;
}

int of_32_bits(int n, int mx, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    if (mx > 0) {
        for (unsigned i = 0; i < n && i < n; i++)
            for (unsigned k = 0; k < 4; k++)
                a[4 * i + k] = b[i];
    }
    /*@ end @*/
    return mx;
}
