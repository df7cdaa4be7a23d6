void opencl(int n, double *y)
{
  int i;
/*@ begin PerfTuning ( def performance_params { param WG[] = [1,2]; }
    def performance_test_code { arg skeleton_code_file = 'no_such_driver.c'; } ) @*/
/*@ begin Loop ( transform OpenCL(workGroups=WG, device=1)
  for (i = 0; i < n; i++) y[i] = 0;
) @*/
/*@ end @*/
/*@ end @*/
}
