/* What accumulates is chosen by a comparison: C compares in the type of what it compares. */
void of_ints(int n, double *restrict b, double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (int i = 0; i < n; i++) {
        b[0] = i - 1 <= 3 ? b[0] : 1.0;
        for (int j = 0; j < n; j++)
            y[i] = j - i < -2 ? y[i] : y[i] + b[1];
    }
    /*@ end @*/
}

void of_unsigned(unsigned n, unsigned m, double *restrict b, float *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; param m = 5; } ) @*/
    for (unsigned i = 0; i < n; i++) {
        b[0] = i - 1 <= 3 ? b[0] : b[1];
        for (unsigned j = 0; j < n; j++)
            y[i] = j - m >= 4000000000 ? y[i] + 1 : y[i];
    }
    /*@ end @*/
}

void of_both(int n, unsigned m, double *restrict b, float *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; param m = 5; } ) @*/
    for (int i = 0; i < n; i++) {
        b[0] = i - 2 < m ? b[0] : b[1];
        for (int j = 0; j < n; j++)
            y[i] = y[i] + (i - j > m ? 1.f : 0.f);
    }
    /*@ end @*/
}

/* Beyond 2^53 a long is no double, beyond 2^24 an int no float. */
void of_longs(int n, long m, int k, double *restrict b, float *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; param m = 5; param k = 6; } ) @*/
    for (int i = 0; i < n; i++) {
        b[0] = m + i > 9007199254740992 ? b[0] + 1 : b[0];
        for (int j = 0; j < n; j++)
            y[i] = k + j > 16777216 ? y[i] + 1 : y[i];
    }
    /*@ end @*/
}

void of_shorts(int n, unsigned short m, const short *restrict k, double *restrict b,
               float *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; param m = 5; } ) @*/
    for (int i = 0; i < n; i++) {
        b[0] = m - i < k[i] ? b[0] : b[0] + 2;
        for (int j = 0; j < n; j++)
            y[i] = (unsigned short)(j - 1) > m ? y[i] : k[j] > m ? y[i] - 1 : y[i] + 3;
    }
    /*@ end @*/
}

void nested(int n, unsigned m, double *restrict b, double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; param m = 5; } ) @*/
    for (int i = 0; i < n; i++) {
        b[0] = i - 3 < 2 ? (i - 2 < m ? b[0] : b[1]) : i - 6 > m ? b[0] + 1 : b[0];
        for (int j = 0; j < n; j++)
            y[i] = (i - j < 2 && j - i < m) || j - 5 == -i ? y[i] : y[i] + b[2];
    }
    /*@ end @*/
}

/* A column is contiguous. */
void columns(int n, unsigned m, double *restrict a, double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; param m = 5; } ) @*/
    for (int j = 1; j <= n; j++)
        for (int i = 1; i <= n; i++) {
            y[j - 1] = i - j > m ? y[j - 1] : a[(i - 1) + (j - 1) * n] + y[j - 1];
            a[(i - 1) + (j - 1) * n] = i - 4 <= -1 ? a[(i - 1) + (j - 1) * n] : 2.0;
        }
    /*@ end @*/
}

/* The greatest and the least of what goes round in its own type. */
void extrema(int n, unsigned m, const unsigned *restrict u, long *restrict w, double *restrict b)
{
    long most = w[0], least = w[1];
    double top = b[0], bottom = b[1];
    /*@ begin PerfTuning ( def input_params { param n = 8; param m = 5; } ) @*/
    for (int i = 0; i < n; i++) {
        if (u[i] - 1 > most)
            most = u[i] - 1;
        least = u[i] - m < least ? u[i] - m : least;
        top = i - m > top ? i - m : top;
        if (bottom > (unsigned short)(i - 3))
            bottom = (unsigned short)(i - 3);
    }
    /*@ end @*/
    w[0] = most, w[1] = least;
    b[0] = top, b[1] = bottom;
}
