/* The terms of the perturbative triples in CCSD(T) that double excitations give, with one t3.
 *
 * After NWChem's Tensor Contraction Engine (ccsd_t, from Fortran), as c_examples/nwchem has them one
 * by one: the first index of a tensor runs fastest, h are occupied, p virtual orbitals, xu is the
 * extent of index x. Here all terms add to the same t3[h3,h2,h1,p6,p5,p4]. It stands here and not
 * among the examples for the time that eighteen statements take each of the tests of all of them.
 */

/* The nine terms that sum over an occupied index h7. */
void nine(int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *restrict t3,
          const double *restrict t2_d1_1, const double *restrict v2_d1_1,
          const double *restrict t2_d1_2, const double *restrict v2_d1_2,
          const double *restrict t2_d1_3, const double *restrict v2_d1_3,
          const double *restrict t2_d1_4, const double *restrict v2_d1_4,
          const double *restrict t2_d1_5, const double *restrict v2_d1_5,
          const double *restrict t2_d1_6, const double *restrict v2_d1_6,
          const double *restrict t2_d1_7, const double *restrict v2_d1_7,
          const double *restrict t2_d1_8, const double *restrict v2_d1_8,
          const double *restrict t2_d1_9, const double *restrict v2_d1_9)
{
    /*@ begin PerfTuning (
      def input_params {
        param p4u = 16; param p5u = 16; param p6u = 16;
        param h1u = 16; param h2u = 16; param h3u = 16;
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
    /*@ end @*/
}

/* All eighteen: nine that sum over an occupied index h7, nine over a virtual one, p7. */
void doubles(int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, int p7u,
             double *restrict t3, const double *restrict t2_d1_1, const double *restrict v2_d1_1,
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
