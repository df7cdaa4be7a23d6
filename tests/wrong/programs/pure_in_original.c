/* CUDA did not compile: the nest as written, of which a temporary was made private, called `half`, and
   not the copy of it */
static double half(double x) { return x / 2; }
void pure_in_original(int l, short *restrict v, int d[8][l], short c[8][8], double *restrict r)
{
    double sum = 0;
    short *w = v + 3;
    /*@ begin PerfTuning ( def input_params { param l = 6; } def assume { arg pure = ['half']; } ) @*/
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < l; j++) d[i][j] = d[i][j] * w[j];
        sum = c[i][i] + 0.5;
        for (int j = i + 1; j < 8; j++) c[i][j] = half(c[j][i] * -1);
    }
    /*@ end @*/
    *r = sum;
}
