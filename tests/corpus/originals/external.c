register int i;

/*@ begin Loop (
  transform UnrollJam(ufactor=4)
  for (i = 0; i < n; i++)
    to[i] = 3.0*from[i];
) @*/
/*@ end @*/
