// Elementwise complex arithmetic and the planar matrix product on the host.
#include "../elementwise.hpp"

#include <cblas.h>

#include <cmath>
#include <complex>

#include "../parallel.hpp"
#include "../views.hpp"

namespace trn::fft::host {
namespace {

template <class T> struct Pair { T re, im; };

// q = a/b with both scaled to moduli near 1, so that the products neither overflow nor vanish; the exponents come back at the end.
template <class T> Pair<T> quotient(Pair<T> a, Pair<T> b) {
  const T ma = std::max(std::abs(a.re), std::abs(a.im)), mb = std::max(std::abs(b.re), std::abs(b.im));
  const auto usual = [](T m) { return m > 0 && std::isfinite(m); };
  if (!usual(ma) || !usual(mb) || std::isnan(a.re + a.im + b.re + b.im)) {
    const std::complex<T> q = std::complex<T>(a.re, a.im) / std::complex<T>(b.re, b.im);
    return {q.real(), q.imag()};
  }
  const int ea = std::ilogb(ma), eb = std::ilogb(mb);
  a = {std::scalbn(a.re, -ea), std::scalbn(a.im, -ea)};
  b = {std::scalbn(b.re, -eb), std::scalbn(b.im, -eb)};
  const T d = b.re * b.re + b.im * b.im;  // 1 to 8
  return {std::scalbn((a.re * b.re + a.im * b.im) / d, ea - eb), std::scalbn((a.im * b.re - a.re * b.im) / d, ea - eb)};
}

template <class T> Pair<T> apply(ComplexOp op, Pair<T> a, Pair<T> b) {
  switch (op) {
    case ComplexOp::Add:
      return {a.re + b.re, a.im + b.im};
    case ComplexOp::Subtract:
      return {a.re - b.re, a.im - b.im};
    case ComplexOp::Multiply:
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    case ComplexOp::MultiplyConjugate:
      return {a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
    case ComplexOp::Divide:
      return quotient(a, b);
    case ComplexOp::Conjugate:
      return {a.re, -a.im};
    case ComplexOp::Abs:
      return {std::hypot(a.re, a.im), 0};
    case ComplexOp::Angle:
      return {std::atan2(a.im, a.re), 0};
    case ComplexOp::FromPolar:
      return {a.re * std::cos(b.re), a.re * std::sin(b.re)};
  }
  return a;
}

template <class T, ComplexOp op>
void row(const T* are, const T* aim, std::int64_t as, const T* bre, const T* bim, std::int64_t bs, T* yre, T* yim, std::int64_t ys,
         std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Pair<T> y = apply<T>(op, {are[i * as], aim ? aim[i * as] : T(0)}, {bre[i * bs], bim ? bim[i * bs] : T(0)});
    yre[i * ys] = y.re;
    if (yim) yim[i * ys] = y.im;
  }
}

template <class T, ComplexOp op> void all_rows(const ElementwiseArgs& x) {
  const std::size_t rank = x.shape.size();
  const std::int64_t n = rank == 0 ? 1 : x.shape.back();
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < rank; ++d) rows *= x.shape[d];
  const auto last = [&](const ElementwiseSide& s) { return rank == 0 ? 0 : s.strides.back(); };
  for_rows(rows, rows * n, [&](std::int64_t r) {
    std::int64_t rest = r, a = 0, b = 0, y = 0;
    for (std::size_t d = rank > 0 ? rank - 1 : 0; d-- > 0; rest /= x.shape[d]) {
      const std::int64_t i = rest % x.shape[d];
      a += i * x.a.strides[d];
      b += i * x.b.strides[d];
      y += i * x.out.strides[d];
    }
    const auto at = [](void* p, std::int64_t offset) { return p ? static_cast<T*>(p) + offset : nullptr; };
    row<T, op>(at(x.a.re, a), at(x.a.im, a), last(x.a), at(x.b.re, b), at(x.b.im, b), last(x.b), at(x.out.re, y), at(x.out.im, y),
               last(x.out), n);
  });
}

template <class T> void by_operation(const ElementwiseArgs& x) {
  switch (x.op) {
    case ComplexOp::Add:
      return all_rows<T, ComplexOp::Add>(x);
    case ComplexOp::Subtract:
      return all_rows<T, ComplexOp::Subtract>(x);
    case ComplexOp::Multiply:
      return all_rows<T, ComplexOp::Multiply>(x);
    case ComplexOp::MultiplyConjugate:
      return all_rows<T, ComplexOp::MultiplyConjugate>(x);
    case ComplexOp::Divide:
      return all_rows<T, ComplexOp::Divide>(x);
    case ComplexOp::Conjugate:
      return all_rows<T, ComplexOp::Conjugate>(x);
    case ComplexOp::Abs:
      return all_rows<T, ComplexOp::Abs>(x);
    case ComplexOp::Angle:
      return all_rows<T, ComplexOp::Angle>(x);
    case ComplexOp::FromPolar:
      return all_rows<T, ComplexOp::FromPolar>(x);
  }
}

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a, const float* b, float beta, float* c) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a,
              static_cast<int>(k), b, static_cast<int>(n), beta, c, static_cast<int>(n));
}
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const double* a, const double* b, double beta, double* c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, a,
              static_cast<int>(k), b, static_cast<int>(n), beta, c, static_cast<int>(n));
}

// Operands become dense first: O(mk + kn) copies against O(mnk) work.
//   four:   Y_re = A_re B_re - A_im B_im, Y_im = A_re B_im + A_im B_re
//   three:  P = A_re B_re, Q = A_im B_im, Y_re = P - Q, Y_im = (A_re + A_im)(B_re + B_im) - P - Q
template <class T> void product(const Executor& e, const MatmulArgs& x) {
  const auto dense = [&](const void* data, std::int64_t rows, std::int64_t columns, const Strides& strides) {
    Array<T> out(e, {rows, columns});
    copy(View<const T>(e, static_cast<const T*>(data), {rows, columns}, strides), out.view());
    return out;
  };
  const Array<T> ar = dense(x.a.re, x.m, x.k, x.a.strides), ai = dense(x.a.im, x.m, x.k, x.a.strides);
  const Array<T> br = dense(x.b.re, x.k, x.n, x.b.strides), bi = dense(x.b.im, x.k, x.n, x.b.strides);
  T *yr = static_cast<T*>(x.out.re), *yi = static_cast<T*>(x.out.im);
  const auto times = [&](T alpha, const T* a, const T* b, T beta, T* c) { gemm(x.m, x.n, x.k, alpha, a, b, beta, c); };
  times(1, ar.data(), br.data(), 0, yr);
  if (x.products == Products::Four) {
    times(-1, ai.data(), bi.data(), 1, yr);
    times(1, ar.data(), bi.data(), 0, yi);
    times(1, ai.data(), br.data(), 1, yi);
    return;
  }
  const Array<T> q(e, {x.m, x.n});
  times(1, ai.data(), bi.data(), 0, q.data());
  for (std::int64_t i = 0; i < x.m * x.k; ++i) ar.data()[i] += ai.data()[i];
  for (std::int64_t i = 0; i < x.k * x.n; ++i) br.data()[i] += bi.data()[i];
  times(1, ar.data(), br.data(), 0, yi);
  for (std::int64_t i = 0; i < x.m * x.n; ++i) {
    yi[i] -= yr[i] + q.data()[i];
    yr[i] -= q.data()[i];
  }
}

}  // namespace

void elementwise(const Executor&, const ElementwiseArgs& args) {
  if (args.real == DType::Float32)
    by_operation<float>(args);
  else
    by_operation<double>(args);
}

void matmul(const Executor& executor, const MatmulArgs& args) {
  constexpr std::int64_t kMax = 2147483647;  // OpenBLAS counts in 32 bits
  require(args.m <= kMax && args.n <= kMax && args.k <= kMax, "fft.matmul: {} x {} times {} x {}; the host takes extents up to 2^31 - 1",
          args.m, args.k, args.k, args.n);
  if (args.real == DType::Float32)
    product<float>(executor, args);
  else
    product<double>(executor, args);
}

}  // namespace trn::fft::host
