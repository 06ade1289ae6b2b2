// Operands as LAPACK takes them: column-major with a leading dimension that fits an int. A view that lies so is used in
// place; any other is copied to a matrix of its own and, when it is an output, written back.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <trn/core/error.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver::host {

// Which elements (i, j) of a matrix are meant: all, i >= j, or i <= j.
enum class Part : std::uint8_t { All, Lower, Upper };
inline Part part_of(Uplo uplo) { return uplo == Uplo::Lower ? Part::Lower : Part::Upper; }
inline char letter(Uplo uplo) { return uplo == Uplo::Lower ? 'L' : 'U'; }
inline Uplo other(Uplo uplo) { return uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower; }

// The columns of row i that a part holds: [first, last).
inline std::int64_t first_column(Part part, std::int64_t i) { return part == Part::Upper ? i : 0; }
inline std::int64_t last_column(Part part, std::int64_t i, std::int64_t columns) {
  return part == Part::Lower ? std::min(i + 1, columns) : columns;
}

template <class T> T& element(const MatrixView<T>& a, std::int64_t i, std::int64_t j) {
  return a.data()[i * a.row_stride() + j * a.column_stride()];
}

template <class T> bool is_finite(const T& x) {
  if constexpr (blas::ComplexScalar<std::remove_const_t<T>>) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  } else {
    return std::isfinite(x);
  }
}
template <class T> T not_a_number() {
  constexpr auto nan = std::numeric_limits<Real<T>>::quiet_NaN();
  if constexpr (blas::ComplexScalar<T>) {
    return T(nan, nan);
  } else {
    return nan;
  }
}

// to = from where `part` says so. The two do not overlap.
template <class F, class T> void copy_part(const MatrixView<F>& from, const MatrixView<T>& to, Part part = Part::All) {
  const bool by_rows = to.column_stride() == 1;
  if (by_rows || part != Part::All) {
    for (std::int64_t i = 0; i < to.rows(); ++i) {
      const std::int64_t end = last_column(part, i, to.columns());
      for (std::int64_t j = first_column(part, i); j < end; ++j) element(to, i, j) = element(from, i, j);
    }
  } else {
    for (std::int64_t j = 0; j < to.columns(); ++j) {
      for (std::int64_t i = 0; i < to.rows(); ++i) element(to, i, j) = element(from, i, j);
    }
  }
}
template <class T> void fill(const MatrixView<T>& a, T value, Part part = Part::All) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const std::int64_t end = last_column(part, i, a.columns());
    for (std::int64_t j = first_column(part, i); j < end; ++j) element(a, i, j) = value;
  }
}
template <class T> void fill(const VectorView<T>& x, T value) {
  for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i * x.stride()] = value;
}

// Whether `count` numbers, `step` apart, are finite. Without branches, so that it runs at the speed of memory.
template <class R> bool finite_line(const R* x, std::int64_t count, std::int64_t step) {
  constexpr R most = std::numeric_limits<R>::max();
  unsigned bad = 0;
  if (step == 1) {
    for (std::int64_t i = 0; i < count; ++i) bad |= static_cast<unsigned>(!(std::abs(x[i]) <= most));
  } else {
    for (std::int64_t i = 0; i < count; ++i) bad |= static_cast<unsigned>(!(std::abs(x[i * step]) <= most));
  }
  return bad == 0;
}
// Whether all elements of a part are finite, looked at in the order in which they lie.
template <class T> bool all_finite(const MatrixView<T>& a, Part part) {
  using R = const Real<std::remove_const_t<T>>;
  constexpr std::int64_t kParts = sizeof(T) / sizeof(R);
  const bool by_columns = std::abs(a.row_stride()) < std::abs(a.column_stride());
  const std::int64_t lines = by_columns ? a.columns() : a.rows(), longest = by_columns ? a.rows() : a.columns();
  // By columns the lower part is the upper one of the transpose.
  const Part mine = part == Part::All || !by_columns ? part : part == Part::Lower ? Part::Upper : Part::Lower;
  const std::int64_t step = by_columns ? a.row_stride() : a.column_stride();
  for (std::int64_t l = 0; l < lines; ++l) {
    const std::int64_t begin = first_column(mine, l), end = last_column(mine, l, longest);
    if (begin >= end) continue;
    const auto* x = reinterpret_cast<R*>(&(by_columns ? element(a, begin, l) : element(a, l, begin)));
    if (kParts == 2 && step == 1) {
      if (!finite_line<std::remove_const_t<R>>(x, 2 * (end - begin), 1)) return false;
    } else {
      for (std::int64_t p = 0; p < kParts; ++p) {
        if (!finite_line<std::remove_const_t<R>>(x + p, end - begin, kParts * step)) return false;
      }
    }
  }
  return true;
}

// The outcome of looking for results that overflowed: NotFinite with the first place among the first `count`.
template <class R> Outcome finite_results(const std::vector<R>& x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(x[static_cast<std::size_t>(i)])) return {Status::NotFinite, i};
  }
  return {};
}

// What rounding a result to a multiple of the smallest number may cost, in units of the largest element of A, which is
// no more than ||A||_2: nothing that is seen, unless A itself is that small.
template <class T> double underflow(const MatrixView<T>& a, Part part = Part::All) {
  using R = Real<std::remove_const_t<T>>;
  R largest = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const std::int64_t end = last_column(part, i, a.columns());
    for (std::int64_t j = first_column(part, i); j < end; ++j) {
      const auto x = element(a, i, j);
      largest = std::max(largest, std::max(std::abs(std::real(x)), std::abs(std::imag(x))));
    }
  }
  return largest > 0 ? static_cast<double>(std::numeric_limits<R>::denorm_min()) / static_cast<double>(largest) : 0;
}

// The outcome of looking for NaN and infinities, row by row: Ok, or NotFinite with the first place.
template <class T> Outcome finite(const MatrixView<T>& a, Part part = Part::All) {
  if (all_finite(a, part)) return {};
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const std::int64_t end = last_column(part, i, a.columns());
    for (std::int64_t j = first_column(part, i); j < end; ++j) {
      if (!is_finite(element(a, i, j))) return {Status::NotFinite, i * a.columns() + j};
    }
  }
  return {};
}
template <class T> Outcome finite(const VectorView<T>& x) {
  return finite(MatrixView<T>(x.executor(), x.data(), x.size(), 1, x.stride(), 1));
}

inline int to_int(std::int64_t value) { return static_cast<int>(value); }

// OpenBLAS 0.3.21's zgemv_n (AVX-512) loads the element of x behind the last, which for a row of a matrix lies a whole
// column behind its end. So everything that LAPACK gets from us has that much room behind it.
inline std::size_t with_room(std::int64_t elements, std::int64_t rows) {
  return static_cast<std::size_t>(elements + rows + 64);
}
template <class T> std::vector<T> workspace(std::int64_t elements, std::int64_t rows) {
  return std::vector<T>(with_room(elements, rows));
}

// A dense column-major matrix of our own; elements start as zero.
template <class T> class Columns {
 public:
  Columns(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), storage_(with_room(rows * columns, rows)) {}
  template <class F> explicit Columns(const MatrixView<F>& from, Part part = Part::All)
      : Columns(from.rows(), from.columns()) {
    copy_part(from, view(), part);
  }
  [[nodiscard]] T* data() { return storage_.data(); }
  [[nodiscard]] const T* data() const { return storage_.data(); }
  [[nodiscard]] int ld() const { return to_int(std::max<std::int64_t>(rows_, 1)); }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] T& operator()(std::int64_t i, std::int64_t j) {
    return storage_[static_cast<std::size_t>(i + j * rows_)];
  }
  [[nodiscard]] const T& operator()(std::int64_t i, std::int64_t j) const {
    return storage_[static_cast<std::size_t>(i + j * rows_)];
  }
  [[nodiscard]] MatrixView<T> view() { return {Executor::host(), data(), rows_, columns_, 1, rows_}; }
  [[nodiscard]] MatrixView<const T> view() const { return {Executor::host(), data(), rows_, columns_, 1, rows_}; }

 private:
  std::int64_t rows_, columns_;
  std::vector<T> storage_;
};

// Whether LAPACK can take the view as it lies. A single column may have any column stride.
template <class T> bool is_column_major(const MatrixView<T>& a) {
  return (a.row_stride() == 1 || a.rows() == 1) &&
         (a.columns() == 1 || (a.column_stride() >= std::max<std::int64_t>(a.rows(), 1) &&
                               a.column_stride() <= std::numeric_limits<int>::max()));
}
template <class T> int leading_dimension(const MatrixView<T>& a) {
  const std::int64_t least = std::max<std::int64_t>(a.rows(), 1);
  return to_int(a.columns() == 1 ? least : std::max(a.column_stride(), least));
}

// An operand that LAPACK reads and writes. write_back() must be called when the result is wanted.
template <class T> class Inout {
 public:
  explicit Inout(const MatrixView<T>& a, Part part = Part::All) : view_(a), part_(part) {
    if (is_column_major(a)) {
      data_ = a.data(), ld_ = leading_dimension(a);
    } else {
      copy_ = std::make_unique<Columns<T>>(a, part);
      data_ = copy_->data(), ld_ = copy_->ld();
    }
  }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] int ld() const { return ld_; }
  void write_back() {
    if (copy_) copy_part(copy_->view(), view_, part_);
  }

 private:
  MatrixView<T> view_;
  Part part_;
  std::unique_ptr<Columns<T>> copy_;
  T* data_ = nullptr;
  int ld_ = 1;
};

// An operand that LAPACK only reads.
template <class T> class Input {
 public:
  explicit Input(const MatrixView<const T>& a, Part part = Part::All) {
    if (is_column_major(a)) {
      data_ = a.data(), ld_ = leading_dimension(a);
    } else {
      copy_ = std::make_unique<Columns<T>>(a, part);
      data_ = copy_->data(), ld_ = copy_->ld();
    }
  }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] int ld() const { return ld_; }

 private:
  std::unique_ptr<Columns<T>> copy_;
  const T* data_ = nullptr;
  int ld_ = 1;
};

// Workspace of at least `least` elements (refused beyond 32 bits), and as many as LAPACK likes best: what a query wrote
// into its first element.
void countable_workspace(const char* operation, std::int64_t least);
[[nodiscard]] int best_workspace(std::int64_t least, double queried);
template <class T> int best_workspace(std::int64_t least, const std::complex<T>& queried) {
  return best_workspace(least, static_cast<double>(queried.real()));
}
// A LAPACK routine found an argument wrong: our mistake.
void expect_legal(const char* routine, int info);

}  // namespace trn::solver::host
