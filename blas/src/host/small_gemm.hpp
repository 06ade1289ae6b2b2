// Products of small matrices, compiled once per instruction set: no packing, no call per product.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trn::blas::host {

// C_p = alpha A_p B_p + beta C_p for many p. A and C have unit stride along m: A(i, q) at a[i + q ak], B(q, j) at b[q bk + j bn],
// C(i, j) at c[i + j cn]. beta = 0 does not read C.
template <class T> struct SmallProducts {
  std::int64_t m, n, k, ak, bk, bn, cn;
  T alpha, beta;
};

void small_products(const SmallProducts<float>& s, std::int64_t count, const float* const* a, const float* const* b, float* const* c);
void small_products(const SmallProducts<double>& s, std::int64_t count, const double* const* a, const double* const* b, double* const* c);

}  // namespace trn::blas::host
