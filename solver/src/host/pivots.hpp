// LAPACK's row exchanges count from 1, ours from 0; the negative entries of sytrf's 2 x 2 blocks stay: -(p + 1) is both
// LAPACK's -p counted from 1 and ours counted from 0.
#pragma once

#include <vector>

#include <trn/core/view.hpp>

namespace trn::solver::host {

inline void from_lapack(const std::vector<int>& lapack, const VectorView<std::int64_t>& pivots) {
  for (std::int64_t i = 0; i < pivots.size(); ++i) {
    const int p = lapack[static_cast<std::size_t>(i)];
    pivots.data()[i * pivots.stride()] = p > 0 ? p - 1 : p;
  }
}

inline std::vector<int> to_lapack(const VectorView<const std::int64_t>& pivots) {
  std::vector<int> lapack(static_cast<std::size_t>(pivots.size()) + 1);
  for (std::int64_t i = 0; i < pivots.size(); ++i) {
    const auto p = static_cast<int>(pivots.data()[i * pivots.stride()]);
    lapack[static_cast<std::size_t>(i)] = p >= 0 ? p + 1 : p;
  }
  return lapack;
}

}  // namespace trn::solver::host
