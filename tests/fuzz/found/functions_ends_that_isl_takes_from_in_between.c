/* functions {"name": "q18002", "text": "", "harness": "", "entries": [{"function": "q18002_0", "slots": [{"name": "n", "kind": "value", "type": "long"}, {"name": "m", "kind": "value", "type": "short"}, {"name": "p", "kind": "value", "type": "double complex"}, {"name": "x", "kind": "array", "type": "int"}, {"name": "b", "kind": "array", "type": "int"}, {"name": "u", "kind": "array", "type": "int"}, {"name": "a", "kind": "array", "type": "int"}, {"name": "r", "kind": "array", "type": "int"}, {"name": "v", "kind": "array", "type": "int"}], "calls": [{"values": {"n": "7", "m": "7", "p": "3.0"}, "arrays": {"x": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "0", "m": "0", "p": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "1", "m": "1", "p": "-0.0"}, "arrays": {"x": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 7, "is_null": false, "same": "r", "offset": 0}, "a": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "r": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}, "v": {"style": "nan", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "5", "m": "4", "p": "2.0"}, "arrays": {"x": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "r": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}, "v": {"style": "extreme", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "9", "m": "6", "p": "3.0"}, "arrays": {"x": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "33", "m": "33", "p": "0.0"}, "arrays": {"x": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "r": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}, "v": {"style": "extreme", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "5", "m": "-1", "p": "-5.0"}, "arrays": {"x": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "7", "m": "7", "p": "-5.0"}, "arrays": {"x": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 8, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "2", "m": "2", "p": "-5.0"}, "arrays": {"x": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "r": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}, "v": {"style": "zeros", "salt": 8, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [["q18002_g0", "unsigned char", 44]], "own": [], "features": ["MAX", "call", "macro", "pointer arithmetic", "pointer into an array", "scalar changed between nests", "static local", "structure", "thread-local"], "sums": true, "discrete": true, "point": 18002, "fault": "openacc 0: died of -11: OpenACC at line 316: a kernel used 'g__r' behind its section, at byte 2752 of 2404"} */
#include <stddef.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static double q18002_fmax(double x, double y) { return x < y ? x : y; }
double q18002_fabs(double x) { return x + 2; }
#ifndef NB
#define NB (1 + 2)
#endif
__thread unsigned char q18002_g0[44];
struct q18002_0_s { long n; int *b; int *u; int *a; int *r; int *v; };
void q18002_0(struct q18002_0_s *g_, short m, double complex p, int *x, double *out_)
{
  size_t be = 0;
  static unsigned long q = -1;
  double t = -1;
  int *c = x + 2;
  for (int rep_ = 0; rep_ < 1; rep_++) {
    /*@ begin PerfTuning ( def input_params { param n = 7; param m = 7; } def assume { arg pure = ['q18002_fmax', 'q18002_fabs']; } ) @*/
    for (int k = 0; k < g_->n; k++) {
      for (long e = 0; e < m; e++) {
        g_->b[k*(m + 2) + e] = (q18002_fmax(c[k/2], *(g_->u + (m - 1 - e) - 1)) * q18002_fmax(c[k + 2], g_->a[k*(g_->n + 2)*(m + 1) + ((int)k + 1)*(m + 1) + e]));
      }
    }
    /*@ end @*/
  }
  p = (p + q);
  /*@ begin PerfTuning ( def input_params { param n = 7; param m = 7; } def assume { arg pure = ['q18002_fmax', 'q18002_fabs']; } ) @*/
  for (long col = 0; col < m; col++) {
    for (int k = 8 - 1; k > 0; k -= 2) {
      for (long e = 0; e < g_->n; e = e + 1) {
        g_->r[col*(8 + 2)*(g_->n + 2) + k*(g_->n + 2) + e] -= ((k > e ? 3 : q) + g_->u[col]);
        g_->v[col*8*g_->n + k*g_->n + e] = be;
        g_->v[col*8*g_->n + k*g_->n + e] -= (g_->v[(col + 3)*8*g_->n + k*g_->n + e] <= 0 ? (k - c[e]) : q18002_fmax(g_->r[((long)col + 1)*(8 + 2)*(g_->n + 2) + k*(g_->n + 2) + e], be));
      }
    }
    t += g_->u[col];
    for (int k = g_->n; k > 0; --k) {
      g_->r[(m - 1 - col)*(8 + 2)*(g_->n + 2) + 4*(g_->n + 2) + (ptrdiff_t)k] = ((c[k] - be) + (-1 - q));
    }
  }
  /*@ end @*/
  out_[1] = creal(p);
  out_[2] = q;
  out_[3] = t;
}
/* harness */
#undef MAX
#undef MIN
#undef NB
void q18002_call(int function, void **p)
{
  switch (function) {
  case 0: {
    struct q18002_0_s s_ = { *(long *)p[0], p[4], p[5], p[6], p[7], p[8] };
    q18002_0(&s_, *(short *)p[1], *(double complex *)p[2], p[3], (double *)p[9]);
    break;
  }
  }
}
long q18002_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(long *)p[0];
    long m = *(short *)p[1];
  }
  return 0;
}
long q18002_row(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(long *)p[0];
    long m = *(short *)p[1];
  }
  return 1;
}
void *q18002_object(int k)
{
  switch (k) {
  case 0: return &q18002_g0;
  }
  return 0;
}
