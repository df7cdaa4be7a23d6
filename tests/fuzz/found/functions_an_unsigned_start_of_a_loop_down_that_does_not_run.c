/* functions {"name": "q6540", "text": "", "harness": "", "entries": [{"function": "q6540_0", "slots": [{"name": "m", "kind": "value", "type": "unsigned"}, {"name": "ld", "kind": "value", "type": "int"}, {"name": "nx", "kind": "value", "type": "int"}, {"name": "tmp", "kind": "value", "type": "signed char"}, {"name": "x", "kind": "array", "type": "double"}, {"name": "u", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "double"}, {"name": "c", "kind": "array", "type": "int"}], "calls": [{"values": {"m": "16", "ld": "9", "nx": "8", "tmp": "2"}, "arrays": {"x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "0", "ld": "0", "nx": "0", "tmp": "3"}, "arrays": {"x": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "1", "ld": "1", "nx": "1", "tmp": "3"}, "arrays": {"x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "6", "ld": "13", "nx": "0", "tmp": "3"}, "arrays": {"x": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "11", "ld": "13", "nx": "13", "tmp": "-1"}, "arrays": {"x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "33", "ld": "33", "nx": "33", "tmp": "2"}, "arrays": {"x": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "5", "ld": "5", "nx": "-1", "tmp": "0"}, "arrays": {"x": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "16", "ld": "9", "nx": "8", "tmp": "-1"}, "arrays": {"x": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 6, "is_null": false, "same": "b", "offset": -2}, "b": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "3", "ld": "2", "nx": "2", "tmp": "3"}, "arrays": {"x": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {"q6540_util.h": ""}, "objects": [["q6540_g0", "int", 44]], "own": [], "features": ["macro", "macro changed in the function", "odd head", "temporary", "thread-local"], "sums": true, "discrete": true, "point": null, "fault": "cuda 1: u[0] is np.float64(-2.0), expected np.float64(8589934590.0)"} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include "q6540_util.h"
#ifndef Q
#define Q 2.0
#endif
__thread int q6540_g0[44];
void q6540_0(unsigned m, int ld, int nx, signed char tmp, double *restrict x, double u[8 + 2][8 + 2], const double *b, int *restrict c, double *out_)
{
  int s = 0;
  unsigned row = 77;
  long col = 77;
  unsigned k = 77;
  long jj = 77;
  #undef Q
  #define Q 5
  do {

    for (col = 0; col < ld; col += 1) {
      for (k = 0; k < nx; k++) {
        if (q6540_g0[k] == 0) {
          x[col*nx + k] = (x[(col + 2)*nx + k + 1] <= x[col*nx + k] ? x[(col + 2)*nx + k] : Q);
        } else {
          q6540_g0[k] = ((k + 7) * (s + tmp));
        }
        x[col*nx + k] -= q6540_g0[k];
      }
    }

  } while (0);
  s = (tmp * Q);
  /*@ begin PerfTuning ( def input_params { param m = 16; param ld = 9; param nx = 8; } ) @*/
  for (jj = 0; jj < 8; jj += 1) {
    u[jj][jj + 2] = Q;
    s = b[jj*(8 + 2) + jj];
    c[jj] = (s) / 2;
    {
      unsigned cnt_ = c[jj];
      for (col = m - 1; col > m - 1; col = col - 1) { cnt_ = cnt_ + 3; }
      u[jj][jj] += col * 2;
    }
  }
  /*@ end @*/
  out_[1] = s;
}
/* harness */
#undef Q
void q6540_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q6540_0(*(unsigned *)p[0], *(int *)p[1], *(int *)p[2], *(signed char *)p[3], p[4], p[5], p[6], p[7], (double *)p[8]);
    break;
  }
  }
}
long q6540_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(unsigned *)p[0];
    long ld = *(int *)p[1];
    long nx = *(int *)p[2];
    if (slot == 5) return (long)(8 + 2) * (long)(8 + 2);
  }
  return 0;
}
long q6540_row(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(unsigned *)p[0];
    long ld = *(int *)p[1];
    long nx = *(int *)p[2];
    if (slot == 5) return (long)(8 + 2);
  }
  return 1;
}
void *q6540_object(int k)
{
  switch (k) {
  case 0: return &q6540_g0;
  }
  return 0;
}
