/* point 718 first */
/* fuzz f: n=3 m=2 */
/* room W1: (n + 1) */
#define n 3
#define m 2
void f(double A[n + 2], double *W1)
{
  /*@ begin PerfTuning () @*/
  for (int x = 1; x < m; x++) {
    for (int j = x + 1; j < n; j++) {
      W1[j - 2] = A[x + 1] + x;
    }
    for (int j = x + 1; j < n; j++) {
      A[n - j] = W1[j - 2] + A[1];
    }
  }
  for (int i = 1; i <= n; i++) {
    for (int j = 1; j < m; j += 2) {
      if (i > (i + 1)) {
        A[j + 3] += A[i - 1];
      } else {
        A[j + 1] += A[n - j];
      }
    }
    A[i] += i * i;
  }
  /*@ end @*/
}
#undef n
#undef m
