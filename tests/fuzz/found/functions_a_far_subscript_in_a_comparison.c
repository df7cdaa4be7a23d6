/* functions {"name": "q14131", "text": "", "harness": "", "entries": [{"function": "q14131_0", "slots": [{"name": "b_tile", "kind": "value", "type": "unsigned short"}, {"name": "m", "kind": "value", "type": "int"}, {"name": "delete", "kind": "value", "type": "long"}, {"name": "b_d", "kind": "value", "type": "int"}, {"name": "z", "kind": "value", "type": "double"}, {"name": "w", "kind": "array", "type": "long long"}, {"name": "first", "kind": "array", "type": "long long"}, {"name": "a", "kind": "array", "type": "unsigned char"}, {"name": "i2", "kind": "array", "type": "long long"}], "calls": [{"values": {"b_tile": "16", "m": "6", "delete": "6", "b_d": "3", "z": "-1.0"}, "arrays": {"w": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "first": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "i2": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"b_tile": "0", "m": "0", "delete": "0", "b_d": "3", "z": "2.0"}, "arrays": {"w": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "first": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "i2": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"b_tile": "1", "m": "1", "delete": "1", "b_d": "3", "z": "inf"}, "arrays": {"w": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "first": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "i2": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"b_tile": "0", "m": "1", "delete": "3", "b_d": "1", "z": "-5.0"}, "arrays": {"w": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "first": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "i2": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"b_tile": "16", "m": "6", "delete": "6", "b_d": "-1", "z": "-1.0"}, "arrays": {"w": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "first": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "i2": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"b_tile": "37", "m": "37", "delete": "37", "b_d": "-1", "z": "-5.0"}, "arrays": {"w": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "first": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}, "i2": {"style": "zeros", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"b_tile": "1", "m": "5", "delete": "-3", "b_d": "3", "z": "0.5"}, "arrays": {"w": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "first": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "i2": {"style": "small", "salt": 6, "is_null": false, "same": "first", "offset": 0}}}, {"values": {"b_tile": "16", "m": "6", "delete": "6", "b_d": "0", "z": "-1.0"}, "arrays": {"w": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "first": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "i2": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"b_tile": "3", "m": "2", "delete": "3", "b_d": "1", "z": "0.0"}, "arrays": {"w": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "first": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "i2": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}]}, {"function": "q14131_1", "slots": [{"name": "a_bytes", "kind": "value", "type": "size_t"}, {"name": "thread", "kind": "value", "type": "int"}, {"name": "mn", "kind": "value", "type": "short"}, {"name": "acc", "kind": "value", "type": "char"}, {"name": "end", "kind": "array", "type": "double"}, {"name": "i_", "kind": "array", "type": "double"}, {"name": "s_part", "kind": "array", "type": "long"}, {"name": "a_tile", "kind": "array", "type": "double"}], "calls": [{"values": {"a_bytes": "9", "thread": "12", "mn": "0", "acc": "1"}, "arrays": {"end": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "i_": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "s_part": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"a_bytes": "0", "thread": "0", "mn": "1", "acc": "-1"}, "arrays": {"end": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "i_": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "s_part": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"a_bytes": "1", "thread": "1", "mn": "0", "acc": "-1"}, "arrays": {"end": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "i_": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "s_part": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"a_bytes": "0", "thread": "3", "mn": "1", "acc": "1"}, "arrays": {"end": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "i_": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "s_part": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "zeros", "salt": 5, "is_null": false, "same": "i_", "offset": 0}}}, {"values": {"a_bytes": "3", "thread": "5", "mn": "0", "acc": "-1"}, "arrays": {"end": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "i_": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "s_part": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"a_bytes": "33", "thread": "33", "mn": "3", "acc": "-1"}, "arrays": {"end": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "i_": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "s_part": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"a_bytes": "5", "thread": "-3", "mn": "3", "acc": "2"}, "arrays": {"end": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "i_": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "s_part": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"a_bytes": "9", "thread": "12", "mn": "-1", "acc": "2"}, "arrays": {"end": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "i_": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "s_part": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"a_bytes": "3", "thread": "2", "mn": "0", "acc": "-1"}, "arrays": {"end": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "i_": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "s_part": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "a_tile": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": [], "features": ["beyond 32 bits", "maximum", "reduction", "static local", "sum", "triangular"], "sums": true, "discrete": true, "point": null, "fault": "openacc 9: died of -11:"} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
double q14131_0(unsigned short b_tile, int m, long delete, int b_d, double z, long long w[restrict b_tile][b_tile][b_tile], long long *first, unsigned char *a, long long *i2, double *out_)
{
  static double a_block = -1;

  for (int i = 0; i < b_tile; i += 4) {
    for (int k_t = 0; k_t <= i; k_t++) {
      b_d += w[i][i][i];
      first[i*(b_tile + 1) + k_t] += ((first[i*(b_tile + 1) + i] - k_t) + first[(i + 1)*(b_tile + 1) + i]);
      a[i + 1] = (b_d + b_d);
    }
    b_d -= first[i*(b_tile + 1) + i];
  }

  /*@ begin PerfTuning ( def input_params { param b_tile = 16; param m = 6; param delete = 6; } ) @*/
  for (int c_d = 0; c_d < b_tile/2; c_d = c_d + 1) {
    a[c_d] = b_d;
    for (int i = 0; i < delete && i < delete; ++i) {
      i2[c_d*(b_tile + 1)*(delete + 1) + (c_d + 1)*(delete + 1) + i] += b_d;
      a[c_d] = first[(c_d + 2)*(b_tile + 1) + c_d];
      a[c_d] += w[c_d][c_d][c_d];
    }
  }
  /*@ end @*/
  out_[1] = b_d;
  out_[2] = z;
  a_block = a_block + 1;
  return b_d;
}
double q14131_1(size_t a_bytes, int thread, short mn, char acc, double *restrict end, double *i_, long s_part[restrict 3 + 2], double a_tile[3][thread], double *out_)
{
  float delete = 0;
  long long s_sum = 77;
  long long c_tile = 77;
  long long annotune_s = 77;
  for (int rep_ = 0; rep_ < 2; rep_++) {
    /*@ begin PerfTuning ( def input_params { param a_bytes = 9; param thread = 12; } ) @*/
    for (c_tile = 1; c_tile <= thread - 1; c_tile++) {
      for (s_sum = 0; s_sum < 3; s_sum++)
        delete += (end[c_tile*3 + s_sum] * end[(c_tile - 1)*3 + s_sum]);
    }
    /*@ end @*/
  }
  delete = (delete * 1.0);
  switch (1) {
  case 0:
    out_[0] = 9;
    break;
  case 1:
    /*@ begin PerfTuning ( def input_params { param a_bytes = 9; param thread = 12; } ) @*/
    for (c_tile = (long)thread * 700000001; c_tile < (long)thread * 700000001 + 3; c_tile++) {
      for (annotune_s = 0; annotune_s < (thread < 9 ? thread : 9); annotune_s++) {
        for (s_sum = 0; s_sum < thread; s_sum++) {
          i_[((c_tile - (long)thread * 700000001))*thread*(thread + 1) + annotune_s*(thread + 1) + s_sum] = (end[s_sum*3 + (c_tile - (long)thread * 700000001)] - delete);
          s_part[(c_tile - (long)thread * 700000001) + 1] = end[s_sum*3 + (c_tile - (long)thread * 700000001)] > s_part[(c_tile - (long)thread * 700000001) + 1] ? end[s_sum*3 + (c_tile - (long)thread * 700000001)] : s_part[(c_tile - (long)thread * 700000001) + 1];
        }
        {
          double acc_ = 0;
          for (s_sum = 0; s_sum < 3 && s_sum < thread; s_sum++)
            acc_ += (c_tile - (long)thread * 700000001);
          a_tile[(c_tile - (long)thread * 700000001)][annotune_s] = acc_;
        }
      }
    }
    /*@ end @*/
    break;
  }
  out_[1] = delete;
  out_[2] = annotune_s;
  out_[3] = c_tile;
  return mn;
}
/* harness */
void q14131_call(int function, void **p)
{
  switch (function) {
  case 0: {
    ((double *)p[9])[0] = q14131_0(*(unsigned short *)p[0], *(int *)p[1], *(long *)p[2], *(int *)p[3], *(double *)p[4], p[5], p[6], p[7], p[8], (double *)p[9]);
    break;
  }
  case 1: {
    ((double *)p[8])[0] = q14131_1(*(size_t *)p[0], *(int *)p[1], *(short *)p[2], *(char *)p[3], p[4], p[5], p[6], p[7], (double *)p[8]);
    break;
  }
  }
}
long q14131_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long b_tile = *(unsigned short *)p[0];
    long m = *(int *)p[1];
    long delete = *(long *)p[2];
    if (slot == 5) return (long)(b_tile) * (long)(b_tile) * (long)(b_tile);
  }
  if (function == 1) {
    long a_bytes = *(size_t *)p[0];
    long thread = *(int *)p[1];
    if (slot == 6) return (long)(3 + 2);
    if (slot == 7) return (long)(3) * (long)(thread);
  }
  return 0;
}
long q14131_row(int function, int slot, void **p)
{
  if (function == 0) {
    long b_tile = *(unsigned short *)p[0];
    long m = *(int *)p[1];
    long delete = *(long *)p[2];
    if (slot == 5) return (long)(b_tile) * (long)(b_tile);
  }
  if (function == 1) {
    long a_bytes = *(size_t *)p[0];
    long thread = *(int *)p[1];
    if (slot == 7) return (long)(thread);
  }
  return 1;
}
void *q14131_object(int k)
{
  switch (k) {
  }
  return 0;
}
