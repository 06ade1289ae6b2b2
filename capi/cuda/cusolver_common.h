/* cusolver_common.h: what cusolverDn.h declares. */
#include "cusolverDn.h"
