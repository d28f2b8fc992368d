// What a host loads: see run.
#include <xorder.h>

int plugin(const char* in, const char* out) { return xorder_transpose_file(in, out, 0, NULL, NULL); }
