// Owning arrays on an executor, and the only way data crosses between executors: copy() and to(). An array is taken
// wherever a view is: it converts to the view of all its elements, which lasts as long as the array.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <trn/core/view.hpp>

namespace trn {

// One allocation with its Allocate and Free events (subject: the executor's name). Moves are cheap; there are no hidden
// copies. A moved-from buffer can only be destroyed or assigned. Throws InvalidArgument when bytes < 0; 0 is legal.
class Buffer {
 public:
  Buffer(Executor executor, std::int64_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  Executor executor_;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

namespace detail {
// The untyped body of copy(): both sides described in elements of `element_bytes`.
struct CopySide {
  const Executor* executor;
  void* data;
  const Shape* shape;
  const Strides* strides;
};
void copy_elements(const CopySide& from, const CopySide& to, std::int64_t element_bytes);
}  // namespace detail

// to(i...) = from(i...), across executors if need be, also where the two views overlap. One Copy event with the bytes
// copied and a subject like "host -> sim:trn2" goes to the listeners of either executor (once when it is the same one).
// Only bytes of the two views are touched. Throws InvalidArgument when the shapes differ, when data is null although
// the shape is not empty, and when a stride of `to` is 0 over an extent > 1 (several values for one place).
template <Element From, Element T>
requires std::same_as<std::remove_const_t<From>, T>
void copy(const View<From>& from, const View<T>& to) {
  const auto side = [](const auto& v) {
    return detail::CopySide{&v.executor(), const_cast<void*>(static_cast<const void*>(v.data())), &v.shape(),
                            &v.strides()};
  };
  detail::copy_elements(side(from), side(to), sizeof(T));
}

// The same for `bytes` bytes in a row, for data whose type is known at run time only.
void copy_bytes(const Executor& from_executor, const void* from, const Executor& to_executor, void* to,
                std::int64_t bytes);

// Dense, row-major, any rank.
template <Element T> class Array {
 public:
  Array(Executor executor, Shape shape)
      : shape_(std::move(shape)), buffer_(std::move(executor), byte_count(shape_, sizeof(T))) {}

  [[nodiscard]] static Array from_host(const Executor& executor, Shape shape, std::span<const T> values) {
    require(static_cast<std::int64_t>(values.size()) == element_count(shape),
            "array: {} values for shape {}, which holds {}; give one value per element", values.size(),
            to_string(shape), element_count(shape));
    Array array(executor, std::move(shape));
    copy(View<const T>(Executor::host(), values.data(), array.shape()), array.view());
    return array;
  }
  [[nodiscard]] std::vector<T> to_host() const {
    std::vector<T> values(static_cast<std::size_t>(size()));
    copy(view(), View<T>(Executor::host(), values.data(), shape_));
    return values;
  }
  [[nodiscard]] Array to(const Executor& executor) const {
    Array other(executor, shape_);
    copy(view(), other.view());
    return other;
  }

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t size() const { return element_count(shape_); }
  [[nodiscard]] const Executor& executor() const { return buffer_.executor(); }
  [[nodiscard]] T* data() const { return static_cast<T*>(buffer_.data()); }
  [[nodiscard]] View<T> view() const { return View<T>(buffer_.executor(), data(), shape_); }
  operator View<T>() const { return view(); }
  operator View<const T>() const { return view(); }

 private:
  Shape shape_;
  Buffer buffer_;
};

// Dense, row-major, rank 2.
template <Element T> class Matrix {
 public:
  Matrix(Executor executor, std::int64_t rows, std::int64_t columns) : array_(std::move(executor), {rows, columns}) {}
  [[nodiscard]] static Matrix from_host(const Executor& executor, std::int64_t rows, std::int64_t columns,
                                        std::span<const T> row_major) {
    return Matrix(Array<T>::from_host(executor, {rows, columns}, row_major));
  }
  [[nodiscard]] std::vector<T> to_host() const { return array_.to_host(); }
  [[nodiscard]] Matrix to(const Executor& executor) const { return Matrix(array_.to(executor)); }
  [[nodiscard]] std::int64_t rows() const { return array_.shape()[0]; }
  [[nodiscard]] std::int64_t columns() const { return array_.shape()[1]; }
  [[nodiscard]] const Executor& executor() const { return array_.executor(); }
  [[nodiscard]] T* data() const { return array_.data(); }
  [[nodiscard]] MatrixView<T> view() const {
    return MatrixView<T>::row_major(array_.executor(), array_.data(), rows(), columns());
  }
  operator MatrixView<T>() const { return view(); }
  operator MatrixView<const T>() const { return view(); }
  operator View<T>() const { return array_.view(); }
  operator View<const T>() const { return array_.view(); }

 private:
  explicit Matrix(Array<T> array) : array_(std::move(array)) {}
  Array<T> array_;
};

}  // namespace trn
