/* The mass matrix of every finite element, after A. Abdelfattah et al., "High-Performance Tensor
 * Contractions for GPUs", ICCS 2016, doi:10.1016/j.procs.2016.05.302, equations 4 and 5.
 *
 * An element has d dofs and q quadrature points along each of its directions; B[k][i] is basis function i
 * at point k, D what the points of an element weigh. The basis is a product of functions of one direction,
 * so the points are summed one direction at a time: in 3-D q n^6 + ... terms, not q^3 n^6. Order p has
 * d = p + 1; the paper has p = 2 to 8.
 */

/* M[i1,i2,j1,j2] = sum over k1, k2 of B[k1,i1] B[k1,j1] B[k2,i2] B[k2,j2] D[k1,k2] */
void assembly_2d(int elements, int d, int q, double M[restrict elements][d][d][d][d],
                 const double B[restrict q][d], const double D[restrict elements][q][q])
{
    double T[d][d][q]; /* the sum over k1 */

    /*@ begin PerfTuning (
      def input_params { param elements = 10000; param d = 5; param q = 6; }
    ) @*/
    for (int e = 0; e < elements; e++) {
        for (int i1 = 0; i1 < d; i1++)
            for (int j1 = 0; j1 < d; j1++)
                for (int k2 = 0; k2 < q; k2++) {
                    double sum = 0.0;
                    for (int k1 = 0; k1 < q; k1++)
                        sum += B[k1][i1] * B[k1][j1] * D[e][k1][k2];
                    T[i1][j1][k2] = sum;
                }

        for (int i1 = 0; i1 < d; i1++)
            for (int i2 = 0; i2 < d; i2++)
                for (int j1 = 0; j1 < d; j1++)
                    for (int j2 = 0; j2 < d; j2++) {
                        double sum = 0.0;
                        for (int k2 = 0; k2 < q; k2++)
                            sum += B[k2][i2] * B[k2][j2] * T[i1][j1][k2];
                        M[e][i1][i2][j1][j2] = sum;
                    }
    }
    /*@ end @*/
}

/* M[i1,i2,i3,j1,j2,j3] = sum over k1, k2, k3 of
 *     B[k1,i1] B[k1,j1] B[k2,i2] B[k2,j2] B[k3,i3] B[k3,j3] D[k1,k2,k3] */
void assembly_3d(int elements, int d, int q, double M[restrict elements][d][d][d][d][d][d],
                 const double B[restrict q][d], const double D[restrict elements][q][q][q])
{
    double T[d][d][q][q];    /* the sum over k1 */
    double U[d][d][d][d][q]; /* the sum over k1 and k2 */

    /*@ begin PerfTuning (
      def input_params { param elements = 1000; param d = 4; param q = 5; }
    ) @*/
    for (int e = 0; e < elements; e++) {
        for (int i1 = 0; i1 < d; i1++)
            for (int j1 = 0; j1 < d; j1++)
                for (int k2 = 0; k2 < q; k2++)
                    for (int k3 = 0; k3 < q; k3++) {
                        double sum = 0.0;
                        for (int k1 = 0; k1 < q; k1++)
                            sum += B[k1][i1] * B[k1][j1] * D[e][k1][k2][k3];
                        T[i1][j1][k2][k3] = sum;
                    }

        for (int i1 = 0; i1 < d; i1++)
            for (int i2 = 0; i2 < d; i2++)
                for (int j1 = 0; j1 < d; j1++)
                    for (int j2 = 0; j2 < d; j2++)
                        for (int k3 = 0; k3 < q; k3++) {
                            double sum = 0.0;
                            for (int k2 = 0; k2 < q; k2++)
                                sum += B[k2][i2] * B[k2][j2] * T[i1][j1][k2][k3];
                            U[i1][i2][j1][j2][k3] = sum;
                        }

        for (int i1 = 0; i1 < d; i1++)
            for (int i2 = 0; i2 < d; i2++)
                for (int i3 = 0; i3 < d; i3++)
                    for (int j1 = 0; j1 < d; j1++)
                        for (int j2 = 0; j2 < d; j2++)
                            for (int j3 = 0; j3 < d; j3++) {
                                double sum = 0.0;
                                for (int k3 = 0; k3 < q; k3++)
                                    sum += B[k3][i3] * B[k3][j3] * U[i1][i2][j1][j2][k3];
                                M[e][i1][i2][i3][j1][j2][j3] = sum;
                            }
    }
    /*@ end @*/
}
