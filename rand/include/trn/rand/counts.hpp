// What a draw moves: its values are written once, and nothing is read.
#pragma once

#include <trn/core/dtype.hpp>

namespace trn::rand::counts {

[[nodiscard]] inline double bytes(double values, DType dtype) {
  return values * static_cast<double>(size_bytes(dtype));
}

}  // namespace trn::rand::counts
