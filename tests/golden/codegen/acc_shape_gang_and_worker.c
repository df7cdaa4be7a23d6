            #pragma acc parallel loop gang num_gangs(8) num_workers(4) vector_length(64) \
                copyin(t[0:n][0:n][0:n], v[0:n][0:n][0:n]) copy(T[0:n][0:n][0:n][0:n])
            for (long a = 0; a < n; a++) {
                #pragma acc loop worker
                for (long c = 0; c < n; c++) {
                    #pragma acc loop vector collapse(2)
                    for (long b = 0; b < n; b++)
                        for (long d = 0; d < n; d++) {
                            double T_acc = T[a][b][c][d];
                            T_acc += -(t[b][a][0] * v[0][c][d])
                                - t[b][a][1] * v[1][c][d]
                                - t[b][a][2] * v[2][c][d]
                                - t[b][a][3] * v[3][c][d]
                                - t[b][a][4] * v[4][c][d]
                                - t[b][a][5] * v[5][c][d]
                                - t[b][a][6] * v[6][c][d]
                                - t[b][a][7] * v[7][c][d];
                            T[a][b][c][d] = T_acc;
                        }
                }
            }
        }
