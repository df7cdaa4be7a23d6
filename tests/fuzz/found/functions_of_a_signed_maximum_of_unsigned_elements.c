/* functions {"name": "q1101", "text": "", "harness": "", "entries": [{"function": "q1101_0", "slots": [{"name": "l", "kind": "value", "type": "int"}, {"name": "mx", "kind": "value", "type": "int"}, {"name": "q", "kind": "value", "type": "double"}, {"name": "w", "kind": "array", "type": "unsigned long"}, {"name": "x", "kind": "array", "type": "long long"}, {"name": "c", "kind": "array", "type": "double"}], "calls": [{"values": {"l": "12", "mx": "1", "q": "-5.0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}]}, {"function": "q1101_1", "slots": [{"name": "l", "kind": "value", "type": "int"}, {"name": "ld", "kind": "value", "type": "long"}, {"name": "mn", "kind": "value", "type": "short"}, {"name": "u", "kind": "array", "type": "signed char"}], "calls": []}], "headers": {"q1101_util.h": ""}, "objects": [], "own": [], "features": ["MAX", "array of variable length", "call", "macro", "maximum", "reduction", "scalar changed between nests", "structure", "temporary"], "sums": true, "discrete": false, "point": null, "fault": "cuda 0: out_[2] is np.float64(1600.0), expected np.float64(65.0)"} */
#include "q1101_util.h"
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
double q1101_fmax(double x, double y) { return x < y ? x : y; }
#define Q 4
void q1101_0(int l, int mx, double q, unsigned long *restrict w, long long x[restrict 8 + 2], double c[restrict 8 + 1][l], double *out_)
{
  long long z = 3;
  double a[l + 4];
  for (int zz = 0; zz < l + 4; zz++) a[zz] = zz % 5;
  /*@ begin PerfTuning ( def input_params { param l = 12; } def assume { arg pure = ['q1101_fmax']; } ) @*/
  for (unsigned jj = 0; jj < 8; jj++) {
    for (unsigned k = 0; k < l; k++) {
      for (unsigned e = 0; e < 8/2; e += 1) {
        w[jj*l*8 + k*8 + e] = ((mx - w[jj*l*8 + k*8 + e]) + -(w[(jj + 1)*l*8 + (k - 1)*8 + jj]));
      }
      z = MAX(z, w[jj*l*8 + k*8 + jj]);
    }
    z = z * 2;
  }
  /*@ end @*/
  z -= (short)(2L);
  z = z * 2;
  for (int rep_ = 0; rep_ < 2; rep_++) {
    /*@ begin PerfTuning ( def input_params { param l = 12; } def assume { arg pure = ['q1101_fmax']; } ) @*/
    for (unsigned k = MAX(0, 8 - 4); k < 8; k++) {
      z -= (x[k] + x[k]);
    }
    /*@ end @*/
  }
  out_[1] = a[0];
  out_[2] = z;
}
struct q1101_1_s { int l; };
void q1101_1(struct q1101_1_s *g_, long ld, short mn, signed char *u, double *out_)
{
  double fac = -1;


  out_[1] = fac;
}
/* harness */
#undef MAX
#undef MIN
#undef Q
void q1101_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q1101_0(*(int *)p[0], *(int *)p[1], *(double *)p[2], p[3], p[4], p[5], (double *)p[6]);
    break;
  }
  case 1: {
    struct q1101_1_s s_ = { *(int *)p[0] };
    q1101_1(&s_, *(long *)p[1], *(short *)p[2], p[3], (double *)p[4]);
    break;
  }
  }
}
long q1101_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(int *)p[0];
    if (slot == 4) return (long)(8 + 2);
    if (slot == 5) return (long)(8 + 1) * (long)(l);
  }
  if (function == 1) {
    long l = *(int *)p[0];
    long ld = *(long *)p[1];
  }
  return 0;
}
long q1101_row(int function, int slot, void **p)
{
  if (function == 0) {
    long l = *(int *)p[0];
  }
  if (function == 1) {
    long l = *(int *)p[0];
    long ld = *(long *)p[1];
  }
  return 1;
}
void *q1101_object(int k)
{
  switch (k) {
  }
  return 0;
}
