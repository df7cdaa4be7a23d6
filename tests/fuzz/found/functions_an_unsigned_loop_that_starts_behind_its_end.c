/* functions {"name": "q16643", "text": "", "harness": "", "entries": [{"function": "q16643_0", "slots": [{"name": "l", "kind": "value", "type": "unsigned"}, {"name": "c", "kind": "array", "type": "double complex"}, {"name": "v", "kind": "array", "type": "double complex"}, {"name": "a", "kind": "array", "type": "double complex"}, {"name": "u", "kind": "array", "type": "double complex"}, {"name": "r", "kind": "array", "type": "double complex"}, {"name": "w", "kind": "array", "type": "double complex"}], "calls": [{"values": {"l": "12"}, "arrays": {"c": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "0"}, "arrays": {"c": {"style": "extreme", "salt": 1, "is_null": false, "same": "", "offset": 0}, "v": {"style": "extreme", "salt": 2, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "extreme", "salt": 4, "is_null": false, "same": "u", "offset": 0}, "w": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "1"}, "arrays": {"c": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "12"}, "arrays": {"c": {"style": "nan", "salt": 1, "is_null": false, "same": "", "offset": 0}, "v": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "5"}, "arrays": {"c": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 4, "is_null": false, "same": "u", "offset": -2}}}, {"values": {"l": "33"}, "arrays": {"c": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "12"}, "arrays": {"c": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "12"}, "arrays": {"c": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"l": "3"}, "arrays": {"c": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "w": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}]}, {"function": "q16643_1", "slots": [{"name": "ny", "kind": "value", "type": "signed char"}, {"name": "and", "kind": "value", "type": "short"}, {"name": "z", "kind": "value", "type": "long"}, {"name": "b_d", "kind": "array", "type": "short"}, {"name": "dim3", "kind": "array", "type": "short"}, {"name": "t_0", "kind": "array", "type": "int"}, {"name": "r", "kind": "array", "type": "short"}], "calls": [{"values": {"ny": "12", "and": "6", "z": "0"}, "arrays": {"b_d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "dim3": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "t_0": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "0", "and": "0", "z": "0"}, "arrays": {"b_d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "dim3": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "t_0": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "1", "and": "1", "z": "0"}, "arrays": {"b_d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "dim3": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "t_0": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "r": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "13", "and": "3", "z": "1"}, "arrays": {"b_d": {"style": "small", "salt": 4, "is_null": false, "same": "dim3", "offset": 0}, "dim3": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "t_0": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "1", "and": "11", "z": "0"}, "arrays": {"b_d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "dim3": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "t_0": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "33", "and": "6", "z": "0"}, "arrays": {"b_d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "dim3": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "t_0": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "-1", "and": "-3", "z": "-1"}, "arrays": {"b_d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "dim3": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "t_0": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "r": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "12", "and": "6", "z": "1"}, "arrays": {"b_d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "dim3": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "t_0": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "2", "and": "3", "z": "-1"}, "arrays": {"b_d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "dim3": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "t_0": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "r": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": [], "features": ["MAX", "array of an iteration", "beyond 32 bits", "call", "hidden function", "macro with a library's name", "odd head", "pointer into an array", "reduction", "sum", "temporary", "triangular"], "sums": true, "discrete": false, "point": 16643, "fault": "cuda 9: died of -27:"} */
#include <stddef.h>
#include <complex.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
double q16643_sq(double x);
#undef abs
#define abs(x) ((x) + 3)
void q16643_0(unsigned l, double complex *restrict c, const double complex v[restrict l], double complex a[restrict l], double complex u[l], double complex r[l + 1], double complex w[3], double *out_)
{
  signed char t = 1;
  double complex *b = c + 2;
  int i = 77;
  int ii = 77;
  int row = 77;

  for (ii = (int)(((long)l << 31) >> 31) - 1; ii >= l + t; ii = ii - 1) {
  }
  for (i = 0; i < 3; i++) {
    t += t;
    for (row = 0; row < l; row++)
      w[i] += a[row];
    w[i] = w[i];
  }

  do {
    /*@ begin PerfTuning ( def input_params { param l = 12; } ) @*/
    for (row = 0; row < 3; row++) {
      for (ii = 0; ii < l; ii = ii + 1) {
        t = t;
        w[row] -= b[ii];
      }
    }
    /*@ end @*/
  } while (0);
  t = t * 2;
  switch (2) {
  case 0:
    out_[0] = 9;
    break;
  default:

    for (ii = 0; ii < l; ii += 1) {
      for (row = 0; row < l; row++) {
        t = (int)(('a' + 1u));
        a[ii] += a[ii];
      }
    }

    break;
  }
  out_[1] = t;
  out_[2] = i;
  out_[3] = ii;
}
int q16643_1(signed char ny, short and, long z, short *b_d, short *dim3, int *restrict t_0, short *restrict r, double *out_)
{
  int e = 77;
  unsigned col = 77;
  unsigned annotune_s = 77;
  unsigned gamma = 77;
  switch (1) {
  case 0:
    out_[0] = 9;
    break;
  default:
    /*@ begin PerfTuning ( def input_params { param ny = 12; param and = 6; } ) @*/
    for (gamma = 1; gamma <= ny; gamma++) {
      for (col = gamma + 1; col < ny; col++) {
        for (e = 0; e < and; e = e + 1) {
          if (b_d[gamma*(ny + 2)*ny + col*ny + col] != gamma) {
            dim3[gamma*(ny + 1)*and + col*and + e] -= (int)(abs(dim3[col*(ny + 1)*and + col*and + e - 1]));
          } else {
            t_0[gamma*ny*and + col*and + e] = ((t_0[(2*gamma)*ny*and + (col + 2)*and + e + 1] - b_d[gamma*(ny + 2)*ny + (2*gamma)*ny + col]) * (dim3[col*(ny + 1)*and + gamma*and + e] + b_d[col*(ny + 2)*ny + (e + 3)*ny + col]));
          }
          {
            short lw_[3];
            for (int l = 0; l < 3; l++) lw_[l] = t_0[col*ny*and + col*and + e] + l;
            dim3[gamma*(ny + 1)*and + col*and + e] = lw_[1] + lw_[2];
          }
        }
      }
    }
    /*@ end @*/
    break;
  }
  /*@ begin PerfTuning ( def input_params { param ny = 12; param and = 6; } ) @*/
  for (annotune_s = 1; annotune_s < 3; annotune_s++)
    r[annotune_s] += abs((r[annotune_s] - z));
  /*@ end @*/
  out_[1] = z;
  out_[2] = annotune_s;
  out_[3] = col;
  return z;
}
/* harness */
#undef MAX
#undef MIN
#undef abs
double q16643_sq(double x) { return x * x; }
void q16643_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q16643_0(*(unsigned *)p[0], p[1], p[2], p[3], p[4], p[5], p[6], (double *)p[7]);
    break;
  }
  case 1: {
    ((double *)p[7])[0] = q16643_1(*(signed char *)p[0], *(short *)p[1], *(long *)p[2], p[3], p[4], p[5], p[6], (double *)p[7]);
    break;
  }
  }
}
long q16643_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(unsigned *)p[0];
    if (slot == 2) return (long)(l);
    if (slot == 3) return (long)(l);
    if (slot == 4) return (long)(l);
    if (slot == 5) return (long)(l + 1);
    if (slot == 6) return (long)(3);
  }
  if (function == 1) {
    long ny = *(signed char *)p[0];
    long and = *(short *)p[1];
  }
  return 0;
}
long q16643_row(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(unsigned *)p[0];
  }
  if (function == 1) {
    long ny = *(signed char *)p[0];
    long and = *(short *)p[1];
  }
  return 1;
}
void *q16643_object(int k)
{
  switch (k) {
  }
  return 0;
}
