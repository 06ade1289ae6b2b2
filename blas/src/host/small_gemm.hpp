// Products of small matrices, compiled once per instruction set: no packing, no call per product.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trn::blas::host {

// C_p = alpha A_p B_p + beta C_p for many p. A and C have unit stride along m: A(i, q) at a[i + q ak], B(q, j) at b[q
// bk + j bn], C(i, j) at c[i + j cn]. beta = 0 does not read C.
template <class T> struct SmallProducts {
  std::int64_t m, n, k, ak, bk, bn, cn;
  T alpha, beta;
};

// Where the matrices are: at addresses that are listed or, without lists, equally spaced.
template <class T> struct SmallBatch {
  const T* a;
  const T* b;
  T* c;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  const void* const* a_list = nullptr;
  const void* const* b_list = nullptr;
  void* const* c_list = nullptr;

  [[nodiscard]] const T* a_of(std::int64_t p) const {
    return a_list ? static_cast<const T*>(a_list[p]) : a + p * stride_a;
  }
  [[nodiscard]] const T* b_of(std::int64_t p) const {
    return b_list ? static_cast<const T*>(b_list[p]) : b + p * stride_b;
  }
  [[nodiscard]] T* c_of(std::int64_t p) const { return c_list ? static_cast<T*>(c_list[p]) : c + p * stride_c; }
};

// Products begin ... end - 1.
void small_products(const SmallProducts<float>& s, const SmallBatch<float>& batch, std::int64_t begin,
                    std::int64_t end);
void small_products(const SmallProducts<double>& s, const SmallBatch<double>& batch, std::int64_t begin,
                    std::int64_t end);

}  // namespace trn::blas::host
