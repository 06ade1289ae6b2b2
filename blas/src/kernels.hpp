// The kernels of every trnblas operation, both families: these files alone name both.
#pragma once

#include "kernels/extensions.hpp"
#include "kernels/gemm.hpp"
#include "kernels/level1.hpp"
#include "kernels/level2.hpp"
#include "kernels/level3.hpp"
#include "kernels/pair_energy.hpp"
