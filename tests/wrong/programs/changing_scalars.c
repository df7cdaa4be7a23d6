/* Scalars that a serial loop changes between kernels which read them. */
static int level = 1;
static double weight = 2;

void product(int n, int ns, const int *restrict a, const int *restrict b, int *restrict c)
{
    int t = 1;
    /*@ begin PerfTuning ( def input_params { param n = 16; param ns = 3; param t = 1; } ) @*/
    for (int s = 0; s < ns; s++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    c[i*n+j] += t * a[i*n+k] * b[k*n+j];
        t = t * 2;
    }
    /*@ end @*/
}

void of_the_file(int n, int ns, const double *restrict a, const double *restrict b, double *restrict c)
{
    level = 1;
    weight = 2;
    /*@ begin PerfTuning ( def input_params { param n = 16; param ns = 3; } ) @*/
    for (int s = 0; s < ns; s++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    c[i*n+j] += level * weight * a[i*n+k] * b[k*n+j];
        level = level + s + 1;
        weight = weight - level;
    }
    /*@ end @*/
    c[0] += level + weight;
}

void in_conditions(long n, long ns, long *restrict a, const long *restrict b)
{
    unsigned char t = 250;
    long u = 2;
    /*@ begin PerfTuning ( def input_params { param n = 16; param ns = 4; } ) @*/
    for (long s = 0; s < ns; s++) {
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++) {
                if (b[i*n+j] < u) a[i*n+j] += t;
                if (j > u) a[i*n+j] -= 1;
            }
        t += 3;
        for (long i = 0; i < n; i++) a[i*n] += u;
        u = u + t / 100;
    }
    /*@ end @*/
    a[0] += t + u;
}

long summed(int n, int ns, int *restrict a, const int *restrict b)
{
    long t = 3;
    int most = 1;
    /*@ begin PerfTuning ( def input_params { param n = 16; param ns = 3; } ) @*/
    for (int s = 0; s < ns; s++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) a[i*n+j] += (int)t % 5 * b[i*n+j] + most;
        for (int i = 0; i < n; i++) t += a[i*n];
        most = t > 9 ? 3 : 4;
    }
    /*@ end @*/
    return t + most;
}

void at_depth(int n, int ns, float *restrict a, const float *restrict b, long *restrict left)
{
    unsigned t = 4294967294u;
    float x = 1.5f;
    long long z = 7;
    /*@ begin PerfTuning ( def input_params { param n = 16; param ns = 3; } ) @*/
    for (int s = 0; s < ns; s++) {
        for (int r = 0; r < 2; r++) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) a[i*n+j] += t * b[j] + x - z;
            t++;
            x = x + r;
        }
        z = z - s;
    }
    /*@ end @*/
    left[0] = t;
    left[1] = z;
    left[2] = x;
}
