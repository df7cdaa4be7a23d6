/* functions {"name": "q185", "text": "", "harness": "", "entries": [{"function": "q185_0", "slots": [{"name": "n", "kind": "value", "type": "size_t"}, {"name": "printf_", "kind": "value", "type": "long long"}, {"name": "mx", "kind": "value", "type": "float"}, {"name": "c", "kind": "array", "type": "size_t"}], "calls": [{"values": {"n": "9", "printf_": "9", "mx": "-1.0"}, "arrays": {"c": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "0", "printf_": "0", "mx": "0.0"}, "arrays": {"c": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "1", "printf_": "1", "mx": "0.5"}, "arrays": {"c": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "5", "printf_": "13", "mx": "0.5"}, "arrays": {"c": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "9", "printf_": "5", "mx": "0.5"}, "arrays": {"c": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "9", "printf_": "37", "mx": "-1.0"}, "arrays": {"c": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "3", "printf_": "-3", "mx": "1.0"}, "arrays": {"c": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "9", "printf_": "9", "mx": "3.0"}, "arrays": {"c": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "3", "printf_": "3", "mx": "2.0"}, "arrays": {"c": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": [], "features": ["MAX", "array of an iteration", "sum"], "sums": false, "discrete": false} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static int q185_abs(int x) { return x + 1; }
static inline double q185_exp(double x) { return x * 0.5; }
int q185_0(size_t n, long long printf_, float mx, size_t c[3][8], double *out_)
{
  /*@ begin PerfTuning ( def input_params { param n = 9; param printf_ = 9; } def assume { arg pure = ['q185_abs', 'q185_exp']; } ) @*/
  for (unsigned col = MAX(0, 3 - 4); col < 3; ++col) {
    for (unsigned stream = 0; stream < 8; stream++) {
      for (unsigned a_block = 0; a_block < printf_; a_block++)
        c[col][stream] += c[col][stream];
      {
        size_t lw_[3];
        for (int e = 0; e < 3; e++) lw_[e] = (unsigned char)(c[col][stream]) + e;
        c[col][stream] = lw_[1] + lw_[2];
      }
    }
  }
  /*@ end @*/
  return 0;
}
/* harness */
#undef MAX
#undef MIN
void q185_call(int function, void **p)
{
  switch (function) {
  case 0: {
    ((double *)p[4])[0] = q185_0(*(size_t *)p[0], *(long long *)p[1], *(float *)p[2], p[3], (double *)p[4]);
    break;
  }
  }
}
long q185_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(size_t *)p[0];
    long printf_ = *(long long *)p[1];
    if (slot == 3) return (long)(3) * (long)(8);
  }
  return 0;
}
long q185_row(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(size_t *)p[0];
    long printf_ = *(long long *)p[1];
  }
  return 1;
}
void *q185_object(int k)
{
  switch (k) {
  }
  return 0;
}
