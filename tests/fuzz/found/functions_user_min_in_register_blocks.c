/* functions {"name": "q6431", "text": "", "harness": "", "entries": [{"function": "q6431_0", "slots": [{"name": "nx", "kind": "value", "type": "int"}, {"name": "ny", "kind": "value", "type": "unsigned short"}, {"name": "w", "kind": "array", "type": "float"}, {"name": "v", "kind": "array", "type": "signed char"}, {"name": "a", "kind": "array", "type": "float"}], "calls": [{"values": {"nx": "8", "ny": "16"}, "arrays": {"w": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "0", "ny": "0"}, "arrays": {"w": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "1", "ny": "1"}, "arrays": {"w": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "1", "ny": "11"}, "arrays": {"w": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "v": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "8", "ny": "13"}, "arrays": {"w": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "37", "ny": "16"}, "arrays": {"w": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "v": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "-3", "ny": "5"}, "arrays": {"w": {"style": "extreme", "salt": 2, "is_null": false, "same": "", "offset": 0}, "v": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "8", "ny": "16"}, "arrays": {"w": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"nx": "3", "ny": "3"}, "arrays": {"w": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "v": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [["q6431_g0", "int", 1], ["q6431_g1", "double", 44]], "own": ["abs"], "features": ["contraction", "function with a library's name"], "sums": true, "discrete": false, "point": 6431, "fault": "cuda 0: device memory: q6431_0_1_s0_tuned: device allocation 1 of 424 bytes was written at byte offset 434"} */
#include <stddef.h>
#include <complex.h>
static int abs(int x) { return x + 1; }
double q6431_sq(double x) { return x * x; }
static int q6431_g0;
static double q6431_g1[44];
int q6431_0(int nx, unsigned short ny, float (*restrict w)[ny + 2], signed char *restrict v, float a[restrict 3 + 1][ny + 2], double *out_)
{
  /*@ begin PerfTuning ( def input_params { param nx = 8; param ny = 16; } def assume { arg pure = ['q6431_sq']; } ) @*/
  for (int col = 0; col < ny && col < 6; col++)
    for (int i = 0; i < ny; i = i + 1)
      for (int k = 0; k < 3; k++)
        w[col][i] += v[col*(3 + 1) + k] * a[k][i];
  /*@ end @*/
  return q6431_g0;
}
/* harness */
void q6431_call(int function, void **p)
{
  switch (function) {
  case 0: {
    ((double *)p[5])[0] = q6431_0(*(int *)p[0], *(unsigned short *)p[1], p[2], p[3], p[4], (double *)p[5]);
    break;
  }
  }
}
long q6431_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long nx = *(int *)p[0];
    long ny = *(unsigned short *)p[1];
    if (slot == 4) return (long)(3 + 1) * (long)(ny + 2);
  }
  return 0;
}
long q6431_row(int function, int slot, void **p)
{
  if (function == 0) {
    long nx = *(int *)p[0];
    long ny = *(unsigned short *)p[1];
    if (slot == 2) return (long)(ny + 2);
    if (slot == 4) return (long)(ny + 2);
  }
  return 1;
}
void *q6431_object(int k)
{
  switch (k) {
  case 0: return &q6431_g0;
  case 1: return &q6431_g1;
  }
  return 0;
}
