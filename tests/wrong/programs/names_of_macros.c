/* Macros with the names that reading the region and taking its loops apart would give. */
#define annotune_if_1 (((
#define annotune_i 8
#define i_own (
#define s_own [
#define s_sum 9 9
void f(int n, double *restrict a, double *restrict b)
{
  int i; double s;
  /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
  for (int j = 0; j < n; j++) {
  i = 0;
  s = 0;
  for (i = 0; i < n; i++) {
    if (a[j*n+i] > 0) { a[j*n+i] = -a[j*n+i]; a[j*n+i] -= 2; }
    s += a[j*n+i];
  }
  b[j] += s;
  }
  /*@ end @*/
}
