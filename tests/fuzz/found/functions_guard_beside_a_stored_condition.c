/* functions {"name": "q75", "text": "", "harness": "", "entries": [{"function": "q75_0", "slots": [{"name": "ld", "kind": "value", "type": "int"}, {"name": "s_0", "kind": "value", "type": "long long"}, {"name": "ny", "kind": "value", "type": "int"}, {"name": "z", "kind": "value", "type": "unsigned long"}, {"name": "count", "kind": "value", "type": "double complex"}, {"name": "ij", "kind": "array", "type": "float"}, {"name": "w", "kind": "array", "type": "unsigned"}, {"name": "abs", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "unsigned char"}], "calls": [{"values": {"ld": "9", "s_0": "16", "ny": "12", "z": "1", "count": "-5.0"}, "arrays": {"ij": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "abs": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "0", "s_0": "0", "ny": "0", "z": "0", "count": "-1.0"}, "arrays": {"ij": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "abs": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "1", "s_0": "1", "ny": "1", "z": "0", "count": "2.0"}, "arrays": {"ij": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "abs": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "6", "s_0": "3", "ny": "4", "z": "3", "count": "-1.0"}, "arrays": {"ij": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "abs": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "1", "s_0": "13", "ny": "12", "z": "0", "count": "0.0"}, "arrays": {"ij": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "abs": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "extreme", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "9", "s_0": "33", "ny": "12", "z": "3", "count": "-1.0"}, "arrays": {"ij": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "abs": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "9", "s_0": "-3", "ny": "-1", "z": "1", "count": "3.0"}, "arrays": {"ij": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "abs": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "9", "s_0": "16", "ny": "12", "z": "2", "count": "2.0"}, "arrays": {"ij": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "abs": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "2", "s_0": "2", "ny": "2", "z": "3", "count": "2.0"}, "arrays": {"ij": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "abs": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [["q75_g0", "float", 44]], "own": [], "features": ["MAX", "macro", "macro changed in the function", "reduction"], "sums": false, "discrete": true, "point": null, "fault": "cuda 6: died of -27:"} */
#include <stddef.h>
#include <complex.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#ifndef Q
#define Q (1 + 2)
#endif
float q75_g0[44];
void q75_0(int ld, long long s_0, int ny, unsigned long z, double complex count, const float ij[s_0 + 1][ny + 1], unsigned *restrict w, const double *abs, unsigned char *b, double *out_)
{
  size_t q = 1;
  double tmp = 3;
  short i_end = 2;
  #undef Q
  #define Q 5
  if (ld > 900) out_[0] = 5;
  else {
    /*@ begin PerfTuning ( def input_params { param ld = 9; param s_0 = 16; param ny = 12; } ) @*/
    if (i_end <= 1) {
      for (size_t annotune_n = 1; annotune_n < s_0; annotune_n += 1) {
        for (size_t s_sum = 0; s_sum < ny; s_sum++) {
          w[(s_sum + 2)*ny*(s_0 + 1) + s_sum*(s_0 + 1) + annotune_n] *= (-1 + (w[(ny - 1 - s_sum)*ny*(s_0 + 1) + (s_sum + 1)*(s_0 + 1) + annotune_n] + annotune_n));
          q -= (s_sum) / 3;
          w[(annotune_n % 3)*ny*(s_0 + 1) + s_sum*(s_0 + 1) + annotune_n] += ((i_end + Q) - (unsigned)(w[s_sum*ny*(s_0 + 1) + s_sum*(s_0 + 1) + annotune_n]));
        }
        if (abs[annotune_n] < abs[(ptrdiff_t)annotune_n]) {
          b[annotune_n] = ((abs[annotune_n] >= b[annotune_n] ? annotune_n : b[annotune_n]) + (i_end + b[annotune_n]));
        } else {
          b[2*annotune_n] *= b[annotune_n];
        }
      }
    }
    /*@ end @*/
  }
  out_[1] = creal(count);
  out_[2] = q;
  out_[3] = i_end;
}
/* harness */
#undef MAX
#undef MIN
#undef Q
void q75_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q75_0(*(int *)p[0], *(long long *)p[1], *(int *)p[2], *(unsigned long *)p[3], *(double complex *)p[4], p[5], p[6], p[7], p[8], (double *)p[9]);
    break;
  }
  }
}
long q75_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long ld = *(int *)p[0];
    long s_0 = *(long long *)p[1];
    long ny = *(int *)p[2];
    if (slot == 5) return (long)(s_0 + 1) * (long)(ny + 1);
  }
  return 0;
}
long q75_row(int function, int slot, void **p)
{
  if (function == 0) {
    long ld = *(int *)p[0];
    long s_0 = *(long long *)p[1];
    long ny = *(int *)p[2];
    if (slot == 5) return (long)(ny + 1);
  }
  return 1;
}
void *q75_object(int k)
{
  switch (k) {
  case 0: return &q75_g0;
  }
  return 0;
}
