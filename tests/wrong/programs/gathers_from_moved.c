/* Lengths count from where a pointer was before it moved: x[1] to x[n] are there after --x. */
void declared(int n, double x[n], double *y, int *at)
{
    --x;
    --y;
    --at;
    /*@ begin PerfTuning ( def input_params { param n = 1000; } ) @*/
    for (int i = 1; i <= n; i++)
        y[i] = x[at[i]];
    /*@ end @*/
}

/* The length is read through a pointer that the nest does not use. */
void stated(int *n, int *m, double *t, double *y, int *at)
{
    int t_dim1, t_offset, i;
    t_dim1 = *n;
    t_offset = 1 + t_dim1;
    t -= t_offset;
    --y;
    --at;
    /*@ begin PerfTuning (
      def input_params { param n = 40; param m = 30; }
      def assume { arg extent = ['t[n*m]']; }
    ) @*/
    for (i = 1; i <= 20; i++)
        y[i] = t[at[i] + t_dim1];
    /*@ end @*/
}

/* Set anew, it points to where the user says; moved forwards, its length begins before it. */
void set_anew(int n, double *x, double *y, int *at)
{
    double *p;
    p = x + 2;
    p += 3;
    /*@ begin PerfTuning (
      def input_params { param n = 100; }
      def assume { arg extent = ['p[n]']; }
    ) @*/
    for (int i = 0; i < n - 3; i++)
        y[i] = p[at[i] - 3];
    /*@ end @*/
}
