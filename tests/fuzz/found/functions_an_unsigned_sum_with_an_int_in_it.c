/* functions {"name": "q4981", "text": "", "harness": "", "entries": [{"function": "q4981_0", "slots": [{"name": "m", "kind": "value", "type": "int"}, {"name": "n", "kind": "value", "type": "int"}, {"name": "be", "kind": "value", "type": "unsigned long"}, {"name": "b", "kind": "array", "type": "int"}, {"name": "x", "kind": "array", "type": "int"}], "calls": [{"values": {"m": "7", "n": "6", "be": "3"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "0", "n": "0", "be": "2"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "1", "n": "1", "be": "0"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "4", "n": "6", "be": "3"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "9", "n": "9", "be": "0"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "8", "n": "37", "be": "2"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "5", "n": "-1", "be": "3"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "7", "n": "6", "be": "0"}, "arrays": {"b": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "2", "n": "2", "be": "1"}, "arrays": {"b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [["q4981_g0", "float", 1]], "own": [], "features": [], "sums": false, "discrete": false, "point": null, "fault": "cuda 8: died of -11:"} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
static float q4981_g0;
double q4981_0(int m, int n, unsigned long be, int *restrict b, int *restrict x, double *out_)
{
  int ga = 2;
  /*@ begin PerfTuning ( def input_params { param m = 7; param n = 6; } ) @*/
  for (unsigned row = 0; row < m; row++) {
    for (unsigned i = 0; i < n/2; i++) {
      if (row == m/2) {
        b[(n - 1 - i)*(n + 2)*n + ((int)i)*n + -row] *= ((i <= 3 ? ga : b[(i + 2)*(n + 2)*n + i*n + i]) * (b[(i + 1)*(n + 2)*n + i*n + i] * b[i*(n + 2)*n + (i + 1)*n + i]));
      } else {
        b[i*(n + 2)*n + i*n + i] *= ((b[(i + 2)*(n + 2)*n + i*n + i] - 255) - b[i*(n + 2)*n + i*n + i]);
      }
    }
    if (x[row] > 0) {
      x[row] = -(x[row]);
    }
  }
  /*@ end @*/
  out_[1] = ga;
  return be;
}
/* harness */
void q4981_call(int function, void **p)
{
  switch (function) {
  case 0: {
    ((double *)p[5])[0] = q4981_0(*(int *)p[0], *(int *)p[1], *(unsigned long *)p[2], p[3], p[4], (double *)p[5]);
    break;
  }
  }
}
long q4981_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(int *)p[0];
    long n = *(int *)p[1];
  }
  return 0;
}
long q4981_row(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(int *)p[0];
    long n = *(int *)p[1];
  }
  return 1;
}
void *q4981_object(int k)
{
  switch (k) {
  case 0: return &q4981_g0;
  }
  return 0;
}
