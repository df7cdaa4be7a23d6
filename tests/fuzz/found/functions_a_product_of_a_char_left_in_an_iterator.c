/* functions {"name": "q13767", "text": "", "harness": "", "entries": [{"function": "q13767_0", "slots": [{"name": "nx", "kind": "value", "type": "unsigned char"}, {"name": "fac", "kind": "value", "type": "unsigned long"}, {"name": "acc", "kind": "value", "type": "int"}, {"name": "d", "kind": "array", "type": "float"}, {"name": "c", "kind": "array", "type": "float"}], "calls": [{"values": {"nx": "12", "fac": "0", "acc": "1"}, "arrays": {"d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "0", "fac": "3", "acc": "0"}, "arrays": {"d": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "c": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "1", "fac": "2", "acc": "2"}, "arrays": {"d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "1", "fac": "3", "acc": "0"}, "arrays": {"d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "9", "fac": "3", "acc": "1"}, "arrays": {"d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "33", "fac": "2", "acc": "0"}, "arrays": {"d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "5", "fac": "0", "acc": "1"}, "arrays": {"d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "12", "fac": "1", "acc": "1"}, "arrays": {"d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "3", "fac": "1", "acc": "2"}, "arrays": {"d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {"q13767_util.h": "#undef abs\n#define abs(x) ((x) + 3)\n"}, "objects": [], "own": [], "features": ["MAX", "array of variable length", "macro with a library's name", "maximum", "odd head"], "sums": false, "discrete": true, "point": null, "fault": "cuda 0: out_[3] is np.float64(1.0), expected np.float64(11.0)"} */
#include <stddef.h>
#include <complex.h>
#include "q13767_util.h"
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void q13767_0(unsigned char nx, unsigned long fac, int acc, const float d[restrict 3][3 + 2][3], float c[restrict 3][nx + 2], double *out_)
{
  int tmp = -1;
  double s = 1;
  float a[nx + 4];
  for (int z = 0; z < nx + 4; z++) a[z] = z % 5;
  int i = 77;
  int l = 77;
  int j = 77;
  /*@ begin PerfTuning ( def input_params { param nx = 12; } ) @*/
  for (j = 3 - 1; j > 0; j -= 2) {
    ;
    for (l = 0; l < nx; l = l + 1) {
      {
        unsigned short cnt_ = fac;
        for (i = MIN(2, nx - 1); i != (long)nx * 700000001 / 700000001; i++) { cnt_ += nx; }
        c[j][l] += i - 3;
      }
      if (!(c[j][l] <= s)) s = c[j][l];
    }
  }
  /*@ end @*/
  out_[1] = a[0];
  out_[2] = acc;
  out_[3] = s;
  out_[4] = l;
}
/* harness */
#undef MAX
#undef MIN
#undef abs
void q13767_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q13767_0(*(unsigned char *)p[0], *(unsigned long *)p[1], *(int *)p[2], p[3], p[4], (double *)p[5]);
    break;
  }
  }
}
long q13767_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long nx = *(unsigned char *)p[0];
    if (slot == 3) return (long)(3) * (long)(3 + 2) * (long)(3);
    if (slot == 4) return (long)(3) * (long)(nx + 2);
  }
  return 0;
}
long q13767_row(int function, int slot, void **p)
{
  if (function == 0) {
    long nx = *(unsigned char *)p[0];
    if (slot == 3) return (long)(3 + 2) * (long)(3);
    if (slot == 4) return (long)(nx + 2);
  }
  return 1;
}
void *q13767_object(int k)
{
  switch (k) {
  }
  return 0;
}
