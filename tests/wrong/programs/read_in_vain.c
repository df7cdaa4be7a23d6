/* Values that nothing reads: one made of an array that nothing else touches, one of a constant. */
void in_vain(int n, double a[restrict n][n], double c[restrict n], const unsigned w[n][n])
{
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            a[i][k] -= 3;
        {
            int vain = w[i][i] + 7;
            float unread = 0.5;
            c[i] = a[n - 1 - i][i] + i;
        }
    }
    /*@ end @*/
}
