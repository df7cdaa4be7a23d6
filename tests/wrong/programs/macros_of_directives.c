/* Macros with the names of directives, clauses and types; what the file says is made of them. */
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min 3
#define copy 7
#define copyin(x) x
#define copyout
#define create static
#define present(x)
#define vector double
#define gang 12
#define worker
#define parallel serial
#define loop
#define simd
#define schedule(x)
#define reduction(x)
#define private static
#define collapse(n)
#define data 1
#define num_gangs(n) 1
#define once 5
#define omp gcc
#define acc gcc
#define routine 2
#define unroll 0
#define real double
#define double float
#define for if (0) ; else for

void sums(int n, vector *restrict a, real *restrict b)
{
    real s = 0.0f;
    /*@ begin PerfTuning ( def input_params { param n = 70; } ) @*/
    for (int k = 0; k < n; k++)
        s += a[k] * b[k];
    for (int k = 0; k < n; k++)
        a[k] = max(a[k], 1.0f) + s + gang;
    /*@ end @*/
    b[0] = s;
}

void table(int n, real a[gang + 4][gang], const real b[gang][gang])
{
    if (n > min)
    /*@ begin PerfTuning ( ) @*/
    for (int i = 0; i < gang; i++)
        for (int j = 0; j < gang; j++)
            for (int k = 0; k < copy; k++)
                a[i][j] += b[i][k] * b[k][j];
    /*@ end @*/
    a[gang][0] = 1;
}
