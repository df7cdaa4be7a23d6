/* functions {"name": "q26", "text": "", "harness": "", "entries": [{"function": "q26_0", "slots": [{"name": "n", "kind": "value", "type": "size_t"}, {"name": "m", "kind": "value", "type": "long"}, {"name": "nx", "kind": "value", "type": "int"}, {"name": "u", "kind": "array", "type": "float complex"}, {"name": "w", "kind": "array", "type": "double"}, {"name": "v", "kind": "array", "type": "float complex"}, {"name": "x", "kind": "array", "type": "float complex"}, {"name": "c", "kind": "array", "type": "float complex"}, {"name": "r", "kind": "array", "type": "float complex"}], "calls": [{"values": {"n": "0", "m": "0", "nx": "0"}, "arrays": {"u": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "x": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "r": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [["q26_g0", "unsigned char", 1]], "own": [], "features": ["MAX", "call", "macro with a generated name", "reduction", "sum"], "sums": true, "discrete": false, "point": 26, "fault": "cuda 1: died of -11:"} */
#include <stddef.h>
#include <complex.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static unsigned char q26_g0;
void q26_0(size_t n, long m, int nx, float complex *u, double w[n + 1][m + 2], float complex v[n + 1][m], float complex *restrict x, const float complex c[m + 1], float complex *restrict r, double *out_)
{
  /*@ begin PerfTuning ( def input_params { param n = 5; param m = 16; param nx = 7; } ) @*/
  for (unsigned ii = MAX(0, n - 4); ii < n; ii = ii + 1) {
    u[ii] = q26_g0;
  }
  /*@ end @*/
}
/* harness */
#undef MAX
#undef MIN
#undef limit
#undef annotune_k
void q26_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q26_0(*(size_t *)p[0], *(long *)p[1], *(int *)p[2], p[3], p[4], p[5], p[6], p[7], p[8], (double *)p[9]);
    break;
  }
  }
}
long q26_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(size_t *)p[0];
    long m = *(long *)p[1];
    long nx = *(int *)p[2];
    if (slot == 4) return (long)(n + 1) * (long)(m + 2);
    if (slot == 5) return (long)(n + 1) * (long)(m);
    if (slot == 7) return (long)(m + 1);
  }
  return 0;
}
long q26_row(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(size_t *)p[0];
    long m = *(long *)p[1];
    long nx = *(int *)p[2];
  }
  return 1;
}
void *q26_object(int k)
{
  switch (k) {
  case 0: return &q26_g0;
  }
  return 0;
}
