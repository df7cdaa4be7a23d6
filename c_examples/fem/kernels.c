/* The three kernels to which mass_assembly.c and mass_action.c reduce once indices that stay together are
 * joined: A. Abdelfattah et al., "High-Performance Tensor Contractions for GPUs", ICCS 2016,
 * doi:10.1016/j.procs.2016.05.302, section 5.
 *
 * In the first two B is what the elements hold and C the small matrix that they share: i joins the element
 * and the directions in front of the one that is summed, j is those behind it, and l is alone (1). In the
 * third the two have changed their names: k is the element, and what is in front; l is what is behind.
 */

/* A[i,j,k,l] = sum over s of B[i,s,j] C[k,s,l]: the new direction comes last */
void contract_to_the_end(int ni, int nj, int nk, int nl, int ns, double A[restrict ni][nj][nk][nl],
                         const double B[restrict ni][ns][nj], const double C[restrict nk][ns][nl])
{
    /*@ begin PerfTuning (
      def input_params { param ni = 50000; param nj = 5; param nk = 6; param nl = 1; param ns = 5; }
    ) @*/
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            for (int k = 0; k < nk; k++)
                for (int l = 0; l < nl; l++) {
                    double sum = 0.0;
                    for (int s = 0; s < ns; s++)
                        sum += B[i][s][j] * C[k][s][l];
                    A[i][j][k][l] = sum;
                }
    /*@ end @*/
}

/* A[i,k,l,j] = sum over s of B[i,s,j] C[k,s,l]: the new direction takes the place of the old one */
void contract_in_place(int ni, int nj, int nk, int nl, int ns, double A[restrict ni][nk][nl][nj],
                       const double B[restrict ni][ns][nj], const double C[restrict nk][ns][nl])
{
    /*@ begin PerfTuning (
      def input_params { param ni = 50000; param nj = 5; param nk = 6; param nl = 1; param ns = 5; }
    ) @*/
    for (int i = 0; i < ni; i++)
        for (int k = 0; k < nk; k++)
            for (int l = 0; l < nl; l++)
                for (int j = 0; j < nj; j++) {
                    double sum = 0.0;
                    for (int s = 0; s < ns; s++)
                        sum += B[i][s][j] * C[k][s][l];
                    A[i][k][l][j] = sum;
                }
    /*@ end @*/
}

/* A[k,i,l,j] = sum over s of B[s,i] B[s,j] C[k,s,l]: a step of the assembly */
void contract_twice(int ni, int nk, int nl, int ns, double A[restrict nk][ni][nl][ni],
                    const double B[restrict ns][ni], const double C[restrict nk][ns][nl])
{
    /*@ begin PerfTuning (
      def input_params { param ni = 5; param nk = 10000; param nl = 6; param ns = 6; }
    ) @*/
    for (int k = 0; k < nk; k++)
        for (int i = 0; i < ni; i++)
            for (int l = 0; l < nl; l++)
                for (int j = 0; j < ni; j++) {
                    double sum = 0.0;
                    for (int s = 0; s < ns; s++)
                        sum += B[s][i] * B[s][j] * C[k][s][l];
                    A[k][i][l][j] = sum;
                }
    /*@ end @*/
}
