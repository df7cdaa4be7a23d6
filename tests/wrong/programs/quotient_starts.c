/* Tiled loops that start at what C rounds towards zero. */
#define MAX(a,b) ((a) > (b) ? (a) : (b))

void halves(int n, double *restrict b, const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int j = 0; j < n; j++)
        for (int i = j / 2; i < n; i++)
            b[i] += a[j];
    /*@ end @*/
}

void remainders(int n, double *restrict b, const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int j = 0; j < n; j++)
        for (int i = MAX(j % 7, n / 3 - j); i < n; i++)
            b[i] += a[j];
    /*@ end @*/
}
