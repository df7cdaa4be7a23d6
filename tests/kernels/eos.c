/* Equations of state as codes for gases have them: functions of the file, called per cell. */
#include <math.h>
#include <stdlib.h>

#define GAMMA 1.4
#define SQ(x) ((x) * (x))
#define NPOLY 4

enum { GAS, LIQUID = 3, SOLID };

typedef double real;

static const real poly[NPOLY] = {1, 0.25, -GAMMA * 0.125, 0};
static const float weight[2][2] = {{1, 0.5f}, {2, 3}};
static const int shift = 1;

real pressure(real rho, float energy, int phase);

void pressures(int n, double *restrict p, const double *restrict rho, const double *restrict e,
               const int *restrict phase)
{
    /*@ begin PerfTuning (
      def input_params { param n = 300; }
      def assume { arg pure = ['pressure']; }
    ) @*/
    for (int i = 0; i < n; i++)
        p[i] = 0.5 * p[i] + pressure(rho[i], e[i] + 2, phase[i] + i % 5);
    /*@ end @*/
}

static int clamped(int value, int limit)
{
    return value < 0 ? 0 : value > limit ? limit : value;
}

static inline __attribute__((const)) real horner(real x)
{
    real sum = 0.0;
    int k;
    for (k = NPOLY - 1; k >= 0; k--)
        sum = sum * x + poly[k];
    return sum;
}

real pressure(real rho, float energy, int phase)
{
    const unsigned int bits = 5u, mask = bits >> shift;
    real p = (GAMMA - 1.) * rho * energy, history[3] = {0, phase, SQ(energy)};
    int steps = 0;
    (void)mask;
    if (phase == LIQUID)
        p += horner(rho / (1 + SQ(rho)));
    else if (phase > SOLID || (phase % 2 == GAS && rho > 0.5)) {
        p = p - (rho - energy) - 1;
        p /= weight[clamped(phase, 1)][phase & 1];
    }
    for (int j = 0, last = LIQUID; j < last; j++) {
        if (j > phase + 1)
            break;
        if ((unsigned)phase < mask)
            continue;
        history[j] += sqrt(abs(phase - 5)) + pow(energy, 2);
    }
    while (steps < 2)
        p += history[steps++];
    do {
        p *= .5;
        --steps;
    } while (steps > 0 && !(p < 10));
    return p;
}

double energy(int n, const double *restrict rho, const double *restrict e)
{
    double total = 0.0;
    /*@ begin PerfTuning (
      def input_params { param n = 300; }
      def assume { arg pure = ['horner', 'clamped']; }
    ) @*/
    for (int i = 0; i < n; i++)
        total += horner(rho[i]) * clamped(e[i] * 10, 7);
    /*@ end @*/
    return total;
}
