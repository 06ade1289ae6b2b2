// Dense: a row-major matrix of doubles in host memory, with a view for the libraries.
#pragma once

#include <vector>

#include <trn/core/view.hpp>

namespace trn::mp2 {

struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;

  Dense() = default;
  Dense(std::int64_t r, std::int64_t c) : rows(r), columns(c), values(static_cast<std::size_t>(r * c)) {}
  [[nodiscard]] double& operator()(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  [[nodiscard]] double* data() { return values.data(); }
  [[nodiscard]] const double* data() const { return values.data(); }
  [[nodiscard]] MatrixView<double> view() {
    return MatrixView<double>::row_major(Executor::host(), data(), rows, columns);
  }
  [[nodiscard]] MatrixView<const double> view() const {
    return MatrixView<const double>::row_major(Executor::host(), data(), rows, columns);
  }
  [[nodiscard]] Dense columns_from(std::int64_t first, std::int64_t count) const {
    Dense part(rows, count);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < count; ++j) part(i, j) = (*this)(i, first + j);
    }
    return part;
  }
};

}  // namespace trn::mp2
