/* functions {"name": "q2081", "text": "", "harness": "", "entries": [{"function": "q2081_0", "slots": [{"name": "smem", "kind": "value", "type": "int"}, {"name": "i_1", "kind": "value", "type": "unsigned short"}, {"name": "m_", "kind": "array", "type": "unsigned long"}, {"name": "r", "kind": "array", "type": "unsigned long"}, {"name": "a", "kind": "array", "type": "unsigned long"}, {"name": "u", "kind": "array", "type": "double"}, {"name": "d", "kind": "array", "type": "unsigned long"}], "calls": [{"values": {"smem": "33", "i_1": "0"}, "arrays": {"m_": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "r": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "u": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "d": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {}, "objects": [["q2081_g0", "float", 1]], "own": [], "features": ["MAX", "array of an iteration", "macro", "pointer into an array", "reduction"], "sums": true, "discrete": true, "point": 2081, "fault": "cuda 5: out_[2] is np.float64(nan), expected np.float64(508.0)"} */
#ifndef STEP
#endif
static float q2081_g0;
void q2081_0(int smem, unsigned short i_1, const unsigned long *m_, unsigned long r[restrict 3 + 1], unsigned long a[3], double *u, unsigned long (*d)[smem + 1][smem], double *out_)
{
  double fac = 0;
  int k_t = 77;
  int col = 77;
  /*@ begin PerfTuning ( def input_params { param smem = 6; } ) @*/
  for (k_t = 1; k_t <= smem - 1; ++k_t) {
    for (col = 0; col < smem; col += 1)
      fac *= (r[1] > 0 ? 2 : 1);
  }
  /*@ end @*/
  out_[2] = fac;
}
/* harness */
#undef MAX
#undef MIN
#undef STEP
void q2081_call(int function, void **p)
{
  switch (function) {
  case 0: {
    q2081_0(*(int *)p[0], *(unsigned short *)p[1], p[2], p[3], p[4], p[5], p[6], (double *)p[7]);
    break;
  }
  }
}
long q2081_extent(int function, int slot, void **p)
{
  if (function == 0) {
    long smem = *(int *)p[0];
    if (slot == 3) return (long)(3 + 1);
    if (slot == 4) return (long)(3);
  }
  return 0;
}
long q2081_row(int function, int slot, void **p)
{
  if (function == 0) {
    long smem = *(int *)p[0];
    if (slot == 6) return (long)(smem + 1) * (long)(smem);
  }
  return 1;
}
void *q2081_object(int k)
{
  switch (k) {
  case 0: return &q2081_g0;
  }
  return 0;
}
