/* functions {"name": "q19213", "text": "", "harness": "", "entries": [{"function": "q19213_0", "slots": [{"name": "m", "kind": "value", "type": "long long"}, {"name": "sum", "kind": "value", "type": "size_t"}, {"name": "b", "kind": "array", "type": "double complex"}, {"name": "u", "kind": "array", "type": "int"}, {"name": "m_", "kind": "array", "type": "int"}, {"name": "w", "kind": "array", "type": "int"}, {"name": "sm", "kind": "array", "type": "double complex"}], "calls": [{"values": {"m": "12", "sum": "3"}, "arrays": {"b": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "m_": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "sm": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "0", "sum": "3"}, "arrays": {"b": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "m_": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 4, "is_null": false, "same": "m_", "offset": -2}, "sm": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "1", "sum": "1"}, "arrays": {"b": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "m_": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "m_", "offset": 0}, "sm": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "4", "sum": "0"}, "arrays": {"b": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "m_": {"style": "small", "salt": 5, "is_null": false, "same": "w", "offset": -2}, "w": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "sm": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "5", "sum": "0"}, "arrays": {"b": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "m_": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "sm": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "13", "sum": "3"}, "arrays": {"b": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "m_": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "m_", "offset": 1}, "sm": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "-3", "sum": "0"}, "arrays": {"b": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "m_": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "sm": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "12", "sum": "1"}, "arrays": {"b": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "m_": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "sm": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "3", "sum": "18446744073709551615"}, "arrays": {"b": {"style": "extreme", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "m_": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "w": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "sm": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {"q19213_util.h": ""}, "objects": [["q19213_g0", "int", 1], ["q19213_g1", "double", 44]], "own": [], "features": ["MAX", "array of variable length", "beyond 32 bits", "maximum", "reduction", "scalar changed between nests", "static local", "thread-local"], "sums": true, "discrete": true, "point": null, "fault": "crash -1: lock.deals)\n               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"annotune/decide/apart.py\", line 169, in taken_apart\n    Distribute(found.groups, loop=inside[0]),\n                                  ~~~~~~^^^\nIndexError: tuple index out of range"} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include "q19213_util.h"
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static int q19213_g0;
static __thread double q19213_g1[44];
void q19213_0(long long m, size_t sum, const double complex b[restrict m][m][8], int (*restrict u)[8 + 2], const int *m_, int *w, double complex sm[restrict 8][8][8 + 1], double *out_)
{
  unsigned long annotune_s = 3;
  static unsigned delete = 1;
  double blockIdx = -1;
  int j_i[m + 4];
  for (int zz = 0; zz < m + 4; zz++) j_i[zz] = zz % 5;
  int j_t = 77;
  int col = 77;
  int ii = 77;
  int j = 77;
  /*@ begin PerfTuning ( def input_params { param m = 12; } ) @*/
  for (ii = 0; ii < m; ii++) {
    blockIdx *= (0.25f > 0 ? 2 : 1);
    for (j_t = 0; j_t < m; j_t++) {
      for (j = 0; j < 8; j++) {
        if (!(j_i[ii] <= sum)) sum = j_i[ii];
        u[j_t][j] += (u[j_t][j] * (delete - (int)((long)m * 700000001 / 700000001)));
      }
    }
  }
  /*@ end @*/
  sum = (delete * q19213_g0);
  /*@ begin PerfTuning ( def input_params { param m = 12; } ) @*/
  for (j_t = 1; j_t <= m - 1; j_t++) {
    j_i[j_t] = q19213_g0;
    for (j = (0 > 3 - 4 ? 0 : 3 - 4); j < 3; j++)
      j_i[j_t] *= (sum * 2L);
  }
  /*@ end @*/
  sum = (delete) / 3;
  /*@ begin PerfTuning ( def input_params { param m = 12; } ) @*/
  for (j = 0; j < 8; j = j + 1) {
    for (col = 0; col < m; col++) {
      if (j != 1) {
        w[j*m + col] = (unsigned char)(m_[((int)col)*(3 + 2) + 2]);
      }
    }
    q19213_g0++;
  }
  /*@ end @*/
  out_[1] = j_i[0];
  out_[2] = annotune_s;
  out_[3] = delete;
  out_[4] = col;
  out_[5] = j_t;
  delete = delete + 1;
}
/* harness */
#undef MAX
#undef MIN
void q19213_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q19213_0(*(long long *)p[0], *(size_t *)p[1], p[2], p[3], p[4], p[5], p[6], (double *)p[7]);
    break;
  }
  }
}
long q19213_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(long long *)p[0];
    if (slot == 2) return (long)(m) * (long)(m) * (long)(8);
    if (slot == 6) return (long)(8) * (long)(8) * (long)(8 + 1);
  }
  return 0;
}
long q19213_row(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(long long *)p[0];
    if (slot == 2) return (long)(m) * (long)(8);
    if (slot == 3) return (long)(8 + 2);
    if (slot == 6) return (long)(8) * (long)(8 + 1);
  }
  return 1;
}
void *q19213_object(int k)
{
  switch (k) {
  case 0: return &q19213_g0;
  case 1: return &q19213_g1;
  }
  return 0;
}
