// Householder vectors from orthonormal columns: see householder.hpp.
#include "device/householder.hpp"

#include <algorithm>
#include <cmath>

namespace trn::solver::device {

Reconstructed reconstruct(Small top) {
  const std::int64_t n = top.n;
  Reconstructed r{Small(n), Small(n), Small(n), std::vector<double>(static_cast<std::size_t>(n))};
  for (std::int64_t j = 0; j < n; ++j) {
    const double s = top(j, j) >= 0 ? -1 : 1;
    r.signs[static_cast<std::size_t>(j)] = s;
    top(j, j) -= s;
    for (std::int64_t i = j + 1; i < n; ++i) {
      const double l = top(i, j) / top(j, j);
      top(i, j) = l;
      for (std::int64_t k = j + 1; k < n; ++k) top(i, k) -= l * top(j, k);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    r.lower(i, i) = 1;
    for (std::int64_t j = 0; j < i; ++j) r.lower(i, j) = top(i, j);
    for (std::int64_t j = i; j < n; ++j) r.upper(i, j) = top(i, j);
  }
  // T L^T = -U S, row by row, from the left: t_j = x_j - sum_(k < j) t_k l_jk.
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i; j < n; ++j) {
      double x = -r.upper(i, j) * r.signs[static_cast<std::size_t>(j)];
      for (std::int64_t k = i; k < j; ++k) x -= r.t(i, k) * r.lower(j, k);
      r.t(i, j) = x;
    }
  }
  return r;
}

Small block_reflector(const Small& products, const std::vector<double>& tau) {
  const std::int64_t n = products.n;
  Small t(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const double here = tau[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < i; ++j) {
      double x = 0;
      for (std::int64_t k = j; k < i; ++k) x += t(j, k) * products(k, i);
      t(j, i) = -here * x;
    }
    t(i, i) = here;
  }
  return t;
}

Small upper_product(const Small& x, const Small& y) {
  Small z(x.n);
  for (std::int64_t i = 0; i < x.n; ++i) {
    for (std::int64_t k = i; k < x.n; ++k) {
      for (std::int64_t j = k; j < x.n; ++j) z(i, j) += x(i, k) * y(k, j);
    }
  }
  return z;
}

// Row i of X U = I, from the diagonal on: x_ij = -(sum_(i <= k < j) x_ik u_kj) / u_jj.
UpperInverse upper_inverse(const Small& upper) {
  const std::int64_t n = upper.n;
  UpperInverse inverse{Small(n)};
  Small& x = inverse.x;
  std::vector<double> sizes(static_cast<std::size_t>(n));  // sum_j |u_kj|
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t j = k; j < n; ++j) sizes[static_cast<std::size_t>(k)] += std::abs(upper(k, j));
  }
  for (std::int64_t i = 0; i < n; ++i) {
    x(i, i) = 1;  // the numerators of the row first, each finished when its column is reached
    double growth = 0;
    for (std::int64_t k = i; k < n; ++k) {
      const double here = x(i, k) / upper(k, k);
      x(i, k) = here;
      for (std::int64_t j = k + 1; j < n; ++j) x(i, j) -= here * upper(k, j);
      growth += std::abs(here) * sizes[static_cast<std::size_t>(k)];
    }
    if (!(growth <= inverse.growth)) inverse.growth = growth;
  }
  return inverse;
}

}  // namespace trn::solver::device
