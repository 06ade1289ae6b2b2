// Sobol points on devices, for device/fill.cpp.
#pragma once

#include "kernels.hpp"

namespace trn::rand::device {

// args.state.algorithm has a Sobol program, args.draw is none of the doubles.
void fill_sobol(const Executor& executor, const FillArgs& args);

}  // namespace trn::rand::device
