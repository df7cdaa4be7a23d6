/* functions {"name": "q5141", "text": "", "harness": "", "entries": [{"function": "q5141_0", "slots": [{"name": "n", "kind": "value", "type": "int"}, {"name": "nx", "kind": "value", "type": "int"}, {"name": "ga", "kind": "value", "type": "signed char"}, {"name": "u", "kind": "array", "type": "unsigned char"}, {"name": "x", "kind": "array", "type": "unsigned char"}, {"name": "r", "kind": "array", "type": "unsigned char"}], "calls": [{"values": {"n": "5", "nx": "5", "ga": "2"}, "arrays": {"u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "0", "nx": "0", "ga": "-1"}, "arrays": {"u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 3, "is_null": false, "same": "u", "offset": 1}}}, {"values": {"n": "1", "nx": "1", "ga": "2"}, "arrays": {"u": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "5", "nx": "3", "ga": "2"}, "arrays": {"u": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "5", "nx": "13", "ga": "2"}, "arrays": {"u": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "37", "nx": "5", "ga": "2"}, "arrays": {"u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "-3", "nx": "5", "ga": "0"}, "arrays": {"u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 3, "is_null": false, "same": "u", "offset": 0}}}, {"values": {"n": "5", "nx": "5", "ga": "1"}, "arrays": {"u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "3", "nx": "2", "ga": "0"}, "arrays": {"u": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 3, "is_null": false, "same": "u", "offset": 1}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [["q5141_g0", "int", 44]], "own": [], "features": ["MAX", "beyond 32 bits", "contraction", "macro", "static local", "thread-local"], "sums": true, "discrete": false, "point": 5141, "fault": "crash -1:        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  File \"annotune/analysis/domains.py\", line 56, in parsed_map\n    return isl.Map(text)\n           ^^^^^^^^^^^^^\nislpy._isl.Error: call to isl_map_read_from_str failed: syntax error in /project/isl/isl_stream.c:149"} */
#include <stddef.h>
#include <complex.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#ifndef SC
#define SC 3
#endif
__thread int q5141_g0[44];
void q5141_0(int n, int nx, signed char ga, unsigned char (*u)[n], unsigned char x[3][8], unsigned char r[8 + 1][n], double *out_)
{
  static float tmp = -1;
  /*@ begin PerfTuning ( def input_params { param n = 5; param nx = 5; } ) @*/
  for (size_t e = 0; e < 3; e++)
    for (long ii = (long)(n < n ? n : n) * 700000001; ii < (long)(n < n ? n : n) * 700000001 + n; ++ii)
      for (size_t k = 0; k < 8/2; k = k + 1)
        u[e][(ii - (long)(n < n ? n : n) * 700000001)] += x[e][k] * r[k][(ii - (long)(n < n ? n : n) * 700000001)];
  /*@ end @*/
  out_[1] = tmp;
  tmp = tmp + 1;
}
/* harness */
#undef MAX
#undef MIN
#undef SC
void q5141_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q5141_0(*(int *)p[0], *(int *)p[1], *(signed char *)p[2], p[3], p[4], p[5], (double *)p[6]);
    break;
  }
  }
}
long q5141_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(int *)p[0];
    long nx = *(int *)p[1];
    if (slot == 4) return (long)(3) * (long)(8);
    if (slot == 5) return (long)(8 + 1) * (long)(n);
  }
  return 0;
}
long q5141_row(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(int *)p[0];
    long nx = *(int *)p[1];
    if (slot == 3) return (long)(n);
    if (slot == 4) return (long)(8);
    if (slot == 5) return (long)(n);
  }
  return 1;
}
void *q5141_object(int k)
{
  switch (k) {
  case 0: return &q5141_g0;
  }
  return 0;
}
