            #pragma acc parallel loop gang collapse(2) num_gangs(2) num_workers(1) \
                vector_length(256) copyin(t[0:n][0:n][0:n], v[0:n][0:n][0:n]) \
                copy(T[0:n][0:n][0:n][0:n])
            for (long a_t = 0; a_t < n; a_t += 8)
                for (long b_t = 0; b_t < n; b_t += 4) {
                    #pragma acc loop vector collapse(3)
                    for (long b = b_t; b < b_t + 4; b++)
                        for (long c = 0; c < n; c++)
                            for (long d = 0; d < n; d++) {
                                double T_block[8];
                                #pragma GCC unroll 8
                                for (long a = a_t; a < a_t + 8; a++) {
                                    T_block[a - a_t] = T[a][b][c][d];
                                }
                                #pragma acc loop seq
                                for (long k = 0; k < n; k++) {
                                    #pragma GCC unroll 8
                                    for (long a = a_t; a < a_t + 8; a++) {
                                        T_block[a - a_t] -= t[b][a][k] * v[k][c][d];
                                    }
                                }
                                #pragma GCC unroll 8
                                for (long a = a_t; a < a_t + 8; a++) {
                                    T[a][b][c][d] = T_block[a - a_t];
                                }
                            }
                }
        }
