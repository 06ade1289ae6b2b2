/* cusolverSp_LOWLEVEL_PREVIEW.h: what cusolverSp.h declares. */
#include "cusolverSp.h"
