/* Factorisations: a serial outer loop, right-hand loops that are parallel inside it. */
#include <math.h>

void lu(int n, double A[n][n])
{
    int i, j, k;
    /*@ begin PerfTuning (def input_params { param n = 9; }) @*/
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            for (k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        for (j = i; j < n; j++)
            for (k = 0; k < i; k++)
                A[i][j] -= A[i][k] * A[k][j];
    }
    /*@ end @*/
}

void lu_right_looking(int n, double A[n][n])
{
    int i, j, k;
    /*@ begin PerfTuning (def input_params { param n = 9; }) @*/
    for (k = 0; k < n; k++) {
        for (j = k + 1; j < n; j++)
            A[k][j] = A[k][j] / A[k][k];
        for (i = k + 1; i < n; i++)
            for (j = k + 1; j < n; j++)
                A[i][j] = A[i][j] - A[i][k] * A[k][j];
    }
    /*@ end @*/
}

void cholesky(int n, double A[n][n])
{
    int i, j, k;
    /*@ begin PerfTuning (def input_params { param n = 8; }) @*/
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            for (k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (k = 0; k < i; k++)
            A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = sqrt(fabs(A[i][i]) + 1.0);
    }
    /*@ end @*/
}
