/* Kernels of an explicit hydrodynamics code on a staggered grid with two halo cells. */
#include <math.h>

#define MAX(a, b) (((a) > (b)) ? (a) : (b))
#define MIN(a, b) (((a) < (b)) ? (a) : (b))
#define FTNREF2D(i, j, width, i_lb, j_lb) ((width) * ((j) - (j_lb)) + (i) - (i_lb))

struct chunk {
    int x_min, x_max, y_min, y_max;
    double *density, *energy, *pressure, *soundspeed;
};

void ideal_gas(struct chunk *c)
{
    /*@ begin PerfTuning (
      def input_params { param x_min = 1; param x_max = 14; param y_min = 1; param y_max = 9; }
    ) @*/
    for (int k = c->y_min; k <= c->y_max; k++) {
        for (int j = c->x_min; j <= c->x_max; j++) {
            double v = 1.0 / c->density[FTNREF2D(j, k, c->x_max + 4, c->x_min - 2, c->y_min - 2)];
            double p = (1.4 - 1.0)
                       * c->density[FTNREF2D(j, k, c->x_max + 4, c->x_min - 2, c->y_min - 2)]
                       * c->energy[FTNREF2D(j, k, c->x_max + 4, c->x_min - 2, c->y_min - 2)];
            double by_energy = (1.4 - 1.0)
                       * c->density[FTNREF2D(j, k, c->x_max + 4, c->x_min - 2, c->y_min - 2)];
            double by_volume = -c->density[FTNREF2D(j, k, c->x_max + 4, c->x_min - 2, c->y_min - 2)] * p;
            double squared = v * v * (p * by_energy - by_volume);
            c->pressure[FTNREF2D(j, k, c->x_max + 4, c->x_min - 2, c->y_min - 2)] = p;
            c->soundspeed[FTNREF2D(j, k, c->x_max + 4, c->x_min - 2, c->y_min - 2)] = sqrt(squared);
        }
    }
    /*@ end @*/
}

void ideal_gas_flat(int x_max, int y_max, const double *restrict density, const double *restrict energy,
                    double *restrict pressure, double *restrict soundspeed)
{
    const int w = x_max + 4;
    /*@ begin PerfTuning (def input_params { param x_max = 13; param y_max = 8; }) @*/
    for (int k = 2; k <= y_max + 1; k++) {
        for (int j = 2; j <= x_max + 1; j++) {
            double v = 1.0 / density[k * w + j];
            pressure[k * w + j] = 0.4 * density[k * w + j] * energy[k * w + j];
            double by_volume = -density[k * w + j] * pressure[k * w + j];
            soundspeed[k * w + j] =
                sqrt(v * v * (pressure[k * w + j] * 0.4 * density[k * w + j] - by_volume));
        }
    }
    /*@ end @*/
}

double calc_dt(int x_max, int y_max, double cfl, const double *restrict celldx,
               const double *restrict celldy, const double *restrict soundspeed,
               const double *restrict xvel, const double *restrict yvel)
{
    double dt_min = 1.0e21;
    /*@ begin PerfTuning (def input_params { param x_max = 15; param y_max = 10; }) @*/
    for (int k = 0; k < y_max; k++) {
        for (int j = 0; j < x_max; j++) {
            double dsx = celldx[j];
            double dsy = celldy[k];
            double cc = soundspeed[k * x_max + j] * soundspeed[k * x_max + j];
            cc = MAX(sqrt(cc), 1.0e-10);
            double dtct = cfl * MIN(dsx, dsy) / cc;
            double div = fabs(xvel[k * x_max + j]) + fabs(yvel[k * x_max + j]);
            double dtut = div > 1.0e-10 ? cfl * 2.0 * dsx / div : 1.0e21;
            dt_min = MIN(dt_min, MIN(dtct, dtut));
        }
    }
    /*@ end @*/
    return dt_min;
}

#define NV 5
void flux(int n, const double *restrict a, double *restrict b)
{
    /*@ begin PerfTuning (def input_params { param n = 37; }) @*/
    for (int i = 1; i < n - 1; i++) {
        double t[NV], w[3] = {0.25, 0.5};
        double m[2][2] = {{1.0, 2.0}, {3.0, 0.3}};
        for (int v = 0; v < NV; v++)
            t[v] = w[0] * a[(i - 1) * NV + v] + w[1] * a[i * NV + v] + w[2] * a[(i + 1) * NV + v];
        if (t[0] > 0.0) {
            double q[2];
            q[0] = t[1] * m[0][1];
            q[1] = t[2] * m[1][0];
            t[3] = q[0] - q[1];
        }
        for (int v = 0; v < NV; v++)
            b[i * NV + v] = t[v] * m[1][1];
    }
    /*@ end @*/
}
