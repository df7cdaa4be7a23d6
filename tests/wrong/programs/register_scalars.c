/* What is declared register has no address: a parameter, a local, a temporary of many nests. */
double registers(int n, register double scale, double a[restrict n], const double b[restrict n])
{
    register double sum = 3;
    register double best;
    register unsigned char count = 250;
    best = b[0];
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int i = 1; i < n; i++) {
        for (int j = 0; j < n; j++)
            sum += a[j] * b[i];
        a[i - 1] = scale;
        best = best < b[i] ? b[i] : best;
        count += 3;
        scale = -scale;
    }
    /*@ end @*/
    return sum + best * 1000 + count * 7 + scale;
}
