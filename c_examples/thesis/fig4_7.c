/* The annotated nekbone gradient exactly as Fig. 4.7 of Rivera's thesis (University of Utah,
 * 2014) prints it, with collapsed loops (j < lx*ly, i < ly*lz).  Only the closing braces, cut
 * short in print, and one stray parenthesis are set right; sizes as in Fig. 4.1.
 *
 * annotune refuses this recipe, and should: after the collapse k is the summation index of
 * statements 0 and 2, and thread={"k","i"} gives each term of one sum to another thread, all of
 * which then update the same element of ur and of ut.  The `cuda` lines suit the loops of
 * Fig. 2.1 (see fig3_9b.c), where k is parallel and m is summed; the `registers` and `unroll`
 * lines suit the collapsed ones.  The nest itself is right: delete the CHILL block, and
 * annotune finds a mapping.
 */
#define lx 10
#define ly 10
#define lz 10
#define nelx 100

void local_grad3(double *ut, double *us, double *ur, double *D, double *u, double *Dt)
{
    int e, j, i, k, m;

    /*@ begin PerfTuning (
      def performance_params {
        param UF0[] = [1,2,5,10];
        param UF2[] = [1,2,5,10];
      }
    ) @*/
    /*@ begin CHILL (
      cuda(0,block={"e","j"},thread={"k","i"})
      cuda(2,block={"e","j"},thread={"k","i"})
      registers(0,"k")
      registers(1,"m")
      registers(2,"k")
      fuse(0,1)
      unroll(0,"k",UF0)
      unroll(2,"k",UF2)
    ) @*/
    for(e = 0; e < nelx; e++){
      for(j = 0; j < lx*ly; j++){
        for(i = 0; i < lz; i++){
          for(k = 0; k < lx; k++){
            ur[e*lx*ly*lz + j*lz + i] +=
              D[k*ly + i] * u[e*lx*ly*lz + j*lz + k];
          }
        }
      }
      for(j = 0; j < lx; j++){
        for(i = 0; i < ly; i++){
          for(k = 0; k < lx; k++){
            for(m = 0; m < ly; m++){
              us[e*lx*ly*lx + j*ly*lx + i*lx + k] +=
                u[e*lx*ly*lx + j*ly*lx + m*lx + k] * Dt[i*ly+m];
            }
          }
        }
      }
      for(j = 0; j < lx; j++){
        for(i = 0; i < ly*lz; i++){
          for(k = 0; k < lx; k++){
            ut[e*lx*ly*lz + j*ly*lz + i] +=
              u[e*lx*ly*lz + k*ly*lz + i] * Dt[j*ly + k];
          }
        }
      }
    }
    /*@ end @*/
    /*@ end @*/
}
