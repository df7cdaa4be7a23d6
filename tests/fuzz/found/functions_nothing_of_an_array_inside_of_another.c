/* functions {"name": "q4987", "text": "", "harness": "", "entries": [{"function": "q4987_0", "slots": [{"name": "m", "kind": "value", "type": "long long"}, {"name": "t", "kind": "value", "type": "int"}, {"name": "r", "kind": "array", "type": "long long"}, {"name": "u", "kind": "array", "type": "long long"}, {"name": "w", "kind": "array", "type": "long"}, {"name": "v", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "long long"}, {"name": "x", "kind": "array", "type": "long"}], "calls": [{"values": {"m": "8", "t": "0"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "0", "t": "2"}, "arrays": {"r": {"style": "zeros", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "x": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "1", "t": "-1"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "13", "t": "1"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "0", "t": "0"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "33", "t": "1"}, "arrays": {"r": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "x": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "-1", "t": "2147483646"}, "arrays": {"r": {"style": "extreme", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "x": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "8", "t": "0"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "3", "t": "2"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 2, "is_null": false, "same": "r", "offset": -2}, "x": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": ["fmin"], "features": ["call", "function with a library's name", "macro with a generated name", "reduction"], "sums": true, "discrete": true, "point": null, "fault": "openacc-played 8: died of -6: OpenACC at line 634: 'b' is present in part only: 72 bytes are wanted, and bytes 16 to 16 of them are there for 'r'"} */
#include <stddef.h>
#include <complex.h>
static double fmin(double x, double y) { return x + y; }
#define s_sum (((
#define a_tile [
void q4987_0(long long m, int t, long long *r, long long u[8], const long *restrict w, double v[3 + 1][m + 2], long long b[3][m], long *restrict x, double *out_)
{
  int s = 3;
  {

    if (t != 2) {
      for (int row = 1; row <= m; row++) {
        s -= t;
        for (int k = 0; k < 8; k++) {
          r[row*8 + k] *= t;
          if (row >= row) {
            r[row*8 + k/2] = (t - u[k]);
          } else {
            r[row*8 + k] = fmin((r[row*8 + k] * u[k]), -(u[k]));
          }
        }
      }
    }

  }
  s = (u[4] - u[3]);
  if (m > 900) out_[0] = 5;
  else {
    /*@ begin PerfTuning ( def input_params { param m = 8; } ) @*/
    if (u[1] > 0) {
      for (int row = 0; row < 3; row++) {
        s += (u[5] * w[row + 3]);
        for (int e = 1; e <= m; e += 1) {
          r[e*8 + 1] -= row;
          if (u[4] <= t) {
            v[row][e] *= ((w[row] - t) * (w[row - 1] * r[e*8 + 5]));
          } else {
            b[row][e - 1] -= ((int)(r[e*8 + 7])) / 2;
          }
        }
        if (row == 3/2) {
          x[row] = ((t * t) * (row > row ? w[row] : t));
        } else {
          x[row] -= (w[row] + x[row]);
        }
      }
    }
    /*@ end @*/
  }
  out_[1] = t;
  out_[2] = s;
}
/* harness */
#undef s_sum
#undef a_tile
void q4987_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q4987_0(*(long long *)p[0], *(int *)p[1], p[2], p[3], p[4], p[5], p[6], p[7], (double *)p[8]);
    break;
  }
  }
}
long q4987_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(long long *)p[0];
    if (slot == 3) return (long)(8);
    if (slot == 5) return (long)(3 + 1) * (long)(m + 2);
    if (slot == 6) return (long)(3) * (long)(m);
  }
  return 0;
}
long q4987_row(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(long long *)p[0];
    if (slot == 5) return (long)(m + 2);
    if (slot == 6) return (long)(m);
  }
  return 1;
}
void *q4987_object(int k)
{
  switch (k) {
  }
  return 0;
}
