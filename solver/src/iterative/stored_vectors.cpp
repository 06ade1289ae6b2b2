// Sums, conjugate gradients and Richardson's iteration with vectors stored in bfloat16.
#include <trn/solver/stored_vectors.hpp>

#include <trn/core/enumerators.hpp>

#include "host_only.hpp"
#include "iterative/stored.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace iterative {

struct SmallSteps {
  Rounding rounding;
  double omega;
};

template <class T> Outcome richardson_loop(Run<T>& run, const void* extra) {
  const auto& steps = *static_cast<const SmallSteps*>(extra);
  const Scalars<T> omega(at(run.x.columns()), T(static_cast<Real<T>>(steps.omega)));
  Norms size = norms<T>(run.r.view());
  while (run.first_active(size) >= 0) {
    add<T>(omega, run.r.view(), run.x);
    steps.rounding.round(run.x);
    size = run.residual();
    for (const double s : size) {
      if (!std::isfinite(s)) return {Status::NotFinite, -1};
    }
    if (!run.step(size)) break;
  }
  return run.left_off(size);
}

inline Rounding rounding_of(const char* operation, const StoredOptions& options) {
  operands::check_enumerator(operation, "VectorRounding", options.rounding, VectorRounding::Stochastic);
  return {DType::BFloat16, options.rounding == VectorRounding::Stochastic, options.seed};
}

}  // namespace iterative

StoredSum sum_stored(std::span<const float> x, const StoredOptions& options) {
  const iterative::Rounding rounding = iterative::rounding_of("solver.sum_stored", options);
  constexpr double kUnit = 0x1p-7;  // the spacing of bfloat16 beside 1
  StoredSum sum;
  double sizes = 0, squares = 0;
  std::vector<float> accumulator{0};
  for (const float value : x) {
    accumulator[0] += value;
    sizes += std::abs(accumulator[0]);
    squares += static_cast<double>(accumulator[0]) * static_cast<double>(accumulator[0]);
    rounding.round(accumulator);
  }
  sum.value = accumulator[0];
  sum.sure_bound = (rounding.stochastic ? kUnit : kUnit / 2) * sizes;
  sum.probable_bound = rounding.stochastic ? 4 * kUnit * std::sqrt(squares) : std::numeric_limits<double>::infinity();
  return sum;
}

template <Scalar T> IterationReport cg_stored(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                              const StoredOptions& options) {
  const iterative::Rounding rounding = iterative::rounding_of("solver.cg_stored", options);
  if (a) on_host_only("solver.cg_stored", a.executor());
  return iterative::iterate<T>({"solver.cg_stored", "cg, bfloat16 vectors"}, a, {}, b, x, options,
                               iterative::cg_loop<T>, &rounding);
}

template <Scalar T> IterationReport richardson_stored(const AnyOperator<T>& a, const ConstMatrix<T>& b,
                                                      const MatrixView<T>& x, double omega,
                                                      const StoredOptions& options) {
  require(omega > 0 && std::isfinite(omega), "solver.richardson_stored: omega is {}; it must be positive", omega);
  const iterative::SmallSteps steps{iterative::rounding_of("solver.richardson_stored", options), omega};
  if (a) on_host_only("solver.richardson_stored", a.executor());
  return iterative::iterate<T>({"solver.richardson_stored", "richardson, bfloat16 vectors"}, a, {}, b, x, options,
                               iterative::richardson_loop<T>, &steps);
}

#define TRN_STORED(T)                                                                                            \
  template IterationReport cg_stored(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&,         \
                                     const StoredOptions&);                                                      \
  template IterationReport richardson_stored(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, \
                                             double, const StoredOptions&);
TRN_SOLVER_SCALARS(TRN_STORED)
#undef TRN_STORED

}  // namespace trn::solver
