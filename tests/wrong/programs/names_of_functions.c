/* Functions, variables and macros with the names of what is generated for others. */
double twice_1_s0(double x) { return 2*x; }
static double c_block(double x) { return x + 1; }
#define annotune_once_1 7
double annotune_value_1 = 2;

void twice(int n, double *restrict c, const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } def assume { arg pure = ['c_block']; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i*n + j] += a[i*n + k]*c_block(a[k*n + j]);
    /*@ end @*/
}

/* Its regions have the names that those of `twice` would have taken next. */
void own_twice(int n, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int i = 0; i < n; i++) c[i] += 3;
    /*@ end @*/
}

void once(int n, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int i = 0; i < n; i++) c[i] = annotune_once_1*c[i];
    /*@ end @*/
}

void value(int n, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int i = 0; i < n; i++) c[i] += annotune_value_1;
    /*@ end @*/
}

#define i_end 4
#define i_r (
