/* An array of which nothing is touched may lie in another, though both are restrict. */
void beside(int n, double *restrict r, double *restrict b, const int *restrict asked)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (int i = 0; i < n; i++) {
        r[i] += 2;
        if (asked[i] > 0) b[i] += 1;
    }
    /*@ end @*/
}

void within(int n, double *r, const int *asked)
{
    beside(n, r, r + 2, asked);
}
