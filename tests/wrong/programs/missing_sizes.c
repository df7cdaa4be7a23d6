/* As member_sizes.c, for a size that the C text lacks altogether, as in Orio's files */
void missing_sizes(int many, double *restrict a)
{
    if (many > 900) goto here;
here:
    /*@ begin PerfTuning ( def input_params { param m = 12; } ) @*/
    for (int i = 0; i < m; i++) a[i] += i;
    /*@ end @*/
    /*@ begin PerfTuning ( def input_params { param m = 7; } ) @*/
    for (int i = 0; i < m; i++) a[i] *= 2;
    /*@ end @*/
    switch (many) {
    case 3:
        /*@ begin PerfTuning ( def input_params { param m = 5; } ) @*/
        for (int i = 0; i < m; i++) a[i] -= 1;
        /*@ end @*/
        break;
    }
}
