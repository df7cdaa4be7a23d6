/* The nine terms of the perturbative triples in CCSD(T) that sum over an occupied index h7:
 * t2 amplitudes times the integrals v2.
 *
 * After NWChem's Tensor Contraction Engine (sd_t_d1_1 .. sd_t_d1_9 of ccsd_t), from Fortran:
 * the first index of a tensor runs fastest.  h are occupied, p virtual orbitals; xu is the
 * extent of index x, one tile of orbitals, and differs from tile to tile.  sd_t_d1_1 is
 * Fig. 3.2 of Rivera's thesis (University of Utah, 2014).
 *
 * Subscripts are int: t3 holds at most 2^31 - 1 elements, tiles of 35 when all are equal.
 */

/* t3[h3,h2,h1,p6,p5,p4] -= sum over h7 of t2[h7,p4,p5,h1] * v2[h3,h2,p6,h7] */
void sd_t_d1_1(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
    ) @*/
    for (int p4 = 0; p4 < p4u; p4++)
      for (int p5 = 0; p5 < p5u; p5++)
        for (int p6 = 0; p6 < p6u; p6++)
          for (int h1 = 0; h1 < h1u; h1++)
            for (int h2 = 0; h2 < h2u; h2++)
              for (int h3 = 0; h3 < h3u; h3++)
                for (int h7 = 0; h7 < h7u; h7++)
                  t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
                    t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    /*@ end @*/
}

/* t3[h3,h1,h2,p6,p5,p4] += sum over h7 of t2[h7,p4,p5,h1] * v2[h3,h2,p6,h7] */
void sd_t_d1_2(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
    ) @*/
    for (int p4 = 0; p4 < p4u; p4++)
      for (int p5 = 0; p5 < p5u; p5++)
        for (int p6 = 0; p6 < p6u; p6++)
          for (int h2 = 0; h2 < h2u; h2++)
            for (int h1 = 0; h1 < h1u; h1++)
              for (int h3 = 0; h3 < h3u; h3++)
                for (int h7 = 0; h7 < h7u; h7++)
                  t3[h3+h3u*(h1+h1u*(h2+h2u*(p6+p6u*(p5+p5u*p4))))] +=
                    t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    /*@ end @*/
}

/* t3[h1,h3,h2,p6,p5,p4] -= sum over h7 of t2[h7,p4,p5,h1] * v2[h3,h2,p6,h7] */
void sd_t_d1_3(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
    ) @*/
    for (int p4 = 0; p4 < p4u; p4++)
      for (int p5 = 0; p5 < p5u; p5++)
        for (int p6 = 0; p6 < p6u; p6++)
          for (int h2 = 0; h2 < h2u; h2++)
            for (int h3 = 0; h3 < h3u; h3++)
              for (int h1 = 0; h1 < h1u; h1++)
                for (int h7 = 0; h7 < h7u; h7++)
                  t3[h1+h1u*(h3+h3u*(h2+h2u*(p6+p6u*(p5+p5u*p4))))] -=
                    t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    /*@ end @*/
}

/* t3[h3,h2,h1,p5,p4,p6] -= sum over h7 of t2[h7,p4,p5,h1] * v2[h3,h2,p6,h7] */
void sd_t_d1_4(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
    ) @*/
    for (int p6 = 0; p6 < p6u; p6++)
      for (int p4 = 0; p4 < p4u; p4++)
        for (int p5 = 0; p5 < p5u; p5++)
          for (int h1 = 0; h1 < h1u; h1++)
            for (int h2 = 0; h2 < h2u; h2++)
              for (int h3 = 0; h3 < h3u; h3++)
                for (int h7 = 0; h7 < h7u; h7++)
                  t3[h3+h3u*(h2+h2u*(h1+h1u*(p5+p5u*(p4+p4u*p6))))] -=
                    t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    /*@ end @*/
}

/* t3[h3,h1,h2,p5,p4,p6] += sum over h7 of t2[h7,p4,p5,h1] * v2[h3,h2,p6,h7] */
void sd_t_d1_5(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
    ) @*/
    for (int p6 = 0; p6 < p6u; p6++)
      for (int p4 = 0; p4 < p4u; p4++)
        for (int p5 = 0; p5 < p5u; p5++)
          for (int h2 = 0; h2 < h2u; h2++)
            for (int h1 = 0; h1 < h1u; h1++)
              for (int h3 = 0; h3 < h3u; h3++)
                for (int h7 = 0; h7 < h7u; h7++)
                  t3[h3+h3u*(h1+h1u*(h2+h2u*(p5+p5u*(p4+p4u*p6))))] +=
                    t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    /*@ end @*/
}

/* t3[h1,h3,h2,p5,p4,p6] -= sum over h7 of t2[h7,p4,p5,h1] * v2[h3,h2,p6,h7] */
void sd_t_d1_6(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
    ) @*/
    for (int p6 = 0; p6 < p6u; p6++)
      for (int p4 = 0; p4 < p4u; p4++)
        for (int p5 = 0; p5 < p5u; p5++)
          for (int h2 = 0; h2 < h2u; h2++)
            for (int h3 = 0; h3 < h3u; h3++)
              for (int h1 = 0; h1 < h1u; h1++)
                for (int h7 = 0; h7 < h7u; h7++)
                  t3[h1+h1u*(h3+h3u*(h2+h2u*(p5+p5u*(p4+p4u*p6))))] -=
                    t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    /*@ end @*/
}

/* t3[h3,h2,h1,p5,p6,p4] += sum over h7 of t2[h7,p4,p5,h1] * v2[h3,h2,p6,h7] */
void sd_t_d1_7(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
    ) @*/
    for (int p4 = 0; p4 < p4u; p4++)
      for (int p6 = 0; p6 < p6u; p6++)
        for (int p5 = 0; p5 < p5u; p5++)
          for (int h1 = 0; h1 < h1u; h1++)
            for (int h2 = 0; h2 < h2u; h2++)
              for (int h3 = 0; h3 < h3u; h3++)
                for (int h7 = 0; h7 < h7u; h7++)
                  t3[h3+h3u*(h2+h2u*(h1+h1u*(p5+p5u*(p6+p6u*p4))))] +=
                    t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    /*@ end @*/
}

/* t3[h3,h1,h2,p5,p6,p4] -= sum over h7 of t2[h7,p4,p5,h1] * v2[h3,h2,p6,h7] */
void sd_t_d1_8(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
    ) @*/
    for (int p4 = 0; p4 < p4u; p4++)
      for (int p6 = 0; p6 < p6u; p6++)
        for (int p5 = 0; p5 < p5u; p5++)
          for (int h2 = 0; h2 < h2u; h2++)
            for (int h1 = 0; h1 < h1u; h1++)
              for (int h3 = 0; h3 < h3u; h3++)
                for (int h7 = 0; h7 < h7u; h7++)
                  t3[h3+h3u*(h1+h1u*(h2+h2u*(p5+p5u*(p6+p6u*p4))))] -=
                    t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    /*@ end @*/
}

/* t3[h1,h3,h2,p5,p6,p4] += sum over h7 of t2[h7,p4,p5,h1] * v2[h3,h2,p6,h7] */
void sd_t_d1_9(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
    ) @*/
    for (int p4 = 0; p4 < p4u; p4++)
      for (int p6 = 0; p6 < p6u; p6++)
        for (int p5 = 0; p5 < p5u; p5++)
          for (int h2 = 0; h2 < h2u; h2++)
            for (int h3 = 0; h3 < h3u; h3++)
              for (int h1 = 0; h1 < h1u; h1++)
                for (int h7 = 0; h7 < h7u; h7++)
                  t3[h1+h1u*(h3+h3u*(h2+h2u*(p5+p5u*(p6+p6u*p4))))] +=
                    t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    /*@ end @*/
}
