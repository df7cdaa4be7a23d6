/* What texts that are compiled with ANNOTUNE_APART call of cuda_on_cpu.h; it is compiled with the
 * same flags and ANNOTUNE_HERE. */
#include "cuda_on_cpu.h"
