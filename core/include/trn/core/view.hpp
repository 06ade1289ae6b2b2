// View: a strided window on memory that belongs to an executor. Views never own and never copy. Like pointers, they say
// whether the elements may be written: View<const float> reads, and View<float> converts to it.
#pragma once

#include <concepts>
#include <utility>

#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>
#include <trn/core/float_types.hpp>
#include <trn/core/row_major.hpp>
#include <trn/core/shape.hpp>

namespace trn {

// Any rank. `data` points at element (0, 0, ...); strides may be zero or negative.
template <Element T> class View {
 public:
  View(Executor executor, T* data, Shape shape, Strides strides)
      : executor_(std::move(executor)), data_(data), shape_(std::move(shape)), strides_(std::move(strides)) {
    require(shape_.size() == strides_.size(), "view: {} extents but {} strides; give one stride per extent",
            shape_.size(), strides_.size());
    (void)element_count(shape_);
  }
  View(Executor executor, T* data, Shape shape) : View(std::move(executor), data, shape, row_major_strides(shape)) {}
  // A template, so that it is never taken for the copy constructor.
  template <class U>
  requires(std::is_const_v<T>&& std::same_as<U, std::remove_const_t<T>>) View(const View<U>& other)
      : View(other.executor(), other.data(), other.shape(), other.strides()) {}

  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const Strides& strides() const { return strides_; }
  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  [[nodiscard]] std::int64_t size() const { return element_count(shape_); }
  [[nodiscard]] bool is_contiguous() const { return is_row_major(shape_, strides_); }

 private:
  Executor executor_;
  T* data_;
  Shape shape_;
  Strides strides_;
};

// Rank 1: what BLAS-like calls take. Element i is data[i * stride]; a BLAS vector with a negative increment is one
// whose data points at its last address and whose stride is negative.
template <Element T> class VectorView {
 public:
  VectorView(Executor executor, T* data, std::int64_t size, std::int64_t stride = 1)
      : executor_(std::move(executor)), data_(data), size_(size), stride_(stride) {
    require(size >= 0, "vector view: size is {}; it must be >= 0", size);
  }
  // A template, so that it is never taken for the copy constructor.
  template <class U>
  requires(std::is_const_v<T>&& std::same_as<U, std::remove_const_t<T>>) VectorView(const VectorView<U>& other)
      : VectorView(other.executor(), other.data(), other.size(), other.stride()) {}
  VectorView(const View<T>& view) : VectorView(view.executor(), view.data(), extent(view), view.strides().front()) {}
  VectorView(const View<std::remove_const_t<T>>& view) requires std::is_const_v<T> : VectorView(View<T>(view)) {}

  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t stride() const { return stride_; }
  operator View<T>() const { return {executor_, data_, {size_}, {stride_}}; }
  operator View<const T>() const requires(!std::is_const_v<T>) { return {executor_, data_, {size_}, {stride_}}; }

 private:
  static std::int64_t extent(const View<T>& view) {
    require(view.rank() == 1, "vector view: the view has rank {}, shape {}; a vector has rank 1", view.rank(),
            to_string(view.shape()));
    return view.size();
  }

  Executor executor_;
  T* data_;
  std::int64_t size_, stride_;
};

// Rank 2 with named extents: what BLAS-like calls take.
template <Element T> class MatrixView {
 public:
  MatrixView(Executor executor, T* data, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
             std::int64_t column_stride)
      : executor_(std::move(executor)),
        data_(data),
        rows_(rows),
        columns_(columns),
        row_stride_(row_stride),
        column_stride_(column_stride) {
    require(rows >= 0 && columns >= 0, "matrix view: extents are {} x {}; both must be >= 0", rows, columns);
  }
  // A template, so that it is never taken for the copy constructor.
  template <class U>
  requires(std::is_const_v<T>&& std::same_as<U, std::remove_const_t<T>>) MatrixView(const MatrixView<U>& other)
      : MatrixView(other.executor(), other.data(), other.rows(), other.columns(), other.row_stride(),
                   other.column_stride()) {}

  // Element (i, j) at data[i * ld + j]; ld = 0 means packed, otherwise it is at least the number of columns.
  [[nodiscard]] static MatrixView row_major(Executor e, T* data, std::int64_t rows, std::int64_t columns,
                                            std::int64_t ld = 0) {
    check_ld(ld, columns, "columns");
    return {std::move(e), data, rows, columns, ld ? ld : columns, 1};
  }
  [[nodiscard]] static MatrixView column_major(Executor e, T* data, std::int64_t rows, std::int64_t columns,
                                               std::int64_t ld = 0) {
    check_ld(ld, rows, "rows");
    return {std::move(e), data, rows, columns, 1, ld ? ld : rows};
  }

  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] std::int64_t row_stride() const { return row_stride_; }
  [[nodiscard]] std::int64_t column_stride() const { return column_stride_; }
  [[nodiscard]] MatrixView transposed() const {
    return {executor_, data_, columns_, rows_, column_stride_, row_stride_};
  }
  [[nodiscard]] MatrixView block(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) const {
    require(row >= 0 && column >= 0 && rows >= 0 && columns >= 0 && rows <= rows_ - row && columns <= columns_ - column,
            "matrix view: block ({}, {}) + {} x {} lies outside {} x {}", row, column, rows, columns, rows_, columns_);
    // An empty block keeps the base address: its own first element need not exist.
    const std::int64_t offset = rows == 0 || columns == 0 ? 0 : row * row_stride_ + column * column_stride_;
    return {executor_, data_ + offset, rows, columns, row_stride_, column_stride_};
  }
  [[nodiscard]] VectorView<T> row(std::int64_t i) const {
    require(i >= 0 && i < rows_, "matrix view: row {} of {} x {}", i, rows_, columns_);
    return {executor_, data_ + i * row_stride_, columns_, column_stride_};
  }
  [[nodiscard]] VectorView<T> column(std::int64_t j) const { return transposed().row(j); }
  operator View<T>() const { return {executor_, data_, {rows_, columns_}, {row_stride_, column_stride_}}; }
  operator View<const T>() const requires(!std::is_const_v<T>) {
    return {executor_, data_, {rows_, columns_}, {row_stride_, column_stride_}};
  }

 private:
  static void check_ld(std::int64_t ld, std::int64_t line, const char* what) {
    require(ld == 0 || ld >= line,
            "matrix view: leading dimension {} is shorter than the {} {}; use at least that, or 0 for packed", ld, line,
            what);
  }

  Executor executor_;
  T* data_;
  std::int64_t rows_, columns_, row_stride_, column_stride_;
};

}  // namespace trn
