/* Names that C leaves to the user: nvcc's, C++'s, compilers' macros, and those of generated texts. */
enum { i_t = 3, status = 4 };
struct b_tile { double x; };
void all(int n, double *restrict linux, const double *restrict unix, const double *threadIdx,
         const double *restrict fits, double *restrict INT_MAX, long errno)
{
    if (n > 0) goto i_end;
i_end:
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    for (int size = 0; size < n; size++)
        for (int blockDim = 0; blockDim < n; blockDim++)
            for (int this = 0; this < n; this++)
                linux[size*n + blockDim] += unix[size*n + this]*threadIdx[this*n + blockDim];
    /*@ end @*/
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    for (int once = 0; once < n; once++)
        for (int cudaMalloc = 0; cudaMalloc < n; cudaMalloc++)
            INT_MAX[once*n + cudaMalloc] += fits[cudaMalloc*n + once] + errno*i_t + status;
    /*@ end @*/
}

void own_sum(int n, double *restrict once, const double *restrict d_once,
             const double *restrict h_once, double *restrict once_bytes, double *restrict blocks)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    once[0] = 0;
    for (int i = 0; i < n; i++) once[0] += d_once[i]*h_once[i];
    for (int i = 0; i < n; i++) {
        once_bytes[i] = once[0]*2;
        blocks[i] = once_bytes[i];
    }
    /*@ end @*/
}
