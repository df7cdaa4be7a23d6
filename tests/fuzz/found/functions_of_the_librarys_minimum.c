/* functions {"name": "q2784", "text": "", "harness": "", "entries": [{"function": "q2784_0", "slots": [{"name": "l", "kind": "value", "type": "short"}, {"name": "ny", "kind": "value", "type": "int"}, {"name": "sum", "kind": "value", "type": "double"}, {"name": "y", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "int"}], "calls": [{"values": {"l": "3", "ny": "3", "sum": "0.5"}, "arrays": {"y": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}]}, {"function": "q2784_1", "slots": [{"name": "n", "kind": "value", "type": "int"}, {"name": "l", "kind": "value", "type": "int"}, {"name": "z", "kind": "value", "type": "float"}, {"name": "v", "kind": "array", "type": "double"}], "calls": []}, {"function": "q2784_2", "slots": [{"name": "ld", "kind": "value", "type": "int"}, {"name": "n", "kind": "value", "type": "size_t"}, {"name": "mn", "kind": "value", "type": "unsigned short"}, {"name": "w", "kind": "array", "type": "short"}], "calls": []}], "headers": {}, "objects": [], "own": [], "features": ["MAX", "call", "macro with a library's name", "maximum", "pointer into an array", "scalar changed between nests"], "sums": true, "discrete": true, "point": null, "fault": "cuda 8: out_[1] is np.float64(-0.0), expected np.float64(0.0) (zero's sign)"} */
#include <stddef.h>
int q2784_0(short l, int ny, double sum, double *restrict y, int b[restrict ny + 2][ny], double *out_)
{
  double *d = y + ny;
  long long j = 77;
  unsigned col = 77;
  /*@ begin PerfTuning ( def input_params { param l = 20; param ny = 6; } ) @*/
  for (j = 0; j < ny; ++j) {
    for (col = 1; col < ny; col++) {
      d[j] = fmax(d[j], d[j]);
      b[j][col] += -(-1);
      sum = fmin(b[col][col], sum);
    }
    sum = -sum;
  }
  /*@ end @*/
  out_[1] = sum;
  return 0;
}
void q2784_1(int n, int l, float z, double *restrict v, double *out_)
{
  double q = 3;
  int sum = 0;
  out_[2] = q;
  out_[3] = sum;
}
void q2784_2(int ld, size_t n, unsigned short mn, short *w, double *out_)
{
  double mx = 3;
  double al = mx;
  int z = 3;


  out_[1] = mn;
  out_[2] = mx;
  out_[3] = al;
}
/* harness */
#undef MAX
#undef MIN
#undef sign
void q2784_call(int function, void **p)
{
  switch (function) {
  case 0: {
    ((double *)p[5])[0] = q2784_0(*(short *)p[0], *(int *)p[1], *(double *)p[2], p[3], p[4], (double *)p[5]);
    break;
  }
  case 1: {
    q2784_1(*(int *)p[0], *(int *)p[1], *(float *)p[2], p[3], (double *)p[4]);
    break;
  }
  case 2: {
    q2784_2(*(int *)p[0], *(size_t *)p[1], *(unsigned short *)p[2], p[3], (double *)p[4]);
    break;
  }
  }
}
long q2784_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(short *)p[0];
    long ny = *(int *)p[1];
    if (slot == 4) return (long)(ny + 2) * (long)(ny);
  }
  if (function == 1) {
    long n = *(int *)p[0];
    long l = *(int *)p[1];
  }
  if (function == 2) {
    long ld = *(int *)p[0];
    long n = *(size_t *)p[1];
  }
  return 0;
}
long q2784_row(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(short *)p[0];
    long ny = *(int *)p[1];
  }
  if (function == 1) {
    long n = *(int *)p[0];
    long l = *(int *)p[1];
  }
  if (function == 2) {
    long ld = *(int *)p[0];
    long n = *(size_t *)p[1];
  }
  return 1;
}
void *q2784_object(int k)
{
  switch (k) {
  }
  return 0;
}
