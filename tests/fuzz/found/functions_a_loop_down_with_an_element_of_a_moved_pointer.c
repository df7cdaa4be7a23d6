/* functions {"name": "q467", "text": "", "harness": "", "entries": [{"function": "q467_0", "slots": [{"name": "ny", "kind": "value", "type": "int"}, {"name": "be", "kind": "value", "type": "double"}, {"name": "y", "kind": "array", "type": "double"}, {"name": "w", "kind": "array", "type": "float"}, {"name": "r", "kind": "array", "type": "float"}], "calls": [{"values": {"ny": "8", "be": "3.0"}, "arrays": {"y": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "0", "be": "0.0"}, "arrays": {"y": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "1", "be": "2.0"}, "arrays": {"y": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "r": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "13", "be": "-1.0"}, "arrays": {"y": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "r": {"style": "nan", "salt": 3, "is_null": false, "same": "w", "offset": 0}}}, {"values": {"ny": "0", "be": "3.0"}, "arrays": {"y": {"style": "extreme", "salt": 2, "is_null": false, "same": "", "offset": 0}, "w": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "r": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "37", "be": "0.5"}, "arrays": {"y": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "-3", "be": "-5.0"}, "arrays": {"y": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "r", "offset": 3}, "r": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "8", "be": "-5.0"}, "arrays": {"y": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "3", "be": "-1.0"}, "arrays": {"y": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}]}, {"function": "q467_1", "slots": [{"name": "ld", "kind": "value", "type": "int"}, {"name": "nx", "kind": "value", "type": "signed char"}, {"name": "c_block", "kind": "value", "type": "int"}, {"name": "dim3", "kind": "value", "type": "double"}, {"name": "z", "kind": "value", "type": "double"}, {"name": "c", "kind": "array", "type": "double"}, {"name": "a", "kind": "array", "type": "double"}, {"name": "d", "kind": "array", "type": "double"}, {"name": "w", "kind": "array", "type": "unsigned long"}, {"name": "y", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "unsigned char"}], "calls": [{"values": {"ld": "9", "nx": "12", "c_block": "5", "dim3": "2.0", "z": "3.0"}, "arrays": {"c": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 9, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 10, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "0", "nx": "0", "c_block": "0", "dim3": "0.5", "z": "0.5"}, "arrays": {"c": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}, "w": {"style": "extreme", "salt": 8, "is_null": false, "same": "", "offset": 0}, "y": {"style": "extreme", "salt": 9, "is_null": false, "same": "", "offset": 0}, "b": {"style": "extreme", "salt": 10, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "1", "nx": "1", "c_block": "1", "dim3": "1.0", "z": "-5.0"}, "arrays": {"c": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}, "w": {"style": "zeros", "salt": 8, "is_null": false, "same": "", "offset": 0}, "y": {"style": "zeros", "salt": 9, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 10, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "11", "nx": "11", "c_block": "5", "dim3": "-5.0", "z": "3.0"}, "arrays": {"c": {"style": "small", "salt": 6, "is_null": false, "same": "a", "offset": 0}, "a": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 9, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 10, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "9", "nx": "4", "c_block": "5", "dim3": "2.0", "z": "0.0"}, "arrays": {"c": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 9, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 10, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "10", "nx": "33", "c_block": "37", "dim3": "1.0", "z": "3.0"}, "arrays": {"c": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}, "w": {"style": "zeros", "salt": 8, "is_null": false, "same": "", "offset": 0}, "y": {"style": "zeros", "salt": 9, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 10, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "-1", "nx": "-3", "c_block": "-3", "dim3": "2.0", "z": "0.0"}, "arrays": {"c": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}, "w": {"style": "zeros", "salt": 8, "is_null": false, "same": "", "offset": 0}, "y": {"style": "zeros", "salt": 9, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 10, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "9", "nx": "12", "c_block": "5", "dim3": "-1.0", "z": "-5.0"}, "arrays": {"c": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "zeros", "salt": 5, "is_null": false, "same": "c", "offset": 0}, "w": {"style": "zeros", "salt": 8, "is_null": false, "same": "", "offset": 0}, "y": {"style": "zeros", "salt": 9, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 10, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "3", "nx": "2", "c_block": "3", "dim3": "3.0", "z": "-1.0"}, "arrays": {"c": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 9, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 10, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [["q467_g0", "double", 44]], "own": [], "features": ["MAX", "array of an iteration", "maximum", "odd head", "pointer arithmetic", "reduction", "sum", "thread-local", "triangular"], "sums": true, "discrete": true, "point": 467, "fault": "cuda 0: died of -11:"} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static __thread double q467_g0[44];
void q467_0(int ny, double be, double *y, float w[3], float *r, double *out_)
{
  register signed char z = -1;
  long ii = 77;
  int k = 77;
  long i = 77;
  /*@ begin PerfTuning ( def input_params { param ny = 8; } ) @*/
  for (k = 3 - 1; k > 0; k -= 2) {
    y[k] -= y[k];
    for (ii = 0; ii < 3 && ii < 6; ii++) {
      *(y + k - 1) = y[ii] > *(y + k - 1) ? y[ii] : *(y + k - 1);
    }
    y[k] *= ((w[(ptrdiff_t)k] + r[(3 - 1 - k)*3 + k]) - y[k]);
  }
  /*@ end @*/
  out_[1] = z;
  out_[2] = ii;
}
void q467_1(int ld, signed char nx, int c_block, double dim3, double z, double c[nx], double a[ld][ld + 1][ld], const double (*d)[8], unsigned long w[ld][8], double y[restrict nx][c_block + 2], const unsigned char b[restrict 8][nx + 2], double *out_)
{
  short s = 2;
  int ii = 77;
  int j = 77;
  int e = 77;
  /*@ begin PerfTuning ( def input_params { param ld = 9; param nx = 12; param c_block = 5; } ) @*/
  for (j = 0; j < nx; j += 1) {
    for (ii = j + 1; ii < nx; ii++) {
      c[ii] = c[ii];
    }
  }
  for (ii = 0; ii < ld; ++ii) {
    {
      double acc_ = 0;
      for (e = 0; e < nx; e++)
        acc_ += (z + a[(ptrdiff_t)ii][ii][ld - 1 - ii]);
      a[ii][ii][ii] += acc_;
    }
    for (j = 0; j < 8; j = j + 1) {
      if (j == 3) {
        a[ii][ii][ii] *= (-(dim3) + a[ii][ii][ii]);
      }
      {
        size_t cnt_ = w[ii][j];
        for (e = MAX(0, nx); e > (nx % 5); e = e - 1) { cnt_--; }
        w[ii][j] += e;
      }
      w[ii][j] -= (w[ii][j] + ii);
    }
    s += 2;
  }
  /*@ end @*/
  s = s + 1;
  /*@ begin PerfTuning ( def input_params { param ld = 9; param nx = 12; param c_block = 5; } ) @*/
  for (ii = 0; ii < nx; ii = ii + 1) {
    for (j = 0; j < c_block; j++) {
      {
        double lw_[3];
        for (int l = 0; l < 3; l++) lw_[l] = z + l;
        y[ii][j] = lw_[1] + lw_[j % 3];
      }
      if (s < y[(long)ii][j]) s = y[(long)ii][j];
    }
  }
  /*@ end @*/
  /*@ begin PerfTuning ( def input_params { param ld = 9; param nx = 12; param c_block = 5; } ) @*/
  for (e = 0; e < 8; e += 1) {
    for (j = 0; j < nx; j++)
      c[j] *= ((double)(0.5) - b[e][(long)j + 1]);
  }
  /*@ end @*/
  out_[1] = s;
  out_[2] = j;
}
/* harness */
#undef MAX
#undef MIN
void q467_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q467_0(*(int *)p[0], *(double *)p[1], p[2], p[3], p[4], (double *)p[5]);
    break;
  }
  case 1: {
    q467_1(*(int *)p[0], *(signed char *)p[1], *(int *)p[2], *(double *)p[3], *(double *)p[4], p[5], p[6], p[7], p[8], p[9], p[10], (double *)p[11]);
    break;
  }
  }
}
long q467_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long ny = *(int *)p[0];
    if (slot == 3) return (long)(3);
  }
  if (function == 1) {
    long ld = *(int *)p[0];
    long nx = *(signed char *)p[1];
    long c_block = *(int *)p[2];
    if (slot == 5) return (long)(nx);
    if (slot == 6) return (long)(ld) * (long)(ld + 1) * (long)(ld);
    if (slot == 8) return (long)(ld) * (long)(8);
    if (slot == 9) return (long)(nx) * (long)(c_block + 2);
    if (slot == 10) return (long)(8) * (long)(nx + 2);
  }
  return 0;
}
long q467_row(int function, int slot, void **p)
{
  if (function == 0) {
    long ny = *(int *)p[0];
  }
  if (function == 1) {
    long ld = *(int *)p[0];
    long nx = *(signed char *)p[1];
    long c_block = *(int *)p[2];
    if (slot == 6) return (long)(ld + 1) * (long)(ld);
    if (slot == 7) return (long)(8);
    if (slot == 8) return (long)(8);
    if (slot == 9) return (long)(c_block + 2);
    if (slot == 10) return (long)(nx + 2);
  }
  return 1;
}
void *q467_object(int k)
{
  switch (k) {
  case 0: return &q467_g0;
  }
  return 0;
}
