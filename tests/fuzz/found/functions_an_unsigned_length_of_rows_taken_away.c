/* functions {"name": "q12626", "text": "", "harness": "", "entries": [{"function": "q12626_0", "slots": [{"name": "m", "kind": "value", "type": "short"}, {"name": "n", "kind": "value", "type": "int"}, {"name": "l", "kind": "value", "type": "int"}, {"name": "sum", "kind": "value", "type": "unsigned char"}, {"name": "b", "kind": "array", "type": "signed char"}], "calls": [{"values": {"m": "16", "n": "9", "l": "8", "sum": "1"}, "arrays": {"b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "0", "n": "0", "l": "0", "sum": "3"}, "arrays": {"b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "1", "n": "1", "l": "1", "sum": "1"}, "arrays": {"b": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "16", "n": "9", "l": "3", "sum": "2"}, "arrays": {"b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "9", "n": "0", "l": "13", "sum": "2"}, "arrays": {"b": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "16", "n": "33", "l": "33", "sum": "1"}, "arrays": {"b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "5", "n": "-1", "l": "5", "sum": "0"}, "arrays": {"b": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "16", "n": "9", "l": "8", "sum": "0"}, "arrays": {"b": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"m": "3", "n": "2", "l": "3", "sum": "1"}, "arrays": {"b": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}}}]}, {"function": "q12626_1", "slots": [{"name": "ld", "kind": "value", "type": "int"}, {"name": "m", "kind": "value", "type": "unsigned"}, {"name": "q", "kind": "value", "type": "double"}, {"name": "w", "kind": "array", "type": "double"}, {"name": "v", "kind": "array", "type": "double"}, {"name": "x", "kind": "array", "type": "float complex"}], "calls": [{"values": {"ld": "9", "m": "16", "q": "-1.0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "0", "m": "0", "q": "inf"}, "arrays": {"w": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "v": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "1", "m": "1", "q": "2.0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "9", "m": "4", "q": "2.0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "5", "m": "11", "q": "-1.0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "37", "m": "17", "q": "1.0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "9", "m": "1", "q": "3.0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "9", "m": "16", "q": "3.0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ld": "3", "m": "2", "q": "1.0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "v": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": ["pow"], "features": ["array of an iteration", "beyond 32 bits", "call", "function with a library's name", "macro", "sum"], "sums": true, "discrete": false, "point": 12626, "fault": "cuda 9: died of -11:"} */
#include <stddef.h>
#include <complex.h>
static double pow(double x, double y) { return x - y; }
#define Q 2.0
double q12626_0(short m, int n, int l, unsigned char sum, signed char *b, double *out_)
{
  float ga = 1;
  unsigned long t = 1;
  double al = 2;

  for (int col = 0; col < 8/2; col++) {
    {
      signed char lw_[3];
      for (int ii = 0; ii < 3; ii++) lw_[ii] = pow(b[col], b[col]) + ii;
      b[col] = lw_[1] + lw_[2];
    }
  }

  out_[1] = ga;
  out_[2] = t;
  out_[3] = al;
  return t;
}
int q12626_1(int ld, unsigned m, double q, double *w, double v[restrict ld + 1], float complex *restrict x, double *out_)
{
  const long s = (long)m * 700000001;
  /*@ begin PerfTuning ( def input_params { param ld = 9; param m = 16; } ) @*/
  for (long j = (long)m * 700000001; j < (long)m * 700000001 + m; j++) {
    w[((j - (long)m * 700000001))*(m + 1) + (j - (long)m * 700000001)] += w[((j - (long)m * 700000001))*(m + 1) + (j - (long)m * 700000001)];
    for (size_t l = 0; l < ld; l++)
      w[((j - (long)m * 700000001) - 1)*(m + 1) + (j - (long)m * 700000001)] -= ((w[((j - (long)m * 700000001))*(m + 1) + (j - (long)m * 700000001) + 2] + w[((j - (long)m * 700000001))*(m + 1) + (j - (long)m * 700000001)]) + (q + v[l]));
    w[((j - (long)m * 700000001))*(m + 1) + (j - (long)m * 700000001) + 1] *= w[((j - (long)m * 700000001) + 2)*(m + 1) + (j - (long)m * 700000001)];
  }
  /*@ end @*/
  /*@ begin PerfTuning ( def input_params { param ld = 9; param m = 16; } ) @*/
  for (size_t l = 0; l < 3; l++) {
    for (int e = 0; e < 8; e += 1) {
      for (int j = 0; j < m; j++)
        x[l*8 + e] += ((int)(s / 700000001) - e);
    }
  }
  /*@ end @*/
  return 0;
}
/* harness */
#undef Q
void q12626_call(int function, void **p)
{
  switch (function) {
  case 0: {
    ((double *)p[5])[0] = q12626_0(*(short *)p[0], *(int *)p[1], *(int *)p[2], *(unsigned char *)p[3], p[4], (double *)p[5]);
    break;
  }
  case 1: {
    ((double *)p[6])[0] = q12626_1(*(int *)p[0], *(unsigned *)p[1], *(double *)p[2], p[3], p[4], p[5], (double *)p[6]);
    break;
  }
  }
}
long q12626_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(short *)p[0];
    long n = *(int *)p[1];
    long l = *(int *)p[2];
  }
  if (function == 1) {
    long ld = *(int *)p[0];
    long m = *(unsigned *)p[1];
    if (slot == 4) return (long)(ld + 1);
  }
  return 0;
}
long q12626_row(int function, int slot, void **p)
{
  if (function == 0) {
    long m = *(short *)p[0];
    long n = *(int *)p[1];
    long l = *(int *)p[2];
  }
  if (function == 1) {
    long ld = *(int *)p[0];
    long m = *(unsigned *)p[1];
  }
  return 1;
}
void *q12626_object(int k)
{
  switch (k) {
  }
  return 0;
}
