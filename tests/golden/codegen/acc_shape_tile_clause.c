            #pragma acc parallel loop gang vector tile(32, 8) num_gangs(64) num_workers(1) \
                vector_length(256) copyin(a[0:n][0:n]) copy(c[0:n][0:n])
            for (long i = 0; i < n; i++)
                for (long j = 0; j < n; j++) {
                    double c_acc = c[i][j];
                    #pragma acc loop seq
                    for (long k = 0; k < n; k += 16) {
                        c_acc += a[i][k]
                            + a[i][k + 1]
                            + a[i][k + 2]
                            + a[i][k + 3]
                            + a[i][k + 4]
                            + a[i][k + 5]
                            + a[i][k + 6]
                            + a[i][k + 7]
                            + a[i][k + 8]
                            + a[i][k + 9]
                            + a[i][k + 10]
                            + a[i][k + 11]
                            + a[i][k + 12]
                            + a[i][k + 13]
                            + a[i][k + 14]
                            + a[i][k + 15];
                    }
                    c[i][j] = c_acc;
                }
        }
