{
    if (0 < n && 0 < m) {
        /* S0 of the region at line 4: i -> gang; j -> vector */
        {
            double s_sum = -0.0;
            #pragma acc parallel loop gang reduction(+:s_sum) num_gangs(40) num_workers(1) \
                vector_length(64) copyin(A[0:m * n]) copy(s_sum)
            for (int i = 0; i < n; i++) {
                #pragma acc loop vector reduction(+:s_sum)
                for (int j = 0; j < m; j++) {
                    s_sum += A[i * m + j] * A[i * m + j];
                }
            }
            s += s_sum;
        }
    }
    else {
        /* As written: for loops that do not run, and what the tests exclude. */
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m; j++) {
                s += A[i * m + j] * A[i * m + j];
            }
        }
    }
}
