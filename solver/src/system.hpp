// A square system on the host: the matrix written out in full, and its factorisation by whatever solve() was asked for.
#pragma once

#include <string_view>
#include <variant>

#include <trn/solver/cholesky.hpp>
#include <trn/solver/ldl.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/solve.hpp>

#include "host/column_major.hpp"

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
  [[nodiscard]] double condition() const;       // estimate, infinity norm

 private:
  Executor executor_;
  const host::Columns<T>* full_;
  SolveOptions options_;
  std::variant<std::monostate, Cholesky<T>, Lu<T>, Ldl<T>, Qr<T>> factor_;
  Outcome outcome_;
  std::string_view algorithm_;
};

}  // namespace trn::solver
