// e^A, cos A, sin A and e^(t A) B.
//
// p(A) = sum of A^k / k! to degree q r, in Paterson and Stockmeyer's form sum over k of B_k (A^q)^k with
// B_k = sum over j < q of A^j / (k q + j)!: q - 1 products for powers, r - 1 for Horner's scheme. A is first divided by
// 2^s so that ||A||_1 <= 1.4. What the series leaves out is then below 1.4^(d+1) / (d+1)! (1 + 1.4 / (d+2) + ...):
//   double, q = 5, r = 4, d = 20:  2.5e-17        float, q = 4, r = 3, d = 12:  1.4e-8
// both below u e^-1.4 of the type, 2.7e-17 and 1.5e-8: less than the rounding of the result.
#include <trn/solver/functions.hpp>

#include "functions/square.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace functions {

constexpr double kLargestNorm = 1.4;
constexpr double kMostSteps = 1e7;

inline double factorial(int k) { return std::tgamma(k + 1.0); }

// A computed exponential X + E: ||E||_F <= error and ||X||_F = size, in the wide range of long double, so that neither
// underflows. lost: an infinity came after error had reached size, and may be an artefact of rounding.
template <class T> struct Exponential {
  Square<T> value;
  long double error = 0, size = 0;
  bool lost = false;
};

// ||X||_F, also where it overflows in T and the elements of X do not.
template <class T> long double length_of(const Square<T>& x) {
  const double length = x.norm();
  if (std::isfinite(length)) return length;
  const Small<T> copied = iterative::on_host<T>(x.view());
  long double sum = 0;
  for (std::int64_t j = 0; j < copied.columns(); ++j) {
    for (std::int64_t i = 0; i < copied.rows(); ++i) {
      sum = std::hypot(sum, std::hypot(static_cast<long double>(std::real(copied(i, j))),
                                       static_cast<long double>(std::imag(copied(i, j)))));
    }
  }
  return sum;
}

// e^A for a finite A on the host. The bound is running, in Frobenius norms. Of the square of X + E it is
//   2 ||X|| ||E|| + ||E||^2 + g ||X||^2 + 4 n^2 eta
// with gemm's g, and eta the error of a product that underflows: n of them, four times that in complex numbers, for
// each of n^2 elements. Relative errors at least double with each squaring: where u ||A|| >= 1 no digit is left.
template <class T> Exponential<T> exponential(const Executor& executor, const Small<T>& matrix, int& squarings) {
  constexpr bool single = std::same_as<Real<T>, float>;
  constexpr int q = single ? 4 : 5, r = single ? 3 : 4;
  const std::int64_t n = matrix.rows();
  const double size = norm_of(matrix.view(), Norm::One);
  if (!std::isfinite(size)) return {identity<T>(executor, n), size, size, true};
  squarings = size > kLargestNorm ? static_cast<int>(std::ceil(std::log2(size / kLargestNorm))) : 0;
  std::vector<Square<T>> power;  // A^0 .. A^q
  power.push_back(identity<T>(executor, n));
  power.emplace_back(executor, matrix);
  power[1].scale(T(static_cast<Real<T>>(std::ldexp(1.0, -squarings))));
  double gemm_bound = 0;
  for (int k = 2; k <= q; ++k) {
    power.emplace_back(executor, n);
    gemm_bound = power.back().set_product(power[at(k - 1)], power[1]);
  }
  Square<T> sum(executor, n), product(executor, n);
  sum.set(power[q]);
  sum.scale(T(static_cast<Real<T>>(1 / factorial(q * r))));
  for (int k = r - 1; k >= 0; --k) {
    if (k < r - 1) {
      gemm_bound = product.set_product(sum, power[q]);
      std::swap(sum, product);
    }
    for (int j = q - 1; j >= 0; --j) sum.add(T(static_cast<Real<T>>(1 / factorial(k * q + j))), power[at(j)]);
  }
  const double unit = std::numeric_limits<Real<T>>::epsilon() / 2.0;
  const long double eta = executor.family() == Family::Host ? std::numeric_limits<Real<T>>::denorm_min()
                                                            : std::numeric_limits<Real<T>>::min();
  const long double underflow = 4 * eta * static_cast<long double>(n) * static_cast<long double>(n);
  long double error = (unit + (q + r) * (gemm_bound + unit)) * std::exp(power[1].norm());
  long double length = length_of(sum);
  for (int i = 0; i < squarings; ++i) {
    const bool known = error < length;
    gemm_bound = product.set_product(sum, sum);
    error = 2 * length * error + error * error + gemm_bound * length * length + underflow;
    std::swap(sum, product);
    length = length_of(sum);
    // Overflow; and past this error nothing can be known any more.
    if (!std::isfinite(length) || !std::isfinite(error)) return {std::move(sum), error, length, !known};
    if (length == 0 && error <= 2 * underflow) break;  // so are all further squares
  }
  return {std::move(sum), error, length, false};
}

// The report for a result that is finite, with an error of at most `error` and the size `scale` of what it was formed
// from. TargetMissed where no digit is known: values are NaN, unless they are right to the underflow threshold.
template <class T> Report judged(Report report, long double error, long double size, long double scale,
                                 const Small<T>& result, const MatrixView<T>& x) {
  const long double bound = size > 0 ? error / size : std::numeric_limits<long double>::infinity();
  const bool lost = !(error < scale);
  report.accuracy.bound = bound <= std::numeric_limits<double>::max() ? static_cast<double>(bound)
                                                                      : std::numeric_limits<double>::infinity();
  if (lost || !std::isfinite(report.accuracy.bound)) {
    const bool tiny = error <= static_cast<long double>(std::numeric_limits<Real<T>>::min());
    if (lost && !tiny) {
      const int iterations = report.iterations;
      report = failed({Status::TargetMissed, -1}, report.algorithm, x);
      report.iterations = iterations;
      return report;
    }
    report.outcome = {Status::TargetMissed, -1};
  }
  iterative::assign(result, x);
  return report;
}

// Re and Im of e^(i A) are cos A and sin A for real A; complex A takes e^(-i A) as well.
template <class T> Report circular(const char* operation, bool sine, const Executor& executor,
                                   const MatrixView<const T>& a, const MatrixView<T>& x) {
  using C = std::complex<Real<T>>;
  const Operand<T> operand(operation, executor, a, x);
  Report report;
  report.algorithm = "scaling and squaring";
  if (!operand.outcome.ok()) return failed(operand.outcome, report.algorithm, x);
  const std::int64_t n = a.rows();
  if (n == 0) return report;
  const double unit = std::numeric_limits<Real<T>>::epsilon() / 2.0;
  // sin A = A (I - A^2 / 6 + ...): beside e^(i A), of size 1, all digits of a small sine would count as lost.
  if (const double length = frobenius(operand.matrix); sine && length * length <= 6 * unit) {
    report.accuracy.bound = length * length / 6;
    iterative::assign(operand.matrix, x);
    return report;
  }
  long double error = 0, scale = 0;
  bool lost = false;
  const auto turned = [&](Real<T> sign) {
    Small<C> by_i(n, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) by_i(i, j) = C(0, sign) * C(operand.matrix(i, j));
    }
    const Exponential<C> e = exponential(executor, by_i, report.iterations);
    constexpr long double part = ComplexScalar<T> ? 0.5L : 1;
    error += part * (e.error + unit * e.size);
    scale += part * e.size;
    lost = lost || e.lost;
    return iterative::on_host<C>(e.value.view());
  };
  const Small<C> forward = turned(1);
  Small<T> result(n, n);
  if constexpr (ComplexScalar<T>) {
    const Small<C> backward = turned(-1);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        const C plus = forward(i, j), minus = backward(i, j);
        result(i, j) = sine ? (plus - minus) * C(0, Real<T>(-0.5)) : (plus + minus) * Real<T>(0.5);
      }
    }
  } else {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) result(i, j) = sine ? forward(i, j).imag() : forward(i, j).real();
    }
  }
  if (lost) return failed({Status::TargetMissed, -1}, report.algorithm, x);
  if (const Outcome o = host::finite(result.view()); !o.ok()) return failed(o, report.algorithm, x);
  return judged(report, error, frobenius(result), scale, result, x);
}

}  // namespace functions

template <Scalar T> Report expm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x) {
  using namespace functions;
  const Operand<T> operand("solver.expm", executor, a, x);
  Report report;
  report.algorithm = "scaling and squaring";
  if (!operand.outcome.ok()) return failed(operand.outcome, report.algorithm, x);
  if (a.rows() == 0) return report;
  const Exponential<T> e = exponential(executor, operand.matrix, report.iterations);
  if (e.lost) return failed({Status::TargetMissed, -1}, report.algorithm, x);
  const Small<T> result = iterative::on_host<T>(e.value.view());
  if (const Outcome o = host::finite(result.view()); !o.ok()) return failed(o, report.algorithm, x);  // overflow
  return judged(report, e.error, e.size, e.size, result, x);
}

template <Scalar T> Report cosm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x) {
  return functions::circular<T>("solver.cosm", false, executor, a, x);
}
template <Scalar T> Report sinm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x) {
  return functions::circular<T>("solver.sinm", true, executor, a, x);
}

template <Scalar T> Report expm_multiply(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& f,
                                         const ExpmMultiplyOptions& options) {
  using namespace iterative;
  constexpr const char* operation = "solver.expm_multiply";
  require(static_cast<bool>(a), "{}: there is no operator A; give one", operation);
  require(a.rows() == a.columns(), "{}: A is {} x {}; it must be square", operation, a.rows(), a.columns());
  checks::input(operation, "B", a.executor(), b);
  checks::output(operation, "F", a.executor(), f);
  checks::rows(operation, "B", b, a.rows());
  checks::shape(operation, "F", f, b.rows(), b.columns());
  checks::apart(operation, "B", b, "F", f);
  require(std::isfinite(options.t) && options.norm >= 0 && std::isfinite(options.norm),
          "{}: t is {} and the norm {}; both must be finite, the norm >= 0", operation, options.t, options.norm);
  Report report;
  report.algorithm = "taylor steps";
  const std::int64_t n = b.rows(), k = b.columns();
  if (n == 0 || k == 0) return report;
  if (const Outcome o = looked_at<T>(b); !o.ok()) return functions::failed(o, report.algorithm, f);
  double norm = options.norm;
  for (std::int64_t first = 0; options.norm == 0 && first < n; first += 128) {
    const std::int64_t width = std::min<std::int64_t>(128, n - first);
    Small<T> unit(n, width);
    for (std::int64_t j = 0; j < width; ++j) unit(first + j, j) = T(1);
    const Block<T> x(a.executor(), n, width), y(a.executor(), n, width);
    assign(unit, x.view());
    a.apply(Op::N, T(1), MatrixView<const T>(x), T(0), y.view());
    const Small<T> columns = on_host<T>(y.view());
    const double widest = norm_of(columns.view(), Norm::One);
    if (!host::finite(columns.view()).ok()) return functions::failed({Status::NotFinite, -1}, report.algorithm, f);
    norm = std::max(norm, widest);
  }
  // Steps of ||h A|| <= 1: the terms never grow, so that nothing cancels.
  require(std::abs(options.t) * norm <= functions::kMostSteps,
          "{}: |t| ||A|| is {}; at most {} steps are taken, one for each unit: cut the interval, or take expm",
          operation, std::abs(options.t) * norm, functions::kMostSteps);
  const auto steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(std::abs(options.t) * norm)));
  const double h = options.t / static_cast<double>(steps), unit = std::numeric_limits<Real<T>>::epsilon() / 2.0;
  assign<T>(b, f);
  Block<T> term(a.executor(), n, k), next(a.executor(), n, k);
  for (std::int64_t step = 0; step < steps; ++step) {
    assign<T>(f, term.view());
    Norms before = norms<T>(term);
    for (int order = 1; order <= 60; ++order) {
      a.apply(Op::N, T(static_cast<Real<T>>(h / order)), MatrixView<const T>(term), T(0), next.view());
      std::swap(term, next);
      ++report.iterations;
      add<T>(Scalars<T>(at(k), T(1)), term, f);
      const Norms now = norms<T>(term), total = norms<T>(f);
      bool small = true;
      for (std::size_t j = 0; j < now.size(); ++j) small = small && before[j] + now[j] <= unit * total[j];
      if (small) break;
      before = now;
    }
  }
  if (const Outcome o = looked_at<T>(f); !o.ok())
    return functions::failed({Status::NotFinite, -1}, report.algorithm, f);
  return report;
}

#define TRN_EXPONENTIAL(T)                                                                          \
  template Report expm(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&);               \
  template Report cosm(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&);               \
  template Report sinm(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&);               \
  template Report expm_multiply(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, \
                                const ExpmMultiplyOptions&);
TRN_SOLVER_SCALARS(TRN_EXPONENTIAL)
#undef TRN_EXPONENTIAL

}  // namespace trn::solver
