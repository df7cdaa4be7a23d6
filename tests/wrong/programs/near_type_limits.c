/* Iterators that end near the greatest value of their type: n + 255 and i_t + 256 are none. */
void ints(int lo, int n, signed char *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param lo = 0; param n = 1000; } ) @*/
    for (int i = lo; i < n; i++) a[i] += 1;
    /*@ end @*/
}

void unsigneds(unsigned lo, unsigned n, signed char *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param lo = 0; param n = 1000; } ) @*/
    for (unsigned i = lo; i < n; i++) a[i] += 1;
    /*@ end @*/
}

void inclusive(int lo, int n, signed char *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param lo = 0; param n = 1000; } ) @*/
    for (int i = lo; i <= n; i++) a[i] += 1;
    /*@ end @*/
}

void steps(int lo, int n, signed char *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param lo = 0; param n = 3000; } ) @*/
    for (int i = lo; i < n; i += 3) a[i] += 1;
    /*@ end @*/
}

void down(int lo, int n, signed char *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param lo = 0; param n = 1000; } ) @*/
    for (int i = n - 1; i >= lo; i--) a[i] += 1;
    /*@ end @*/
}

void longs(long lo, long n, signed char *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param lo = 0; param n = 1000; } ) @*/
    for (long i = lo; i < n; i++) a[i] += 1;
    /*@ end @*/
}
