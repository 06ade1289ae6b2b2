// One side of an exact product: how its rows are read, and what the plan needs to know of each.
//
// A complex product is the real one [Re A, -Im A; Im A, Re A] [Re B; Im B]. A row of op(A) therefore has two planes,
// (Re, -Im) and (Im, Re), a column of op(B) one, (Re, Im): the same numbers up to signs, so one row of statistics
// serves all of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <trn/core/dtype.hpp>
#include <trn/core/executor.hpp>

namespace trn::blas::exact {

// Norms of a vector. Long double: with numbers of 2^-1074 in a row of 2^1023 they need its range.
struct Norms {
  long double one = 0, two = 0, largest = 0;
  friend Norms operator+(const Norms& x, const Norms& y) {
    return {x.one + y.one, x.two + y.two, x.largest + y.largest};
  }
};
// A bound of sum |x_p y_p| for vectors with these norms (Hoelder).
[[nodiscard]] long double product_bound(const Norms& x, const Norms& y);

// 2^e, also where double has no such power: x * first * second is x 2^e, exactly unless it underflows.
struct Power {
  explicit Power(int e) : first(std::ldexp(1.0, e / 2)), second(std::ldexp(1.0, e - e / 2)) {}
  double first, second;
};

// What a norm of `depth` terms, added in double, is multiplied by to be an upper bound; its reciprocal makes a lower
// one.
[[nodiscard]] inline long double norm_excess(std::int64_t depth) {
  return 1 + static_cast<long double>(depth + 8) * 0x1p-51L;
}

enum class OperandSide : std::uint8_t { Left, Right };

class Operand {
 public:
  // `rows` rows of k elements with strides in elements; a right operand is given by its columns.
  Operand(const Executor& executor, DType dtype, const void* data, std::int64_t rows, std::int64_t k,
          std::int64_t row_stride, std::int64_t k_stride, bool conj, OperandSide side);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t planes() const { return planes_; }  // real rows per row
  [[nodiscard]] std::int64_t depth() const { return depth_; }
  [[nodiscard]] bool wide() const { return real_of(dtype_) == DType::Float64; }

  // The numbers of some rows, planes x count x depth.
  [[nodiscard]] std::vector<double> read(std::int64_t first, std::int64_t count) const;
  // Calls f(first, count, numbers) for panels of a few MiB that cover all rows; numbers as read() gives them, first
  // plane only.
  template <class F> void for_panels(const F& f) const {
    const std::int64_t step = panel_rows();
    for (std::int64_t first = 0; first < rows_; first += step) {
      const std::int64_t count = first + step < rows_ ? step : rows_ - first;
      f(first, count, read(first, count));
    }
  }
  [[nodiscard]] std::int64_t panel_rows() const;
  // From now on `data` holds the rows from `first` on, and only those are read.
  void lies_at(const Executor& executor, const void* data, std::int64_t first) {
    executor_ = executor, data_ = data, first_ = first;
  }

  // Of every row, set by measure(), of its finite numbers:
  std::vector<int> exponent;  // |x| < 2^exponent
  std::vector<char> special;  // holds an infinity or a NaN: takes no part in the integer product
  std::vector<Norms> norms;   // upper bounds, divided by 2^exponent
  int span = 0;               // bits that represent every row exactly, but for special ones
  void measure();
  // The same without reading: `same` has these numbers, up to signs of imaginary parts, and was measured.
  void measure_as(const Operand& same);

 private:
  void measure_row(const double* row, std::size_t i, int& span_of_row);

  Executor executor_;
  DType dtype_;
  const void* data_;
  std::int64_t first_ = 0;  // the row that lies at data_
  std::int64_t rows_, k_, row_stride_, k_stride_, planes_, depth_;
  bool conj_;
  OperandSide side_;
};

}  // namespace trn::blas::exact
