// Lines times one matrix that lies on the device: the kernel behind direct convolutions.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/fft/matrix_program.hpp>

namespace trn::fft {

struct MatrixArgs {
  MatrixShape shape;
  const float* x;
  const float* matrix;
  float* y;
};

namespace device {
void matrix(const Executor& executor, const MatrixArgs& args);
// The points that a matrix has at most.
[[nodiscard]] std::int64_t matrix_points(const Executor& executor);
}  // namespace device

inline constexpr KernelTable<MatrixArgs> kMatrix{"fft.matrix", nullptr, device::matrix};

}  // namespace trn::fft
