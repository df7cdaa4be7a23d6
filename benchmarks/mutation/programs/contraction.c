/* A contraction whose output keeps what it held before. */
void contraction(int ni, int nj, int nk, int nl, double *restrict t, const double *restrict a,
                 const double *restrict b)
{
    int i, j, k, l;
    /*@ begin PerfTuning (
      def input_params { param ni = 16; param nj = 6; param nk = 16; param nl = 5; }
    ) @*/
    for (i = 0; i < ni; i++)
        for (j = 0; j < nj; j++)
            for (k = 0; k < nk; k++)
                for (l = 0; l < nl; l++)
                    t[(i * nj + j) * nk + k] += a[(j * nl + l) * nk + k] * b[i * nl + l];
    /*@ end @*/
}
