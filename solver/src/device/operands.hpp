// What every device kernel of the solvers does with its operands: looking for NaN and infinities, copying triangles.
// float is looked at on the device; the other types, of which no engine has numbers, on the host after a copy.
#pragma once

#include "copies.hpp"

namespace trn::solver::device {

using copies::diagonal;
using copies::fill_nan;
using copies::move;
using copies::on;
using copies::on_host;
using copies::store_part;
using host::Part;

// Ok, or NotFinite with the first place, row by row. Nothing outside the part is read for float.
[[nodiscard]] Outcome finite(const Executor& executor, const MatrixView<const float>& a, Part part = Part::All);
template <Scalar T> [[nodiscard]] Outcome finite(const Executor&, const MatrixView<T>& a, Part part = Part::All) {
  return host::finite(on_host(a).view(), part);
}
inline Outcome finite(const Executor& executor, const MatrixView<float>& a, Part part = Part::All) {
  return finite(executor, MatrixView<const float>(a), part);
}
template <Scalar T> [[nodiscard]] Outcome finite(const Executor&, const MatrixView<const T>& a, Part part = Part::All) {
  return host::finite(on_host(a).view(), part);
}

// The triangle of A into B; the rest of B becomes zero, or is not touched.
void copy_triangle(const Executor& executor, const MatrixView<const float>& a, Uplo uplo, const MatrixView<float>& b,
                   bool zeros);
template <Scalar T>
void copy_triangle(const Executor&, const MatrixView<const T>& a, Uplo uplo, const MatrixView<T>& b, bool zeros) {
  const Matrix<T> all = on_host(a);
  if (!zeros) return store_part(all, b, host::part_of(uplo));
  const Matrix<T> part(Executor::host(), a.rows(), a.columns());
  host::fill(part.view(), T(0));
  host::copy_part(all.view(), part.view(), host::part_of(uplo));
  move(part.view(), b);
}

// The unit matrix in the executor's memory.
template <class T> [[nodiscard]] Matrix<T> unit_matrix(const Executor& executor, std::int64_t n) {
  std::vector<T> values(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i * (n + 1))] = T(1);
  return Matrix<T>::from_host(executor, n, n, values);
}

}  // namespace trn::solver::device
