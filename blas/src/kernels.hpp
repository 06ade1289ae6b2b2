// The kernels of every trnblas operation, both families: these files alone name both.
#pragma once

#include "kernels/gemm.hpp"
