/* OpenMP, OpenACC and CUDA did not compile: `param n` is that of g->n, and for the lack of a variable
   `n` the text got a constant of that name: twice in one block, behind a label, behind `else` */
struct grid { int n; double *u; };
static void twice(struct grid *g, double *restrict a)
{
    if (g->n > 900) goto here;
here:
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    for (int i = 0; i < g->n; i++) a[i] += g->u[i];
    /*@ end @*/
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    for (int i = 0; i < g->n; i++) a[i] *= 2;
    /*@ end @*/
    if (g->n == 3)
        a[0] = 5;
    else
        /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
        for (int i = 0; i < g->n; i++) a[i] -= i;
        /*@ end @*/
}
void member_sizes(int n, double *a, double *u)
{
    struct grid g = {n, u};
    twice(&g, a);
}
