/* Integers with a sign that loops count up and down from, by or along unsigned numbers. */

void along(unsigned m, int n, double *restrict x, const double *restrict d)
{
    int c = n, e;
    long far = -5;
    /*@ begin PerfTuning ( def input_params { param m = 8; param n = 8; } ) @*/
    for (unsigned u = 0; u < m; u++) {
        x[c] += d[far];
        c--;
        far += 2;
    }
    e = 3;
    for (unsigned u = 0; u < m; u++) {
        x[u + 40] += d[e];
        e += n;
    }
    /*@ end @*/
}

void from(unsigned m, int n, double *restrict x, const double *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param m = 8; param n = 8; } ) @*/
    int c = m, e = n - m, k;
    for (k = 0; k < n; k++) {
        x[c] += d[e];
        c -= 2;
        e -= n;
    }
    /*@ end @*/
}

void trips(unsigned m, int n, double *restrict x, const double *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param m = 8; param n = 8; } ) @*/
    int c = 0, k, i;
    for (k = 0; k < n; k++)
        for (i = 0; i < (int)m; i++) {
            x[c] = d[-k] + i;
            c--;
        }
    /*@ end @*/
}

/* Bounds that go round below 0 before they are widened. */
void bounds(unsigned m, int n, double *restrict x, const double *restrict d)
{
    int k;
    /*@ begin PerfTuning ( def input_params { param m = 8; param n = 8; } ) @*/
    for (k = 12; k > (long)(m - 3); k--)
        x[k] = k;
    for (k = 0; k < n && k < (long)(m - 3); k++)
        x[k + 20] = 7;
    for (long a = (long)(m - 3); a < 20; a++)
        x[a + 40] = a;
    /*@ end @*/
}

/* An element that a moved pointer names, in a loop that counts down. */
void moved(unsigned m, int n, double *restrict x, const double *restrict d)
{
    int k, i;
    /*@ begin PerfTuning ( def input_params { param m = 8; param n = 8; } ) @*/
    for (k = n - 1; k > 0; k -= 2) {
        for (i = 0; i < 3; i++)
            *(x + k - 1) = d[i] > *(x + k - 1) ? d[i] : *(x + k - 1);
        x[k + 60] = d[k];
    }
    /*@ end @*/
}
