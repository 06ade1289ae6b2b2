// Vectors as OpenBLAS takes them: 32-bit sizes and increments, the lowest address first. What does not fit (stride 0,
// or a stride beyond 31 bits) goes through a dense copy.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <trn/core/error.hpp>
#include <trn/core/float_types.hpp>
#include <type_traits>
#include <vector>

namespace trn::blas::host {

inline constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();

// Calls f(T{}) with the element type of a scalar dtype.
template <class F> void with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::Float32:
      return f(float{});
    case DType::Float64:
      return f(double{});
    case DType::Complex64:
      return f(std::complex<float>{});
    case DType::Complex128:
      return f(std::complex<double>{});
    default:
      fail<InternalError>("blas: no host kernel for {}", name(dtype));
  }
}

// A factor in the type of the call.
template <class T> T factor(std::complex<double> z) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(z.real());
  } else {
    return T(z);
  }
}

// z, or its conjugate; real numbers are their own.
template <class T> T conjugated(T z, bool conj) {
  if constexpr (std::is_floating_point_v<T>) {
    return z;
  } else {
    return conj ? std::conj(z) : z;
  }
}

// A dense copy of a vector, conjugated on request.
template <class T> std::vector<T> gathered(const void* first, std::int64_t n, std::int64_t stride, bool conj) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = conjugated(static_cast<const T*>(first)[i * stride], conj);
  return v;
}

// As an int, or an error in the operation's name (dense.cpp).
[[nodiscard]] int narrow(const char* operation, const char* what, std::int64_t value);

// OpenBLAS takes negative increments with the address of the last element.
template <class T> T* lowest(T* first, std::int64_t n, std::int64_t stride) {
  return stride < 0 ? first + (n - 1) * stride : first;
}

inline bool fits(std::int64_t n, std::int64_t stride) {
  return (stride != 0 || n <= 1) && stride <= kIntMax && stride >= -kIntMax;
}

// A vector that is read: in place, or a dense copy.
template <class T> class Input {
 public:
  Input(const void* first, std::int64_t n, std::int64_t stride) {
    const T* x = static_cast<const T*>(first);
    if (fits(n, stride)) {
      data_ = lowest(x, n, stride);
      increment_ = stride == 0 ? 1 : static_cast<int>(stride);
      return;
    }
    copy_.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) copy_[static_cast<std::size_t>(i)] = x[i * stride];
    data_ = copy_.data();
    increment_ = 1;
  }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] int increment() const { return increment_; }

 private:
  const T* data_;
  int increment_;
  std::vector<T> copy_;
};

// A vector that is read and written; a copy is written back by store().
template <class T> class InOut {
 public:
  InOut(void* first, std::int64_t n, std::int64_t stride) : first_(static_cast<T*>(first)), n_(n), stride_(stride) {
    if (fits(n, stride)) {
      data_ = lowest(first_, n, stride);
      increment_ = stride == 0 ? 1 : static_cast<int>(stride);
      return;
    }
    copy_.resize(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) copy_[static_cast<std::size_t>(i)] = first_[i * stride];
    data_ = copy_.data();
    increment_ = 1;
  }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] int increment() const { return increment_; }
  void store() {
    for (std::size_t i = 0; i < copy_.size(); ++i) first_[static_cast<std::int64_t>(i) * stride_] = copy_[i];
  }

 private:
  T* first_;
  std::int64_t n_, stride_;
  T* data_;
  int increment_;
  std::vector<T> copy_;
};

// Elementwise work on vectors of any length: f(first element, count) in pieces that OpenBLAS can count.
template <class F> void in_pieces(std::int64_t n, F f) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 30;
  for (std::int64_t i = 0; i < n; i += kPiece) f(i, static_cast<int>(n - i < kPiece ? n - i : kPiece));
}

}  // namespace trn::blas::host
