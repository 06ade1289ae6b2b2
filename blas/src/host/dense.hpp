// Matrices as the host kernels see them: an address, extents, two strides; copies between layouts, of a triangle or of
// all; and whether OpenBLAS can take one as it lies.
#pragma once

#include <complex>
#include <optional>
#include <type_traits>
#include <vector>

#include <trn/blas/storage.hpp>

namespace trn::blas::host {

template <class T> struct Strided {
  T* data;
  std::int64_t rows, columns, row_stride, column_stride;
  [[nodiscard]] T& at(std::int64_t i, std::int64_t j) const { return data[i * row_stride + j * column_stride]; }
  [[nodiscard]] Strided transposed() const { return {data, columns, rows, column_stride, row_stride}; }
  [[nodiscard]] Strided block(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const {
    return {m == 0 || n == 0 ? data : &at(i, j), m, n, row_stride, column_stride};
  }
  operator Strided<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, columns, row_stride, column_stride};
  }
};

template <class T>
Strided<const T> strided(const void* data, std::int64_t rows, std::int64_t columns, std::int64_t rs, std::int64_t cs) {
  return {static_cast<const T*>(data), rows, columns, rs, cs};
}
template <class T>
Strided<T> strided(void* data, std::int64_t rows, std::int64_t columns, std::int64_t rs, std::int64_t cs) {
  return {static_cast<T*>(data), rows, columns, rs, cs};
}

// A dense matrix of our own. Its elements start as zero.
template <class T> struct Owned {
  std::vector<T> storage;
  Strided<T> view{nullptr, 0, 0, 0, 0};
  Owned() = default;
  Owned(std::int64_t rows, std::int64_t columns, Layout layout = Layout::RowMajor)
      : storage(static_cast<std::size_t>(rows * columns)),
        view{storage.data(), rows, columns, layout == Layout::RowMajor ? columns : 1,
             layout == Layout::RowMajor ? 1 : rows} {}
};

// Which elements (i, j) a copy touches: all, i >= j, or i <= j.
enum class Part : std::uint8_t { All, Lower, Upper };

// to = from, or its conjugate, where `part` says so. The two do not overlap.
template <Scalar T>
void copy_elements(const Strided<const T>& from, const Strided<T>& to, Part part = Part::All, bool conjugated = false);
template <Scalar T>
Owned<T> dense_copy(const Strided<const T>& from, Layout layout, Part part = Part::All, bool conjugated = false);

// How OpenBLAS can take a matrix in place: unit stride along one direction and a leading dimension that clears it,
// which cblas demands even of a single row. Empty: not at all.
struct Placement {
  Layout layout;
  std::int64_t ld;
};
[[nodiscard]] std::optional<Placement> placement(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                                                 std::int64_t column_stride);
// The same, when the layout is given.
[[nodiscard]] std::optional<std::int64_t> leading_dimension(std::int64_t rows, std::int64_t columns,
                                                            std::int64_t row_stride, std::int64_t column_stride,
                                                            Layout layout);
template <class T> std::optional<Placement> placement(const Strided<T>& x) {
  return placement(x.rows, x.columns, x.row_stride, x.column_stride);
}
template <class T> std::optional<std::int64_t> leading_dimension(const Strided<T>& x, Layout layout) {
  return leading_dimension(x.rows, x.columns, x.row_stride, x.column_stride, layout);
}

// A read-only operand that OpenBLAS can take: in place, or a dense copy.
template <class T> struct Operand {
  const T* data = nullptr;
  std::int64_t ld = 1;
  Layout layout = Layout::RowMajor;
  Owned<T> copy{};
};
// In place in either layout if it can be, else a row-major copy.
template <Scalar T> Operand<T> operand(const Strided<const T>& x);
// In that layout; a copy (of `part`) if it lies otherwise.
template <Scalar T>
Operand<T> operand_in(const Strided<const T>& x, Layout layout, Part part = Part::All, bool conjugated = false);

// Calls f with a value of the scalar type behind `dtype`: f(float{}), ...
template <class F> decltype(auto) with_scalar(DType dtype, F&& f) {
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
      fail<InternalError>("blas: a host kernel of four types was called with {}", name(dtype));
  }
}

template <Scalar T> T factor(std::complex<double> x) {
  if constexpr (ComplexScalar<T>) {
    return T(x);
  } else {
    return static_cast<T>(x.real());
  }
}
template <Scalar T> T conjugate(T x, bool really = true) {
  if constexpr (ComplexScalar<T>) {
    return really ? std::conj(x) : x;
  } else {
    return x;
  }
}

// Extents as cblas takes them; throws InvalidArgument when one does not fit.
[[nodiscard]] int narrow(const char* operation, const char* what, std::int64_t value);

[[nodiscard]] inline bool is_native(const Precision& precision) {
  return !precision.has_target() && precision.mode() == Mode::Native;
}

}  // namespace trn::blas::host
