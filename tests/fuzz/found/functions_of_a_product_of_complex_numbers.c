/* functions {"name": "q3047", "text": "", "harness": "", "entries": [{"function": "q3047_0", "slots": [{"name": "l", "kind": "value", "type": "int"}, {"name": "m", "kind": "value", "type": "int"}, {"name": "sum", "kind": "value", "type": "unsigned char"}, {"name": "fac", "kind": "value", "type": "double complex"}, {"name": "a", "kind": "array", "type": "double complex"}, {"name": "v", "kind": "array", "type": "double complex"}, {"name": "w", "kind": "array", "type": "double"}, {"name": "u", "kind": "array", "type": "double"}], "calls": [{"values": {"l": "9", "m": "7", "sum": "3", "fac": "-5.0"}, "arrays": {"a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": [], "features": ["pointer into an array", "size by reference", "triangular"], "sums": true, "discrete": false, "point": 3047, "fault": "cuda 0: v[52] is np.complex128(0j), expected np.complex128(-0j) (zero's sign)"} */
#include <complex.h>
void q3047_0(int *l, int *m, unsigned char sum, double complex fac, double complex *restrict a, double complex *restrict v, double *restrict w, const double *restrict u, double *out_)
{
  int p = 0;
  long i = 77;
  long jj = 77;
  int ii = 77;
  /*@ begin PerfTuning ( def input_params { param l = 9; param m = 7; } ) @*/
  for (i = 0; i < ((*l) < 9 ? (*l) : 9); i++) {
      for (jj = 0; jj < ii; jj++)
        v[i*((*l) + 2) + ii] *= (-0.0 - (p + u[((*l) - 1 - ii)*((*l))*((*l)) + ii*((*l)) + jj]));
  }
  /*@ end @*/
}
/* harness */
void q3047_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q3047_0((int *)p[0], (int *)p[1], *(unsigned char *)p[2], *(double complex *)p[3], p[4], p[5], p[6], p[7], (double *)p[8]);
    break;
  }
  }
}
long q3047_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(int *)p[0];
    long m = *(int *)p[1];
  }
  return 0;
}
long q3047_row(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(int *)p[0];
    long m = *(int *)p[1];
  }
  return 1;
}
void *q3047_object(int k)
{
  switch (k) {
  }
  return 0;
}
