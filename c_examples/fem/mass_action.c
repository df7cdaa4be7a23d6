/* The mass matrix of every finite element applied to a vector, without the matrix: A. Abdelfattah et al.,
 * "High-Performance Tensor Contractions for GPUs", ICCS 2016, doi:10.1016/j.procs.2016.05.302, equations 6
 * and 7.
 *
 * An element has d dofs and q quadrature points along each of its directions; B[k][i] is basis function i
 * at point k, D what the points of an element weigh. V is brought to the points, one direction at a
 * time, weighed, and brought back: sum factorisation, d^3 q + ... terms in 3-D, not d^6 q^3. Order p has
 * d = p + 1; the paper has p = 2 to 8.
 */

/* U[i1,i2] = sum over k1, k2, j1, j2 of B[k1,i1] B[k2,i2] D[k1,k2] B[k1,j1] B[k2,j2] V[j1,j2] */
void action_2d(int elements, int d, int q, double U[restrict elements][d][d], const double B[restrict q][d],
               const double D[restrict elements][q][q], const double V[restrict elements][d][d])
{
    double S[d][q], P[q][q], T[q][d];

    /*@ begin PerfTuning (
      def input_params { param elements = 100000; param d = 5; param q = 6; }
    ) @*/
    for (int e = 0; e < elements; e++) {
        for (int j1 = 0; j1 < d; j1++)
            for (int k2 = 0; k2 < q; k2++) {
                double sum = 0.0;
                for (int j2 = 0; j2 < d; j2++)
                    sum += B[k2][j2] * V[e][j1][j2];
                S[j1][k2] = sum;
            }

        for (int k1 = 0; k1 < q; k1++)
            for (int k2 = 0; k2 < q; k2++) {
                double sum = 0.0;
                for (int j1 = 0; j1 < d; j1++)
                    sum += B[k1][j1] * S[j1][k2];
                P[k1][k2] = D[e][k1][k2] * sum; /* at the points, weighed */
            }

        for (int k1 = 0; k1 < q; k1++)
            for (int i2 = 0; i2 < d; i2++) {
                double sum = 0.0;
                for (int k2 = 0; k2 < q; k2++)
                    sum += B[k2][i2] * P[k1][k2];
                T[k1][i2] = sum;
            }

        for (int i1 = 0; i1 < d; i1++)
            for (int i2 = 0; i2 < d; i2++) {
                double sum = 0.0;
                for (int k1 = 0; k1 < q; k1++)
                    sum += B[k1][i1] * T[k1][i2];
                U[e][i1][i2] = sum;
            }
    }
    /*@ end @*/
}

/* U[i1,i2,i3] = sum over k1, k2, k3, j1, j2, j3 of
 *     B[k1,i1] B[k2,i2] B[k3,i3] D[k1,k2,k3] B[k1,j1] B[k2,j2] B[k3,j3] V[j1,j2,j3] */
void action_3d(int elements, int d, int q, double U[restrict elements][d][d][d], const double B[restrict q][d],
               const double D[restrict elements][q][q][q], const double V[restrict elements][d][d][d])
{
    double R[d][d][q], S[d][q][q], P[q][q][q], T[q][q][d], W[q][d][d];

    /*@ begin PerfTuning (
      def input_params { param elements = 10000; param d = 5; param q = 6; }
    ) @*/
    for (int e = 0; e < elements; e++) {
        for (int j1 = 0; j1 < d; j1++)
            for (int j2 = 0; j2 < d; j2++)
                for (int k3 = 0; k3 < q; k3++) {
                    double sum = 0.0;
                    for (int j3 = 0; j3 < d; j3++)
                        sum += B[k3][j3] * V[e][j1][j2][j3];
                    R[j1][j2][k3] = sum;
                }

        for (int j1 = 0; j1 < d; j1++)
            for (int k2 = 0; k2 < q; k2++)
                for (int k3 = 0; k3 < q; k3++) {
                    double sum = 0.0;
                    for (int j2 = 0; j2 < d; j2++)
                        sum += B[k2][j2] * R[j1][j2][k3];
                    S[j1][k2][k3] = sum;
                }

        for (int k1 = 0; k1 < q; k1++)
            for (int k2 = 0; k2 < q; k2++)
                for (int k3 = 0; k3 < q; k3++) {
                    double sum = 0.0;
                    for (int j1 = 0; j1 < d; j1++)
                        sum += B[k1][j1] * S[j1][k2][k3];
                    P[k1][k2][k3] = D[e][k1][k2][k3] * sum; /* at the points, weighed */
                }

        for (int k1 = 0; k1 < q; k1++)
            for (int k2 = 0; k2 < q; k2++)
                for (int i3 = 0; i3 < d; i3++) {
                    double sum = 0.0;
                    for (int k3 = 0; k3 < q; k3++)
                        sum += B[k3][i3] * P[k1][k2][k3];
                    T[k1][k2][i3] = sum;
                }

        for (int k1 = 0; k1 < q; k1++)
            for (int i2 = 0; i2 < d; i2++)
                for (int i3 = 0; i3 < d; i3++) {
                    double sum = 0.0;
                    for (int k2 = 0; k2 < q; k2++)
                        sum += B[k2][i2] * T[k1][k2][i3];
                    W[k1][i2][i3] = sum;
                }

        for (int i1 = 0; i1 < d; i1++)
            for (int i2 = 0; i2 < d; i2++)
                for (int i3 = 0; i3 < d; i3++) {
                    double sum = 0.0;
                    for (int k1 = 0; k1 < q; k1++)
                        sum += B[k1][i1] * W[k1][i2][i3];
                    U[e][i1][i2][i3] = sum;
                }
    }
    /*@ end @*/
}
