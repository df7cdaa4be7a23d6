{
    if (0 < m && 0 < n
        && (a + n * m <= b || b + n * n <= a || (a == b && a + n * m == b + n * n))) {
        if (n == 8) {
            /* S0 of the region at line 3: i, j -> vector */
            #pragma acc parallel loop gang vector collapse(2) num_gangs(1) num_workers(1) \
                vector_length(64) copyin(a[0:n * m], b[0:n * n]) copy(c[0:n * m])
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    double c_acc = c[i * n + j];
                    c_acc += a[i * n] * b[j]
                        + a[i * n + 1] * b[n + j]
                        + a[i * n + 2] * b[2 * n + j]
                        + a[i * n + 3] * b[3 * n + j]
                        + a[i * n + 4] * b[4 * n + j]
                        + a[i * n + 5] * b[5 * n + j]
                        + a[i * n + 6] * b[6 * n + j]
                        + a[i * n + 7] * b[7 * n + j];
                    c[i * n + j] = c_acc;
                }
        }
        else if (n == 10) {
            /* S0 of the region at line 3: i, j -> vector */
            #pragma acc parallel loop gang vector collapse(2) num_gangs(1) num_workers(1) \
                vector_length(96) copyin(a[0:n * m], b[0:n * n]) copy(c[0:n * m])
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    double c_acc = c[i * n + j];
                    c_acc += a[i * n] * b[j]
                        + a[i * n + 1] * b[n + j]
                        + a[i * n + 2] * b[2 * n + j]
                        + a[i * n + 3] * b[3 * n + j]
                        + a[i * n + 4] * b[4 * n + j]
                        + a[i * n + 5] * b[5 * n + j]
                        + a[i * n + 6] * b[6 * n + j]
                        + a[i * n + 7] * b[7 * n + j]
                        + a[i * n + 8] * b[8 * n + j]
                        + a[i * n + 9] * b[9 * n + j];
                    c[i * n + j] = c_acc;
                }
        }
        else if (n == 12) {
            /* S0 of the region at line 3: i, j -> vector */
            #pragma acc parallel loop gang vector collapse(2) num_gangs(1) num_workers(1) \
                vector_length(96) copyin(a[0:n * m], b[0:n * n]) copy(c[0:n * m])
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    double c_acc = c[i * n + j];
                    c_acc += a[i * n] * b[j]
                        + a[i * n + 1] * b[n + j]
                        + a[i * n + 2] * b[2 * n + j]
                        + a[i * n + 3] * b[3 * n + j]
                        + a[i * n + 4] * b[4 * n + j]
                        + a[i * n + 5] * b[5 * n + j]
                        + a[i * n + 6] * b[6 * n + j]
                        + a[i * n + 7] * b[7 * n + j]
                        + a[i * n + 8] * b[8 * n + j]
                        + a[i * n + 9] * b[9 * n + j]
                        + a[i * n + 10] * b[10 * n + j]
                        + a[i * n + 11] * b[11 * n + j];
                    c[i * n + j] = c_acc;
                }
        }
        else {
            /* S0 of the region at line 3: i, j -> vector */
            #pragma acc parallel loop gang vector collapse(2) num_gangs(1) num_workers(1) \
                vector_length(64) copyin(a[0:n * m], b[0:n * n]) copy(c[0:n * m])
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    double c_acc = c[i * n + j];
                    #pragma acc loop seq
                    for (int k = 0; k < n - n % 8; k += 8) {
                        c_acc += a[i * n + k] * b[k * n + j]
                            + a[i * n + k + 1] * b[(k + 1) * n + j]
                            + a[i * n + k + 2] * b[(k + 2) * n + j]
                            + a[i * n + k + 3] * b[(k + 3) * n + j]
                            + a[i * n + k + 4] * b[(k + 4) * n + j]
                            + a[i * n + k + 5] * b[(k + 5) * n + j]
                            + a[i * n + k + 6] * b[(k + 6) * n + j]
                            + a[i * n + k + 7] * b[(k + 7) * n + j];
                    }
                    #pragma acc loop seq
                    for (int k = n - n % 8; k < n; k++) {
                        c_acc += a[i * n + k] * b[k * n + j];
                    }
                    c[i * n + j] = c_acc;
                }
        }
    }
    else {
        /* As written: for loops that do not run, and what the tests exclude. */
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++) {
                for (int k = 0; k < n; k++) {
                    c[i * n + j] += a[i * n + k] * b[k * n + j];
                }
            }
        }
    }
}
