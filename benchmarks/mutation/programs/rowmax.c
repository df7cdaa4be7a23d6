void rowmax(int n, int m, const double *restrict a, double *restrict top)
{
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 40; } ) @*/
    for (int i = 0; i < n; i++) {
        double most = a[i * m];
        for (int j = 1; j < m; j++)
            if (a[i * m + j] > most)
                most = a[i * m + j];
        top[i] = most;
    }
    /*@ end @*/
}
