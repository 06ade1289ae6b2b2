// Rounding of vectors that are stored in a narrow format.
#include "iterative/stored.hpp"

#include <trn/core/convert.hpp>

namespace trn::solver::iterative {

Rounding StoreRounding::next() const {
  if (!rounding.is_stochastic()) return rounding;
  return Rounding::Stochastic{rounding.seed(), rounding.step() + columns++};
}

void StoreRounding::narrow(std::vector<float>& values, const Rounding& how, std::uint64_t first) const {
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<std::byte> stored(values.size() * static_cast<std::size_t>(size_bytes(format)));
  from_float(values.data(), format, stored.data(), n, how, first);
  to_float(format, stored.data(), values.data(), n);
}

void StoreRounding::round(std::vector<float>& values) const {
  narrow(values, rounding, elements);
  elements += values.size();
}

// Stored, and back to float by a product with 1, which is exact.
void StoreRounding::on_device(const Executor& executor, float* values, std::int64_t n, const Rounding& how) {
  const Array<bfloat16> stored(executor, {n});
  const VectorView<bfloat16> narrow_view(executor, stored.data(), n);
  blas::copy(executor, VectorView<const float>(executor, values, n), narrow_view, how);
  const auto one = Array<bfloat16>::from_host(executor, {1}, std::vector{bfloat16(1.0F)});
  blas::gemm(executor, Op::N, Op::N, 1.0F, MatrixView<const bfloat16>(executor, stored.data(), 1, n, n, 1).transposed(),
             MatrixView<const bfloat16>(executor, one.data(), 1, 1, 1, 1), 0.0F,
             MatrixView<float>(executor, values, n, 1, 1, n));
}

}  // namespace trn::solver::iterative
