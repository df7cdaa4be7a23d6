/* Loops k_t beside loops k, whose tiles would be called so. */
void apart(int n, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int k_t = 0; k_t < n; k_t++) {
        double s = 0;
        for (int k = 0; k < n; k++)
            s += b[k_t*n + k] * b[k] + b[k_t];
        for (int k = 1; k < 4; k++)
            s += b[k_t*n + k] * b[k - 1] + b[k];
        a[k_t] = s;
    }
    /*@ end @*/
}

void nested(int n, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int k_t = 0; k_t < n; k_t++)
        for (int k = 0; k < n; k++)
            a[k_t*n + k] = b[k_t*n + k] * b[k] + b[k_t];
    /*@ end @*/
}
