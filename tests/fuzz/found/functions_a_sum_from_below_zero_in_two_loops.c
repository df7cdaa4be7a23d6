/* functions {"name": "q16397", "text": "", "harness": "", "entries": [{"function": "q16397_0", "slots": [{"name": "jn", "kind": "value", "type": "int"}, {"name": "i_end", "kind": "value", "type": "unsigned short"}, {"name": "d_b", "kind": "value", "type": "signed char"}, {"name": "v", "kind": "array", "type": "float complex"}, {"name": "a_tile", "kind": "array", "type": "float complex"}, {"name": "c", "kind": "array", "type": "float complex"}, {"name": "threadIdx", "kind": "array", "type": "double"}], "calls": [{"values": {"jn": "16", "i_end": "5", "d_b": "16"}, "arrays": {"v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "threadIdx": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"jn": "0", "i_end": "0", "d_b": "0"}, "arrays": {"v": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "threadIdx": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"jn": "1", "i_end": "1", "d_b": "1"}, "arrays": {"v": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "threadIdx": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"jn": "1", "i_end": "5", "d_b": "3"}, "arrays": {"v": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "threadIdx": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"jn": "6", "i_end": "11", "d_b": "13"}, "arrays": {"v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "threadIdx": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"jn": "16", "i_end": "37", "d_b": "17"}, "arrays": {"v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "threadIdx": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"jn": "16", "i_end": "5", "d_b": "-3"}, "arrays": {"v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "threadIdx": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"jn": "16", "i_end": "5", "d_b": "16"}, "arrays": {"v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "threadIdx": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"jn": "2", "i_end": "3", "d_b": "3"}, "arrays": {"v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "threadIdx": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": [], "features": ["call", "macro with a library's name", "reduction", "static local"], "sums": true, "discrete": false, "point": 16397, "fault": "cuda 0: c[23] is np.complex64(-4788-684j), expected np.complex64(-2.5825442e+20-3.689349e+19j)"} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#undef sqrt
#define sqrt(x) ((x) + 1)
void q16397_0(int jn, unsigned short i_end, signed char d_b, float complex *restrict v, float complex a_tile[d_b + 2], float complex (*restrict c)[8 + 2], double *restrict threadIdx, double *out_)
{
  static unsigned host = 0;
  unsigned long t_0 = 0;
  unsigned t = 0;
  /*@ begin PerfTuning ( def input_params { param jn = 16; param i_end = 5; param d_b = 16; } ) @*/
  for (int col = 0; col < d_b/2; col++) {
    {
      short t1_ = ((t * t) + t);
      v[col*d_b*d_b + col*d_b + col] -= (a_tile[col] - t_0);
      a_tile[col] = (a_tile[col] - v[col*d_b*d_b + col*d_b + col/2]);
    }
  }
  t_0 = (t - host);
  for (unsigned t_part = 0; t_part < 8; t_part++) {
    for (int col = 0; col < 8; ++col) {
      c[t_part][col] *= c[t_part][t_part];
      t_0 += host;
      c[t_part][col] *= t_0;
    }
    threadIdx[t_part] = -(sqrt(0.25f));
  }
  /*@ end @*/
  out_[1] = host;
  out_[2] = t_0;
  out_[3] = t;
  host = host + 1;
}
/* harness */
#undef sqrt
void q16397_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q16397_0(*(int *)p[0], *(unsigned short *)p[1], *(signed char *)p[2], p[3], p[4], p[5], p[6], (double *)p[7]);
    break;
  }
  }
}
long q16397_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long jn = *(int *)p[0];
    long i_end = *(unsigned short *)p[1];
    long d_b = *(signed char *)p[2];
    if (slot == 4) return (long)(d_b + 2);
  }
  return 0;
}
long q16397_row(int function, int slot, void **p)
{
  if (function == 0) {
    long jn = *(int *)p[0];
    long i_end = *(unsigned short *)p[1];
    long d_b = *(signed char *)p[2];
    if (slot == 5) return (long)(8 + 2);
  }
  return 1;
}
void *q16397_object(int k)
{
  switch (k) {
  }
  return 0;
}
