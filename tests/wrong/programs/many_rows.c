/* Elements of 81 values each, whose values together are more than an int counts. */
void points(int lo, int m, signed char u[restrict m][9][9])
{
    /*@ begin PerfTuning ( def input_params { param lo = 0; param m = 1000; } ) @*/
    for (int e = lo; e < m; e++)
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++)
                u[e][i][j] += i + j;
    /*@ end @*/
}

void unsized(int lo, int m, signed char u[restrict][9][9])
{
    /*@ begin PerfTuning ( def input_params { param lo = 0; param m = 1000; } ) @*/
    for (int e = lo; e < m; e++)
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++)
                u[e][i][j] += i + j;
    /*@ end @*/
}
