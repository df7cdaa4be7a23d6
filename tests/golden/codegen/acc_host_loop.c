{
    if (0 < t && n >= 3) {
        #pragma acc data copyin(w[0:1]) copy(a[0:n]) copyout(b[1:n - 2])
        {
            for (int s = 0; s < t; s++) {
                /* S0 of the region at line 6: i -> vector */
                #pragma acc parallel loop gang vector num_gangs(1) num_workers(1) \
                    vector_length(64) present(b[1:n - 2], w[0:1], a[0:n])
                for (int i = 1; i < n - 1; i++) {
                    b[i] = w[0] + a[i - 1] + a[i + 1];
                }
                /* S1 of the region at line 6: i -> vector */
                #pragma acc parallel loop gang vector num_gangs(1) num_workers(1) \
                    vector_length(64) present(b[1:n - 2], a[0:n])
                for (int i = 1; i < n - 1; i++) {
                    a[i] = b[i];
                }
            }
        }
    }
    else {
        /* As written: for loops that do not run, and what the tests exclude. */
        for (int s = 0; s < t; s++) {
            for (int i = 1; i < n - 1; i++) {
                b[i] = w[0] + a[i - 1] + a[i + 1];
            }
            for (int i = 1; i < n - 1; i++) {
                a[i] = b[i];
            }
        }
    }
    (void)s;
    (void)i;
}
