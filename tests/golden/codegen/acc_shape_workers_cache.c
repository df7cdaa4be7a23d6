            #pragma acc parallel loop gang collapse(2) num_gangs(64) num_workers(8) \
                vector_length(32) copyin(a[0:n][0:n]) copy(c[0:n][0:n])
            for (long i_t = 0; i_t < n; i_t += 8)
                for (long j_t = 0; j_t < n; j_t += 32) {
                    #pragma acc cache(a[i_t:8][0:128])
                    #pragma acc loop worker
                    for (long i = i_t; i < i_t + 8; i++) {
                        #pragma acc loop vector
                        for (long j = j_t; j < j_t + 32; j++) {
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
                }
        }
