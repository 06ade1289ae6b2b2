// Rounding of vectors that are stored in a narrow format.
#include "iterative/stored.hpp"

namespace trn::solver::iterative {

void Rounding::round(std::vector<float>& values) const {
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<std::byte> narrow(values.size() * static_cast<std::size_t>(size_bytes(format)));
  if (stochastic) {
    from_float_stochastic(values.data(), format, narrow.data(), n, seed, counter);
    counter += values.size();
  } else {
    from_float(values.data(), format, narrow.data(), n);
  }
  to_float(format, narrow.data(), values.data(), n);
}

}  // namespace trn::solver::iterative
