/* functions {"name": "q42", "text": "", "harness": "", "entries": [{"function": "q42_0", "slots": [{"name": "n", "kind": "value", "type": "int"}, {"name": "a", "kind": "array", "type": "size_t"}, {"name": "flag", "kind": "value", "type": "int"}, {"name": "d", "kind": "array", "type": "double"}], "calls": [{"values": {"n": "16", "flag": "1"}, "arrays": {"a": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "0", "flag": "0"}, "arrays": {"a": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 0, "is_null": true, "same": "", "offset": 0}}}, {"values": {"n": "1", "flag": "0"}, "arrays": {"a": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 0, "is_null": true, "same": "", "offset": 0}}}, {"values": {"n": "5", "flag": "1"}, "arrays": {"a": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "0", "flag": "1"}, "arrays": {"a": {"style": "nan", "salt": 1, "is_null": false, "same": "", "offset": 0}, "d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "37", "flag": "1"}, "arrays": {"a": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "-1", "flag": "1"}, "arrays": {"a": {"style": "nan", "salt": 1, "is_null": false, "same": "", "offset": 0}, "d": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "16", "flag": "0"}, "arrays": {"a": {"style": "nan", "salt": 1, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 0, "is_null": true, "same": "", "offset": 0}}}, {"values": {"n": "2", "flag": "2"}, "arrays": {"a": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {"q42_util.h": ""}, "objects": [["q42_g0", "int", 1936], ["q42_g1", "char", 44]], "own": [], "features": ["MAX", "macro", "optional array", "thread-local"], "sums": false, "discrete": false} */
#include <stddef.h>
#include <complex.h>
#include "q42_util.h"
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SC 3
__thread int q42_g0[44][44];
char q42_g1[44];
double q42_0(int n, size_t *a, int flag, double *d, double *out_)
{
  const double fac = n + 1;
  unsigned ii = 77;
  unsigned j = 77;
  unsigned jj = 77;
  switch (1) {
  case 0:
    out_[0] = 9;
    break;
  case 1:
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (ii = 0; ii < n; ii++) {
      a[ii] = a[ii] * 2;
      if (flag > 0) a[ii] += flag * d[ii];
    }
    /*@ end @*/
    break;
  }
  return 0;
}
/* harness */
#undef MAX
#undef MIN
#undef SC
void q42_call(int function, void **p)
{
  switch (function) {
  case 0: {
    ((double *)p[4])[0] = q42_0(*(int *)p[0], p[1], *(int *)p[2], p[3], (double *)p[4]);
    break;
  }
  }
}
long q42_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(int *)p[0];
  }
  return 0;
}
long q42_row(int function, int slot, void **p)
{
  if (function == 0) {
    long n = *(int *)p[0];
  }
  return 1;
}
void *q42_object(int k)
{
  switch (k) {
  case 0: return &q42_g0;
  case 1: return &q42_g1;
  }
  return 0;
}
