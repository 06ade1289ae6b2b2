// A square system: the matrix written out in full, in host memory, and its factorisation by whatever solve() was asked
// for, on the host or a device. On a device Structure::Positive takes Cholesky of its type, Triangular substitution,
// Factor::Lu the type's LU, and all else QR: that of the type for complex numbers, in float32 for real ones, whose
// solutions are those of float32 for double too: refinement is for the caller.
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include <trn/solver/cholesky.hpp>
#include <trn/solver/ldl.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/solve.hpp>

#include "host/column_major.hpp"
#include "narrow_qr.hpp"

namespace trn::solver {

// NaN and infinities among the elements that the structure reads.
template <Scalar T> Outcome finite_elements(const MatrixView<const T>& a, const SolveOptions& options);

// The matrix that A stands for: the other triangle mirrored, or zero, and a Unit diagonal written out.
template <Scalar T> host::Columns<T> written_out(const MatrixView<const T>& a, const SolveOptions& options);

template <Scalar T> class System {
 public:
  // `full` is written_out(); it is finite.
  System(const Executor& executor, const host::Columns<T>& full, const SolveOptions& options);
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  [[nodiscard]] std::string_view algorithm() const { return algorithm_; }
  Outcome solve(const MatrixView<T>& b) const;  // X replaces B
  [[nodiscard]] double condition() const;       // estimate, infinity norm (on a device 1-norm; 0 for Triangular)
  // A singular matrix would look like this in the factor's arithmetic: refinement may converge to any of its solutions.
  [[nodiscard]] bool doubtful() const { return doubtful_; }

 private:
  Executor executor_;
  const host::Columns<T>* full_;
  SolveOptions options_;
  void factor_on_device();
  Outcome solve_with_factor(const MatrixView<T>& b, const MatrixView<const T>& triangle) const;
  void judge(double condition, double unit);

  std::variant<std::monostate, Cholesky<T>, Lu<T>, Ldl<T>, Qr<T>> factor_;
  std::optional<NarrowQr> narrow_;
  std::optional<Matrix<T>> triangle_;  // on the device
  double condition_ = 0;
  bool doubtful_ = false;
  Outcome outcome_;
  std::string_view algorithm_;
};

}  // namespace trn::solver
