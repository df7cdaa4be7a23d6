/* A function of the user's in a nest that is changed: the way out is the nest as written. */
static double half(double x) { return x * 0.5; }

double vouched(int n, double a[restrict n][n], const double b[restrict n], double c[restrict n])
{
    double t = 1;
    /*@ begin PerfTuning (
      def input_params { param n = 16; }
      def assume { arg pure = ['half']; }
    ) @*/
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[i][j] -= half(b[j]);
        t = a[i][i];
        c[i] = half(t);
    }
    /*@ end @*/
    return t;
}
