/* Loops unrolled by their authors, the clean-up before them. */
typedef int integer;
typedef double doublereal;

void axpy4(integer *n, doublereal *da, doublereal *dx, doublereal *dy)
{
    integer i__1, i__, m, mp1;
    --dy;
    --dx;
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    m = *n % 4;
    if (m != 0) {
        i__1 = m;
        for (i__ = 1; i__ <= i__1; ++i__) {
            dy[i__] += *da * dx[i__];
        }
    }
    mp1 = m + 1;
    i__1 = *n;
    for (i__ = mp1; i__ <= i__1; i__ += 4) {
        dy[i__] += *da * dx[i__];
        dy[i__ + 1] += *da * dx[i__ + 1];
        dy[i__ + 2] += *da * dx[i__ + 2];
        dy[i__ + 3] += *da * dx[i__ + 3];
    }
    /*@ end @*/
}

double dot5(integer *n, doublereal *dx, doublereal *dy)
{
    integer i__1, i__, m, mp1;
    doublereal dtemp = 0.;
    --dy;
    --dx;
    /*@ begin PerfTuning ( def input_params { param n = 65; } ) @*/
    m = *n % 5;
    i__1 = m;
    for (i__ = 1; i__ <= i__1; ++i__) {
        dtemp += dx[i__] * dy[i__];
    }
    mp1 = m + 1;
    i__1 = *n;
    for (i__ = mp1; i__ <= i__1; i__ += 5) {
        dtemp = dtemp + dx[i__] * dy[i__] + dx[i__ + 1] * dy[i__ + 1] + dx[
                i__ + 2] * dy[i__ + 2] + dx[i__ + 3] * dy[i__ + 3] + dx[i__ + 
                4] * dy[i__ + 4];
    }
    /*@ end @*/
    return dtemp + i__ + m;
}

double dot5_alone(integer *n, doublereal *dx, doublereal *dy)
{
    integer i__1, i__, m, mp1;
    doublereal dtemp = 0.;
    --dy;
    --dx;
    /*@ begin PerfTuning ( def input_params { param n = 65; } ) @*/
    m = *n % 5;
    i__1 = m;
    for (i__ = 1; i__ <= i__1; ++i__) {
        dtemp += dx[i__] * dy[i__];
    }
    mp1 = m + 1;
    i__1 = *n;
    for (i__ = mp1; i__ <= i__1; i__ += 5) {
        dtemp = dtemp + dx[i__] * dy[i__] + dx[i__ + 1] * dy[i__ + 1] + dx[
                i__ + 2] * dy[i__ + 2] + dx[i__ + 3] * dy[i__ + 3] + dx[i__ + 
                4] * dy[i__ + 4];
    }
    /*@ end @*/
    return dtemp + m;
}

void swap3(int n, double *restrict a, double *restrict b)
{
    int i, m = n % 3;
    double t;
    /*@ begin PerfTuning ( def input_params { param n = 66; } ) @*/
    m = n % 3;
    for (i = 0; i < m; i++) { t = a[i]; a[i] = b[i]; b[i] = t; }
    for (i = m; i < n; i += 3) {
        t = a[i]; a[i] = b[i]; b[i] = t;
        t = a[i + 1]; a[i + 1] = b[i + 1]; b[i + 1] = t;
        t = a[i + 2]; a[i + 2] = b[i + 2]; b[i + 2] = t;
    }
    /*@ end @*/
}

/* Not what they seem: another rest, another factor, an element of the next part, another start. */
void near_misses(int n, double *restrict a, const double *restrict b)
{
    int i, m;
    /*@ begin PerfTuning ( def input_params { param n = 67; } ) @*/
    m = n % 3;
    for (i = 0; i < m; i++) a[i] += b[i];
    for (i = m; i < n; i += 2) { a[i] += b[i]; a[i + 1] += b[i + 1]; }
    m = n % 2;
    for (i = 0; i < m; i++) a[i] += b[i];
    for (i = m; i < n; i += 2) { a[i] += b[i]; a[i + 1] += 2 * b[i + 1]; }
    for (i = 0; i < m; i++) a[i] += 3 * b[i];
    for (i = m; i < n; i += 2) { a[i] += b[i]; a[i + 1] += b[i + 1]; }
    for (i = 0; i < m; i++) a[i + 1] = b[i];
    for (i = m + 1; i < n; i += 2) { a[i] += b[i]; a[i + 1] += b[i + 1]; }
    for (i = m; i < n; i += 2) { a[i + 1] = 1; a[i] = 1; a[i + 2] = 2; }
    for (i = m; i < n; i += 2) { a[i + 1] = b[i + 1]; a[i] = b[i]; }
    /*@ end @*/
}
