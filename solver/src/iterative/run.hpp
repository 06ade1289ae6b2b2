// What every Krylov method shares: checks of the operands, starting residuals, the stopping rule, residuals recomputed
// at the end. A method is a loop on a Run.
#pragma once

#include <functional>

#include <trn/solver/krylov.hpp>

#include "iterative/blocks.hpp"

namespace trn::solver::iterative {

template <Scalar T> class Run {
 public:
  OperatorRef<T> a, m;
  MatrixView<const T> b;
  MatrixView<T> x;
  Block<T> r;    // b - A x when a loop begins; the loop keeps it by its recurrence
  Norms limits;  // a column is done when ||r_j|| <= limits[j]
  std::int64_t restart = 0, iterations = 0, max_iterations = 0, products = 0;

  Run(const OperatorRef<T>& a_, const OperatorRef<T>& m_, const MatrixView<const T>& b_, const MatrixView<T>& x_)
      : a(a_), m(m_), b(b_), x(x_), r(x_.executor(), b_.rows(), b_.columns()) {}

  [[nodiscard]] Block<T> block(std::int64_t columns = -1) const {
    return {x.executor(), x.rows(), columns < 0 ? x.columns() : columns};
  }
  // y = A x.
  void product(const MatrixView<const T>& from, const MatrixView<T>& to) {
    ++products;
    a.apply(Op::N, T(1), from, T(0), to);
  }
  // z = M y; a copy without a preconditioner.
  void precondition(const MatrixView<const T>& from, const MatrixView<T>& to) const {
    if (m) {
      m.apply(Op::N, T(1), from, T(0), to);
    } else {
      assign<T>(from, to);
    }
  }
  // r = b - A x, and its norms.
  Norms residual() {
    assign<T>(b, r.view());
    ++products;
    a.apply(Op::N, T(-1), MatrixView<const T>(x), T(1), r.view());
    return norms<T>(r.view());
  }
  [[nodiscard]] bool active(const Norms& size, std::int64_t j) const { return !(size[at(j)] <= limits[at(j)]); }
  // The first column that is still active; -1 without one.
  [[nodiscard]] std::int64_t first_active(const Norms& size) const;
  // Counts an iteration and asks the monitor. False: stop.
  bool step(const Norms& size);
  // The outcome when a loop leaves off: Ok when all columns are done, NotFinite, NotConverged.
  [[nodiscard]] Outcome left_off(const Norms& size) const;

  Norms b_norms;
  const std::function<bool(std::int64_t, std::span<const double>)>* monitor = nullptr;
};

// numerator_j / denominator_j for the active columns, 0 for the others.
template <class T>
Scalars<T> ratios(const Run<T>& run, const Norms& size, const Scalars<T>& above, const Scalars<T>& below) {
  Scalars<T> result(above.size(), T(0));
  for (std::size_t j = 0; j < above.size(); ++j) {
    if (run.active(size, static_cast<std::int64_t>(j))) result[j] = above[j] / below[j];
  }
  return result;
}

template <class T> using Loop = Outcome (*)(Run<T>&, const void* extra);
// What becomes of a guess in x before its residual is formed.
template <class T> using Guessed = void (*)(const MatrixView<T>& x, const void* extra);

struct Method {
  const char* operation;  // "solver.cg"
  std::string_view name;  // Report::algorithm
};

// Runs a loop, again where its recurrence was deceived; see krylov.hpp.
template <Scalar T> IterationReport iterate(const Method& method, const OperatorRef<T>& a, const OperatorRef<T>& m,
                                            const MatrixView<const T>& b, const MatrixView<T>& x,
                                            const KrylovOptions& options, Loop<T> loop, const void* extra = nullptr,
                                            Guessed<T> guessed = nullptr);

// The checks of operands and options that lsqr shares.
template <Scalar T> void check_system(const char* operation, const OperatorRef<T>& a, const MatrixView<const T>& b,
                                      const MatrixView<T>& x, const KrylovOptions& options);

}  // namespace trn::solver::iterative
