/* functions {"name": "q17863", "text": "", "harness": "", "entries": [{"function": "q17863_0", "slots": [{"name": "ny", "kind": "value", "type": "long"}, {"name": "abs", "kind": "value", "type": "unsigned"}, {"name": "i_end", "kind": "value", "type": "double complex"}, {"name": "delete", "kind": "array", "type": "unsigned"}, {"name": "a", "kind": "array", "type": "int"}], "calls": [{"values": {"ny": "12", "abs": "5", "i_end": "1.0"}, "arrays": {"delete": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "0", "abs": "0", "i_end": "3.0"}, "arrays": {"delete": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "1", "abs": "1", "i_end": "1.0"}, "arrays": {"delete": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "9", "abs": "3", "i_end": "0.5"}, "arrays": {"delete": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "0", "abs": "0", "i_end": "-5.0"}, "arrays": {"delete": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "33", "abs": "33", "i_end": "-5.0"}, "arrays": {"delete": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "5", "abs": "5", "i_end": "2.0"}, "arrays": {"delete": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "12", "abs": "5", "i_end": "3.0"}, "arrays": {"delete": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}}}, {"values": {"ny": "3", "abs": "2", "i_end": "-5.0"}, "arrays": {"delete": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}}}]}, {"function": "q17863_1", "slots": [{"name": "operator", "kind": "value", "type": "int"}, {"name": "l", "kind": "value", "type": "size_t"}, {"name": "blockIdx", "kind": "value", "type": "unsigned"}, {"name": "w", "kind": "array", "type": "float"}, {"name": "y", "kind": "array", "type": "double"}, {"name": "x", "kind": "array", "type": "double"}, {"name": "c", "kind": "array", "type": "double"}, {"name": "u", "kind": "array", "type": "float"}], "calls": [{"values": {"operator": "16", "l": "12", "blockIdx": "2"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"operator": "0", "l": "0", "blockIdx": "3"}, "arrays": {"w": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "y": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "c": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"operator": "1", "l": "1", "blockIdx": "2"}, "arrays": {"w": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"operator": "13", "l": "9", "blockIdx": "4294967295"}, "arrays": {"w": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "y": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "c": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"operator": "16", "l": "3", "blockIdx": "0"}, "arrays": {"w": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"operator": "33", "l": "12", "blockIdx": "2"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"operator": "-1", "l": "1", "blockIdx": "0"}, "arrays": {"w": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "c": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"operator": "16", "l": "12", "blockIdx": "4294967295"}, "arrays": {"w": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "y": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "c": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"operator": "2", "l": "2", "blockIdx": "3"}, "arrays": {"w": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "x": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "c": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "u": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [["q17863_g0", "double", 1], ["q17863_g1", "double", 44]], "own": [], "features": ["MAX", "odd head", "structure", "sum"], "sums": true, "discrete": true, "point": null, "fault": "openacc 15: died of -6: annotune_q17863_1_1: out of memory; running the original nest\nannotune_q17863_1_1: out of memory; running the original nest\nannotune_q17863_1_1: out of memory; running the original nest\nOpenACC at line 1713: the section of 'x' has -16 bytes"} */
#include <stddef.h>
#include <complex.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
double q17863_g0;
static double q17863_g1[44];
void q17863_0(long ny, unsigned abs, double complex i_end, unsigned delete[ny + 1], int *a, double *out_)
{
  unsigned long this = 77;
  unsigned long ii = 77;
  unsigned long i = 77;
  unsigned long row = 77;
  /*@ begin PerfTuning ( def input_params { param ny = 12; param abs = 5; } ) @*/
  for (ii = 0; ii < ny && ii < 6; ii++) {
    {
      unsigned acc_ = 0;
      for (this = 0; this < ny; this = this + 1)
        acc_ += 3;
      delete[ii] = acc_;
    }
    delete[ii] = -((int)(delete[ii]));
  }
  /*@ end @*/
  /*@ begin PerfTuning ( def input_params { param ny = 12; param abs = 5; } ) @*/
  for (row = 1; row <= abs; ++row)
    a[row] -= a[row];
  /*@ end @*/
}
struct q17863_1_s { int operator; double *y; };
int q17863_1(struct q17863_1_s *g_, size_t l, unsigned blockIdx, float *restrict w, double *restrict x, double c[restrict 8], float u[restrict 8 + 2], double *out_)
{
  int delete = 77;
  int i_begin = 77;
  unsigned sm = 77;
  long dim3 = 77;
  for (int rep_ = 0; rep_ < 2; rep_++) {

    for (sm = 2u; sm >= (unsigned)g_->operator; sm = sm - 1) {
      w[sm + 60] = sm / 2 * 0.5;
    }
    for (dim3 = 0; dim3 < g_->operator; dim3++) {
      q17863_g1[dim3] *= q17863_g1[dim3];
      if (q17863_g0 > 1) {
        q17863_g1[dim3] = (q17863_g1[dim3] - g_->y[(dim3 + 2)*(g_->operator + 1)*(g_->operator + 1) + dim3*(g_->operator + 1) + dim3]);
      }
    }

  }
  /*@ begin PerfTuning ( def input_params { param operator = 16; param l = 12; } ) @*/
  for (i_begin = l; i_begin < (int)g_->operator; i_begin++) {
    x[i_begin + 60] = i_begin * 0.5;
  }
  for (delete = 1; delete <= 8; delete++) {
    c[delete - 1] -= ((q17863_g1[delete] * c[delete]) - (c[delete - 1] - 3));
    q17863_g1[delete] = ((c[delete] * q17863_g1[delete]) - -(blockIdx));
    u[delete] = ((q17863_g1[delete] + 0.5) + c[delete]);
  }
  /*@ end @*/
  out_[1] = sm;
  return blockIdx;
}
/* harness */
#undef MAX
#undef MIN
void q17863_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q17863_0(*(long *)p[0], *(unsigned *)p[1], *(double complex *)p[2], p[3], p[4], (double *)p[5]);
    break;
  }
  case 1: {
    struct q17863_1_s s_ = { *(int *)p[0], p[4] };
    ((double *)p[8])[0] = q17863_1(&s_, *(size_t *)p[1], *(unsigned *)p[2], p[3], p[5], p[6], p[7], (double *)p[8]);
    break;
  }
  }
}
long q17863_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long ny = *(long *)p[0];
    long abs = *(unsigned *)p[1];
    if (slot == 3) return (long)(ny + 1);
  }
  if (function == 1) {
    long operator = *(int *)p[0];
    long l = *(size_t *)p[1];
    if (slot == 6) return (long)(8);
    if (slot == 7) return (long)(8 + 2);
  }
  return 0;
}
long q17863_row(int function, int slot, void **p)
{
  if (function == 0) {
    long ny = *(long *)p[0];
    long abs = *(unsigned *)p[1];
  }
  if (function == 1) {
    long operator = *(int *)p[0];
    long l = *(size_t *)p[1];
  }
  return 1;
}
void *q17863_object(int k)
{
  switch (k) {
  case 0: return &q17863_g0;
  case 1: return &q17863_g1;
  }
  return 0;
}
