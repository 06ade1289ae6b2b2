// Lines times one matrix that lies on the device, and mirror images: the kernels behind direct convolutions,
// correlations and reflected boundaries there.
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

struct MirrorArgs {
  MirrorShape shape;
  const float* x;
  float* y;
};

struct MatrixLimit {};

namespace device {
void mirror(const Executor& executor, const MirrorArgs& args);
void matrix(const Executor& executor, const MatrixArgs& args);
// The points that a matrix has at most.
[[nodiscard]] std::int64_t matrix_points(const Executor& executor, const MatrixLimit&);
}  // namespace device

inline constexpr KernelTable<MatrixArgs> kMatrix{"fft.matrix", nullptr, device::matrix};

inline constexpr KernelTable<MatrixLimit, std::int64_t> kMatrixPoints{"fft.matrix", nullptr, device::matrix_points};
inline constexpr KernelTable<MirrorArgs> kMirror{"fft.mirror", nullptr, device::mirror};

}  // namespace trn::fft
