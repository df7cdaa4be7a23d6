/* The vector operations of nekbone's conjugate gradients; n is the number of points of all elements. */

/* The scalar product of a and b, in which c counts every point that elements share once. */
double glsc3(int n, const double *restrict a, const double *restrict b, const double *restrict c)
{
    double sum = 0.0;

    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i] * c[i];
    /*@ end @*/
    return sum;
}

/* a = c a + b: the new direction of the search */
void add2s1(int n, double *restrict a, const double *restrict b, double c)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = c * a[i] + b[i];
    /*@ end @*/
}

/* a = a + c b: a step along the direction */
void add2s2(int n, double *restrict a, const double *restrict b, double c)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = a[i] + c * b[i];
    /*@ end @*/
}
