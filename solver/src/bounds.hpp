// A-priori error bounds of LAPACK's algorithms, and the reports that carry them.
//
// A factorisation of order n sums at most n products per element, in whatever order, and divides or takes a root:
// |A - computed product of the factors| <= (n + 8) u |L||U|, elementwise and to first order (Higham, Accuracy and
// Stability of Numerical Algorithms, chapters 9 and 10). 8 covers reciprocals in place of divisions. An operation on
// complex numbers errs by up to 2 sqrt(2) u.
#pragma once

#include <cmath>
#include <limits>

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

template <class T> constexpr double unit_roundoff_of() {
  return static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;
}
template <class T> double a_priori_bound(std::int64_t n) {
  const double factor = blas::ComplexScalar<T> ? 2 * std::sqrt(2.0) : 1;
  return factor * static_cast<double>(n + 8) * unit_roundoff_of<T>();
}
template <class T> Report report_of(Outcome outcome, std::int64_t n, std::string_view algorithm) {
  Report report;
  report.outcome = outcome;
  report.accuracy.bound = outcome.ok() ? a_priori_bound<T>(n) : std::numeric_limits<double>::infinity();
  report.algorithm = algorithm;
  return report;
}

// kernel(report) runs a kernel and returns its outcome; the report starts as what is said of the host's kernel.
template <class T, class Kernel> Report reported(std::int64_t n, std::string_view algorithm, Kernel kernel) {
  Report report = report_of<T>({}, n, algorithm);
  report.outcome = kernel(report);
  if (!report.outcome.ok()) report.accuracy.bound = std::numeric_limits<double>::infinity();
  return report;
}

}  // namespace trn::solver
