#pragma omp declare target
static double annotune_total_1_twice(double x)
{
    return 2.0 * x;
}
#pragma omp end declare target
{
    if (0 < n && 0 < m) {
        #pragma omp target data map(to: a[0:m * n]) map(tofrom: rows[0:n])
        {
            /* S0 of the region at line 6: j -> threads and lanes */
            {
                double sum_sum = -0.0;
                #pragma omp target teams distribute parallel for simd reduction(+:sum_sum) \
                    num_teams(1) thread_limit(64) map(alloc: a[0:m * n]) map(tofrom: sum_sum)
                for (int j = 0; j < m; j++) {
                    for (int i = 0; i < n; i++) {
                        sum_sum += (double)(annotune_total_1_twice(a[i * m + j]));
                    }
                }
                int sum_again = sum_sum == 0.0 && sum == 0.0 && 1.0 / sum < 0.0;
                if (sum_again) {
                    #pragma omp target map(alloc: a[0:m * n]) map(tofrom: sum)
                    {
                        for (int j = 0; j < m; j++) {
                            for (int i = 0; i < n; i++) {
                                sum += (double)(annotune_total_1_twice(a[i * m + j]));
                            }
                        }
                    }
                }
                if (sum_again == 0) {
                    sum += sum_sum;
                }
            }
            /* S1 of the region at line 6: i -> teams; j -> threads and lanes */
            #pragma omp target teams distribute num_teams(60) thread_limit(64) map(alloc: a[0:m * n], rows[0:n])
            for (int i = 0; i < n; i++) {
                double rows_sum = -0.0;
                #pragma omp parallel for simd reduction(+:rows_sum)
                for (int j = 0; j < m; j++) {
                    rows_sum += a[i * m + j];
                }
                int rows_again = rows_sum == 0.0 && rows[i] == 0.0 && 1.0 / rows[i] < 0.0;
                for (int j = 0; j < (rows_again ? m : 0); j++) {
                    rows[i] += a[i * m + j];
                }
                if (rows_again == 0) {
                    rows[i] += rows_sum;
                }
            }
        }
    }
    else {
        /* As written: for loops that do not run, and what the tests exclude. */
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m; j++) {
                sum += (double)(annotune_total_1_twice(a[i * m + j]));
            }
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m; j++) {
                rows[i] += a[i * m + j];
            }
        }
    }
}
