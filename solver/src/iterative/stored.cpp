// Rounding of vectors that are stored in a narrow format.
#include "iterative/stored.hpp"

#include <trn/core/convert.hpp>

namespace trn::solver::iterative {

void StoreRounding::round(std::vector<float>& values) const {
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<std::byte> narrow(values.size() * static_cast<std::size_t>(size_bytes(format)));
  from_float(values.data(), format, narrow.data(), n, rounding, counter);
  counter += values.size();
  to_float(format, narrow.data(), values.data(), n);
}

}  // namespace trn::solver::iterative
