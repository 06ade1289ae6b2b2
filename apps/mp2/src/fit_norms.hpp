// Norms that the fit's error bound is made of.
#pragma once

#include <cmath>

#include <trn/mp2/dense.hpp>

namespace trn::mp2 {

template <class T> double norm_of(const T* x, std::int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t k = 0; k < count; ++k) sum += static_cast<double>(x[k]) * static_cast<double>(x[k]);
  return std::sqrt(sum);
}

// ||C||_2, or a few per cent more: with G = C^T C, ||G||_2^8 <= ||G^8||_F <= sqrt(n) ||G||_2^8.
[[nodiscard]] double two_norm(const Dense& c);

// || |L^-1| d_i ||_2 for each row d_i: the errors of B's panels from those of the rows of (P|ia) and of the residual.
[[nodiscard]] std::vector<double> carried_through(const Dense& l, const Dense& errors);

}  // namespace trn::mp2
