// What BLAS lacks: geam, dgmm, packed triangles, batches, gemm with an epilogue. The peer of a batch is a loop of
// OpenBLAS calls.
#include <trn/blas/dgmm.hpp>
#include <trn/blas/geam.hpp>
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/gemm_epilogue.hpp>
#include <trn/blas/packed.hpp>
#include <trn/blas/trsm_batched.hpp>

#include "blas_case.hpp"
#include "host/openblas.hpp"

namespace trn::tools {

namespace {

namespace counts = blas::counts;
using blas::Activation;
using blas::Bias;
using blas::Diag;
using blas::Op;
using blas::Side;
using blas::Uplo;
using blas::host::OpenBlas;

void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, m, b, k, 0, c, m);
}
void gemm(int m, int n, int k, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, m, b, k, 0, c, m);
}
template <class R>
void gemm(int m, int n, int k, const std::complex<R>* a, const std::complex<R>* b, std::complex<R>* c) {
  const std::complex<R> one = 1, zero = 0;
  if constexpr (std::is_same_v<R, float>) {
    cblas_cgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, &one, a, m, b, k, &zero, c, m);
  } else {
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, &one, a, m, b, k, &zero, c, m);
  }
}

// count matrices one after another: the i-th.
template <class T> std::vector<T*> addresses(T* first, std::int64_t step, std::int64_t count) {
  std::vector<T*> list;
  for (std::int64_t i = 0; i < count; ++i) list.push_back(first + i * step);
  return list;
}

TRN_CASE(geam, TRN_SHAPES({s.m, s.n}, {s.n, s.m}, {s.m, s.n}),
         TRN_PLAIN(blas::geam(e, Op::N, Op::T, T(1), p->matrix(0), T(2), p->matrix(1), p->matrix(2))), TRN_NOBODY,
         geam(dm, dn))
TRN_CASE(dgmm, TRN_SHAPES({s.m, s.n}, {1, s.m}, {s.m, s.n}),
         TRN_PLAIN(blas::dgmm(e, Side::Left, p->matrix(0), p->vector(1), p->matrix(2))), TRN_NOBODY, dgmm(dm, dn))
TRN_CASE(tpttr, TRN_SHAPES({1, s.n*(s.n + 1) / 2}, {s.n, s.n}),
         TRN_PLAIN(blas::tpttr(e, blas::PackedView<T>(e, p->data(0), s.n, Uplo::Upper), p->matrix(1))), TRN_NOBODY,
         tpttr(dn))
TRN_CASE(trttp, TRN_SHAPES({1, s.n*(s.n + 1) / 2}, {s.n, s.n}),
         TRN_PLAIN(blas::trttp(e, p->matrix(1), blas::PackedView<T>(e, p->data(0), s.n, Uplo::Upper))), TRN_NOBODY,
         tpttr(dn))

template <class T> BlasCase gemm_batched_case(const Executor& e, const BlasSize& s) {
  const auto p = operands<T>(e, {{s.count, s.m * s.k}, {s.count, s.k * s.n}, {s.count, s.m * s.n}});
  const blas::BatchShape shape{Op::N, Op::N, s.m, s.n, s.k};
  const auto ours = [=] {
    return blas::gemm_strided_batched(e, shape, T(1), p->data(0), s.m * s.k, p->data(1), s.k * s.n, T(0), p->data(2),
                                      s.m * s.n, s.count, {s.precision});
  };
  const auto theirs = [=] {
    for (std::int64_t i = 0; i < s.count; ++i) {
      gemm(static_cast<int>(s.m), static_cast<int>(s.n), static_cast<int>(s.k), p->data(0) + i * s.m * s.k,
           p->data(1) + i * s.k * s.n, p->data(2) + i * s.m * s.n);
    }
  };
  return {ours, theirs, static_cast<double>(s.count) * counts::gemm(double(s.m), double(s.n), double(s.k))};
}

template <class T> BlasCase trsm_batched_case(const Executor& e, const BlasSize& s) {
  // One triangle for all: the identity and a little beside it.
  const auto p = operands<T>(e, {{s.m, s.m}, {s.count, s.m * s.n}});
  const blas::TrsmBatchShape shape{Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, s.m, s.n};
  const std::vector<const T*> a(static_cast<std::size_t>(s.count), p->data(0));
  const std::vector<T*> b = addresses(p->data(1), s.m * s.n, s.count);
  const auto ours = [=]() -> Accuracy {
    blas::trsm_batched(e, shape, T(1), a, std::span<T* const>(b));
    return {};
  };
  const auto theirs = [=] {
    for (T* x : b) {
      OpenBlas<T>::trsm(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, static_cast<int>(s.m),
                        static_cast<int>(s.n), T(1), p->data(0), static_cast<int>(s.m), x, static_cast<int>(s.m));
    }
  };
  return {ours, theirs, static_cast<double>(s.count) * counts::trmm(double(s.m), double(s.n))};
}

template <class T> BlasCase gemm_epilogue_case(const Executor& e, const BlasSize& s) {
  const auto p = operands<T>(e, {{s.m, s.k}, {s.k, s.n}, {s.m, s.n}, {1, s.m}});
  const auto ours = [=] {
    return blas::gemm_epilogue(e, Op::N, Op::N, T(1), p->matrix(0), p->matrix(1), T(0), p->matrix(2),
                               {Activation::Gelu, VectorView<const T>(p->vector(3)), Bias::PerRow, T(1)},
                               {s.precision});
  };
  return {ours, {}, counts::gemm_epilogue(double(s.m), double(s.n), double(s.k))};
}

constexpr BlasSize kSize{2048, 2048, 1}, kBatch{16, 16, 16, 10000};
constexpr BlasRow kRows[] = {
    {"blas.geam", "C = alpha op(A) + beta op(B)", kSize, TRN_FOUR(geam)},
    {"blas.dgmm", "C = diag(x) A", kSize, TRN_FOUR(dgmm)},
    {"blas.tpttr", "packed triangle to full storage", kSize, TRN_FOUR(tpttr)},
    {"blas.trttp", "full storage to packed triangle", kSize, TRN_FOUR(trttp)},
    {"blas.gemm_batched", "C_b = alpha op(A_b) op(B_b) + beta C_b", kBatch, TRN_FOUR(gemm_batched)},
    {"blas.trsm_batched", "op(A_b) X_b = alpha B_b", kBatch, TRN_FOUR(trsm_batched)},
    {"blas.gemm_epilogue", "C = gelu(alpha op(A) op(B) + beta C + bias)", {}, TRN_REALS(gemm_epilogue)},
};

}  // namespace

std::span<const BlasRow> blas_extension_rows() { return kRows; }

}  // namespace trn::tools
