// Elementwise complex arithmetic on the host.
#include "../elementwise.hpp"

#include <cmath>
#include <complex>

#include "../parallel.hpp"

namespace trn::fft::host {
namespace {

template <class T> struct Pair { T re, im; };

// q = a/b with both scaled to moduli near 1, so that the products neither overflow nor vanish; the exponents come back
// at the end.
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

template <class T, ComplexOp op> void row(const T* are, const T* aim, std::int64_t as, const T* bre, const T* bim,
                                          std::int64_t bs, T* yre, T* yim, std::int64_t ys, std::int64_t n) {
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
    row<T, op>(at(x.a.re, a), at(x.a.im, a), last(x.a), at(x.b.re, b), at(x.b.im, b), last(x.b), at(x.out.re, y),
               at(x.out.im, y), last(x.out), n);
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

}  // namespace

void elementwise(const Executor&, const ElementwiseArgs& args) {
  if (args.real == DType::Float32)
    by_operation<float>(args);
  else
    by_operation<double>(args);
}

}  // namespace trn::fft::host
