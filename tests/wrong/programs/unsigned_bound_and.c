/* all targets, l = -1: C compares k < l as unsigned, so that 6 iterations run; the texts take min(l, 6) of ints: none runs */
void f(int l, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; } ) @*/
    for (unsigned k = 0; k < l && k < 6; k++) w[k] *= 2;
    /*@ end @*/
}
