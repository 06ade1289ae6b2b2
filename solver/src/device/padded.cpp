// Padded matrices on a device: see padded.hpp.
#include "device/padded.hpp"

#include <bit>
#include <cmath>

#include <trn/blas/expand_program.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/tile/launch.hpp>

namespace trn::solver::device {

std::int64_t padded(std::int64_t n) {
  if (n <= 128) return 128;
  const auto octave = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n - 1)));
  const std::int64_t step = std::max<std::int64_t>(128, octave / 8);
  return (n + step - 1) / step * step;
}

Matrix<float> zeros(const Executor& executor, std::int64_t rows, std::int64_t columns) {
  return Matrix<float>::from_host(executor, rows, columns,
                                  std::vector<float>(static_cast<std::size_t>(rows * columns)));
}

int scale_to_one(const Executor& executor, const Matrix<float>& a) {
  const std::int64_t at = blas::amax(executor, flat(a));
  float largest = 0;
  copy(View<const float>(executor, a.data() + at, {1}), View<float>(Executor::host(), &largest, {1}));
  const int exponent = largest == 0 ? 0 : std::ilogb(std::abs(largest));
  for (int rest = -exponent; rest != 0;) {  // 2^-exponent may itself be out of range
    const int step = std::clamp(rest, -100, 100);
    scale(a, std::ldexp(1.0, step));
    rest -= step;
  }
  return exponent;
}

namespace {
// Elements (from, from), (from + 1, from + 1), ... as a column.
MatrixView<float> diagonal_view(const Matrix<float>& a, std::int64_t from, std::int64_t count) {
  return {a.view().executor(), a.data() + from * (a.columns() + 1), count, 1, a.columns() + 1, 1};
}
}  // namespace

std::vector<float> diagonal_of(const Matrix<float>& a, std::int64_t k) {
  std::vector<float> values(static_cast<std::size_t>(k));
  move(diagonal_view(a, 0, k), MatrixView<float>(Executor::host(), values.data(), k, 1, 1, 1));
  return values;
}
void set_diagonal(const Matrix<float>& a, const std::vector<float>& values, std::int64_t from) {
  const auto count = static_cast<std::int64_t>(values.size());
  move(MatrixView<const float>(Executor::host(), values.data(), count, 1, 1, 1), diagonal_view(a, from, count));
}

void expand(const Executor& executor, const Matrix<float>& low, const Matrix<float>& full) {
  const std::int64_t n = low.rows();
  tile::launch(executor, blas::expand_program,
               blas::ExpandShape{DType::Float32, blas::Expansion::Symmetric, n, n, 1, true, false, false},
               {{"a", low.data()}, {"full", full.data()}});
}

void product(const Executor& executor, Op op_a, Op op_b, double alpha, const MatrixView<const float>& a,
             const MatrixView<const float>& b, double beta, const MatrixView<float>& c) {
  blas::gemm(executor, op_a, op_b, static_cast<float>(alpha), a, b, static_cast<float>(beta), c, {Mode::Tf32x3});
}
void symmetric_product(const Executor& executor, Op op, double alpha, const Matrix<float>& a, const Matrix<float>& b,
                       double beta, const Matrix<float>& low) {
  if (a.data() == b.data()) {
    blas::syrk<float>(executor, Uplo::Lower, op, static_cast<float>(alpha), a.view(), static_cast<float>(beta),
                      low.view(), {Mode::Tf32x3});
  } else {
    blas::syrkx<float>(executor, Uplo::Lower, op, static_cast<float>(alpha), a.view(), b.view(),
                       static_cast<float>(beta), low.view(), {Mode::Tf32x3});
  }
}

}  // namespace trn::solver::device
