/* Operators on bits: in values of all widths, and in subscripts. */
#define TILE 8
#define FLAG 0x40u
enum { WET = 4, DRY = 8 };

void ints(int n, int *restrict a, const int *restrict b, const int *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        a[4 * i] = (b[i] & c[i]) | (b[i] ^ ~c[i]);
        a[4 * i + 1] = ~b[i] & -8;
        a[4 * i + 2] |= c[i] & ~(TILE - 1);
        a[4 * i + 3] ^= b[i] | 1;
    }
    /*@ end @*/
}

void mixed(int n, long *restrict a, const unsigned *restrict b, const int *restrict c, const short *restrict d, unsigned char *restrict e)
{
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        a[i] = (b[i] & c[i]) + (d[i] | b[i]);
        a[i] &= c[i];
        a[i] ^= ~b[i];
        e[i] |= b[i] >> 3 & FLAG;
        e[i] = ~e[i];
        if (c[i] & WET && !(d[i] & (WET | DRY)))
            a[i] |= 1L << 20;
    }
    /*@ end @*/
}

void subscripts(int n, double *restrict a, const double *restrict b)
{
    const int mask = n - 1;
    /*@ begin PerfTuning (
        def input_params { param n = 32; }
        def assume { arg extent = ['b[n]']; }
    ) @*/
    for (int i = 0; i < n; i++) {
        a[i << 1 | 1] = b[i & mask] + b[(i + 5) & (n - 1)] + b[(i - 1) & mask];
        a[i << 1] = b[i & ~3] - b[i & ~(TILE - 1)];
    }
    /*@ end @*/
}

long reduced(int n, const int *k)
{
    int any = 0, all = -1;
    long s = 0;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (int i = 0; i < n; i++) {
        s += k[i] & 5;
        any |= k[i];
        all &= k[i];
    }
    /*@ end @*/
    return s * 1000 + any - all;
}
