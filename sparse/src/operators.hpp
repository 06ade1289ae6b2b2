// apply() of operators that work in place: y = alpha f(x) + beta y from a map of columns in place. Without beta it runs
// in y; with beta, column by column in work space of the operator.
#pragma once

#include "checks.hpp"
#include "host/triangle.hpp"

namespace trn::sparse {

template <Scalar T> T not_a_number() { return T(std::numeric_limits<Real<T>>::quiet_NaN()); }

template <Scalar T, class F> void apply_in_place(const char* operation, const Executor& executor, std::int64_t n,
                                                 const Array<T>& work, T alpha, const MatrixView<const T>& x, T beta,
                                                 const MatrixView<T>& y, const F& map) {
  checks::input(operation, "x", executor, x);
  checks::output(operation, "y", executor, y);
  checks::shape(operation, "x", x, n, y.columns());
  checks::shape(operation, "y", y, n, x.columns());
  checks::apart(operation, "x", x, "y", y);
  const auto at = [&](std::int64_t i, std::int64_t j) { return x.data()[i * x.row_stride() + j * x.column_stride()]; };
  const auto scaled = [&](T v) { return alpha == T(1) ? v : host::times(alpha, v); };
  if (beta == T(0)) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < x.columns(); ++j)
        y.data()[i * y.row_stride() + j * y.column_stride()] = scaled(at(i, j));
    }
    map(host::Columns<T>{y.data(), y.columns(), y.row_stride(), y.column_stride()});
    return;
  }
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    for (std::int64_t i = 0; i < n; ++i) work.data()[i] = scaled(at(i, j));
    map(host::Columns<T>{work.data(), 1, 1, 1});
    for (std::int64_t i = 0; i < n; ++i) {
      T& out = y.data()[i * y.row_stride() + j * y.column_stride()];
      out = work.data()[i] + host::times(beta, out);
    }
  }
}

template <Scalar T> void fill_columns(std::int64_t n, const host::Columns<T>& x, T value) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < x.count; ++j) x.data[i * x.rs + j * x.cs] = value;
  }
}

}  // namespace trn::sparse
