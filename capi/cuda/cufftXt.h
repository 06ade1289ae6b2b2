/* cufftXt.h: cufft.h declares the functions for one device; those for several are not there. */
#include "cufft.h"
