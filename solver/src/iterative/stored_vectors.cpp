// Sums, conjugate gradients and Richardson's iteration with vectors stored in bfloat16.
#include <trn/solver/stored_vectors.hpp>

#include "iterative/stored.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace iterative {

struct SmallSteps {
  StoreRounding rounding;
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

template <class T> void cg_guess(const MatrixView<T>& x, const void* extra) {
  static_cast<const StoreRounding*>(extra)->round(x);
}
template <class T> void richardson_guess(const MatrixView<T>& x, const void* extra) {
  static_cast<const SmallSteps*>(extra)->rounding.round(x);
}

inline StoreRounding rounding_of(const StoredOptions& options) { return {DType::BFloat16, options.rounding}; }

}  // namespace iterative

StoredSum sum_stored(std::span<const float> x, const StoredOptions& options) {
  const iterative::StoreRounding rounding = iterative::rounding_of(options);
  const bool stochastic = options.rounding.is_stochastic();
  // The spacing of bfloat16 beside 1, that of its smallest numbers, and float's unit roundoff, which is the addition's.
  constexpr double kUnit = 0x1p-7, kLeast = 0x1p-133, kAddition = 0x1p-24;
  StoredSum sum;
  double added = 0, units = 0, squares = 0;
  std::vector<float> accumulator{0};
  for (const float value : x) {
    accumulator[0] += value;
    const double size = std::abs(static_cast<double>(accumulator[0]));
    const double unit = size == 0 ? 0 : std::max(kUnit * size, kLeast);
    added += kAddition * size, units += unit, squares += unit * unit;
    rounding.round(accumulator);
  }
  sum.value = accumulator[0];
  sum.sure_bound = added + (stochastic ? units : units / 2);
  // Means of stochastic roundings are off by less than 2^-24 units, and only below the smallest normal number.
  sum.probable_bound =
      stochastic ? added + 0x1p-24 * units + 4 * std::sqrt(squares) : std::numeric_limits<double>::infinity();
  return sum;
}

template <Scalar T> IterationReport cg_stored(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& x,
                                              const StoredOptions& options) {
  const iterative::StoreRounding rounding = iterative::rounding_of(options);
  return iterative::iterate<T>({"solver.cg_stored", "cg, bfloat16 vectors"}, a, {}, b, x, options,
                               iterative::cg_loop<T>, &rounding, iterative::cg_guess<T>);
}

template <Scalar T> IterationReport richardson_stored(const AnyOperator<T>& a, const ConstMatrix<T>& b,
                                                      const MatrixView<T>& x, double omega,
                                                      const StoredOptions& options) {
  require(omega > 0 && std::isfinite(omega), "solver.richardson_stored: omega is {}; it must be positive", omega);
  const iterative::SmallSteps steps{iterative::rounding_of(options), omega};
  return iterative::iterate<T>({"solver.richardson_stored", "richardson, bfloat16 vectors"}, a, {}, b, x, options,
                               iterative::richardson_loop<T>, &steps, iterative::richardson_guess<T>);
}

#define TRN_STORED(T)                                                                                            \
  template IterationReport cg_stored(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&,         \
                                     const StoredOptions&);                                                      \
  template IterationReport richardson_stored(const AnyOperator<T>&, const ConstMatrix<T>&, const MatrixView<T>&, \
                                             double, const StoredOptions&);
TRN_SOLVER_SCALARS(TRN_STORED)
#undef TRN_STORED

}  // namespace trn::solver
