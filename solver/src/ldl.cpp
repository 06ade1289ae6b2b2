// The entry points of the indefinite factorisation, and the class made of them.
#include <trn/solver/ldl.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "kernels/factorisations.hpp"
#include "norms.hpp"
#include "scalars.hpp"
#include "scaled_product.hpp"

namespace trn::solver {

namespace {

constexpr std::string_view kName = "ldl";

template <class T> void check_factor(const char* operation, const Executor& executor, const MatrixView<T>& factor,
                                     const ConstPivots& pivots) {
  checks::input(operation, "the factor", executor, factor);
  checks::input(operation, "the pivot vector", executor, pivots);
  checks::square(operation, "the factor", factor);
  const std::int64_t n = factor.rows();
  checks::size(operation, "the pivot vector", pivots, n);
  if (executor.family() != Family::Host) return;
  const auto at = [&](std::int64_t i) { return pivots.data()[i * pivots.stride()]; };
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t p = at(i) >= 0 ? at(i) : -(at(i) + 1);
    require(p < n, "{}: pivot {} is {}; its row must be below {}", operation, i, at(i), n);
    if (at(i) >= 0) continue;
    require(i + 1 < n && at(i + 1) < 0, "{}: pivot {} is {}, the first of a 2 x 2 block, and {} does not follow it",
            operation, i, at(i), "a second");
    ++i;
  }
}

// Calls one(d) for every 1 x 1 block of D, two(d00, d10, d11) for every 2 x 2 block; d10 is the stored element.
template <class T, class One, class Two>
void for_blocks(const MatrixView<const T>& factor, const ConstPivots& pivots, Uplo uplo, One one, Two two) {
  for (std::int64_t k = 0; k < factor.rows(); ++k) {
    if (pivots.data()[k * pivots.stride()] >= 0) {
      one(host::element(factor, k, k));
    } else {
      two(host::element(factor, k, k),
          uplo == Uplo::Lower ? host::element(factor, k + 1, k) : host::element(factor, k, k + 1),
          host::element(factor, k + 1, k + 1));
      ++k;
    }
  }
}

template <class T> T partner(const T& x, Symmetry symmetry) {
  if constexpr (blas::ComplexScalar<T>) {
    return symmetry == Symmetry::Hermitian ? std::conj(x) : x;
  } else {
    return x;
  }
}

}  // namespace

template <Scalar T> Report sytrf(const Executor& executor, Uplo uplo, const MatrixView<T>& a,
                                 const VectorView<std::int64_t>& pivots, const LdlOptions& options) {
  constexpr const char* operation = "solver.sytrf";
  checks::enumerators(operation, uplo);
  operands::check_enumerator(operation, "Symmetry", options.symmetry, Symmetry::Symmetric);
  checks::output(operation, "A", executor, a);
  checks::output(operation, "the pivot vector", executor, pivots);
  checks::square(operation, "A", a);
  checks::size(operation, "the pivot vector", pivots, a.rows());
  return report_of<T>(dispatch(kSytrf<T>, executor, {uplo, options.symmetry, a, pivots}), a.rows(), kName);
}

template <Scalar T> Report sytrs(const Executor& executor, Uplo uplo, const ConstMatrix<T>& factor,
                                 const VectorView<const std::int64_t>& pivots, const MatrixView<T>& b,
                                 const LdlOptions& options) {
  constexpr const char* operation = "solver.sytrs";
  checks::enumerators(operation, uplo);
  operands::check_enumerator(operation, "Symmetry", options.symmetry, Symmetry::Symmetric);
  check_factor(operation, executor, factor, pivots);
  checks::output(operation, "B", executor, b);
  checks::rows(operation, "B", b, factor.rows());
  checks::apart(operation, "the factor", factor, "B", b);
  return report_of<T>(dispatch(kSytrs<T>, executor, {uplo, options.symmetry, factor, pivots, b}), 3 * factor.rows(),
                      kName);
}

template <Scalar T> Report sytri(const Executor& executor, Uplo uplo, const MatrixView<T>& factor,
                                 const VectorView<const std::int64_t>& pivots, const LdlOptions& options) {
  checks::enumerators("solver.sytri", uplo);
  operands::check_enumerator("solver.sytri", "Symmetry", options.symmetry, Symmetry::Symmetric);
  check_factor("solver.sytri", executor, factor, pivots);
  checks::output("solver.sytri", "the factor", executor, factor);
  return report_of<T>(dispatch(kSytri<T>, executor, {uplo, options.symmetry, factor, pivots}), factor.rows(), kName);
}

template <Scalar T> Ldl<T>::Ldl(const Executor& executor, Uplo uplo, const ConstMatrix<T>& a, const LdlOptions& options)
    : storage_(executor, (checks::input("solver.ldl", "A", executor, a), a.columns()), a.rows()),
      pivots_(executor, {a.rows()}),
      uplo_(uplo),
      options_(options) {
  checks::enumerators("solver.ldl", uplo);
  operands::check_enumerator("solver.ldl", "Symmetry", options.symmetry, Symmetry::Symmetric);
  checks::square("solver.ldl", "A", a);
  (void)kernel_of(kSytrf<T>, executor);  // before anything is read
  const MatrixView<T> own = storage_.view().transposed();
  host::fill(own, T(0));
  host::copy_part(a, own, host::part_of(uplo));
  norm_ = static_cast<Real<T>>(symmetric_norm_of(a, uplo));
  report_ = sytrf(executor, uplo, own, VectorView<std::int64_t>(pivots_.view()), options);
}

template <Scalar T> VectorView<const std::int64_t> Ldl<T>::pivots() const {
  return VectorView<std::int64_t>(pivots_.view());
}

template <Scalar T> Report Ldl<T>::solve(const MatrixView<T>& b) const {
  constexpr const char* operation = "solver.ldl.solve";
  checks::output(operation, "B", storage_.executor(), b);
  checks::rows(operation, "B", b, size());
  if (!report_.outcome.ok()) {
    host::fill(b, host::not_a_number<T>());
    return report_;
  }
  return sytrs<T>(storage_.executor(), uplo_, factor(), pivots(), b, options_);
}

template <Scalar T> Matrix<T> Ldl<T>::inverse() const {
  Report report;
  return inverse(report);
}
template <Scalar T> Matrix<T> Ldl<T>::inverse(Report& report) const {
  Matrix<T> inverse(storage_.executor(), size(), size());
  report = report_;
  if (report.outcome.ok()) {
    host::copy_part(factor(), inverse.view());
    report = sytri(storage_.executor(), uplo_, inverse.view(), pivots(), options_);
    mirror(inverse.view(), uplo_, options_.symmetry == Symmetry::Hermitian);
  }
  if (!report.outcome.ok()) host::fill(inverse.view(), host::not_a_number<T>());
  return inverse;
}

namespace {
template <class T> ScaledProduct<T> block_product(const MatrixView<const T>& factor, const ConstPivots& pivots,
                                                  Uplo uplo, Symmetry symmetry) {
  ScaledProduct<T> product;
  for_blocks(
      factor, pivots, uplo, [&](const T& d) { product.multiply(d); },
      [&](const T& d00, const T& d10, const T& d11) {
        product.multiply_difference(d00, d11, d10, partner(d10, symmetry));
      });
  return product;
}
}  // namespace

template <Scalar T> T Ldl<T>::determinant() const {
  if (report_.outcome.status == Status::NotFinite) return host::not_a_number<T>();
  return block_product(factor(), pivots(), uplo_, options_.symmetry).value();
}
template <Scalar T> LogDeterminant<T> Ldl<T>::log_determinant() const {
  if (report_.outcome.status == Status::NotFinite) return {host::not_a_number<T>(), host::not_a_number<Real<T>>()};
  return block_product(factor(), pivots(), uplo_, options_.symmetry).logarithm();
}

template <Scalar T> Inertia Ldl<T>::inertia() const {
  require(!blas::ComplexScalar<T> || options_.symmetry == Symmetry::Hermitian,
          "solver.ldl.inertia: the matrix is complex symmetric and has complex eigenvalues; factor a Hermitian one");
  Inertia inertia;
  for_blocks(
      factor(), pivots(), uplo_,
      [&](const T& d) {
        const auto x = std::real(d);
        ++(x > 0 ? inertia.positive : x < 0 ? inertia.negative : inertia.zero);
      },
      // Bunch and Kaufman take a 2 x 2 block only when d00 d11 < |d10|^2: one eigenvalue of each sign.
      [&](const T&, const T&, const T&) { ++inertia.positive, ++inertia.negative; });
  return inertia;
}

template <Scalar T> double Ldl<T>::condition() const {
  if (!report_.outcome.ok()) return std::numeric_limits<double>::infinity();
  return condition_from(dispatch(
      kSycon<T>, storage_.executor(),
      ConditionArgs<T>{
          .factor = factor(), .norm = norm_, .uplo = uplo_, .symmetry = options_.symmetry, .pivots = pivots()}));
}

#define TRN_LDL(T)                                                                                           \
  template Report sytrf(const Executor&, Uplo, const MatrixView<T>&, const VectorView<std::int64_t>&,        \
                        const LdlOptions&);                                                                  \
  template Report sytrs(const Executor&, Uplo, const ConstMatrix<T>&, const VectorView<const std::int64_t>&, \
                        const MatrixView<T>&, const LdlOptions&);                                            \
  template Report sytri(const Executor&, Uplo, const MatrixView<T>&, const VectorView<const std::int64_t>&,  \
                        const LdlOptions&);                                                                  \
  template class Ldl<T>;
TRN_SOLVER_SCALARS(TRN_LDL)
#undef TRN_LDL

}  // namespace trn::solver
