// The kernels of every trnblas operation, both families: these files alone name both.
#pragma once

#include "kernels/gemm.hpp"
#include "kernels/level1.hpp"
#include "kernels/level2.hpp"
