// Systems for the iterative methods, their residuals in 80 or 113 bits, and one name for all methods.
#pragma once

#include <trn/solver/krylov.hpp>

#include "quad_support.hpp"

namespace trn::solver::testing {

template <class T> struct NamedMethod {
  const char* name;
  std::function<IterationReport(const OperatorRef<T>&, const MatrixView<const T>&, const MatrixView<T>&,
                                const KrylovOptions&, const OperatorRef<T>&)>
      run;
};
// Those for Hermitian positive definite, Hermitian, and general matrices; each may be used for the classes before.
template <class T> std::vector<NamedMethod<T>> positive_methods() {
  return {{"cg", cg<T>}, {"block_cg", block_cg<T>}, {"pipelined_cg", pipelined_cg<T>}};
}
template <class T> std::vector<NamedMethod<T>> general_methods() {
  return {{"gmres", gmres<T>},
          {"fgmres", fgmres<T>},
          {"bicgstab", bicgstab<T>},
          {"idr", [](const auto& a, const auto& b, const auto& x, const KrylovOptions& options, const auto& m) {
             IdrOptions with;
             static_cast<KrylovOptions&>(with) = options;
             return idr<T>(a, b, x, with, m);
           }}};
}

// ||b_j - A x_j|| / ||b_j|| in 80-bit arithmetic (the sum of n products of doubles is then good to 1e-18).
template <class W> std::vector<double> true_residuals(const Dense<W>& a, const Dense<W>& b, const Dense<W>& x) {
  const Dense<W> r = minus(b, times(a, x));
  std::vector<double> result;
  for (std::int64_t j = 0; j < b.columns; ++j) {
    long double above = 0, below = 0;
    for (std::int64_t i = 0; i < b.rows; ++i) above += std::norm(r(i, j)), below += std::norm(b(i, j));
    result.push_back(static_cast<double>(below > 0 ? std::sqrt(above / below) : above));
  }
  return result;
}

// Hermitian with eigenvalues from 1 to kappa, geometric, and the sign of every other one turned when indefinite.
template <class T> Dense<Wide<T>> with_spectrum(const std::vector<long double>& spectrum, Random& random) {
  using W = Wide<T>;
  const auto n = static_cast<std::int64_t>(spectrum.size());
  Dense<W> q = random_matrix<T>(n, n, random);
  for (std::int64_t j = 0; j < n; ++j) {  // Gram and Schmidt, twice
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t l = 0; l < j; ++l) {
        W dot = 0;
        for (std::int64_t i = 0; i < n; ++i) dot += W(conjugate(q(i, l))) * q(i, j);
        for (std::int64_t i = 0; i < n; ++i) q(i, j) -= dot * q(i, l);
      }
    }
    long double norm = 0;
    for (std::int64_t i = 0; i < n; ++i) norm += std::norm(q(i, j));
    for (std::int64_t i = 0; i < n; ++i) q(i, j) /= std::sqrt(norm);
  }
  Dense<W> scaled = q;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) scaled(i, j) *= spectrum[static_cast<std::size_t>(j)];
  }
  Dense<W> a = rounded<T>(times(scaled, adjoint(q)));
  a = mirrored(std::move(a), Uplo::Lower);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = W(std::real(a(i, i)));
  return a;
}
inline std::vector<long double> geometric(std::int64_t n, long double kappa, bool indefinite = false) {
  std::vector<long double> spectrum;
  for (std::int64_t i = 0; i < n; ++i) {
    const long double t = n == 1 ? 0 : static_cast<long double>(i) / static_cast<long double>(n - 1);
    spectrum.push_back(std::pow(kappa, t) * (indefinite && i % 2 ? -1 : 1));
  }
  return spectrum;
}

}  // namespace trn::solver::testing
