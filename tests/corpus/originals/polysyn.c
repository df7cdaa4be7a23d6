/*@ begin PerfTuning (
  def build { arg command = 'icc'; arg options = '-fast'; }
  def input_params { param n[] = [500]; decl in static double x[n] = random; param m = [1,2]; }
) @*/
/*@ begin PolySyn ( parallel = PAR; tiles = [T1,T2]; compile_cmd = 'gcc'; ) @*/
for (t = 0; t < n; t++) x[t] = t;
/*@ end @*/
/*@ end @*/
