/* Problem sizes in lists, an initialiser that needs them, and a parameter declared again. */
void diagonals(double *y, const double *x, int n)
{
  int i, j;
/*@ begin PerfTuning (
  def input_params {
    param ROWS[] = [8, 32];
    param COLS[] = [32, 64];
    param BANDS = 3;
    constraint square = (ROWS == COLS);
  }
  def input_vars {
    decl static int shift[BANDS] = {-ROWS, 0, ROWS};
    decl static double weight[BANDS] = {0.25, 0.5, 0.25};
  }
) @*/
  int n = ROWS*COLS;
/*@ begin Loop (
  for (i = 0; i < n; i++)
    for (j = 0; j < BANDS; j++)
      y[i] += weight[j]*x[i] + shift[j];
) @*/
/*@ end @*/
/*@ end @*/
}
