/* functions {"name": "q916", "text": "", "harness": "", "entries": [{"function": "q916_0", "slots": [{"name": "ld", "kind": "value", "type": "unsigned"}, {"name": "mx", "kind": "value", "type": "double"}, {"name": "r", "kind": "array", "type": "int"}, {"name": "u", "kind": "array", "type": "int"}, {"name": "d", "kind": "array", "type": "int"}], "calls": [{"values": {"ld": "9", "mx": "0.5"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "0", "mx": "0.5"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "1", "mx": "3.0"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "6", "mx": "0.5"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "5", "mx": "0.5"}, "arrays": {"r": {"style": "extreme", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "d": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "10", "mx": "0.0"}, "arrays": {"r": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "d": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "5", "mx": "2.0"}, "arrays": {"r": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "d": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "9", "mx": "2.0"}, "arrays": {"r": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "3", "mx": "-1.0"}, "arrays": {"r": {"style": "extreme", "salt": 2, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "d": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": [], "features": ["MAX", "array of an iteration", "call", "label", "macro", "odd head", "scalar changed between nests", "sum", "temporary", "triangular"], "sums": true, "discrete": false, "point": null, "fault": "openacc 2: died of -6: OpenACC at line 1703: the section of 'r' has -8 bytes"} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#ifndef NB
#define NB (1 + 2)
#endif
void q916_0(unsigned ld, double mx, int *restrict r, int u[restrict ld + 2], int d[restrict ld + 2][ld + 1], double *out_)
{
  double q = 0;
  signed char be = 0;
  /*@ begin PerfTuning ( def input_params { param ld = 9; } ) @*/
  for (long j = 0; j < ld; ++j) {
    for (int row = 0; row < j; row++) {
      {
        int lw_[3];
        for (int l = 0; l < 3; l++) lw_[l] = (row < ld/2 ? j : u[j]) + l;
        r[j*(ld + 1) + row] = lw_[1] + lw_[row % 3];
      }
      {
        size_t cnt_ = j;
        for (int i = ld / 3; i < ld - 2; ++i) { cnt_ = cnt_ + 3; if (u[ld - 1 - j] == 0) r[j*(ld + 1) + row] += 1; }
        r[j*(ld + 1) + row] += -cnt_;
      }
    }
    q = -q;
  }
  /*@ end @*/
  be -= fmax(be, be);
  if (ld > 900) goto here1_;
  here1_:

  for (long j = 0; j < ld; ++j) {
    {
      int acc_ = 0;
      for (long i = 0; i < 3; ++i)
        acc_ += fmin(7, be);
      u[j] = acc_;
    }
    q = u[j];
    u[j] = ((r[j*(ld + 1) + j] + r[j*(ld + 1) + j]) + (j < j ? be : j));
    r[j*(ld + 1) + j] = r[(j + 1)*(ld + 1) + j + 2];
  }
  for (long i = 1; i <= ld; ++i) {
    for (long j = MAX(0, i - 2); j < ld; ++j) {
      u[j] -= u[j];
      d[i][j] = fmax(fabs(j), u[j]);
    }
  }

  out_[1] = q;
  out_[2] = be;
}
/* harness */
#undef MAX
#undef MIN
#undef NB
void q916_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q916_0(*(unsigned *)p[0], *(double *)p[1], p[2], p[3], p[4], (double *)p[5]);
    break;
  }
  }
}
long q916_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long ld = *(unsigned *)p[0];
    if (slot == 3) return (long)(ld + 2);
    if (slot == 4) return (long)(ld + 2) * (long)(ld + 1);
  }
  return 0;
}
long q916_row(int function, int slot, void **p)
{
  if (function == 0) {
    long ld = *(unsigned *)p[0];
    if (slot == 4) return (long)(ld + 1);
  }
  return 1;
}
void *q916_object(int k)
{
  switch (k) {
  }
  return 0;
}
