/* functions {"name": "q15818", "text": "", "harness": "", "entries": [{"function": "q15818_0", "slots": [{"name": "l", "kind": "value", "type": "int"}, {"name": "ld", "kind": "value", "type": "int"}, {"name": "n", "kind": "value", "type": "size_t"}, {"name": "b", "kind": "array", "type": "int"}, {"name": "a", "kind": "array", "type": "int"}, {"name": "u", "kind": "array", "type": "int"}, {"name": "y", "kind": "array", "type": "float"}, {"name": "w", "kind": "array", "type": "double"}, {"name": "d", "kind": "array", "type": "double"}], "calls": [{"values": {"l": "9", "ld": "12", "n": "20"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "0", "ld": "0", "n": "0"}, "arrays": {"b": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "y": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "w": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "extreme", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "1", "ld": "1", "n": "1"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "0", "ld": "1", "n": "6"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 5, "is_null": false, "same": "u", "offset": 3}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "9", "ld": "4", "n": "1"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "33", "ld": "13", "n": "33"}, "arrays": {"b": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "y": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "w": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "extreme", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "-3", "ld": "-1", "n": "20"}, "arrays": {"b": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "y": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "w": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "zeros", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "9", "ld": "12", "n": "20"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "2", "ld": "2", "n": "3"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}]}, {"function": "q15818_1", "slots": [{"name": "m", "kind": "value", "type": "int"}, {"name": "nx", "kind": "value", "type": "int"}, {"name": "acc", "kind": "value", "type": "float"}, {"name": "y", "kind": "array", "type": "int"}, {"name": "x", "kind": "array", "type": "size_t"}, {"name": "a", "kind": "array", "type": "double"}, {"name": "w", "kind": "array", "type": "unsigned long"}, {"name": "d", "kind": "array", "type": "int"}, {"name": "b", "kind": "array", "type": "double"}], "calls": [{"values": {"m": "6", "nx": "8", "acc": "0.0"}, "arrays": {"y": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "0", "nx": "0", "acc": "0.0"}, "arrays": {"y": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "1", "nx": "1", "acc": "0.5"}, "arrays": {"y": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "6", "nx": "1", "acc": "0.0"}, "arrays": {"y": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "3", "nx": "1", "acc": "0.5"}, "arrays": {"y": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "7", "nx": "37", "acc": "2.0"}, "arrays": {"y": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "5", "nx": "-3", "acc": "inf"}, "arrays": {"y": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "6", "nx": "8", "acc": "-0.0"}, "arrays": {"y": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "3", "nx": "2", "acc": "0.0"}, "arrays": {"y": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "d": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": [], "features": ["MAX", "array of an iteration", "array of variable length", "beyond 32 bits", "contraction", "label", "odd head", "temporary"], "sums": true, "discrete": false, "point": 15818, "fault": "openacc 6: died of -6: OpenACC at line 1403: a kernel wrote to 'y' before its section, at byte -4 of 72"} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void q15818_0(int l, int ld, size_t n, const int *restrict b, int a[l + 2], int u[n], float *y, double *restrict w, double d[n][n], double *out_)
{
  int r[l + 4];
  for (int z = 0; z < l + 4; z++) r[z] = z % 5;
  if (l > 900) goto here0_;
  here0_:
  /*@ begin PerfTuning ( def input_params { param l = 9; param ld = 12; param n = 20; } ) @*/
  for (int row = (ld > n ? 1 : 2); row != (long)n * 700000001 / 700000001; row++) {
    y[row + 60] = row / 2 * 0.5;
  }
  /*@ end @*/
  /*@ begin PerfTuning ( def input_params { param l = 9; param ld = 12; param n = 20; } ) @*/
  for (int row = 0; row < n; row++)
    for (int j = 0; j < 8; j++)
      for (int jj = 0; jj < n; jj++)
        w[row*8 + j] -= d[row][jj] * w[jj*8 + j];
  /*@ end @*/
  out_[1] = r[0];
}
void q15818_1(int m, int nx, float acc, const int y[restrict 8], const size_t *x, double *a, unsigned long w[restrict nx + 2][8 + 1], int *restrict d, double b[restrict nx + 2][m + 1], double *out_)
{
  short tmp = 3;
  int r[m + 4];
  for (int z = 0; z < m + 4; z++) r[z] = z % 5;
  int i = 77;
  long l = 77;
  long k = 77;
  do {
    /*@ begin PerfTuning ( def input_params { param m = 6; param nx = 8; } ) @*/
    for (i = 0; i < 8; i = i + 1) {
      tmp = tmp;
      ;
      a[i] += a[i];
      if (i <= 8/2) {
        a[i] = ((x[i*(8 + 1)*(8 + 1) + i*(8 + 1) + i] + acc) + acc);
      }
    }
    for (k = 0; k < nx; k++) {
      for (l = 0; l < 8; l++)
        w[k][l] -= (x[l*(8 + 1)*(8 + 1) + (l - 1)*(8 + 1) + l + 2] + y[l]);
    }
    /*@ end @*/
  } while (0);
  tmp++;
  if (nx > 900) out_[0] = 5;
  else {
    /*@ begin PerfTuning ( def input_params { param m = 6; param nx = 8; } ) @*/
    if (x[4*(8 + 1)*(8 + 1) + 6*(8 + 1) + 2] < y[1]) {
      for (k = 0; k < m; k += 1) {
        for (l = 0; l < 3; l++) {
          {
            int t3_ = (7 + ((int)((long)(nx - 1) * 700000001 / 700000001) * r[k]));
            d[k*3 + l] += r[k];
            d[k*3 + l] = 1;
          }
        }
      }
    }
    /*@ end @*/
  }
  tmp++;
  /*@ begin PerfTuning ( def input_params { param m = 6; param nx = 8; } ) @*/
  for (l = 0; l < nx; l++) {
    for (i = 0; i < m; i++) {
      b[l][i] = b[l][i] * 0.5;
      {
        double lw_[3];
        for (int row = 0; row < 3; row++) lw_[row] = (tmp + 2.0) + row;
        b[l][i] = lw_[1] + lw_[i % 3];
      }
    }
  }
  /*@ end @*/
  out_[1] = r[0];
  out_[2] = tmp;
  out_[3] = i;
}
/* harness */
#undef MAX
#undef MIN
void q15818_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q15818_0(*(int *)p[0], *(int *)p[1], *(size_t *)p[2], p[3], p[4], p[5], p[6], p[7], p[8], (double *)p[9]);
    break;
  }
  case 1: {
    q15818_1(*(int *)p[0], *(int *)p[1], *(float *)p[2], p[3], p[4], p[5], p[6], p[7], p[8], (double *)p[9]);
    break;
  }
  }
}
long q15818_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(int *)p[0];
    long ld = *(int *)p[1];
    long n = *(size_t *)p[2];
    if (slot == 4) return (long)(l + 2);
    if (slot == 5) return (long)(n);
    if (slot == 8) return (long)(n) * (long)(n);
  }
  if (function == 1) {
    long m = *(int *)p[0];
    long nx = *(int *)p[1];
    if (slot == 3) return (long)(8);
    if (slot == 6) return (long)(nx + 2) * (long)(8 + 1);
    if (slot == 8) return (long)(nx + 2) * (long)(m + 1);
  }
  return 0;
}
long q15818_row(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(int *)p[0];
    long ld = *(int *)p[1];
    long n = *(size_t *)p[2];
    if (slot == 8) return (long)(n);
  }
  if (function == 1) {
    long m = *(int *)p[0];
    long nx = *(int *)p[1];
    if (slot == 6) return (long)(8 + 1);
    if (slot == 8) return (long)(m + 1);
  }
  return 1;
}
void *q15818_object(int k)
{
  switch (k) {
  }
  return 0;
}
