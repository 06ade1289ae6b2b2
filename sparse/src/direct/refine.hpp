// Residuals and refinement, the same for the three factorisations. A residual is summed in a wider type: its error is
// far below the roundings of x that it has to show.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include <trn/sparse/direct.hpp>

#include "checks.hpp"
#include "host_data.hpp"
#include "operators.hpp"

namespace trn::sparse::direct {

template <Scalar T> struct Wide;
template <> struct Wide<float> { using Type = double; };
template <> struct Wide<double> { using Type = long double; };
template <> struct Wide<std::complex<float>> { using Type = std::complex<double>; };
template <> struct Wide<std::complex<double>> { using Type = std::complex<long double>; };
template <Scalar T> using WideOf = typename Wide<T>::Type;

template <class W, Scalar T> W widen(T x) {
  if constexpr (ComplexScalar<T>)
    return W(x.real(), x.imag());
  else
    return W(x);
}
// (x y) without the checks for infinities that std::complex makes.
template <class W> W wide_product(W x, W y) {
  if constexpr (requires { x.imag(); })
    return W(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  else
    return x * y;
}
template <class W> auto modulus_of(W x) {
  if constexpr (requires { x.imag(); })
    return std::hypot(x.real(), x.imag());
  else
    return std::abs(x);
}

// r = b - op(A) x and size = |op(A)||x|. `entries(visit)` calls visit(i, j, value) for every entry of op(A).
template <Scalar T> struct Residual {
  std::vector<WideOf<T>> r;
  std::vector<decltype(modulus_of(WideOf<T>{}))> size;

  template <class Entries> void compute(const std::vector<T>& b, const std::vector<T>& x, const Entries& entries) {
    using W = WideOf<T>;
    r.resize(b.size());
    size.assign(b.size(), 0);
    for (std::size_t i = 0; i < b.size(); ++i) r[i] = widen<W>(b[i]);
    entries([&](std::int64_t i, std::int64_t j, T value) {
      const W term = wide_product(widen<W>(value), widen<W>(x[static_cast<std::size_t>(j)]));
      r[static_cast<std::size_t>(i)] -= term;
      if constexpr (ComplexScalar<T>)
        size[static_cast<std::size_t>(i)] += modulus_of(term);
      else
        size[static_cast<std::size_t>(i)] += std::abs(term);
    });
  }
  // Adds this column to what a report says of the columns before it.
  void report(Solved& s) const {
    double largest = 0, most = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const auto error = modulus_of(r[i]);
      if (error != 0) {
        const auto ratio = static_cast<double>(error / size[i]);
        s.componentwise = std::isnan(ratio) || ratio > s.componentwise ? ratio : s.componentwise;
      }
      if (std::isnan(error)) s.componentwise = s.normwise = std::numeric_limits<double>::quiet_NaN();
      largest = std::max(largest, static_cast<double>(error)), most = std::max(most, static_cast<double>(size[i]));
    }
    if (largest > 0 && !(largest / most <= s.normwise)) s.normwise = largest / most;
  }
};

// Solves column by column: `once(columns, count)` solves in place, `count` columns of n one after the other; `entries`
// as above. A step of refinement is kept only if the residual is smaller after it.
template <Scalar T, class Once, class Entries>
Solved solve_refined(std::int64_t n, const MatrixView<const T>& b, const MatrixView<T>& x, const Refinement& refinement,
                     const Once& once, const Entries& entries) {
  const auto rows = static_cast<std::size_t>(n), count = static_cast<std::size_t>(b.columns());
  std::vector<T> right(rows * count), found;
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t i = 0; i < rows; ++i)
      right[j * rows + i] =
          b.data()[static_cast<std::int64_t>(i) * b.row_stride() + static_cast<std::int64_t>(j) * b.column_stride()];
  }
  found = right;
  once(found.data(), b.columns());
  Solved solved;
  Residual<T> residual, after;
  std::vector<T> one(rows), own(rows), change(rows);
  for (std::size_t j = 0; j < count; ++j) {
    std::copy_n(right.data() + j * rows, rows, one.data());
    std::copy_n(found.data() + j * rows, rows, own.data());
    residual.compute(one, own, entries);
    Solved now;
    residual.report(now);
    for (int step = 0; step < refinement.steps && now.componentwise != 0; ++step) {
      for (std::size_t i = 0; i < rows; ++i) change[i] = static_cast<T>(residual.r[i]);
      once(change.data(), 1);
      for (std::size_t i = 0; i < rows; ++i) change[i] += own[i];
      after.compute(one, change, entries);
      Solved next;
      after.report(next);
      if (!(next.componentwise < now.componentwise || next.normwise < now.normwise)) break;
      std::swap(own, change), std::swap(residual, after);
      now.componentwise = next.componentwise, now.normwise = next.normwise;
      solved.steps = std::max(solved.steps, step + 1);
    }
    solved.componentwise = now.componentwise > solved.componentwise || std::isnan(now.componentwise)
                               ? now.componentwise
                               : solved.componentwise;
    solved.normwise = now.normwise > solved.normwise || std::isnan(now.normwise) ? now.normwise : solved.normwise;
    for (std::size_t i = 0; i < rows; ++i)
      x.data()[static_cast<std::int64_t>(i) * x.row_stride() + static_cast<std::int64_t>(j) * x.column_stride()] =
          own[i];
  }
  return solved;
}

// y = alpha f(x) + beta y, f a map of one column in place.
template <Scalar T, class F> void apply_columns(const char* operation, const Executor& executor, std::vector<T>& column,
                                                T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y,
                                                const F& map) {
  const auto n = static_cast<std::int64_t>(column.size());
  checks::input(operation, "x", executor, x);
  checks::output(operation, "y", executor, y);
  checks::shape(operation, "x", x, n, y.columns());
  checks::shape(operation, "y", y, n, x.columns());
  checks::apart(operation, "x", x, "y", y);
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    for (std::int64_t i = 0; i < n; ++i)
      column[static_cast<std::size_t>(i)] = host::times(alpha, x.data()[i * x.row_stride() + j * x.column_stride()]);
    map(column.data());
    for (std::int64_t i = 0; i < n; ++i) {
      T& out = y.data()[i * y.row_stride() + j * y.column_stride()];
      const T own = column[static_cast<std::size_t>(i)];
      out = beta == T(0) ? own : own + host::times(beta, out);
    }
  }
}

// What solve() checks, and NaN everywhere when there is no factor.
template <Scalar T> void check_solve(const char* operation, const Executor& executor, std::int64_t b_rows,
                                     std::int64_t x_rows, const MatrixView<const T>& b, const MatrixView<T>& x,
                                     const Refinement& refinement) {
  require(refinement.steps >= 0 && refinement.steps <= 100, "{}: {} steps of refinement; they must be 0 to 100",
          operation, refinement.steps);
  checks::input(operation, "b", executor, b);
  checks::output(operation, "x", executor, x);
  checks::shape(operation, "b", b, b_rows, x.columns());
  checks::shape(operation, "x", x, x_rows, b.columns());
}
template <Scalar T> Solved unsolved(const Outcome& outcome, const MatrixView<T>& x) {
  fill_columns(x.rows(), host::Columns<T>{x.data(), x.columns(), x.row_stride(), x.column_stride()}, not_a_number<T>());
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {outcome, 0, nan, nan};
}

}  // namespace trn::sparse::direct
