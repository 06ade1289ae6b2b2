// The choice of a factorisation by structure.
#include "system.hpp"

#include <trn/solver/triangular.hpp>

#include "norms.hpp"
#include "scalars.hpp"

namespace trn::solver {

template <Scalar T> Outcome finite_elements(const MatrixView<const T>& a, const SolveOptions& options) {
  if (options.structure == Structure::General) return host::finite(a);
  const bool unit = options.structure == Structure::Triangular && options.diag == Diag::Unit;
  const host::Part part = host::part_of(options.uplo);
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const std::int64_t end = host::last_column(part, i, a.columns());
    for (std::int64_t j = host::first_column(part, i); j < end; ++j) {
      if (!(unit && i == j) && !host::is_finite(host::element(a, i, j)))
        return {Status::NotFinite, i * a.columns() + j};
    }
  }
  return {};
}

template <Scalar T> host::Columns<T> written_out(const MatrixView<const T>& a, const SolveOptions& options) {
  if (options.structure == Structure::General) return host::Columns<T>(a);
  host::Columns<T> full(a, host::part_of(options.uplo));
  if (options.structure == Structure::Triangular) {
    for (std::int64_t i = 0; options.diag == Diag::Unit && i < a.rows(); ++i) full(i, i) = T(1);
    return full;
  }
  const bool hermitian = options.structure != Structure::Symmetric;
  mirror(full.view(), options.uplo, hermitian);
  for (std::int64_t i = 0; hermitian && i < a.rows(); ++i) full(i, i) = T(std::real(full(i, i)));
  return full;
}

template <Scalar T>
System<T>::System(const Executor& executor, const host::Columns<T>& full, const SolveOptions& options)
    : executor_(executor), full_(&full), options_(options) {
  const Structure structure = options.structure;
  if (options.factor == Factor::Qr) {
    const Qr<T>& f = factor_.template emplace<Qr<T>>(executor, full.view());
    outcome_ = f.report().outcome, algorithm_ = f.report().algorithm;
  } else if (options.factor == Factor::Lu || structure == Structure::General) {
    const Lu<T>& f = factor_.template emplace<Lu<T>>(executor, full.view());
    outcome_ = f.report().outcome, algorithm_ = f.report().algorithm;
  } else if (structure == Structure::Positive) {
    const Cholesky<T>& f = factor_.template emplace<Cholesky<T>>(executor, options.uplo, full.view());
    outcome_ = f.report().outcome, algorithm_ = f.report().algorithm;
  } else if (structure == Structure::Triangular) {
    algorithm_ = "triangular";
    for (std::int64_t i = 0; outcome_.ok() && i < full.rows(); ++i) {
      if (full(i, i) == T(0)) outcome_ = {Status::Singular, i};
    }
  } else {
    const LdlOptions ldl{structure == Structure::Symmetric ? Symmetry::Symmetric : Symmetry::Hermitian};
    const Ldl<T>& f = factor_.template emplace<Ldl<T>>(executor, options.uplo, full.view(), ldl);
    outcome_ = f.report().outcome, algorithm_ = f.report().algorithm;
  }
}

template <Scalar T> Outcome System<T>::solve(const MatrixView<T>& b) const {
  return std::visit(
      [&](const auto& factor) {
        if constexpr (std::same_as<std::decay_t<decltype(factor)>, std::monostate>) {
          return trtrs<T>(executor_, options_.uplo, Op::N, Diag::NonUnit, full_->view(), b).outcome;
        } else {
          return factor.solve(b).outcome;
        }
      },
      factor_);
}

template <Scalar T> double System<T>::condition() const {
  return std::visit(
      [&](const auto& factor) {
        using F = std::decay_t<decltype(factor)>;
        if constexpr (std::same_as<F, std::monostate>) {
          host::Columns<T> copy(full_->view());
          return condition_from(trcon(executor_, Norm::Infinity, options_.uplo, Diag::NonUnit, copy.view()));
        } else if constexpr (std::same_as<F, Lu<T>>) {
          return factor.condition(Norm::Infinity);
        } else {
          return factor.condition();
        }
      },
      factor_);
}

#define TRN_SYSTEM(T)                                                                     \
  template Outcome finite_elements(const MatrixView<const T>&, const SolveOptions&);      \
  template host::Columns<T> written_out(const MatrixView<const T>&, const SolveOptions&); \
  template class System<T>;
TRN_SOLVER_SCALARS(TRN_SYSTEM)
#undef TRN_SYSTEM

}  // namespace trn::solver
