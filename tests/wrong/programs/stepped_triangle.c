/* A loop by a step that is an argument, from where the loop around stands: a stage of an FFT. */
void stage(int n, int l, double *restrict x, const double *restrict w)
{
    int i, j;
    /*@ begin PerfTuning ( def input_params { param n = 64; param l = 4; } ) @*/
    for (j = 1; j <= l; j++)
        for (i = j; i <= n; i += 2 * l)
            x[i] += w[j] * i;
    /*@ end @*/
}
