/* The nine "singles" terms of the perturbative triples in CCSD(T): an outer product of the
 * t1 amplitudes with the integrals v2, no summation index.
 *
 * After NWChem's Tensor Contraction Engine (sd_t_s1_1 .. sd_t_s1_9 of ccsd_t), from Fortran:
 * the first index of a tensor runs fastest.  h are occupied, p virtual orbitals; xu is the
 * extent of index x, one tile of orbitals, and differs from tile to tile.
 *
 * Subscripts are int: t3 holds at most 2^31 - 1 elements, tiles of 35 when all are equal.
 */

/* t3[h3,h2,h1,p6,p5,p4] += t1[p4,h1] * v2[h3,h2,p6,p5] */
void sd_t_s1_1(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u,
               double *restrict t3, const double *restrict t1, const double *restrict v2)
{
    int h3, h2, h1, p6, p5, p4;

    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
      }
    ) @*/
    for (p4 = 0; p4 < p4u; p4++)
      for (p5 = 0; p5 < p5u; p5++)
        for (p6 = 0; p6 < p6u; p6++)
          for (h1 = 0; h1 < h1u; h1++)
            for (h2 = 0; h2 < h2u; h2++)
              for (h3 = 0; h3 < h3u; h3++)
                t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
                  t1[p4+p4u*h1] * v2[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    /*@ end @*/
}

/* t3[h3,h1,h2,p6,p5,p4] -= t1[p4,h1] * v2[h3,h2,p6,p5] */
void sd_t_s1_2(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u,
               double *restrict t3, const double *restrict t1, const double *restrict v2)
{
    int h3, h2, h1, p6, p5, p4;

    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
      }
    ) @*/
    for (p4 = 0; p4 < p4u; p4++)
      for (p5 = 0; p5 < p5u; p5++)
        for (p6 = 0; p6 < p6u; p6++)
          for (h2 = 0; h2 < h2u; h2++)
            for (h1 = 0; h1 < h1u; h1++)
              for (h3 = 0; h3 < h3u; h3++)
                t3[h3+h3u*(h1+h1u*(h2+h2u*(p6+p6u*(p5+p5u*p4))))] -=
                  t1[p4+p4u*h1] * v2[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    /*@ end @*/
}

/* t3[h1,h3,h2,p6,p5,p4] += t1[p4,h1] * v2[h3,h2,p6,p5] */
void sd_t_s1_3(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u,
               double *restrict t3, const double *restrict t1, const double *restrict v2)
{
    int h3, h2, h1, p6, p5, p4;

    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
      }
    ) @*/
    for (p4 = 0; p4 < p4u; p4++)
      for (p5 = 0; p5 < p5u; p5++)
        for (p6 = 0; p6 < p6u; p6++)
          for (h2 = 0; h2 < h2u; h2++)
            for (h3 = 0; h3 < h3u; h3++)
              for (h1 = 0; h1 < h1u; h1++)
                t3[h1+h1u*(h3+h3u*(h2+h2u*(p6+p6u*(p5+p5u*p4))))] +=
                  t1[p4+p4u*h1] * v2[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    /*@ end @*/
}

/* t3[h3,h2,h1,p6,p4,p5] -= t1[p4,h1] * v2[h3,h2,p6,p5] */
void sd_t_s1_4(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u,
               double *restrict t3, const double *restrict t1, const double *restrict v2)
{
    int h3, h2, h1, p6, p5, p4;

    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
      }
    ) @*/
    for (p5 = 0; p5 < p5u; p5++)
      for (p4 = 0; p4 < p4u; p4++)
        for (p6 = 0; p6 < p6u; p6++)
          for (h1 = 0; h1 < h1u; h1++)
            for (h2 = 0; h2 < h2u; h2++)
              for (h3 = 0; h3 < h3u; h3++)
                t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p4+p4u*p5))))] -=
                  t1[p4+p4u*h1] * v2[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    /*@ end @*/
}

/* t3[h3,h1,h2,p6,p4,p5] += t1[p4,h1] * v2[h3,h2,p6,p5] */
void sd_t_s1_5(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u,
               double *restrict t3, const double *restrict t1, const double *restrict v2)
{
    int h3, h2, h1, p6, p5, p4;

    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
      }
    ) @*/
    for (p5 = 0; p5 < p5u; p5++)
      for (p4 = 0; p4 < p4u; p4++)
        for (p6 = 0; p6 < p6u; p6++)
          for (h2 = 0; h2 < h2u; h2++)
            for (h1 = 0; h1 < h1u; h1++)
              for (h3 = 0; h3 < h3u; h3++)
                t3[h3+h3u*(h1+h1u*(h2+h2u*(p6+p6u*(p4+p4u*p5))))] +=
                  t1[p4+p4u*h1] * v2[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    /*@ end @*/
}

/* t3[h1,h3,h2,p6,p4,p5] -= t1[p4,h1] * v2[h3,h2,p6,p5] */
void sd_t_s1_6(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u,
               double *restrict t3, const double *restrict t1, const double *restrict v2)
{
    int h3, h2, h1, p6, p5, p4;

    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
      }
    ) @*/
    for (p5 = 0; p5 < p5u; p5++)
      for (p4 = 0; p4 < p4u; p4++)
        for (p6 = 0; p6 < p6u; p6++)
          for (h2 = 0; h2 < h2u; h2++)
            for (h3 = 0; h3 < h3u; h3++)
              for (h1 = 0; h1 < h1u; h1++)
                t3[h1+h1u*(h3+h3u*(h2+h2u*(p6+p6u*(p4+p4u*p5))))] -=
                  t1[p4+p4u*h1] * v2[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    /*@ end @*/
}

/* t3[h3,h2,h1,p4,p6,p5] += t1[p4,h1] * v2[h3,h2,p6,p5] */
void sd_t_s1_7(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u,
               double *restrict t3, const double *restrict t1, const double *restrict v2)
{
    int h3, h2, h1, p6, p5, p4;

    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
      }
    ) @*/
    for (p5 = 0; p5 < p5u; p5++)
      for (p6 = 0; p6 < p6u; p6++)
        for (p4 = 0; p4 < p4u; p4++)
          for (h1 = 0; h1 < h1u; h1++)
            for (h2 = 0; h2 < h2u; h2++)
              for (h3 = 0; h3 < h3u; h3++)
                t3[h3+h3u*(h2+h2u*(h1+h1u*(p4+p4u*(p6+p6u*p5))))] +=
                  t1[p4+p4u*h1] * v2[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    /*@ end @*/
}

/* t3[h3,h1,h2,p4,p6,p5] -= t1[p4,h1] * v2[h3,h2,p6,p5] */
void sd_t_s1_8(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u,
               double *restrict t3, const double *restrict t1, const double *restrict v2)
{
    int h3, h2, h1, p6, p5, p4;

    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
      }
    ) @*/
    for (p5 = 0; p5 < p5u; p5++)
      for (p6 = 0; p6 < p6u; p6++)
        for (p4 = 0; p4 < p4u; p4++)
          for (h2 = 0; h2 < h2u; h2++)
            for (h1 = 0; h1 < h1u; h1++)
              for (h3 = 0; h3 < h3u; h3++)
                t3[h3+h3u*(h1+h1u*(h2+h2u*(p4+p4u*(p6+p6u*p5))))] -=
                  t1[p4+p4u*h1] * v2[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    /*@ end @*/
}

/* t3[h1,h3,h2,p4,p6,p5] += t1[p4,h1] * v2[h3,h2,p6,p5] */
void sd_t_s1_9(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u,
               double *restrict t3, const double *restrict t1, const double *restrict v2)
{
    int h3, h2, h1, p6, p5, p4;

    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
      }
    ) @*/
    for (p5 = 0; p5 < p5u; p5++)
      for (p6 = 0; p6 < p6u; p6++)
        for (p4 = 0; p4 < p4u; p4++)
          for (h2 = 0; h2 < h2u; h2++)
            for (h3 = 0; h3 < h3u; h3++)
              for (h1 = 0; h1 < h1u; h1++)
                t3[h1+h1u*(h3+h3u*(h2+h2u*(p4+p4u*(p6+p6u*p5))))] +=
                  t1[p4+p4u*h1] * v2[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    /*@ end @*/
}
