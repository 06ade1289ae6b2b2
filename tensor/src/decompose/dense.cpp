// The operations of dense.hpp, instantiated for the four scalar types.
#include "decompose/dense.hpp"

#include <algorithm>
#include <limits>

#include <trn/core/error.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/svd.hpp>

namespace trn::tensor {

template <Scalar T> Dense<T> dense_copy(const char* operation, const Executor& executor, const View<const T>& x) {
  if (executor.family() != Family::Host) {
    fail<NotImplemented>("{}: no kernels for {}; this decomposition runs on the host", operation, executor.name());
  }
  return downloaded(operation, executor, x);
}

template <Scalar T> Dense<T> downloaded(const char* operation, const Executor& executor, const View<const T>& x) {
  require(x.executor() == executor, "{}: X lies on {}, the call is for {}; copy it with to()", operation,
          x.executor().name(), executor.name());
  require(x.rank() >= 1, "{}: X has rank 0; it must have at least one dimension", operation);
  require(x.size() > 0, "{}: X has shape {}; extents must be positive", operation, trn::to_string(x.shape()));
  require(x.data() != nullptr, "{}: X has no memory", operation);
  Dense<T> dense(x.shape());
  copy(x, View<T>(Executor::host(), dense.values.data(), dense.shape));
  return dense;
}

template <Scalar T> Array<T> to_array(const Executor& executor, const Dense<T>& x) {
  return Array<T>::from_host(executor, x.shape, x.values);
}

template <Scalar T> Matrix<T> to_matrix(const Executor& executor, const std::vector<T>& values, std::int64_t rows) {
  return Matrix<T>::from_host(executor, rows, rows == 0 ? 0 : static_cast<std::int64_t>(values.size()) / rows, values);
}

template <Scalar T> bool all_finite(std::span<const T> values) {
  for (const T& v : values) {
    if constexpr (RealScalar<T>) {
      if (!std::isfinite(v)) return false;
    } else {
      if (!std::isfinite(v.real()) || !std::isfinite(v.imag())) return false;
    }
  }
  return true;
}

template <Scalar T> Dense<T> mode_first(const Dense<T>& x, std::int64_t mode) {
  const std::int64_t left = x.before(mode), n = x.shape[as_size(mode)], right = x.after(mode);
  Dense<T> y;
  y.shape = x.shape;
  std::rotate(y.shape.begin(), y.shape.begin() + mode, y.shape.begin() + mode + 1);
  y.values.resize(x.values.size());
  const auto place = [&](std::int64_t k, std::int64_t l) { return y.values.data() + (k * left + l) * right; };
  if (right > 1) {
    for (std::int64_t l = 0; l < left; ++l) {
      for (std::int64_t k = 0; k < n; ++k) std::copy_n(x.values.data() + (l * n + k) * right, right, place(k, l));
    }
    return y;
  }
  constexpr std::int64_t kBlock = 16;  // the last mode: a transpose in blocks
  for (std::int64_t l0 = 0; l0 < left; l0 += kBlock) {
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t l = l0; l < std::min(left, l0 + kBlock); ++l) *place(k, l) = x.values[as_size(l * n + k)];
    }
  }
  return y;
}

template <Scalar T> Dense<T> mode_product(const Dense<T>& x, std::int64_t mode, Op op, const MatrixView<const T>& m) {
  const std::int64_t left = x.before(mode), n = x.shape[as_size(mode)], right = x.after(mode);
  const std::int64_t p = op == Op::N ? m.rows() : m.columns();
  Shape shape = x.shape;
  shape[as_size(mode)] = p;
  Dense<T> y(shape);
  if (right == 1 && op != Op::C) {  // Y = X op(M)^T
    multiply<T>(Op::N, row_major(x.values, left, n), op == Op::N ? Op::T : Op::N, m, row_major(y.values, left, p));
    return y;
  }
  const Executor host = Executor::host();
  for (std::int64_t l = 0; l < left; ++l) {
    multiply<T>(op, m, Op::N, MatrixView<const T>::row_major(host, x.values.data() + l * n * right, n, right),
                MatrixView<T>::row_major(host, y.values.data() + l * p * right, p, right));
  }
  return y;
}

namespace {

// Sums of 256, added in order.
template <class F> double sum_of_squares(std::size_t n, F value) {
  double sum = 0;
  for (std::size_t begin = 0; begin < n; begin += 256) {
    double part = 0;
    for (std::size_t i = begin; i < std::min(n, begin + 256); ++i) part += value(i);
    sum += part;
  }
  return sum;
}

double square(double x) { return x * x; }
double square(float x) { return square(static_cast<double>(x)); }
template <class R> double square(const std::complex<R>& x) { return square(x.real()) + square(x.imag()); }

// The largest magnitude, so that squares neither overflow nor vanish.
template <Scalar T> double largest(std::span<const T> x) {
  double most = 0;
  for (const T& v : x) most = std::max(most, static_cast<double>(std::abs(v)));
  return most;
}

// The difference is taken in the type's own precision: exact to one rounding.
template <Scalar T, class F> double scaled_norm(std::size_t n, double most, F value) {
  if (most == 0 || !std::isfinite(most)) return most;
  // A power of two that is a normal number of the type, for numbers below its normal range too.
  const int power = std::min(-std::ilogb(most), std::numeric_limits<Real<T>>::max_exponent - 2);
  const Real<T> scale = std::ldexp(Real<T>(1), power);
  return std::sqrt(sum_of_squares(n, [&](std::size_t i) { return square(value(i) * scale); })) / scale;
}

}  // namespace

template <Scalar T> double norm(std::span<const T> x) {
  return scaled_norm<T>(x.size(), largest(x), [&](std::size_t i) { return x[i]; });
}

template <Scalar T> double distance(std::span<const T> x, std::span<const T> y) {
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, static_cast<double>(std::abs(x[i] - y[i])));
  return scaled_norm<T>(x.size(), most, [&](std::size_t i) { return x[i] - y[i]; });
}

template <Scalar T> LeftVectors<T> left_vectors(std::vector<T>& w, std::int64_t n, std::int64_t m) {
  const Executor host = Executor::host();
  const std::int64_t k = std::min(n, m);
  LeftVectors<T> out{std::vector<Real<T>>(as_size(k)), std::vector<T>(as_size(n * k)), true};
  std::vector<T> vh(as_size(k * std::min(m, k == n ? n : m)));
  const VectorView<Real<T>> s(host, out.singular_values.data(), k);
  if (m <= n) {
    vh.resize(as_size(k * m));
    out.ok = solver::svd<T>(host, row_major(std::as_const(w), n, m), s, row_major(out.u, n, k), row_major(vh, k, m))
                 .outcome.ok();
    return out;
  }
  // W^T = Q R in place, W = R^T Q^T: the left singular vectors of W are those of R^T.
  std::vector<T> tau(as_size(n));
  const auto turned = MatrixView<T>::column_major(host, w.data(), m, n);
  (void)solver::geqrf<T>(host, turned, VectorView<T>(host, tau.data(), n));
  std::vector<T> lower(as_size(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) lower[as_size(i * n + j)] = w[as_size(i * m + j)];  // R(j, i)
  }
  vh.resize(as_size(n * n));
  out.ok = solver::svd<T>(host, row_major(std::as_const(lower), n, n), s, row_major(out.u, n, n), row_major(vh, n, n))
               .outcome.ok();
  return out;
}

template <Scalar T> std::vector<T> first_columns(const std::vector<T>& u, std::int64_t n, std::int64_t r) {
  const std::int64_t k = static_cast<std::int64_t>(u.size()) / n;
  std::vector<T> out(as_size(n * r));
  for (std::int64_t i = 0; i < n; ++i) std::copy_n(u.data() + i * k, r, out.data() + i * r);
  return out;
}

template <Scalar T>
void measure_error(const Dense<T>& x, const Dense<T>& y, double reconstruction, DecompositionReport& report) {
  const double u = kUnitRoundoff<T>;
  report.norm = norm(std::span<const T>(x.values));
  report.error = distance(std::span<const T>(x.values), std::span<const T>(y.values));
  // The difference has one rounding; the sum of squares the errors that norm() states; the root and the scale a few.
  const double sums = (264 + static_cast<double>(x.size()) / 256) * 0x1p-53;
  report.bound = report.error * (1 + u + sums) + reconstruction;
  report.fit = report.norm > 0 ? 1 - report.error / report.norm : report.error == 0 ? 1 : -HUGE_VAL;
}

DecompositionReport not_finite_report() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {nan, nan, nan, nan, nan, 0, StopReason::NotFinite};
}

std::string_view name(StopReason reason) {
  switch (reason) {
    case StopReason::Direct:
      return "direct";
    case StopReason::Converged:
      return "converged";
    case StopReason::IterationLimit:
      return "iteration limit";
    case StopReason::NotFinite:
      return "not finite";
  }
  return "";
}

#define TRN_INSTANTIATE(T)                                                                          \
  template Dense<T> dense_copy<T>(const char*, const Executor&, const View<const T>&);              \
  template Dense<T> downloaded<T>(const char*, const Executor&, const View<const T>&);              \
  template Array<T> to_array<T>(const Executor&, const Dense<T>&);                                  \
  template Matrix<T> to_matrix<T>(const Executor&, const std::vector<T>&, std::int64_t);            \
  template bool all_finite<T>(std::span<const T>);                                                  \
  template Dense<T> mode_first<T>(const Dense<T>&, std::int64_t);                                   \
  template Dense<T> mode_product<T>(const Dense<T>&, std::int64_t, Op, const MatrixView<const T>&); \
  template double norm<T>(std::span<const T>);                                                      \
  template double distance<T>(std::span<const T>, std::span<const T>);                              \
  template LeftVectors<T> left_vectors<T>(std::vector<T>&, std::int64_t, std::int64_t);             \
  template std::vector<T> first_columns<T>(const std::vector<T>&, std::int64_t, std::int64_t);      \
  template void measure_error<T>(const Dense<T>&, const Dense<T>&, double, DecompositionReport&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
TRN_INSTANTIATE(std::complex<float>)
TRN_INSTANTIATE(std::complex<double>)
#undef TRN_INSTANTIATE

}  // namespace trn::tensor
