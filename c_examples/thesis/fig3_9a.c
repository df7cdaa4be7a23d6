/* sd_t_d1_1 of NWChem's triples with the recipe that the decision algorithm of Rivera's thesis
 * (University of Utah, 2014) writes for it: Fig. 3.9a, tiles of 16, the nest of Fig. 3.2.
 *
 * The contiguous tensor is v2: h3 becomes thread x, h2 and p6 become blocks, and h1, from t2,
 * thread y; p4 and p5 run inside the thread, exchanged because the tensors are column-major.
 */
void sd_t_d1_1(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u,
               double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    /*@ begin PerfTuning (
      def input_params {
        param h3u = 16; param h2u = 16; param h1u = 16;
        param p6u = 16; param p5u = 16; param p4u = 16;
        param h7u = 16;
      }
      def performance_params {
        param UF0[] = [1,2,4,8,16];
      }
    ) @*/
    /*@ begin CHiLL (
      permute(0, ("p5", "p4", "p6", "h1",
                  "h2", "h3", "h7"))
      cuda(0, block={"h2", "p6"},
           thread={"h3", "h1"})
      registers(0, "h7")
      unroll(0, "h7", UF0)
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
    /*@ end @*/
}
