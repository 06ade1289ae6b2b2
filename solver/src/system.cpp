// The choice of a factorisation by structure.
#include "system.hpp"

#include <trn/solver/triangular.hpp>

#include "bounds.hpp"
#include "copies.hpp"
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
  if (executor.family() == Family::Device) {
    factor_on_device();
  } else if (options.factor == Factor::Qr) {
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

// Rounding makes a singular matrix one of condition 1 / (c n^(1/2) u), c of a few units.
template <Scalar T> void System<T>::judge(double condition, double unit) {
  condition_ = condition;
  doubtful_ = !(condition * 32 * std::sqrt(static_cast<double>(full_->rows())) * unit < 1);
}

template <Scalar T> void System<T>::factor_on_device() {
  const bool chosen = options_.factor == Factor::Qr || options_.factor == Factor::Lu;
  const auto factored = [&](const auto& f, double condition) {
    outcome_ = f.report().outcome, algorithm_ = f.report().algorithm;
    if (outcome_.ok()) judge(condition, unit_roundoff_of<T>());
  };
  if (options_.structure == Structure::Triangular && !chosen) {
    algorithm_ = "triangular";
    triangle_.emplace(copies::on(executor_, full_->view()));
    for (std::int64_t i = 0; outcome_.ok() && i < full_->rows(); ++i) {
      if ((*full_)(i, i) == T(0)) outcome_ = {Status::Singular, i};
    }
    return;
  }
  const Matrix<T> a = copies::on(executor_, full_->view());
  if (options_.structure == Structure::Positive && !chosen) {
    const Cholesky<T>& f = factor_.template emplace<Cholesky<T>>(executor_, options_.uplo, a.view());
    double root = 0;
    if (f.report().outcome.ok()) {
      const Matrix<T> l = copies::on_host(f.factor());
      root = condition_from(trcon(Executor::host(), Norm::One, options_.uplo, Diag::NonUnit, l.view()));
    }
    factored(f, root * root);
  } else if (options_.factor == Factor::Lu) {
    const Lu<T>& f = factor_.template emplace<Lu<T>>(executor_, a.view());
    factored(f, f.condition());
  } else if constexpr (blas::ComplexScalar<T>) {
    const Qr<T>& f = factor_.template emplace<Qr<T>>(executor_, a.view());
    factored(f, f.condition());
  } else {
    narrow_.emplace(executor_, *full_);
    outcome_ = narrow_->report().outcome;
    algorithm_ = std::same_as<T, float> ? "blocked qr" : "blocked qr in float32, refined";
    judge(narrow_->condition(), unit_roundoff_of<float>());
  }
}

template <Scalar T> Outcome System<T>::solve(const MatrixView<T>& b) const {
  if constexpr (!blas::ComplexScalar<T>) {
    if (narrow_) {
      host::Columns<T> x(b);
      if (!narrow_->solve(x)) return {Status::Singular, -1};
      host::copy_part(x.view(), b);
      return {};
    }
  }
  if (executor_.family() == Family::Host) return solve_with_factor(b, full_->view());
  const Matrix<T> x = copies::on(executor_, b);
  const Outcome solved = solve_with_factor(x.view(), triangle_ ? triangle_->view() : x.view());
  copies::move(MatrixView<const T>(x.view()), b);
  return solved;
}

// B in the executor's memory; the triangle as well, where there is no factor.
template <Scalar T>
Outcome System<T>::solve_with_factor(const MatrixView<T>& b, const MatrixView<const T>& triangle) const {
  return std::visit(
      [&](const auto& factor) {
        if constexpr (std::same_as<std::decay_t<decltype(factor)>, std::monostate>) {
          return trtrs<T>(executor_, options_.uplo, Op::N, Diag::NonUnit, triangle, b).outcome;
        } else {
          return factor.solve(b).outcome;
        }
      },
      factor_);
}

template <Scalar T> double System<T>::condition() const {
  if (executor_.family() == Family::Device) return condition_;
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
