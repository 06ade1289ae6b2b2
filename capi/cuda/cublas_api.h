/* cublas_api.h: what cublas_v2.h declares. */
#include "cublas_v2.h"
