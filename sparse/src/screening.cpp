// Schwarz screening.
#include <trn/sparse/screening.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host_data.hpp"
#include "scalars.hpp"

namespace trn::sparse {

std::vector<double> schwarz_bounds(std::span<const double> diagonal) {
  std::vector<double> q(diagonal.size());
  for (std::size_t k = 0; k < q.size(); ++k) {
    require(std::isfinite(diagonal[k]), "sparse.schwarz_bounds: integral {} is not finite", k);
    q[k] = std::sqrt(std::abs(diagonal[k]));
  }
  return q;
}

Quartets::Quartets(std::span<const double> bra, std::span<const double> ket, double threshold)
    : counts_(bra.size()), kets_(ket.size()) {
  constexpr const char* operation = "sparse.quartets";
  require(threshold >= 0 && std::isfinite(threshold), "{}: the threshold is {}; it must be >= 0", operation, threshold);
  for (const auto& side : {bra, ket}) {
    for (const double q : side) require(q >= 0 && std::isfinite(q), "{}: a bound is {}; bounds are >= 0", operation, q);
  }
  std::iota(kets_.begin(), kets_.end(), std::int64_t{0});
  std::stable_sort(kets_.begin(), kets_.end(), [&](std::int64_t x, std::int64_t y) {
    return ket[static_cast<std::size_t>(x)] > ket[static_cast<std::size_t>(y)];
  });
  // A product rounds monotonically, so the kets that pass are the first so many, exactly.
  for (std::size_t p = 0; p < bra.size(); ++p) {
    const auto end = std::partition_point(kets_.begin(), kets_.end(), [&](std::int64_t k) {
      return bra[p] * ket[static_cast<std::size_t>(k)] > threshold;
    });
    counts_[p] = end - kets_.begin();
    kept_ += counts_[p];
  }
}

double Quartets::kept_fraction() const {
  const double all = static_cast<double>(counts_.size()) * static_cast<double>(kets_.size());
  return all == 0 ? 0 : static_cast<double>(kept_) / all;
}

template <Scalar T> Csr<T> screened(const Csr<T>& a, std::span<const double> q, double threshold) {
  constexpr const char* operation = "sparse.screened";
  host_only(operation, a.executor());
  check_square(operation, a.extents());
  require(static_cast<std::int64_t>(q.size()) == a.rows(), "{}: {} bounds for {} rows", operation, q.size(), a.rows());
  const CsrRef<T, std::int32_t> s = host_ref(a);
  const auto keeps = [&](std::int64_t i, std::int64_t k) {
    return q[static_cast<std::size_t>(i)] * q[static_cast<std::size_t>(s.indices[k])] > threshold;
  };
  CsrParts<T, std::int32_t> parts(a.extents());
  for (std::int64_t i = 0; i < s.rows; ++i) {
    parts.offsets.data()[i] = 0;
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) parts.offsets.data()[i] += keeps(i, k);
  }
  parts.allocate();
  for (std::int64_t i = 0; i < s.rows; ++i) {
    std::int64_t to = parts.offsets.data()[i];
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      if (!keeps(i, k)) continue;
      parts.indices.data()[to] = s.indices[k];
      parts.values.data()[to++] = s.values[k];
    }
  }
  return parts.done();
}

#define TRN_SCREENED(T) template Csr<T> screened(const Csr<T>&, std::span<const double>, double);
TRN_SPARSE_SCALARS(TRN_SCREENED)
#undef TRN_SCREENED

}  // namespace trn::sparse
