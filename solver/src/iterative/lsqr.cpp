// LSQR: Golub and Kahan's bidiagonalisation, and plane rotations that turn its matrix to triangular form on the way.
//
//   beta u = A v - alpha u,  alpha v = A^H u - beta v;  x and the direction w follow from the rotations
#include <algorithm>

#include "iterative/run.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace iterative {

// x_j = x_j / length_j, where that is not 0. A reciprocal near the ends of the range is infinite or has lost digits:
// there a power of two goes first, in two halves.
template <class T> void normalise(const Norms& length, const MatrixView<T>& x) {
  constexpr int kSafe = std::numeric_limits<Real<T>>::max_exponent - 3;
  Scalars<T> first(length.size(), T(1)), second = first, rest = first;
  for (std::size_t j = 0; j < length.size(); ++j) {
    double left = length[j];
    if (left == 0) {
      rest[j] = T(0);
      continue;
    }
    if (const int exponent = std::isfinite(left) ? std::ilogb(left) : 0; std::abs(exponent) > kSafe) {
      const int half = exponent / 2;
      first[j] = T(std::ldexp(Real<T>(1), -half));
      second[j] = T(std::ldexp(Real<T>(1), half - exponent));
      left = std::ldexp(left, -exponent);
    }
    rest[j] = T(static_cast<Real<T>>(1 / left));
  }
  scale(first, x), scale(second, x), scale(rest, x);
}
template <class T> Scalars<T> as_scalars(const Norms& numbers, double sign = 1) {
  Scalars<T> result;
  for (const double v : numbers) result.push_back(T(static_cast<Real<T>>(sign * v)));
  return result;
}

template <class T> struct Lsqr {
  OperatorRef<T> a;
  MatrixView<const T> b;
  MatrixView<T> x;
  LsqrReport report;
  std::int64_t max_iterations;

  // r = b - A x, A^H r, and what they say; true when every column has converged.
  bool look(const Norms& b_norms, double frobenius, double tolerance) {
    const Block<T> r(x.executor(), a.rows(), b.columns()), normal(x.executor(), a.columns(), b.columns());
    assign<T>(b, r.view());
    a.apply(Op::N, T(-1), MatrixView<const T>(x), T(1), r.view());
    const Norms size = norms<T>(r);
    normalise(size, r.view());  // A^H r may lie below the range where A and r do not
    a.apply(Op::C, T(1), MatrixView<const T>(r), T(0), normal.view());
    report.products += 2;
    const Norms slope = norms<T>(normal);
    bool done = true;
    report.accuracy.bound = 0;
    for (std::size_t j = 0; j < size.size(); ++j) {
      report.residuals[j] = b_norms[j] > 0 ? size[j] / b_norms[j] : 0;
      // Without an estimate of ||A|| that is a number (the operator's products underflowed or overflowed) nothing is
      // known.
      const bool known = frobenius > 0 && std::isfinite(frobenius);
      report.normal_residuals[j] = slope[j] == 0 || size[j] == 0 ? 0 : known ? slope[j] / frobenius : 1;
      const double least = std::min(report.residuals[j], report.normal_residuals[j]);
      report.accuracy.bound = std::max(report.accuracy.bound, least);
      if (!(least <= tolerance) && done) {
        done = false;
        report.outcome = {std::isfinite(least) ? Status::NotConverged : Status::NotFinite,
                          std::isfinite(least) ? static_cast<std::int64_t>(j) : -1};
      }
    }
    if (done) report.outcome = {};
    return done;
  }

  // From x on; returns an estimate of ||A||_F.
  double iterate(const Norms& b_norms, const KrylovOptions& options) {
    const std::size_t k = at(b.columns());
    const Block<T> u(x.executor(), a.rows(), b.columns()), v(x.executor(), a.columns(), b.columns());
    const Block<T> w(x.executor(), a.columns(), b.columns());
    assign<T>(b, u.view());
    a.apply(Op::N, T(-1), MatrixView<const T>(x), T(1), u.view());
    Norms beta = norms<T>(u);
    normalise(beta, u.view());
    a.apply(Op::C, T(1), MatrixView<const T>(u), T(0), v.view());
    report.products += 2;
    Norms alpha = norms<T>(v), rho_bar = alpha, phi_bar = beta;
    // ||A||_F so far, and ||A^H r|| / ||r||: of first degree in A, so that nothing underflows while A does not.
    Norms size = alpha, slope = alpha;
    normalise(alpha, v.view());
    assign<T>(v, w.view());
    const auto done = [&](std::size_t j) {
      return phi_bar[j] <= options.tolerance * b_norms[j] || alpha[j] == 0 || slope[j] <= options.tolerance * size[j];
    };
    double most = 0;
    while (report.iterations < max_iterations) {
      bool any = false;
      for (std::size_t j = 0; j < k; ++j) any = any || !done(j);
      if (!any) break;
      std::vector<char> on(k);
      for (std::size_t j = 0; j < k; ++j) on[j] = !done(j);
      scale(as_scalars<T>(alpha, -1), u.view());
      a.apply(Op::N, T(1), MatrixView<const T>(v), T(1), u.view());
      beta = norms<T>(u);
      normalise(beta, u.view());
      scale(as_scalars<T>(beta, -1), v.view());
      a.apply(Op::C, T(1), MatrixView<const T>(u), T(1), v.view());
      report.products += 2;
      const Norms alpha_next = norms<T>(v);
      normalise(alpha_next, v.view());
      Scalars<T> step(k, T(0)), back(k, T(0));
      for (std::size_t j = 0; j < k; ++j) {
        if (!on[j]) continue;
        const double rho = std::hypot(rho_bar[j], beta[j]), c = rho_bar[j] / rho, s = beta[j] / rho;
        const double theta = s * alpha_next[j];
        step[j] = T(static_cast<Real<T>>(c * phi_bar[j] / rho));
        back[j] = T(static_cast<Real<T>>(-theta / rho));
        rho_bar[j] = -c * alpha_next[j];
        phi_bar[j] *= s;
        slope[j] = alpha_next[j] * std::abs(c);
        size[j] = std::hypot(size[j], beta[j], alpha_next[j]);
        alpha[j] = alpha_next[j];
      }
      add<T>(step, w, x);
      combine<T>(v, back, w.view());
      ++report.iterations;
      Norms relative(k);
      for (std::size_t j = 0; j < k; ++j) {
        relative[j] = b_norms[j] > 0 ? phi_bar[j] / b_norms[j] : 0;
        if (!std::isfinite(phi_bar[j])) return std::numeric_limits<double>::quiet_NaN();
      }
      if (options.monitor && !options.monitor(report.iterations, relative)) max_iterations = report.iterations;
    }
    for (const double s : size) most = std::max(most, s);
    return most;
  }
};

}  // namespace iterative

template <Scalar T> LsqrReport lsqr(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                    const KrylovOptions& options) {
  using namespace iterative;
  check_system<T>("solver.lsqr", a, b, x, options);
  Lsqr<T> run{a, b, x, {}, options.max_iterations};
  LsqrReport& report = run.report;
  report.algorithm = "lsqr";
  report.residuals.assign(at(b.columns()), 0.0), report.normal_residuals.assign(at(b.columns()), 0.0);
  const std::int64_t shorter = std::min(a.rows(), a.columns());
  if (run.max_iterations == 0) run.max_iterations = std::max<std::int64_t>(100, 10 * shorter);
  const auto not_finite = [&](const Outcome& outcome) {
    report.outcome = outcome;
    set_to(x, host::not_a_number<T>());
    report.accuracy.bound = std::numeric_limits<double>::infinity();
    report.residuals.assign(at(b.columns()), std::numeric_limits<double>::quiet_NaN());
    return report;
  };
  if (b.columns() == 0 || a.columns() == 0) return report;
  if (a.rows() == 0) {
    zero(x);
    return report;
  }
  Outcome seen = looked_at<T>(b);
  if (seen.ok() && options.guess == Guess::InX) seen = looked_at<T>(x);
  if (!seen.ok()) return not_finite(seen);
  if (options.guess == Guess::Zero) zero(x);
  const Norms b_norms = norms<T>(b);
  double before = std::numeric_limits<double>::infinity();
  while (true) {
    const double frobenius = run.iterate(b_norms, options);
    if (std::isnan(frobenius)) return not_finite({Status::NotFinite, -1});
    if (run.look(b_norms, frobenius, options.tolerance)) break;
    if (report.outcome.status == Status::NotFinite) return not_finite(report.outcome);
    if (report.iterations >= run.max_iterations || !(report.accuracy.bound <= before / 2)) break;
    before = report.accuracy.bound;
  }
  return report;
}

#define TRN_LSQR(T) \
  template LsqrReport lsqr(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, const KrylovOptions&);
TRN_SOLVER_SCALARS(TRN_LSQR)
#undef TRN_LSQR

}  // namespace trn::solver
