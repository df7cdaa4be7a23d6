/* Single-column cloud physics: one column per index, levels in order, phases behind guards. */
#include <math.h>

#define NLEV 9
#define RTT 273.16


void saturation(int klon, double ptsphy, const double pt[NLEV][klon], const double pap[NLEV][klon],
                double pq[NLEV][klon], double pl[NLEV][klon], double prain[klon])
{
    int jk, jl;
    double zqsat, zcond, zevap, zrain;
    /*@ begin PerfTuning (
      def input_params { param klon = 12; }
      def assume { arg disjoint = True; }
    ) @*/
    for (jl = 0; jl < klon; jl++)
        prain[jl] = 0.0;
    for (jk = 0; jk < NLEV; jk++) {
        for (jl = 0; jl < klon; jl++) {
            zqsat = 0.6 * exp(0.07 * (pt[jk][jl] - 0.5)) / (pap[jk][jl] + 1.5);
            zqsat = fmin(zqsat, 0.5);
            zevap = 0.0;
            if (pq[jk][jl] > zqsat) {
                zcond = (pq[jk][jl] - zqsat) / (1.0 + ptsphy);
                pq[jk][jl] = pq[jk][jl] - zcond;
                pl[jk][jl] = pl[jk][jl] + zcond;
            } else if (pl[jk][jl] > 0.0) {
                zevap = fmin(pl[jk][jl], 0.25 * (zqsat - pq[jk][jl]));
                pl[jk][jl] = pl[jk][jl] - zevap;
                pq[jk][jl] = pq[jk][jl] + zevap;
            }
            if (pl[jk][jl] > 0.1) {
                zrain = ptsphy * (pl[jk][jl] - 0.1);
                pl[jk][jl] -= zrain;
                prain[jl] += zrain;
            }
        }
    }
    /*@ end @*/
}

void sedimentation(int klon, double ptsphy, const double pvq[NLEV][klon], double pl[NLEV][klon],
                   double pflux[NLEV + 1][klon])
{
    /*@ begin PerfTuning (
      def input_params { param klon = 11; }
      def assume { arg disjoint = True; }
    ) @*/
    for (int jl = 0; jl < klon; jl++)
        pflux[0][jl] = 0.0;
    for (int jk = 0; jk < NLEV; jk++)
        for (int jl = 0; jl < klon; jl++) {
            double zsource = pl[jk][jl] + ptsphy * pflux[jk][jl];
            double zfall = jk < NLEV - 1 ? pvq[jk][jl] : 2.0 * pvq[jk][jl];
            pl[jk][jl] = zsource / (1.0 + ptsphy * fabs(zfall));
            pflux[jk + 1][jl] = pl[jk][jl] * fabs(zfall);
        }
    /*@ end @*/
}
