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

void StoreRounding::on_device(const Executor& executor, float* values, std::int64_t n, const Rounding& how) {
  const Array<bfloat16> stored(executor, {n});
  const VectorView<bfloat16> narrow_view(executor, stored.data(), n);
  const VectorView<float> wide(executor, values, n);
  blas::copy(executor, VectorView<const float>(wide), narrow_view, how);
  blas::copy(executor, narrow_view, wide);
}

}  // namespace trn::solver::iterative
