/* The perturbative triples of CCSD(T) with one t3 for all terms: the eighteen of the doubles in one
 * region, and all twenty-seven with the correction to the energy that they are for.
 *
 * After NWChem's Tensor Contraction Engine (ccsd_t, from Fortran), whose terms sd_t_s1.c, sd_t_d1.c
 * and sd_t_d2.c have one by one, each with names of its own: here all add to the same
 * t3[h3,h2,h1,p6,p5,p4], the first index of which runs fastest.  h are occupied, p virtual orbitals;
 * xu is the extent of index x, one tile of orbitals.  NWChem calls a term for each block of the
 * amplitudes that its symmetry allows, so that the t2 of two terms are two arrays.
 *
 * Subscripts are int: t3 holds at most 2^31 - 1 elements, tiles of 35 when all are equal.
 *
 * The arrays are blocks of their own, none of which overlaps another (`disjoint`): to test that for
 * each pair of sixty would be more text than all else.
 */

#include <stddef.h>
#include <stdlib.h>

/* t3[h3,h2,h1,p6,p5,p4] += the nine terms of d1, which sum over h7, and of d2, over p7 */
void ccsd_t_doubles(int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, int p7u,
                    double *restrict t3,
                    const double *restrict t2_d1_1, const double *restrict v2_d1_1,
                    const double *restrict t2_d1_2, const double *restrict v2_d1_2,
                    const double *restrict t2_d1_3, const double *restrict v2_d1_3,
                    const double *restrict t2_d1_4, const double *restrict v2_d1_4,
                    const double *restrict t2_d1_5, const double *restrict v2_d1_5,
                    const double *restrict t2_d1_6, const double *restrict v2_d1_6,
                    const double *restrict t2_d1_7, const double *restrict v2_d1_7,
                    const double *restrict t2_d1_8, const double *restrict v2_d1_8,
                    const double *restrict t2_d1_9, const double *restrict v2_d1_9,
                    const double *restrict t2_d2_1, const double *restrict v2_d2_1,
                    const double *restrict t2_d2_2, const double *restrict v2_d2_2,
                    const double *restrict t2_d2_3, const double *restrict v2_d2_3,
                    const double *restrict t2_d2_4, const double *restrict v2_d2_4,
                    const double *restrict t2_d2_5, const double *restrict v2_d2_5,
                    const double *restrict t2_d2_6, const double *restrict v2_d2_6,
                    const double *restrict t2_d2_7, const double *restrict v2_d2_7,
                    const double *restrict t2_d2_8, const double *restrict v2_d2_8,
                    const double *restrict t2_d2_9, const double *restrict v2_d2_9)
{
    /*@ begin PerfTuning (
      def input_params {
        param p4u = 16; param p5u = 16; param p6u = 16;
        param h1u = 16; param h2u = 16; param h3u = 16;
        param h7u = 16; param p7u = 16;
      }
      def assume { arg disjoint = True; }
    ) @*/
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_1[h7+h7u*(p4+p4u*(p5+p5u*h1))]
             * v2_d1_1[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d1_2[h7+h7u*(p4+p4u*(p5+p5u*h2))]
             * v2_d1_2[h3+h3u*(h1+h1u*(p6+p6u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_3[h7+h7u*(p4+p4u*(p5+p5u*h3))]
             * v2_d1_3[h2+h2u*(h1+h1u*(p6+p6u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_4[h7+h7u*(p5+p5u*(p6+p6u*h1))]
             * v2_d1_4[h3+h3u*(h2+h2u*(p4+p4u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d1_5[h7+h7u*(p5+p5u*(p6+p6u*h2))]
             * v2_d1_5[h3+h3u*(h1+h1u*(p4+p4u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_6[h7+h7u*(p5+p5u*(p6+p6u*h3))]
             * v2_d1_6[h2+h2u*(h1+h1u*(p4+p4u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d1_7[h7+h7u*(p4+p4u*(p6+p6u*h1))]
             * v2_d1_7[h3+h3u*(h2+h2u*(p5+p5u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_8[h7+h7u*(p4+p4u*(p6+p6u*h2))]
             * v2_d1_8[h3+h3u*(h1+h1u*(p5+p5u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d1_9[h7+h7u*(p4+p4u*(p6+p6u*h3))]
             * v2_d1_9[h2+h2u*(h1+h1u*(p5+p5u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_1[p7+p7u*(p4+p4u*(h1+h1u*h2))]
             * v2_d2_1[p7+p7u*(h3+h3u*(p6+p6u*p5))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_2[p7+p7u*(p4+p4u*(h2+h2u*h3))]
             * v2_d2_2[p7+p7u*(h1+h1u*(p6+p6u*p5))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d2_3[p7+p7u*(p4+p4u*(h1+h1u*h3))]
             * v2_d2_3[p7+p7u*(h2+h2u*(p6+p6u*p5))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d2_4[p7+p7u*(p5+p5u*(h1+h1u*h2))]
             * v2_d2_4[p7+p7u*(h3+h3u*(p6+p6u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d2_5[p7+p7u*(p5+p5u*(h2+h2u*h3))]
             * v2_d2_5[p7+p7u*(h1+h1u*(p6+p6u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_6[p7+p7u*(p5+p5u*(h1+h1u*h3))]
             * v2_d2_6[p7+p7u*(h2+h2u*(p6+p6u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_7[p7+p7u*(p6+p6u*(h1+h1u*h2))]
             * v2_d2_7[p7+p7u*(h3+h3u*(p5+p5u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_8[p7+p7u*(p6+p6u*(h2+h2u*h3))]
             * v2_d2_8[p7+p7u*(h1+h1u*(p5+p5u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d2_9[p7+p7u*(p6+p6u*(h1+h1u*h3))]
             * v2_d2_9[p7+p7u*(h2+h2u*(p5+p5u*p4))];
    /*@ end @*/
}

/* The energy of one block of triples: the sum of t3d (t3d + t3s) / (the orbitals' energies), with
 * e_x those of index x, the singles in t3s and the doubles in t3d.  factor is 2, and less where two
 * tiles are the same.  Without memory for t3 the energy is 0. */
double ccsd_t_energy(int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, int p7u, double factor,
                     const double *restrict e_p4, const double *restrict e_p5, const double *restrict e_p6,
                     const double *restrict e_h1, const double *restrict e_h2, const double *restrict e_h3,
                     const double *restrict t1_s1_1, const double *restrict v2_s1_1,
                     const double *restrict t1_s1_2, const double *restrict v2_s1_2,
                     const double *restrict t1_s1_3, const double *restrict v2_s1_3,
                     const double *restrict t1_s1_4, const double *restrict v2_s1_4,
                     const double *restrict t1_s1_5, const double *restrict v2_s1_5,
                     const double *restrict t1_s1_6, const double *restrict v2_s1_6,
                     const double *restrict t1_s1_7, const double *restrict v2_s1_7,
                     const double *restrict t1_s1_8, const double *restrict v2_s1_8,
                     const double *restrict t1_s1_9, const double *restrict v2_s1_9,
                     const double *restrict t2_d1_1, const double *restrict v2_d1_1,
                     const double *restrict t2_d1_2, const double *restrict v2_d1_2,
                     const double *restrict t2_d1_3, const double *restrict v2_d1_3,
                     const double *restrict t2_d1_4, const double *restrict v2_d1_4,
                     const double *restrict t2_d1_5, const double *restrict v2_d1_5,
                     const double *restrict t2_d1_6, const double *restrict v2_d1_6,
                     const double *restrict t2_d1_7, const double *restrict v2_d1_7,
                     const double *restrict t2_d1_8, const double *restrict v2_d1_8,
                     const double *restrict t2_d1_9, const double *restrict v2_d1_9,
                     const double *restrict t2_d2_1, const double *restrict v2_d2_1,
                     const double *restrict t2_d2_2, const double *restrict v2_d2_2,
                     const double *restrict t2_d2_3, const double *restrict v2_d2_3,
                     const double *restrict t2_d2_4, const double *restrict v2_d2_4,
                     const double *restrict t2_d2_5, const double *restrict v2_d2_5,
                     const double *restrict t2_d2_6, const double *restrict v2_d2_6,
                     const double *restrict t2_d2_7, const double *restrict v2_d2_7,
                     const double *restrict t2_d2_8, const double *restrict v2_d2_8,
                     const double *restrict t2_d2_9, const double *restrict v2_d2_9)
{
    const size_t bytes = (size_t)p4u * p5u * p6u * h1u * h2u * h3u * sizeof(double);
    double *t3s = malloc(bytes);
    double *t3d = malloc(bytes);
    double energy = 0.0;

    if (!t3s || !t3d) {
        free(t3s);
        free(t3d);
        return 0.0;
    }
    /*@ begin PerfTuning (
      def input_params {
        param p4u = 16; param p5u = 16; param p6u = 16;
        param h1u = 16; param h2u = 16; param h3u = 16;
        param h7u = 16; param p7u = 16;
      }
      def assume { arg disjoint = True; }
    ) @*/
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] = 0.0;
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
            t1_s1_1[p4+p4u*h1]
            * v2_s1_1[h3+h3u*(h2+h2u*(p6+p6u*p5))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
            t1_s1_2[p4+p4u*h2]
            * v2_s1_2[h3+h3u*(h1+h1u*(p6+p6u*p5))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
            t1_s1_3[p4+p4u*h3]
            * v2_s1_3[h2+h2u*(h1+h1u*(p6+p6u*p5))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
            t1_s1_4[p5+p5u*h1]
            * v2_s1_4[h3+h3u*(h2+h2u*(p6+p6u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
            t1_s1_5[p5+p5u*h2]
            * v2_s1_5[h3+h3u*(h1+h1u*(p6+p6u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
            t1_s1_6[p5+p5u*h3]
            * v2_s1_6[h2+h2u*(h1+h1u*(p6+p6u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
            t1_s1_7[p6+p6u*h1]
            * v2_s1_7[h3+h3u*(h2+h2u*(p5+p5u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
            t1_s1_8[p6+p6u*h2]
            * v2_s1_8[h3+h3u*(h1+h1u*(p5+p5u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
            t1_s1_9[p6+p6u*h3]
            * v2_s1_9[h2+h2u*(h1+h1u*(p5+p5u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] = 0.0;
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_1[h7+h7u*(p4+p4u*(p5+p5u*h1))]
             * v2_d1_1[h3+h3u*(h2+h2u*(p6+p6u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d1_2[h7+h7u*(p4+p4u*(p5+p5u*h2))]
             * v2_d1_2[h3+h3u*(h1+h1u*(p6+p6u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_3[h7+h7u*(p4+p4u*(p5+p5u*h3))]
             * v2_d1_3[h2+h2u*(h1+h1u*(p6+p6u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_4[h7+h7u*(p5+p5u*(p6+p6u*h1))]
             * v2_d1_4[h3+h3u*(h2+h2u*(p4+p4u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d1_5[h7+h7u*(p5+p5u*(p6+p6u*h2))]
             * v2_d1_5[h3+h3u*(h1+h1u*(p4+p4u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_6[h7+h7u*(p5+p5u*(p6+p6u*h3))]
             * v2_d1_6[h2+h2u*(h1+h1u*(p4+p4u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d1_7[h7+h7u*(p4+p4u*(p6+p6u*h1))]
             * v2_d1_7[h3+h3u*(h2+h2u*(p5+p5u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d1_8[h7+h7u*(p4+p4u*(p6+p6u*h2))]
             * v2_d1_8[h3+h3u*(h1+h1u*(p5+p5u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int h7 = 0; h7 < h7u; h7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d1_9[h7+h7u*(p4+p4u*(p6+p6u*h3))]
             * v2_d1_9[h2+h2u*(h1+h1u*(p5+p5u*h7))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_1[p7+p7u*(p4+p4u*(h1+h1u*h2))]
             * v2_d2_1[p7+p7u*(h3+h3u*(p6+p6u*p5))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_2[p7+p7u*(p4+p4u*(h2+h2u*h3))]
             * v2_d2_2[p7+p7u*(h1+h1u*(p6+p6u*p5))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d2_3[p7+p7u*(p4+p4u*(h1+h1u*h3))]
             * v2_d2_3[p7+p7u*(h2+h2u*(p6+p6u*p5))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d2_4[p7+p7u*(p5+p5u*(h1+h1u*h2))]
             * v2_d2_4[p7+p7u*(h3+h3u*(p6+p6u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d2_5[p7+p7u*(p5+p5u*(h2+h2u*h3))]
             * v2_d2_5[p7+p7u*(h1+h1u*(p6+p6u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_6[p7+p7u*(p5+p5u*(h1+h1u*h3))]
             * v2_d2_6[p7+p7u*(h2+h2u*(p6+p6u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_7[p7+p7u*(p6+p6u*(h1+h1u*h2))]
             * v2_d2_7[p7+p7u*(h3+h3u*(p5+p5u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -=
             t2_d2_8[p7+p7u*(p6+p6u*(h2+h2u*h3))]
             * v2_d2_8[p7+p7u*(h1+h1u*(p5+p5u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          for (int p7 = 0; p7 < p7u; p7++)
           t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] +=
             t2_d2_9[p7+p7u*(p6+p6u*(h1+h1u*h3))]
             * v2_d2_9[p7+p7u*(h2+h2u*(p5+p5u*p4))];
    for (int p4 = 0; p4 < p4u; p4++)
     for (int p5 = 0; p5 < p5u; p5++)
      for (int p6 = 0; p6 < p6u; p6++)
       for (int h1 = 0; h1 < h1u; h1++)
        for (int h2 = 0; h2 < h2u; h2++)
         for (int h3 = 0; h3 < h3u; h3++)
          energy += t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))]
            * (t3d[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))]
               + t3s[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))])
            / (e_h1[h1] + e_h2[h2] + e_h3[h3] - e_p4[p4] - e_p5[p5] - e_p6[p6]);
    /*@ end @*/
    free(t3s);
    free(t3d);
    return factor * energy;
}
