// Products and triangular solves on a rank's own columns, whose bits do not depend on how many columns it has: on the
// host ordered_gemm's, on devices gemm's, which sums along k alone. Doubles have Exact products on devices, which plan
// a call by all of its operands: there a call is one block of columns.
#pragma once

#include <algorithm>
#include <concepts>
#include <string_view>

#include <trn/blas/gemm.hpp>
#include <trn/blas/ordered_gemm.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

template <class T> class Products {
 public:
  // block: of columns, and of what goes around the ranks.
  Products(const Executor& executor, std::int64_t block)
      : executor_(executor),
        block_(block),
        mode_(executor.family() != Family::Host && std::same_as<Real<T>, double> ? Mode::Exact : Mode::Native) {}

  [[nodiscard]] Mode mode() const { return mode_; }
  // Of all products, relative to ||a_i|| ||b_j||, and of all solves: the largest.
  [[nodiscard]] double product_bound() const { return product_bound_; }
  [[nodiscard]] double solve_bound() const { return solve_bound_; }

  // C = alpha op(A) B + beta C; C's first column is number `first` of the rank's.
  void operator()(Op op, T alpha, const MatrixView<const T>& a, const MatrixView<const T>& b, T beta,
                  const MatrixView<T>& c, std::int64_t first) {
    chunks(c.columns(), first, [&](std::int64_t j, std::int64_t width) {
      const MatrixView<const T> right = b.block(0, j, b.rows(), width);
      const MatrixView<T> to = c.block(0, j, c.rows(), width);
      const Accuracy done = mode_ == Mode::Native
                                ? blas::ordered_gemm<T>(executor_, op, Op::N, alpha, a, right, beta, to)
                                : blas::gemm(executor_, op, Op::N, alpha, a, right, beta, to, {.precision = mode_});
      product_bound_ = std::max(product_bound_, done.bound);
    });
  }
  // L X = B for a unit lower L; X replaces B. On devices.
  void solve_left_unit(const MatrixView<const T>& l, const MatrixView<T>& b, std::int64_t first) {
    chunks(b.columns(), first, [&](std::int64_t j, std::int64_t width) {
      const Accuracy done = blas::trsm<T>(executor_, Side::Left, Uplo::Lower, Op::N, Diag::Unit, T(1), l,
                                          b.block(0, j, b.rows(), width), {.precision = mode_});
      solve_bound_ = std::max(solve_bound_, done.bound);
    });
  }

 private:
  template <class F> void chunks(std::int64_t columns, std::int64_t first, const F& f) const {
    if (mode_ == Mode::Native) {
      if (columns > 0) f(std::int64_t{0}, columns);
      return;
    }
    for (std::int64_t j = 0; j < columns;) {
      const std::int64_t width = std::min(block_ - (first + j) % block_, columns - j);
      f(j, width);
      j += width;
    }
  }

  Executor executor_;
  std::int64_t block_;
  Mode mode_;
  double product_bound_ = 0, solve_bound_ = 0;
};

// What the report says of a factorisation with ranks on devices: in float, in types that no engine has, whose panels'
// strips the host reduces, and of those in doubles, whose products are Exact.
template <class T> [[nodiscard]] std::string_view device_algorithm(std::string_view whole, std::string_view strips,
                                                                   std::string_view exact) {
  if (std::same_as<T, float>) return whole;
  return std::same_as<Real<T>, double> ? exact : strips;
}

}  // namespace trn::solver
