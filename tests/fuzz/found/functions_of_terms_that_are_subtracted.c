/* functions {"name": "q254", "text": "", "harness": "", "entries": [{"function": "q254_0", "slots": [{"name": "ld", "kind": "value", "type": "long"}, {"name": "m", "kind": "value", "type": "unsigned"}, {"name": "mn", "kind": "value", "type": "char"}, {"name": "p", "kind": "value", "type": "char"}, {"name": "v", "kind": "array", "type": "float"}, {"name": "c", "kind": "array", "type": "float"}, {"name": "u", "kind": "array", "type": "float"}, {"name": "x", "kind": "array", "type": "float"}, {"name": "d", "kind": "array", "type": "float"}, {"name": "r", "kind": "array", "type": "float"}], "calls": [{"values": {"ld": "4", "m": "0", "mn": "3", "p": "0"}, "arrays": {"v": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "c": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "u": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "x": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}, "d": {"style": "zeros", "salt": 8, "is_null": false, "same": "", "offset": 0}, "r": {"style": "zeros", "salt": 9, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [], "own": [], "features": ["array of variable length", "contraction", "macro", "macro changed in the function", "reduction", "static local", "triangular"], "sums": true, "discrete": true, "point": 254, "fault": "cuda 4: x[10] is np.float32(-0.0), expected np.float32(0.0) (zero's sign)"} */
void q254_0(long ld, unsigned m, char mn, char p, const float v[restrict m + 2], float c[restrict m + 2][m], float (*u)[m + 2], float x[3][3 + 2], float *restrict d, float r[restrict 8][3 + 2], double *out_)
{
  long long ii = 77;
  long long row = 77;
  long long e = 77;
  /*@ begin PerfTuning ( def input_params { param ld = 6; param m = 7; } ) @*/
  for (row = 0; row < 3; row += 1)
    for (e = 0; e < row; e = e + 1)
      for (ii = 0; ii < 8; ii++)
        x[row][e] -= d[row*8 + ii] * r[ii][e];
  /*@ end @*/
}
/* harness */
#undef Q
void q254_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q254_0(*(long *)p[0], *(unsigned *)p[1], *(char *)p[2], *(char *)p[3], p[4], p[5], p[6], p[7], p[8], p[9], (double *)p[10]);
    break;
  }
  }
}
long q254_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long ld = *(long *)p[0];
    long m = *(unsigned *)p[1];
    if (slot == 4) return (long)(m + 2);
    if (slot == 5) return (long)(m + 2) * (long)(m);
    if (slot == 7) return (long)(3) * (long)(3 + 2);
    if (slot == 9) return (long)(8) * (long)(3 + 2);
  }
  return 0;
}
long q254_row(int function, int slot, void **p)
{
  if (function == 0) {
    long ld = *(long *)p[0];
    long m = *(unsigned *)p[1];
    if (slot == 6) return (long)(m + 2);
  }
  return 1;
}
void *q254_object(int k)
{
  switch (k) {
  }
  return 0;
}
