/* Fields on elements from the points of one rule to those of another: V = (B x B x B) U on every
 * element, as a spectral element code dealiases, filters or refines, and as the nodes of a finite element give
 * values at its quadrature points (A. Abdelfattah et al., ICCS 2016, doi:10.1016/j.procs.2016.05.302, Eq. 7,
 * the right half). B[k][i] is the value of basis function i at point k; d functions and q points a side.
 * One direction after the other, O(n^4) instead of O(n^6).
 */
void interpolate(int elements, int d, int q, double V[restrict elements][q][q][q], const double B[restrict q][d],
                 const double U[restrict elements][d][d][d])
{
    double R[d][d][q], S[d][q][q];

    /*@ begin PerfTuning (
      def input_params { param elements = 20000; param d = 8; param q = 8; }
    ) @*/
    for (int e = 0; e < elements; e++) {
        for (int i1 = 0; i1 < d; i1++)
            for (int i2 = 0; i2 < d; i2++)
                for (int k3 = 0; k3 < q; k3++) {
                    double sum = 0.0;
                    for (int i3 = 0; i3 < d; i3++)
                        sum += B[k3][i3] * U[e][i1][i2][i3];
                    R[i1][i2][k3] = sum;
                }

        for (int i1 = 0; i1 < d; i1++)
            for (int k2 = 0; k2 < q; k2++)
                for (int k3 = 0; k3 < q; k3++) {
                    double sum = 0.0;
                    for (int i2 = 0; i2 < d; i2++)
                        sum += B[k2][i2] * R[i1][i2][k3];
                    S[i1][k2][k3] = sum;
                }

        for (int k1 = 0; k1 < q; k1++)
            for (int k2 = 0; k2 < q; k2++)
                for (int k3 = 0; k3 < q; k3++) {
                    double sum = 0.0;
                    for (int i1 = 0; i1 < d; i1++)
                        sum += B[k1][i1] * S[i1][k2][k3];
                    V[e][k1][k2][k3] = sum;
                }
    }
    /*@ end @*/
}
