// The bordered system of DIIS, solved through its eigenvectors: directions in which the errors are dependent are left
// out.
#include "diis.hpp"

#include <algorithm>
#include <cmath>

namespace trn::mp2 {

namespace {

double dot(const Dense& a, const Dense& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
  return sum;
}

// Coefficients c with sum 1 that minimise |sum c_k e_k|: [B 1; 1 0] [c; lambda] = [0; 1], B scaled to a largest element
// of 1.
std::vector<double> coefficients(const Dense& gram) {
  const std::int64_t n = gram.rows;
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, gram(i, i));
  Dense bordered(n + 1, n + 1);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) bordered(i, j) = largest > 0 ? gram(i, j) / largest : 0;
    bordered(i, n) = bordered(n, i) = 1;
  }
  const Eigen e = eigh(bordered);
  std::vector<double> c(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k <= n; ++k) {
    const double value = e.values[static_cast<std::size_t>(k)];
    if (std::abs(value) < 1e-15) continue;
    for (std::int64_t i = 0; i < n; ++i) c[static_cast<std::size_t>(i)] += e.vectors(i, k) * e.vectors(n, k) / value;
  }
  return c;
}

}  // namespace

Dense Diis::extrapolate(const Dense& fock, const Dense& error) {
  entries_.push_back({fock, error});
  if (entries_.size() > kKept) entries_.pop_front();
  const auto n = static_cast<std::int64_t>(entries_.size());
  Dense gram(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      gram(i, j) = gram(j, i) =
          dot(entries_[static_cast<std::size_t>(i)].error, entries_[static_cast<std::size_t>(j)].error);
    }
  }
  const std::vector<double> c = coefficients(gram);
  Dense sum(fock.rows, fock.columns);
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += c[k] * entries_[k].fock.values[i];
  }
  return sum;
}

}  // namespace trn::mp2
