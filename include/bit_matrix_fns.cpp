/* For programs that include this. */
#include "bit_matrix_fns.h"
