/* A macro where the function starts is a variable in it, and a helper stands before both. */
#define a 3
#define n (
#define WIDTH 7
void f(int m, double *restrict b, const double *restrict from)
{
#undef a
#undef n
#undef WIDTH
#define WIDTH (2 + 3)
    double *restrict a = b;
    int n = m;
    /*@ begin PerfTuning ( def input_params { param m = 16; param n = 16; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) a[i*n + j] += WIDTH*from[i*n + k]*from[k*n + j];
    /*@ end @*/
#undef a
#define a 4
}
