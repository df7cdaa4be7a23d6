/*@ begin PerfTuning ( import spec matmul_sizes; ) @*/
int i, j, k;

/*@ begin Loop (
transform UnrollJam(ufactor=Ui)
for (i = 0; i <= M-1; i++)
  transform UnrollJam(ufactor=Uj)
  for (j = 0; j <= N-1; j++)
    for (k = 0; k <= O-1; k++)
      C[i][j] = C[i][j] + A[i][k] * B[k][j];
) @*/
/*@ end @*/
/*@ end @*/
