// Square roots and logarithms by the complex Schur form A = Z T Z^H: f(A) = Z f(T) Z^H.
//
//   root of T: r_ii = sqrt(t_ii), r_ij = (t_ij - sum over i < k < j of r_ik r_kj) / (r_ii + r_jj)
//   log T = 2^s log(T^(1/2^s)): roots until ||T - I||_1 <= 1/4, where eight points of Gauss and Legendre leave
//   0.0718^16 < 1e-18; the diagonal is taken from the logarithms of T's own, because T^(1/2^s) - I cancels.
#include <trn/blas/trsm.hpp>
#include <trn/solver/eig.hpp>
#include <trn/solver/functions.hpp>

#include "functions/square.hpp"
#include "host_only.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace functions {

template <class C> struct Schur { Small<C> t, z; };

// The complex Schur form of A, or the outcome that there is none, or that an eigenvalue is 0 or, for real T, negative.
template <class T> Outcome decompose(const Small<T>& a, Schur<std::complex<Real<T>>>& schur_form) {
  using C = std::complex<Real<T>>;
  const std::int64_t n = a.rows();
  std::vector<C> w(at(n));
  const VectorView<C> wv(Executor::host(), w.data(), n);
  if constexpr (!ComplexScalar<T>) {  // real arithmetic tells real eigenvalues from pairs close to the axis
    const Report values = eig(Executor::host(), a.view(), wv);
    if (!values.outcome.ok()) return values.outcome;
    for (std::int64_t i = 0; i < n; ++i) {
      if (w[at(i)].imag() == 0 && w[at(i)].real() <= 0) return {Status::NotDefined, i};
    }
  }
  schur_form.t = Small<C>(a.view());
  schur_form.z = Small<C>(n, n);
  const Report report = schur(Executor::host(), schur_form.t.view(), wv, schur_form.z.view());
  if (!report.outcome.ok()) return report.outcome;
  for (std::int64_t i = 0; i < n; ++i) {
    if (schur_form.t(i, i) == C(0)) return {Status::NotDefined, i};
  }
  return {};
}

template <class C> Small<C> triangular_root(const Small<C>& t) {
  const std::int64_t n = t.rows();
  Small<C> r(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    r(j, j) = std::sqrt(t(j, j));
    for (std::int64_t i = j - 1; i >= 0; --i) {
      C sum = t(i, j);
      for (std::int64_t k = i + 1; k < j; ++k) sum -= r(i, k) * r(k, j);
      r(i, j) = sum / (r(i, i) + r(j, j));
    }
  }
  return r;
}

constexpr double kLegendreNodes[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
constexpr double kLegendreWeights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

template <class C> Small<C> triangular_log(Small<C> t, int& roots) {
  const std::int64_t n = t.rows();
  std::vector<C> diagonal(at(n));
  for (std::int64_t i = 0; i < n; ++i) diagonal[at(i)] = std::log(t(i, i));
  const auto minus_one = [&] {
    Small<C> x = t;
    for (std::int64_t i = 0; i < n; ++i) x(i, i) -= C(1);
    return x;
  };
  roots = 0;
  Small<C> x = minus_one();
  while (norm_of(x.view(), Norm::One) > 0.25 && roots < 100) {
    t = triangular_root(t);
    x = minus_one();
    ++roots;
  }
  Small<C> sum(n, n);
  for (int e = 0; e < 8; ++e) {
    const double node = (1 + (e < 4 ? kLegendreNodes[e] : -kLegendreNodes[e - 4])) / 2;
    const double weight = std::ldexp(kLegendreWeights[e % 4] / 2, roots);
    Small<C> shifted = x, term = x;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i <= j; ++i) shifted(i, j) *= static_cast<Real<C>>(node);
      shifted(j, j) += C(1);
    }
    blas::trsm(Executor::host(), Side::Left, Uplo::Upper, Op::N, Diag::NonUnit, C(1), shifted.view(), term.view());
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i <= j; ++i) sum(i, j) += static_cast<Real<C>>(weight) * term(i, j);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) sum(i, i) = diagonal[at(i)];
  return sum;
}

// Z f Z^H in T; a real result drops imaginary parts, whose size beside the result is returned.
template <class T>
double turned_back(const Small<std::complex<Real<T>>>& f, const Small<std::complex<Real<T>>>& z, Small<T>& result) {
  using C = std::complex<Real<T>>;
  Small<C> half(f.rows(), f.rows()), whole(f.rows(), f.rows());
  host_gemm(Op::N, Op::N, z, f, half);
  host_gemm(Op::N, Op::C, half, z, whole);
  double dropped = 0;
  for (std::int64_t j = 0; j < f.rows(); ++j) {
    for (std::int64_t i = 0; i < f.rows(); ++i) {
      if constexpr (ComplexScalar<T>) {
        result(i, j) = whole(i, j);
      } else {
        result(i, j) = whole(i, j).real();
        dropped = std::hypot(dropped, static_cast<double>(whole(i, j).imag()));
      }
    }
  }
  const double size = frobenius(whole);
  return size > 0 ? dropped / size : 0;
}

template <class T> Report by_schur(const char* operation, bool logarithm, const Executor& executor,
                                   const MatrixView<const T>& a, const MatrixView<T>& x) {
  using C = std::complex<Real<T>>;
  const Operand<T> operand(operation, executor, a, x);
  on_host_only(operation, executor);
  Report report;
  report.algorithm = logarithm ? "inverse scaling and squaring" : "schur method";
  if (!operand.outcome.ok()) return failed(operand.outcome, report.algorithm, x);
  if (a.rows() == 0) return report;
  Schur<C> form{Small<C>(0, 0), Small<C>(0, 0)};
  if (const Outcome o = decompose(operand.matrix, form); !o.ok()) return failed(o, report.algorithm, x);
  const Small<C> f = logarithm ? triangular_log(form.t, report.iterations) : triangular_root(form.t);
  Small<T> result(a.rows(), a.rows());
  report.accuracy.bound = turned_back(f, form.z, result);
  // A backward stable Schur form, and (logarithm) the cancellation in T^(1/2^s) - I.
  const double unit = std::numeric_limits<Real<T>>::epsilon(), n = static_cast<double>(a.rows());
  const double size = frobenius(result);
  report.accuracy.bound += n * unit;
  if (logarithm && size > 0) report.accuracy.bound += n * unit * std::ldexp(1.0, report.iterations) / size;
  if (!logarithm && size > 0) {  // the residual of X^2 = A is part of it
    Small<T> square(a.rows(), a.rows());
    host_gemm(Op::N, Op::N, result, result, square);
    for (std::int64_t j = 0; j < a.rows(); ++j) {
      for (std::int64_t i = 0; i < a.rows(); ++i) square(i, j) -= operand.matrix(i, j);
    }
    report.accuracy.bound += frobenius(square) / (size * size);
  }
  if (const Outcome o = host::finite(result.view()); !o.ok()) return failed(o, report.algorithm, x);
  iterative::assign(result, x);
  return report;
}

}  // namespace functions

template <Scalar T> Report sqrtm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x) {
  return functions::by_schur<T>("solver.sqrtm", false, executor, a, x);
}
template <Scalar T> Report logm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x) {
  return functions::by_schur<T>("solver.logm", true, executor, a, x);
}

#define TRN_ROOTS(T)                                                                   \
  template Report sqrtm(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&); \
  template Report logm(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&);
TRN_SOLVER_SCALARS(TRN_ROOTS)
#undef TRN_ROOTS

}  // namespace trn::solver
