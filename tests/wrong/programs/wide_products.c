/* Products that C computes in more bits than their numbers have, or in unsigned ones. */

void thrice(unsigned m, unsigned long *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < 8; i++)
        x[i] = m * 3UL;
    /*@ end @*/
}

void square(unsigned m, unsigned long *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < 8; i++)
        x[i] = m * 1UL * m;
    /*@ end @*/
}

void share(unsigned m, unsigned long *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < 8; i++)
        x[i] = i * 1UL * m / 3;
    /*@ end @*/
}

void quotient(unsigned m, unsigned long *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < 8; i++)
        x[i] = (m / 3u) * 5UL;
    /*@ end @*/
}

void spread(unsigned char m, unsigned long *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < 8; i++)
        x[i] = (m * 16843009u) >> 3;
    /*@ end @*/
}

void spread_all(const unsigned char *restrict b, unsigned long *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < 8; i++)
        x[i] = (b[i] * 16843009u) / 8;
    /*@ end @*/
}
