/* Memory that is not plain: each function is refused where it reads it. */
static __thread double w[64];
static _Thread_local double fac;
static __thread int tn;
static __thread double *tp;
_Atomic int at;
double *volatile vp;
typedef volatile int vint;
vint vi;
volatile struct { int n; } vs;

void array(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) a[i] += w[i % 64];
    /*@ end @*/
}

void scalar(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) a[i] += fac;
    /*@ end @*/
}

void bound(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < tn; i++) a[i] += 1;
    /*@ end @*/
}

void pointer(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) a[i] += tp[i];
    /*@ end @*/
}

void local(int n, double *restrict a)
{
    static _Thread_local int s;
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) a[i] += s;
    /*@ end @*/
}

void atomic(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) a[i] += at;
    /*@ end @*/
}

void atomic_elements(int n, _Atomic double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) a[i] += 1;
    /*@ end @*/
}

void volatile_pointer(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) a[i] += vp[i];
    /*@ end @*/
}

void of_a_type(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) a[i] += vi;
    /*@ end @*/
}

void member(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < vs.n; i++) a[i] += 1;
    /*@ end @*/
}

void const_volatile(int n, double *restrict a)
{
    const volatile int k = 3;
    /*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/
    for (int i = 0; i < n; i++) a[i] += k;
    /*@ end @*/
}
