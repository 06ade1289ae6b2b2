// The dense kernels of the direct solvers: OpenBLAS and its LAPACK by one name for the four element types, column-major
// matrices, factors by value. tiles() shares a list of tiles among threads: the cuts depend on the sizes alone, and
// OpenBLAS stays on the thread that calls it, so the bits do not depend on the number of threads.
#pragma once

#include <cblas.h>

#include <complex>
#include <cstdlib>
#include <memory>
#include <new>

#include <trn/core/openmp_pieces.hpp>
#include <trn/core/parallel.hpp>
#include <trn/sparse/types.hpp>

extern "C" {
#define TRN_LAPACK(p, T, un)                                                                                         \
  void p##potrf_(const char&, const int&, T*, const int&, int&, std::size_t);                                        \
  void p##getrf_(const int&, const int&, T*, const int&, int*, int&);                                                \
  void p##laswp_(const int&, T*, const int&, const int&, const int&, const int*, const int&);                        \
  void p##geqrf_(const int&, const int&, T*, const int&, T*, T*, const int&, int&);                                  \
  void p##un##mqr_(const char&, const char&, const int&, const int&, const int&, const T*, const int&, const T*, T*, \
                   const int&, T*, const int&, int&, std::size_t, std::size_t);
TRN_LAPACK(s, float, or)
TRN_LAPACK(d, double, or)
TRN_LAPACK(c, std::complex<float>, un)
TRN_LAPACK(z, std::complex<double>, un)
#undef TRN_LAPACK
}

namespace trn::sparse::direct {

template <class T> struct Dense;

#define TRN_DENSE(T, p, un, herk, S)                                                                            \
  template <> struct Dense<T> {                                                                                 \
    static constexpr auto potrf = p##potrf_;                                                                    \
    static constexpr auto getrf = p##getrf_;                                                                    \
    static constexpr auto laswp = p##laswp_;                                                                    \
    static constexpr auto geqrf = p##geqrf_;                                                                    \
    static constexpr auto unmqr = p##un##mqr_;                                                                  \
    static void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, T alpha, const T* a, int lda, \
                     const T* b, int ldb, T beta, T* c, int ldc) {                                              \
      cblas_##p##gemm(CblasColMajor, ta, tb, m, n, k, S(alpha), a, lda, b, ldb, S(beta), c, ldc);               \
    }                                                                                                           \
    static void gemv(CBLAS_TRANSPOSE t, int m, int n, T alpha, const T* a, int lda, const T* x, T beta, T* y) { \
      cblas_##p##gemv(CblasColMajor, t, m, n, S(alpha), a, lda, x, 1, S(beta), y, 1);                           \
    }                                                                                                           \
    static void trsm(CBLAS_SIDE side, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int m, int n, const T* a,  \
                     int lda, T* b, int ldb) {                                                                  \
      const T one(1);                                                                                           \
      cblas_##p##trsm(CblasColMajor, side, u, t, d, m, n, S(one), a, lda, b, ldb);                              \
    }                                                                                                           \
    static void trsv(CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n, const T* a, int lda, T* x) {         \
      cblas_##p##trsv(CblasColMajor, u, t, d, n, a, lda, x, 1);                                                 \
    }                                                                                                           \
    /* C = -A A^H + beta C, the lower triangle of n x n. */                                                     \
    static void herk_down(int n, int k, const T* a, int lda, Real<T> beta, T* c, int ldc) {                     \
      cblas_##p##herk(CblasColMajor, CblasLower, CblasNoTrans, n, k, Real<T>(-1), a, lda, beta, c, ldc);        \
    }                                                                                                           \
  };
#define TRN_BY_VALUE(x) x
#define TRN_BY_ADDRESS(x) &x
TRN_DENSE(float, s, or, syrk, TRN_BY_VALUE)
TRN_DENSE(double, d, or, syrk, TRN_BY_VALUE)
TRN_DENSE(std::complex<float>, c, un, herk, TRN_BY_ADDRESS)
TRN_DENSE(std::complex<double>, z, un, herk, TRN_BY_ADDRESS)
#undef TRN_DENSE
#undef TRN_BY_VALUE
#undef TRN_BY_ADDRESS

// body(i) for every tile, within an OpenMP region when there are threads: OpenBLAS then runs on its caller alone.
template <class F> void tiles(std::int64_t count, const F& body) {
  openmp_pieces(count, loop_threads(), [&](std::int64_t i, int) { body(i); });
}

// Memory that is not initialised: fronts are zeroed or written where they are used.
template <class T> class Raw {
 public:
  Raw() = default;
  explicit Raw(std::int64_t count)
      : data_(static_cast<T*>(count > 0 ? std::malloc(static_cast<std::size_t>(count) * sizeof(T)) : nullptr)) {
    if (count > 0 && !data_) throw std::bad_alloc();
  }
  [[nodiscard]] T* get() const { return data_.get(); }
  void reset() { data_.reset(); }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace trn::sparse::direct
